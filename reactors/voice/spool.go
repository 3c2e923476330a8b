package voice

import (
	"os"
)

// spool is a file without a name for audio on its way: memory would not do for
// recordings of hours, and what a killed process leaves of a named file nobody
// would remove, though it is somebody's voice.
type spool struct {
	file  *os.File
	size  int64
	named bool // where the system removes no file that is open
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "helixd-voice-")
	if err != nil {
		return nil, internal("make a temporary file", err)
	}
	return &spool{file: f, named: os.Remove(f.Name()) != nil}, nil
}

// Size is that of what was written, in bytes.
func (s *spool) Size() int64 { return s.size }

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, at int64) (int, error) { return s.file.ReadAt(p, at) }

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.size += int64(n)
	if err != nil {
		err = internal("write a temporary file", err)
	}
	return n, err
}

// Close gives the file's room back.
func (s *spool) Close() error {
	err := s.file.Close()
	if s.named {
		_ = os.Remove(s.file.Name())
	}
	return err
}
