package skills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// wishes are what a skill's column limits may lower.
type wishes struct {
	WallMS      *int64 `json:"wall_ms"`
	CPUMS       *int64 `json:"cpu_ms"`
	MemoryBytes *int64 `json:"memory_bytes"`
	InputBytes  *int64 `json:"input_bytes"`
	OutputBytes *int64 `json:"output_bytes"`
	LogsBytes   *int64 `json:"logs_bytes"`
	HostCalls   *int64 `json:"host_calls"`
}

// lower gives the operator's limits as far as a skill does not lower them. A wish
// for more is an error; raised tells whether that is the only thing wrong, as it
// is where an operator has lowered theirs since.
func lower(operator sandbox.Limits, column json.RawMessage) (limits sandbox.Limits, raised bool, fault *Error) {
	limits = operator
	if len(column) == 0 {
		return limits, false, nil
	}
	var w wishes
	d := json.NewDecoder(bytes.NewReader(column))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return limits, false, &Error{Code: CodeDefinitionInvalid, Pointer: "/limits", Message: "limits takes whole numbers for " +
			"wall_ms, cpu_ms, memory_bytes, input_bytes, output_bytes, logs_bytes and host_calls: " + jsonFault(err) + "."}
	}
	milliseconds := func(d *time.Duration) func(int64) (int64, func()) {
		return func(n int64) (int64, func()) {
			return d.Milliseconds(), func() { *d = time.Duration(n) * time.Millisecond }
		}
	}
	count := func(c *int) func(int64) (int64, func()) {
		return func(n int64) (int64, func()) { return int64(*c), func() { *c = int(n) } }
	}
	for _, l := range []struct {
		name string
		wish *int64
		of   func(int64) (most int64, set func())
	}{
		{"wall_ms", w.WallMS, milliseconds(&limits.Wall)},
		{"cpu_ms", w.CPUMS, milliseconds(&limits.CPU)},
		{"memory_bytes", w.MemoryBytes, func(n int64) (int64, func()) { return limits.Memory, func() { limits.Memory = n } }},
		{"input_bytes", w.InputBytes, count(&limits.Input)},
		{"output_bytes", w.OutputBytes, count(&limits.Output)},
		{"logs_bytes", w.LogsBytes, count(&limits.Logs)},
		{"host_calls", w.HostCalls, count(&limits.HostCalls)},
	} {
		if l.wish == nil {
			continue
		}
		most, set := l.of(*l.wish)
		least := int64(1)
		if l.name == "host_calls" || l.name == "logs_bytes" {
			least = 0
		}
		switch {
		case *l.wish < least:
			return limits, false, &Error{Code: CodeDefinitionInvalid, Pointer: "/limits/" + l.name, Message: fmt.Sprintf("limits.%s is less than %d.", l.name, least)}
		case *l.wish > most:
			if fault == nil {
				fault = &Error{Code: CodeDefinitionInvalid, Pointer: "/limits/" + l.name,
					Message: fmt.Sprintf("limits.%s is more than the operator allows, %d: a skill can only lower limits.", l.name, most)}
			}
		default:
			set()
		}
	}
	return limits, fault != nil, fault
}

// ParseLimits reads an operator's limits, "wall=30s,cpu=10s,memory=128MB,
// input=1MB,output=1MB,logs=64KB,host_calls=50"; what is left out is as by default.
func ParseLimits(text string) (sandbox.Limits, error) {
	limits := sandbox.DefaultLimits
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		var err error
		var size int64
		switch name {
		case "wall":
			limits.Wall, err = positive(time.ParseDuration(value))
		case "cpu":
			limits.CPU, err = positive(time.ParseDuration(value))
		case "memory":
			limits.Memory, err = positive(ParseBytes(value))
		case "input":
			size, err = positive(ParseBytes(value))
			limits.Input = int(size)
		case "output":
			size, err = positive(ParseBytes(value))
			limits.Output = int(size)
		case "logs":
			size, err = positive(ParseBytes(value))
			limits.Logs = int(size)
		case "host_calls":
			limits.HostCalls, err = strconv.Atoi(value)
			if limits.HostCalls < 0 {
				err = strconv.ErrRange
			}
		default:
			return limits, fmt.Errorf("%q is no limit: there are wall, cpu, memory, input, output, logs and host_calls", name)
		}
		if err != nil {
			return limits, fmt.Errorf("limit %s=%s: it takes %s", name, value, map[string]string{"wall": "a time, such as 30s", "cpu": "a time, such as 10s",
				"host_calls": "a number"}[name]+map[bool]string{true: "a size, such as 128MB"}[strings.Contains("memory input output logs", name)])
		}
	}
	return limits, nil
}

func positive[T int64 | time.Duration](v T, err error) (T, error) {
	if err == nil && v <= 0 {
		err = strconv.ErrRange
	}
	return v, err
}

// ParseBytes reads a size, such as 1048576, 64KB or 128MB.
func ParseBytes(text string) (int64, error) {
	factor := int64(1)
	for suffix, by := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = number, by
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n > 4<<30/factor {
		err = strconv.ErrRange
	}
	return n * factor, err
}
