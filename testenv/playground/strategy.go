package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// strategyActs tell how a user's policy decides what becomes of concurrent versions.
var strategyActs = []act{
	{"Under merge, phone and laptop edit different fields of a list, offline", merged},
	{"Under manual, the user decides between two versions of a plan", decided},
}

// document is an entity of which devices send any JSON.
type document struct{ typ, id string }

func newDocument(typ string) document { return document{typ, uuid.NewString()} }

// choose sets the policy of a type of entity, as an app does.
func (s *stage) choose(typ, strategy, options string) error {
	s.out.line("   ada's policy for type %s: %s %s", typ, strategy, options)
	return s.phone.request(s.ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(s.ctx, `insert into public.sync_policies (user_id, entity_type, strategy, options)
			values ($1, $2, $3, $4) on conflict (user_id, entity_type) do update set
				user_id = excluded.user_id, entity_type = excluded.entity_type,
				strategy = excluded.strategy, options = excluded.options`, s.user.id, typ, strategy, options)
		return err
	})
}

// put upserts a device's version of a document.
func (s *stage) put(d *device, doc document, data string, c clock) error {
	s.out.note(d.name, "sends", c, data)
	body, err := json.Marshal([]map[string]any{{"data": json.RawMessage(data), "deleted": false, "device_id": d.name,
		"entity_id": doc.id, "entity_type": doc.typ, "last_modified": "now", "user_id": s.user.id, "vector_clock": c}})
	if err != nil {
		return err
	}
	return d.request(s.ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(s.ctx, upsert, string(body))
		return err
	})
}

// resolves waits until a document has come to what it must.
func (s *stage) resolves(doc document, revision int64, resolution, data string) error {
	var got, how string
	var now clock
	err := testenv.Poll(s.ctx, patience, watchEvery, "wait for sync_entities", func() (bool, error) {
		var at int64
		err := s.watcher.conn.QueryRow(s.ctx, `select coalesce(max(revision), 0), coalesce(max(data::text), ''),
				coalesce(max(resolution), ''), max(vector_clock::text)::jsonb
			from public.sync_entities where entity_type = $1 and entity_id = $2`, doc.typ, doc.id).Scan(&at, &got, &how, &now)
		return at >= revision, err
	})
	if err != nil {
		return err
	}
	var diff differences
	diff.check("data", data, got)
	diff.check("resolution", resolution, how)
	if err := diff.err(fmt.Sprintf("sync_entities at revision %d", revision)); err != nil {
		return err
	}
	s.out.note("helixd", "→ resolved", now, got)
	s.out.detail("%s, revision %d", how, revision)
	return nil
}

func merged(s *stage) error {
	if err := s.choose("list", "merge", `{"arrays": {"tags": "set"}}`); err != nil {
		return err
	}
	list := newDocument("list")
	for _, step := range []func() error{
		func() error { return s.put(s.phone, list, `{"tags": ["a"], "title": "Trip"}`, clock{"phone": 1}) },
		func() error { return s.resolves(list, 1, "none", `{"tags": ["a"], "title": "Trip"}`) },
		func() error {
			return s.put(s.laptop, list, `{"tags": ["a", "l"], "title": "Trip to Rome"}`, clock{"phone": 1, "laptop": 1})
		},
		func() error {
			return s.resolves(list, 2, "fast_forward", `{"tags": ["a", "l"], "title": "Trip to Rome"}`)
		},
		func() error {
			return s.put(s.phone, list, `{"days": 3, "tags": ["a", "p"], "title": "Trip"}`, clock{"phone": 2})
		},
		func() error {
			return s.resolves(list, 3, "merge", `{"days": 3, "tags": ["a", "l", "p"], "title": "Trip to Rome"}`)
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func decided(s *stage) error {
	if err := s.choose("plan", "manual", "{}"); err != nil {
		return err
	}
	plan := newDocument("plan")
	for _, step := range []func() error{
		func() error { return s.put(s.phone, plan, `{"at": "noon"}`, clock{"phone": 1}) },
		func() error { return s.resolves(plan, 1, "none", `{"at": "noon"}`) },
		func() error { return s.put(s.laptop, plan, `{"at": "eight"}`, clock{"laptop": 1}) },
		func() error { return s.resolves(plan, 2, "manual", `{"at": "eight"}`) },
		func() error { return s.decide(plan, `{"data": {"at": "ten"}}`) },
		func() error { return s.resolves(plan, 3, "manual", `{"at": "ten"}`) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return s.closed(plan)
}

// decide resolves a document's open conflict, as an app does for its user.
func (s *stage) decide(doc document, resolution string) error {
	s.out.line("   ada decides: %s", resolution)
	return s.phone.request(s.ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(s.ctx, `update public.sync_conflicts set resolution = $3
			where entity_type = $1 and entity_id = $2 and not resolved`, doc.typ, doc.id, resolution)
		if err == nil && tag.RowsAffected() != 1 {
			err = fmt.Errorf("%d open conflicts where there must be one", tag.RowsAffected())
		}
		return err
	})
}

// closed checks that a document has no open conflict any more.
func (s *stage) closed(doc document) error {
	var open int
	err := s.watcher.conn.QueryRow(context.WithoutCancel(s.ctx), `select count(*) from public.sync_conflicts
		where entity_type = $1 and entity_id = $2 and (not resolved or resolved_at is null)`, doc.typ, doc.id).Scan(&open)
	if err != nil {
		return err
	}
	var diff differences
	diff.check("open conflicts", 0, open)
	return diff.err("sync_conflicts")
}
