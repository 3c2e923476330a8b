package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// note is what a device's own storage holds of one, and what the app sends.
type note struct {
	typ      string // entity_type
	id       string
	text     string
	deleted  bool
	clock    clock
	modified time.Time
	base     *int64 // revision of sync_entities that it was merged with
}

// shown is the text for people.
func (n note) shown() string { return shownText(n.text, n.deleted) }

func shownText(text string, deleted bool) string {
	if deleted {
		return "(deleted)"
	}
	return strconv.Quote(text)
}

// device is one installation of the app.
type device struct {
	name string
	*session
	note note
}

// edit changes the note in the device's own storage, ago.
func (d *device) edit(text string, ago time.Duration) {
	d.note.text, d.note.deleted = text, false
	d.changed(ago)
}

// remove deletes the note there, ago.
func (d *device) remove(ago time.Duration) {
	d.note.text, d.note.deleted = "", true
	d.changed(ago)
}

func (d *device) changed(ago time.Duration) {
	d.note.clock = d.note.clock.plus(d.name)
	d.note.modified = time.Now().Add(-ago).UTC().Truncate(time.Microsecond)
}

// upsert is what PostgREST makes of supabase-js's
//
//	.from('sync_state').upsert({...}, { onConflict: 'user_id,entity_type,entity_id,device_id' })
const upsert = `
insert into public.sync_state (base_revision, data, deleted, device_id, entity_id, entity_type, last_modified, user_id,
	vector_clock)
select sent.base_revision, sent.data, sent.deleted, sent.device_id, sent.entity_id, sent.entity_type,
	sent.last_modified, sent.user_id, sent.vector_clock
from json_to_recordset($1::json) as sent (base_revision bigint, data jsonb, deleted boolean, device_id text,
	entity_id uuid, entity_type text, last_modified timestamptz, user_id uuid, vector_clock jsonb)
on conflict (user_id, entity_type, entity_id, device_id) do update set
	base_revision = excluded.base_revision, data = excluded.data, deleted = excluded.deleted,
	device_id = excluded.device_id, entity_id = excluded.entity_id, entity_type = excluded.entity_type,
	last_modified = excluded.last_modified, user_id = excluded.user_id, vector_clock = excluded.vector_clock`

// send upserts a note as this device's version of it, for owner.
func (s *session) send(ctx context.Context, owner account, device string, n note) error {
	var data any
	if !n.deleted {
		data = map[string]string{"text": n.text}
	}
	body, err := json.Marshal([]map[string]any{{
		"base_revision": n.base, "data": data, "deleted": n.deleted, "device_id": device, "entity_id": n.id,
		"entity_type": n.typ, "last_modified": n.modified, "user_id": owner.id, "vector_clock": n.clock,
	}})
	if err != nil {
		return err
	}
	err = s.request(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, upsert, string(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("send from %s: %w", device, err)
	}
	return nil
}

// entity is a row of sync_entities.
type entity struct {
	text       string
	deleted    bool
	clock      clock
	resolution string
	revision   int64
	modified   time.Time
}

func (e entity) shown() string { return shownText(e.text, e.deleted) }

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// readEntity reads a note's row; revision is 0 where there is none.
func readEntity(ctx context.Context, q querier, typ, id string) (entity, error) {
	var e entity
	var text *string
	err := q.QueryRow(ctx, `select data ->> 'text', deleted, vector_clock, resolution, revision, last_modified
		from public.sync_entities where entity_type = $1 and entity_id = $2`, typ, id).
		Scan(&text, &e.deleted, &e.clock, &e.resolution, &e.revision, &e.modified)
	if errors.Is(err, pgx.ErrNoRows) {
		return entity{}, nil
	}
	if err != nil {
		return e, fmt.Errorf("read sync_entities: %w", err)
	}
	if text != nil {
		e.text = *text
	}
	return e, nil
}

// adopt takes the resolved state over into the device's own storage: text, joined clock, revision and time.
func (d *device) adopt(ctx context.Context) error {
	var e entity
	err := d.request(ctx, func(tx pgx.Tx) (err error) {
		e, err = readEntity(ctx, tx, d.note.typ, d.note.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.note.text, d.note.deleted, d.note.clock = e.text, e.deleted, e.clock.join(d.note.clock)
	d.note.modified, d.note.base = e.modified, &e.revision
	return nil
}
