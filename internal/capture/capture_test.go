package capture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helixd/helixd/internal/capture"
)

const rate = 16_000

// tone is a sine of 200 Hz whose RMS is so many dBFS.
func tone(d time.Duration, dBFS float64) []byte {
	var p []byte
	amplitude := math.Sqrt2 * 32768 * math.Pow(10, dBFS/20)
	for i := range int(d.Seconds() * rate) {
		p = binary.LittleEndian.AppendUint16(p, uint16(int16(amplitude*math.Sin(2*math.Pi*200*float64(i)/rate))))
	}
	return p
}

func silence(d time.Duration) []byte { return make([]byte, 2*int(d.Seconds()*rate)) }

func TestRecorder(t *testing.T) {
	options := capture.Options{Rate: rate, Limit: 10 * time.Second, Silence: 2 * time.Second, Wait: 5 * time.Second, Threshold: -40}
	for name, c := range map[string]struct {
		change  func(*capture.Options)
		audio   [][]byte
		why     capture.Reason
		seconds float64 // of what is recorded
	}{
		"silence after speech ends it":     {nil, [][]byte{tone(time.Second, -20), silence(5 * time.Second)}, capture.Silent, 3},
		"silence before speech does not":   {nil, [][]byte{silence(3 * time.Second), tone(time.Second, -20)}, "", 4},
		"a pause does not":                 {nil, [][]byte{tone(time.Second, -20), silence(1900 * time.Millisecond), tone(time.Second, -20)}, "", 3.9},
		"noise below the threshold ends":   {nil, [][]byte{tone(time.Second, -20), tone(5*time.Second, -45)}, capture.Silent, 3},
		"a lower threshold hears it":       {func(o *capture.Options) { o.Threshold = -50 }, [][]byte{tone(time.Second, -20), tone(5*time.Second, -45)}, "", 6},
		"a click is not speech":            {nil, [][]byte{silence(time.Second), tone(20*time.Millisecond, -6), silence(6 * time.Second)}, capture.Unheard, 5},
		"nothing heard ends it":            {nil, [][]byte{tone(9*time.Second, -60)}, capture.Unheard, 5},
		"it waits for ever where it may":   {func(o *capture.Options) { o.Wait = 0 }, [][]byte{silence(9 * time.Second)}, "", 9},
		"silence ends nothing where it is": {func(o *capture.Options) { o.Silence = 0 }, [][]byte{tone(time.Second, -20), silence(8 * time.Second)}, "", 9},
		"the limit ends it, to the sample": {nil, [][]byte{tone(12*time.Second, -20)}, capture.Full, 10},
		"the limit ends silence too":       {func(o *capture.Options) { o.Limit = 1500 * time.Millisecond }, [][]byte{silence(2 * time.Second)}, capture.Full, 1.5},
	} {
		t.Run(name, func(t *testing.T) {
			o := options
			if c.change != nil {
				c.change(&o)
			}
			all := bytes.Join(c.audio, nil)
			for _, piece := range []int{2, 322, 8192, len(all)} { // bytes, as devices give them
				var out bytes.Buffer
				r := capture.NewRecorder(&out, o)
				why := capture.Reason("")
				for p := all; len(p) > 0 && why == ""; p = p[min(piece, len(p)):] {
					var err error
					if why, err = r.Write(p[:min(piece, len(p))]); err != nil {
						t.Fatal(err)
					}
				}
				if want := 2 * int(math.Round(c.seconds*rate)); why != c.why || out.Len() != want {
					t.Errorf("in pieces of %d: it ended with %q after %d bytes, want %q after %d", piece, why, out.Len(), c.why, want)
				}
				if !bytes.HasPrefix(all, out.Bytes()) {
					t.Error("what was recorded is not what came")
				}
				if got := time.Duration(c.seconds * float64(time.Second)); r.Duration().Round(time.Millisecond) != got {
					t.Errorf("it took %s, want %s", r.Duration(), got)
				}
			}
		})
	}
	t.Run("a full disk is told", func(t *testing.T) {
		full := errors.New("no space left")
		if _, err := capture.NewRecorder(writerFunc(func([]byte) (int, error) { return 0, full }), options).Write(silence(time.Second)); !errors.Is(err, full) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("levels and clipping are told", func(t *testing.T) {
		r := capture.NewRecorder(io.Discard, options)
		loud := bytes.Repeat([]byte{0xff, 0x7f, 0x00, 0x80}, rate/20) // 100 ms
		if _, err := r.Write(append(loud, tone(time.Second, -30)...)); err != nil {
			t.Fatal(err)
		}
		if got := r.Level(); math.Abs(got.RMS+30) > 0.1 || got.Clipped {
			t.Errorf("its end is %+v, want -30 dBFS", got)
		}
		if r.Clipped() != 100*time.Millisecond || r.Loudest() < -0.1 {
			t.Errorf("it clipped for %s and was %.2f dBFS loud", r.Clipped(), r.Loudest())
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestLevel(t *testing.T) {
	square := func(v int16) []byte {
		var p []byte
		for i := range 320 {
			p = binary.LittleEndian.AppendUint16(p, uint16(v*int16(1-2*(i%2))))
		}
		return p
	}
	constant := bytes.Repeat([]byte{0x00, 0x20}, 320) // 8192
	for name, c := range map[string]struct {
		samples   []byte
		rms, peak float64
		clipped   bool
	}{
		"Sine":       {tone(time.Second, -23), -23, -20, false},
		"FullScale":  {square(math.MaxInt16), 0, 0, true},
		"HalfScale":  {square(16384), -6.02, -6.02, false},
		"Offset":     {constant, capture.Floor, -12.04, false},
		"Digital0":   {silence(time.Second), capture.Floor, capture.Floor, false},
		"Nothing":    {nil, capture.Floor, capture.Floor, false},
		"LowestHigh": {[]byte{0x00, 0x80, 0x00, 0x80}, capture.Floor, 0, true}, // -32768
	} {
		t.Run(name, func(t *testing.T) {
			got := capture.Measure(c.samples)
			if math.Abs(got.RMS-c.rms) > 0.02 || math.Abs(got.Peak-c.peak) > 0.02 || got.Clipped != c.clipped {
				t.Errorf("it is %+v", got)
			}
		})
	}
	for _, c := range []struct {
		level capture.Level
		want  string
	}{
		{capture.Level{RMS: -30, Peak: -15}, "#####---  "},
		{capture.Level{RMS: capture.Floor, Peak: capture.Floor}, "          "},
		{capture.Level{RMS: 0, Peak: 0, Clipped: true}, "##########"},
		{capture.Level{RMS: -12, Peak: -60}, "########  "},
	} {
		if got := c.level.Bar(10); got != c.want {
			t.Errorf("%+v is drawn as %q, want %q", c.level, got, c.want)
		}
	}
}

func TestRing(t *testing.T) {
	t.Run("what is put comes out, in order, across threads", func(t *testing.T) {
		r := capture.NewRing(1000)
		sent := tone(20*time.Second, -10)
		go func() {
			for p := sent; len(p) > 0; {
				n := min(len(p), 2+2*(len(p)%211))
				before := r.Lost()
				r.Put(p[:n])
				p = p[n-2*int(r.Lost()-before):] // what did not fit comes again
			}
		}()
		var got []byte
		buf := make([]byte, 702)
		for deadline := time.Now().Add(time.Minute); len(got) < len(sent); {
			got = append(got, buf[:r.Take(buf)]...)
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d bytes came", len(got), len(sent))
			}
		}
		if !bytes.Equal(got, sent) {
			t.Error("what came out is not what was put in")
		}
	})
	t.Run("what does not fit is lost and counted", func(t *testing.T) {
		r := capture.NewRing(100)
		sent := tone(time.Second, -10)
		r.Put(sent[:150])
		r.Put(sent[150:300])
		if r.Lost() != 50 {
			t.Errorf("%d samples are lost, want 50", r.Lost())
		}
		buf := make([]byte, 1000)
		if n := r.Take(buf); !bytes.Equal(buf[:n], sent[:200]) {
			t.Errorf("%d bytes came, and not the oldest", n)
		}
		if n := r.Take(buf); n != 0 {
			t.Errorf("%d bytes came of nothing", n)
		}
	})
	t.Run("putting allocates nothing", func(t *testing.T) {
		r, p, buf := capture.NewRing(1000), make([]byte, 640), make([]byte, 640)
		if n := testing.AllocsPerRun(100, func() { r.Put(p); r.Take(buf) }); n != 0 {
			t.Errorf("%f allocations", n)
		}
	})
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.wav")
	if err := os.WriteFile(path, []byte("what was there"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := capture.Create(path, 48_000)
	if err != nil {
		t.Fatal(err)
	}
	samples := tone(time.Second, -20)
	for p := samples; len(p) > 0; p = p[min(1234, len(p)):] {
		if _, err := f.Write(p[:min(1234, len(p))]); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(path); err != nil || string(was) != "what was there" {
		t.Errorf("the file changed before it was whole: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "RIFF\x24\x7d\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\xbb\x00\x00\x00\x77\x01\x00\x02\x00\x10\x00data\x00\x7d\x00\x00"
	if len(got) != 44+len(samples) || string(got[:44]) != want || !bytes.Equal(got[44:], samples) {
		t.Errorf("the file has %d bytes and begins with %q", len(got), got[:44])
	}
	if f, err = capture.Create(path, rate); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("there are %v, %v", all, err)
	}
	if _, err := capture.Create(filepath.Join(dir, "nowhere", "x.wav"), rate); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("without a directory: %v", err)
	}

	link, pipe := filepath.Join(dir, "link.wav"), filepath.Join(dir, "pipe.wav")
	if err := errors.Join(os.Symlink(path, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{dir, link, pipe} { // a pipe stands for a device
		if _, err := capture.Create(odd, rate); err == nil || !strings.Contains(err.Error(), "replaced") {
			t.Errorf("%s is replaced: %v", odd, err)
		}
	}
}
