//go:build ignore

// gen_river writes River's own migrations as one file for schema helix, so that
// the Supabase CLI can apply them too: go generate ./migrations
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

func main() {
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("-- River's tables in schema helix, generated from River's own migrations by\n" +
		"-- gen_river.go. Each version is applied once; the file may run again.\n\n")
	for _, m := range migrator.AllVersions() {
		sql := strings.TrimSpace(strings.ReplaceAll(m.SQLUp, "/* TEMPLATE: schema */", "helix."))
		if m.Version == 2 {
			// Version 4 adds this value and version 6 uses it, which before Postgres 17
			// cannot be in one transaction; as it is there already, 4 adds nothing.
			sql = strings.Replace(sql, "  'discarded',\n", "  'discarded',\n  'pending',\n", 1)
		}
		fmt.Fprintf(&b, "-- %d %s\ndo $do$\nbegin\n", m.Version, m.Name)
		// Before version 1 the table of versions is not there; version 5 adds its column line.
		fmt.Fprintf(&b, "  if to_regclass('helix.river_migration') is not null then\n"+
			"    if exists (select from helix.river_migration where version = %d) then\n"+
			"      return;\n    end if;\n  end if;\n", m.Version)
		fmt.Fprintf(&b, "  execute $river$\n%s\n  $river$;\n", sql)
		record := "(line, version) values ('main', %d)"
		if m.Version < 5 {
			record = "(version) values (%d)"
		}
		fmt.Fprintf(&b, "  insert into helix.river_migration "+record+";\nend $do$;\n\n", m.Version)
	}
	b.WriteString("revoke all on all tables in schema helix from public, anon, authenticated, service_role;\n" +
		"revoke all on all sequences in schema helix from public, anon, authenticated, service_role;\n" +
		"revoke all on all functions in schema helix from public, anon, authenticated, service_role;\n")
	if err := os.WriteFile("20261120000100_river.sql", []byte(b.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}
