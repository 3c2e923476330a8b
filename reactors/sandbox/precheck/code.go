package precheck

// body is the locals and the instructions of a function.
func (m *module) body() {
	section := m.end
	length := int64(m.u32())
	if length > section-m.at {
		m.refuse(InvalidModule, "a function claims %d bytes where %d are left", length, section-m.at)
	}
	m.atMost("bytes in a function", int(length), maxBody)
	m.end = m.at + length
	locals := 0
	for range m.count("groups of locals", maxLocals, 2) {
		n := m.u32()
		m.atMost("locals in a function", int(n), maxLocals)
		locals += int(n)
		m.atMost("locals in a function", locals, maxLocals)
		m.valueType()
	}
	m.locals += locals
	m.atMost("locals", m.locals, maxAllLocals)
	m.instructions()
	if m.at != m.end {
		m.refuse(InvalidModule, "a function goes on behind its end")
	}
	m.end = section
}

func (m *module) instructions() {
	for depth := 1; depth > 0; {
		switch op := m.byte(); op {
		case 0x02, 0x03, 0x04: // block, loop, if
			depth++
			m.atMost("nested blocks", depth, maxNesting)
			m.integer(5)
		case 0x0b: // end
			depth--
		case 0x0e: // br_table
			n := m.count("branches", maxBranches, 1)
			m.branches += n
			m.atMost("branches", m.branches, maxBranches)
			for range n + 1 {
				m.u32()
			}
		case 0x1c: // select of a type
			for range m.count("types of a select", 1, 1) {
				m.valueType()
			}
		case 0xfc:
			m.numeric()
		case 0xfd:
			m.vector()
		default:
			m.immediates(op)
		}
	}
}

// immediates reads what belongs to an instruction of one byte.
func (m *module) immediates(op byte) {
	switch {
	case op == 0x0c || op == 0x0d || op == 0x10 || // br, br_if, call
		op >= 0x20 && op <= 0x26 || // of locals, globals and tables
		op == 0x3f || op == 0x40 || // memory.size, memory.grow
		op == 0xd0 || op == 0xd2: // ref.null, ref.func
		m.u32()
	case op == 0x11: // call_indirect
		m.u32()
		m.u32()
	case op >= 0x28 && op <= 0x3e: // loads and stores
		m.address()
	case op == 0x41:
		m.integer(5)
	case op == 0x42:
		m.integer(10)
	case op == 0x43:
		m.skip(4)
	case op == 0x44:
		m.skip(8)
	case op == 0x00 || op == 0x01 || op == 0x05 || op == 0x0f || // unreachable, nop, else, return
		op == 0x1a || op == 0x1b || // drop, select
		op >= 0x45 && op <= 0xc4 || op == 0xd1: // operators, ref.is_null
	default:
		m.refuse(InvalidModule, "instruction %#x is not supported", op)
	}
}

func (m *module) address() {
	m.u32()
	m.u32()
}

// numeric is an instruction after 0xfc: conversions, and those on whole memories
// and tables. It is a number in LEB128, of which the longer forms are refused.
func (m *module) numeric() {
	switch op := m.byte(); {
	case op <= 7: // conversions
	case op == 8 || op == 10 || op == 12 || op == 14: // init and copy
		m.u32()
		m.u32()
	case op == 9 || op == 11 || op == 13 || op == 16 || op == 17: // drop, fill, size
		m.u32()
	case op == 15: // table.grow
		m.u32()
		if m.growable {
			m.refuse(ModuleTooLarge, "it grows tables, one of which has no maximum of %d elements or less", maxTableElements)
		}
	default:
		m.refuse(InvalidModule, "instruction 0xfc %#x is not supported", op)
	}
}

// vector is an instruction after 0xfd. The decoder takes one byte for it too, and
// the second of those from 0x80 on for a nop, which it is.
func (m *module) vector() {
	switch op := m.byte(); {
	case op <= 11 || op == 92 || op == 93: // loads and stores
		m.address()
	case op == 12 || op == 13: // v128.const, shuffle
		m.skip(16)
	case op >= 21 && op <= 34: // of a lane
		m.byte()
	case op >= 84 && op <= 91: // loads and stores of a lane
		m.address()
		m.byte()
	case op >= 0x80:
		if m.byte() != 1 {
			m.refuse(InvalidModule, "vector instruction of a later version")
		}
	}
}
