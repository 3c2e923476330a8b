package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// Transcript is what the servers hear in audio: its length and its hash, so that
// a row can be matched with a request.
func Transcript(audio []byte) string {
	l := newListener()
	l.Write(audio)
	return l.transcript()
}

// listener takes audio without keeping it.
type listener struct {
	begin []byte // for the header
	size  int64
	hash  hash.Hash
}

const mostHeader = 4 << 10

func newListener() *listener { return &listener{hash: sha256.New()} }

// Write never fails.
func (l *listener) Write(b []byte) (int, error) {
	l.begin = append(l.begin, b[:min(len(b), mostHeader-len(l.begin))]...)
	l.size += int64(len(b))
	return l.hash.Write(b)
}

func (l *listener) sha256() string { return hex.EncodeToString(l.hash.Sum(nil)) }

func (l *listener) transcript() string {
	if seconds, err := l.wav(); err == nil {
		return fmt.Sprintf("audio %.2f seconds %s", seconds, l.sha256()[:12])
	}
	return fmt.Sprintf("audio %d bytes %s", l.size, l.sha256()[:12])
}

// wav is how many seconds a WAV file of PCM has; an error where its header is not
// true.
func (l *listener) wav() (seconds float64, err error) {
	h := l.begin
	if len(h) < 12 || !bytes.Equal(h[:4], []byte("RIFF")) || !bytes.Equal(h[8:12], []byte("WAVE")) {
		return 0, errors.New("it is no RIFF WAVE")
	}
	if size := int64(binary.LittleEndian.Uint32(h[4:])); size != l.size-8 {
		return 0, fmt.Errorf("its RIFF has %d bytes and says %d", l.size-8, size)
	}
	var byteRate uint32
	for at := int64(12); at+8 <= int64(len(h)); {
		name, size := string(h[at:at+4]), int64(binary.LittleEndian.Uint32(h[at+4:]))
		body := h[at+8:]
		switch {
		case name == "fmt " && len(body) >= 16:
			channels, rate, bits := binary.LittleEndian.Uint16(body[2:]), binary.LittleEndian.Uint32(body[4:]), binary.LittleEndian.Uint16(body[14:])
			byteRate = binary.LittleEndian.Uint32(body[8:])
			align := binary.LittleEndian.Uint16(body[12:])
			if channels == 0 || uint32(align) != uint32(channels)*uint32(bits)/8 || byteRate == 0 || byteRate != rate*uint32(align) {
				return 0, fmt.Errorf("its format is not one: %d channels of %d bits at %d Hz, %d bytes a second in blocks of %d", channels, bits, rate, byteRate, align)
			}
		case name == "data":
			if left := l.size - at - 8; size != left {
				return 0, fmt.Errorf("its data has %d bytes and says %d", left, size)
			}
			if byteRate == 0 {
				return 0, errors.New("it has no format before its data")
			}
			return math.Round(float64(size)/float64(byteRate)*1e6) / 1e6, nil
		}
		at += 8 + size + size%2
	}
	return 0, errors.New("it has no data")
}

// take reads audio into req, and says why a provider would not.
func (req *Request) take(audio io.Reader) (problem string) {
	l := newListener()
	_, err := io.Copy(l, audio)
	req.Bytes = l.size
	if err != nil {
		req.Interrupted = true
		return "the upload was interrupted"
	}
	req.SHA256 = l.sha256()
	req.Transcript = l.transcript()
	switch seconds, err := l.wav(); {
	case l.size == 0:
		return "the audio is empty"
	case err == nil:
		req.Seconds = seconds
	case req.ContentType == "audio/wav":
		return "corrupt or unsupported data: " + err.Error()
	}
	return ""
}
