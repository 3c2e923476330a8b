// Package storage reads objects of Supabase Storage, for a user who may.
//
// A path comes from a row that its user wrote, and the service key opens every
// object of the project. So the database is asked first, as that user, whether
// the project's own policies on storage.objects show the object; the key is used
// only then, for exactly the bucket and name that were asked for.
package storage

import "fmt"

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

// forbidden is the same whether there is an object or not.
func forbidden() error {
	return &Error{Code: Forbidden, Message: "there is no object at storage_path that the user may read; a policy on storage.objects has to let them select it"}
}

// gone is for an object that the user could read a moment ago. To a key with less
// rights Storage says the same.
func gone() error {
	return &Error{Code: Forbidden, Message: "Supabase Storage does not have the object any more, or SUPABASE_SERVICE_ROLE_KEY is not a service_role or secret key"}
}

func tooLarge(most int64) error {
	return &Error{Code: TooLarge, Message: fmt.Sprintf("the object has more than %d bytes, which is the most that is read", most)}
}

func unavailable(format string, args ...any) error {
	return &Error{Code: Unavailable, Message: fmt.Sprintf(format, args...), Retry: true}
}
