package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv/module"
	"github.com/helixd/helixd/testenv/speech"
	"github.com/helixd/helixd/testenv/supabasejs"
)

// patience is how long a test waits for what must happen.
const patience = 90 * time.Second

// browser is Chromium with the page.
type browser struct {
	t    *testing.T
	ctx  context.Context
	shot string // where screenshots go
}

// serve gives the address of the page in dir. At the same address are Auth and the
// Data API of a project that browsers may not ask from another one: supabase-lite's
// answers lack the headers for it.
func serve(t *testing.T, dir string, project supabasejs.Project) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0") // which browsers trust with a microphone
	if err != nil {
		t.Fatal(err)
	}
	behind, err := url.Parse(project.URL)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.Handle("/auth/v1/", httputil.NewSingleHostReverseProxy(behind))
	mux.Handle("/rest/v1/", httputil.NewSingleHostReverseProxy(behind))
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }() // until Close
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// microphone makes the recording that stands in for one.
func microphone(t *testing.T, text string) string {
	t.Helper()
	spoken, path := filepath.Join(t.TempDir(), "spoken.wav"), filepath.Join(t.TempDir(), "microphone.wav")
	if err := speech.Say(t.Context(), speech.SLT, text, spoken); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-i", spoken, "-ar", "48000",
		"-af", "adelay=1000,apad=pad_dur=10", path).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return path
}

// open starts Chromium on a page.
func open(t *testing.T, page, microphone string) *browser {
	t.Helper()
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, shot: filepath.Join(root, ".helix", "artifacts", "web")}
	if err := os.MkdirAll(b.shot, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 1400), chromedp.WSURLReadTimeout(time.Minute), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("use-file-for-fake-audio-capture", microphone+"%noloop"))
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b.ctx = ctx
	t.Cleanup(func() {
		if t.Failed() {
			b.shoot("failed")
		}
		cancel()
		cancelAllocator()
	})
	b.run("open the page", chromedp.Navigate(page))
	return b
}

func (b *browser) run(what string, actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if b.ctx.Value(started{}) == nil {
		b.ctx = context.WithValue(b.ctx, started{}, true)
		ctx = b.ctx // the browser lives as long as the context of the first run
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

type started struct{}

func (b *browser) see(selector string) {
	b.t.Helper()
	b.run("see "+selector, chromedp.WaitVisible(selector, chromedp.ByQuery))
}

// click clicks what is enabled. The element itself is told: a mouse would miss it
// where a result comes in above and moves it.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.run("click "+selector, chromedp.WaitEnabled(selector, chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('`+selector+`').click()`, nil))
}

// fill types over what a field has.
func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.run("fill "+selector, chromedp.Evaluate(`document.querySelector('`+selector+`').select()`, nil), chromedp.SendKeys(selector, text, chromedp.ByQuery))
}

func (b *browser) evaluate(script string) string {
	b.t.Helper()
	var value string
	b.run(script, chromedp.Evaluate(`String((`+script+`) ?? '')`, &value))
	return value
}

// until waits until a script gives something.
func (b *browser) until(what, script string) {
	b.t.Helper()
	var is bool
	defer func() {
		if !is {
			b.t.Logf("the page shows: %s", b.evaluate("document.body.innerText"))
		}
	}()
	b.run(what, chromedp.Poll(`!!(`+script+`)`, &is, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

func (b *browser) shoot(name string) {
	b.t.Helper()
	var png []byte
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.FullScreenshot(&png, 100))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.shot, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Errorf("screenshot %s: %v", name, err)
	}
}

// shown is a result on the page.
type shown struct{ Table, ID, Status, Via string }

// compare holds that each result on the page was broadcast on the user's own
// topic, as the helper's own parser reads it, and that its table is published.
func (b *browser) compare(stack supabasejs.Stack, user, dir, node string) {
	t := b.t
	t.Helper()
	var results []shown
	if err := json.Unmarshal([]byte(b.evaluate(`JSON.stringify([...document.querySelectorAll('.results li:not([data-ended=""])')].map((li) => (
		{ table: li.dataset.table, id: li.dataset.id, status: li.dataset.status, via: li.dataset.via })))`)), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) < 7 {
		t.Fatalf("the page shows only %v", results)
	}
	lines := all[string](t, stack.DB, `select json_build_object('event', event, 'payload', payload)::text from realtime.messages
		where topic = 'helix:' || $1::text and private and extension = 'broadcast' order by inserted_at`, user)
	cmd := exec.CommandContext(t.Context(), node, "--import", "tsx", "js/test/accepts.ts")
	cmd.Dir = dir
	input := &bytes.Buffer{}
	for _, line := range lines {
		fmt.Fprintln(input, line)
	}
	cmd.Stdin, cmd.Stderr = input, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	accepted, told := 0, map[string]bool{} // by table, id and status; or by table, of many rows
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); accepted++ {
		var m struct {
			Table, ID, Status string
			Rows              int
		}
		if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		told[m.Table+m.ID+m.Status] = true
	}
	if accepted != len(lines) {
		t.Errorf("the helper accepts %d of %d broadcasts: %v", accepted, len(lines), lines)
	}
	for _, r := range results {
		status := r.Status
		if r.Table == "sync_conflicts" {
			status = "" // the page's own word
		}
		if !told[r.Table+r.ID+status] && !told[r.Table] {
			t.Errorf("no broadcast told of %+v", r)
		}
		if stack.Realtime && r.Via != "broadcast" {
			t.Errorf("%+v did not come by broadcast", r)
		}
		if one[int](t, stack.DB, "select count(*) from pg_publication_tables where pubname = 'supabase_realtime' and tablename = $1", r.Table) != 1 {
			t.Errorf("%s is not published", r.Table)
		}
	}
	t.Logf("%d results on the page, %d broadcasts", len(results), len(lines))
}

func one[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	values := all[T](t, conn, sql, args...)
	if len(values) != 1 {
		t.Fatalf("%s gives %d rows", sql, len(values))
	}
	return values[0]
}

func all[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return values
}
