package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Fingerprint identifies a publication's catalog rows by their oid and xmin, the
// publication's own under "". A publication that was altered and altered back
// has other rows: what was written in between may not have been streamed.
type Fingerprint map[string]string

// String gives the form in which ParseFingerprint reads it.
func (f Fingerprint) String() string {
	b, err := json.Marshal(f) // sorts the keys
	if err != nil {
		panic(err) // strings
	}
	return string(b)
}

// ParseFingerprint reads what String gave. What it cannot read equals nothing.
func ParseFingerprint(text string) Fingerprint {
	var f Fingerprint
	if json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	return f
}

// Altered names what differs between two fingerprints, "" when nothing does.
func (f Fingerprint) Altered(since Fingerprint) string {
	var names []string
	for name := range f {
		if f[name] != since[name] {
			names = append(names, name)
		}
	}
	for name := range since {
		if _, there := f[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		if name == "" {
			names[i] = "its settings"
		}
	}
	return strings.Join(names, ", ")
}

// ReadFingerprint gives that of a publication, an empty one where it is not there.
func ReadFingerprint(ctx context.Context, db Querier, publication string) (Fingerprint, error) {
	p := &Publication{name: publication}
	if err := p.read(ctx, db); err != nil {
		return nil, fmt.Errorf("read publication %q: %w", publication, err)
	}
	return p.Fingerprint, nil
}

// ErrAltered says that the publication has been altered by somebody else.
var ErrAltered = errors.New("somebody else altered the publication")

// Beginner begins SQL transactions: a connection or pool.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// FitPublication gives the Misfits the column list that their replica identity
// asks for. No change is missed by it: what was carried, and what will be, has
// all that is watched, and an UPDATE that a list got in the way of has failed.
// last is the fingerprint that is known to be good, and keep stores the new one
// in the same transaction. Had anybody altered the publication since last,
// nothing is done and the error is ErrAltered.
func FitPublication(ctx context.Context, db Beginner, name string, tables map[string][]string, last Fingerprint, keep func(pgx.Tx, Fingerprint) error) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		p, err := CheckPublication(ctx, tx, name, tables)
		if err != nil {
			return err
		}
		misfits := p.Misfits
		var lock, alter []string
		for _, m := range misfits {
			lock = append(lock, "lock table only "+quoteTable(m)+" in share update exclusive mode")
			alter = append(alter, fmt.Sprintf("alter publication %[1]s drop table only %[2]s; alter publication %[1]s add table %[3]s",
				pgx.Identifier{name}.Sanitize(), quoteTable(m), p.tables[m].target()))
		}
		// ALTER PUBLICATION takes these locks too: from here on the misfits are ours.
		if _, err := tx.Exec(ctx, "set local lock_timeout = '2s';"+strings.Join(lock, ";")); err != nil {
			return fmt.Errorf("lock %s: %w", strings.Join(misfits, ", "), err)
		}
		if p, err = CheckPublication(ctx, tx, name, tables); err != nil {
			return err
		}
		if p.Fault != "" || p.Fingerprint.Altered(last) != "" || !slices.Equal(p.Misfits, misfits) {
			return ErrAltered
		}
		if _, err := tx.Exec(ctx, strings.Join(alter, ";")); err != nil {
			return alterError(name, strings.Join(alter, ";"), err)
		}
		if p, err = CheckPublication(ctx, tx, name, tables); err != nil {
			return err
		}
		others := maps.Clone(p.Fingerprint)
		for _, m := range misfits {
			others[m] = last[m]
		}
		if p.Fault != "" || len(p.Misfits) > 0 || others.Altered(last) != "" {
			return ErrAltered
		}
		return keep(tx, p.Fingerprint)
	})
	if err != nil {
		return fmt.Errorf("fit publication %q: %w", name, err)
	}
	return nil
}
