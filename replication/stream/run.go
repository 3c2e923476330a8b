package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/internal/pulse"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/pgoutput"
)

const (
	// drainTimeout is how long a sink may take to end its batch at shutdown.
	drainTimeout = 10 * time.Second
	// goodbyeTimeout is how long the server may take to end the stream.
	goodbyeTimeout = 2 * time.Second
	// silence is how long the server may say nothing, though asked, before the
	// connection is taken for dead.
	silence = 3 * senderTimeout
	// idleEvery is how often the checkpoint moves on without changes at the most.
	idleEvery = time.Second
	// gather is the least time between two batches: a sink that is faster than
	// that would be woken for each row. A commit to disk takes longer.
	gather = time.Millisecond
	// bulkRows of an open transaction say that it is a large one, and of a batch that
	// there is a backlog: nothing is wanted before many more have come, and the end of
	// either may be noticed so much later.
	bulkRows   = 64
	bulkGather = 5 * time.Millisecond
)

// ErrServerStopped says that the server ended the stream, as it does when it
// shuts down.
var ErrServerStopped = errors.New("the server ended the stream")

// Run streams the changes that committed after from into the sink, until ctx
// ends, and then acknowledges what is durable and returns nil. Any error ends
// the stream: the caller opens another one and continues at the checkpoint.
// Where the slot's confirmed position is ahead of from, the server would
// silently skip what lies between: that is ErrSlotMoved.
func (s *Stream) Run(ctx context.Context, from replication.LSN, sink replication.Sink) error {
	err := pglogrepl.StartReplication(ctx, s.conn, s.cfg.Slot, from, pglogrepl.StartReplicationOptions{
		Mode: pglogrepl.LogicalReplication,
		PluginArgs: []string{"proto_version '1'", "messages 'true'",
			"publication_names " + quoteLiteral(s.cfg.Publication)},
	})
	if err != nil {
		return fmt.Errorf("start replication of slot %q at %s: %w", s.cfg.Slot, from, slotError(err))
	}
	wire, err := s.conn.Hijack()
	if err != nil {
		return fmt.Errorf("start replication: %w", err)
	}
	defer wire.Conn.Close()
	if err := s.verifyPosition(ctx, from); err != nil {
		return fmt.Errorf("start replication of slot %q at %s: %w", s.cfg.Slot, from, err)
	}
	if s.cfg.OnStreaming != nil {
		s.cfg.OnStreaming()
	}

	applyCtx, cancelApply := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelApply()
	o := &owner{
		cfg: s.cfg, wire: wire.Conn, reader: s.reader, frontend: wire.Frontend,
		assembler: pgoutput.NewAssembler(from), hold: s.hold,
		received: from, flushed: from, lowWater: newLowWater(wire.Conn),
		batches: make(chan *replication.Batch), applied: make(chan applied, 1),
	}
	go o.apply(applyCtx, sink)
	s.hold.attach(wire.Conn)
	defer s.hold.attach(nil)
	// The owner sleeps in a read; this wakes it up.
	wake := context.AfterFunc(ctx, func() { _ = o.wire.SetReadDeadline(time.Unix(1, 0)) })
	defer wake()

	err = o.run(ctx)
	drained := o.drain(cancelApply)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		if drained != nil {
			return drained
		}
		return o.goodbye()
	}
	return errors.Join(err, drained)
}

// owner is the one goroutine that reads and writes the walsender connection.
type owner struct {
	cfg       Config
	wire      net.Conn
	reader    *bufio.Reader // wire → reader → frontend
	frontend  *pgproto3.Frontend
	assembler *pgoutput.Assembler
	hold      *hold

	received   replication.LSN // the furthest that the server sent
	flushed    replication.LSN // durable in the sink
	walEnd     replication.LSN // of the last keepalive: all before it was sent
	lastStatus time.Time
	nextStatus time.Time
	deadline   time.Time // of reading; zero when it is over
	lowWater   lowWater
	lastIdle   time.Time
	heard      time.Time // when the server last said anything
	spoke      bool      // it has since

	split      bool          // the sink holds its SQL transaction open for the next part
	lastHanded time.Time     // when it got the last one
	gather     time.Duration // the least until it gets the next

	batches chan *replication.Batch // to the applying goroutine, one at a time
	applied chan applied            // from it
	busy    bool
	handed  int // bytes of the batch that it has
}

// applied is what became of a batch.
type applied struct {
	end replication.LSN // zero after a batch with More
	err error
}

// apply runs in its own goroutine: the sink may take as long as it needs.
func (o *owner) apply(ctx context.Context, sink replication.Sink) {
	for b := range o.batches {
		pulse.Apply.Step()
		err := sink.Apply(ctx, b)
		pulse.Apply.Rest()
		o.applied <- applied{b.EndLSN, err}
		// The owner may be asleep in a read. If it is about to set a later
		// deadline, it looks at applied after that.
		_ = o.wire.SetReadDeadline(time.Unix(1, 0))
	}
}

func (o *owner) run(ctx context.Context) error {
	defer o.rest()
	o.heard = time.Now()
	o.nextStatus = o.heard // the first answer shows the server that we live
	for {
		if o.frontend.ReadBufferLen() == 0 && o.reader.Buffered() == 0 || o.full() {
			if err := o.turn(ctx); err != nil {
				return err
			}
		}
		msg, err := o.frontend.Receive()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.deadline = time.Time{}
			if err := o.turn(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if err := o.handle(msg); err != nil {
			return err
		}
	}
}

// full reports whether as much is held as may be.
func (o *owner) full() bool {
	return o.assembler.Bytes() >= o.cfg.BatchBytes || o.assembler.Len() >= o.cfg.BatchRows
}

// turn does everything but reading: it takes in what was applied, hands over
// what is there, and answers the server. While too much is held it waits here,
// answering. After it the read deadline is the time of the next answer.
func (o *owner) turn(ctx context.Context) error {
	for {
		select {
		case <-o.hold.turned:
		default:
		}
		if err := o.collect(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		o.handOver()
		o.measure()
		now := time.Now()
		if o.spoke {
			o.heard, o.spoke = now, false
		}
		if now.Sub(o.heard) > silence {
			return fmt.Errorf("receive: the server has been silent for %s", silence)
		}
		if !now.Before(o.nextStatus) {
			failpoint.Here("before-ack")
			if err := o.sendStatus(now); err != nil {
				return err
			}
		}
		if !o.busy && !o.holds() || !o.full() {
			break
		}
		timer := time.NewTimer(time.Until(o.nextStatus))
		select {
		case a := <-o.applied:
			timer.Stop()
			o.applied <- a // for collect
		case <-o.hold.turned:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		o.spoke = true // we do not listen here
	}
	if err := o.sleepUntil(); err != nil {
		return err
	}
	if len(o.applied) > 0 || len(o.hold.turned) > 0 || ctx.Err() != nil { // its wake-up may have come just before
		return o.turn(ctx)
	}
	return nil
}

// inBulk reports whether the stream is within a large transaction, and nothing
// waits for its end.
func (o *owner) inBulk() bool {
	return o.assembler.InTransaction() && o.assembler.Len() >= bulkRows && (o.split || !o.assembler.Ready())
}

// sleepUntil sets what ends the next read: while nothing could be handed over
// anyway, a little data need not.
func (o *owner) sleepUntil() error {
	deadline, water := o.nextStatus, 1
	now := time.Now()
	gathered := o.lastHanded.Add(o.gather)
	if o.inBulk() {
		gathered = now.Add(bulkGather)
	}
	switch {
	case o.busy || o.holds():
		water = readBuffer / 2
	case now.Before(gathered):
		water = readBuffer / 2
		if gathered.Before(deadline) {
			deadline = gathered
		}
	}
	o.lowWater.set(water)
	if o.deadline.IsZero() || deadline.Before(o.deadline) {
		o.deadline = deadline
		if err := o.wire.SetReadDeadline(deadline); err != nil {
			return fmt.Errorf("receive: %w", err)
		}
	}
	return nil
}

// collect takes in the end of an apply.
func (o *owner) collect() error {
	select {
	case a := <-o.applied:
		o.busy, o.handed = false, 0
		if a.err != nil {
			return fmt.Errorf("apply: %w", a.err)
		}
		if a.end > o.flushed {
			o.flushed = a.end
			if next := o.lastStatus.Add(acknowledgeEvery); next.Before(o.nextStatus) {
				o.nextStatus = next
			}
		}
	default:
	}
	return nil
}

// handOver gives the sink what is there, if it is free: when the socket has
// nothing more to read that is one transaction, under load it is all that came
// meanwhile.
func (o *owner) handOver() {
	if o.busy || o.holds() {
		return
	}
	var b *replication.Batch
	rows := o.assembler.Len()
	switch {
	// Not in the middle of a transaction, unless it is large: its beginning would
	// keep the ones before it from being committed.
	case o.full(), o.assembler.Ready() && !o.assembler.InTransaction() && time.Since(o.lastHanded) >= o.gather:
		b = o.assembler.Take()
	case o.split:
		// The server may take long over what comes between, and would end an SQL
		// transaction that is idle meanwhile.
		if time.Since(o.lastHanded) > statusEvery {
			b = &replication.Batch{More: true}
		}
	case o.idle():
		o.lastIdle = time.Now()
		b = &replication.Batch{EndLSN: o.walEnd}
	}
	if b != nil {
		o.busy, o.split, o.lastHanded, o.handed = true, b.More, time.Now(), b.Bytes
		if o.gather = gather; rows >= bulkRows {
			o.gather = bulkGather
		}
		o.batches <- b
	}
}

// idle reports whether so much WAL without changes for us has passed that the
// checkpoint should move on, lest the server keeps it. The checkpoint's own WAL
// is far less than IdleWAL, so this does not feed itself.
func (o *owner) idle() bool {
	return !o.assembler.InTransaction() && o.assembler.Len() == 0 &&
		o.walEnd > o.flushed+o.cfg.IdleWAL && time.Since(o.lastIdle) > idleEvery
}

func (o *owner) handle(msg pgproto3.BackendMessage) error {
	o.spoke = true
	switch msg := msg.(type) {
	case *pgproto3.CopyData:
		return o.handleCopyData(msg.Data)
	case *pgproto3.ErrorResponse:
		return fmt.Errorf("receive: %w", slotError(pgconn.ErrorResponseToPgError(msg)))
	case *pgproto3.CopyDone:
		return ErrServerStopped
	case *pgproto3.NoticeResponse, *pgproto3.ParameterStatus:
		return nil
	}
	return fmt.Errorf("receive: unexpected %T", msg)
}

// handleCopyData reads the streaming replication protocol's messages: XLogData
// and Primary keepalive message.
func (o *owner) handleCopyData(data []byte) error {
	if len(data) == 0 {
		return errors.New("receive: empty CopyData")
	}
	switch data[0] {
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data[1:])
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		failpoint.Here("after-receive")
		o.received = max(o.received, x.WALStart)
		if err := o.assembler.Add(x.WALData); err != nil {
			return fmt.Errorf("decode change at %s: %w", x.WALStart, err)
		}
		return nil
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		k, err := pglogrepl.ParsePrimaryKeepaliveMessage(data[1:])
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		o.received = max(o.received, k.ServerWALEnd)
		o.walEnd = k.ServerWALEnd
		if k.ReplyRequested {
			o.nextStatus = time.Time{}
		}
		return nil
	}
	return fmt.Errorf("receive: unknown message %q", data[0])
}

// drain waits for the applying goroutine, so that the sink is free and what it
// made durable is known.
func (o *owner) drain(cancel context.CancelFunc) error {
	close(o.batches)
	if !o.busy {
		return nil
	}
	timer := time.AfterFunc(drainTimeout, cancel)
	defer timer.Stop()
	a := <-o.applied
	if a.err != nil {
		return fmt.Errorf("apply: %w", a.err)
	}
	o.flushed = max(o.flushed, a.end)
	return nil
}

// goodbye acknowledges what is durable and ends the stream in order, so that
// the server has read the acknowledgement before it lets go of the slot.
func (o *owner) goodbye() error {
	o.lowWater.set(1)
	deadline := time.Now().Add(goodbyeTimeout)
	if err := o.sendStatus(time.Now()); err != nil {
		return err
	}
	o.frontend.Send(&pgproto3.CopyDone{})
	if err := o.frontend.Flush(); err != nil {
		return fmt.Errorf("end the stream: %w", err)
	}
	for {
		_ = o.wire.SetReadDeadline(deadline)
		msg, err := o.frontend.Receive()
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(deadline) {
			continue // a late wake-up
		}
		if err != nil {
			return fmt.Errorf("end the stream: %w", err)
		}
		if _, ok := msg.(*pgproto3.CommandComplete); ok {
			o.frontend.Send(&pgproto3.Terminate{})
			_ = o.frontend.Flush()
			return nil
		}
	}
}
