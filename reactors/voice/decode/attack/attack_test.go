package attack_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/decode/decodetest"
)

// longest is much more than what any of the files holds.
const longest = time.Minute

// mostSource is how much of a file is attacked, in bytes.
const mostSource = 60 << 10

var sources = map[string]string{
	"a.webm": "-c:a libopus", "b.webm": "-c:a libvorbis", "c.mkv": "-c:a pcm_f32le -ar 8000", "d.ogg": "-c:a libopus",
	"e.ogg": "-c:a libvorbis", "f.mp4": "-c:a aac -movflags frag_keyframe+empty_moov", "g.m4a": "-c:a aac -movflags faststart",
	"h.m4a": "-c:a alac -ar 8000 -movflags faststart", "i.mp4": "-c:a libopus -movflags faststart", "j.aac": "-c:a aac",
	"k.mp3": "-c:a libmp3lame", "l.flac": "-c:a flac -ar 8000", "m.wav": "-c:a pcm_s16le -ar 8000", "n.wav": "-c:a adpcm_ms -ar 8000",
	"o.caf": "-c:a alac -ar 8000", "p.aiff": "-c:a pcm_s16be -ar 8000", "q.w64": "-c:a pcm_s24le -ar 8000",
	"r.mov": "-c:a adpcm_ima_qt -ar 8000 -movflags faststart",
}

func TestDamagedRecordingsStayWithinTheirLimits(t *testing.T) {
	files := makeSources(t)
	count := 500
	if os.Getenv("HELIX_TEST_LONG") != "" {
		count = 5000
	}
	pool, decoder := newDecoder(t)
	codes := attack(t, decoder, files, 50, 0) // what the daemon grows by once
	before := residentSet(t)
	for code, n := range attack(t, decoder, files, count-50, 50) {
		codes[code] += n
	}
	if grown := residentSet(t) - before; grown > 32<<20 && !raceDetector {
		t.Errorf("the daemon grew by %d MB", grown>>20)
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
	t.Logf("%d recordings came to %v", count, codes)
	if codes[""] == 0 || codes[decode.Undecodable] == 0 {
		t.Error("they were not damaged, or all too much")
	}
}

func newDecoder(t *testing.T) (*sandbox.Pool, *decode.Decoder) {
	t.Helper()
	dir := t.TempDir()
	command, err := decodetest.Command(dir)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sandbox.NewPool(t.Context(), sandbox.Config{
		Dir: dir, Workers: runtime.GOMAXPROCS(0) + 1, Limits: decode.Limits(longest, 1<<20), Command: command,
		Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool, decode.New(pool)
}

func makeSources(t *testing.T) (files [][]byte) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		const how = "needs ffmpeg: apt-get install ffmpeg"
		if os.Getenv("HELIX_TEST_AUDIO") == "require" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		path := filepath.Join(dir, name)
		list := append([]string{"-nostdin", "-v", "error", "-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*t*(300+100*sin(5*t)))+0.1*random(0):s=48000:d=2"}, strings.Fields(sources[name])...)
		if out, err := exec.Command("ffmpeg", append(list, path)...).CombinedOutput(); err != nil {
			t.Fatalf("ffmpeg %s: %v: %s", name, err, out)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, content[:min(len(content), mostSource)])
	}
	return files
}

// attack decodes count recordings, the first of which is number from, and counts
// what they came to.
func attack(t *testing.T, decoder *decode.Decoder, files [][]byte, count, from int) map[decode.Code]int {
	t.Helper()
	var mu sync.Mutex
	codes := map[decode.Code]int{}
	var next atomic.Int64
	var wait sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) + 1 {
		wait.Go(func() {
			for n := int(next.Add(1)) - 1; n < count; n = int(next.Add(1)) - 1 {
				seed := uint64(from + n)
				recording := damage(files[seed%uint64(len(files))], rand.New(rand.NewPCG(1, seed)))
				code, err := judge(t, decoder, fmt.Sprint(worker), recording)
				if err != nil {
					t.Errorf("recording %d: %v", seed, err)
				}
				mu.Lock()
				codes[code]++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return codes
}

// judge decodes one recording and says what is wrong with how that ended.
func judge(t *testing.T, decoder *decode.Decoder, tenant string, recording []byte) (decode.Code, error) {
	var out count
	info, err := decoder.Decode(t.Context(), decode.Options{Tenant: tenant, Longest: longest}, bytes.NewReader(recording), &out)
	most := decode.Limits(longest, int64(len(recording)))
	switch {
	case int64(out) > int64(longest.Seconds()*decode.Rate*2):
		return "", fmt.Errorf("it wrote %d bytes", out)
	case info.CPU > most.CPU+time.Second:
		return "", fmt.Errorf("it took %v of CPU time", info.CPU)
	case err == nil && info.Samples == 0:
		return "", errors.New("it ended well, without a sample")
	case err == nil:
		return "", nil
	}
	var known *decode.Error
	if !errors.As(err, &known) {
		return "", fmt.Errorf("it ended with %w, which is no *decode.Error", err)
	}
	switch known.Code {
	case decode.Empty, decode.Undecodable, decode.TooLong, decode.TooHard:
		return known.Code, nil
	}
	return known.Code, fmt.Errorf("it ended with %w: %w", err, known.Unwrap())
}

type count int64

func (c *count) Write(b []byte) (int, error) {
	*c += count(len(b))
	return len(b), nil
}

// damage is one of the ways in which a file is not what it was.
func damage(file []byte, random *rand.Rand) []byte {
	b := bytes.Clone(file)
	change := func(times, within int) {
		for range times {
			b[random.IntN(min(len(b), within))] = byte(random.Uint32())
		}
	}
	from := random.IntN(len(b))
	to := from + random.IntN(len(b)-from)
	switch random.IntN(7) {
	case 0: // cut
		return b[:1+random.IntN(len(b))]
	case 1:
		change(1+random.IntN(8), len(b))
	case 2: // the headers
		change(1+random.IntN(20), 2000)
	case 3:
		change(1+len(b)/100, len(b))
	case 4: // left out
		return append(b[:from], b[to:]...)
	case 5: // repeated
		return append(b[:to:to], file[from:]...)
	case 6: // a number that is very large
		at := random.IntN(min(len(b)-8, 2000))
		copy(b[at:], bytes.Repeat([]byte{0xff}, 1+random.IntN(8)))
	}
	return b
}

// residentSet is this process's memory, in bytes, without what Go would give
// back.
func residentSet(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(status), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

// children are the processes that this one started and that are there, or dead
// and not waited for.
func children(t *testing.T) (left []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// "pid (name) state ppid …", where a name may hold anything.
		end := strings.LastIndexByte(string(stat), ')')
		var state string
		var parent int
		if _, err := fmt.Sscan(string(stat[end+1:]), &state, &parent); err != nil {
			t.Fatal(err)
		}
		if parent == os.Getpid() {
			left = append(left, string(stat[:end+1])+" "+state)
		}
	}
	return left
}
