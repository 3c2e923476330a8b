package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier is an SQL connection, transaction or pool.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// publish are the operations that helixd's publication carries. Deletes come
// through the inbox, with their owner: the stream would give a primary key only.
const publish = "insert, update"

// Publication is what the server's publication carries, held against what it
// must: the watched columns of each table and those of its replica identity,
// since Postgres refuses every UPDATE of a published table that hides one. A
// table with REPLICA IDENTITY FULL is published whole for the same reason, and
// a partitioned one under its own name.
type Publication struct {
	// Fingerprint tells whether anybody altered the publication in between.
	Fingerprint Fingerprint
	// Fault says in what it is not as it must be, "" when it is: changes may
	// have passed that were not streamed.
	Fault string
	// Misfits are tables whose replica identity has changed, so that their column
	// list hides a part of it or could be shorter again.
	// All that is watched is carried nevertheless.
	Misfits []string
	// Refused are those of the Misfits whose updates by clients fail now.
	Refused []string
	// Unidentified are tables that have no replica identity: clients' updates
	// of them fail, whatever the publication's columns.
	Unidentified []string

	name      string
	exists    bool
	allTables bool
	tables    map[string]*table // as the server has them
}

// table is a table that must be published.
type table struct {
	name     string
	watched  []string
	columns  []string // to publish, in the table's order; nil for all
	identity string   // pg_class.relreplident
	keyed    bool     // some column belongs to the replica identity
}

// CheckPublication compares the publication with the tables and columns that it
// must carry. A table or column that is not there is a *SetupError.
func CheckPublication(ctx context.Context, db Querier, name string, tables map[string][]string) (*Publication, error) {
	p := &Publication{name: name}
	var err error
	if p.tables, err = readTables(ctx, db, tables); err != nil {
		return nil, err
	}
	if err := p.read(ctx, db); err != nil {
		return nil, fmt.Errorf("read publication %q: %w", name, err)
	}
	for _, table := range slices.Sorted(maps.Keys(p.tables)) {
		if t := p.tables[table]; t.identity != "f" && !t.keyed {
			p.Unidentified = append(p.Unidentified, table)
		}
	}
	return p, nil
}

// EnsurePublication makes the publication carry exactly these tables and
// columns, and reports whether it did not. Before it alters anything it calls
// gap, which makes that known to whoever comes after a crash: it drops the slot.
func EnsurePublication(ctx context.Context, db Querier, name string, tables map[string][]string, gap func() error) (changed bool, err error) {
	p, err := CheckPublication(ctx, db, name, tables)
	if err != nil || p.Fault == "" && len(p.Misfits) == 0 {
		return false, err
	}
	if err := gap(); err != nil {
		return false, err
	}
	var targets []string
	for _, table := range slices.Sorted(maps.Keys(p.tables)) {
		targets = append(targets, p.tables[table].target())
	}
	quoted, list := pgx.Identifier{name}.Sanitize(), strings.Join(targets, ", ")
	create := fmt.Sprintf("create publication %s for table %s with (publish = '%s', publish_via_partition_root)", quoted, list, publish)
	sql := create
	switch {
	case p.allTables: // cannot be made one of some tables
		sql = fmt.Sprintf("drop publication %s; %s", quoted, create)
	case p.exists:
		sql = fmt.Sprintf("alter publication %[1]s set table %[2]s; alter publication %[1]s set (publish = '%[3]s', publish_via_partition_root)",
			quoted, list, publish)
	}
	if _, err := db.Exec(ctx, sql); err != nil { // several statements are one transaction
		return false, alterError(name, sql, err)
	}
	return true, nil
}

func alterError(name, sql string, err error) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "42501" {
		return &SetupError{"helixd may not make its publication", "Run as an administrator: " + sql + ";", err}
	}
	return fmt.Errorf("make publication %q: %w", name, err)
}

// target names a table in CREATE and ALTER PUBLICATION. ONLY leaves out tables
// that inherit from it; partitions belong to it all the same.
func (t *table) target() string {
	if t.columns == nil {
		return "only " + quoteTable(t.name)
	}
	quoted := make([]string, len(t.columns))
	for i, c := range t.columns {
		quoted[i] = pgx.Identifier{c}.Sanitize()
	}
	return fmt.Sprintf("only %s (%s)", quoteTable(t.name), strings.Join(quoted, ", "))
}

// readTables looks up what must be published.
func readTables(ctx context.Context, db Querier, watched map[string][]string) (map[string]*table, error) {
	tables := map[string]*table{}
	names := slices.Sorted(maps.Keys(watched))
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteTable(name)
	}
	rows, err := db.Query(ctx, `select t.name, c.relreplident::text, a.attname, coalesce(a.attnum = any(i.indkey::smallint[]), false)
		from unnest($1::text[], $2::text[]) as t (name, quoted)
		join pg_class c on c.oid = to_regclass(t.quoted) and c.relkind in ('r', 'p')
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		left join pg_index i on i.indrelid = c.oid and case c.relreplident when 'i' then i.indisreplident when 'd' then i.indisprimary end
		order by a.attnum`, names, quoted)
	if err != nil {
		return nil, fmt.Errorf("read the watched tables: %w", err)
	}
	found := map[string][]string{}
	var name, identity, column string
	var key bool
	_, err = pgx.ForEachRow(rows, []any{&name, &identity, &column, &key}, func() error {
		t := tables[name]
		if t == nil {
			t = &table{name: name, watched: watched[name], identity: identity}
			tables[name] = t
		}
		t.keyed = t.keyed || key
		found[name] = append(found[name], column)
		if identity != "f" && (key || slices.Contains(t.watched, column)) {
			t.columns = append(t.columns, column)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the watched tables: %w", err)
	}
	for _, name := range names {
		if tables[name] == nil {
			return nil, &SetupError{"table " + name + " is not there",
				"If it was renamed or moved, put it back: what was written meanwhile is read then. If it was dropped, run: delete from helix.migrations; and then: helixd migrate", nil}
		}
		for _, c := range watched[name] {
			if !slices.Contains(found[name], c) {
				return nil, &SetupError{fmt.Sprintf("table %s has no column %s", name, c),
					"If it was renamed, rename it back: what was written meanwhile is read then. " +
						"If it was dropped, add it again as it is in the files of: helixd migrate --export <folder>", nil}
			}
		}
	}
	return tables, nil
}

// read fills in what the server's publication carries.
func (p *Publication) read(ctx context.Context, db Querier) error {
	rows, err := db.Query(ctx, `select p.puballtables,
			p.pubinsert and p.pubupdate and not p.pubdelete and not p.pubtruncate, p.pubviaroot,
			exists (select from pg_publication_namespace s where s.pnpubid = p.oid),
			format('%s:%s %s', p.oid, p.xmin, (select string_agg(format('%s:%s', s.oid, s.xmin), ' ' order by s.oid)
				from pg_publication_namespace s where s.pnpubid = p.oid)),
			coalesce(n.nspname || '.' || c.relname, ''), coalesce(format('%s:%s:%s', r.oid, r.xmin, r.prrelid), ''),
			r.prqual is not null, r.prattrs is null,
			(select array_agg(a.attname::text order by a.attnum) from pg_attribute a
				where a.attrelid = c.oid and a.attnum = any(r.prattrs::smallint[]))
		from pg_publication p
		left join pg_publication_rel r on r.prpubid = p.oid
		left join pg_class c on c.oid = r.prrelid left join pg_namespace n on n.oid = c.relnamespace
		where p.pubname = $1 order by 6`, p.name)
	if err != nil {
		return err
	}
	p.Fingerprint = Fingerprint{}
	carried := map[string]bool{}
	var faults []string
	var operations, viaRoot, schemas, filtered, whole bool
	var self, name, mark string
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&p.allTables, &operations, &viaRoot, &schemas, &self, &name, &mark, &filtered, &whole, &columns}, func() error {
		p.exists = true
		p.Fingerprint[""] = self
		if name == "" {
			return nil
		}
		p.Fingerprint[name], carried[name] = mark, true
		t := p.tables[name]
		switch {
		case t == nil:
			faults = append(faults, "it carries "+name)
		case filtered:
			faults = append(faults, "it filters the rows of "+name)
		case !whole && slices.ContainsFunc(t.watched, func(c string) bool { return !slices.Contains(columns, c) }):
			faults = append(faults, "it lacks columns of "+name)
		case whole != (t.columns == nil) || !whole && !slices.Equal(columns, t.columns):
			p.Misfits = append(p.Misfits, name)
			if !whole && (t.columns == nil || slices.ContainsFunc(t.columns, func(c string) bool { return !slices.Contains(columns, c) })) {
				p.Refused = append(p.Refused, name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		if !carried[name] {
			faults = append(faults, "it lacks "+name)
		}
	}
	switch {
	case !p.exists:
		faults = []string{"it is not there"}
	case p.allTables || schemas:
		faults = []string{"it carries all tables, or all of a schema"}
	case !operations:
		faults = append(faults, "it does not publish just "+publish)
	case !viaRoot:
		faults = append(faults, "it does not publish partitions under the name of their table")
	}
	p.Fault = strings.Join(faults, ", ")
	return nil
}

func quoteTable(table string) string {
	schema, name, _ := strings.Cut(table, ".")
	return pgx.Identifier{schema, name}.Sanitize()
}
