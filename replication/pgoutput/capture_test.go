package pgoutput_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/replication/pgoutput"
)

var updateWant = flag.Bool("update", false, "write the captures' want.txt from what is decoded now")

// TestCapture decodes what a real server sent (see testdata/capture). However
// the changes are taken, together they read as want.txt does.
func TestCapture(t *testing.T) {
	for _, dir := range captureDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			msgs := frames(readFile(t, filepath.Join(dir, "frames")))
			whole := renderCapture(t, msgs, 0)
			want := filepath.Join(dir, "want.txt")
			if *updateWant {
				if err := os.WriteFile(want, []byte(short(whole)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := short(whole); got != string(readFile(t, want)) {
				t.Errorf("differs from %s; decoded:\n%s", want, got)
			}
			for _, every := range []int{1, 2, 7, 1000} {
				if got := renderCapture(t, msgs, every); got != whole {
					t.Errorf("taken every %d messages, it reads:\n%s", every, short(got))
				}
			}
		})
	}
}

// renderCapture takes a batch every so many messages, or only at the end.
func renderCapture(t *testing.T, msgs [][]byte, every int) string {
	t.Helper()
	var r renderer
	a := pgoutput.NewAssembler(0)
	take := func() {
		if b := a.Take(); b != nil {
			if err := r.batch(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	buf := []byte(nil)
	for i, m := range msgs {
		buf = append(buf[:0], m...)
		add(t, a, buf)
		clear(buf) // what is kept must be a copy
		if every > 0 && i%every == every-1 {
			take()
		}
	}
	take()
	if a.InTransaction() || r.open || a.Len() != 0 || a.Bytes() != 0 {
		t.Fatalf("something is left: %d changes", a.Len())
	}
	return "messages" + kinds(msgs) + "\n" + r.out.String()
}

// kinds lists the messages as "Begin Insert×3 Commit".
func kinds(msgs [][]byte) string {
	var out strings.Builder
	for i := 0; i < len(msgs); {
		n := i + 1
		for n < len(msgs) && msgs[n][0] == msgs[i][0] {
			n++
		}
		fmt.Fprintf(&out, " %s", pgoutput.Kind(msgs[i][0]))
		if n-i > 1 {
			fmt.Fprintf(&out, "×%d", n-i)
		}
		i = n
	}
	return out.String()
}
