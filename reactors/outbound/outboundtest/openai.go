package outboundtest

import "net/http"

// Key is the one that the servers accept. Where it turns up in an error or in a
// log, a secret has got out.
const Key = "canary-5b0e9d27c4a1f86372de"

// Bearer is the Authorization that OpenAI takes.
const Bearer = "Bearer " + Key

// complaints are the type, the code and the message that OpenAI has for a status.
var complaints = map[int][3]string{
	400: {"invalid_request_error", "", "We could not parse the body of your request."},
	// The real one repeats the ends of the key.
	401: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided: " + Key[:8] + "*******" + Key[len(Key)-4:] + ". You can find your API key at https://platform.openai.com/account/api-keys."},
	403: {"invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported"},
	404: {"invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."},
	429: {"requests", "rate_limit_exceeded", "Rate limit reached for requests per min. Limit: 50 / min."},
	500: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
	503: {"server_error", "", "The engine is currently overloaded, please try again later."},
}

// Quota is OpenAI's answer, with the status 429, to an account without credit.
var Quota = []byte(`{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`)

// OpenAIError is the error in OpenAI's answer: that of a status, or a problem's.
func OpenAIError(status int, problem string) map[string]any {
	known := complaints[status]
	if known[2] == "" {
		known[2] = http.StatusText(status)
	}
	if problem != "" && status != http.StatusUnauthorized {
		known[2] = problem
	}
	e := map[string]any{"message": known[2], "type": known[0], "param": nil, "code": nil}
	if known[1] != "" {
		e["code"] = known[1]
	}
	return e
}
