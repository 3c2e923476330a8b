package sandbox

import (
	"context"
	"crypto/sha256"
	"time"
)

// Kinds of programs; each has its Guest.
const (
	KindWASM       = "wasm"
	KindJavaScript = "javascript"
	KindAudio      = "audio" // the decoder of recordings: code of helixd's own, input of strangers
)

// isModule reports whether the programs of a kind are modules themselves, to be
// checked and compiled each for itself. Other kinds bring one module for all of
// their programs.
func isModule(kind string) bool { return kind == KindWASM || kind == KindAudio }

// Program is code by its content address. The Pool keeps the code of what ran
// lately in its cache, and asks Code for it when it has it no longer.
type Program struct {
	Kind   string
	SHA256 [sha256.Size]byte // of the code
	// Code writes the code, in parts: it may be MaxModule long and should never be
	// in the daemon's memory as a whole.
	Code func(ctx context.Context, write func([]byte) error) error
}

// Call is one run of a Program.
type Call struct {
	Tenant  string // whose worker it is: a child serves one tenant in its life
	Program Program
	Input   []byte // JSON
	Limits  Limits
	Seed    [32]byte  // of all randomness that the program sees
	Now     time.Time // what its clock says at the start
	Host    Host      // nil: no host call succeeds
}

// Host serves what a program asks of the outside. It runs in the daemon, in a
// goroutine a call, bounded by Limits.HostCalls; ctx ends with the Call.
//
// Request and response are JSON, but for the bytes that a guest of helixd's own
// and its host agree upon. An error that is an *Error goes to the program
// with its code and message; of any other it learns the code "internal" only,
// and the caller finds it in Result.HostErrors.
type Host interface {
	Call(ctx context.Context, name string, request []byte) (response []byte, err error)
}

// Result is what a call came to. It is given beside an error too, as far as it
// is known.
type Result struct {
	Output     []byte // JSON, checked by the parent: valid UTF-8, nesting at most 1,000
	Logs       string // valid UTF-8 without NUL
	Wall       time.Duration
	CPU        time.Duration
	PeakMemory int64 // bytes, of the guest's linear memory
	HostCalls  int
	HostErrors []error
}

// Report is what checking found.
type Report struct {
	ABI      string    `json:"abi,omitempty"` // its Guest's name for what kind of program it is
	Exports  []string  `json:"exports,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"` // advice, no boundary
}

// Warning names a suspicious construct.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}
