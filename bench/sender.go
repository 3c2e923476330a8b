package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// sender measures what the server's process for a slot computes: a drain is no
// faster than that, whoever drains. There is no figure where there is no /proc.
type sender struct {
	stop context.CancelFunc
	cpu  chan float64
}

// watchSender has the connection to itself until seconds returns.
func watchSender(ctx context.Context, conn *pgx.Conn, slot string) sender {
	ctx, stop := context.WithCancel(ctx)
	s := sender{stop, make(chan float64, 1)}
	go func() { s.cpu <- senderCPU(ctx, conn, slot) }()
	return s
}

// seconds ends the watch. What the process computed in its last few milliseconds
// is not in it.
func (s sender) seconds() float64 {
	s.stop()
	return <-s.cpu
}

func senderCPU(ctx context.Context, conn *pgx.Conn, slot string) (seconds float64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	pid := 0
	for ctx.Err() == nil {
		if pid == 0 {
			// Not with ctx: a statement that it ends would end the connection.
			_ = conn.QueryRow(context.WithoutCancel(ctx), "select active_pid from pg_replication_slots where slot_name = $1 and active_pid is not null",
				slot).Scan(&pid) // none yet
		} else {
			seconds = max(seconds, cpuOf(pid))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return seconds
}

// cpuOf reads how long a process has been on a CPU; 0 once it is gone.
func cpuOf(pid int) float64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/schedstat")
	ns, _, _ := strings.Cut(string(b), " ")
	n, _ := strconv.ParseFloat(ns, 64)
	return n / 1e9
}
