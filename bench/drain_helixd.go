package main

import (
	"context"
	"errors"
	"time"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// benchSink counts what it gets, and looks at it or applies it.
type benchSink struct {
	target  *target // nil makes everything durable at once, by doing nothing
	batch   *rowBatch
	want    int
	changes int
	change  rowChange
	drained
	last time.Time
	done context.CancelFunc
}

// Apply implements replication.Sink.
func (s *benchSink) Apply(ctx context.Context, b *replication.Batch) error {
	for i := range b.Transactions {
		for j := range b.Transactions[i].Changes {
			s.take(&b.Transactions[i].Changes[j])
		}
	}
	if s.target != nil {
		s.batch.end = b.EndLSN
		if err := s.target.apply(ctx, s.batch); err != nil {
			return err
		}
		s.batch.reset()
	}
	if s.changes >= s.want && b.EndLSN != 0 && s.last.IsZero() {
		s.last = time.Now()
		s.done()
	}
	return nil
}

func (s *benchSink) take(c *replication.Change) {
	s.changes++
	s.change.op = c.Op
	s.change.old, s.change.new = values(s.change.old, c.Old), values(s.change.new, c.New)
	if s.target != nil {
		s.batch.add(&s.change)
	} else {
		s.Content.add(&s.change)
	}
}

func values(dst [][]byte, t replication.Tuple) [][]byte {
	dst = dst[:0]
	for i := range t {
		dst = append(dst, t[i].Data)
	}
	return dst
}

// drainHelixd drains with replication/stream, as the daemon does.
func drainHelixd(ctx context.Context, job drainJob) (drained, error) {
	s, err := stream.Open(ctx, stream.Config{ConnString: job.URL, Slot: job.Slot, Publication: job.Publication})
	if err != nil {
		return drained{}, err
	}
	defer s.Close()
	sink := &benchSink{want: job.Changes, batch: newRowBatch()}
	if job.Durable {
		if sink.target, err = openTarget(ctx, job); err != nil {
			return drained{}, err
		}
		defer sink.target.close()
	}
	ctx, sink.done = context.WithCancel(ctx)
	defer sink.done()
	began := time.Now()
	if err := s.Run(ctx, job.From, sink); err != nil {
		return drained{}, err
	}
	if sink.last.IsZero() {
		return drained{}, errors.New("the stream ended before the last commit")
	}
	sink.Seconds = sink.last.Sub(began).Seconds()
	return sink.drained, nil
}
