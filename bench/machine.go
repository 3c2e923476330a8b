package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine is where the figures come from.
type machine struct {
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	Go       string  `json:"go"`
	Postgres int     `json:"postgres"`
	Load     float64 `json:"load_at_start"` // of the last minute
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores · %s · Postgres %d, fsync on · load at start %.1f", m.CPU, m.Cores, m.Go, m.Postgres, m.Load)
}

func readMachine(postgres int) machine {
	m := machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(), Postgres: postgres}
	if model := procField("/proc/cpuinfo", "model name"); model != "" {
		m.CPU = model
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(load), " ")
		m.Load, _ = strconv.ParseFloat(first, 64) // 0 where the kernel says none
	}
	return m
}

// peakRSS reads the most memory that a process ever had resident, in MB; 0 where
// there is no /proc.
func peakRSS(pid string) float64 {
	kb, _, _ := strings.Cut(procField("/proc/"+pid+"/status", "VmHWM"), " ")
	n, _ := strconv.ParseFloat(kb, 64)
	return n / 1024
}

// procField reads the first line "name: value" of a file under /proc.
func procField(path, name string) string {
	content, _ := os.ReadFile(path)
	for line := range strings.Lines(string(content)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
