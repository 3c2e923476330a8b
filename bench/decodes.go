package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/testenv/child"
)

const (
	longAudio = 10 * time.Minute
	clipAudio = 6 * time.Second
	clipRate  = 20 // a second, of the target
	clipTotal = 200
)

// recording makes audio with the machine's own ffmpeg: a chord whose loudness
// changes as speech's does, and noise below it.
func (b *bench) recording(ctx context.Context, file string, length time.Duration, args ...string) (string, error) {
	path := filepath.Join(b.dir, file)
	source := fmt.Sprintf("aevalsrc=(sin(220*2*PI*t)+sin(570*2*PI*t)+sin(2400*2*PI*t))*(0.12+0.08*sin(3*2*PI*t))+0.02*(random(0)-0.5):s=48000:d=%g", length.Seconds())
	args = append(append([]string{"-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source, "-ac", "2"}, args...), path)
	if out, err := exec.CommandContext(ctx, "ffmpeg", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("ffmpeg (apt-get install ffmpeg): %w\n%s", err, out)
	}
	return path, nil
}

// decodes measures decoding in worker children beside the machine's own ffmpeg.
func decodes(ctx context.Context, b *bench) error {
	dir := filepath.Join(b.dir, "decode")
	for _, d := range []string{b.dir, dir} { // a child has another uid
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(d, 0o755); err != nil {
			return err
		}
	}
	pool, err := sandbox.NewPool(ctx, sandbox.Config{Dir: dir, Workers: 2, Limits: decode.Limits(time.Hour, 100<<20), Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer pool.Close() //nolint:errcheck // of a bench that failed anyway
	decoder := decode.New(pool)
	const section = "voice, decoding"
	for _, f := range []struct {
		name, file string
		args       []string
		most       float64 // times the native CPU; 0: no target
	}{
		{"Opus in WebM", "long.webm", []string{"-c:a", "libopus", "-b:a", "48k"}, 5},
		{"AAC in MP4", "long.m4a", []string{"-c:a", "aac", "-b:a", "96k"}, 0},
		{"MP3", "long.mp3", []string{"-c:a", "libmp3lame", "-b:a", "96k"}, 0},
	} {
		b.say("  %s of %s", longAudio, f.name)
		path, err := b.recording(ctx, f.file, longAudio, f.args...)
		if err != nil {
			return err
		}
		var own, native []float64
		for range b.runs {
			info, err := decodeFile(ctx, decoder, "bench", path)
			if err != nil {
				return err
			}
			cpu, err := nativeDecode(ctx, path)
			if err != nil {
				return err
			}
			own, native = append(own, info.CPU.Seconds()), append(native, cpu)
		}
		figure := newFigure(section, "CPU of 10 minutes, "+f.name, "s", own...).beside("native ffmpeg", native...)
		if f.most > 0 {
			figure.aim(fmt.Sprintf("≤ %g× the peer", f.most), figure.Ratio <= f.most)
		}
		b.report.add(figure)
	}
	for _, each := range []int{25, 1} {
		b.say("  %d clips of %d users", clipTotal, clipTotal/each)
		perSecond, err := b.clips(ctx, decoder, each)
		if err != nil {
			return err
		}
		b.report.add(newFigure(section, fmt.Sprintf("clips of %s, %d of each user", clipAudio, each), "1/s", perSecond).atLeast(clipRate))
	}
	return nil
}

// nativeDecode gives the CPU time that ffmpeg takes for the same, on one thread.
func nativeDecode(ctx context.Context, path string) (float64, error) {
	p, err := child.Start(exec.CommandContext(ctx, "ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1", "-i", path,
		"-af", "aresample=16000:ochl=mono:rematrix_maxval=1.0:filter_size=64:cutoff=0.97", "-f", "s16le", os.DevNull), syscall.SIGKILL)
	if err != nil {
		return 0, err
	}
	<-p.Done
	return cpu(p), p.Err
}

// clips gives how many a second are decoded, two users' at a time, so many of each.
func (b *bench) clips(ctx context.Context, decoder *decode.Decoder, each int) (float64, error) {
	path, err := b.recording(ctx, "clip.webm", clipAudio, "-c:a", "libopus")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for user := range clipTotal / each {
		group.Go(func() error {
			for range each {
				if _, err := decodeFile(ctx, decoder, fmt.Sprint("user ", user, " of ", clipTotal/each), path); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return clipTotal / time.Since(began).Seconds(), err
}

// file is a decode.Input.
type file struct {
	*os.File
	size int64
}

func (f file) Size() int64 { return f.size }

func decodeFile(ctx context.Context, d *decode.Decoder, tenant, path string) (decode.Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return decode.Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return decode.Info{}, err
	}
	return d.Decode(ctx, decode.Options{Tenant: tenant, Denoise: decode.Off, Longest: time.Hour}, file{f, stat.Size()}, io.Discard)
}
