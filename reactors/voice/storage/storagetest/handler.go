package storagetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// claims are those of this server's tokens.
type claims struct {
	Role    string `json:"role,omitempty"`
	URL     string `json:"url,omitempty"` // bucket/name
	Expires int64  `json:"exp"`
}

// sign makes a JWT.
func (s *Server) sign(c claims) string {
	payload, err := json.Marshal(c)
	if err != nil {
		panic(err) // it is made of texts and a number
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.mac(text))
}

// verify reads a JWT that sign has made.
func (s *Server) verify(token string) (c claims, ok bool) {
	text, signature, _ := cutLast(token, ".")
	_, encoded, _ := strings.Cut(text, ".")
	mac, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(mac, s.mac(text)) {
		return c, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(payload, &c) != nil {
		return c, false
	}
	return c, time.Now().Unix() < c.Expires
}

func (s *Server) mac(text string) []byte {
	h := hmac.New(sha256.New, s.secret)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// withKey is the gateway, and then what Storage asks of a token.
func (s *Server) withKey(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("apikey")
		if key != s.SecretKey && key != s.ServiceRoleKey {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"message":"Invalid API key"}`))
			return
		}
		if strings.Contains(r.UserAgent(), "Mozilla") && key == s.SecretKey {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"message":"Forbidden use of secret API key in browser"}`))
			return
		}
		bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if key == s.SecretKey && bearer == "" {
			bearer = s.ServiceRoleKey // the gateway makes one of its own
		}
		if c, ok := s.verify(bearer); !ok || c.Role != "service_role" {
			refuse(w, http.StatusForbidden, "AccessDenied", "Unauthorized", "Invalid Compact JWS")
			return
		}
		next(w, r)
	})
}

// refuse answers as Storage does: what is not its own fault has status 400.
func refuse(w http.ResponseWriter, status int, code, name, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if status == http.StatusInternalServerError {
		w.WriteHeader(status)
	} else {
		w.WriteHeader(http.StatusBadRequest)
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"statusCode": strconv.Itoa(status), "code": code, "error": name, "message": message})
}

func (s *Server) authenticated(w http.ResponseWriter, r *http.Request) {
	s.object(w, r, r.PathValue("bucket"), r.PathValue("name"))
}

func (s *Server) signed(w http.ResponseWriter, r *http.Request) {
	bucket, name := r.PathValue("bucket"), r.PathValue("name")
	if c, ok := s.verify(r.URL.Query().Get("token")); !ok || c.URL != bucket+"/"+name {
		refuse(w, http.StatusBadRequest, "InvalidSignature", "InvalidSignature", "Invalid signature")
		return
	}
	s.object(w, r, bucket, name)
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, bucket, name string) {
	content, mimeType, err := s.read(r.Context(), bucket, name)
	switch {
	case errors.Is(err, errNoObject):
		refuse(w, http.StatusNotFound, "NoSuchKey", "not_found", "Object not found")
	case err != nil:
		refuse(w, http.StatusInternalServerError, "InternalError", "Internal", "Internal Server Error")
	default:
		s.answer(w, r, mimeType, content)
	}
}

func (s *Server) signMany(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ExpiresIn int64    `json:"expiresIn"`
		Paths     []string `json:"paths"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.ExpiresIn < 1 || len(asked.Paths) == 0 {
		refuse(w, http.StatusBadRequest, "InvalidRequest", "InvalidRequest", "body is not valid")
		return
	}
	answers := make([]map[string]any, 0, len(asked.Paths))
	for _, name := range asked.Paths {
		path := r.PathValue("bucket") + "/" + name
		answer := map[string]any{"path": name, "error": nil, "signedURL": nil}
		if _, _, err := s.read(r.Context(), r.PathValue("bucket"), name); err == nil {
			answer["signedURL"] = "/object/sign/" + path + "?token=" + s.sign(claims{URL: path, Expires: time.Now().Unix() + asked.ExpiresIn})
		} else {
			answer["error"] = "Either the object does not exist or you do not have access to it"
		}
		answers = append(answers, answer)
	}
	body, err := json.Marshal(answers)
	if err != nil {
		panic(err) // it is made of texts
	}
	s.answer(w, r, "application/json; charset=utf-8", body)
}

// answer gives what was asked for, or what the fault makes of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, mimeType string, body []byte) {
	w.Header().Set("Content-Type", mimeType)
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		fault(w, r, body)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client may have gone
}
