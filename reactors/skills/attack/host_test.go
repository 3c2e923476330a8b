package attack_test

import "github.com/helixd/helixd/reactors/sandbox"

// helixCall imports helix.call as function 0, and puts the name of a host call
// at 0 and a request at 64.
var helixCall = program{
	imports: [][]byte{imp("helix", "call", typeHost)},
	datas:   [][]byte{data(0, "kv.get"), data(64, `{"key":"a"}`)},
}

// oneCall calls the host once; the answer's pointer and length are on the stack.
var oneCall = cat(c32(0), c32(6), c32(64), c32(11), call, 0)

// bump is a skill_alloc that gives the same again: what is written there does
// not matter.
var bump = c32(4096)

// reply is a skill_run that gives {} after this.
func reply(parts ...any) []byte {
	return cat(cat(parts...), c32(8192), c32('{'|'}'<<8), store32, 2, 0, at(8192, 2))
}

// at is the i64 of a pointer and a length.
func at(pointer, length uint32) []byte {
	return cat(const64, s(int64(uint64(pointer)<<32|uint64(length))))
}

// hostModules call what the host gives: too often, too much and out of bounds.
var hostModules = []attack{
	ends("host calls without end", bytesOf(helixCall.skill(bump, reply(loop, empty, oneCall, drop, br, 0, end))), sandbox.HostCallLimit),
	ends("51 host calls in a line", bytesOf(helixCall.skill(bump, reply(repeat(51, oneCall, drop)))), sandbox.HostCallLimit),
	contained("50 host calls", "{}", bytesOf(helixCall.skill(bump, reply(repeat(50, oneCall, drop))))),
	ends("host call's name past memory", bytesOf(helixCall.skill(bump, reply(c32(-1), c32(6), c32(64), c32(11), call, 0, drop))), sandbox.Trap),
	ends("host call's name of 4 GB", bytesOf(helixCall.skill(bump, reply(c32(0), c32(-1), c32(64), c32(11), call, 0, drop))), sandbox.Trap),
	ends("host call's request past memory", bytesOf(helixCall.skill(bump, reply(c32(0), c32(6), c32(65530), c32(11), call, 0, drop))), sandbox.Trap),
	ends("host call's request of 4 GB", bytesOf(helixCall.skill(bump, reply(c32(0), c32(6), c32(64), c32(-1), call, 0, drop))), sandbox.Trap),
	ends("host call with 64 MB of request, again and again", bytesOf(program{
		imports: helixCall.imports, datas: helixCall.datas, memory: cat(1, 0, 1100),
	}.skill(bump, reply(loop, empty, c32(0), c32(6), c32(64), c32(64*mega), call, 0, drop, br, 0, end))),
		sandbox.HostCallLimit, sandbox.Trap, sandbox.CPUTimeExceeded, sandbox.WallTimeExceeded),
	contained("host call that does not exist", "{}", bytesOf(program{
		imports: helixCall.imports, datas: [][]byte{data(0, "os.system"), data(64, `{"key":"a"}`)},
	}.skill(bump, reply(c32(0), c32(9), c32(64), c32(11), call, 0, drop)))),
	contained("host call whose name is not UTF-8", "{}", bytesOf(program{
		imports: helixCall.imports, datas: [][]byte{data(0, "\xff\xfe\x00\n\xc3("), data(64, `{"key":"a"}`)},
	}.skill(bump, reply(oneCall, drop)))),
	contained("host call whose name is 60 KB", "{}", bytesOf(helixCall.skill(bump, reply(c32(0), c32(60_000), c32(64), c32(11), call, 0, drop)))),
	contained("host call whose request is not JSON", "{}", bytesOf(program{
		imports: helixCall.imports, datas: [][]byte{data(0, "kv.get"), data(64, "{\x00\xff\"a")},
	}.skill(bump, reply(oneCall, drop)))),
	contained("host call whose request is nested deeply", "{}", bytesOf(program{
		imports: helixCall.imports,
		datas:   [][]byte{data(0, "kv.get"), cat(op(0), c32(64), end, 60_000, repeat(60_000, op('[')))},
	}.skill(bump, reply(c32(0), c32(6), c32(64), c32(60_000), call, 0, drop)))),

	ends("answer into memory that is not there", bytesOf(helixCall.skill(
		cat(localGet, 0, c32(20), ltU32, ifThen, i32, c32(4096), op(0x05), c32(-8), end), reply(oneCall, drop))),
		sandbox.Trap, sandbox.InvalidOutput, sandbox.MemoryExceeded),
	ends("host call inside the allocation of its answer", bytesOf(helixCall.skill(
		cat(oneCall, drop, c32(4096)), reply(oneCall, drop))), sandbox.HostCallLimit, sandbox.StackOverflow, sandbox.Trap),
	ends("the answer's allocation loops", bytesOf(program{
		imports: helixCall.imports, datas: helixCall.datas, globals: [][]byte{cat(i32, 1, c32(0), end)},
	}.skill(cat(globalGet, 0, ifThen, empty, loop, empty, br, 0, end, end, c32(1), globalSet, 0, c32(4096)), reply(oneCall, drop))),
		sandbox.CPUTimeExceeded),
	ends("host calls at start", bytesOf(program{
		imports: helixCall.imports, datas: helixCall.datas, start: u(1),
		funcs: []fn{{typ: typeVoid, body: cat(loop, empty, oneCall, drop, br, 0, end)}},
	}.skill(bump, reply())), sandbox.HostCallLimit, sandbox.Trap, sandbox.InvalidModule),

	contained("last_response before any", "0", bytesOf(program{imports: [][]byte{imp("helix", "last_response", typeTwo)}}.execute(
		c32(0), c32(1024), call, 0))),
	ends("last_response past memory, without end", bytesOf(program{imports: [][]byte{
		imp("helix", "last_response", typeTwo), imp("helix", "call_into", typeSix),
	}, types: [][]byte{sixTypes}, datas: helixCall.datas}.execute(
		c32(0), c32(6), c32(64), c32(11), c32(0), c32(0), call, 1, drop,
		loop, empty, c32(-1), c32(-1), call, 0, drop, br, 0, end, c32(1))), sandbox.Trap, sandbox.CPUTimeExceeded),
	ends("call_into past memory", bytesOf(program{imports: [][]byte{imp("helix", "call_into", typeSix)}, types: [][]byte{sixTypes}, datas: helixCall.datas}.execute(
		c32(0), c32(6), c32(64), c32(11), c32(65536-4), c32(1<<30), call, 0, drop, c32(1))), sandbox.Trap),
	ends("call_into without end", bytesOf(program{imports: [][]byte{imp("helix", "call_into", typeSix)}, types: [][]byte{sixTypes}, datas: helixCall.datas}.execute(
		loop, empty, c32(0), c32(6), c32(64), c32(11), c32(1024), c32(1024), call, 0, drop, br, 0, end, c32(1))), sandbox.HostCallLimit),

	ends("import of a host function that is none", bytesOf(program{imports: [][]byte{imp("helix", "exec", typeHost)}}.execute(c32(1))), sandbox.UnsupportedImport),
	ends("import of a host function with another type", bytesOf(program{imports: [][]byte{imp("helix", "call", typeVoid)}}.execute(c32(1))),
		sandbox.UnsupportedImport, sandbox.InvalidModule),
	ends("import of env", bytesOf(program{imports: [][]byte{imp("env", "system", typeI32)}}.execute(c32(1))), sandbox.UnsupportedImport),
	ends("import of JavaScript", bytesOf(program{imports: [][]byte{imp("wbg", "__wbindgen_throw", typeVoid)}}.execute(c32(1))), sandbox.UnsupportedImport),
	ends("import of a memory", bytesOf(program{imports: [][]byte{cat("env", "memory", op(2), 0, 65536)}, memory: []byte{}}.execute(c32(1))), sandbox.UnsupportedImport),
	ends("import of a table", bytesOf(program{imports: [][]byte{cat("env", "table", op(1), funcref, 0, huge)}}.bytes()), sandbox.UnsupportedImport, sandbox.ModuleTooLarge),
	ends("import of a global", bytesOf(program{imports: [][]byte{cat("env", "g", op(3), i32, 1)}}.bytes()), sandbox.UnsupportedImport),
	ends("import of a thread", bytesOf(program{imports: [][]byte{imp("wasi", "thread-spawn", typeI32)}}.execute(c32(1))), sandbox.UnsupportedImport),
	ends("import of another WASI", bytesOf(program{imports: [][]byte{imp("wasi:cli/environment@0.2.0", "get-environment", typeExit)}}.execute(c32(1))), sandbox.UnsupportedImport),
	ends("import of the sandbox's own modules", bytesOf(program{imports: [][]byte{imp("env", "quickjs_eval", typeI32)}}.execute(c32(1))), sandbox.UnsupportedImport),
}

// typeSix is the type of helix.call_into where sixTypes is the first of a program's own.
const typeSix = typesGiven

var sixTypes = sig(ops(6, i32), []op{i32})
