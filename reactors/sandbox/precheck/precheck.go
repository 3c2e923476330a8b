// Package precheck looks at a WebAssembly module before anything decodes it.
// wazero's decoder makes slices of whatever length a module claims: fourteen
// bytes make it allocate gigabytes. This one allocates nothing by the module: it
// walks the sections and instructions through one small buffer.
//
// It is no validator. What it lets through may still be invalid, which wazero
// says, but decoding and compiling it takes memory in proportion to its size.
//
// Source: https://webassembly.github.io/spec/core/binary/index.html, of version 2
// (wazero's api.CoreFeaturesV2), and extended constant expressions of what came later.
package precheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Codes of an Error.
const (
	InvalidModule     = "invalid_module"
	ModuleTooLarge    = "module_too_large"
	UnsupportedImport = "unsupported_import"
)

// Error is why a module is refused.
type Error struct {
	Code    string
	Message string // one sentence
	Offset  int64  // in the module, of where it was found
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (at offset %d)", e.Code, e.Message, e.Offset)
}

// What a module may have at most. The largest modules of the usual tools stay
// far below; the memory that wazero takes for each is bounded by them.
const (
	maxSize           = 16 << 20 // bytes
	maxTypes          = 10_000
	maxTypeValues     = 100_000 // parameters and results, of all types
	maxParameters     = 1_000   // and as many results, of a type
	maxImports        = 1_000
	maxImportName     = 256
	maxFunctions      = 100_000
	maxTables         = 16
	maxTableElements  = 1_000_000 // of all tables, at their start; 8 bytes each
	maxMemoryPages    = 16_384    // 1 GiB; the operator's limit is less
	maxGlobals        = 100_000
	maxExports        = 10_000
	maxElements       = 1_000_000 // in all segments
	maxSegments       = 100_000   // of elements, and of data
	maxCustomSections = 1_000
	maxNames          = 1_000_000 // in the name section
	maxConstant       = 256       // bytes of a constant expression
	maxLocals         = 10_000    // of a function
	maxAllLocals      = 2_000_000 // of all functions
	maxBody           = 1 << 20   // bytes of a function's code
	maxNesting        = 10_000    // of blocks
	maxBranches       = 1_000_000 // in the br_table of all functions
)

// Sections.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// order is the place of a section among those that are not custom: that of the
// data count comes before the code.
var order = [...]int{
	sectionType: 1, sectionImport: 2, sectionFunction: 3, sectionTable: 4, sectionMemory: 5, sectionGlobal: 6,
	sectionExport: 7, sectionStart: 8, sectionElement: 9, sectionDataCount: 10, sectionCode: 11, sectionData: 12,
}

// Check looks at the module of size bytes that r reads. It returns an *Error
// when the module is refused, and another error when r fails.
func Check(r io.ReaderAt, size int64) (err error) {
	if size > maxSize {
		return &Error{ModuleTooLarge, fmt.Sprintf("the module has %d bytes, more than %d", size, maxSize), 0}
	}
	m := &module{reader: reader{source: r, end: size}}
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case stop:
			err = failure.error
		default:
			panic(failure)
		}
	}()
	m.check(size)
	return nil
}

// module is what is known of a module so far.
type module struct {
	reader
	functions  uint32
	bodies     uint32
	custom     int
	named      bool
	typeValues int
	elements   int
	locals     int
	names      int
	branches   int
	growable   bool // a table without a maximum that is small enough
}

func (m *module) check(size int64) {
	header := m.take(8)
	if string(header[:4]) != "\x00asm" {
		m.refuse(InvalidModule, "it does not begin as WebAssembly does")
	}
	switch version := binary.LittleEndian.Uint32(header[4:]); version {
	case 1:
	case 0x1000d:
		m.refuse(InvalidModule, "it is a component; a core module is needed, as the targets wasm32-wasip1 and wasm32-unknown-unknown make")
	default:
		m.refuse(InvalidModule, "its version is %#x, not 1", version)
	}
	last := 0
	for m.at < size {
		id := m.byte()
		if int(id) >= len(order) {
			m.refuse(InvalidModule, "section %d is of no known kind; exceptions are not supported", id)
		}
		length := int64(m.u32())
		if length > size-m.at {
			m.refuse(InvalidModule, "section %d claims %d bytes where %d are left", id, length, size-m.at)
		}
		if place := order[id]; place > 0 {
			if place <= last {
				m.refuse(InvalidModule, "section %d is out of order, or there twice", id)
			}
			last = place
		}
		m.end = m.at + length
		m.section(id)
		if m.at != m.end {
			m.refuse(InvalidModule, "section %d has %d bytes too many", id, m.end-m.at)
		}
		m.end = size
	}
	if m.functions != m.bodies {
		m.refuse(InvalidModule, "%d functions are declared, but %d have code", m.functions, m.bodies)
	}
}

// reader reads a part of the source through a small buffer. What is not there,
// and what is wrong, stops the check by a panic that Check recovers.
type reader struct {
	source io.ReaderAt
	at     int64 // the next byte
	end    int64 // of the part; never beyond the module's
	buffer [4096]byte
	start  int64 // of what is in the buffer
	filled int
}

type stop struct{ error }

func (r *reader) refuse(code, format string, args ...any) {
	panic(stop{&Error{code, fmt.Sprintf(format, args...), r.at}})
}

// take gives the next n bytes, at most a buffer full, until the next take.
func (r *reader) take(n int) []byte {
	if int64(n) > r.end-r.at {
		r.refuse(InvalidModule, "it ends too early")
	}
	if r.at < r.start || r.at+int64(n) > r.start+int64(r.filled) {
		want := r.buffer[:min(int64(len(r.buffer)), r.end-r.at)]
		got, err := r.source.ReadAt(want, r.at)
		if got < len(want) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			panic(stop{fmt.Errorf("read the module: %w", err)})
		}
		r.start, r.filled = r.at, got
	}
	from := int(r.at - r.start)
	r.at += int64(n)
	return r.buffer[from : from+n]
}

func (r *reader) byte() byte { return r.take(1)[0] }

func (r *reader) skip(n int64) {
	if n > r.end-r.at {
		r.refuse(InvalidModule, "%d bytes are claimed where %d are left", n, r.end-r.at)
	}
	r.at += n
}

// integer reads a number in LEB128 of at most so many bytes, and gives its low 64
// bits without the sign.
func (r *reader) integer(bytes int) (value uint64) {
	for i := range bytes {
		b := r.byte()
		value |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return value
		}
	}
	r.refuse(InvalidModule, "a number is too long")
	return 0
}

func (r *reader) u32() uint32 {
	value := r.integer(5)
	if value > 1<<32-1 {
		r.refuse(InvalidModule, "a number has more than 32 bits")
	}
	return uint32(value)
}

// count reads how many of something follow, each of which takes at least so many
// bytes.
func (r *reader) count(what string, most int, bytes int64) int {
	n := int64(r.u32())
	if n > (r.end-r.at)/bytes {
		r.refuse(InvalidModule, "%d %s are claimed in %d bytes", n, what, r.end-r.at)
	}
	r.atMost(what, int(n), most)
	return int(n)
}

func (r *reader) atMost(what string, n, most int) {
	if n > most {
		r.refuse(ModuleTooLarge, "it has %d %s or more, and %d are permitted", n, what, most)
	}
}
