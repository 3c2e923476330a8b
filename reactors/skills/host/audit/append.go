package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Append puts entries at the ends of their users' chains, in the order in which
// they are given, in four statements for any number of users. It waits for others
// that append to the same chains until their transactions end: call it late. The
// entries of accounts that are gone are dropped, as the chains were.
func Append(ctx context.Context, tx pgx.Tx, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return bytes.Compare(a.User[:], b.User[:]) })
	heads, err := lockHeads(ctx, tx, entries)
	if err != nil {
		return err
	}
	var rows columns
	for _, e := range entries {
		h, ok := heads[e.User]
		if !ok {
			continue
		}
		event, err := json.Marshal(e.Event)
		if err != nil {
			return fmt.Errorf("append to the audit: %w", err)
		}
		l := link{user: e.User, seq: h.seq + 1, at: e.At.UTC().Truncate(time.Microsecond), run: optional(e.Run), skill: optional(e.Skill), event: event, prev: h.hash}
		hash, err := l.sum()
		if err != nil {
			return fmt.Errorf("append to the audit: %w", err)
		}
		h.seq, h.hash = l.seq, hash
		rows.add(&l, hash)
	}
	if len(rows.users) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `insert into helix.audit (user_id, seq, at, run_id, skill_id, event, prev_hash, hash)
		select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::uuid[], $5::uuid[], $6::jsonb[], $7::bytea[], $8::bytea[])`,
		rows.users, rows.seqs, rows.ats, rows.runs, rows.skills, rows.events, rows.prevs, rows.hashes); err != nil {
		return fmt.Errorf("append to the audit: %w", err)
	}
	var last columns
	for user, h := range heads {
		last.users, last.seqs, last.hashes = append(last.users, user), append(last.seqs, h.seq), append(last.hashes, h.hash)
	}
	if _, err := tx.Exec(ctx, `update helix.audit_heads h set seq = n.seq, hash = n.hash
		from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as n (user_id, seq, hash) where h.user_id = n.user_id`,
		last.users, last.seqs, last.hashes); err != nil {
		return fmt.Errorf("move the heads of the audit: %w", err)
	}
	return nil
}

// head is the end of a chain.
type head struct {
	seq  int64
	hash []byte
}

// lockHeads locks the chains' ends in the order of the users. Whoever deletes an
// account comes over its row first, so that row is locked first here too.
func lockHeads(ctx context.Context, tx pgx.Tx, entries []Entry) (map[uuid.UUID]*head, error) {
	var users []uuid.UUID
	for _, e := range entries {
		if len(users) == 0 || users[len(users)-1] != e.User {
			users = append(users, e.User)
		}
	}
	if _, err := tx.Exec(ctx, `insert into helix.audit_heads (user_id, seq, hash)
		select id, 0, '' from (select id from auth.users where id = any ($1) order by id for key share) u order by id
		on conflict do nothing`, users); err != nil {
		return nil, fmt.Errorf("begin chains of the audit: %w", err)
	}
	rows, err := tx.Query(ctx, "select user_id, seq, hash from helix.audit_heads where user_id = any ($1) order by user_id for update", users)
	if err != nil {
		return nil, fmt.Errorf("lock the heads of the audit: %w", err)
	}
	heads := map[uuid.UUID]*head{}
	var user uuid.UUID
	var h head
	if _, err := pgx.ForEachRow(rows, []any{&user, &h.seq, &h.hash}, func() error {
		heads[user] = &head{h.seq, slices.Clone(h.hash)}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("lock the heads of the audit: %w", err)
	}
	return heads, nil
}

// columns are rows of helix.audit.
type columns struct {
	users         []uuid.UUID
	seqs          []int64
	ats           []time.Time
	runs, skills  []*uuid.UUID
	events        []string
	prevs, hashes [][]byte
}

func (c *columns) add(l *link, hash []byte) {
	c.users, c.seqs, c.ats = append(c.users, l.user), append(c.seqs, l.seq), append(c.ats, l.at)
	c.runs, c.skills = append(c.runs, l.run), append(c.skills, l.skill)
	c.events, c.prevs, c.hashes = append(c.events, string(l.event)), append(c.prevs, l.prev), append(c.hashes, hash)
}

func optional(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// link is an entry in its chain.
type link struct {
	user  uuid.UUID
	seq   int64 // from 1
	at    time.Time
	run   *uuid.UUID
	skill *uuid.UUID
	event []byte // JSON in any spelling
	prev  []byte // the hash of the link before, empty of the first
}

// sum gives the link's hash: SHA-256 over "helix audit 1" and its columns in their
// order, each after its length in 8 bytes. A null has the length -1, a time is in
// microseconds since 1970, JSON has its keys in order and no spaces.
func (l *link) sum() ([]byte, error) {
	event, err := canonical(l.event)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write([]byte("helix audit 1"))
	put := func(column []byte) {
		n := int64(len(column))
		if column == nil {
			n = -1
		}
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
		h.Write(column)
	}
	number := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	id := func(id *uuid.UUID) []byte {
		if id == nil {
			return nil
		}
		return id[:]
	}
	put(l.user[:])
	put(number(l.seq))
	put(number(l.at.UnixMicro()))
	put(id(l.run))
	put(id(l.skill))
	put(event)
	put(append([]byte{}, l.prev...))
	return h.Sum(nil), nil
}

// canonical spells JSON in one way, whatever jsonb made of it.
func canonical(event []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(event))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
