package doctor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// claims are what a project's tokens say, as far as doctor looks.
type claims struct {
	Role string `json:"role"`
	Ref  string `json:"ref"`
	Exp  int64  `json:"exp"`
}

// readToken reads a JWT's claims without a look at its signature; false: it is none.
func readToken(token string) (c claims, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, false
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(body, &c) != nil {
		return claims{}, false
	}
	return c, true
}

// signToken makes a token as Auth does for a user who signs in; it lasts for a minute.
func signToken(secret, user string, now time.Time) (string, error) {
	body, err := json.Marshal(map[string]any{
		"sub": user, "role": "authenticated", "aud": "authenticated", "iss": "helixd doctor",
		"iat": now.Add(-mostSkew).Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(body)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed)) // never fails
	return signed + "." + encode(mac.Sum(nil)), nil
}

// refOf is the project that a hosted address is of, "" for another address.
func refOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.TrimPrefix(u.Hostname(), "db.")
	if ref, ok := strings.CutSuffix(host, ".supabase.co"); ok && !strings.Contains(ref, ".") {
		return ref
	}
	return ""
}
