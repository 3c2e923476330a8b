package attack_test

import "github.com/helixd/helixd/reactors/sandbox"

const mega = 1 << 20

// memoryModules want more memory than they may have, of whatever kind.
var memoryModules = []attack{
	// The limit is 2,048 pages, of which it has one.
	contained("memory.grow past the limit", "-1", bytesOf(execute(c32(2048), memoryGrow, 0))),
	contained("memory.grow by 4 G pages", "-1", bytesOf(execute(c32(-1), memoryGrow, 0))),
	contained("memory.grow until it fails", "2048", bytesOf(execute(
		loop, empty, c32(1), memoryGrow, 0, c32(-1), xor32, brIf, 0, end, memorySize, 0))),
	ends("memory.grow without end", bytesOf(execute(
		loop, empty, c32(1), memoryGrow, 0, drop, br, 0, end, c32(1))), sandbox.CPUTimeExceeded, sandbox.MemoryExceeded),
	contained("all of memory touched", "2048", bytesOf(execute(
		c32(2047), memoryGrow, 0, drop, c32(0), c32(1), c32(128*mega), memoryFill, memorySize, 0))),
	ends("memory grown, touched and stored past its end", bytesOf(execute(
		c32(2047), memoryGrow, 0, drop, c32(0), c32(1), c32(128*mega), memoryFill, c32(128*mega), c32(1), store32, 2, 0, c32(1))), sandbox.Trap),

	// table.grow is not of the linear memory's limit: 1.7 GB, as measured.
	ends("table.grow without a maximum", bytesOf(program{table: cat(1, funcref, 0, 1)}.execute(
		refNull, funcref, c32(100_000_000), tableGrow)), sandbox.ModuleTooLarge),
	ends("table.grow to 2 G", bytesOf(program{table: cat(1, funcref, 1, 1, 1<<31)}.execute(
		refNull, funcref, c32(1<<30), tableGrow)), sandbox.ModuleTooLarge),
	contained("table.grow past its maximum", "-1", bytesOf(program{table: growable}.execute(refNull, funcref, c32(100_000_000), tableGrow))),
	contained("table.grow by 4 G", "-1", bytesOf(program{table: growable}.execute(refNull, funcref, c32(-1), tableGrow))),
	ends("table.grow without end", bytesOf(program{table: growable}.execute(
		loop, empty, refNull, funcref, c32(1), tableGrow, drop, br, 0, end, c32(1))), sandbox.CPUTimeExceeded, sandbox.MemoryExceeded),
	// 128 MB, which is what 16 tables may have at most.
	{name: "sixteen tables grown to their maximum", code: bytesOf(program{table: many(16, growable[1:])}.execute(growAll(), c32(1))),
		output: "1", expect: []sandbox.Code{sandbox.ModuleTooLarge, sandbox.MemoryExceeded}},

	ends("load past the end", bytesOf(execute(c32(-1), load32, 2, 0)), sandbox.Trap),
	ends("load whose offset overflows", bytesOf(execute(c32(-1), load32, 2, huge)), sandbox.Trap),
	ends("store past the end", bytesOf(execute(c32(65533), c32(1), store32, 2, 0, c32(1))), sandbox.Trap),
	ends("memory.fill past the end", bytesOf(execute(c32(0), c32(1), c32(-1), memoryFill, c32(1))), sandbox.Trap),
	ends("memory.copy past the end", bytesOf(execute(c32(-1), c32(0), c32(-1), memoryCopy, c32(1))), sandbox.Trap),
	ends("data past the end", bytesOf(program{datas: [][]byte{data(-1, "x")}}.execute(c32(1))), sandbox.Trap, sandbox.InvalidModule),
	// wazero leaves out what does not fit.
	contained("elements past the end", "1", bytesOf(program{table: cat(1, funcref, 0, 1), elems: [][]byte{cat(0, c32(9), end, many(1, 0))}}.execute(c32(1)))),
	contained("a thousand copies of a megabyte", "1", func() []byte {
		copies := repeat(1000, c32(0), c32(mega), c32(mega), memoryCopy)
		return program{memory: cat(1, 0, 64)}.execute(copies, c32(1))
	}),

	ends("input that does not fit", bytesOf(program{}.skill(cat(c32(65535)), cat(const64, 0))), sandbox.Trap, sandbox.InvalidOutput, sandbox.MemoryExceeded),
	ends("skill_alloc at the end of 4 GB", bytesOf(program{}.skill(c32(-1), cat(const64, 0))), sandbox.Trap, sandbox.InvalidOutput, sandbox.MemoryExceeded),
	contained("skill_alloc gives the same again", "{}", bytesOf(program{}.skill(c32(0), cat(at(0, 2))))),
	ends("skill_alloc loops", bytesOf(program{}.skill(cat(loop, empty, br, 0, end, c32(8)), cat(const64, 0))), sandbox.CPUTimeExceeded),
}

// growable is a table of one element, of a million at most.
var growable = cat(1, funcref, 1, 1, 1_000_000)

func growAll() []byte {
	var grow []byte
	for n := range 16 {
		grow = append(grow, cat(refNull, funcref, c32(999_999), prefixFC, 15, n, drop)...)
	}
	return grow
}

var (
	memoryFill = cat(prefixFC, 11, 0)
	memoryCopy = cat(prefixFC, 10, 0, 0)
	tableGrow  = cat(prefixFC, 15, 0)
)
