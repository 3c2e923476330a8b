// Package web_test drives the page in headless Chromium, as a person does.
package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/asr"
	"github.com/helixd/helixd/testenv/speech"
	"github.com/helixd/helixd/testenv/supabasejs"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// TestPage: in a stack that HELIX_E2E_SUPABASE_URL names, else with supabase-lite
// over the test Postgres. There is no Realtime there: each result that the page
// shows has a broadcast in realtime.messages instead. Screenshots are left under
// .helix/artifacts/web.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser, and servers of its own")
	}
	program := supabasejs.Node(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		supabasejs.Missing(t, "there is no chromium (on Debian and Ubuntu as root: testenv/voice.sh)")
	}
	speech.Need(t, "flite", "ffmpeg")
	dir := folder(t)
	stack := supabasejs.StartStack(t, "HELIX_VOICE_PROVIDER=openai", "HELIX_VOICE_URL="+asr.Start(t), "DEEPGRAM_API_KEY=")
	page := serve(t, filepath.Join(dir, "web", "dist"), stack.Project)
	project := stack.Project
	if stack.Helixd != nil {
		project.URL = page
	}
	build(t, dir, program, project)
	said := speech.Sentences[1]
	b := open(t, page, microphone(t, said))

	b.see("form#sign-in")
	b.shoot("1-sign-in")
	email := uuid.NewString() + "@example.com"
	b.fill("[name=email]", email)
	b.fill("[name=password]", "a password of a test")
	b.click("button[value=up]")
	b.see("main")
	user := one[string](t, stack.DB, "select id::text from auth.users where email = $1", email)
	if unnamed := b.evaluate(`[...document.querySelectorAll('input, textarea, button')]
		.filter((e) => !e.labels?.length && !e.ariaLabel && !e.textContent.trim()).map((e) => e.outerHTML).join()`); unnamed != "" {
		t.Errorf("controls without a name: %s", unnamed)
	}
	if stack.Realtime {
		b.until("results come by broadcast", `document.querySelector('#via').textContent === 'broadcast'`)
	}
	b.until("no banner is there", `document.querySelector('#banner').hidden`)

	step := func(name string, act func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			b.t = t
			act(t)
		})
		b.t = t
	}
	step("memories become patterns", func(t *testing.T) {
		b.fill("[name=content]", strings.Repeat("Walked along the river with Ada.\n", 6))
		b.click("#remember button")
		b.until("there is a pattern", `document.querySelector('#patterns li')`)
		b.shoot("2-memories")
	})
	step("what the microphone hears becomes text", func(t *testing.T) {
		b.click("#record")
		b.until("all is said", `parseInt(document.querySelector('#record').textContent.match(/\d+/)) >= 9`)
		b.click("#record")
		b.until("it is transcribed", `document.querySelector('#recordings li[data-status=done]')`)
		heard := b.evaluate(`document.querySelector('#recordings li').firstChild.textContent`)
		if score := speech.Compare(said, heard); score.Accuracy() < 0.7 {
			t.Errorf("%q was heard as %q", said, heard)
		}
		b.shoot("3-voice")
	})
	step("a skill runs", func(t *testing.T) {
		b.click("#skill button")
		b.until("it has run", `document.querySelector('#runs li[data-status=succeeded]')?.textContent.startsWith('"Hello, Ada"')`)
		b.fill("[name=source]", "export default () => { throw new Error('no') }")
		b.click("#skill button")
		b.until("its error is shown", `document.querySelector('#runs li[data-ended=bad]')?.textContent.includes('(exception)')`)
		b.shoot("4-skill")
	})
	step("conversations are analysed", func(t *testing.T) {
		b.fill("[name=texts]", "Whenever my manager calls me in without a word of why, I get terribly anxious.\n"+
			"My manager asked me into her office again and I was anxious all the way down the corridor.")
		b.click("#analysis button")
		b.until("a pattern cites a line", `document.querySelector('#analyses li[data-table=memory_patterns]')?.textContent.includes('line 1')`)
		b.shoot("5-analysis")
	})
	step("two devices edit a note, and their user decides", func(t *testing.T) {
		edit := func(device, text string) {
			b.fill("#"+device+" textarea", text)
			b.click("#" + device + " button")
		}
		shows := func(device, text string) {
			b.until(device+" shows it", `document.querySelector('#`+device+` textarea').value === '`+text+`'`)
		}
		edit("phone", "Buy milk")
		shows("laptop", "Buy milk")
		b.click("#laptop input")
		edit("laptop", "Buy bread")
		edit("phone", "Buy oat milk")
		b.until("the phone's is resolved", `document.querySelector('#phone .state').dataset.revision === '2'`)
		b.click("#laptop input")
		b.until("there is a conflict", `document.querySelector('#conflicts li[data-status=open]')`)
		b.shoot("6-conflict")
		b.evaluate(`[...document.querySelectorAll('#conflicts button')].find((button) => button.textContent.includes('oat')).click()`)
		shows("phone", "Buy oat milk")
		shows("laptop", "Buy oat milk")
		b.until("it is closed", `document.querySelector('#conflicts li[data-status=resolved]') && !document.querySelector('#conflicts li[data-status=open]')`)
		b.shoot("7-decided")
	})
	step("each result has a broadcast to this user", func(*testing.T) { b.compare(stack, user, dir, program) })

	if failure := b.evaluate(`document.querySelector('#failure').hidden ? '' : document.querySelector('#failure').textContent`); failure != "" {
		t.Errorf("the page shows %q", failure)
	}
	if stack.Helixd == nil {
		return // whose it is, is not to be killed
	}
	step("processing is offline", func(t *testing.T) {
		stack.Helixd.Kill()
		b.until("the page says so", `document.querySelector('#banner').textContent.startsWith('Processing is offline')`)
		b.shoot("8-offline")
	})
}

// folder has the page and the helper, which find their packages.
func folder(t *testing.T) string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"js/*.ts", "js/*.json", "js/test/accepts.ts", "web/*.html", "web/*.json", "web/src/*"} {
		found, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			names = append(names, strings.TrimPrefix(name, "../"))
		}
	}
	return supabasejs.Folder(t, "..", supabasejs.Packages(t, "examples"), names...)
}

// build does what `npm run build` does, for one project.
func build(t *testing.T, dir, node string, project supabasejs.Project) {
	t.Helper()
	for _, args := range [][]string{
		{"../node_modules/typescript/bin/tsc", "--noEmit"},
		{"../node_modules/vite/bin/vite.js", "build"},
	} {
		cmd := exec.CommandContext(t.Context(), node, args...)
		cmd.Dir = filepath.Join(dir, "web")
		cmd.Env = append(os.Environ(), "VITE_SUPABASE_URL="+project.URL, "VITE_SUPABASE_ANON_KEY="+project.Key)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}
