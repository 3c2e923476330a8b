package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// deadLetter is one as it is printed.
type deadLetter struct {
	ID          int64           `json:"id"`
	Reactor     string          `json:"reactor"`
	Table       string          `json:"table"`
	Op          string          `json:"op"`
	Key         json.RawMessage `json:"key"`
	UserID      *string         `json:"user_id"`
	LSN         string          `json:"lsn"`
	Ordinal     int             `json:"ordinal"`
	Error       string          `json:"error"`
	Code        *string         `json:"code"`
	Attempts    int             `json:"attempts"`
	CommittedAt time.Time       `json:"committed_at"`
	CreatedAt   time.Time       `json:"created_at"`
	RetriedAt   *time.Time      `json:"retried_at"`
}

const letterColumns = "id, reactor, table_name, op, key, user_id::text, lsn::text, ordinal, error, sqlstate, attempts, committed_at, created_at, retried_at"

func scanLetter(row pgx.CollectableRow) (l deadLetter, err error) {
	return l, row.Scan(&l.ID, &l.Reactor, &l.Table, &l.Op, &l.Key, &l.UserID, &l.LSN, &l.Ordinal, &l.Error, &l.Code, &l.Attempts,
		&l.CommittedAt, &l.CreatedAt, &l.RetriedAt)
}

// letterCount is how many letters have one error.
type letterCount struct {
	Reactor string  `json:"reactor"`
	Table   string  `json:"table"`
	Code    *string `json:"code"`
	Error   string  `json:"error"`
	Count   int64   `json:"count"`
}

type letterList struct {
	Total   int64         `json:"total"`
	Counts  []letterCount `json:"counts"`
	Letters []deadLetter  `json:"letters"`
}

const maxLetterCounts = 50 // errors that quote values can be as many as letters

func (f *letterFilter) list(ctx context.Context, cfg *config, pool *pgxpool.Pool) (*letterList, error) {
	l := &letterList{Counts: []letterCount{}, Letters: []deadLetter{}}
	rows, err := pool.Query(ctx, fmt.Sprintf(`select reactor, table_name, sqlstate, error, count(*), sum(count(*)) over ()::bigint from helix.dead_letters
		where %s group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4 limit %d`, letterWhere, maxLetterCounts), f.args(cfg)...)
	if err != nil {
		return nil, databaseError(err)
	}
	var c letterCount
	if _, err := pgx.ForEachRow(rows, []any{&c.Reactor, &c.Table, &c.Code, &c.Error, &c.Count, &l.Total}, func() error {
		l.Counts = append(l.Counts, c)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("count the dead letters: %w", err)
	}
	rows, err = pool.Query(ctx, fmt.Sprintf("select %s from helix.dead_letters where %s order by id desc limit %d", letterColumns, letterWhere, f.limit), f.args(cfg)...)
	if err != nil {
		return nil, databaseError(err)
	}
	found, err := pgx.CollectRows(rows, scanLetter)
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	l.Letters = append(l.Letters, found...)
	return l, nil
}

func (l *letterList) write(out io.Writer) error {
	var b strings.Builder
	if l.Total == 0 {
		b.WriteString("There are no dead letters.\n")
		_, err := io.WriteString(out, b.String())
		return err
	}
	rows := [][]string{{"reactor", "table", "code", "error", "letters"}}
	for _, c := range l.Counts {
		rows = append(rows, []string{c.Reactor, c.Table, code(c.Code), brief(c.Error), number(c.Count)})
	}
	writeTable(&b, rows, 4)
	if len(l.Letters) > 0 {
		fmt.Fprintf(&b, "\nThe newest of %d:\n", l.Total)
		rows = [][]string{{"id", "made", "reactor", "table", "op", "key", "code", "attempts"}}
		for _, d := range l.Letters {
			rows = append(rows, []string{number(d.ID), d.CreatedAt.UTC().Format("2006-01-02 15:04:05"), d.Reactor, d.Table, d.Op,
				brief(string(d.Key)), code(d.Code), strconv.Itoa(d.Attempts)})
		}
		writeTable(&b, rows, 7)
		b.WriteString("\nhelixd dlq show ID says more, and what to do.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func code(c *string) string {
	if c == nil {
		return "none"
	}
	return *c
}

// brief is a text on one line, and not too long a one.
func brief(s string) string {
	r := []rune(printable(s))
	if len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return string(r)
}
