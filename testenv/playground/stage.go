package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// act is one scene of the demo. It prints what happens and gives an error when anything is not as expected. A later act
// finds what the earlier ones left.
type act struct {
	name string
	run  func(*stage) error
}

// stage is what acts play on.
type stage struct {
	ctx   context.Context
	out   *printer
	repo  repo
	db    *testenv.Database
	admin *pgx.Conn // superuser: for accounts and for the server's commit times, never for what a device does

	user, stranger        account
	phone, laptop, tablet *device // the user's
	watcher               *session

	sent     time.Time // when the latest COMMIT was confirmed
	sender   *device
	revision int64 // of the resolved note, as of the last check
	lost     int   // conflicts recorded so far

	skills map[string]string // ids by name
	work   string            // a folder that is thrown away

	diary   []memory // what she remembers, ascending by time
	another memory   // and what she has yet to write

	seen      []time.Duration // of each resolved write: COMMIT confirmed → row visible
	committed []time.Duration // commit → commit, as the server says
}

const (
	// watchEvery is how often a result is looked for: its latency is known to within this and one round trip.
	watchEvery = 250 * time.Microsecond
	// patience is how long a result may take before it counts as missing.
	patience = 10 * time.Second
)

func newStage(ctx context.Context, out *printer, r repo, db *testenv.Database) (_ *stage, err error) {
	s := &stage{ctx: ctx, out: out, repo: r, db: db}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.admin, err = pgx.Connect(ctx, db.URL("supabase_admin")); err != nil {
		return nil, err
	}
	for _, a := range []struct {
		*account
		name string
	}{{&s.user, "ada"}, {&s.stranger, "bob"}} {
		if *a.account, err = newAccount(ctx, s.admin, a.name); err != nil {
			return nil, err
		}
	}
	first := note{typ: "note", id: uuid.NewString()}
	for _, d := range []struct {
		at   **device
		name string
	}{{&s.phone, "phone"}, {&s.laptop, "laptop"}, {&s.tablet, "tablet"}} {
		in, err := signIn(ctx, db, s.user)
		if err != nil {
			return nil, err
		}
		*d.at = &device{name: d.name, session: in, note: first}
	}
	if s.watcher, err = signIn(ctx, db, s.user); err != nil {
		return nil, err
	}
	return s, s.watcher.stay(ctx)
}

func (s *stage) close() error {
	sessions := []*session{s.watcher}
	for _, d := range s.devices() {
		if d != nil {
			sessions = append(sessions, d.session)
		}
	}
	err := closeAll(sessions...)
	if s.admin != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err = errors.Join(err, s.admin.Close(ctx))
	}
	return err
}

func (s *stage) devices() []*device { return []*device{s.phone, s.laptop, s.tablet} }

// wrote prints what a device has just written into its own storage.
func (s *stage) wrote(d *device, how string) {
	s.out.note(d.name, how, d.note.clock, d.note.shown())
}

// send upserts what the device holds.
func (s *stage) send(d *device) error {
	s.out.note(d.name, "sends", d.note.clock, d.note.shown())
	if err := d.send(s.ctx, s.user, d.name, d.note); err != nil {
		return err
	}
	s.sent, s.sender = time.Now(), d
	return nil
}

// becomes waits until helixd has resolved what was sent last, prints it, and compares it with want, whose revision
// follows from the last one.
func (s *stage) becomes(want entity) error {
	n := s.sender.note
	var got entity
	waited := testenv.Poll(s.ctx, patience, watchEvery, "wait for sync_entities", func() (_ bool, err error) {
		got, err = readEntity(s.ctx, s.watcher.conn, n.typ, n.id)
		return err != nil || got.revision > s.revision, err
	})
	took := time.Since(s.sent)
	if waited != nil && (s.ctx.Err() != nil || !errors.Is(waited, context.DeadlineExceeded)) {
		return waited
	}
	var diff differences
	want.revision = s.revision + 1
	if got.revision == 0 {
		diff.check("the note's row", "there", "missing")
	} else {
		diff.check("data (text)", want.shown(), got.shown())
		diff.check("vector_clock", want.clock, got.clock)
		diff.check("resolution", want.resolution, got.resolution)
		diff.check("revision", want.revision, got.revision)
	}
	if err := diff.err(fmt.Sprintf("sync_entities after what %s sent (waited %s)", s.sender.name, milliseconds(took))); err != nil {
		return err
	}
	s.revision = got.revision
	s.out.note("helixd", "→ resolved", got.clock, got.shown())
	if err := s.measure(n, took); err != nil {
		return err
	}
	op := "UPDATE"
	if got.revision == 1 {
		op = "INSERT"
	}
	err := s.broadcast("sync_entities", n, map[string]any{"op": op, "record": map[string]any{
		"revision": got.revision, "resolution": got.resolution, "deleted": got.deleted}})
	if err != nil {
		return err
	}
	s.out.detail("%s, revision %d, after %s, broadcast arrived", got.resolution, got.revision, milliseconds(took))
	return nil
}

// measure notes how long the write took: by this process's clock, and by the server's commit timestamps.
func (s *stage) measure(n note, took time.Duration) error {
	var micros int64
	err := s.admin.QueryRow(s.ctx, `
		select (extract(epoch from pg_xact_commit_timestamp(e.xmin) - pg_xact_commit_timestamp(d.xmin)) * 1e6)::bigint
		from public.sync_entities e join public.sync_state d using (user_id, entity_type, entity_id)
		where d.user_id = $1 and d.entity_type = $2 and d.entity_id = $3 and d.device_id = $4`,
		s.user.id, n.typ, n.id, s.sender.name).Scan(&micros)
	if err != nil {
		return fmt.Errorf("read commit timestamps: %w", err)
	}
	s.seen, s.committed = append(s.seen, took), append(s.committed, time.Duration(micros)*time.Microsecond)
	return nil
}

// broadcast checks that exactly one message about the note arrived whose payload contains match.
func (s *stage) broadcast(table string, n note, match map[string]any) error {
	match["table"] = table
	match["key"] = map[string]any{"entity_type": n.typ, "entity_id": n.id}
	count, err := s.watcher.received(s.ctx, s.user, table, match)
	if err != nil {
		return err
	}
	var diff differences
	diff.check(fmt.Sprintf("messages of event %s for this write, as the user receives them", table), 1, count)
	return diff.err("broadcast in realtime.messages")
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}
