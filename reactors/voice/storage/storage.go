// Package storage reads objects of Supabase Storage, for a user who may.
package storage

import (
	"fmt"
)

// Code says why there is no object. It is the code of the error on a row.
type Code string

// Codes of an Error.
const (
	PathInvalid   Code = "storage_path_invalid"
	Forbidden     Code = "storage_forbidden" // the user may not read it, or there is none: which, is not told
	TooLarge      Code = "audio_too_large"
	Unavailable   Code = "storage_unavailable"
	KeyRejected   Code = "storage_key_rejected"
	NotConfigured Code = "storage_not_configured" // SUPABASE_URL or SUPABASE_SERVICE_ROLE_KEY is not set
)

// Error is why there is no object.
type Error struct {
	Code    Code
	Message string // one sentence a person can act on; never the key or a token
	Retry   bool   // asking again may help
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }
