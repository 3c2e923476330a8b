// Package wav is the one audio format that helixd makes: RIFF WAVE with 16 kHz
// mono samples of 16 bits. It writes the header of such files, gives parts of them
// that are files themselves, and finds the quiet places to part them.
package wav

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// What all files have: samples a second, and bytes a sample and a header.
const (
	Rate        = 16_000
	SampleBytes = 2
	HeaderBytes = 44
)

// MostSamples is what the header of a file can count, a day and a half.
const MostSamples = (math.MaxUint32 - HeaderBytes) / SampleBytes

// header is that of the canonical form: RIFF, fmt and data chunks.
type header struct {
	Riff       [4]byte
	RiffBytes  uint32 // that follow
	Wave       [4]byte
	Fmt        [4]byte
	FmtBytes   uint32
	Format     uint16 // 1: PCM
	Channels   uint16
	Rate       uint32
	ByteRate   uint32
	BlockBytes uint16
	Bits       uint16
	Data       [4]byte
	DataBytes  uint32
}

// Header gives the HeaderBytes that stand before so many samples, of which there
// may be MostSamples.
func Header(samples int64) []byte {
	data := uint32(samples * SampleBytes)
	h := header{[4]byte([]byte("RIFF")), data + HeaderBytes - 8, [4]byte([]byte("WAVE")), [4]byte([]byte("fmt ")), 16,
		1, 1, Rate, Rate * SampleBytes, SampleBytes, 8 * SampleBytes, [4]byte([]byte("data")), data}
	b, err := binary.Append(nil, binary.LittleEndian, h)
	if err != nil {
		panic(err) // fixed sizes
	}
	return b
}

// Audio is the content of a file.
type Audio struct {
	file    io.ReaderAt
	samples int64
}

// New gives the content of a file that Header's caller has written.
func New(file io.ReaderAt, samples int64) Audio { return Audio{file, samples} }

// Duration is how long the audio is.
func (a Audio) Duration() time.Duration { return Time(a.samples) }

// Time is how long so many samples last.
func Time(samples int64) time.Duration {
	return time.Duration(samples/Rate)*time.Second + time.Duration(samples%Rate)*time.Second/Rate
}

// Part is a range of samples.
type Part struct{ From, To int64 }

// Samples is how many there are.
func (p Part) Samples() int64 { return p.To - p.From }

// Size is that of a file of the part, in bytes.
func (p Part) Size() int64 { return HeaderBytes + p.Samples()*SampleBytes }

// Open gives a file of the part.
func (a Audio) Open(p Part) io.Reader {
	return io.MultiReader(bytes.NewReader(Header(p.Samples())),
		io.NewSectionReader(a.file, HeaderBytes+p.From*SampleBytes, p.Samples()*SampleBytes))
}

// Where parts end: in the middle of the quietest stretch of the last seconds that
// they may have.
const (
	block   = Rate / 100 // samples between two places that are compared
	stretch = 10         // blocks
	search  = 30 * Rate  // samples that are looked through
)

// Split parts the audio so that none has more than most samples. It holds a
// megabyte at a time.
func (a Audio) Split(most int64) ([]Part, error) {
	if most < 4*stretch*block {
		return nil, fmt.Errorf("split audio: parts of %d samples are too short", most)
	}
	var parts []Part
	from := int64(0)
	for a.samples-from > most {
		within := min(most/4, search)
		cut, err := a.quietest(from+most-within, from+most)
		if err != nil {
			return nil, fmt.Errorf("split audio: %w", err)
		}
		parts = append(parts, Part{from, cut})
		from = cut
	}
	return append(parts, Part{from, a.samples}), nil
}

// quietest gives the middle of the quietest stretch, the last one of equals.
func (a Audio) quietest(from, to int64) (int64, error) {
	pcm := make([]byte, (to-from)*SampleBytes)
	if n, err := a.file.ReadAt(pcm, HeaderBytes+from*SampleBytes); n < len(pcm) {
		return 0, err
	}
	energy := make([]float64, (to-from)/block)
	for b := range energy {
		for i := b * block; i < (b+1)*block; i++ {
			v := float64(int16(binary.LittleEndian.Uint16(pcm[i*SampleBytes:])))
			energy[b] += v * v
		}
	}
	at, least := 0, math.Inf(1)
	for b := range len(energy) - stretch + 1 {
		var sum float64
		for _, e := range energy[b : b+stretch] {
			sum += e
		}
		if sum <= least {
			at, least = b, sum
		}
	}
	return from + int64(at+stretch/2)*block, nil
}
