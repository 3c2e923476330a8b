package providertest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// deepgram is POST /v1/listen.
type deepgram struct{}

func (deepgram) path() string          { return "/v1/listen" }
func (deepgram) authorization() string { return "Token " + Key }

func (deepgram) read(r *http.Request, req *Request) (int, string) {
	if req.Query.Get("model") == "" {
		return http.StatusBadRequest, "there is no model"
	}
	if req.Query.Has("language") == (req.Query.Get("detect_language") == "true") {
		return http.StatusBadRequest, "it takes language or detect_language"
	}
	req.ContentType = r.Header.Get("Content-Type")
	if !strings.Contains(req.ContentType, "/") {
		return http.StatusBadRequest, "there is no Content-Type"
	}
	audio := io.Reader(r.Body)
	if req.ContentType == "application/json" {
		var where struct {
			URL string `json:"url"`
		}
		if err := json.NewDecoder(r.Body).Decode(&where); err != nil || where.URL == "" {
			return http.StatusBadRequest, "Content-type was application/json, but we could not process the JSON payload."
		}
		req.URL = where.URL
		client := http.Client{Timeout: time.Minute}
		resp, err := client.Get(where.URL)
		if err != nil {
			return http.StatusBadRequest, "The remote server hosting the media cannot be reached."
		}
		defer resp.Body.Close() // it was read
		if resp.StatusCode != http.StatusOK {
			return http.StatusBadRequest, "The remote server hosting the media returned a client error: " + resp.Status + "."
		}
		req.ContentType = resp.Header.Get("Content-Type")
		audio = resp.Body
	}
	switch problem := req.take(audio); {
	case problem == "":
		return 0, ""
	case req.Interrupted:
		return http.StatusUnprocessableEntity, problem
	default:
		return http.StatusBadRequest, "Bad Request: failed to process audio: " + problem
	}
}

// failures are the err_code and err_msg that are documented for a status.
var failures = map[int][2]string{
	400: {"Bad Request", "Bad Request: failed to process audio: corrupt or unsupported data"},
	401: {"INVALID_AUTH", "Invalid credentials."},
	402: {"ASR_PAYMENT_REQUIRED", "Project does not have enough credits for an ASR request and does not have an overage agreement."},
	403: {"INSUFFICIENT_PERMISSIONS", "Project does not have access to the requested model."},
	408: {"SLOW_UPLOAD", "The upload did not end in time."},
	413: {"Payload Too Large", "The body is too large."},
	422: {"Unprocessable Entity", "The audio data was incomplete or interrupted."},
	429: {"TOO_MANY_REQUESTS", "Too many requests. Please try again later."},
	500: {"Internal Server Error", "Internal Server Error"},
	502: {"Bad Gateway", "Bad Gateway"},
	503: {"SERVICE_UNAVAILABLE", "The service is unavailable."},
	504: {"GATEWAY_TIMEOUT", "The request took longer than 10 minutes."},
}

func (deepgram) answer(status int, problem string, req Request, name string) any {
	if status != http.StatusOK {
		known := failures[status]
		if known[0] == "" {
			known = [2]string{http.StatusText(status), http.StatusText(status)}
		}
		if problem != "" {
			known[1] = problem
		}
		if status == http.StatusBadRequest && req.URL != "" { // the other documented shape
			return map[string]any{"category": "REMOTE_CONTENT_ERROR", "message": known[1], "details": "The media could not be fetched.", "request_id": name}
		}
		return map[string]any{"err_code": known[0], "err_msg": known[1], "request_id": name}
	}
	var words []map[string]any
	said := strings.Fields(req.Transcript)
	for i, w := range said {
		words = append(words, map[string]any{"word": w, "punctuated_word": w, "confidence": 0.99,
			"start": float64(i) * req.Seconds / float64(len(said)), "end": float64(i+1) * req.Seconds / float64(len(said))})
	}
	channel := map[string]any{"alternatives": []any{map[string]any{"transcript": req.Transcript, "confidence": 0.98, "words": words,
		"paragraphs": map[string]any{"transcript": "\n" + req.Transcript, "paragraphs": []any{}}}}}
	if req.Query.Get("detect_language") == "true" {
		channel["detected_language"], channel["language_confidence"] = "en", 0.97
	}
	return map[string]any{
		"metadata": map[string]any{"transaction_key": "deprecated", "request_id": name, "sha256": req.SHA256, "created": "2026-01-01T00:00:00.000Z",
			"duration": req.Seconds, "channels": 1, "models": []string{req.Query.Get("model")}},
		"results": map[string]any{"channels": []any{channel},
			"utterances": []any{map[string]any{"start": 0, "end": req.Seconds, "confidence": 0.98, "channel": 0, "transcript": req.Transcript, "words": words, "id": name}}},
	}
}
