package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Break is where a chain does not hold. A chain is told of once: what follows its
// first break cannot be known.
type Break struct {
	User uuid.UUID
	Seq  int64 // of the entry that does not fit; 0: it is about the chain's head
	What string
}

// Head is the end of a chain. Kept elsewhere, it shows later whether the chain
// was cut off or written anew.
type Head struct {
	User uuid.UUID
	Seq  int64
	Hash []byte
}

func (h Head) String() string {
	return fmt.Sprintf("%s %d %s", h.User, h.Seq, hex.EncodeToString(h.Hash))
}

// ParseHead reads what String writes.
func ParseHead(line string) (Head, error) {
	var user, hash string
	var h Head
	if _, err := fmt.Sscanf(line, "%s %d %s", &user, &h.Seq, &hash); err != nil {
		return Head{}, fmt.Errorf("read a head, <user> <seq> <hash>: %w", err)
	}
	var err error
	if h.User, err = uuid.Parse(user); err != nil {
		return Head{}, fmt.Errorf("read a head's user: %w", err)
	}
	if h.Hash, err = hex.DecodeString(hash); err != nil {
		return Head{}, fmt.Errorf("read a head's hash: %w", err)
	}
	return h, nil
}

// Verification says what to verify.
type Verification struct {
	User   *uuid.UUID // nil: all
	Expect []Head     // what was seen before
	Break  func(Break)
	Head   func(Head) // of each chain that holds; may be nil
}

// Summary is what was verified.
type Summary struct{ Chains, Entries, Broken int }

// Verify computes all hashes anew, from one snapshot, in flat memory.
func Verify(ctx context.Context, conn *pgx.Conn, v Verification) (Summary, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return Summary{}, fmt.Errorf("verify the audit: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))                              //nolint:errcheck // it has read only
	if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil { // hosted projects have two minutes
		return Summary{}, fmt.Errorf("verify the audit: %w", err)
	}
	c := checker{Verification: v, expect: map[uuid.UUID]Head{}, heads: map[uuid.UUID]Head{}}
	for _, h := range v.Expect {
		if before, ok := c.expect[h.User]; (!ok || before.Seq < h.Seq) && (v.User == nil || *v.User == h.User) {
			c.expect[h.User] = h
		}
	}
	if err := c.readHeads(ctx, tx); err != nil {
		return Summary{}, fmt.Errorf("read the heads of the audit: %w", err)
	}
	if err := c.readEntries(ctx, tx); err != nil {
		return Summary{}, fmt.Errorf("read the audit: %w", err)
	}
	c.rest()
	return c.sum, nil
}

// checker goes over the entries in the order of users and numbers.
type checker struct {
	Verification
	expect, heads map[uuid.UUID]Head
	sum           Summary

	chain  Head // the chain that is read, as far as it was computed
	broken bool
}

func (c *checker) readHeads(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "select user_id, seq, hash from helix.audit_heads where $1::uuid is null or user_id = $1", c.User)
	if err != nil {
		return err
	}
	heads, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Head])
	for _, h := range heads {
		c.heads[h.User] = h
	}
	return err
}

func (c *checker) readEntries(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `select user_id, seq, at, run_id, skill_id, event::text, prev_hash, hash from helix.audit
		where $1::uuid is null or user_id = $1 order by user_id, seq`, c.User)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var l link
		var event string
		var hash []byte
		var at any // infinity is no time.Time
		if err := rows.Scan(&l.user, &l.seq, &at, &l.run, &l.skill, &event, &l.prev, &hash); err != nil {
			return err
		}
		l.event = []byte(event)
		if c.sum.Entries == 0 || c.chain.User != l.user {
			c.end()
			c.sum.Chains++
			c.chain, c.broken = Head{User: l.user}, false
		}
		c.sum.Entries++
		if !c.broken {
			c.check(&l, at, hash)
		}
	}
	c.end()
	return rows.Err()
}

// check compares an entry with what it must be after those before it.
func (c *checker) check(l *link, at any, hash []byte) {
	var finite bool
	if l.at, finite = at.(time.Time); !finite {
		c.report(l.seq, "its time is none")
		return
	}
	if want := c.chain.Seq + 1; l.seq != want {
		c.report(l.seq, fmt.Sprintf("entry %d is missing before it", want))
		return
	}
	if !bytes.Equal(l.prev, c.chain.Hash) {
		c.report(l.seq, "prev_hash is not the hash of the entry before it")
		return
	}
	sum, err := l.sum()
	if err != nil || !bytes.Equal(sum, hash) {
		c.report(l.seq, "its hash is not that of its columns")
		return
	}
	c.chain.Seq, c.chain.Hash = l.seq, sum
	if seen, ok := c.expect[l.user]; ok && seen.Seq == l.seq && !bytes.Equal(seen.Hash, sum) {
		c.report(l.seq, "its hash is not the expected one: the chain was written anew")
	}
}

// end compares a chain's end with its head.
func (c *checker) end() {
	if c.sum.Entries == 0 {
		return
	}
	h, ok := c.heads[c.chain.User]
	delete(c.heads, c.chain.User)
	seen, expected := c.expect[c.chain.User]
	delete(c.expect, c.chain.User)
	switch {
	case c.broken:
	case !ok:
		c.report(0, "the chain has no head")
	case h.Seq != c.chain.Seq || !bytes.Equal(h.Hash, c.chain.Hash):
		c.report(0, fmt.Sprintf("the chain ends at %d, and its head is at %d or has another hash", c.chain.Seq, h.Seq))
	case expected && seen.Seq > c.chain.Seq:
		c.report(0, fmt.Sprintf("the chain ends at %d, and was expected to reach %d: its end was cut off", c.chain.Seq, seen.Seq))
	case c.Head != nil:
		c.Head(c.chain)
	}
}

// rest is about heads without a chain. An account that was deleted is expected
// and gone; only who keeps a list of accounts can tell that from a chain taken away.
func (c *checker) rest() {
	for user, h := range c.heads {
		c.sum.Chains++
		c.chain = Head{User: user}
		if seen, ok := c.expect[user]; h.Seq != 0 || len(h.Hash) > 0 || ok && seen.Seq > 0 {
			c.report(0, fmt.Sprintf("the chain has no entries, and its head is at %d", h.Seq))
		}
		delete(c.expect, user)
	}
	for user, seen := range c.expect {
		c.chain = Head{User: user}
		c.report(0, fmt.Sprintf("the chain was expected to reach %d and is gone, with its account or without", seen.Seq))
	}
}

func (c *checker) report(seq int64, what string) {
	c.broken = true
	c.sum.Broken++
	c.Break(Break{User: c.chain.User, Seq: seq, What: what})
}
