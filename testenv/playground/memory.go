package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// memoryActs tell what becomes of memories.
var memoryActs = []act{
	{"Six weeks of ada's memories become patterns", remembered},
	{"She finds the right ones again, and what she does not recall fades", recalled},
}

// pattern is a row of memory_synthesis.
type pattern struct {
	id, typ, content string
	confidence       float64
	memories         []string
}

const (
	// patternsEvery is how often the patterns are looked at.
	patternsEvery = 50 * time.Millisecond
	// patternsPatience is how long they may take: helixd waits a moment for more memories before it begins.
	patternsPatience = 40 * time.Second
)

func remembered(s *stage) error {
	diary, another, err := s.repo.diary(time.Now())
	if err != nil {
		return err
	}
	s.diary, s.another = diary, another
	turn := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -diaryTurn)
	later := slices.IndexFunc(diary, func(m memory) bool { return m.created.After(turn) })

	known := map[string]pattern{}
	err = s.remember(diary[:later], "the first three weeks", known, func(now map[string]pattern) bool {
		return len(s.topics(now)) >= 3
	})
	if err != nil {
		return err
	}
	first := s.topics(known)
	err = s.remember(diary[later:], "the three since", known, func(now map[string]pattern) bool {
		types := map[string]bool{}
		for _, p := range now {
			kind, _, _ := strings.Cut(p.typ, "_")
			types[kind], types[p.typ] = true, true
		}
		return len(s.topics(now)) >= 6 && types["emotional_negative"] && types["emotional_positive"] && types["temporal"]
	})
	if err != nil {
		return err
	}
	kept, grown := 0, 0
	for topic, id := range s.topics(known) {
		if first[topic] == id {
			kept++
		}
		if first[topic] != "" {
			grown++
		}
	}
	if kept*2 < grown {
		return fmt.Errorf("of %d topics that had a row before, %d kept it", grown, kept)
	}
	s.out.line("   %d of her %d topics have a row; of %d that had one before, %d kept its id", len(s.topics(known)), len(diaryTopics), grown, kept)
	return nil
}

// remember inserts memories, and waits until the patterns are enough, of which at least one message tells: of many
// rows it is a single one.
func (s *stage) remember(memories []memory, when string, known map[string]pattern, enough func(map[string]pattern) bool) error {
	heard := func() (int, error) {
		return s.watcher.received(s.ctx, s.user, "memory_synthesis", map[string]any{"table": "memory_synthesis"})
	}
	before, err := heard()
	if err != nil {
		return err
	}
	if err := s.insertMemories(memories); err != nil {
		return err
	}
	s.out.line("   ada     inserts %d memories, of %s", len(memories), when)
	if err := s.patterns(known, enough); err != nil {
		return err
	}
	after, err := heard()
	if err != nil {
		return err
	}
	var diff differences
	diff.check("another message of event memory_synthesis, as the user receives them", true, after > before)
	return diff.err("broadcast in realtime.messages")
}

// insertMemories does what PostgREST makes of supabase-js's .from('memories').insert([...]).
func (s *stage) insertMemories(memories []memory) error {
	rows := make([]map[string]any, len(memories))
	for i, m := range memories {
		rows[i] = map[string]any{"id": m.id, "type": "episodic", "content": m.content, "embedding": json.RawMessage(m.embedding()),
			"emotional_valence": m.valence, "created_at": m.created}
	}
	body, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	const columns = "id, type, content, embedding, emotional_valence, created_at"
	err = s.phone.request(s.ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(s.ctx, "insert into public.memories ("+columns+") select "+columns+" from json_populate_recordset(null::public.memories, $1::json)", string(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("insert memories: %w", err)
	}
	return nil
}

// patterns shows the user's patterns as they come, change and go, until they are enough, and leaves them in known.
func (s *stage) patterns(known map[string]pattern, enough func(map[string]pattern) bool) error {
	sent := time.Now()
	shown := false
	err := testenv.Poll(s.ctx, patternsPatience, patternsEvery, "wait for memory_synthesis", func() (bool, error) {
		now, err := s.readPatterns()
		if err != nil {
			return false, err
		}
		if len(now) > 0 && len(known) == 0 || slices.ContainsFunc(now, func(p pattern) bool { return !p.same(known[p.id]) }) {
			if !shown {
				s.out.detail("after %.1f s", time.Since(sent).Seconds())
				shown = true
			}
			s.showPatterns(known, now)
			clear(known)
			for _, p := range now {
				known[p.id] = p
			}
		}
		return enough(known), nil
	})
	if err != nil {
		return fmt.Errorf("%w; there are %d patterns, of the topics %v", err, len(known), s.topics(known))
	}
	return nil
}

// same says that a pattern is of the same memories.
func (p pattern) same(other pattern) bool { return slices.Equal(p.memories, other.memories) }

// readPatterns selects the user's, by type, and the surest and largest first.
func (s *stage) readPatterns() ([]pattern, error) {
	rows, err := s.watcher.conn.Query(s.ctx, `select id::text, pattern_type, synthesis_content, confidence_score, memory_ids::text[]
		from public.memory_synthesis order by pattern_type, confidence_score desc, cardinality(memory_ids) desc, id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p pattern, err error) {
		err = row.Scan(&p.id, &p.typ, &p.content, &p.confidence, &p.memories)
		return p, err
	})
}

// showPatterns prints those that are new (+), of other memories than before (~) and gone (-), the first few of a type.
func (s *stage) showPatterns(before map[string]pattern, now []pattern) {
	const most = 3
	shown, more := map[string]int{}, map[string]int{}
	gone := maps.Clone(before)
	for _, p := range now {
		was, known := before[p.id]
		delete(gone, p.id)
		if known && p.same(was) {
			continue
		}
		if p.typ != "semantic_cluster" && shown[p.typ] == most {
			more[p.typ]++
			continue
		}
		shown[p.typ]++
		sign := "+"
		if known {
			sign = "~"
		}
		s.out.line("   %s %-18s %3.0f%%  %s", sign, p.typ, p.confidence*100, fit(p.content, 51))
	}
	for _, typ := range slices.Sorted(maps.Keys(more)) {
		s.out.line("   + %-18s       %s", typ, s.out.dim(fmt.Sprintf("%d more", more[typ])))
	}
	if len(gone) > 0 {
		s.out.line("   - %d are gone, or part of others", len(gone))
	}
}

// topics gives the patterns that are a topic of the diary: clusters of which at least four fifths are of one.
func (s *stage) topics(patterns map[string]pattern) map[string]string {
	of := map[string]string{}
	for _, m := range s.diary {
		of[m.id] = m.topic
	}
	topics := map[string]string{}
	for _, p := range patterns {
		if p.typ != "semantic_cluster" {
			continue
		}
		count := map[string]int{}
		for _, id := range p.memories {
			count[of[id]]++
		}
		for topic, n := range count {
			other, taken := topics[topic]
			if topic != "" && n*5 >= len(p.memories)*4 && (!taken || len(patterns[other].memories) < len(p.memories)) {
				topics[topic] = p.id
			}
		}
	}
	return topics
}

func recalled(s *stage) error {
	if err := s.matched(); err != nil {
		return err
	}
	if err := s.faded(); err != nil {
		return err
	}
	return s.reopened()
}

// matched asks for the memories nearest to a new sentence, and compares how near they are with what a plain loop over all
// finds. (Which of two that are equally near comes first is the index's business.)
func (s *stage) matched() error {
	best := slices.SortedFunc(slices.Values(s.diary), func(a, b memory) int {
		return cmp.Compare(b.similarity(s.another), a.similarity(s.another))
	})[:3]
	s.out.line("   ada     writes         %s", s.out.dim(s.another.content))
	var diff differences
	err := s.phone.request(s.ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(s.ctx, "select id::text, content, similarity from public.match_memories($1::vector, $2)", s.another.embedding(), len(best))
		if err != nil {
			return err
		}
		i := 0
		var id, content string
		var similarity float64
		_, err = pgx.ForEachRow(rows, []any{&id, &content, &similarity}, func() error {
			s.out.line("   helixd  finds          %-46s %.3f", fit(content, 46), similarity)
			found := slices.IndexFunc(s.diary, func(m memory) bool { return m.id == id })
			if diff.check(fmt.Sprintf("number %d is hers", i+1), true, found >= 0); found >= 0 && i < len(best) {
				exact := s.diary[found].similarity(s.another)
				diff.check(fmt.Sprintf("similarity of number %d, to 0.005", i+1), true, math.Abs(similarity-exact) < 0.005)
				diff.check(fmt.Sprintf("number %d is as near as any other", i+1), true, exact > best[i].similarity(s.another)-0.005)
			}
			i++
			return nil
		})
		diff.check("rows", len(best), i)
		return err
	})
	if err != nil {
		return fmt.Errorf("match_memories: %w", err)
	}
	return diff.err("match_memories")
}

// faded draws how much is left of each day's memories, and compares it with FSRS-6's curve.
func (s *stage) faded() error {
	ids := make([]string, len(s.diary))
	for i, m := range s.diary {
		ids[i] = m.id
	}
	rows, err := s.watcher.conn.Query(s.ctx, `select extract(epoch from now() - created_at)::double precision / 86400, retention
		from public.memories_with_retention where id = any ($1::uuid[])`, ids)
	if err != nil {
		return fmt.Errorf("memories_with_retention: %w", err)
	}
	left, count := make([]float64, diaryDays+1), make([]float64, diaryDays+1)
	worst := 0.0
	var age, retention float64
	_, err = pgx.ForEachRow(rows, []any{&age, &retention}, func() error {
		day := min(max(int(age), 0), diaryDays)
		left[day], count[day] = left[day]+retention, count[day]+1
		worst = max(worst, math.Abs(retention-forgetting(age)))
		return nil
	})
	if err != nil {
		return fmt.Errorf("memories_with_retention: %w", err)
	}
	days := 0
	for i := range left {
		if count[i] > 0 {
			left[i] /= count[i]
			days++
		}
	}
	s.out.line("   what is left of a memory, by its age:")
	chart := bars(left, 8)
	for i, line := range chart {
		axis := ""
		if i%2 == 0 {
			axis = fmt.Sprintf("%d%%", 100*(len(chart)-i)/len(chart))
		}
		s.out.line("   %5s %s", axis, line)
	}
	s.out.line("         today%s6 weeks", strings.Repeat(" ", diaryDays-11))
	var diff differences
	// A day is 24 hours before now: around the hour at which the diary is kept one may have two evenings, and the next none.
	diff.check("days with memories, at least half of all", true, 2*days >= diaryDays)
	diff.check("retentions within 0.001 of FSRS-6's curve", true, worst < 0.001)
	return diff.err(fmt.Sprintf("memories_with_retention, of %d days, %.4f off", days, worst))
}

// forgetting is what FSRS-6 with its published weights leaves of a memory that was never recalled, after some days.
func forgetting(days float64) float64 {
	const decay, stability = 0.1542, 2.3065
	return math.Pow(1+(math.Pow(0.9, -1/decay)-1)*days/stability, -decay)
}

// reopened looks at the oldest memory again, which strengthens it.
func (s *stage) reopened() error {
	id := s.diary[0].id
	read := func() (retention, stability float64, times int, err error) {
		err = s.watcher.conn.QueryRow(s.ctx, `select retention, coalesce(stability_hours, 0) / 24, coalesce(reinforcements, 0)
			from public.memories_with_retention where id = $1`, id).Scan(&retention, &stability, &times)
		return retention, stability, times, err
	}
	before, weak, times, err := read()
	if err != nil {
		return fmt.Errorf("memories_with_retention: %w", err)
	}
	err = s.phone.request(s.ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(s.ctx, "update public.memories set last_accessed = now() where id = $1", id)
		return err
	})
	if err != nil {
		return fmt.Errorf("open a memory: %w", err)
	}
	var after, strong float64
	var again int
	err = testenv.Poll(s.ctx, patience, patternsEvery, "wait for memory_retention", func() (_ bool, err error) {
		after, strong, again, err = read()
		return again > times, err
	})
	if err != nil {
		return err
	}
	s.out.line("   ada     opens the oldest again: %.0f%% → %.0f%%, and it lasts %.0f days, not %.1f", before*100, after*100, strong, weak)
	var diff differences
	diff.check("retention of at least 0.99", true, after >= 0.99)
	diff.check("more stable than before", true, strong > weak)
	return diff.err("memories_with_retention of a memory that was opened")
}

// bars draws values of 0 to 1 as columns, in lines from the top one down.
func bars(values []float64, lines int) []string {
	eighths := []rune(" ▁▂▃▄▅▆▇█")
	chart := make([]string, lines)
	for i := range chart {
		line := make([]rune, len(values))
		for j, v := range values {
			filled := int(math.Round(v*float64(lines)*8)) - (lines-1-i)*8
			line[j] = eighths[min(max(filled, 0), 8)]
		}
		chart[i] = strings.TrimRight(string(line), " ")
	}
	return chart
}

// fit cuts the first line of a text to so many characters.
func fit(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
