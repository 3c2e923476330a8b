package sync

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/helixd/helixd/reactors"
)

// Registers are stored as a JSON array: [path, value], or [path] where the value
// is removed, or [path, null, name] of what JSON has no form for. Those of a
// root, which are of many versions, end with their own [wall, logical, device].
const (
	sqlNull   = `"sql"`
	emptySet  = `"set"`
	emptyByID = `"by_id"`
)

// json gives the stored form.
func (v registers) json(stamps bool) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, p := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			b.WriteByte(',')
		}
		r := v[p]
		name, _ := p.MarshalJSON() // strings always marshal
		b.WriteByte('[')
		b.Write(name)
		switch {
		case r.Removed:
		case r.Value == "":
			b.WriteString(",null," + sqlNull)
		case container(r.Value) == element:
			b.WriteString(",null," + emptySet)
		case container(r.Value) == item:
			b.WriteString(",null," + emptyByID)
		default:
			b.WriteString("," + r.Value)
		}
		if stamps {
			device, _ := marshal(r.Device)
			fmt.Fprintf(&b, ",[%d,%d,%s]", r.Wall, r.Logical, device)
		}
		b.WriteByte(']')
	}
	b.WriteByte(']')
	return b.String()
}

// errWrites is the fault of one entity, which must stop no other.
var errWrites = fmt.Errorf("%w: its writes are in no known form", reactors.ErrData)

// readRegisters reads the stored form out of jsonb. Without stamps all are of one
// version, which at and device tell.
func readRegisters(src string, stamps bool, at hlc, device string) (registers, error) {
	if !json.Valid([]byte(src)) || src[0] != '[' {
		return nil, errWrites
	}
	v := registers{}
	for _, e := range arrayElements(src) {
		if e[0] != '[' {
			return nil, errWrites
		}
		parts := arrayElements(e)
		r := register{hlc: at, Device: device}
		if stamps {
			last := len(parts) - 1
			if last < 1 || !r.readStamp(parts[last]) {
				return nil, errWrites
			}
			parts = parts[:last]
		}
		switch len(parts) {
		case 1:
			r.Removed = true
		case 2:
			r.Value = parts[1]
		case 3:
			switch parts[2] {
			case emptySet:
				r.Value = emptyOf(asSet)
			case emptyByID:
				r.Value = emptyOf(byID)
			}
		default:
			return nil, errWrites
		}
		var p path
		if err := p.UnmarshalJSON([]byte(parts[0])); err != nil {
			return nil, fmt.Errorf("%w: %w", errWrites, err)
		}
		v[p] = r
	}
	return v, nil
}

func (r *register) readStamp(src string) bool {
	if src[0] != '[' {
		return false
	}
	at := arrayElements(src)
	return len(at) == 3 && json.Unmarshal([]byte(at[0]), &r.Wall) == nil &&
		json.Unmarshal([]byte(at[1]), &r.Logical) == nil && json.Unmarshal([]byte(at[2]), &r.Device) == nil
}
