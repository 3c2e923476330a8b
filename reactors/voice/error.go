package voice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/storage"
)

// Codes of errors on rows, beside those of packages decode, provider and storage.
const (
	CodeMissing       = "audio_missing"
	CodeTooLarge      = string(storage.TooLarge)
	CodeUndecodable   = string(decode.Undecodable)
	CodeInterrupted   = "interrupted"
	CodeNotStored     = "transcript_refused"
	CodeTooMany       = "too_many_recordings"
	CodeInternal      = "internal"
	CodeNotConfigured = "provider_not_configured"
	CodeOptedOut      = "opted_out"
)

// Error is the error column of a recording.
type Error struct {
	Code      string `json:"code"`
	Message   string `json:"message"` // one sentence a person can act on
	Retryable bool   `json:"retryable"`

	again   bool          // helixd tries again by itself
	machine bool          // the trouble is this machine's, whatever the recording is
	after   time.Duration // the provider's wish
	pause   bool          // the whole provider has to be waited for, whatever the recording is
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

var (
	errMissing  = &Error{Code: CodeMissing, Message: "The recording has neither audio_data nor storage_path: insert it again with one of them."}
	errOptedOut = &Error{Code: CodeOptedOut, Retryable: true,
		Message: "This account has opted out of having recordings sent to a provider: take " + usage.Voice + " out of opt_out in privacy_settings, then set status to pending."}
	errInterrupted = &Error{Code: CodeInterrupted, Retryable: true,
		Message: "helixd was ended again and again while this recording was transcribed: set status to pending to try once more."}
	errNotConfigured = &Error{Code: CodeNotConfigured, Retryable: true,
		Message: "No speech provider is configured: set DEEPGRAM_API_KEY, or HELIX_VOICE_URL, and start helixd again; the recording waits."}
	errStorageNotConfigured = &Error{Code: string(storage.NotConfigured), Retryable: true, again: true,
		Message: "Supabase Storage is not configured: set SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY, and start helixd again; the recording waits."}
)

// tooMany is for what waits until the user may have more transcribed.
func (s *Service) tooMany() *Error {
	return &Error{Code: CodeTooMany, Retryable: true, Message: fmt.Sprintf("More than %d recordings in an hour are not transcribed; this one waits for the next hour.", s.cfg.Rate)}
}

func tooLarge(most int64) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("The recording has more than %d bytes: send it in parts.", most)}
}

// notStored is for a transcript that the row does not take, for which an app's own
// constraint or trigger can be the reason. The value that Postgres may quote is left out.
func notStored(state string) *Error {
	return &Error{Code: CodeNotStored, Retryable: true,
		Message: fmt.Sprintf("The database refused the transcript (SQLSTATE %s): look for constraints and triggers on voice_recordings.", state)}
}

// Why a claim's work ends early, as causes of its context.
var (
	errGone     = errors.New("the recording was deleted")
	errChanged  = errors.New("the recording has other audio now")
	errLost     = errors.New("another lane has the recording")
	errStopping = errors.New("helixd stops")
)

// rowError makes what a row says of err, nil where err is the database's.
func rowError(err error) *Error {
	var own *Error
	var asked *provider.Error
	var decoded *decode.Error
	var stored *storage.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &asked):
		pause := asked.Code == provider.PaymentRequired || asked.Code == provider.RateLimited || !asked.Sent && asked.After > 0
		mended := asked.Code == provider.Unauthorized || asked.Code == provider.NotFound // by an operator, perhaps
		return &Error{Code: string(asked.Code), Message: asked.Message, Retryable: asked.Retry || pause || mended,
			again: asked.Retry || pause, after: asked.After, pause: pause}
	case errors.As(err, &decoded):
		return &Error{Code: string(decoded.Code), Message: decoded.Message, Retryable: decoded.Code == decode.Unavailable, again: decoded.Code == decode.Unavailable,
			machine: decoded.Code == decode.Unavailable}
	case errors.As(err, &stored):
		return &Error{Code: string(stored.Code), Message: stored.Message, Retryable: stored.Retry || stored.Code == storage.KeyRejected, again: stored.Retry}
	}
	return nil
}

// internal is helixd's own trouble with this machine, such as a full disk.
func internal(doing string, err error) *Error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the path is nobody's business
	}
	return &Error{Code: CodeInternal, Retryable: true, again: true, machine: true, Message: fmt.Sprintf("helixd could not %s: %s.", doing, clean(err.Error(), 300))}
}

// json gives the column's value; nil is null.
func (e *Error) json() *string {
	if e == nil {
		return nil
	}
	plain := *e
	plain.Message = clean(e.Message, 2000)
	b, err := json.Marshal(plain)
	if err != nil {
		panic(err) // strings
	}
	s := string(b)
	return &s
}

// clean makes text that Postgres takes, of at most so many bytes; 0 is any.
func clean(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if most > 0 && len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}
