package storage_test

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/voice/storage"
)

func TestParsePath(t *testing.T) {
	for given, name := range map[string]string{
		"recordings/memo.webm":                    "memo.webm",
		"recordings/2026/07/a b.webm":             "2026/07/a b.webm",
		"my bucket/x":                             "x",
		"b/...":                                   "...",
		"b/.hidden/..x/x..":                       ".hidden/..x/x..",
		"b/!-.*'() &$@=;:+,?_":                    "!-.*'() &$@=;:+,?_",
		"b/what?.webm":                            "what?.webm",
		"sign/x":                                  "x", // a bucket may be called so
		"b/" + strings.Repeat("x", 1022):          strings.Repeat("x", 1022),
		strings.Repeat("b", 100) + "/x":           "x",
		"b/c:/windows":                            "c:/windows",
		"8d2f6a0e-1b7c-4c5e-9f10-3a2b1c0d9e8f/v1": "v1",
	} {
		bucket, got, err := storage.ParsePath(given)
		if err != nil || got != name || bucket+"/"+name != given {
			t.Errorf("%q is %q, %q, %v", given, bucket, got, err)
		}
	}
	const canary = "eyJhbGciOiJIUzI1NiJ9.eyJ1cmwiOiJiL3gifQ.canary"
	for _, given := range []string{
		"", "/", "bucket", "bucket/", "/bucket/x", "//x", "bucket//x", "bucket/x/", "bucket/x//y",
		".", "..", "./x", "../x", "b/.", "b/..", "b/../x", "b/./x", "b/x/..", "b/x/../../other/secret", "b/x/.", "../b/x",
		`b\x`, `b/..\x`, `b/x\..\y`, "b/x\x00", "b/x\x00.webm", "b/x\n", "b/x\r\nHost: evil", "b/\tx", "b/x\x7f", "b/\x1b[0m",
		"b/%2e%2e/x", "b/..%2fx", "b/%2E%2E%2Fx", "b/x%00", "b/a%20b", "b/100%", "b/%252e%252e/x", "b%2fx", "%62/x", "b/%c0%ae%c0%ae/x", "b/%u002e%u002e/x",
		"b/．．/x", "b／x", "b/x／..／y", "b/‥/x", "b/\u202ex", "b/\u200bx", "b/\u2024\u2024/x", "b/∕x", "b/\ufeffx", "b/ä", "b/a\u0308", "b/\xff", "b/\xc0\xae\xc0\xae/x", "ｂ/x",
		"b/x#y", "b/x<y", `b/"x"`, "b/x|y", "b/~x", "b/[x]", "b/{x}", "b/x^", "b/`x`",
		"https://ref.supabase.co/storage/v1/object/public/b/x", "http://evil.example/x", "//evil.example/x", "s3://b/x", "file:///etc/passwd",
		"/object/sign/b/x?token=" + canary, "object/sign/b/x?token=" + canary, "b/x?token=" + canary, "b/x?download=y", "b/x?a&token=" + canary + "?t=" + canary,
		"https://ref.supabase.co/storage/v1/object/sign/b/x?token=" + canary,
		"b/" + strings.Repeat("x", 1023), strings.Repeat("b", 101) + "/x",
	} {
		bucket, name, err := storage.ParsePath(given)
		if bucket != "" || name != "" {
			t.Errorf("%q is %q, %q", given, bucket, name)
		}
		is(t, err, storage.PathInvalid, false)
		if err == nil || !strings.Contains(err.Error(), "such as recordings/2026/memo.webm") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", given, err)
		}
	}
}

// FuzzParsePath: what is accepted, and put into a URL, is for a server that bucket
// and that name, and nothing there climbs.
func FuzzParsePath(f *testing.F) {
	for _, given := range []string{"recordings/2026/a b.webm", "b/../x", "b/%2e%2e/x", "b/what?.webm", "b/x?token=y", "b/;x=1/&?+", "*/*", "b:8080/x", "@b/x", "b/．．/x", "b/x#y", `b\x`, "b/ ", " /b", "b/?"} {
		f.Add(given)
	}
	f.Fuzz(func(t *testing.T, given string) {
		bucket, name, err := storage.ParsePath(given)
		if err != nil {
			var e *storage.Error
			if !errors.As(err, &e) || e.Code != storage.PathInvalid {
				t.Fatal(err)
			}
			return
		}
		const prefix = "https://ref.supabase.co/storage/v1/object/authenticated/"
		r, err := http.NewRequest("GET", prefix+storage.Escape(bucket)+"/"+storage.Escape(name), nil)
		if err != nil {
			t.Fatal(err)
		}
		var wire bytes.Buffer
		if err := r.Write(&wire); err != nil {
			t.Fatal(err)
		}
		got, err := http.ReadRequest(bufio.NewReader(&wire))
		if err != nil {
			t.Fatal(err)
		}
		want := "/storage/v1/object/authenticated/" + given
		if got.Host != "ref.supabase.co" || got.URL.Path != want || path.Clean(got.URL.Path) != want || got.URL.RawQuery != "" || got.URL.ForceQuery || got.URL.Fragment != "" ||
			bucket+"/"+name != given || strings.Contains(bucket, "/") {
			t.Errorf("%q arrives as %s at %s", given, got.URL, got.Host)
		}
		if parts := strings.Split(got.RequestURI, "/"); len(parts) != len(strings.Split(want, "/")) {
			t.Errorf("%q has %d parts in %s", given, len(parts), got.RequestURI)
		}
	})
}
