package decode_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/decode"
)

// TestFourHoursFit decodes the beginning of recordings whose tables are as long
// as they come, and with HELIX_TEST_LONG=1 all of them.
func TestFourHoursFit(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	ffmpeg(t, dir, "-f", "lavfi", "-i", "sine=r=48000:d=60", "-c:a", "aac", "-b:a", "16k", "minute.m4a")
	ffmpeg(t, dir, "-f", "lavfi", "-i", "sine=r=48000:d=60", "-c:a", "libopus", "-b:a", "8k", "minute.webm")
	for _, c := range []struct{ name, of, flags string }{
		{"a.m4a", "minute.m4a", "0"},
		{"fragments.mp4", "minute.m4a", "frag_keyframe+empty_moov+default_base_moof"},
		{"b.webm", "minute.webm", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"-stream_loop", "238", "-i", c.of, "-c", "copy"}
			if c.flags != "" {
				args = append(args, "-movflags", c.flags, "-frag_duration", "1000000")
			}
			ffmpeg(t, dir, append(args, c.name)...)
			recording := read(t, filepath.Join(dir, c.name))
			opts := ordinary
			opts.Longest = 10 * time.Second
			if _, err := decoder.Decode(t.Context(), opts, bytes.NewReader(recording), io.Discard); codeOf(err) != decode.TooLong {
				t.Errorf("its beginning: %v", err)
			}
			if os.Getenv("HELIX_TEST_LONG") == "" {
				return
			}
			info, err := decoder.Decode(t.Context(), ordinary, bytes.NewReader(recording), io.Discard)
			if err != nil || info.Duration() < 235*time.Minute {
				t.Errorf("all of it: %+v, %v, %v", info, info.Duration(), err)
			}
		})
	}
}
