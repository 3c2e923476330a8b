package speech_test

import (
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv/speech"
)

func TestRecorded(t *testing.T) {
	clips := speech.Recorded(t)
	speech.Need(t, "ffprobe")

	// What Chromium writes, as the decoder's readers should know it.
	codecs := map[string]string{}
	for _, clip := range clips {
		kind, _, _ := strings.Cut(clip.MIME, ";")
		out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "a:0",
			"-show_entries", "stream=codec_name", "-of", "csv=p=0", clip.Path).Output()
		if err != nil {
			t.Errorf("%s: %v", clip.Name, err)
			continue
		}
		codecs[kind] += " " + strings.TrimSpace(string(out))
		// It ends in the silence after the last word, and not before.
		out, err = exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-i", clip.Path,
			"-map", "0:a:0", "-f", "s16le", "-ar", "16000", "-ac", "1", "-c:a", "pcm_s16le", "-").Output()
		if err != nil {
			t.Errorf("%s does not decode: %v", clip.Name, err)
			continue
		}
		heard := time.Duration(len(out)/2) * time.Second / 16000
		if d := heard - clip.Duration; d < -300*time.Millisecond || d > 2*time.Second {
			t.Errorf("%s lasts %v, and the microphone was heard for %v", clip.Name, heard, clip.Duration)
		}
		begun, ended := spoken(out)
		if begun < 200*time.Millisecond || ended < begun+4*time.Second || ended > heard-500*time.Millisecond {
			t.Errorf("%s is spoken in from %v to %v of %v", clip.Name, begun, ended, heard)
		}
	}
	for _, want := range []struct{ kind, codec string }{
		{"audio/webm", "opus"}, {"audio/webm", "pcm_f32le"}, {"audio/mp4", "opus"}, {"video/webm", "opus"},
	} {
		if !strings.Contains(codecs[want.kind], want.codec) {
			t.Errorf("no %s holds %s, but%s", want.kind, want.codec, codecs[want.kind])
		}
	}
}

// spoken gives when the first and the last loud sample of 16 kHz come.
func spoken(samples []byte) (begun, ended time.Duration) {
	for i := 0; i+1 < len(samples); i += 2 {
		if s := int16(binary.LittleEndian.Uint16(samples[i:])); s > 300 || s < -300 {
			ended = time.Duration(i/2) * time.Second / 16000
			if begun == 0 {
				begun = ended
			}
		}
	}
	return begun, ended
}
