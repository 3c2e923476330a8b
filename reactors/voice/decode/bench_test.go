package decode_test

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkTenMinutesOfOpus gives the CPU time of the child, and that of native
// ffmpeg for the same file.
func BenchmarkTenMinutesOfOpus(b *testing.B) {
	needFFmpeg(b)
	dir := b.TempDir()
	ffmpeg(b, dir, "-f", "lavfi", "-i", speechlike+"00", "-c:a", "libopus", "a.webm") // d=300
	ffmpeg(b, dir, "-stream_loop", "1", "-i", "a.webm", "-c", "copy", "b.webm")
	recording := read(b, filepath.Join(dir, "b.webm"))
	var here, there time.Duration
	for b.Loop() {
		info, err := decoder.Decode(b.Context(), ordinary, bytes.NewReader(recording), io.Discard)
		if err != nil || info.Duration() < 9*time.Minute {
			b.Fatal(info, err)
		}
		here += info.CPU
		cmd := exec.Command("ffmpeg", "-nostdin", "-v", "error", "-i", "b.webm", "-af", chain, "-f", "s16le", "-y", "/dev/null")
		cmd.Dir = dir
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		there += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(here.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(there.Seconds()/float64(b.N), "native-cpu-s/op")
	b.ReportMetric(here.Seconds()/there.Seconds(), "times-native")
}

// BenchmarkClipOfANewTenant decodes clips of 6 s, each of another tenant: with
// the start of a child, for as many at a time as there are CPUs.
func BenchmarkClipOfANewTenant(b *testing.B) {
	needFFmpeg(b)
	dir := b.TempDir()
	ffmpeg(b, dir, "-f", "lavfi", "-i", speechlike, "-c:a", "libopus", "a.webm")
	ffmpeg(b, dir, "-stream_loop", "1", "-i", "a.webm", "-c", "copy", "b.webm")
	recording := read(b, filepath.Join(dir, "b.webm"))
	if err := decoder.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	b.ResetTimer()
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				opts := ordinary
				opts.Tenant = fmt.Sprintf("tenant %d of %d", n, b.N)
				if _, err := decoder.Decode(b.Context(), opts, bytes.NewReader(recording), io.Discard); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "clips/s")
}
