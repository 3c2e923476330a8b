package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// idle is what is told where work waits and nobody does it.
type idle struct {
	reactor string
	absent  string // no helixd runs
	older   string // the one that does lacks the reactor
	ill     string // the reactor cannot do its work, for a reason that follows
}

// worked reports whether a helixd does a reactor's work, and tells errs where none does.
func (i idle) worked(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, errs io.Writer) (bool, error) {
	var running, there, healthy bool
	var reason string
	err := db.QueryRow(ctx, `select coalesce(bool_or(running), false), count(*) filter (where reactor = $1) > 0,
		coalesce(bool_or(healthy) filter (where reactor = $1), false),
		coalesce(max(details ->> 'reason') filter (where reactor = $1), 'see: select * from helix_status') from public.helix_status`, i.reactor).
		Scan(&running, &there, &healthy, &reason)
	switch {
	case err != nil:
		return false, databaseError(err)
	case !running:
		fmt.Fprintln(errs, "helixd: "+i.absent)
	case !there:
		fmt.Fprintln(errs, "helixd: "+i.older)
	case !healthy:
		fmt.Fprintln(errs, "helixd: "+i.ill+": "+reason)
	}
	return running && there && healthy, nil
}
