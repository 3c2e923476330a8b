package main

import (
	"context"

	"github.com/helixd/helixd/replication"
)

// pipeline applies in a goroutine of its own what a receiving loop collects, one
// batch at a time, as replication/stream does for helixd.
type pipeline struct {
	target  *target
	current *rowBatch // being filled
	open    bool      // the last one handed over ended within a transaction

	full, empty chan *rowBatch
	done        chan error
	failed      error
	durable     replication.LSN
}

func startPipeline(ctx context.Context, t *target) *pipeline {
	p := &pipeline{target: t, current: newRowBatch(), full: make(chan *rowBatch), empty: make(chan *rowBatch, 1), done: make(chan error, 1)}
	p.empty <- newRowBatch()
	go func() {
		for b := range p.full {
			if err := p.target.apply(ctx, b); err != nil {
				p.done <- err
				return
			}
			p.empty <- b
		}
		p.done <- nil
	}()
	return p
}

// handOver gives the current batch to the goroutine, when that is free.
func (p *pipeline) handOver(end replication.LSN, ack func() error) error {
	p.current.end, p.current.ack = end, ack
	select {
	case b := <-p.empty: // the one before is applied
		p.durable = max(p.durable, b.end)
		b.reset()
		p.open = end == 0
		p.full <- p.current
		p.current = b
		return nil
	case p.failed = <-p.done:
		return p.failed
	}
}

// finish waits until all that was handed over is applied.
func (p *pipeline) finish() error {
	if p.failed != nil {
		return p.failed
	}
	close(p.full)
	return <-p.done
}
