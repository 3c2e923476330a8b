package host

import "github.com/helixd/helixd/reactors/sandbox"

// Codes of host calls' errors, beside those of package sandbox and rights.
const (
	UnknownHostCall sandbox.Code = "unknown_host_call"
	InvalidRequest  sandbox.Code = "invalid_request" // of a host call
	TooDeep         sandbox.Code = "too_deep"        // skills that call skills
)
