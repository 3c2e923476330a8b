package wasm_test

import (
	"math"
	"strconv"
	"strings"
)

// specValue is an argument or a result of a script: a number in decimal of its
// bits, "nan:canonical", "nan:arithmetic", "null" or a reference's number; of a
// vector, a list of them.
type specValue struct {
	Type     string
	LaneType string `json:"lane_type"`
	Value    any    // nil: any reference
}

// lanes gives the numbers in a value and how many bits each has.
func (v specValue) lanes() (texts []string, width int) {
	typ := v.Type
	if list, ok := v.Value.([]any); ok {
		typ = v.LaneType
		for _, text := range list {
			texts = append(texts, text.(string))
		}
	} else {
		texts = []string{v.Value.(string)}
	}
	if width, err := strconv.Atoi(typ[1:]); err == nil {
		return texts, width
	}
	return texts, 64 // a reference
}

// size gives how many words of 64 bits the value has on wazero's stack.
func (v specValue) size() int {
	if v.Type == "v128" {
		return 2
	}
	return 1
}

// words gives the value as on wazero's stack.
func (v specValue) words() []uint64 {
	words := make([]uint64, v.size())
	texts, width := v.lanes()
	for i, text := range texts {
		words[i*width/64] |= v.bits(text) << (i * width % 64)
	}
	return words
}

func (v specValue) bits(text string) uint64 {
	if text == "null" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	if v.Type == "externref" {
		n++ // to wazero 0 is null, to a script it is not
	}
	return n
}

// matches tells whether words hold the value.
func (v specValue) matches(words []uint64) bool {
	if v.Value == nil {
		return true
	}
	texts, width := v.lanes()
	for i, text := range texts {
		have := words[i*width/64] >> (i * width % 64)
		if width < 64 {
			have &= 1<<width - 1
		}
		if nan, ok := strings.CutPrefix(text, "nan:"); ok {
			if !isNaN(have, width, nan == "canonical") {
				return false
			}
		} else if have != v.bits(text) {
			return false
		}
	}
	return true
}

// isNaN tells a quiet NaN; the canonical one has no other bit in its payload.
func isNaN(bits uint64, width int, canonical bool) bool {
	quiet, sign := uint64(0x7fc00000), uint64(1)<<31
	if width == 64 {
		quiet, sign = uint64(0x7ff8)<<48, uint64(math.MaxInt64)+1
	}
	if canonical {
		return bits&^sign == quiet
	}
	return bits&quiet == quiet
}
