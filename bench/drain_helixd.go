package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// nullSink makes everything durable at once, by doing nothing.
type nullSink struct {
	want, rows int
	last       time.Time
	done       context.CancelFunc
}

func (s *nullSink) Apply(_ context.Context, b *replication.Batch) error {
	s.rows += b.Len()
	if s.rows >= s.want && b.EndLSN != 0 && s.last.IsZero() {
		s.last = time.Now()
		s.done()
	}
	return nil
}

// drainHelixd drains with replication/stream, as the daemon does.
func drainHelixd(ctx context.Context, job drainJob) (float64, error) {
	s, err := stream.Open(ctx, stream.Config{ConnString: job.URL, Slot: job.Slot, Publication: job.Publication})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sink := &nullSink{want: job.Rows, done: cancel}
	began := time.Now()
	if err := s.Run(ctx, job.From, sink); err != nil {
		return 0, err
	}
	if sink.rows != job.Rows {
		return 0, fmt.Errorf("drained %d rows, want %d", sink.rows, job.Rows)
	}
	if sink.last.IsZero() {
		return 0, errors.New("the stream ended before the last commit")
	}
	return sink.last.Sub(began).Seconds(), nil
}
