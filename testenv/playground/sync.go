package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
)

// syncActs tell how helixd resolves what three devices write about the same note.
var syncActs = []act{
	{"A note is made on the phone", made},
	{"The laptop continues from it", continued},
	{"Phone and tablet edit it at the same time, offline", concurrent},
	{"The laptop deletes what the tablet still edits", deleteAgainstUpdate},
	{"Every device adopts the resolved note", adopted},
	{"Nobody else sees any of it", isolated},
}

func made(s *stage) error {
	s.phone.edit("Milk", 0)
	if err := s.send(s.phone); err != nil {
		return err
	}
	return s.becomes(entity{text: "Milk", clock: clock{"phone": 1}, resolution: "none"})
}

func continued(s *stage) error {
	if err := s.adopt(s.laptop); err != nil {
		return err
	}
	s.laptop.edit("Milk, bread", 0)
	if err := s.send(s.laptop); err != nil {
		return err
	}
	return s.becomes(entity{text: "Milk, bread", clock: clock{"laptop": 1, "phone": 1}, resolution: "fast_forward"})
}

// concurrent: the tablet's edit is the later one, though the phone comes back last.
func concurrent(s *stage) error {
	if err := s.adopt(s.phone, s.tablet); err != nil {
		return err
	}
	s.phone.edit("Milk, rye bread", 9*time.Minute)
	s.wrote(s.phone, "edits 9 min ago")
	s.tablet.edit("Milk, bread, eggs", 4*time.Minute)
	s.wrote(s.tablet, "edits 4 min ago")

	if err := s.send(s.tablet); err != nil {
		return err
	}
	err := s.becomes(entity{text: "Milk, bread, eggs", clock: clock{"laptop": 1, "phone": 1, "tablet": 1},
		resolution: "fast_forward"})
	if err != nil {
		return err
	}
	if err := s.send(s.phone); err != nil {
		return err
	}
	err = s.becomes(entity{text: "Milk, bread, eggs", clock: clock{"laptop": 1, "phone": 2, "tablet": 1},
		resolution: "last_write_wins"})
	if err != nil {
		return err
	}
	return s.conflict(s.phone, s.tablet)
}

// deleteAgainstUpdate: the delete is the later one and is sent first; the update is kept all the same.
func deleteAgainstUpdate(s *stage) error {
	if err := s.adopt(s.laptop, s.tablet); err != nil {
		return err
	}
	s.tablet.edit("Milk, bread, 12 eggs", 3*time.Minute)
	s.wrote(s.tablet, "edits 3 min ago")
	s.laptop.remove(2 * time.Minute)
	s.wrote(s.laptop, "del. 2 min ago")

	if err := s.send(s.laptop); err != nil {
		return err
	}
	err := s.becomes(entity{deleted: true, clock: clock{"laptop": 2, "phone": 2, "tablet": 1},
		resolution: "fast_forward"})
	if err != nil {
		return err
	}
	if err := s.send(s.tablet); err != nil {
		return err
	}
	err = s.becomes(entity{text: "Milk, bread, 12 eggs", clock: clock{"laptop": 2, "phone": 2, "tablet": 2},
		resolution: "last_write_wins"})
	if err != nil {
		return err
	}
	return s.conflict(s.laptop, s.tablet)
}

// adopted: a device that writes the resolved note under its joined clock has seen all of it, so nothing is left to
// resolve. The first one ends the conflict; the others only follow.
func adopted(s *stage) error {
	if err := s.adopt(s.devices()...); err != nil {
		return err
	}
	resolved := entity{text: "Milk, bread, 12 eggs", clock: clock{"laptop": 2, "phone": 2, "tablet": 2},
		resolution: "fast_forward"}
	if err := s.send(s.phone); err != nil {
		return err
	}
	if err := s.becomes(resolved); err != nil {
		return err
	}
	for _, d := range []*device{s.laptop, s.tablet} {
		if err := s.send(d); err != nil {
			return err
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.adopt(s.devices()...); err != nil {
		return err
	}
	var diff differences
	for _, d := range s.devices() {
		diff.check(d.name+"'s text", resolved.shown(), d.note.shown())
		diff.check(d.name+"'s clock", resolved.clock, d.note.clock)
	}
	now, err := readEntity(s.ctx, s.watcher.conn, s.phone.note.typ, s.phone.note.id)
	if err != nil {
		return err
	}
	diff.check("sync_entities.resolution", resolved.resolution, now.resolution)
	var equal int
	err = s.watcher.conn.QueryRow(s.ctx, `
		select count(*) from public.sync_state d join public.sync_entities e using (user_id, entity_type, entity_id)
		where entity_type = $1 and entity_id = $2 and d.data = e.data and d.vector_clock = e.vector_clock
			and d.deleted = e.deleted`, s.phone.note.typ, s.phone.note.id).Scan(&equal)
	if err != nil {
		return fmt.Errorf("compare sync_state with sync_entities: %w", err)
	}
	diff.check("rows of sync_state that equal sync_entities", len(s.devices()), equal)
	recorded, err := s.conflicts()
	if err != nil {
		return err
	}
	diff.check("rows of sync_conflicts", s.lost, recorded)
	if err := diff.err("after every device has adopted the note"); err != nil {
		return err
	}
	s.out.note("helixd", "= all equal", now.clock, now.shown())
	s.out.detail("%s, revision %d, no further conflict", now.resolution, now.revision)
	return nil
}

// adopt has devices take over the resolved note.
func (s *stage) adopt(devices ...*device) error {
	var names []string
	for _, d := range devices {
		if err := d.adopt(s.ctx); err != nil {
			return err
		}
		names = append(names, d.name)
	}
	s.out.line("   %s: go on from sync_entities, revision %d", strings.Join(names, ", "), *devices[0].note.base)
	return nil
}

// settle waits until all that was sent has been resolved: it sends a note of its own, and changes apply in the order
// of their commits.
func (s *stage) settle() error {
	fence := note{typ: "fence", id: uuid.NewString(), clock: clock{"phone": 1}, modified: time.Now()}
	if err := s.phone.send(s.ctx, s.user, s.phone.name, fence); err != nil {
		return err
	}
	return testenv.Poll(s.ctx, patience, watchEvery, "wait until all is resolved", func() (bool, error) {
		e, err := readEntity(s.ctx, s.watcher.conn, fence.typ, fence.id)
		return err != nil || e.revision > 0, err
	})
}

// conflict checks that one more version is in sync_conflicts: loser's, which lost to winner's, with all it had.
func (s *stage) conflict(loser, winner *device) error {
	s.lost++
	var diff differences
	recorded, err := s.conflicts()
	if err != nil {
		return err
	}
	diff.check("rows of this note", s.lost, recorded)
	var id, kind, strategy, wonBy, lostBy string
	var resolved, deleted bool
	var text *string
	var lost clock
	n := loser.note
	err = s.watcher.conn.QueryRow(s.ctx, `
		select id::text, kind, strategy, resolved, versions -> 0 ->> 'device_id', versions -> 1 ->> 'device_id',
			versions -> 1 -> 'data' ->> 'text', (versions -> 1 ->> 'deleted')::boolean, versions -> 1 -> 'vector_clock'
		from public.sync_conflicts where entity_type = $1 and entity_id = $2 order by created_at desc limit 1`,
		n.typ, n.id).Scan(&id, &kind, &strategy, &resolved, &wonBy, &lostBy, &text, &deleted, &lost)
	if err != nil {
		return fmt.Errorf("read sync_conflicts: %w", err)
	}
	if text == nil {
		text = new(string)
	}
	diff.check("kind", "concurrent", kind)
	diff.check("strategy", "last_write_wins", strategy)
	diff.check("resolved", true, resolved)
	diff.check("winner's device_id", winner.name, wonBy)
	diff.check("loser's device_id", loser.name, lostBy)
	diff.check("loser's data (text)", n.shown(), shownText(*text, deleted))
	diff.check("loser's vector_clock", n.clock, lost)
	if err := diff.err("sync_conflicts"); err != nil {
		return err
	}
	if err := s.broadcast("sync_conflicts", n, map[string]any{"op": "INSERT", "id": id}); err != nil {
		return err
	}
	s.out.note("helixd", "→ conflict", lost, n.shown())
	s.out.detail("%s's version is kept in sync_conflicts, broadcast arrived", lostBy)
	return nil
}

// conflicts counts those of the note.
func (s *stage) conflicts() (count int, err error) {
	err = s.watcher.conn.QueryRow(s.ctx, `select count(*) from public.sync_conflicts
		where entity_type = $1 and entity_id = $2`, s.phone.note.typ, s.phone.note.id).Scan(&count)
	if err != nil {
		err = fmt.Errorf("count sync_conflicts: %w", err)
	}
	return count, err
}
