package main

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

const (
	publication = "bench"
	baseSlot    = "bench_base" // never streamed from; each run gets a copy
)

// usersTable is what the drains read. Its statistics and its dead rows are of no
// interest, so autovacuum need not wake up for it in the middle of a run.
const usersTable = `
create table users (id bigint primary key, name text not null, created_on timestamptz not null default now())
	with (autovacuum_enabled = false);
alter table users replica identity full;
create publication ` + publication + ` for table users;
set synchronous_commit = off;`

const insertUser = "insert into users (id, name) values (i, 'user number ' || i)"

// load is a way in which rows came into the write-ahead log.
type load struct {
	name string
	rows int
	sql  string
	what string // for the table
}

func (b *bench) loads(scale int) []load {
	large, small := b.rows/scale, b.rows*3/10/scale
	return []load{
		{"large", large, fmt.Sprintf("insert into users (id, name) select i, 'user number ' || i from generate_series(1, %d) i", large),
			number(float64(large)) + " rows in one transaction"},
		{"small", small, fmt.Sprintf("do $$ begin for i in 1..%d loop %s; commit; end loop; end $$", small, insertUser),
			number(float64(small)) + " one-row transactions"},
	}
}

// loadUsers makes table and slot, then the rows, and gives the slot's position.
func loadUsers(ctx context.Context, conn *pgx.Conn, l load) (from replication.LSN, err error) {
	if _, err := conn.Exec(ctx, usersTable); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, "select lsn from pg_create_logical_replication_slot($1, 'pgoutput')", baseSlot).Scan(&from)
	if err != nil {
		return 0, err
	}
	_, err = conn.PgConn().Exec(ctx, l.sql).ReadAll() // simple protocol: the loop commits
	return from, err
}

// content is what a side has seen: how many rows, and a checksum over all their
// values in their order.
type content struct {
	Rows int    `json:"rows"`
	Sum  uint32 `json:"sum"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // in hardware: a few ns a value

// add takes a value in Postgres's text form.
func (c *content) add(value []byte) { c.Sum = crc32.Update(c.Sum, castagnoli, value) }

func (c content) String() string { return fmt.Sprintf("%d rows with checksum %08x", c.Rows, c.Sum) }

// usersContent is what every side should see.
func usersContent(ctx context.Context, conn *pgx.Conn) (c content, err error) {
	out := conn.PgConn().Exec(ctx, "select id, name, created_on from users order by id") // simple protocol: text
	for out.NextResult() {
		for rows := out.ResultReader(); rows.NextRow(); c.Rows++ {
			for _, value := range rows.Values() {
				c.add(value)
			}
		}
	}
	return c, out.Close()
}
