package testenv

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

// supabaseSQL gives a bare Postgres the shape of a Supabase project: the first file its roles, the others one
// database.
//
//go:embed supabase/*.sql
var supabaseSQL embed.FS

const (
	// maintenanceDatabase exists on every server; nothing is stored there.
	maintenanceDatabase = "postgres"
	// templateDatabase is what databases are copied from.
	templateDatabase = "helix_template"
)

// loginRoles share the cluster's password.
var loginRoles = []string{"postgres", "authenticator", "supabase_auth_admin", "supabase_storage_admin"}

// makeTemplate makes the database that all others are copied from, unless a kept cluster has it.
func (c *Cluster) makeTemplate(ctx context.Context, conn *pgx.Conn) error {
	files, err := fs.Glob(supabaseSQL, "supabase/*.sql") // sorted
	if err != nil {
		return err
	}
	if err := runFile(ctx, conn, files[0]); err != nil {
		return err
	}
	for _, role := range loginRoles {
		if _, err := conn.Exec(ctx, fmt.Sprintf("alter role %s password '%s'", role, c.server.password())); err != nil {
			return err
		}
	}
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", templateDatabase).Scan(&exists); err != nil || exists {
		return err
	}
	// Built under another name: one that was left half-done is never taken for the template.
	const unfinished = templateDatabase + "_unfinished"
	for _, sql := range []string{
		"drop database if exists " + unfinished,
		"create database " + unfinished + " template template0 owner postgres",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := c.shape(ctx, unfinished, files[1:]); err != nil {
		return err
	}
	// Without connections, copying it never fails with "source database is being accessed by other users".
	for _, sql := range []string{
		"alter database " + unfinished + " allow_connections false",
		"alter database " + unfinished + " rename to " + templateDatabase,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// shape runs files in database.
func (c *Cluster) shape(ctx context.Context, database string, files []string) error {
	conn, err := c.connectAdmin(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, name := range files {
		if err := runFile(ctx, conn, name); err != nil {
			return err
		}
	}
	return nil
}

func runFile(ctx context.Context, conn *pgx.Conn, name string) error {
	sql, err := fs.ReadFile(supabaseSQL, name)
	if err != nil {
		return err
	}
	// A role's own settings apply at login, and a role that was just made has none.
	if _, err := conn.Exec(ctx, "set search_path to public; "+string(sql)); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(name, "supabase/"), err)
	}
	return nil
}
