package decode_test

import (
	"encoding/binary"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/voice/decode"
)

// speechlike is sound in many bands that comes and goes, different left and
// right, as an argument of ffmpeg's lavfi.
const speechlike = "aevalsrc=exprs='0.3*sin(2*PI*t*(200+150*sin(3*t)))+0.2*sin(2*PI*1900*t)*gt(sin(9*t)\\,0)+0.05*random(0)" +
	"|0.3*sin(2*PI*t*(200+150*sin(3*t)))+0.15*sin(2*PI*3100*t)*gt(sin(7*t)\\,0)+0.05*random(1)':s=48000:d=3"

// formats are what browsers and phones make: a file's name, how ffmpeg makes it
// of stereo at 48 kHz, and what decoders find it to be.
var formats = []struct {
	name, args, container, codec string
}{
	{"chrome.webm", "-c:a libopus", "matroska,webm", "opus"},
	{"chrome-live.webm", "-c:a libopus -f webm -live 1", "matroska,webm", "opus"},
	{"chrome-mono.webm", "-c:a libopus -ac 1 -b:a 24k", "matroska,webm", "opus"},
	{"vorbis.webm", "-c:a libvorbis", "matroska,webm", "vorbis"},
	{"float.webm", "-c:a pcm_f32le -ar 44100 -f matroska", "matroska,webm", "pcm_f32le"},
	{"chrome.mp4", "-c:a libopus", "mov,mp4,m4a,3gp,3g2,mj2", "opus"},
	{"firefox.ogg", "-c:a libopus", "ogg", "opus"},
	{"vorbis.ogg", "-c:a libvorbis", "ogg", "vorbis"},
	{"flac.ogg", "-c:a flac", "ogg", "flac"},
	{"safari.mp4", "-c:a aac -movflags frag_keyframe+empty_moov+default_base_moof", "mov,mp4,m4a,3gp,3g2,mj2", "aac"},
	{"phone.m4a", "-c:a aac -ar 44100", "mov,mp4,m4a,3gp,3g2,mj2", "aac"},
	{"phone-fast.m4a", "-c:a aac -ac 1 -ar 22050 -movflags faststart", "mov,mp4,m4a,3gp,3g2,mj2", "aac"},
	{"alac.m4a", "-c:a alac", "mov,mp4,m4a,3gp,3g2,mj2", "alac"},
	{"stream.aac", "-c:a aac", "aac", "aac"},
	{"mp3.mp3", "-c:a libmp3lame", "mp3", "mp3float"},
	{"mp3-mono.mp3", "-c:a libmp3lame -ac 1 -ar 22050 -write_xing 0", "mp3", "mp3float"},
	{"flac.flac", "-c:a flac", "flac", "flac"},
	{"flac24.flac", "-c:a flac -sample_fmt s32", "flac", "flac"},
	{"s16.wav", "-c:a pcm_s16le", "wav", "pcm_s16le"},
	{"s16-11025.wav", "-c:a pcm_s16le -ar 11025", "wav", "pcm_s16le"},
	{"s16-8000.wav", "-c:a pcm_s16le -ar 8000 -ac 1", "wav", "pcm_s16le"},
	{"s24.wav", "-c:a pcm_s24le", "wav", "pcm_s24le"},
	{"s32.wav", "-c:a pcm_s32le -ar 96000", "wav", "pcm_s32le"},
	{"f32.wav", "-c:a pcm_f32le", "wav", "pcm_f32le"},
	{"u8.wav", "-c:a pcm_u8 -ar 8000", "wav", "pcm_u8"},
	{"mulaw.wav", "-c:a pcm_mulaw -ar 8000 -ac 1", "wav", "pcm_mulaw"},
	{"alaw.wav", "-c:a pcm_alaw -ar 8000 -ac 1", "wav", "pcm_alaw"},
	{"adpcm-ima.wav", "-c:a adpcm_ima_wav", "wav", "adpcm_ima_wav"},
	{"adpcm-ms.wav", "-c:a adpcm_ms", "wav", "adpcm_ms"},
	{"big.w64", "-c:a pcm_s16le", "w64", "pcm_s16le"},
	{"mac.caf", "-c:a pcm_s16be", "caf", "pcm_s16be"},
	{"alac.caf", "-c:a alac", "caf", "alac"},
	{"mac.aiff", "-c:a pcm_s16be", "aiff", "pcm_s16be"},
	{"mac.mov", "-c:a adpcm_ima_qt", "mov,mp4,m4a,3gp,3g2,mj2", "adpcm_ima_qt"},
	{"surround.flac", "-c:a flac -ac 6", "flac", "flac"},
	{"camera.mkv", "-f lavfi -i testsrc=d=3:s=64x48 -c:v mjpeg -pix_fmt yuvj420p -c:a libopus", "matroska,webm", "opus"},
	{"camera.mov", "-f lavfi -i testsrc=d=3:s=64x48 -c:v mjpeg -pix_fmt yuvj420p -c:a aac", "mov,mp4,m4a,3gp,3g2,mj2", "aac"},
	{"phone.amr", "-c:a libopencore_amrnb -ar 8000 -ac 1", "amr", "amrnb"},
	{"phone.3gp", "-c:a libopencore_amrnb -ar 8000 -ac 1", "mov,mp4,m4a,3gp,3g2,mj2", "amrnb"},
	{"phone-wb.amr", "-c:a libvo_amrwbenc -ar 16000 -ac 1", "amr", "amrwb"},
	{"he.m4a", "-c:a libfdk_aac -profile:a aac_he", "mov,mp4,m4a,3gp,3g2,mj2", "aac"},
}

// chain is how native ffmpeg does what the decoder does.
const chain = "aresample=16000:ochl=mono:rematrix_maxval=1.0:filter_size=64:cutoff=0.97"

// encoders are those that the native ffmpeg has.
func encoders(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-hide_banner", "-encoders").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// native decodes a file with the native ffmpeg.
func native(t testing.TB, dir, name, filters string) []byte {
	t.Helper()
	ffmpeg(t, dir, "-i", name, "-map", "0:a:0", "-af", chain+filters, "-f", "s16le", name+".raw")
	return read(t, filepath.Join(dir, name+".raw"))
}

// makeFormat makes one of formats; false says that ffmpeg lacks the encoder.
func makeFormat(t testing.TB, dir, have string, name, args string) bool {
	t.Helper()
	list := strings.Fields(args)
	for i, arg := range list {
		if arg == "-c:a" && !strings.Contains(have, " "+list[i+1]+" ") {
			t.Logf("%s is not tested: this ffmpeg has no encoder %s", name, list[i+1])
			return false
		}
	}
	ffmpeg(t, dir, append(append([]string{"-f", "lavfi", "-i", speechlike}, list...), name)...)
	return true
}

// snr is how far got is above what differs from want, in dB. One may be longer
// by a packet of the slowest codec.
func snr(t testing.TB, got, want []byte) float64 {
	t.Helper()
	if diff := abs(len(got)-len(want)) / 2; diff > 2048 {
		t.Errorf("%d samples, where the native ffmpeg makes %d", len(got)/2, len(want)/2)
	}
	n := min(len(got), len(want)) / 2
	var signal, noise float64
	for i := range n {
		a, b := float64(sample(got, i)), float64(sample(want, i))
		signal += b * b
		noise += (a - b) * (a - b)
	}
	if signal == 0 {
		t.Error("there is no signal")
	}
	return 10 * math.Log10(signal/max(noise, 1e-9))
}

func sample(b []byte, i int) int16 { return int16(binary.LittleEndian.Uint16(b[2*i:])) }

func abs(n int) int { return max(n, -n) }

func TestFormatsDecodeAsNativeFFmpegDecodesThem(t *testing.T) {
	needFFmpeg(t)
	dir, have := t.TempDir(), encoders(t)
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			if !makeFormat(t, dir, have, f.name, f.args) {
				return
			}
			// The name says nothing: the bytes do.
			out, info, err := decoded(ordinary, read(t, filepath.Join(dir, f.name)))
			if err != nil {
				t.Fatal(err)
			}
			if ratio := snr(t, out, native(t, dir, f.name, "")); ratio < 60 {
				t.Errorf("it differs from native ffmpeg: %.1f dB", ratio)
			}
			if info.Container != f.container || info.Codec != f.codec || info.Bad != 0 || info.Packets == 0 ||
				info.Rate == 0 || info.Channels == 0 || info.Samples != int64(len(out)/2) {
				t.Errorf("%+v", info)
			}
			if d := info.Duration().Seconds(); math.Abs(d-3) > 0.15 {
				t.Errorf("3 s are %.3f s", d)
			}
		})
	}
}

func TestDenoiseIsAsNativeFFmpegsFilters(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	ffmpeg(t, dir, "-f", "lavfi", "-i", speechlike, "a.wav")
	recording := read(t, filepath.Join(dir, "a.wav"))
	for denoise, filters := range map[decode.Denoise]string{
		decode.Highpass: ",highpass=f=80",
		decode.Light:    ",highpass=f=80,afftdn=nr=6:tn=1",
		decode.Strong:   ",highpass=f=80,afftdn=nr=12:nf=-40:tn=1",
	} {
		t.Run(string(denoise), func(t *testing.T) {
			opts := ordinary
			opts.Denoise = denoise
			out, _, err := decoded(opts, recording)
			if err != nil {
				t.Fatal(err)
			}
			if ratio := snr(t, out, native(t, dir, "a.wav", filters)); ratio < 40 {
				t.Errorf("it differs from native ffmpeg: %.1f dB", ratio)
			}
		})
	}
}

// level is the root mean square of the middle, in dB of full scale.
func level(b []byte) float64 {
	n := len(b) / 2
	var sum float64
	for i := n / 4; i < n*3/4; i++ {
		v := float64(sample(b, i)) / 32768
		sum += v * v
	}
	return 10 * math.Log10(max(sum/float64(n/2), 1e-12))
}

func TestToneAboveHalfTheRateLeavesNoAlias(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	for _, format := range []string{"pcm_s16le", "pcm_f32le"} {
		ffmpeg(t, dir, "-f", "lavfi", "-i", "aevalsrc=0.9*sin(2*PI*8500*t):s=48000:d=2", "-c:a", format, "tone.wav")
		out, _, err := decoded(ordinary, read(t, filepath.Join(dir, "tone.wav")))
		if err != nil {
			t.Fatal(err)
		}
		if l := level(out); l > -80 {
			t.Errorf("%s: a tone of 8.5 kHz is heard at %.1f dB", format, l)
		}
	}
}

func TestFullScaleStereoDoesNotClip(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		right string
		level float64 // dB
	}{
		"in phase":     {"sin(2*PI*440*t)", -3},
		"out of phase": {"-sin(2*PI*440*t)", -120},
		"left only":    {"0", -9},
	} {
		t.Run(name, func(t *testing.T) {
			ffmpeg(t, dir, "-f", "lavfi", "-i", "aevalsrc=exprs='sin(2*PI*440*t)|"+c.right+"':s=48000:d=2", "-c:a", "pcm_f32le", "full.wav")
			out, _, err := decoded(ordinary, read(t, filepath.Join(dir, "full.wav")))
			if err != nil {
				t.Fatal(err)
			}
			if l := level(out); math.Abs(l-c.level) > 0.2 && (c.level > -100 || l > -80) {
				t.Errorf("its level is %.1f dB, want %.1f", l, c.level)
			}
			// A sine that is cut off stays at one value for a while.
			for i := 1; i+1 < len(out)/2; i++ {
				if v := sample(out, i); (v == math.MaxInt16 || v == math.MinInt16) && sample(out, i-1) == v && sample(out, i+1) == v {
					t.Fatalf("it is cut off at sample %d", i)
				}
			}
		})
	}
}
