package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

const (
	publication = "bench"
	baseSlot    = "bench_base" // never streamed from; each run gets a copy
)

// workload is a way in which changes come into the write-ahead log.
type workload struct {
	name    string // of its databases
	what    string // for the table
	table   string // that is published
	schema  string
	load    string // SQL
	changes int    // that it publishes
	rows    int    // that rates count: the changes, or more where most are not published
}

// The statistics and dead rows of the tables are of no interest, so autovacuum
// need not wake up for them in the middle of a run.
const (
	usersTable = `create table users (id bigint primary key, name text not null, created_on timestamptz not null default now())
	with (autovacuum_enabled = false);`

	// logTable is what a busy neighbour writes, which nobody has published.
	logTable = `create table log (id bigint primary key, line text not null) with (autovacuum_enabled = false);`

	wideTable = `create table wide (id bigint primary key, user_id uuid not null, device text not null, kind text not null,
	title text, body text not null, tags text[] not null, props jsonb not null, score double precision,
	price numeric(12,4), revision int not null, deleted boolean not null, starts_on date, seen_at timestamptz,
	created_on timestamptz not null, updated_on timestamptz not null) with (autovacuum_enabled = false);`

	insertUser = "insert into users (id, name) values (i, 'user number ' || i)"

	// inMemory spares the walsenders of all sides the spill files of a large transaction.
	inMemory = `do $$ begin execute format('alter database %I set logical_decoding_work_mem = %L', current_database(), '1GB'); end $$;`

	// insertWide has the first and the last id.
	insertWide = `insert into wide select i, md5(i::text)::uuid, 'phone ' || mod(i, 5), 'note', 'title of ' || i,
		repeat(md5(i::text) || ' ', 10), array['first', 'tag ' || i], jsonb_build_object('colour', 'blue', 'size', i),
		i * 0.1::float8, i / 7.0, 1, false, date '2026-01-01' + mod(i, 365), case when mod(i, 3) = 0 then now() end, now(), now()
		from generate_series(%s, %s) i;`
)

// workloads are the four, divided by scale. Each is of whole rounds, so that the
// last change is published and ends a drain.
func (b *bench) workloads(scale int) []workload {
	large, small := b.rows/scale, b.rows*3/10/scale
	const (
		every = 1000 // rows of the busy table, one is published
		first = 1000 // wide rows, that changes are then made to
		round = 100  // changes of a transaction
	)
	rounds := max(1, b.rows*2/10/scale/round)
	busy := max(1, small/every)
	return []workload{
		{"large", number(float64(large)) + " rows in one transaction", "users", usersTable,
			fmt.Sprintf("insert into users (id, name) select i, 'user number ' || i from generate_series(1, %d) i", large),
			large, large},
		{"small", number(float64(small)) + " one-row transactions", "users", usersTable,
			fmt.Sprintf("do $$ begin for i in 1..%d loop %s; commit; end loop; end $$", small, insertUser),
			small, small},
		{"mixed", number(float64(first+rounds*round)) + " wide changes, 70/20/10", "wide", wideTable,
			fmt.Sprintf("do $$ begin "+fmt.Sprintf(insertWide, "1", "%[1]d")+` commit;
			for t in 0..%[2]d loop
				`+fmt.Sprintf(insertWide, "%[1]d + t * 70 + 1", "%[1]d + t * 70 + 70")+`
				update wide set title = 'again ' || id, revision = revision + 1, props = props || '{"colour": "red"}', updated_on = now()
					where id between t * 70 + 1 and t * 70 + 20;
				delete from wide where id between t * 70 + 61 and t * 70 + 70;
				commit;
			end loop; end $$`, first, rounds-1),
			first + rounds*round, first + rounds*round},
		{"idle", number(float64(busy*every)) + " rows of others, each 1,000th published", "users", usersTable + logTable,
			fmt.Sprintf(`do $$ begin for i in 1..%d loop
				for j in 1..%d loop insert into log values (i * 1000 + j, 'line ' || j); commit; end loop;
				%s; commit;
			end loop; end $$`, busy, every, insertUser),
			busy, busy * every},
	}
}

// prepare makes table and slot, then the changes, and gives the slot's position.
func (w workload) prepare(ctx context.Context, conn *pgx.Conn) (from replication.LSN, err error) {
	_, err = conn.Exec(ctx, w.schema+`
		alter table `+w.table+` replica identity full;
		create publication `+publication+` for table `+w.table+`;
		set synchronous_commit = off;`)
	if err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, "select lsn from pg_create_logical_replication_slot($1, 'pgoutput')", baseSlot).Scan(&from)
	if err != nil {
		return 0, err
	}
	_, err = conn.PgConn().Exec(ctx, w.load).ReadAll() // simple protocol: the loops commit
	return from, err
}
