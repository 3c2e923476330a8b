package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/sandbox"
)

// Name is that of the reactor whose writes a skill's are.
const Name = "skills"

const statementTimeout = 5 * time.Second

// query reads in a transaction of its own, in a bounded time.
func (s *Services) query(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly, BeginQuery: "begin read only; " + bound}, f)
}

// write writes the table in a transaction of its own, marked as helixd's.
func (s *Services) write(ctx context.Context, table string, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: "begin; " + bound}, func(tx pgx.Tx) error {
		if err := reactors.Mark(ctx, tx, Name, table); err != nil {
			return err
		}
		return f(tx)
	})
}

var bound = fmt.Sprintf("set local statement_timeout = %d", statementTimeout.Milliseconds())

// read reads the request.
func (c *call) read(v any) error {
	d := json.NewDecoder(bytes.NewReader(c.request))
	d.DisallowUnknownFields() // what is misspelt would be left out in silence
	err := d.Decode(v)
	if err == nil {
		if _, rest := d.Token(); rest != io.EOF {
			err = errors.New("there is more after it")
		}
	}
	if err != nil {
		return sandbox.Errorf(InvalidRequest, "the request of %s is not as it must be: %.200s", c.event.Call, strings.ToValidUTF8(err.Error(), "�"))
	}
	return nil
}

// bounded reads a limit.
func bounded(limit *int, initial, most int) (int, error) {
	if limit == nil {
		return initial, nil
	}
	if *limit < 1 || *limit > most {
		return 0, sandbox.Errorf(InvalidRequest, "a limit is from 1 to %d", most)
	}
	return *limit, nil
}

// noNUL refuses the one character that Postgres has no place for.
func noNUL(text string) error {
	if strings.ContainsRune(text, 0) {
		return sandbox.Errorf(InvalidRequest, "text has no U+0000")
	}
	return nil
}
