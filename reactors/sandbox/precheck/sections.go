package precheck

// Value types.
const (
	typeFunc   = 0x70
	typeExtern = 0x6f
	typeV128   = 0x7b
	typeI32    = 0x7f
)

func (m *module) section(id byte) {
	switch id {
	case sectionCustom:
		m.customSection()
	case sectionType:
		for range m.count("types", maxTypes, 3) {
			m.functionType()
		}
	case sectionImport:
		for range m.count("imports", maxImports, 4) {
			m.imported()
		}
	case sectionFunction:
		n := m.count("functions", maxFunctions, 1)
		m.functions = uint32(n)
		for range n {
			m.u32()
		}
	case sectionTable:
		elements := 0
		for range m.count("tables", maxTables, 3) {
			elements += m.table()
			m.atMost("table elements", elements, maxTableElements)
		}
	case sectionMemory:
		for range m.count("memories", 1, 2) {
			least, most, bounded := m.limits()
			if bounded && (most < least || most > 1<<16) {
				m.refuse(InvalidModule, "its memory has %d to %d pages", least, most)
			}
			if least > maxMemoryPages {
				m.refuse(ModuleTooLarge, "its memory begins with %d pages, and %d are permitted", least, maxMemoryPages)
			}
		}
	case sectionGlobal:
		for range m.count("globals", maxGlobals, 4) {
			m.valueType()
			m.byte()
			m.constant()
		}
	case sectionExport:
		for range m.count("exports", maxExports, 3) {
			m.skip(int64(m.u32()))
			m.byte()
			m.u32()
		}
	case sectionStart, sectionDataCount:
		m.u32()
	case sectionElement:
		for range m.count("element segments", maxSegments, 3) {
			m.elementSegment()
		}
	case sectionCode:
		n := m.count("functions", maxFunctions, 3)
		m.bodies = uint32(n)
		for range n {
			m.body()
		}
	case sectionData:
		for range m.count("data segments", maxSegments, 2) {
			m.dataSegment()
		}
	}
}

func (m *module) functionType() {
	if form := m.byte(); form != 0x60 {
		m.refuse(InvalidModule, "type form %#x is not that of a function", form)
	}
	for _, what := range []string{"parameters of a type", "results of a type"} {
		n := m.count(what, maxParameters, 1)
		m.typeValues += n
		m.atMost("parameters and results", m.typeValues, maxTypeValues)
		for range n {
			m.valueType()
		}
	}
}

func (m *module) valueType() {
	if t := m.byte(); (t < typeV128 || t > typeI32) && t != typeFunc && t != typeExtern {
		m.refuse(InvalidModule, "value type %#x is not supported", t)
	}
}

// table gives how many elements it begins with. Where its maximum is none, or
// too large, code that grows it is refused: wazero would grow it to gigabytes in
// one instruction, and it belongs to no limit on memory.
func (m *module) table() int {
	if t := m.byte(); t != typeFunc && t != typeExtern {
		m.refuse(InvalidModule, "table type %#x is not supported", t)
	}
	least, most, bounded := m.limits()
	if bounded && most < least {
		m.refuse(InvalidModule, "a table's minimum is above its maximum")
	}
	m.growable = m.growable || !bounded || most > maxTableElements
	return int(least)
}

func (m *module) limits() (least, most uint32, bounded bool) {
	flag := m.byte()
	if flag > 1 {
		m.refuse(InvalidModule, "limits of kind %#x, shared or of 64 bits, are not supported", flag)
	}
	least = m.u32()
	if flag == 1 {
		return least, m.u32(), true
	}
	return least, 0, false
}

// constant is an expression whose value is known before the module runs.
func (m *module) constant() {
	for start := m.at; ; {
		if m.at-start > maxConstant {
			m.refuse(ModuleTooLarge, "a constant expression is longer than %d bytes", maxConstant)
		}
		switch op := m.byte(); op {
		case 0x0b: // end
			return
		case 0x41, 0x42, 0x43, 0x44, 0x23, 0xd0, 0xd2:
			m.immediates(op)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul, of extended constant expressions
		case 0xfd: // v128.const only
			if m.byte() != 12 {
				m.refuse(InvalidModule, "a constant expression computes")
			}
			m.skip(16)
		default:
			m.refuse(InvalidModule, "instruction %#x is not for constant expressions", op)
		}
	}
}

// elementSegment is one of eight forms: bit 0 is that it is not active, bit 1
// that it names a table (or, with bit 0, is declared only), bit 2 that its
// elements are expressions.
func (m *module) elementSegment() {
	form := m.u32()
	if form > 7 {
		m.refuse(InvalidModule, "element segments of form %d are not supported", form)
	}
	if form&1 == 0 {
		if form&2 != 0 {
			m.u32()
		}
		m.constant()
	}
	if form&3 != 0 {
		if kind := m.byte(); form&4 == 0 && kind != 0 || form&4 != 0 && kind != typeFunc && kind != typeExtern {
			m.refuse(InvalidModule, "elements of kind %#x are not supported", kind)
		}
	}
	n := m.count("elements", maxElements, 1)
	m.elements += n
	m.atMost("elements", m.elements, maxElements)
	for range n {
		if form&4 == 0 {
			m.u32()
		} else {
			m.constant()
		}
	}
}

func (m *module) dataSegment() {
	form := m.u32()
	if form > 2 {
		m.refuse(InvalidModule, "data segments of form %d are not supported", form)
	}
	if form == 2 {
		m.u32()
	}
	if form != 1 {
		m.constant()
	}
	m.skip(int64(m.u32()))
}

func (m *module) customSection() {
	m.custom++
	m.atMost("custom sections", m.custom, maxCustomSections)
	length := m.u32()
	if length != 4 {
		m.skip(int64(length))
	} else if string(m.take(4)) == "name" {
		if m.named {
			m.refuse(InvalidModule, "it has two name sections")
		}
		m.named = true
		m.nameSection()
	}
	m.at = m.end
}

// nameSection has subsections, each of whose sizes has to be the true one: the
// decoder trusts some of them.
func (m *module) nameSection() {
	end := m.end
	for m.at < end {
		kind := m.byte()
		length := int64(m.u32())
		if length > end-m.at {
			m.refuse(InvalidModule, "names claim %d bytes where %d are left", length, end-m.at)
		}
		m.end = m.at + length
		switch kind {
		case 0: // of the module
			m.skip(int64(m.u32()))
		case 1: // of functions
			m.nameMap()
		case 2: // of functions' locals
			for range m.countNames() {
				m.u32()
				m.nameMap()
			}
		default:
			m.at = m.end
		}
		if m.at != m.end {
			m.refuse(InvalidModule, "names of kind %d have %d bytes too many", kind, m.end-m.at)
		}
		m.end = end
	}
}

func (m *module) nameMap() {
	for range m.countNames() {
		m.u32()
		m.skip(int64(m.u32()))
	}
}

func (m *module) countNames() int {
	n := m.count("names", maxNames, 2)
	m.names += n
	m.atMost("names", m.names, maxNames)
	return n
}
