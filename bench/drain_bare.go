package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	// ackEvery is how often a peer tells the server the last commit.
	ackEvery = time.Second
	// ackLook is after how many messages it looks at the clock.
	ackLook = 256
)

// drainBare is the least that a consumer can do with pglogrepl: receive, parse,
// remember the last commit, acknowledge it once a second. It bounds nothing, and
// its context is never watched, which is the fastest way to call ReceiveMessage.
// It knows how many changes there are, so a batch needs no timer.
func drainBare(ctx context.Context, job drainJob) (result drained, err error) {
	cfg, err := pgconn.ParseConfig(job.URL)
	if err != nil {
		return result, err
	}
	cfg.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return result, err
	}
	defer conn.Close(ctx) //nolint:errcheck // the acknowledgement went before
	l := &bareLoop{conn: conn, want: job.Changes, acked: time.Now()}
	if job.Durable {
		t, err := openTarget(ctx, job)
		if err != nil {
			return result, err
		}
		defer t.close()
		l.apply = startPipeline(ctx, t)
	}
	began := time.Now()
	err = pglogrepl.StartReplication(ctx, conn, job.Slot, job.From, pglogrepl.StartReplicationOptions{
		Mode:       pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "publication_names '" + job.Publication + "'"},
	})
	if err != nil {
		return result, err
	}
	if err := l.run(ctx); err != nil {
		return result, err
	}
	if l.apply != nil {
		if err := l.apply.finish(); err != nil {
			return result, err
		}
		l.durable = l.commit
	}
	result = drained{Seconds: time.Since(began).Seconds(), Content: l.content}
	if err := l.ack(ctx); err != nil {
		return result, err
	}
	// In order: a socket closed on unread keepalives is reset, and the
	// acknowledgement lost with it.
	_, err = pglogrepl.SendStandbyCopyDone(ctx, conn)
	return result, err
}

type bareLoop struct {
	conn    *pgconn.PgConn
	apply   *pipeline // nil with a null sink
	want    int
	changes int
	change  rowChange
	content content
	ended   bool          // the last change's transaction has
	commit  pglogrepl.LSN // end of the last commit
	durable pglogrepl.LSN
	acked   time.Time
}

func (l *bareLoop) run(ctx context.Context) error {
	for n := 1; !l.ended; n++ {
		msg, err := l.conn.ReceiveMessage(context.Background())
		if err != nil {
			return err
		}
		if err := l.handle(ctx, msg); err != nil {
			return err
		}
		if n%ackLook == 0 && time.Since(l.acked) > ackEvery {
			if err := l.ack(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *bareLoop) handle(ctx context.Context, msg pgproto3.BackendMessage) error {
	data, ok := msg.(*pgproto3.CopyData)
	if !ok {
		return fmt.Errorf("received %T", msg)
	}
	if len(data.Data) == 0 {
		return errors.New("empty CopyData")
	}
	switch data.Data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		k, err := pglogrepl.ParsePrimaryKeepaliveMessage(data.Data[1:])
		if err != nil || !k.ReplyRequested {
			return err
		}
		return l.ack(ctx)
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data.Data[1:])
		if err != nil {
			return err
		}
		m, err := pglogrepl.Parse(x.WALData)
		if err != nil {
			return err
		}
		if l.change.parsed(m) {
			return l.take()
		}
		if m, ok := m.(*pglogrepl.CommitMessage); ok {
			return l.committed(m.TransactionEndLSN)
		}
	}
	return nil
}

func (l *bareLoop) take() error {
	l.changes++
	if l.apply == nil {
		l.content.add(&l.change)
		return nil
	}
	if l.apply.current.changes == batchRows { // a large transaction's
		if err := l.apply.handOver(0, nil); err != nil {
			return err
		}
	}
	l.apply.current.add(&l.change)
	return nil
}

func (l *bareLoop) committed(end pglogrepl.LSN) error {
	l.commit, l.ended = end, l.changes == l.want
	if l.apply == nil {
		l.durable = end
		return nil
	}
	if l.ended || l.apply.open || l.apply.current.changes >= batchRows {
		return l.apply.handOver(end, nil)
	}
	return nil
}

func (l *bareLoop) ack(ctx context.Context) error {
	l.acked = time.Now()
	if l.apply != nil {
		l.durable = max(l.durable, l.apply.durable)
	}
	if l.durable == 0 {
		return nil // pglogrepl would take a flush position of 0 for the write position
	}
	return pglogrepl.SendStandbyStatusUpdate(ctx, l.conn, pglogrepl.StandbyStatusUpdate{WALWritePosition: l.durable})
}
