package wav_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"testing"

	"github.com/helixd/helixd/reactors/voice/wav"
)

// tone is a file of a tone that is silent where quiet says so.
func tone(samples int64, quiet func(i int64) bool) []byte {
	b := wav.Header(samples)
	for i := range samples {
		v := int16(10_000 * math.Sin(float64(i)*2*math.Pi*440/wav.Rate))
		if quiet(i) {
			v = 0
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func TestHeader(t *testing.T) {
	got := wav.Header(16_000)
	want := "RIFF\x24\x7d\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x00\x7d\x00\x00"
	if string(got) != want {
		t.Errorf("a second's header is %q, want %q", got, want)
	}
	if last := binary.LittleEndian.Uint32(wav.Header(wav.MostSamples)[40:]); int64(last) != wav.MostSamples*wav.SampleBytes {
		t.Errorf("the longest file has %d bytes of data in its header, want %d", last, int64(wav.MostSamples)*wav.SampleBytes)
	}
}

func TestSplit(t *testing.T) {
	const seconds = 100
	// Half a second of quiet in each seven.
	file := tone(seconds*wav.Rate, func(i int64) bool { return i%(7*wav.Rate) < wav.Rate/2 })
	a := wav.New(bytes.NewReader(file), seconds*wav.Rate)
	for _, most := range []int64{8 * wav.Rate, 30 * wav.Rate, 99 * wav.Rate} {
		parts, err := a.Split(most)
		if err != nil {
			t.Fatal(err)
		}
		var pcm []byte
		at := int64(0)
		for i, p := range parts {
			if p.From != at || p.Samples() > most || p.Samples() <= 0 {
				t.Errorf("part %d of at most %d samples is %+v, after %d", i, most, p, at)
			}
			at = p.To
			one, err := io.ReadAll(a.Open(p))
			if err != nil {
				t.Fatal(err)
			}
			if int64(len(one)) != p.Size() {
				t.Errorf("part %d has %d bytes, want %d", i, len(one), p.Size())
			}
			if !bytes.HasPrefix(one, wav.Header(p.Samples())) {
				t.Errorf("part %d is no file of %d samples", i, p.Samples())
			}
			pcm = append(pcm, one[wav.HeaderBytes:]...)
			if within := p.To % (7 * wav.Rate); most >= 28*wav.Rate && i < len(parts)-1 && (within < wav.Rate/20 || within > wav.Rate*9/20) {
				t.Errorf("part %d ends at %d, %d samples into the quiet and the sound", i, p.To, within)
			}
		}
		if !bytes.Equal(pcm, file[wav.HeaderBytes:]) {
			t.Errorf("the parts of at most %d samples are not the whole", most)
		}
	}
	t.Run("ShortIsOnePart", func(t *testing.T) {
		parts, err := a.Split(seconds * wav.Rate)
		if err != nil || len(parts) != 1 || parts[0] != (wav.Part{To: seconds * wav.Rate}) {
			t.Errorf("parts %v, error %v", parts, err)
		}
	})
	t.Run("PartsOfNothingAreRefused", func(t *testing.T) {
		if _, err := a.Split(10); err == nil {
			t.Error("parts of 10 samples were made")
		}
	})
	t.Run("TruncatedFileIsAnError", func(t *testing.T) {
		if _, err := wav.New(bytes.NewReader(file[:1000]), seconds*wav.Rate).Split(8 * wav.Rate); err == nil {
			t.Error("a file that is too short was split")
		}
	})
}
