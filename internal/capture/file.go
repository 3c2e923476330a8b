package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// headerSize is that of a WAV file's header, in bytes.
const headerSize = 44

// MostBytes is how much audio a WAV file can hold.
const MostBytes = math.MaxUint32 - headerSize

// File is a WAV file that is being written. It appears under its name when it is
// whole; before that its samples are in a file beside it.
type File struct {
	path string
	rate int
	f    *os.File
	w    *bufio.Writer
	size int64 // of the samples
}

// Create begins a file, which only its owner can read. It takes the place of a
// file alone: one of a device, or of /dev/stdout, would be gone for the system.
func Create(path string, rate int) (*File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errors.New("it is no file that can be replaced, but a device, a link or a directory")}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	file := &File{path: path, rate: rate, f: f, w: bufio.NewWriter(f)}
	if _, err := f.Write(file.header()); err != nil {
		return nil, errors.Join(err, file.Discard())
	}
	return file, nil
}

// Write adds samples.
func (f *File) Write(p []byte) (int, error) {
	if f.size+int64(len(p)) > MostBytes {
		return 0, fmt.Errorf("a WAV file holds %d bytes of audio", int64(MostBytes))
	}
	n, err := f.w.Write(p)
	f.size += int64(n)
	return n, err
}

// Commit puts the file under its name, in place of what was there.
func (f *File) Commit() error {
	_, err := f.f.WriteAt(f.header(), 0)
	err = errors.Join(err, f.w.Flush(), f.f.Sync(), f.f.Close())
	if err == nil {
		err = os.Rename(f.f.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(f.f.Name())
	}
	return err
}

// Discard ends it without a file.
func (f *File) Discard() error {
	return errors.Join(f.f.Close(), os.Remove(f.f.Name()))
}

func (f *File) header() []byte {
	le := binary.LittleEndian
	h := make([]byte, 0, headerSize)
	h = append(h, "RIFF"...)
	h = le.AppendUint32(h, uint32(headerSize-8+f.size))
	h = append(h, "WAVEfmt "...)
	h = le.AppendUint32(h, 16)
	h = le.AppendUint16(h, 1) // PCM
	h = le.AppendUint16(h, 1) // channel
	h = le.AppendUint32(h, uint32(f.rate))
	h = le.AppendUint32(h, uint32(f.rate*2))
	h = le.AppendUint16(h, 2)
	h = le.AppendUint16(h, 16)
	h = append(h, "data"...)
	return le.AppendUint32(h, uint32(f.size))
}
