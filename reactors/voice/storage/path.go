package storage

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	mostPath   = 1024 // bytes, as in S3
	mostBucket = 100
)

// object is where one is: no part of name, between slashes, is empty or dots.
type object struct{ bucket, name string }

var (
	// allowed are the characters that Storage takes in keys (isValidKey in its
	// src/storage/limits.ts). There is no percent sign, backslash or control
	// character among them, and nothing beyond ASCII.
	allowed = regexp.MustCompile(`^[A-Za-z0-9_/!.*'() &$=@;:+,?-]*$`)
	// query is what a URL ends with. Storage allows a question mark in a key.
	query = regexp.MustCompile(`\?[A-Za-z0-9_-]+=`)
)

// ParsePath reads 'bucket/path' into the bucket and the name of an object in it.
// Its error is an *Error, and does not repeat the path: it may hold a token.
func ParsePath(path string) (bucket, name string, err error) {
	bucket, name, _ = strings.Cut(path, "/")
	parts := strings.Split(path, "/")
	why := ""
	switch {
	case len(path) > mostPath:
		why = "has more than 1024 bytes"
	case strings.Contains(path, "://"):
		why = "is a URL"
	case strings.HasPrefix(path, "/"):
		why = "begins with a slash"
	case query.MatchString(path):
		why = "has a query string"
	case !allowed.MatchString(path):
		why = "has a character that Supabase Storage does not allow"
	case len(parts) < 2:
		why = "has no bucket"
	case slices.Contains(parts, ""):
		why = "has an empty part"
	case slices.Contains(parts, ".") || slices.Contains(parts, ".."):
		why = "has a part '.' or '..'"
	case len(bucket) > mostBucket:
		why = "has a bucket's name of more than 100 bytes"
	default:
		return bucket, name, nil
	}
	return "", "", &Error{Code: PathInvalid, Message: "storage_path " + why + "; it is a bucket's name and a path in it, such as recordings/2026/memo.webm"}
}

// escape writes a path into a URL, slashes as they are.
func escape(path string) string { return (&url.URL{Path: path}).EscapedPath() }
