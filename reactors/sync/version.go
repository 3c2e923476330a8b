package sync

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// MaxAhead is how far a device's clock may run ahead of the server's. A later
// last_modified is taken for the server's time: else a device whose year is
// wrong would win until then.
const MaxAhead = 5 * time.Minute

// Version is what one device wrote about an entity.
type Version struct {
	Device       string
	Clock        Clock
	LastModified time.Time // microseconds, as Postgres has it
	Deleted      bool
	Content      string // ContentHash of its data and Deleted
	Data         []byte // JSON in jsonb's own text form; nil is SQL NULL

	// Place says where Data is: most merges need no content, so what is in the
	// database already stays there.
	Place Place
}

// Place is where a version's data is.
type Place int

// The places of a version's data.
const (
	Here      Place = iota // in Version.Data
	InEntity               // in the entity's row of sync_entities
	InSibling              // in helix.sync_siblings, under the version's ID
)

// ContentHash identifies a version's content: 16 hexadecimal digits of SHA-256.
// What jsonb prints alike is equal content; 1 and 1.0, which it calls equal, are not.
func ContentHash(data []byte, deleted bool) string {
	h := sha256.New()
	switch {
	case deleted:
		h.Write([]byte{'d'})
	case data == nil:
		h.Write([]byte{'n'})
	default:
		h.Write([]byte{'j'})
	}
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// ID identifies a version by its clock and content.
func (v *Version) ID() string {
	clock, _ := v.Clock.MarshalJSON() // strings and numbers always marshal
	h := sha256.New()
	h.Write(clock)
	h.Write([]byte(v.Content))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Compare is the total order of last write wins: positive when v wins over w.
// An update wins over a concurrent delete, so that nobody's work is lost to
// one; then the later last_modified; ties go by device, content and clock,
// never by arrival.
func (v *Version) Compare(w *Version) int {
	if v.Deleted != w.Deleted {
		if v.Deleted {
			return -1
		}
		return 1
	}
	order := cmp.Or(
		v.LastModified.Compare(w.LastModified),
		cmp.Compare(v.Device, w.Device),
		cmp.Compare(v.Content, w.Content),
	)
	if order == 0 && v.Clock.Compare(w.Clock) != Equal {
		order = cmp.Compare(v.ID(), w.ID())
	}
	return order
}

// same reports whether v and w are one write: the same content under the same clock.
func (v *Version) same(w *Version) bool {
	return v.Content == w.Content && v.Clock.Compare(w.Clock) == Equal
}

// clamp bounds last_modified by the server's time of the write, and reports
// whether it had to.
func (v *Version) clamp(server time.Time) bool {
	if v.LastModified.Sub(server) <= MaxAhead {
		return false
	}
	v.LastModified = server
	return true
}

// summary is a version as sync_conflicts.versions shows it, without its data;
// clock may be nil. id is its ID where the user is asked about it, else "".
func (v *Version) summary(won bool, clock json.RawMessage, id string) string {
	b, _ := json.Marshal(struct { // marshals always
		Device       string          `json:"device_id"`
		Clock        json.RawMessage `json:"vector_clock,omitempty"`
		LastModified time.Time       `json:"last_modified"`
		Deleted      bool            `json:"deleted"`
		Won          bool            `json:"won"`
		ID           string          `json:"version,omitempty"`
	}{v.Device, clock, v.LastModified.UTC(), v.Deleted, won, id})
	return string(b)
}
