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

	LLMUnavailable sandbox.Code = "llm_unavailable"  // there is none, the user has opted out, or an operator has to mend it
	LLMBudgetSpent sandbox.Code = "llm_budget_spent" // of the day
	LLMRefused     sandbox.Code = "llm_refused"      // this request, by the model or by who runs it: again it would be, too
	LLMFailed      sandbox.Code = "llm_failed"       // no answer now, or none that is of use; it may succeed later
)
