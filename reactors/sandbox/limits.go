package sandbox

import "time"

// Limits bound one call. Zero means none of it, not no limit: begin with
// DefaultLimits.
type Limits struct {
	Wall      time.Duration `json:"wall"`
	CPU       time.Duration `json:"cpu"`        // of the whole child, compilers and collectors included
	Memory    int64         `json:"memory"`     // bytes of the guest's linear memory
	Input     int           `json:"input"`      // bytes
	Output    int           `json:"output"`     // bytes
	Logs      int           `json:"logs"`       // bytes, what is more is cut off
	HostCalls int           `json:"host_calls"` // a call
}

// DefaultLimits are an operator's when the operator says nothing.
var DefaultLimits = Limits{
	Wall:      30 * time.Second,
	CPU:       10 * time.Second,
	Memory:    128 << 20,
	Input:     1 << 20,
	Output:    1 << 20,
	Logs:      64 << 10,
	HostCalls: 50,
}

// MaxModule is the size of the largest code that is looked at, in bytes.
const MaxModule = 16 << 20
