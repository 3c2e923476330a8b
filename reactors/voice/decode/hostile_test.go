package decode_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/decode"
)

func TestWhatIsNoRecordingIsNotDecoded(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.wav")
	ffmpeg(t, dir, "-f", "lavfi", "-i", "sine=d=1", secret)
	var picture, archive bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(&archive)
	if f, err := w.Create("a.wav"); err != nil {
		t.Fatal(err)
	} else if _, err := f.Write(read(t, secret)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, dir, "-f", "lavfi", "-i", "testsrc=d=1:s=64x48", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "silent.mov")
	header := wavHeader(1, 1, 16000, 16, 0)
	for name, c := range map[string]struct {
		content string
		want    []decode.Code
	}{
		"nothing":                 {"", []decode.Code{decode.Empty}},
		"one byte":                {"R", []decode.Code{decode.Undecodable}},
		"text":                    {strings.Repeat("This is no sound. ", 1000), []decode.Code{decode.Undecodable}},
		"HLS playlist":            {"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://" + secret + "\n#EXT-X-ENDLIST\n", []decode.Code{decode.Undecodable}},
		"playlist of ffmpeg":      {"ffconcat version 1.0\nfile '" + secret + "'\n", []decode.Code{decode.Undecodable}},
		"session description":     {"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n", []decode.Code{decode.Undecodable}},
		"zip with a recording":    {archive.String(), []decode.Code{decode.Undecodable}},
		"picture":                 {picture.String(), []decode.Code{decode.Undecodable}},
		"film without sound":      {string(read(t, filepath.Join(dir, "silent.mov"))), []decode.Code{decode.Undecodable}},
		"header without a sample": {string(header), []decode.Code{decode.Empty, decode.Undecodable}},
		"zeros":                   {string(make([]byte, 1<<20)), []decode.Code{decode.Undecodable}},
	} {
		t.Run(name, func(t *testing.T) {
			out, info, err := decoded(ordinary, []byte(c.content))
			if !slices.Contains(c.want, codeOf(err)) {
				t.Errorf("got %v, %+v", err, info)
			}
			if len(out) > 0 {
				t.Errorf("it came to %d samples", len(out)/2)
			}
		})
	}
}

// wavHeader is that of PCM which claims to have so many bytes.
func wavHeader(format, channels uint16, rate uint32, bits uint16, size uint32) []byte {
	h := append([]byte("RIFF"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(h[4:], size+36)
	h = append(h, "WAVEfmt \x10\x00\x00\x00"...)
	for _, v := range []any{format, channels, rate, rate * uint32(channels*bits/8), channels * bits / 8, bits} {
		h, _ = binary.Append(h, binary.LittleEndian, v)
	}
	return binary.LittleEndian.AppendUint32(append(h, "data"...), size)
}

func TestFragmentedFileThatIsCutGivesWhatWasThere(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	ffmpeg(t, dir, "-f", "lavfi", "-i", "sine=d=8", "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof", "-frag_duration", "500000", "a.mp4")
	ffmpeg(t, dir, "-f", "lavfi", "-i", "sine=d=8", "-c:a", "libopus", "a.webm")
	for _, name := range []string{"a.mp4", "a.webm"} {
		whole := read(t, filepath.Join(dir, name))
		_, info, err := decoded(ordinary, whole[:len(whole)/2])
		if s := info.Duration().Seconds(); err != nil || s < 3 || s > 5 {
			t.Errorf("half of %s is %.2f s of 8, %v", name, s, err)
		}
	}
}

func TestChainedStreamsAreDecodedToTheEnd(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	for _, c := range []struct{ name, first, second string }{
		{"a.ogg", "-c:a libopus -ac 2", "-c:a libopus -ac 1"},
		{"b.ogg", "-c:a libvorbis -ac 2 -ar 48000", "-c:a libvorbis -ac 2 -ar 48000"},
		{"c.mp3", "-c:a libmp3lame -ac 2 -ar 44100 -write_xing 0", "-c:a libmp3lame -ac 1 -ar 44100 -write_xing 0"},
		{"d.aac", "-c:a aac -ac 2 -ar 44100", "-c:a aac -ac 1 -ar 22050"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chained []byte
			for _, args := range []string{c.first, c.second} {
				ffmpeg(t, dir, append(append([]string{"-f", "lavfi", "-i", "sine=d=2"}, strings.Fields(args)...), c.name)...)
				chained = append(chained, read(t, filepath.Join(dir, c.name))...)
			}
			out, info, err := decoded(ordinary, chained)
			if s := info.Duration().Seconds(); err != nil || s < 3.8 || s > 4.3 {
				t.Errorf("2 s and 2 s are %.2f s, %+v, %v", s, info, err)
			}
			if l := level(out[len(out)*3/5:]); l < -40 {
				t.Errorf("the second half is silent: %.1f dB", l)
			}
		})
	}
}

func TestDamagedPacketsAreCountedAndLeftOut(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	ffmpeg(t, dir, "-f", "lavfi", "-i", speechlike, "-c:a", "flac", "a.flac")
	whole := read(t, filepath.Join(dir, "a.flac"))
	random := rand.New(rand.NewPCG(1, 1))
	for i := len(whole) / 3; i < len(whole)/3+20_000; i++ {
		whole[i] = byte(random.Uint32())
	}
	_, info, err := decoded(ordinary, whole)
	if err != nil || info.Bad == 0 || info.Duration() < 2*time.Second {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestRecordingThatIsLongerThanItMayBeEndsThere(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	ffmpeg(t, dir, "-f", "lavfi", "-i", "sine=d=10", "a.wav")
	recording := read(t, filepath.Join(dir, "a.wav"))
	opts := ordinary
	opts.Longest = 10*time.Second + 10*time.Millisecond
	if out, _, err := decoded(opts, recording); err != nil || len(out) != 2*10*decode.Rate {
		t.Errorf("%d samples, %v", len(out)/2, err)
	}
	opts.Longest = 5 * time.Second
	if out, _, err := decoded(opts, recording); codeOf(err) != decode.TooLong || len(out) > 2*5*decode.Rate {
		t.Errorf("%d samples, %v", len(out)/2, err)
	}
}

func TestTenHoursOfSilenceInAFewMegabytesAreStopped(t *testing.T) {
	needFFmpeg(t)
	dir := t.TempDir()
	ffmpeg(t, dir, "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "36000", "-c:a", "flac", "bomb.flac")
	opts := ordinary
	opts.Longest = 10 * time.Minute
	bomb := read(t, filepath.Join(dir, "bomb.flac"))
	out, _, err := decoded(opts, bomb)
	if codeOf(err) != decode.TooLong || len(out) > 2*600*decode.Rate {
		t.Errorf("%d bytes came to %d samples, %v", len(bomb), len(out)/2, err)
	}
}

func TestHeadersThatLieAreNotBelieved(t *testing.T) {
	t.Run("4 GB of samples", func(t *testing.T) {
		out, info, err := decoded(ordinary, append(wavHeader(1, 1, 16000, 16, 0xffffff00), make([]byte, 32000)...))
		if err != nil || len(out) != 32000 {
			t.Errorf("%d samples, %+v, %v", len(out)/2, info, err)
		}
	})
	t.Run("a rate of 2 GHz", func(t *testing.T) {
		_, _, err := decoded(ordinary, append(wavHeader(1, 1, 1<<31-1, 16, 1<<20), make([]byte, 1<<20)...))
		if !slices.Contains([]decode.Code{decode.Undecodable, decode.TooHard, decode.Empty}, codeOf(err)) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a rate of 1 Hz", func(t *testing.T) {
		out, _, err := decoded(ordinary, append(wavHeader(1, 1, 1, 16, 1<<20), make([]byte, 1<<20)...))
		if !slices.Contains([]decode.Code{decode.Undecodable, decode.TooHard, decode.TooLong}, codeOf(err)) {
			t.Errorf("%d samples, %v", len(out)/2, err)
		}
	})
	for _, table := range []string{"stsz", "stts", "stco", "ctts"} {
		t.Run("an mp4 table "+table+" of 4 G entries", func(t *testing.T) {
			_, _, err := decoded(ordinary, giantTable(table))
			if !slices.Contains([]decode.Code{decode.Undecodable, decode.TooHard, decode.Empty}, codeOf(err)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTableThatLeadsToAndFroIsNotFollowedForLong(t *testing.T) {
	atom := func(kind string, parts ...[]byte) []byte {
		content := bytes.Join(parts, nil)
		return append(binary.BigEndian.AppendUint32(nil, uint32(8+len(content))), append([]byte(kind), content...)...)
	}
	numbers := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	const chunks, media = 50_000, 2 << 20
	offsets := make([]uint32, chunks)
	for i := range offsets {
		offsets[i] = 24 + uint32(i%2)*(media-1000)
	}
	zeros := func(n int) []byte { return make([]byte, n) }
	entry := atom("sowt", numbers(0, 1, 0, 0, 1<<16|16, 0, 16000<<16))
	stbl := atom("stbl", atom("stsd", numbers(0, 1), entry), atom("stts", numbers(0, 1, chunks, 1)), atom("stsz", numbers(0, 2, chunks)),
		atom("stsc", numbers(0, 1, 1, 1, 1)), atom("stco", numbers(0, chunks), numbers(offsets...)))
	mdia := atom("mdia", atom("mdhd", zeros(12), numbers(16000, chunks, 0)), atom("hdlr", zeros(8), []byte("soun"), zeros(13)), atom("minf", stbl))
	recording := append(atom("ftyp", []byte("isom\x00\x00\x00\x00")), atom("mdat", make([]byte, media))...)
	recording = append(recording, atom("moov", atom("trak", mdia))...)
	_, info, err := decoded(ordinary, recording)
	if codeOf(err) != decode.TooHard || info.CPU > 5*time.Second {
		t.Errorf("it took %v of CPU time: %v", info.CPU, err)
	}
}

// giantTable is an mp4 with audio whose table claims 4 G entries.
func giantTable(name string) []byte {
	atom := func(kind string, parts ...[]byte) []byte {
		content := bytes.Join(parts, nil)
		return append(binary.BigEndian.AppendUint32(nil, uint32(8+len(content))), append([]byte(kind), content...)...)
	}
	zeros := func(n int) []byte { return make([]byte, n) }
	entry := atom("sowt", []byte{0, 0, 0, 0, 0, 0, 0, 1}, zeros(8), []byte{0, 1, 0, 16, 0, 0, 0, 0, 0x3e, 0x80, 0, 0})
	stsd := atom("stsd", []byte{0, 0, 0, 0, 0, 0, 0, 1}, entry)
	table := atom(name, zeros(4), zeros(4*strings.Count(name, "stsz")), []byte{0xff, 0xff, 0xff, 0xff}, zeros(64))
	mdhd := atom("mdhd", zeros(12), []byte{0, 0, 0x3e, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	hdlr := atom("hdlr", zeros(8), []byte("soun"), zeros(13))
	moov := atom("moov", atom("trak", atom("mdia", mdhd, hdlr, atom("minf", atom("stbl", stsd, table)))))
	return append(append(atom("ftyp", []byte("isom\x00\x00\x00\x00")), moov...), atom("mdat", zeros(1000))...)
}

// generated is an Input that is nowhere.
type generated struct {
	size int64
	at   func(offset int64) byte
}

func (g generated) Size() int64 { return g.size }

func (g generated) ReadAt(b []byte, offset int64) (int, error) {
	n := int(min(int64(len(b)), g.size-offset))
	for i := range n {
		b[i] = g.at(offset + int64(i))
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func TestHundredMegabytesOfNothing(t *testing.T) {
	for name, at := range map[string]func(int64) byte{
		"zeros": func(int64) byte { return 0 },
		"noise": func(i int64) byte {
			x := uint64(i)*0x9e3779b97f4a7c15 + 1
			return byte((x ^ x>>29) * 0xbf58476d1ce4e5b9 >> 56)
		},
	} {
		t.Run(name, func(t *testing.T) {
			info, err := decoder.Decode(t.Context(), ordinary, generated{100 << 20, at}, io.Discard)
			if !slices.Contains([]decode.Code{decode.Undecodable, decode.TooHard, decode.Empty}, codeOf(err)) {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}
