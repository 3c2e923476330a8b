// Package triggers embeds helixd's triggers and functions: idempotent SQL, one
// file a table, installed again at every migrate.
package triggers

import (
	"embed"
	"io/fs"
	"strings"
)

// Version names the file that an export writes. The Supabase CLI applies a
// version once, so every change of a file here needs a new one; a test says so.
const Version = "20261122001400"

//go:embed *.sql
var files embed.FS

// SQL gives all files, in the order of their names.
func SQL() string {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var b strings.Builder
	b.WriteString("set local lock_timeout = '2s';\n\n")
	for _, name := range names {
		sql, err := files.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		b.Write(sql)
		b.WriteByte('\n')
	}
	return b.String()
}
