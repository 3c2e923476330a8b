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
	target *target // nil makes everything durable at once, by doing nothing
	batch  rowBatch
	want   int
	rows   int
	drained
	last time.Time
	done context.CancelFunc
}

// Apply implements replication.Sink.
func (s *benchSink) Apply(ctx context.Context, b *replication.Batch) error {
	for i := range b.Transactions {
		for j := range b.Transactions[i].Changes {
			if err := s.row(b.Transactions[i].Changes[j].New); err != nil {
				return err
			}
		}
	}
	if s.target != nil {
		s.batch.end = b.EndLSN
		if err := s.target.apply(ctx, &s.batch); err != nil {
			return err
		}
		s.batch.reset()
	}
	s.End = max(s.End, b.EndLSN)
	if s.rows >= s.want && b.EndLSN != 0 && s.last.IsZero() {
		s.last = time.Now()
		s.done()
	}
	return nil
}

func (s *benchSink) row(t replication.Tuple) error {
	s.rows++
	if s.target != nil {
		return s.batch.addText(t[0].Data, t[1].Data, t[2].Data)
	}
	s.Content.Rows++
	for i := range t {
		s.Content.add(t[i].Data)
	}
	return nil
}

// drainHelixd drains with replication/stream, as the daemon does.
func drainHelixd(ctx context.Context, job drainJob) (drained, error) {
	s, err := stream.Open(ctx, stream.Config{ConnString: job.URL, Slot: job.Slot, Publication: job.Publication})
	if err != nil {
		return drained{}, err
	}
	defer s.Close()
	sink := &benchSink{want: job.Rows}
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
