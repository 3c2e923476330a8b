package wasm

import (
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// WASI preview 1, as much of it as a program has that has three streams, a clock
// and random numbers: no files, no environment, no sockets. wazero's own is not
// used, because it takes vectors of any length, sleeps without bound, and pays
// for a file system at each instantiation.
//
// Specification: https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md
type errno = uint64

const (
	success errno = 0
	eBadF   errno = 8
	eFault  errno = 21
	eInval  errno = 28
	eNoSys  errno = 52
	eSPipe  errno = 70
)

// maxVectors bounds the vectors of a read or write and the subscriptions of a
// poll; 1,024 is IOV_MAX of Linux.
const maxVectors = 1024

var argument = []byte("skill\x00") // args, all of it

var wasiFuncs = map[string]hostFunc{
	"args_get":          wasi(argsGet, i32, i32),
	"args_sizes_get":    wasi(argsSizesGet, i32, i32),
	"environ_get":       wasi(constant(success), i32, i32),
	"environ_sizes_get": wasi(environSizesGet, i32, i32),
	"clock_res_get":     wasi(clockResGet, i32, i32),
	"clock_time_get":    wasi(clockTimeGet, i32, i64, i32),
	"random_get":        wasi(randomGet, i32, i32),
	"sched_yield":       wasi(constant(success)),
	"poll_oneoff":       wasi(pollOneoff, i32, i32, i32, i32),
	"proc_exit": {params: []api.ValueType{i32}, serve: func(_ *call, _ api.Module, s []uint64) {
		panic(sys.NewExitError(uint32(s[0])))
	}},
	"proc_raise": wasi(constant(eNoSys), i32),

	"fd_read":             wasi(fdRead, i32, i32, i32, i32),
	"fd_write":            wasi(fdWrite, i32, i32, i32, i32),
	"fd_close":            wasi(fdClose, i32),
	"fd_fdstat_get":       wasi(fdStatGet, i32, i32),
	"fd_fdstat_set_flags": wasi(onStream(success), i32, i32),
	"fd_filestat_get":     wasi(fileStatGet, i32, i32),

	// What a stream is asked of and cannot do.
	"fd_advise":             wasi(onStream(eSPipe), i32, i64, i64, i32),
	"fd_allocate":           wasi(onStream(eInval), i32, i64, i64),
	"fd_datasync":           wasi(onStream(eInval), i32),
	"fd_fdstat_set_rights":  wasi(onStream(eInval), i32, i64, i64),
	"fd_filestat_set_size":  wasi(onStream(eInval), i32, i64),
	"fd_filestat_set_times": wasi(onStream(eInval), i32, i64, i64, i32),
	"fd_pread":              wasi(onStream(eSPipe), i32, i32, i32, i64, i32),
	"fd_pwrite":             wasi(onStream(eSPipe), i32, i32, i32, i64, i32),
	"fd_renumber":           wasi(onStream(eInval), i32, i32),
	"fd_seek":               wasi(onStream(eSPipe), i32, i64, i32, i32),
	"fd_sync":               wasi(onStream(eInval), i32),
	"fd_tell":               wasi(onStream(eSPipe), i32, i32),

	// No directory is open, so none of these has one to begin at.
	"fd_prestat_get":          wasi(constant(eBadF), i32, i32),
	"fd_prestat_dir_name":     wasi(constant(eBadF), i32, i32, i32),
	"fd_readdir":              wasi(constant(eBadF), i32, i32, i32, i64, i32),
	"path_create_directory":   wasi(constant(eBadF), i32, i32, i32),
	"path_filestat_get":       wasi(constant(eBadF), i32, i32, i32, i32, i32),
	"path_filestat_set_times": wasi(constant(eBadF), i32, i32, i32, i32, i64, i64, i32),
	"path_link":               wasi(constant(eBadF), i32, i32, i32, i32, i32, i32, i32),
	"path_open":               wasi(constant(eBadF), i32, i32, i32, i32, i32, i64, i64, i32, i32),
	"path_readlink":           wasi(constant(eBadF), i32, i32, i32, i32, i32, i32),
	"path_remove_directory":   wasi(constant(eBadF), i32, i32, i32),
	"path_rename":             wasi(constant(eBadF), i32, i32, i32, i32, i32, i32),
	"path_symlink":            wasi(constant(eBadF), i32, i32, i32, i32, i32),
	"path_unlink_file":        wasi(constant(eBadF), i32, i32, i32),
}

type wasiFunc func(c *call, mem mem, p []uint64) errno

func wasi(f wasiFunc, params ...api.ValueType) hostFunc {
	return hostFunc{params, []api.ValueType{i32}, func(c *call, mod api.Module, s []uint64) {
		e := f(c, c.memoryOf(mod), s)
		// A function without parameters has a stack of its one result.
		s[0] = e
	}}
}

func constant(e errno) wasiFunc {
	return func(*call, mem, []uint64) errno { return e }
}

// onStream is eBadF but for the streams.
func onStream(e errno) wasiFunc {
	return func(c *call, _ mem, p []uint64) errno {
		if !c.open(p[0]) {
			return eBadF
		}
		return e
	}
}

func (c *call) open(fd uint64) bool { return fd <= 2 && !c.closed[fd] }

func argsGet(_ *call, mem mem, p []uint64) errno {
	if !mem.put32(p[0], uint32(p[1])) || !mem.put(p[1], argument) {
		return eFault
	}
	return success
}

func argsSizesGet(_ *call, mem mem, p []uint64) errno {
	if !mem.put32(p[0], 1) || !mem.put32(p[1], uint32(len(argument))) {
		return eFault
	}
	return success
}

func environSizesGet(_ *call, mem mem, p []uint64) errno {
	if !mem.put32(p[0], 0) || !mem.put32(p[1], 0) {
		return eFault
	}
	return success
}

// Clocks; those of CPU time are answered as the monotonic one.
const (
	clockRealtime  = 0
	clockThreadCPU = 3
)

func clockResGet(_ *call, mem mem, p []uint64) errno {
	if p[0] > clockThreadCPU {
		return eInval
	}
	if !mem.put64(p[1], 1) {
		return eFault
	}
	return success
}

func clockTimeGet(c *call, mem mem, p []uint64) errno {
	now, ok := c.clock(p[0])
	if !ok {
		return eInval
	}
	if !mem.put64(p[2], now) {
		return eFault
	}
	return success
}

// clock gives nanoseconds. The monotonic clock begins at one second: to Go's
// runtime zero is no time.
func (c *call) clock(id uint64) (uint64, bool) {
	elapsed := time.Since(c.start)
	switch {
	case id == clockRealtime:
		return uint64(c.env.Now.Add(elapsed).UnixNano()), true
	case id <= clockThreadCPU:
		return uint64(time.Second + elapsed), true
	default:
		return 0, false
	}
}

func randomGet(c *call, mem mem, p []uint64) errno {
	b, ok := mem.at(p[0], p[1])
	if !ok {
		return eFault
	}
	_, _ = c.random.Read(b) // it has no errors
	return success
}

func fdRead(c *call, mem mem, p []uint64) errno {
	if p[0] != 0 || !c.open(0) {
		return eBadF
	}
	n := 0
	if e := mem.vectors(p[1], p[2], func(b []byte) bool {
		m := copy(b, c.stdin)
		c.stdin = c.stdin[m:]
		n += m
		return len(c.stdin) > 0
	}); e != success {
		return e
	}
	if !mem.put32(p[3], uint32(n)) {
		return eFault
	}
	return success
}

func fdWrite(c *call, mem mem, p []uint64) errno {
	if p[0] == 0 || !c.open(p[0]) {
		return eBadF
	}
	n := uint64(0)
	if e := mem.vectors(p[1], p[2], func(b []byte) bool {
		if n+uint64(len(b)) > 1<<31 {
			return false // a short write: the count has 32 bits
		}
		n += uint64(len(b))
		if p[0] == 1 && c.command {
			c.output(b)
		} else {
			c.logs(b)
		}
		return true
	}); e != success {
		return e
	}
	if !mem.put32(p[3], uint32(n)) {
		return eFault
	}
	return success
}

// output collects stdout, with room for the newline that most programs end with.
func (c *call) output(b []byte) {
	if len(b) > c.env.Limits.Output+1-len(c.stdout) {
		panic(c.outputTooLarge())
	}
	c.stdout = append(c.stdout, b...)
}

func fdClose(c *call, _ mem, p []uint64) errno {
	if !c.open(p[0]) {
		return eBadF
	}
	c.closed[p[0]] = true
	return success
}

// Rights of a stream, which C's library looks at.
const (
	rightRead     = 1 << 1
	rightWrite    = 1 << 6
	rightFileStat = 1 << 21
	rightPoll     = 1 << 27
)

// fdStatGet says of a stream that its type is unknown, as a pipe's is: a
// character device would be taken for a terminal.
func fdStatGet(c *call, mem mem, p []uint64) errno {
	if !c.open(p[0]) {
		return eBadF
	}
	var stat [24]byte
	rights := uint64(rightFileStat | rightPoll)
	if p[0] == 0 {
		rights |= rightRead
	} else {
		rights |= rightWrite
	}
	binary.LittleEndian.PutUint64(stat[8:], rights)
	if !mem.put(p[1], stat[:]) {
		return eFault
	}
	return success
}

func fileStatGet(c *call, mem mem, p []uint64) errno {
	if !c.open(p[0]) {
		return eBadF
	}
	if !mem.put(p[1], make([]byte, 64)) {
		return eFault
	}
	return success
}
