// Package riverui serves River's own user interface: the jobs and queues of a project.
//
// The module's own Handler renders one page with html/template, which makes the linker
// keep every exported method in the program: 20 MB. So this puts the module's parts
// together: its files, its API, and that page.
package riverui

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/apiframe/apiendpoint"
	"github.com/riverqueue/apiframe/apitype"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivershared/baseservice"
	"riverqueue.com/riverui"
	"riverqueue.com/riverui/uiendpoints"
)

// New gives the interface at a prefix, such as "/river/", of the River in a schema. It
// is made when it is first asked for, asks the database only while somebody looks, and
// trusts whoever reaches it: they may cancel jobs and pause queues.
func New(prefix, schema string, pool *pgxpool.Pool, log *slog.Logger) http.Handler {
	prefix = strings.TrimSuffix(prefix, "/")
	made := sync.OnceValues(func() (http.Handler, error) { return newHandler(prefix, schema, pool, log) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := made()
		if err != nil {
			log.Error("River's interface cannot be shown", "error", err)
			http.Error(w, "River's interface cannot be shown; the log says why", http.StatusInternalServerError)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func newHandler(prefix, schema string, pool *pgxpool.Pool, log *slog.Logger) (http.Handler, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("make a River client: %w", err)
	}
	files, err := fs.Sub(riverui.FrontendIndex, "dist")
	if err != nil {
		return nil, fmt.Errorf("read its files: %w", err)
	}
	page, err := newPage(prefix, files)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	// Its endpoints have a service that counts jobs ahead, every 10 s for ever. It is
	// not started: counts are made when they are asked for.
	endpoints := riverui.NewEndpoints(client, nil)
	endpoints.Configure(&uiendpoints.BundleOpts{})
	endpoints.MountEndpoints(baseservice.NewArchetype(log), log, mux, &apiendpoint.MountOpts{Logger: log, Validator: apitype.NewValidator()})
	mux.HandleFunc("/api/", http.NotFound)
	static := http.FileServerFS(files)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "it takes GET", http.StatusMethodNotAllowed)
			return
		}
		// Whatever is no file is a view of the page.
		name := strings.TrimPrefix(r.URL.Path, "/")
		if info, err := fs.Stat(files, name); err == nil && !info.IsDir() && name != "index.html" {
			static.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	return http.StripPrefix(prefix, mux), nil
}

// newPage makes what the module's index.html is a template of.
func newPage(prefix string, files fs.FS) ([]byte, error) {
	raw, err := fs.ReadFile(files, ".vite/manifest.json")
	if err != nil {
		return nil, fmt.Errorf("read its manifest: %w", err)
	}
	var manifest map[string]struct {
		File string
		CSS  []string
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return nil, fmt.Errorf("read its manifest: %w", err)
	}
	entry := manifest["src/main.tsx"]
	if entry.File == "" || len(entry.CSS) == 0 {
		return nil, fmt.Errorf("its manifest has no src/main.tsx")
	}
	config, err := json.Marshal(map[string]string{"apiUrl": prefix + "/api", "base": prefix})
	if err != nil {
		return nil, err
	}
	base := html.EscapeString(prefix)
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en" class="h-full">
<head>
<meta charset="UTF-8">
<link rel="icon" href="%[1]s/icon.svg" type="image/svg+xml">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<title>River</title>
<script type="application/json" id="config__json">%[2]s</script>
<link rel="stylesheet" href="%[1]s/%[3]s">
<script type="module" src="%[1]s/%[4]s"></script>
</head>
<body class="h-full bg-white dark:bg-slate-900"><div id="root" class="h-full"></div></body>
</html>
`, base, config, html.EscapeString(entry.CSS[0]), html.EscapeString(entry.File)), nil
}
