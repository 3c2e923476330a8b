package attack_test

import "github.com/helixd/helixd/reactors/sandbox"

const wasi = "wasi_snapshot_preview1"

// wasiCall is a module whose execute calls one function of WASI. params are its
// parameters; the errno that it gives is the output. Memory holds a path at 0
// (16 bytes), another at 64, and an iovec at 128: 4 bytes at 256.
func wasiCall(name string, params []op, args ...any) []byte {
	return program{
		types:   [][]byte{sig(params, []op{i32})},
		imports: [][]byte{imp(wasi, name, typesGiven)},
		datas:   [][]byte{data(0, "/etc/passwd"), data(32, "../../../etc/passwd"), data(64, "/proc/self/environ"), data(128, "\x00\x01\x00\x00\x04\x00\x00\x00")},
	}.execute(cat(args...), call, 0)
}

var pathOpen = []op{i32, i32, i32, i32, i32, i64, i64, i32, i32}

// escape is an attack that the host does not serve, or refuses: execute gives an
// errno other than 0, which is what output says.
func escape(name, errno string, code []byte) attack {
	return attack{name: name, code: bytesOf(code), output: errno, expect: []sandbox.Code{sandbox.UnsupportedImport}}
}

const (
	badf  = "8"
	nosys = "52"
)

// escapeModules look for the machine: its files, environment, sockets, processes
// and time.
var escapeModules = []attack{
	escape("open a file of the machine", badf, wasiCall("path_open", pathOpen, c32(3), c32(0), c32(0), c32(11), c32(0), const64, s(-1), const64, s(-1), c32(0), c32(200))),
	escape("open a file above", badf, wasiCall("path_open", pathOpen, c32(3), c32(1), c32(32), c32(19), c32(0), const64, s(-1), const64, s(-1), c32(0), c32(200))),
	escape("open /proc/self/environ", badf, wasiCall("path_open", pathOpen, c32(3), c32(1), c32(64), c32(18), c32(0), const64, s(-1), const64, s(-1), c32(0), c32(200))),
	escape("open under stdin", badf, wasiCall("path_open", pathOpen, c32(0), c32(1), c32(0), c32(11), c32(0), const64, s(-1), const64, s(-1), c32(0), c32(200))),
	escape("make a file", badf, wasiCall("path_open", pathOpen, c32(3), c32(0), c32(0), c32(11), c32(9), const64, s(-1), const64, s(-1), c32(0), c32(200))),
	escape("first directory given", badf, wasiCall("fd_prestat_get", ops(2, i32), c32(3), c32(200))),
	escape("stat a path", badf, wasiCall("path_filestat_get", ops(5, i32), c32(3), c32(0), c32(0), c32(11), c32(200))),
	escape("make a link", badf, wasiCall("path_symlink", ops(5, i32), c32(0), c32(11), c32(3), c32(64), c32(18))),
	escape("read a link", badf, wasiCall("path_readlink", ops(6, i32), c32(3), c32(64), c32(18), c32(200), c32(8), c32(208))),
	escape("remove a file", badf, wasiCall("path_unlink_file", ops(3, i32), c32(3), c32(0), c32(11))),
	escape("rename a file", badf, wasiCall("path_rename", ops(6, i32), c32(3), c32(0), c32(11), c32(3), c32(64), c32(18))),
	escape("list a directory", badf, wasiCall("fd_readdir", []op{i32, i32, i32, i64, i32}, c32(3), c32(200), c32(8), const64, 0, c32(208))),
	escape("read from the parent's socket", badf, wasiCall("fd_read", ops(4, i32), c32(3), c32(128), c32(1), c32(200))),
	escape("write to the parent's socket", badf, wasiCall("fd_write", ops(4, i32), c32(3), c32(128), c32(1), c32(200))),
	escape("write to a file that others have", badf, wasiCall("fd_pwrite", []op{i32, i32, i32, i64, i32}, c32(4), c32(128), c32(1), const64, 0, c32(200))),
	escape("renumber the socket over stdout", badf, wasiCall("fd_renumber", ops(2, i32), c32(3), c32(1))),
	escape("accept a connection", badf, wasiCall("sock_accept", ops(3, i32), c32(3), c32(0), c32(200))),
	escape("send to a socket", badf, wasiCall("sock_send", ops(5, i32), c32(3), c32(128), c32(1), c32(0), c32(200))),
	escape("signal the process", nosys, wasiCall("proc_raise", ops(1, i32), c32(9))),
	ends("open a socket as WasmEdge does", bytesOf(wasiCall("sock_open", ops(3, i32), c32(1), c32(1), c32(200))), sandbox.UnsupportedImport),
	ends("connect as WasmEdge does", bytesOf(wasiCall("sock_connect", ops(3, i32), c32(3), c32(0), c32(80))), sandbox.UnsupportedImport),
	ends("a function that WASI does not have", bytesOf(wasiCall("proc_exec", ops(2, i32), c32(0), c32(11))), sandbox.UnsupportedImport),

	// What a command may call, and what it must find.
	contained("variables of the environment", "0", bytesOf(wasiSize("environ_sizes_get"))),
	contained("every file descriptor", "0", bytesOf(program{
		types:   [][]byte{sig(ops(2, i32), []op{i32})},
		imports: [][]byte{imp(wasi, "fd_prestat_get", typeTwo)},
		globals: [][]byte{cat(i32, 1, c32(0), end), cat(i32, 1, c32(0), end)},
	}.execute(loop, empty, // counts the descriptors from 0 to 1023 that are directories
		globalGet, 0, c32(200), call, 0, eqz32, globalGet, 1, add32, globalSet, 1,
		globalGet, 0, c32(1), add32, globalSet, 0, globalGet, 0, c32(1024), ltU32, brIf, 0, end, globalGet, 1))),

	ends("exit with 7", bytesOf(exit(7)), sandbox.ExitStatus),
	ends("exit with wazero's own code of a cancelled context", bytesOf(exit(0xffffffff)), sandbox.ExitStatus),
	ends("exit with wazero's own code of a deadline", bytesOf(exit(0xefffffff)), sandbox.ExitStatus),
	contained("exit with 0 and nothing said", "null", bytesOf(exit(0))),
	ends("exit inside start", bytesOf(program{
		imports: [][]byte{imp(wasi, "proc_exit", typeExit)}, funcs: []fn{{typ: typeVoid, body: cat(c32(9), call, 0)}}, start: u(1),
	}.command(nop)), sandbox.ExitStatus, sandbox.InvalidOutput),

	ends("flood of stdout", bytesOf(flood(1)), sandbox.OutputTooLarge),
	ends("flood of stderr", bytesOf(flood(2)), sandbox.CPUTimeExceeded),
	ends("a million iovecs of a megabyte", bytesOf(iovecs(1, 1_000_000)), sandbox.OutputTooLarge, sandbox.CPUTimeExceeded),
	ends("a million iovecs to stderr, again and again", bytesOf(iovecs(2, 1_000_000)), sandbox.CPUTimeExceeded),
	ends("iovecs past memory", bytesOf(iovecs(1, 1<<28)), sandbox.Trap, sandbox.CPUTimeExceeded),
	ends("stdin without end", bytesOf(program{imports: [][]byte{imp(wasi, "fd_read", typeFour)}, datas: [][]byte{data(128, "\x00\x01\x00\x00\x04\x00\x00\x00")}}.command(
		loop, empty, c32(0), c32(128), c32(1), c32(200), call, 0, drop, br, 0, end)), sandbox.CPUTimeExceeded),
	ends("random numbers, 100 MB, again and again", bytesOf(program{
		imports: [][]byte{imp(wasi, "random_get", typeTwo)}, memory: cat(1, 0, 1700),
	}.command(loop, empty, c32(0), c32(100*mega), call, 0, drop, br, 0, end)), sandbox.CPUTimeExceeded),
	ends("random numbers past memory", bytesOf(program{imports: [][]byte{imp(wasi, "random_get", typeTwo)}}.command(
		loop, empty, c32(0), c32(-1), call, 0, drop, br, 0, end)), sandbox.CPUTimeExceeded, sandbox.Trap),
	ends("clock without end", bytesOf(clock()), sandbox.CPUTimeExceeded),
	ends("yield without end", bytesOf(program{imports: [][]byte{imp(wasi, "sched_yield", typeExecute)}}.command(
		loop, empty, call, 0, drop, br, 0, end)), sandbox.CPUTimeExceeded),
	ends("sleep for a year", bytesOf(poll(1)), sandbox.WallTimeExceeded),
	{name: "sleep for a year at the defaults", code: bytesOf(poll(1)),
		expect: []sandbox.Code{sandbox.WallTimeExceeded}, defaults: true},
	contained("a million subscriptions", "null", bytesOf(poll(1_000_000))),
}

// wasiSize calls a function that tells a count and a size, and gives their sum.
func wasiSize(name string) []byte {
	return program{imports: [][]byte{imp(wasi, name, typeTwo)}}.execute(
		c32(200), c32(204), call, 0, drop, c32(200), load32, 2, 0, c32(204), load32, 2, 0, add32)
}

func exit(code int64) []byte {
	return program{imports: [][]byte{imp(wasi, "proc_exit", typeExit)}}.command(c32(int64(int32(code))), call, 0)
}

// flood writes 60,000 bytes to a descriptor for ever.
func flood(fd int64) []byte {
	return program{
		imports: [][]byte{imp(wasi, "fd_write", typeFour)},
		datas:   [][]byte{data(0, "\x00\x01\x00\x00\x60\xea\x00\x00")},
	}.command(loop, empty, c32(fd), c32(0), c32(1), c32(8), call, 0, drop, br, 0, end)
}

// iovecs writes n parts of a megabyte at once, for ever. What a part of memory
// holds as an iovec is (0x100000, 0x100000), from 1 MB on.
func iovecs(fd, n int64) []byte {
	return program{
		imports: [][]byte{imp(wasi, "fd_write", typeFour)}, memory: cat(1, 0, 256),
		globals: [][]byte{cat(i32, 1, c32(mega), end)},
	}.command(
		loop, empty, globalGet, 0, c32(mega), store32, 2, 0, globalGet, 0, c32(4), add32, globalSet, 0,
		globalGet, 0, c32(9*mega), ltU32, brIf, 0, end,
		loop, empty, c32(fd), c32(mega), c32(n), c32(8), call, 0, drop, br, 0, end)
}

func clock() []byte {
	return program{
		types: [][]byte{sig([]op{i32, i64, i32}, []op{i32})}, imports: [][]byte{imp(wasi, "clock_time_get", typesGiven)},
	}.command(loop, empty, c32(1), const64, 1, c32(200), call, 0, drop, br, 0, end)
}

// poll waits for n subscriptions to a clock, a year from now.
func poll(n int64) []byte {
	year := "\x00\x00\xe8\x5d\x0f\x0b\x70\x00" // nanoseconds
	subscription := make([]byte, 16, 48)       // userdata, the tag of a clock
	subscription = append(subscription, "\x01\x00\x00\x00\x00\x00\x00\x00"...)
	subscription = append(subscription, year...)
	subscription = append(subscription, make([]byte, 16)...)
	return program{
		imports: [][]byte{imp(wasi, "poll_oneoff", typeFour)}, memory: cat(1, 0, 1300),
		datas: [][]byte{data(0, string(subscription))},
	}.command(c32(0), c32(48*mega), c32(n), c32(8192), call, 0, drop)
}
