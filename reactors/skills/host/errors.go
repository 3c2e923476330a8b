package host

import "github.com/helixd/helixd/reactors/sandbox"

// Codes of host calls' errors, beside those of packages sandbox, rights and broker.
const (
	UnknownHostCall  sandbox.Code = "unknown_host_call"
	InvalidRequest   sandbox.Code = "invalid_request"   // of a host call
	StatementTimeout sandbox.Code = "statement_timeout" // of a host call that asks the database; it may succeed later
	SecretNotFound   sandbox.Code = "secret_not_found"

	SecretsUnavailable sandbox.Code = "secrets_unavailable" // an operator has to mend it
	TooDeep            sandbox.Code = "too_deep"            // skills that call skills
)
