package synthesis

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
)

// stored is a row of memory_synthesis.
type stored struct {
	id          uuid.UUID
	fingerprint string
	typ         string
	members     []uuid.UUID
	content     string
	confidence  float64
	created     time.Time
}

// identified is a Pattern with the row that it persists in; nil: a new one.
type identified struct {
	*Pattern
	row         *stored
	fingerprint string
}

// sure is how far a confidence may move without the row being written again.
const sure = 0.05

// changed reports whether the row is to say something else. A cluster of the same
// memories keeps its name, though others may have changed what is common to all. What
// says of how many memories it is would be untrue.
func (p *identified) changed() bool {
	switch p.Type {
	case EmotionalPositive, EmotionalNegative, TemporalPeriodic:
		if p.row.content != p.Content {
			return true
		}
	}
	return math.Abs(p.row.confidence-p.Confidence) > sure || !slices.Equal(p.row.members, p.Members)
}

// identify finds the rows that patterns persist in: of the same type, with members
// of a Jaccard similarity of at least one half, the most similar first. Members
// that are not among the memories any more do not count. gone are the other rows.
func identify(patterns []Pattern, rows []stored, present map[uuid.UUID]bool) (found []identified, gone []*stored) {
	type pair struct {
		pattern, row int
		similarity   float64
	}
	type member struct {
		typ string
		id  uuid.UUID
	}
	of := map[member][]int{}
	sizes := make([]int, len(rows))
	for i := range rows {
		for _, id := range rows[i].members {
			if present[id] {
				of[member{rows[i].typ, id}] = append(of[member{rows[i].typ, id}], i)
				sizes[i]++
			}
		}
	}
	var pairs []pair
	for p := range patterns {
		both := map[int]int{}
		for _, id := range patterns[p].Members {
			for _, row := range of[member{patterns[p].Type, id}] {
				both[row]++
			}
		}
		for row, n := range both {
			if j := float64(n) / float64(len(patterns[p].Members)+sizes[row]-n); j >= bootstrap.Recurs {
				pairs = append(pairs, pair{p, row, j})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), rows[a.row].created.Compare(rows[b.row].created),
			cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.row, b.row))
	})
	found = make([]identified, len(patterns))
	kept := make([]bool, len(rows))
	for _, p := range pairs {
		if found[p.pattern].row == nil && !kept[p.row] {
			found[p.pattern].row, kept[p.row] = &rows[p.row], true
		}
	}
	taken := map[string]bool{}
	for i := range rows {
		taken[rows[i].fingerprint] = true // also those that go, until they are gone
		if !kept[i] {
			gone = append(gone, &rows[i])
		}
	}
	for i := range found {
		f := &found[i]
		f.Pattern = &patterns[i]
		if f.row != nil {
			f.fingerprint = f.row.fingerprint
			continue
		}
		for salt := ""; f.fingerprint == "" || taken[f.fingerprint]; salt += "+" {
			f.fingerprint = fingerprint(f.Pattern, salt)
		}
		taken[f.fingerprint] = true
	}
	return found, gone
}

// fingerprint names a pattern by what it was when it was first found.
func fingerprint(p *Pattern, salt string) string {
	h := sha256.New()
	h.Write([]byte(p.Type + salt))
	members := slices.Clone(p.Members)
	slices.SortFunc(members, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for i := range members {
		h.Write(members[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
