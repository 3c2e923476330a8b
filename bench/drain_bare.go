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
	// ackEvery is how often the bare loop tells the server the last commit.
	ackEvery = time.Second
	// ackLook is after how many messages it looks at the clock.
	ackLook = 256
)

// drainBare is the least that a consumer can do with pglogrepl: receive, parse,
// remember the last commit, acknowledge it once a second. It bounds nothing, and
// its context is never watched, which is the fastest way to call ReceiveMessage.
func drainBare(ctx context.Context, job drainJob) (float64, error) {
	cfg, err := pgconn.ParseConfig(job.URL)
	if err != nil {
		return 0, err
	}
	cfg.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx) //nolint:errcheck // the acknowledgement went before
	began := time.Now()
	err = pglogrepl.StartReplication(ctx, conn, job.Slot, job.From, pglogrepl.StartReplicationOptions{
		Mode:       pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "publication_names '" + job.Publication + "'"},
	})
	if err != nil {
		return 0, err
	}
	l := &bareLoop{conn: conn, acked: time.Now()}
	for n := 1; ; n++ {
		msg, err := conn.ReceiveMessage(context.Background())
		if err != nil {
			return 0, err
		}
		if err := l.handle(ctx, msg); err != nil {
			return 0, err
		}
		if l.rows == job.Rows && !l.inTransaction {
			seconds := time.Since(began).Seconds()
			if err := l.ack(ctx); err != nil {
				return 0, err
			}
			// In order: a socket closed on unread keepalives is reset, and the
			// acknowledgement lost with it.
			_, err := pglogrepl.SendStandbyCopyDone(ctx, conn)
			return seconds, err
		}
		if n%ackLook == 0 && time.Since(l.acked) > ackEvery {
			if err := l.ack(ctx); err != nil {
				return 0, err
			}
		}
	}
}

type bareLoop struct {
	conn          *pgconn.PgConn
	rows          int
	inTransaction bool
	commit        pglogrepl.LSN
	acked         time.Time
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
		switch m := m.(type) {
		case *pglogrepl.BeginMessage:
			l.inTransaction = true
		case *pglogrepl.InsertMessage:
			l.rows++
		case *pglogrepl.CommitMessage:
			l.inTransaction = false
			l.commit = m.TransactionEndLSN
		}
	}
	return nil
}

func (l *bareLoop) ack(ctx context.Context) error {
	l.acked = time.Now()
	if l.commit == 0 {
		return nil // pglogrepl would take a flush position of 0 for the write position
	}
	return pglogrepl.SendStandbyStatusUpdate(ctx, l.conn, pglogrepl.StandbyStatusUpdate{WALWritePosition: l.commit})
}
