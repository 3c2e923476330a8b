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

	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

// openAI is POST /v1/audio/transcriptions. Models with gpt-4o in their name refuse
// verbose_json.
type openAI struct{}

func (openAI) path() string          { return "/v1/audio/transcriptions" }
func (openAI) authorization() string { return outboundtest.Bearer }

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

func (openAI) answer(status int, problem string, req Request, _ string) any {
	if status != http.StatusOK {
		e := outboundtest.OpenAIError(status, problem)
		if strings.HasPrefix(problem, "response_format") {
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
