package main

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/sql/triggers"
)

// schema is what apps see of schema public.
type schema struct {
	relations []relation
	functions []function
}

type relation struct {
	Name           string
	View           bool
	Inserts        bool // whether a user may
	Updates        bool
	columns        []column
	foreign        []foreignKey
	given, changed func(column string) bool // what a client may write
}

type column struct {
	Relation, Name, Type string
	Nullable, Defaulted  bool
}

type foreignKey struct {
	Relation, Name, Target string
	Columns, Targets       []string
	One                    bool
}

type function struct {
	Name     string
	Args     []string // the types of its arguments, then of the columns of its result
	Names    []string
	Modes    []string
	Defaults int // so many of the arguments, the last ones, have one
	Returns  string
}

// guard is what a call of helix.install_guard says of a table.
type guard struct {
	Tab                    string
	Fixed, Results, Opened []string
}

// record stands in for helix.install_guard, and keeps what it is told.
const record = `
create temporary table guards (tab text, fixed text[], results text[], opened text[]) on commit drop;
create or replace procedure helix.install_guard(tab text, fixed text[], client text[], results text[],
  required text[] default '{}', limits jsonb default '{}', rules text[] default '{}', transitions jsonb default '{}',
  finish text default '') language sql as $$
  insert into pg_temp.guards values (tab, fixed, results, array(select jsonb_object_keys(transitions)))
$$;`

func read(ctx context.Context, conn *pgx.Conn) (*schema, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // always: nothing here stays
	guards, err := guardsOf(ctx, tx)
	if err != nil {
		return nil, err
	}
	s := &schema{}
	if s.relations, err = rows[relation](ctx, tx, `select relname as name, relkind = 'v' as view,
			has_table_privilege('authenticated', oid, 'insert') as inserts, has_table_privilege('authenticated', oid, 'update') as updates
		from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') order by relname collate "C"`); err != nil {
		return nil, err
	}
	columns, err := rows[column](ctx, tx, `select attrelid::regclass::text as relation, attname as name,
			atttypid::regtype::text as type, not attnotnull as nullable, atthasdef or attidentity <> '' as defaulted
		from pg_attribute join pg_class c on c.oid = attrelid
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and attnum > 0 and not attisdropped
		order by attname collate "C"`)
	if err != nil {
		return nil, err
	}
	foreign, err := rows[foreignKey](ctx, tx, `
		select conrelid::regclass::text as relation, conname as name, confrelid::regclass::text as target,
			array(select attname::text from unnest(conkey) with ordinality k (n, i) join pg_attribute on attrelid = conrelid and attnum = n order by i) as columns,
			array(select attname::text from unnest(confkey) with ordinality k (n, i) join pg_attribute on attrelid = confrelid and attnum = n order by i) as targets,
			exists (select from pg_constraint u where u.conrelid = f.conrelid and u.contype in ('p', 'u') and u.conkey <@ f.conkey) as one
		from pg_constraint f join pg_class t on t.oid = confrelid
		where contype = 'f' and connamespace = 'public'::regnamespace and t.relnamespace = 'public'::regnamespace
		order by conname collate "C"`)
	if err != nil {
		return nil, err
	}
	for i := range s.relations {
		r := &s.relations[i]
		for _, c := range columns {
			if c.Relation == r.Name {
				r.columns = append(r.columns, c)
			}
		}
		for _, f := range foreign {
			if f.Relation == r.Name {
				r.foreign = append(r.foreign, f)
			}
		}
		g := guards[r.Name]
		r.given = func(column string) bool {
			return !slices.Contains(g.Results, column) || slices.Contains(g.Opened, column)
		}
		r.changed = func(column string) bool {
			return r.given(column) && column != "id" && column != "user_id" && !slices.Contains(g.Fixed, column)
		}
	}
	s.functions, err = rows[function](ctx, tx, `
		select proname as name, array(select format_type(t, null) from unnest(coalesce(proallargtypes, proargtypes::oid[])) with ordinality a (t, i) order by i) as args,
			coalesce(proargnames, '{}') as names, coalesce(proargmodes::text[], array_fill('i'::text, array[pronargs::int])) as modes,
			pronargdefaults::int as defaults, format_type(prorettype, null) as returns
		from pg_proc where pronamespace = 'public'::regnamespace order by proname collate "C"`)
	return s, err
}

// guardsOf asks the triggers themselves which columns are whose.
func guardsOf(ctx context.Context, tx pgx.Tx) (map[string]guard, error) {
	sql := strings.ReplaceAll(triggers.SQL(), "procedure helix.install_guard(tab", "procedure helix.install_guard_of_gen(tab")
	for _, statements := range []string{record, sql} {
		if _, err := tx.Conn().PgConn().Exec(ctx, statements).ReadAll(); err != nil {
			return nil, err
		}
	}
	// The guard of sync_conflicts is written by hand: a user sets resolution, and nothing else.
	told, err := rows[guard](ctx, tx, `select tab, fixed, results, opened from pg_temp.guards
		union all select 'sync_conflicts', '{}', array_agg(attname::text), '{}' from pg_attribute
			where attrelid = 'public.sync_conflicts'::regclass and attnum > 0 and attname <> 'resolution'`)
	guards := map[string]guard{}
	for _, g := range told {
		guards[g.Tab] = g
	}
	return guards, err
}

func rows[T any](ctx context.Context, tx pgx.Tx, sql string) ([]T, error) {
	found, err := tx.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByNameLax[T])
}
