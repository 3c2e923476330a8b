package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
	"github.com/helixd/helixd/replication/stream"
)

// passes is how long each run decodes the same bytes again and again.
const passes = time.Second / 2

// decodeMessages compares decoders on captured bytes: pglogrepl.Parse makes a message of
// each, the Assembler makes batches that outlive the bytes.
func decodeMessages(ctx context.Context, b *bench) error {
	for _, w := range b.workloads(5) {
		if w.changes < w.rows {
			continue // there is little to decode
		}
		if err := b.decode(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.what, err)
		}
	}
	return nil
}

func (b *bench) decode(ctx context.Context, w workload) error {
	db, conn, drop, err := b.database(ctx, "decode_"+w.name)
	if err != nil {
		return err
	}
	defer drop()
	b.say("  load and capture %s", w.what)
	from, err := w.prepare(ctx, conn)
	if err != nil {
		return err
	}
	messages, err := capture(ctx, db.URL("postgres"), from, w.changes)
	if err != nil {
		return err
	}
	var own, peer []float64
	for n := range b.runs {
		sides := []func() error{
			func() error {
				rate, err := repeat(w.changes, func() error { return assemble(messages, w.changes) })
				own = append(own, rate)
				return err
			},
			func() error {
				rate, err := repeat(w.changes, func() error { return parse(messages) })
				peer = append(peer, rate)
				return err
			},
		}
		if n%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			if err := side(); err != nil {
				return err
			}
		}
		b.say("  run %d  helixd %s, pglogrepl.Parse %s rows/s", n+1, number(own[n]), number(peer[n]))
	}
	b.report.add(newFigure("decode", w.what, "rows/s", own...).beside("pglogrepl.Parse", peer...))
	return nil
}

// repeat gives how many rows a second f decodes.
func repeat(rows int, f func() error) (float64, error) {
	began := time.Now()
	n := 0
	for ; n == 0 || time.Since(began) < passes; n++ {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return float64(n*rows) / time.Since(began).Seconds(), nil
}

// assemble takes batches of the size that a busy sink gets.
func assemble(messages [][]byte, want int) error {
	a := pgoutput.NewAssembler(0)
	rows := 0
	take := func() {
		if batch := a.Take(); batch != nil {
			rows += batch.Len()
		}
	}
	for _, m := range messages {
		if err := a.Add(m); err != nil {
			return err
		}
		if a.Len() >= stream.DefaultBatchRows || a.Bytes() >= stream.DefaultBatchBytes {
			take()
		}
	}
	take()
	if rows != want {
		return fmt.Errorf("assembled %d rows, want %d", rows, want)
	}
	return nil
}

func parse(messages [][]byte) error {
	for _, m := range messages {
		if _, err := pglogrepl.Parse(m); err != nil {
			return err
		}
	}
	return nil
}

// capture keeps what the slot sends, up to the last change's commit.
func capture(ctx context.Context, url string, from replication.LSN, changes int) ([][]byte, error) {
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["replication"] = "database"
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx) //nolint:errcheck // only read from
	err = pglogrepl.StartReplication(ctx, conn, baseSlot, from, pglogrepl.StartReplicationOptions{
		Mode:       pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "publication_names '" + publication + "'"},
	})
	if err != nil {
		return nil, err
	}
	var messages [][]byte
	for seen := 0; ; {
		msg, err := conn.ReceiveMessage(ctx)
		if err != nil {
			return nil, err
		}
		data, ok := msg.(*pgproto3.CopyData)
		if !ok {
			return nil, fmt.Errorf("received %T", msg)
		}
		if data.Data[0] != pglogrepl.XLogDataByteID {
			continue
		}
		x, err := pglogrepl.ParseXLogData(data.Data[1:])
		if err != nil {
			return nil, err
		}
		messages = append(messages, slices.Clone(x.WALData))
		switch pgoutput.Kind(x.WALData[0]) {
		case pgoutput.KindInsert, pgoutput.KindUpdate, pgoutput.KindDelete:
			seen++
		case pgoutput.KindCommit:
			if seen == changes {
				return messages, nil
			}
		}
	}
}
