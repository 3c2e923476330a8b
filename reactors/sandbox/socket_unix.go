//go:build unix

package sandbox

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// socketPair gives the daemon's end and the child's.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket: %w", err)
	}
	// Both ends block: a thread in a system call is woken sooner than one in the
	// poller wakes a goroutine.
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}

// fdReader and fdWriter are a child's end: blocking system calls wake a worker
// sooner than the poller does.
type fdReader int

func (fd fdReader) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

type fdWriter int

func (fd fdWriter) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := syscall.Write(int(fd), b[done:])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return done, err
		default:
			done += n
		}
	}
	return len(b), nil
}
