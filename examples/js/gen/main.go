// Command gen prints database.types.ts: what `supabase gen types typescript` says
// of helixd's schema, except that Insert and Update leave out what a client may
// not write. It reads them from a throwaway database that it migrates, or from
// the one whose URL it is given, in a transaction that it rolls back.
//
//	go run ./examples/js/gen > examples/js/database.types.ts
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

func main() {
	url := ""
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if err := run(context.Background(), url, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string, out io.Writer) error {
	if url == "" {
		cluster, err := testenv.Start(ctx, testenv.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = cluster.Stop() }() // it is thrown away
		db, err := cluster.NewDatabase(ctx, "types")
		if err != nil {
			return err
		}
		url = db.URL("postgres")
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	if err := migrations.Up(ctx, conn, func(migrations.Migration) {}); err != nil {
		return err
	}
	s, err := read(ctx, conn)
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	_, err = io.WriteString(out, s.typescript())
	return err
}
