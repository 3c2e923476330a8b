package main

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// isolated: another user reads, changes and hears nothing of the note, and cannot write in the first one's name; who
// is not signed in may not even ask.
func isolated(s *stage) (err error) {
	bob, err := signIn(s.ctx, s.db, s.stranger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bob.close()) }()
	nobody, err := signedOut(s.ctx, s.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nobody.close()) }()

	var diff differences
	for _, table := range []string{"sync_state", "sync_entities", "sync_conflicts"} {
		rows, err := s.affected(bob, "select * from public."+table)
		if err != nil {
			return err
		}
		diff.check("rows that another user sees in "+table, int64(0), rows)
		_, err = s.affected(nobody, "select * from public."+table)
		diff.check("select from "+table+" signed out", "refused (42501)", outcome(err))
	}
	for _, sql := range []string{"update public.sync_state set data = '{}'", "delete from public.sync_state"} {
		rows, err := s.affected(bob, sql)
		if err != nil {
			return err
		}
		diff.check("rows that another user reaches with: "+sql, int64(0), rows)
	}
	err = bob.send(s.ctx, s.user, "bob's phone", s.phone.note)
	diff.check("upsert in the first user's name", "refused (42501)", outcome(err))
	heard, err := bob.received(s.ctx, s.user, "sync_entities", map[string]any{})
	if err != nil {
		return err
	}
	diff.check("messages that another user receives on the first one's topic", 0, heard)
	if err := diff.err("what others may do"); err != nil {
		return err
	}
	s.out.line("   %-7s %s", "bob", "reads, changes and deletes 0 rows in all three tables")
	s.out.line("   %-7s %s", "bob", "writes in ada's name: refused (42501); hears nothing on her topic")
	s.out.line("   %-7s %s", "anon", "selects: refused (42501)")
	return nil
}

// affected gives how many rows a statement of a session returns or changes.
func (s *stage) affected(in *session, sql string) (rows int64, err error) {
	err = in.request(s.ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(s.ctx, sql)
		rows = tag.RowsAffected()
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", sql, err)
	}
	return rows, err
}

// outcome says how a request ended that must be forbidden.
func outcome(err error) string {
	var pgErr *pgconn.PgError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &pgErr) && pgErr.Code == "42501":
		return "refused (42501)"
	}
	return err.Error()
}
