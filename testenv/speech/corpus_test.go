package speech_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv/speech"
)

func TestCorpus(t *testing.T) {
	clips := speech.Corpus(t)
	if len(clips) < 80 {
		t.Errorf("%d clips, want 80 or more", len(clips))
	}
	named, said := map[string]bool{}, map[string]bool{}
	for _, clip := range clips {
		if named[clip.Name] {
			t.Errorf("two clips are named %s", clip.Name)
		}
		named[clip.Name], said[clip.Text] = true, true
		if clip.Duration < 4*time.Second || clip.Duration > 9*time.Second {
			t.Errorf("%s lasts %v, want 4 to 9 s", clip.Name, clip.Duration)
		}
	}
	if len(said) != len(speech.Sentences) {
		t.Errorf("%d of %d sentences are said", len(said), len(speech.Sentences))
	}

	t.Run("holds what was said from its first to its last moment", func(t *testing.T) {
		const packet = 130 * time.Millisecond // the longest of a codec here: AAC's 1024 samples at 8 kHz
		for _, clip := range clips {
			out, err := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-i", clip.Path,
				"-map", "0:a:0", "-f", "s16le", "-ar", "16000", "-ac", "1", "-c:a", "pcm_s16le", "-").Output()
			if err != nil {
				t.Errorf("%s does not decode: %v", clip.Name, err)
				continue
			}
			heard := time.Duration(len(out)/2) * time.Second / 16000
			short := packet
			if strings.Contains(clip.Name, "amr") {
				short = 600 * time.Millisecond // the silence on both sides: AMR leaves it out, and ffmpeg does not put it back
			}
			if d := heard - clip.Duration; d < -short || d > 2*packet {
				t.Errorf("%s lasts %v, and what was said %v", clip.Name, heard, clip.Duration)
			}
		}
	})
}

func TestRecord(t *testing.T) {
	speech.Need(t, "flite", "ffmpeg", "ffprobe")
	probe := func(t *testing.T, path, entry string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-show_entries", entry, "-of", "csv=p=0", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	const text = "It's a quarter past ten."

	t.Run("streamed files have no duration", func(t *testing.T) {
		f := speech.Format{Name: "x", Ext: ".webm", Args: "-c:a libopus -seekable 0"}
		clip, err := speech.Record(t.Context(), f, speech.SLT, text, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if got := probe(t, clip.Path, "format=duration"); got != "N/A" {
			t.Errorf("the duration is %s", got)
		}
	})
	t.Run("the clip knows its duration", func(t *testing.T) {
		f := speech.Format{Name: "x", Ext: ".wav", Args: "-c:a pcm_s16le"}
		clip, err := speech.Record(t.Context(), f, speech.RMS, text, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		seconds, err := strconv.ParseFloat(probe(t, clip.Path, "format=duration"), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := clip.Duration.Seconds(); got < seconds-0.001 || got > seconds+0.001 {
			t.Errorf("the clip says %v s, ffprobe %v s", got, seconds)
		}
	})
	t.Run("what ffmpeg says is in the error", func(t *testing.T) {
		f := speech.Format{Name: "x", Ext: ".wav", Args: "-c:a nonsense"}
		_, err := speech.Record(t.Context(), f, speech.RMS, text, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "Unknown encoder 'nonsense'") {
			t.Errorf("the error is %v", err)
		}
	})
}
