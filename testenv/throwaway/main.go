// Command throwaway starts a Supabase-shaped Postgres, prints how role postgres
// reaches it, and throws it away when it is told to end.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/helixd/helixd/testenv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "throwaway:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	c, err := testenv.Start(ctx, testenv.Options{Fsync: true})
	if err != nil {
		return err
	}
	defer c.Stop() //nolint:errcheck // the process ends
	db, err := c.NewDatabase(ctx, "project")
	if err != nil {
		return err
	}
	fmt.Println(db.URL("postgres"))
	<-ctx.Done()
	return nil
}
