package main_test

import (
	"bytes"
	endian "encoding/binary" // the package has a binary
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/helixd/helixd/testenv/child"
	"github.com/helixd/helixd/testenv/speech"
)

// recorder builds the program once with audio capture, which takes a minute or two
// the first time. It has no race detector: what threads share is tested in capture.
var recorder = sync.OnceValues(func() (string, error) { return build("helixd-test-record", "-tags", "record,failpoint") })

// sound is a PulseAudio server of a test's own. What is played into its sink
// "speech" comes out of its microphone "speech.monitor".
type sound struct {
	dir    string
	server *child.Process
}

func newSound(t *testing.T) *sound {
	t.Helper()
	speech.Need(t, "pulseaudio", "pactl", "paplay", "flite", "ffmpeg", "gcc")
	dir, err := os.MkdirTemp("", "helixd-sound-") // not t.TempDir: a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &sound{dir: dir}
	sink := func(name, title string) string {
		return "module-null-sink sink_name=" + name + " rate=48000 norewinds=1 sink_properties=device.description=" + title
	}
	cmd := exec.Command("pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--disable-shm=yes", "--exit-idle-time=-1", "--log-target=stderr",
		"-L", "module-native-protocol-unix auth-anonymous=1 socket="+dir+"/socket", "-L", sink("speech", "Speech"), "-L", sink("quiet", "Quiet"))
	cmd.Env = s.env()
	s.server, _ = child.Run(t, "pulseaudio", cmd)
	until(t, "PulseAudio", func() bool { return s.pactl("info") == nil })
	return s
}

// env has programs use the server, and nothing of the machine's.
func (s *sound) env() []string {
	return append(os.Environ(), "HOME="+s.dir, "XDG_RUNTIME_DIR="+s.dir, "PULSE_RUNTIME_PATH="+s.dir, "PULSE_SERVER=unix:"+s.dir+"/socket", "PULSE_LATENCY_MSEC=60")
}

func (s *sound) pactl(args ...string) error {
	_, err := s.ask(args...)
	return err
}

func (s *sound) ask(args ...string) (string, error) {
	cmd := exec.Command("pactl", args...)
	cmd.Env = s.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// play plays a WAV file into the sink, to its end.
func (s *sound) play(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command("paplay", "--device=speech", path)
	cmd.Env = append(s.env(), "PULSE_LATENCY_MSEC=300") // ahead of a machine that is busy
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("paplay: %v\n%s", err, out)
	}
}

// recording is a helixd record that runs.
type recording struct {
	*process
	out   *child.Output
	enter func()
}

// record starts helixd record, and waits until it listens.
func (s *sound) record(t *testing.T, url string, args ...string) *recording {
	t.Helper()
	r := s.start(t, url, args...)
	until(t, "helixd to listen", func() bool {
		select {
		case <-r.Done:
			t.Fatalf("helixd record has ended: %s%s", r.out, r.log)
		default:
		}
		streams, err := s.ask("list", "source-outputs")
		return err == nil && strings.Contains(streams, fmt.Sprintf("application.process.id = \"%d\"", r.Pid()))
	})
	return r
}

func (s *sound) start(t *testing.T, url string, args ...string) *recording {
	t.Helper()
	path, err := recorder()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"record"}, args...)...)
	r := &recording{process: &process{}, out: &child.Output{}}
	cmd.Dir, cmd.Stdout = s.dir, r.out
	cmd.Env = append(s.env(), "SUPABASE_DB_URL="+url, "TMPDIR="+s.dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.enter = func() {
		if _, err := in.Write([]byte("\n")); err != nil {
			t.Error(err)
		}
	}
	r.Process, r.log = child.Run(t, "helixd record", cmd)
	return r
}

// samples reads a WAV file of 16 kHz mono.
func samples(t *testing.T, path string) []float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := pcmOf(b)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return pcm
}

func pcmOf(b []byte) ([]float64, error) {
	at := bytes.Index(b, []byte("data"))
	if len(b) < 44 || !bytes.HasPrefix(b, []byte("RIFF")) || at < 0 || endian.LittleEndian.Uint16(b[22:]) != 1 || endian.LittleEndian.Uint32(b[24:]) != 16_000 {
		return nil, errors.New("no WAV file of 16 kHz mono")
	}
	if size := endian.LittleEndian.Uint32(b[4:]); int(size)+8 != len(b) {
		return nil, fmt.Errorf("its header says %d bytes and it has %d", size+8, len(b))
	}
	pcm := make([]float64, (len(b)-at-8)/2)
	for i := range pcm {
		pcm[i] = float64(int16(endian.LittleEndian.Uint16(b[at+8+2*i:])))
	}
	return pcm, nil
}

// found gives the share of the spoken part of want that is in got, a quarter of a
// second at a time, in its order: correlated by 0.9 and more, at most half a second
// later than the part before it.
func found(want, got []float64) float64 {
	const piece, slack = 4000, 8000
	at, spoken, there := 0, 0, 0
	for i := 0; i+piece <= len(want); i += piece {
		p := want[i : i+piece]
		if math.Sqrt(dot(p, p)/piece) < 1000 { // a pause, or the end of a word
			continue
		}
		spoken++
		to := len(got)
		if there > 0 {
			to = min(at+2*piece+slack, len(got))
		}
		if best, correlation := align(p, got[min(at, to):to]); correlation >= 0.9 {
			at += best
			there++
		}
	}
	if spoken == 0 {
		return 0
	}
	return float64(there) / float64(spoken)
}

// align finds where p is most like a part of q: first by every fourth sample.
func align(p, q []float64) (at int, correlation float64) {
	near, _ := alignIn(thin(p), thin(q))
	from := max(4*near-8, 0)
	at, correlation = alignIn(p, q[min(from, len(q)):min(4*near+8+len(p), len(q))])
	return from + at, correlation
}

func alignIn(p, q []float64) (at int, correlation float64) {
	if len(q) < len(p) {
		return 0, 0
	}
	own, energy := dot(p, p), dot(q[:len(p)], q[:len(p)])
	for i := 0; ; i++ {
		if c := dot(p, q[i:i+len(p)]) / math.Sqrt(own*energy+1); c > correlation {
			at, correlation = i, c
		}
		if i+len(p) == len(q) {
			return at, correlation
		}
		energy += q[i+len(p)]*q[i+len(p)] - q[i]*q[i]
	}
}

// thin gives the means of four samples each.
func thin(p []float64) []float64 {
	q := make([]float64, len(p)/4)
	for i := range q {
		q[i] = (p[4*i] + p[4*i+1] + p[4*i+2] + p[4*i+3]) / 4
	}
	return q
}

func dot(p, q []float64) (sum float64) {
	for i, v := range p {
		sum += v * q[i]
	}
	return sum
}
