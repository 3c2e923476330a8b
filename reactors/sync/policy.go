package sync

import (
	"encoding/json"
	"strings"
)

// Strategy is how the concurrent versions of an entity are resolved.
type Strategy string

// The strategies of sync_policies.
const (
	LastWriteWinsStrategy Strategy = "last_write_wins"
	MergeStrategy         Strategy = "merge"
	ManualStrategy        Strategy = "manual"
)

// Policy is what a user wants for one type of entity: a row of sync_policies.
type Policy struct {
	Strategy Strategy
	arrays   arrayModes
}

// arrayMode is how arrays merge.
type arrayMode string

const (
	atomic arrayMode = "atomic" // as one value
	asSet  arrayMode = "set"    // by elements, without order or repetition
	byID   arrayMode = "by_id"  // objects by their "id", in the order of the ids
)

// arrayModes are those of all arrays, or of some by RFC 6901 pointer, in which
// the items of an array that merges by id have no step of their own.
type arrayModes struct {
	all arrayMode
	at  map[string]arrayMode
}

func (a arrayModes) of(pointer string) arrayMode {
	if m, ok := a.at[pointer]; ok {
		return m
	}
	if a.all == "" {
		return atomic
	}
	return a.all
}

// maxArrayPaths is how many arrays a policy can name.
const maxArrayPaths = 100

// ParsePolicy reads a row of sync_policies: {"arrays": "set"} or {"arrays":
// {"tags": "set", "/order/items": "by_id"}}; a name without a leading slash is
// a key of the document itself. What it does not know stands for the default,
// since the options are a client's.
func ParsePolicy(strategy string, options []byte) Policy {
	p := Policy{Strategy: Strategy(strategy)}
	switch p.Strategy {
	case MergeStrategy, ManualStrategy:
	default:
		p.Strategy = LastWriteWinsStrategy
	}
	var o struct{ Arrays json.RawMessage }
	if json.Unmarshal(options, &o) != nil {
		return p
	}
	var all string
	if json.Unmarshal(o.Arrays, &all) == nil {
		p.arrays.all = parseArrayMode(all)
		return p
	}
	var each map[string]json.RawMessage
	if json.Unmarshal(o.Arrays, &each) != nil || len(each) > maxArrayPaths {
		return p
	}
	p.arrays.at = make(map[string]arrayMode, len(each))
	for name, raw := range each {
		var mode string
		if json.Unmarshal(raw, &mode) != nil {
			continue
		}
		if !strings.HasPrefix(name, "/") {
			name = "/" + escapePointer.Replace(name)
		}
		p.arrays.at[name] = parseArrayMode(mode)
	}
	return p
}

func parseArrayMode(s string) arrayMode {
	switch m := arrayMode(s); m {
	case asSet, byID:
		return m
	}
	return atomic
}
