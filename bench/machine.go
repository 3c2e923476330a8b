package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv/child"
)

// machine is where the figures come from.
type machine struct {
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	RAM      float64 `json:"ram_gb,omitempty"`
	Kernel   string  `json:"kernel,omitempty"`
	Go       string  `json:"go"`
	Postgres string  `json:"postgres"`
	Fsync    string  `json:"fsync"`
	CommitMS float64 `json:"commit_ms,omitempty"` // median of a commit of next to nothing, one session
	Load     float64 `json:"load_at_start"`       // of the last minute
}

func (m machine) String() string {
	said := []string{fmt.Sprintf("%s, %d cores", m.CPU, m.Cores)}
	if m.RAM > 0 {
		said[0] += fmt.Sprintf(", %s GB of RAM", number(m.RAM))
	}
	if m.Kernel != "" {
		said = append(said, m.Kernel)
	}
	postgres := fmt.Sprintf("Postgres %s, fsync %s", m.Postgres, m.Fsync)
	if m.CommitMS > 0 {
		postgres += fmt.Sprintf(" (a commit takes %s ms)", number(m.CommitMS))
	}
	said = append(said, m.Go, postgres, fmt.Sprintf("load at start %.1f", m.Load))
	return strings.Join(said, " · ")
}

// busy is the load at start from which figures are noisy.
const busy = 0.7

// commits are timed for machine.CommitMS.
const commits = 101

func readMachine(ctx context.Context, conn *pgx.Conn) (m machine, err error) {
	m = machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(load), " ")
		m.Load, _ = strconv.ParseFloat(first, 64) // 0 where the kernel says none
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = "Linux " + strings.TrimSpace(string(release))
	}
	kb, _, _ := strings.Cut(procField("/proc/meminfo", "MemTotal"), " ")
	total, _ := strconv.ParseFloat(kb, 64)
	m.RAM = total / (1 << 20)
	err = conn.QueryRow(ctx, "select split_part(current_setting('server_version'), ' ', 1), current_setting('fsync')").
		Scan(&m.Postgres, &m.Fsync)
	if err != nil {
		return m, err
	}
	var took []float64
	for range commits {
		began := time.Now()
		if _, err := conn.Exec(ctx, "select pg_logical_emit_message(true, 'bench', '')"); err != nil {
			return m, err
		}
		took = append(took, time.Since(began).Seconds()*1000)
	}
	m.CommitMS = median(took)
	if model := procField("/proc/cpuinfo", "model name"); model != "" {
		m.CPU = model
	}
	return m, nil
}

// peakRSS reads the most memory that a process ever had resident, in MB; 0 where
// there is no /proc.
func peakRSS(pid int) float64 { return memoryOf(pid, "VmHWM") }

// memoryOf reads a field of a process's status, in MB.
func memoryOf(pid int, field string) float64 {
	kb, _, _ := strings.Cut(procField(fmt.Sprintf("/proc/%d/status", pid), field), " ")
	n, _ := strconv.ParseFloat(kb, 64)
	return n / 1024
}

// cpu gives the seconds that a process has computed which has ended.
func cpu(p *child.Process) float64 {
	return (p.Cmd.ProcessState.UserTime() + p.Cmd.ProcessState.SystemTime()).Seconds()
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

// maxPeak is how much memory helixd may ever have, in MB.
const maxPeak = 96
