package sandbox

import (
	"testing"

	"pgregory.net/rapid"
)

// A memory is zero where it is new, keeps what it holds as it grows, and is
// never larger than its call may have.
func TestMemories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const page = 64 << 10
		m := &memories{room: 20 * page}
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			limit := rapid.Int64Range(0, 24).Draw(t, "limit") * page
			m.begin(limit)
			l := m.Allocate(0, 1<<32)
			var size, peak uint64
			refused := false
			for _, pages := range rapid.SliceOfN(rapid.Uint64Range(0, 30), 1, 5).Draw(t, "sizes") {
				want := max(size, pages*page)
				b := l.Reallocate(want)
				if most := min(uint64(limit), m.room); want > most {
					refused = true
					if b != nil {
						t.Fatalf("%d bytes beyond %d", want, most)
					}
					continue
				}
				if b == nil || uint64(len(b)) != want || cap(b) != len(b) {
					t.Fatalf("%d bytes, want %d", len(b), want)
				}
				for i := uint64(0); i < want; i += page {
					if old := i < size; old && (b[i] != 7 || b[i+page-1] != 7) || !old && (b[i] != 0 || b[i+page-1] != 0) {
						t.Fatalf("page %d holds %d, %d", i/page, b[i], b[i+page-1])
					}
					b[i], b[i+page-1] = 7, 7
				}
				size = want
				peak = max(peak, want)
			}
			if gotPeak, gotRefused := m.account(); uint64(gotPeak) != peak || gotRefused != refused {
				t.Fatalf("peak %d, refused %v; want %d, %v", gotPeak, gotRefused, peak, refused)
			}
			l.Free()
			l.Free() // guests free, and so does wazero
		}
		if len(m.free) > keptMemories {
			t.Fatalf("%d ranges are kept", len(m.free))
		}
		for _, r := range m.free {
			release(r.all)
		}
	})
}
