package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	cdc "github.com/Trendyol/go-pq-cdc"
	"github.com/Trendyol/go-pq-cdc/config"
	"github.com/Trendyol/go-pq-cdc/pq/message/format"
	"github.com/Trendyol/go-pq-cdc/pq/message/tuple"
	cdcpublication "github.com/Trendyol/go-pq-cdc/pq/publication"
	cdcstream "github.com/Trendyol/go-pq-cdc/pq/replication"
	cdcslot "github.com/Trendyol/go-pq-cdc/pq/slot"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/replication"
)

// cdcForm is a way to use the library. Its examples acknowledge every row, each
// with a message to the server.
type cdcForm struct {
	proto    int // of pgoutput
	ackEvery int // so many rows; 0 where each batch that is applied is acknowledged
}

func (f cdcForm) String() string {
	name := fmt.Sprintf("go-pq-cdc, proto %d", f.proto)
	if f.ackEvery > 0 {
		name += fmt.Sprintf(", ack %d", f.ackEvery)
	}
	return name
}

func goPQCDC(form cdcForm) func(context.Context, drainJob) (drained, error) {
	return func(ctx context.Context, job drainJob) (drained, error) { return drainGoPQCDC(ctx, job, form) }
}

// drainGoPQCDC drains with Trendyol/go-pq-cdc. The library closes its connection
// without ending the stream, so what was acknowledged last is given time to be read.
func drainGoPQCDC(ctx context.Context, job drainJob, form cdcForm) (result drained, err error) {
	pg, err := pgconn.ParseConfig(job.URL)
	if err != nil {
		return result, err
	}
	l := &listener{want: job.Changes, ackEvery: form.ackEvery, done: make(chan error, 1)}
	if job.Durable {
		t, err := openTarget(ctx, job)
		if err != nil {
			return result, err
		}
		defer t.close()
		l.apply = startPipeline(ctx, t)
	}
	log := &cdcLog{failed: l.done}
	connector, err := cdc.NewConnector(ctx, config.Config{
		Host: pg.Host, Port: int(pg.Port), Username: pg.User, Password: pg.Password, Database: pg.Database,
		Publication: cdcpublication.Config{Name: job.Publication},
		Slot:        cdcslot.Config{Name: job.Slot, ProtoVersion: form.proto},
		// Its metrics would be served on every interface. They are counted, not
		// served: this is no port to listen on.
		Metric: config.MetricConfig{Port: -1},
		Logger: config.LoggerConfig{Logger: log},
	}, l.listen)
	if err != nil {
		return result, err
	}
	go connector.Start(ctx)
	if err := <-l.done; err != nil {
		return result, err
	}
	if log.began.IsZero() {
		return result, errors.New("go-pq-cdc did not say when its stream began")
	}
	l.drained.Seconds = l.last.Sub(log.began).Seconds()
	result = l.drained
	return result, l.leave(ctx, job, connector)
}

// listener is the library's callback. It runs on one goroutine, beside the one
// that receives and decodes.
type listener struct {
	apply    *pipeline // nil with a null sink
	ackEvery int
	want     int
	changes  int
	change   rowChange
	drained
	last time.Time
	done chan error
}

func (l *listener) listen(c *cdcstream.ListenerContext) {
	r := &l.change
	switch m := c.Message.(type) {
	case *format.Insert:
		r.op, r.old, r.new = replication.Insert, r.old[:0], cdcValues(r.new, m.TupleData)
	case *format.Update:
		r.op, r.old, r.new = replication.Update, cdcValues(r.old, m.OldTupleData), cdcValues(r.new, m.NewTupleData)
	case *format.Delete:
		r.op, r.old, r.new = replication.Delete, cdcValues(r.old, m.OldTupleData), r.new[:0]
	default:
		return
	}
	l.changes++
	err := l.take(c.Ack)
	if err == nil && l.changes == l.want {
		if l.apply != nil {
			err = l.apply.finish()
		}
		l.last = time.Now()
		if err == nil && l.apply == nil {
			err = c.Ack()
		}
		l.done <- err
		return
	}
	if err != nil {
		l.done <- err
	}
}

func (l *listener) take(ack func() error) error {
	if l.apply == nil {
		l.Content.add(&l.change)
		if l.changes%l.ackEvery == 0 {
			return ack()
		}
		return nil
	}
	l.apply.current.add(&l.change)
	if l.apply.current.changes == batchRows || l.changes == l.want {
		return l.apply.handOver(0, ack)
	}
	return nil
}

func cdcValues(dst [][]byte, t *tuple.Data) [][]byte {
	dst = dst[:0]
	if t != nil {
		for _, c := range t.Columns {
			dst = append(dst, c.Data)
		}
	}
	return dst
}

// leave waits until the server has read the last acknowledgement; the parent
// checks that it says what it should.
func (l *listener) leave(ctx context.Context, job drainJob, connector cdc.Connector) error {
	conn, err := pgconn.Connect(ctx, job.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is pending
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 { // 10 s
		r := conn.ExecParams(ctx, "select confirmed_flush_lsn >= $1::pg_lsn from pg_replication_slots where slot_name = $2",
			[][]byte{[]byte(job.End.String()), []byte(job.Slot)}, nil, nil, nil).Read()
		if r.Err != nil {
			return r.Err
		}
		if len(r.Rows) == 1 && string(r.Rows[0][0]) == "t" {
			connector.Close()
			return nil
		}
		<-tick.C
	}
	return fmt.Errorf("its slot was not acknowledged up to the last commit, %s", job.End)
}

// cdcLog is silent, but for what ends the drain. It also tells when the stream
// begins: the next the library does after naming the system is START_REPLICATION.
type cdcLog struct {
	began  time.Time
	failed chan<- error
}

func (l *cdcLog) Info(msg string, _ ...any) {
	if msg == "system identification" {
		l.began = time.Now()
	}
}

func (l *cdcLog) Error(msg string, args ...any) {
	if msg != "server cannot start" { // its metrics
		fmt.Fprintln(os.Stderr, append([]any{"go-pq-cdc:", msg}, args...)...)
		select {
		case l.failed <- errors.New(msg):
		default: // another error came before
		}
	}
}

func (l *cdcLog) Debug(string, ...any) {}
func (l *cdcLog) Warn(string, ...any)  {}
