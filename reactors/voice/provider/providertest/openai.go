package providertest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// openAI is POST /v1/audio/transcriptions. Models with gpt-4o in their name refuse
// verbose_json.
type openAI struct{}

func (openAI) path() string          { return "/v1/audio/transcriptions" }
func (openAI) authorization() string { return "Bearer " + Key }

const mostOpenAI = 25 << 20

func (openAI) read(r *http.Request, req *Request) (int, string) {
	form, err := r.MultipartReader()
	if err != nil {
		return http.StatusBadRequest, "the body is no multipart form"
	}
	if r.ContentLength > mostOpenAI {
		return http.StatusRequestEntityTooLarge, "Maximum content size limit (26214400) exceeded."
	}
	req.Form = url.Values{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			req.Interrupted = true
			return http.StatusBadRequest, "the form ends early"
		}
		if part.FormName() == "file" {
			req.FileName, req.ContentType = part.FileName(), part.Header.Get("Content-Type")
			if problem := req.take(part); problem != "" {
				return http.StatusBadRequest, problem
			}
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, 4<<10))
		if err != nil {
			req.Interrupted = true
			return http.StatusBadRequest, "the form ends early"
		}
		req.Form.Add(part.FormName(), string(value))
	}
	return checkForm(req)
}

func checkForm(req *Request) (int, string) {
	format, model := req.Form.Get("response_format"), req.Form.Get("model")
	switch extension := path.Ext(req.FileName); {
	case model == "":
		return http.StatusBadRequest, "you must provide a model parameter"
	case req.FileName == "":
		return http.StatusBadRequest, "there is no file"
	case !slices.Contains([]string{".flac", ".m4a", ".mp3", ".mp4", ".mpeg", ".mpga", ".oga", ".ogg", ".wav", ".webm"}, extension):
		return http.StatusBadRequest, "Invalid file format."
	case format != "json" && format != "verbose_json":
		return http.StatusBadRequest, "response_format is " + format
	case format == "verbose_json" && strings.Contains(model, "gpt-4o"):
		return http.StatusBadRequest, fmt.Sprintf("response_format 'verbose_json' is not compatible with model '%s-api-ev3'. Use 'json' or 'text' instead.", model)
	case format == "json" && req.Form.Has("timestamp_granularities[]"):
		return http.StatusBadRequest, "timestamp_granularities needs verbose_json"
	case len(req.Form.Get("language")) > 3:
		return http.StatusBadRequest, "Invalid language. Language parameter must be specified in ISO-639-1 format."
	}
	return 0, ""
}

// complaints are the type and the code that are documented for a status.
var complaints = map[int][3]string{
	400: {"invalid_request_error", "", "The audio file could not be decoded or its format is not supported."},
	// The real one repeats the ends of the key.
	401: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided: " + Key[:8] + "*******" + Key[len(Key)-4:] + ". You can find your API key at https://platform.openai.com/account/api-keys."},
	403: {"invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported"},
	429: {"requests", "rate_limit_exceeded", "Rate limit reached for whisper-1 on requests per min. Limit: 50 / min."},
	500: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
	503: {"server_error", "", "The engine is currently overloaded, please try again later."},
}

// Quota is OpenAI's answer, with the status 429, to an account without credit.
var Quota = []byte(`{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`)

func (openAI) answer(status int, problem string, req Request, _ string) any {
	if status != http.StatusOK {
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
		if strings.HasPrefix(known[2], "response_format") {
			e["param"], e["code"] = "response_format", "unsupported_value"
		}
		return map[string]any{"error": e}
	}
	if req.Form.Get("response_format") == "json" {
		return map[string]any{"text": req.Transcript, "usage": map[string]any{"type": "duration", "seconds": int(req.Seconds + 0.5)}}
	}
	var words []map[string]any
	said := strings.Fields(req.Transcript)
	for i, w := range said {
		words = append(words, map[string]any{"word": w,
			"start": float64(i) * req.Seconds / float64(len(said)), "end": float64(i+1) * req.Seconds / float64(len(said))})
	}
	return map[string]any{"task": "transcribe", "language": "english", "duration": req.Seconds, "text": req.Transcript, "words": words,
		"segments": []any{map[string]any{"id": 0, "seek": 0, "start": 0, "end": req.Seconds, "text": " " + req.Transcript, "tokens": []int{50364, 440, 50620},
			"temperature": 0, "avg_logprob": -0.25, "compression_ratio": 1.1, "no_speech_prob": 0.01}},
		"usage": map[string]any{"type": "duration", "seconds": int(req.Seconds + 0.5)}}
}
