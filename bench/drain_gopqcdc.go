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
	cdcpublication "github.com/Trendyol/go-pq-cdc/pq/publication"
	cdcstream "github.com/Trendyol/go-pq-cdc/pq/replication"
	cdcslot "github.com/Trendyol/go-pq-cdc/pq/slot"
	"github.com/jackc/pgx/v5/pgconn"
)

// cdcForm is a way to use the library. Its examples acknowledge every row, each
// with a message to the server; a listener that cares for speed does so once a
// second, as the bare loop does.
type cdcForm struct {
	proto   int // of pgoutput; 2 is the library's default
	ackRows bool
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
	l := &listener{want: job.Rows, ackRows: form.ackRows, acked: time.Now(), done: make(chan error, 1)}
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
	apply   *pipeline // nil with a null sink
	ackRows bool
	want    int
	rows    int
	acked   time.Time
	drained
	last time.Time
	done chan error
}

func (l *listener) listen(c *cdcstream.ListenerContext) {
	m, ok := c.Message.(*format.Insert)
	if !ok {
		return
	}
	l.rows++
	err := l.insert(m, c.Ack)
	if err == nil && l.rows == l.want {
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

func (l *listener) insert(m *format.Insert, ack func() error) error {
	if l.apply == nil {
		l.Content.Rows++
		for _, column := range m.TupleData.Columns {
			l.Content.add(column.Data)
		}
		if l.ackRows || l.rows%ackLook == 0 && time.Since(l.acked) > ackEvery {
			l.acked = time.Now()
			return ack()
		}
		return nil
	}
	b := l.apply.current
	id, isID := m.Decoded["id"].(int64)
	name, isName := m.Decoded["name"].(string)
	created, isTime := m.Decoded["created_on"].(time.Time)
	if !isID || !isName || !isTime {
		return errors.New("a row has other types than its table")
	}
	b.ids, b.names, b.decoded = append(b.ids, id), append(b.names, name), append(b.decoded, created)
	if len(b.ids) == batchRows || l.rows == l.want {
		return l.apply.handOver(0, ack)
	}
	return nil
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
