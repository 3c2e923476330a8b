package synthesis

import (
	"time"

	"github.com/google/uuid"
)

// ContentOf is how many characters of each of so many memories are read.
var ContentOf = contentOf

// Row is a row of memory_synthesis for Identify.
type Row struct {
	ID          uuid.UUID
	Fingerprint string
	Type        string
	Members     []uuid.UUID
	Content     string
	Confidence  float64
}

// Identify gives the rows that patterns persist in (nil: new), whether each is
// written, their fingerprints, and the rows that go.
func Identify(patterns []Pattern, rows []Row, present map[uuid.UUID]bool) (in []*uuid.UUID, written []bool, prints []string, gone []uuid.UUID) {
	all := make([]stored, len(rows))
	for i, r := range rows {
		all[i] = stored{id: r.ID, fingerprint: r.Fingerprint, typ: r.Type, members: r.Members, content: r.Content, confidence: r.Confidence, created: time.Unix(int64(i), 0)}
	}
	found, left := identify(patterns, all, present)
	for i := range found {
		f := &found[i]
		prints = append(prints, f.fingerprint)
		if f.row == nil {
			in, written = append(in, nil), append(written, true)
			continue
		}
		in, written = append(in, &f.row.id), append(written, f.changed())
	}
	for _, r := range left {
		gone = append(gone, r.id)
	}
	return in, written, prints, gone
}

// Moved is how many rows came and went in the user's Space since all was clustered,
// -1: it is not kept.
func (s *Service) Moved(user uuid.UUID) int {
	space := s.cache.take(user)
	if space == nil {
		return -1
	}
	s.cache.put(user, space)
	return space.moved
}

// Cached is how many bytes of Spaces are kept.
func (s *Service) Cached() int64 { return s.cache.held() }
