package decode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Decoder decodes recordings in a sandbox's worker children.
type Decoder struct {
	runner Runner
	module func() (sandbox.Program, error)
}

// New makes a Decoder that runs the embedded module. The runner's children must
// have Guest for Kind, and its limits must be at least Limits.
func New(runner Runner) *Decoder { return &Decoder{runner, embedded} }

// Bounds of one decoding. The module's tables are 18 MB, of which it touches few.
// Most recordings need 1 MB besides; the index of four hours of AAC in mp4, whose
// edit list has FFmpeg make it twice, more than 46 MB.
const (
	mostMemory    = 128 << 20
	mostHostCalls = 100_000
	mostAccount   = 4 << 10 // bytes
)

// Limits are those of a call for a recording of mostBytes, which comes to at most
// longest. A small file gets little time, whatever it claims to be; the slowest
// codec takes a fifth of what either bound gives it.
func Limits(longest time.Duration, mostBytes int64) sandbox.Limits {
	cpu := 10*time.Second + min(longest/20, time.Duration(mostBytes>>10)*20*time.Second>>10)
	return sandbox.Limits{
		CPU: cpu, Wall: 30*time.Second + 4*cpu, Memory: mostMemory,
		Input: mostAccount, Output: mostAccount, Logs: mostAccount, HostCalls: mostHostCalls,
	}
}

// filters are those of a Denoise.
var filters = map[Denoise]string{
	"":       "",
	Off:      "",
	Highpass: ",highpass=f=80",
	Light:    ",highpass=f=80,afftdn=nr=6:tn=1",
	Strong:   ",highpass=f=80,afftdn=nr=12:nf=-40:tn=1",
}

// Prepare has the module compiled and a child started, so that the first
// recording does not wait for it, and says what is missing.
func (d *Decoder) Prepare(ctx context.Context) error {
	_, _, err := d.run(ctx, Options{}, nothing{}, io.Discard)
	return err
}

// nothing is an Input of 0 bytes.
type nothing struct{}

func (nothing) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (nothing) Size() int64                       { return 0 }

// Decode writes a recording's audio to out: raw samples at Rate, mono, 16 bits,
// little endian. What it holds decides what it is. The error is an *Error; out
// may have got a part of the audio then, and Info is what is known.
func (d *Decoder) Decode(ctx context.Context, opts Options, in Input, out io.Writer) (Info, error) {
	if in.Size() <= 0 {
		return Info{}, &Error{Code: Empty, Message: "The recording has 0 bytes."}
	}
	info, ended, err := d.run(ctx, opts, in, out)
	if err != nil {
		return info, err
	}
	return info, verdict(ended, info, opts.Longest)
}

func (d *Decoder) run(ctx context.Context, opts Options, in Input, out io.Writer) (Info, status, error) {
	program, err := d.module()
	if err != nil {
		return Info{}, 0, err
	}
	denoise, ok := filters[opts.Denoise]
	if !ok {
		return Info{}, 0, unavailable(nil, "There is no noise filter %q.", opts.Denoise)
	}
	samples := int64(opts.Longest.Seconds() * Rate)
	input, err := json.Marshal(order{in.Size(), samples, denoise})
	if err != nil {
		return Info{}, 0, unavailable(err, "The recording cannot be ordered.")
	}
	desk := &desk{in: in, out: out, unread: mostRead(in.Size()), left: 2 * samples}
	result, err := d.runner.Run(ctx, sandbox.Call{
		Tenant: opts.Tenant, Program: program, Input: input, Limits: Limits(opts.Longest, in.Size()), Now: time.Unix(0, 0), Host: desk,
	})
	written := desk.written / 2
	found := Info{Samples: written, CPU: result.CPU}
	if err != nil {
		return found, 0, failure(ctx, desk.failed, err)
	}
	var a account
	if json.Unmarshal(result.Output, &a) != nil || !a.plausible(in.Size()) || a.Samples != written {
		return found, 0, &Error{Code: Undecodable, Message: "Decoding the recording came to nothing that can be trusted."}
	}
	a.Info.CPU = result.CPU
	return a.Info, a.Status, nil
}

// plausible looks at what a child says of a recording of so many bytes.
func (a account) plausible(size int64) bool {
	for _, name := range []string{a.Container, a.Codec} {
		if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_,") != "" {
			return false
		}
	}
	return a.Rate >= 0 && a.Channels >= 0 && a.Channels <= 1<<10 && a.Packets >= 0 && a.Bad >= 0 && a.Samples >= 0 &&
		a.Packets <= 1<<40 && a.Bad <= 1<<40
}

// verdict is why a decoding that ended by itself did not come to audio.
func verdict(ended status, info Info, longest time.Duration) error {
	switch {
	case ended == enough:
		return &Error{Code: TooLong, Message: fmt.Sprintf("The recording is longer than %v.", longest)}
	case ended == noMemory:
		return &Error{Code: TooHard, Message: "Decoding the recording takes more memory than any recording needs."}
	case ended == unknownFormat:
		return &Error{Code: Undecodable, Message: "This is no recording in a format that is known, or its start is missing or damaged."}
	case ended == noAudio:
		return &Error{Code: Undecodable, Message: fmt.Sprintf("There is no audio in the file (%s).", info.Container)}
	case ended == unknownCodec:
		return &Error{Code: Undecodable, Message: fmt.Sprintf("The audio in the file (%s) is in a codec that is not known.", info.Container)}
	case ended != done:
		return &Error{Code: Undecodable, Message: fmt.Sprintf("The audio in the file (%s, %s) has a form that cannot be made mono.", info.Container, info.Codec)}
	case info.Samples == 0 && info.Bad > 0:
		return &Error{Code: Undecodable, Message: fmt.Sprintf("All audio in the file (%s, %s) is damaged.", info.Container, info.Codec)}
	case info.Samples == 0:
		return &Error{Code: Empty, Message: "There is no sample in the recording."}
	}
	return nil
}

// failure is why a decoding did not end by itself. failed is of the recording's
// own reader or writer.
func failure(ctx context.Context, failed, err error) *Error {
	if ctx.Err() != nil {
		return unavailable(errors.Join(context.Cause(ctx), err), "Decoding the recording was cancelled.")
	}
	if failed != nil {
		return unavailable(failed, "The recording could not be read, or its audio not be written.")
	}
	var known *sandbox.Error
	if !errors.As(err, &known) {
		return unavailable(err, "The recording could not be decoded now.")
	}
	switch known.Code {
	case sandbox.WallTimeExceeded, sandbox.CPUTimeExceeded:
		return &Error{TooHard, "Decoding the recording takes more time than any recording needs.", err}
	case sandbox.MemoryExceeded:
		return &Error{TooHard, "Decoding the recording takes more memory than any recording needs.", err}
	case sandbox.HostCallLimit:
		return &Error{TooHard, "Decoding the recording reads it more often than any recording needs.", err}
	case sandbox.Trap, sandbox.StackOverflow, sandbox.Exception, sandbox.ExitStatus, sandbox.InvalidOutput, sandbox.OutputTooLarge, errMisuse.Code:
		return &Error{Undecodable, "The recording is damaged in a way that ends its decoder.", err}
	}
	return unavailable(err, "The audio decoder cannot run now: %s", known.Message)
}

func unavailable(cause error, format string, args ...any) *Error {
	return &Error{Unavailable, fmt.Sprintf(format, args...), cause}
}
