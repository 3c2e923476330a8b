package javascript

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzSnapshotIsDecodedWithinItsBounds(f *testing.F) {
	snap := &snapshot{Pages: 2, Stack: 65536, image: bytes.Repeat([]byte{0, 1}, 32768)}
	clear(snap.image[unit : 3*unit])
	whole := snap.encode()
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Fuzz(func(t *testing.T, content []byte) {
		// Behind the version, which no mutation would keep.
		copy(content, version[:])
		// And with few pages, for speed.
		if at := len(version); len(content) > at+4 {
			clear(content[at+1 : at+4])
		}
		decoded, err := decodeSnapshot(content)
		if err != nil {
			return
		}
		if decoded.Pages > mostPages || uint64(decoded.Stack)+uint64(len(decoded.image)) != uint64(decoded.Pages)<<16 {
			t.Errorf("%d pages, a stack of %d and %d bytes", decoded.Pages, decoded.Stack, len(decoded.image))
		}
		again, err := decodeSnapshot(decoded.encode())
		if err != nil || !bytes.Equal(again.image, decoded.image) {
			t.Errorf("encoded and decoded again it is another: %v", err)
		}
	})
}

func FuzzWarningsNameWhatIsThere(f *testing.F) {
	for _, source := range []string{"eval(1)", "/* eval( */ 'é\\'eval('; new Function (", "`${eval(1)}`\n import(2)", "\"\xff\n eval(", "'"} {
		f.Add(source)
	}
	words := map[string]string{"eval": "eval", "function_constructor": "Function", "import": "import"}
	f.Fuzz(func(t *testing.T, source string) {
		lines := strings.Split(source, "\n")
		for _, w := range warnings([]byte(source)) {
			if w.Line < 1 || w.Line > len(lines) {
				t.Fatalf("line %d of %d", w.Line, len(lines))
			}
			line := []rune(lines[w.Line-1])
			if w.Column < 1 || !strings.HasPrefix(string(line[min(w.Column-1, len(line)):]), words[w.Code]) {
				t.Errorf("%s is not at %d:%d of %q", w.Code, w.Line, w.Column, source)
			}
		}
	})
}
