package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication/stream"
)

// dependents are the objects outside of schema helix that would go with it, by what
// the catalogs say, with the SQL that drops each of them alone, "" where it is not
// helixd's to drop. Internal triggers go with their foreign keys.
const dependents = `with recursive gone as (
		select 'pg_namespace'::regclass::oid as classid, to_regnamespace('helix')::oid as objid, 0 as objsubid
		union
		select d.classid, d.objid, d.objsubid from pg_depend d join gone g on d.refclassid = g.classid and d.refobjid = g.objid
			and (g.objsubid = 0 or d.refobjsubid = g.objsubid) where d.deptype in ('n', 'a', 'i', 'P', 'S', 'e')),
	outside as (select 1 as ord, format('trigger %I on %s', t.tgname, t.tgrelid::regclass) as what,
			format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass) as sql, c.relnamespace as space, t.tgrelid::regclass::text as rel
		from gone g join pg_trigger t on g.classid = 'pg_trigger'::regclass and t.oid = g.objid join pg_class c on c.oid = t.tgrelid
		where not t.tgisinternal
	union all
		select 2, format('the default of %s.%I', d.adrelid::regclass, a.attname),
			format('alter table %s alter column %I drop %s', d.adrelid::regclass, a.attname, case a.attgenerated when '' then 'default' else 'expression' end),
			c.relnamespace, d.adrelid::regclass::text
		from gone g join pg_attrdef d on g.classid = 'pg_attrdef'::regclass and d.oid = g.objid
			join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum join pg_class c on c.oid = d.adrelid
	union all
		select 3, format('constraint %I on %s', k.conname, k.conrelid::regclass), format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname),
			c.relnamespace, k.conrelid::regclass::text
		from gone g join pg_constraint k on g.classid = 'pg_constraint'::regclass and k.oid = g.objid join pg_class c on c.oid = k.conrelid
	union all
		select 4, format('index %s', c.oid::regclass), '', c.relnamespace, c.oid::regclass::text
		from gone g join pg_class c on g.classid = 'pg_class'::regclass and c.oid = g.objid and g.objsubid = 0 and c.relkind = 'i'
	union all
		select 5, format('policy %I on %s', p.polname, p.polrelid::regclass), '', c.relnamespace, p.polrelid::regclass::text
		from gone g join pg_policy p on g.classid = 'pg_policy'::regclass and p.oid = g.objid join pg_class c on c.oid = p.polrelid
	union all
		select 6, format('view %s', c.oid::regclass), '', c.relnamespace, c.oid::regclass::text
		from gone g join pg_rewrite w on g.classid = 'pg_rewrite'::regclass and w.oid = g.objid join pg_class c on c.oid = w.ev_class
	union all
		select 7, format('function %s', p.oid::regprocedure), '', p.pronamespace, p.oid::regprocedure::text
		from gone g join pg_proc p on g.classid = 'pg_proc'::regclass and p.oid = g.objid
	union all
		select 8, format('column %s.%I', a.attrelid::regclass, a.attname), '', c.relnamespace, c.oid::regclass::text
		from gone g join pg_attribute a on g.classid = 'pg_class'::regclass and a.attrelid = g.objid and a.attnum = g.objsubid and g.objsubid > 0
			join pg_class c on c.oid = a.attrelid
	union all
		select 9, format('table %s', c.oid::regclass), '', c.relnamespace, c.oid::regclass::text
		from gone g join pg_class c on g.classid = 'pg_class'::regclass and c.oid = g.objid and g.objsubid = 0 and c.relkind not in ('i', 't', 'I')
	)
	select what, sql, rel from outside where space <> all (array['helix'::regnamespace::oid, 'pg_toast'::regnamespace::oid]) order by ord, what`

// planUninstall gives what is to be run, by what is there.
func planUninstall(ctx context.Context, conn *pgx.Conn, cfg *config) (steps []step, err error) {
	there, err := get1[bool](ctx, conn, "select to_regnamespace('helix') is not null")
	if err != nil {
		return nil, databaseError(err)
	}
	// First of all, since the server refuses it where something of the app's uses one.
	ours, err := ownObjects(ctx, conn)
	if err != nil {
		return nil, err
	}
	if len(ours) > 0 {
		steps = append(steps, step{what: "drop helixd's views and functions", sql: ours})
	}
	slots := []string{cfg.slot}
	if recorded, err := get1[bool](ctx, conn, "select to_regclass('helix.checkpoints') is not null"); err != nil {
		return nil, databaseError(err)
	} else if recorded {
		more, err := texts(ctx, conn, "select slot from helix.checkpoints")
		if err != nil {
			return nil, err
		}
		slots = append(slots, more...)
	}
	// What streams from a slot is ended first, which is a helixd only with --force.
	found, err := texts(ctx, conn, `select format('select pg_terminate_backend(active_pid, 5000) from pg_replication_slots where slot_name = %1$L and active; select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = %1$L', slot_name)
		from pg_replication_slots where slot_name = any ($1) and plugin = 'pgoutput' and database = current_database() order by 1`, slots)
	if err != nil {
		return nil, err
	}
	for _, sql := range found {
		steps = append(steps, step{what: "drop the slot", sql: strings.Split(sql, "; "), alone: true})
	}
	found, err = texts(ctx, conn, `select format('drop publication %I', pubname) from pg_publication p where pubname = $1
			and (exists (select from pg_publication_rel r where r.prpubid = p.oid and r.prrelid = to_regclass('helix.inbox'))
				or to_regnamespace('helix') is null)`, cfg.publication)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		steps = append(steps, step{what: "drop the publication", sql: found})
	}
	found, err = texts(ctx, conn, `select format('drop policy %I on realtime.messages', polname) from pg_policy
		where polrelid = to_regclass('realtime.messages') and polname = any ($1) order by 1`, reactors.PolicyNames)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		steps = append(steps, step{what: "drop the policies on realtime.messages", sql: found, optional: true})
	}
	if !there {
		return steps, nil
	}
	more, err := planSchema(ctx, conn, ours)
	return append(steps, more...), err
}

// planSchema gives what drops schema helix: first what depends on it, each table's in
// a transaction; then its foreign keys, each of which locks the table that it points
// at, auth.users as a rule; then the rest, which locks nothing of the app's.
func planSchema(ctx context.Context, conn *pgx.Conn, ours []string) (steps []step, err error) {
	rows, err := conn.Query(ctx, dependents)
	if err != nil {
		return nil, databaseError(err)
	}
	var what, sql, rel string
	byTable := map[string]int{}
	var foreign []string
	_, err = pgx.ForEachRow(rows, []any{&what, &sql, &rel}, func() error {
		if sql == "" {
			if !dropped(ours, what) {
				foreign = append(foreign, what)
			}
			return nil
		}
		i, ok := byTable[rel]
		if !ok {
			i = len(steps)
			byTable[rel] = i
			steps = append(steps, step{what: "drop what is helixd's on " + rel})
		}
		steps[i].sql = append(steps[i].sql, sql)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find what depends on schema helix: %w", err)
	}
	if len(foreign) > 0 {
		return nil, dependsOnHelix(foreign)
	}
	keys, err := texts(ctx, conn, `select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint
		where contype = 'f' and connamespace = 'helix'::regnamespace and conparentid = 0 order by 1`)
	if err != nil {
		return nil, err
	}
	for _, sql := range keys {
		steps = append(steps, step{what: "drop a foreign key of schema helix", sql: []string{sql}})
	}
	return append(steps, step{what: "drop schema helix", sql: []string{"drop schema helix cascade"}, check: func(ctx context.Context, tx pgx.Tx) error {
		left, err := texts(ctx, tx.Conn(), "select what from ("+dependents+") as d")
		if err == nil && len(left) > 0 {
			err = dependsOnHelix(left)
		}
		return err
	}}), nil
}

func dependsOnHelix(what []string) error {
	return &stream.SetupError{Problem: "this is not helixd's, and uses schema helix: " + strings.Join(what, ", "),
		Hint: "Drop or alter it, then run this again: nothing of yours is dropped for you."}
}

// dropped reports whether one of the statements drops what is named "view public.v".
func dropped(statements []string, what string) bool {
	for _, sql := range statements {
		if strings.TrimPrefix(sql, "drop ") == what {
			return true
		}
	}
	return false
}

// ownObjects gives what drops the views and functions in public that helixd made. The
// migrations name each, and give each a comment: a function of the app's own with the
// same name has another one, or none.
func ownObjects(ctx context.Context, conn *pgx.Conn) (drops []string, err error) {
	var all strings.Builder
	for _, m := range migrations.All() {
		all.WriteString(m.SQL)
	}
	rows, err := conn.Query(ctx, `select 'function ' || p.oid::regprocedure, p.proname, obj_description(p.oid, 'pg_proc') from pg_proc p where p.pronamespace = 'public'::regnamespace
			and obj_description(p.oid, 'pg_proc') is not null
		union all select 'view ' || c.oid::regclass, c.relname, obj_description(c.oid, 'pg_class') from pg_class c
			where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and obj_description(c.oid, 'pg_class') is not null order by 1`)
	if err != nil {
		return nil, databaseError(err)
	}
	var what, name, comment string
	_, err = pgx.ForEachRow(rows, []any{&what, &name, &comment}, func() error {
		if strings.Contains(all.String(), " public."+name) && strings.Contains(all.String(), "'"+strings.ReplaceAll(comment, "'", "''")+"'") {
			drops = append(drops, "drop "+what)
		}
		return nil
	})
	return drops, err
}

func texts(ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]string, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, databaseError(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, databaseError(err)
	}
	return found, nil
}
