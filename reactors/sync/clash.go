package sync

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Clash records what one version of a merged entity lost to another, or all of a
// version that could not be merged.
type Clash struct {
	Kind   ConflictKind
	Winner Version
	Loser  Version // with Data where all of it lost
	At     time.Time

	won, lost registers // at stake; nil where all of the version lost
	elsewhere leaves    // lost values that are large and stand in another record
	winnerID  string
	loserID   string
	whole     bool
}

// ID is the same whenever the clash is found.
func (c *Clash) ID() string {
	h := sha256.New()
	h.Write([]byte(c.loserID + " " + c.winnerID))
	if c.whole {
		h.Write([]byte(" whole"))
	}
	for _, p := range slices.Sorted(maps.Keys(c.lost)) {
		h.Write([]byte(" " + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// whole is a version that changed nothing of what the others had come to.
func whole(kind ConflictKind, winner, loser *Version, id string, at time.Time) Clash {
	c := Clash{Kind: kind, Winner: *winner, Loser: *loser, At: at, loserID: id, whole: true}
	c.Winner.Data = nil
	return c
}

// stake is one path of a version against a concurrent one.
type stake struct{ mine, their path }

// clashes are what d and the versions that are concurrent with it wrote
// differently.
func (m *Merge) clashes(d *delta, at time.Time) (all []Clash) {
	rivals := make([]*delta, 0, len(m.kept)+1)
	for i, o := range m.kept {
		if o != d && d.seen&(1<<i) == 0 && !o.saw(d) {
			rivals = append(rivals, o)
		}
	}
	if d.apart && m.root.any {
		r := &m.root
		rivals = append(rivals, &delta{id: "root", hlc: r.Last, writes: r.Registers,
			Version: Version{Clock: r.Clock, LastModified: time.UnixMicro(r.Last.Wall), Deleted: !r.Live}})
	}
	slices.SortFunc(rivals, func(x, y *delta) int { return y.compare(x) }) // the greatest first
	if len(rivals) == 0 {
		return nil
	}
	if all = m.deleteClashes(d, rivals, at); d.Deleted {
		return all
	}
	strong := strengths{}
	told := map[path]register{} // the greatest that each of d's paths lost to
	pairs := make([][]stake, len(rivals))
	for i, o := range rivals {
		pairs[i] = strong.stakes(d, o)
		for _, s := range pairs[i] {
			theirs := o.writes[s.their]
			if mine := d.writes[s.mine]; wins(&theirs, s.their, &mine, s.mine) {
				if r, ok := told[s.mine]; !ok || theirs.compare(&r) > 0 {
					told[s.mine] = theirs
				}
			}
		}
	}
	for i, o := range rivals {
		gave := newClash(d, o, at) // d lost
		took := newClash(o, d, at) // o lost
		for _, s := range pairs[i] {
			mine, theirs := d.writes[s.mine], o.writes[s.their]
			if wins(&mine, s.mine, &theirs, s.their) {
				if _, ok := took.lost[s.their]; !ok && len(theirs.Value) > smallWinner && m.told(strong, o, s.their, d) {
					took.elsewhere[s.their] = theirs.Value
				}
				took.won[s.mine], took.lost[s.their] = mine, theirs
				continue
			}
			gave.won[s.their], gave.lost[s.mine] = theirs, mine
			if told[s.mine] != theirs && len(mine.Value) > smallWinner {
				gave.elsewhere[s.mine] = mine.Value
			}
		}
		for _, c := range []Clash{gave, took} {
			if len(c.lost) > 0 {
				all = append(all, c)
			}
		}
	}
	return all
}

func newClash(loser, winner *delta, at time.Time) Clash {
	kind := ConcurrentWrites
	if loser.forkOf(winner) {
		kind = Fork
	}
	return Clash{Kind: kind, Winner: winner.Version, Loser: loser.Version, At: at,
		won: registers{}, lost: registers{}, elsewhere: leaves{}, winnerID: winner.id, loserID: loser.id}
}

// deleteClashes are the deletes that lost to concurrent updates, while nothing
// had seen either.
func (m *Merge) deleteClashes(d *delta, rivals []*delta, at time.Time) (all []Clash) {
	tips := m.tips()
	if !slices.Contains(tips, d) {
		return nil
	}
	for _, o := range rivals {
		if o.Deleted == d.Deleted || !slices.Contains(tips, o) {
			continue
		}
		loser, winner := d, o
		if o.Deleted {
			loser, winner = o, d
		}
		c := newClash(loser, winner, at)
		c.won, c.lost, c.whole = nil, nil, true
		if data := loser.data; data != nil && (len(*data) <= smallWinner || loser == d && len(all) == 0 || loser == o && !m.toldDelete(o, d)) {
			c.Loser.Data = []byte(*data)
		}
		all = append(all, c)
	}
	return all
}

// MarshalJSON gives sync_conflicts.versions, the winner first, each with its
// writes that are at stake; the winner's where they are small.
func (c *Clash) MarshalJSON() ([]byte, error) {
	winner, err := c.side(&c.Winner, true, c.won)
	if err != nil {
		return nil, err
	}
	loser, err := c.side(&c.Loser, false, c.lost)
	if err != nil {
		return nil, err
	}
	return []byte("[" + winner + ", " + loser + "]"), nil
}

func (c *Clash) side(v *Version, won bool, writes registers) (string, error) {
	var clock json.RawMessage
	if !won || v.Clock.size() <= smallWinner {
		clock = json.RawMessage(clockJSON(v.Clock))
	}
	s := strings.TrimSuffix(v.summary(won, clock, ""), "}")
	if c.whole {
		if !won && v.Data != nil {
			s += `, "data": ` + string(v.Data)
		}
		return s + "}", nil
	}
	type write struct {
		Path    path            `json:"path"`
		Value   json.RawMessage `json:"value,omitempty"`
		Removed bool            `json:"removed,omitempty"`
		Null    bool            `json:"sql_null,omitempty"`
		Omitted bool            `json:"omitted,omitempty"`
	}
	list := []write{}
	for _, p := range slices.Sorted(maps.Keys(writes)) {
		r := writes[p]
		w := write{Path: p, Removed: r.Removed}
		_, elsewhere := c.elsewhere[p]
		switch {
		case r.Removed:
		case !won && elsewhere, won && len(r.Value) > smallWinner:
			w.Omitted = true
		case r.Value == "":
			w.Null = true
		default:
			w.Value = json.RawMessage(r.Value)
		}
		list = append(list, w)
	}
	b, err := marshal(list)
	return s + `, "writes": ` + string(b) + "}", err
}

// winnerSummary is sync_conflicts.resolution.
func (c *Clash) winnerSummary() string {
	var clock json.RawMessage
	if c.Winner.Clock.size() <= smallWinner {
		clock = json.RawMessage(clockJSON(c.Winner.Clock))
	}
	return c.Winner.summary(true, clock, "")
}
