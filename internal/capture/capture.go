// Package capture records from a microphone: it takes samples from the thread of
// an audio device (Ring), says how loud they are (Level) and when to stop
// (Recorder), and writes them to disk (File). It knows no device.
//
// Samples are 16 bits, signed, little endian, of one channel.
package capture

import (
	"io"
	"time"
)

// Reason is why a recording ended.
type Reason string

// Reasons of a Recorder. "" is none: it goes on.
const (
	Silent  Reason = "silence"
	Full    Reason = "limit"
	Unheard Reason = "nothing heard"
)

// Options say when a recording ends.
type Options struct {
	Rate      int           // samples a second
	Limit     time.Duration // of the recording
	Silence   time.Duration // after something was heard; 0: silence does not end it
	Wait      time.Duration // for something to be heard, where silence ends it; 0: for ever
	Threshold float64       // dBFS; what is below is silence
}

// frame is how much is measured at a time: several periods of the lowest voice.
const frame = 20 * time.Millisecond

// onset is how long it must be loud to count as heard: longer than the click of a
// switch, shorter than any word.
const onset = 3 * frame

// Recorder passes samples on until the recording ends.
type Recorder struct {
	w io.Writer
	o Options

	bytes       int64
	part        []byte // of a frame
	level       Level
	loudest     float64
	heard       bool
	loud, quiet time.Duration // lately, without a break
	clipped     int64
}

// NewRecorder passes samples on to w.
func NewRecorder(w io.Writer, o Options) *Recorder {
	return &Recorder{w: w, o: o, part: make([]byte, 0, bytesOf(frame, o.Rate)), loudest: Floor, level: Level{RMS: Floor, Peak: Floor}}
}

// Write takes whole samples. With a Reason the recording has ended, and what came
// after that in p is left out.
func (r *Recorder) Write(p []byte) (Reason, error) {
	limit := bytesOf(r.o.Limit, r.o.Rate)
	for len(p) > 0 && r.bytes < limit {
		n := min(len(p), cap(r.part)-len(r.part), int(limit-r.bytes))
		if _, err := r.w.Write(p[:n]); err != nil {
			return "", err
		}
		r.bytes += int64(n)
		r.part = append(r.part, p[:n]...)
		p = p[n:]
		if len(r.part) < cap(r.part) {
			continue
		}
		r.hear(Measure(r.part))
		r.part = r.part[:0]
		if r.o.Silence > 0 && r.heard && r.quiet >= r.o.Silence {
			return Silent, nil
		}
		if r.o.Silence > 0 && r.o.Wait > 0 && !r.heard && r.Duration() >= r.o.Wait {
			return Unheard, nil
		}
	}
	if r.bytes >= limit {
		return Full, nil
	}
	return "", nil
}

func (r *Recorder) hear(l Level) {
	r.level = l
	r.loudest = max(r.loudest, l.RMS)
	if l.Clipped {
		r.clipped++
	}
	if l.RMS < r.o.Threshold {
		r.loud, r.quiet = 0, r.quiet+frame
		return
	}
	r.loud, r.quiet = r.loud+frame, 0
	r.heard = r.heard || r.loud >= onset
}

// Duration is that of what was recorded.
func (r *Recorder) Duration() time.Duration {
	return time.Duration(r.bytes/2) * time.Second / time.Duration(r.o.Rate)
}

// Level is that of the newest 20 ms.
func (r *Recorder) Level() Level { return r.level }

// Loudest is the highest RMS of any 20 ms, in dBFS.
func (r *Recorder) Loudest() float64 { return r.loudest }

// Clipped is for how long samples were at the end of their range.
func (r *Recorder) Clipped() time.Duration { return time.Duration(r.clipped) * frame }

// bytesOf is the size of so much audio, in whole samples.
func bytesOf(d time.Duration, rate int) int64 {
	return int64(d/time.Microsecond) * int64(rate) / 1_000_000 * 2
}
