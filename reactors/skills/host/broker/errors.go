package broker

import "github.com/helixd/helixd/reactors/sandbox"

// Codes of what a request can come to. Every error of this package is a
// *sandbox.Error, but for those of the caller's own functions.
const (
	InvalidRequest   sandbox.Code = "invalid_request"
	HostNotAllowed   sandbox.Code = "host_not_allowed"
	AddressForbidden sandbox.Code = "address_forbidden"
	ResponseTooLarge sandbox.Code = "response_too_large"
	NetworkError     sandbox.Code = "network_error" // the same request may succeed later
)
