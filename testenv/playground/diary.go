package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// memory is a row of memories, and what it is about: a label that helixd does not get.
type memory struct {
	id, content string
	topic       string
	vector      []float32
	valence     *float64
	created     time.Time
}

const (
	sentenceDim  = 512  // of the intents data's embeddings
	embeddingDim = 1536 // of memories.embedding
	diaryDays    = 42
	diaryTurn    = 21 // days ago: what was bad is over
)

// diaryTopics are what ada writes about, and how it feels: from, to; 0, 0 is neither good nor bad.
var diaryTopics = map[string]struct{ from, to float64 }{
	"card_declined": {-0.9, -0.5}, "lost_luggage": {-0.9, -0.6}, "play_music": {0.5, 0.9}, "tell_joke": {0.6, 0.9},
	"recipe": {}, "calories": {}, "schedule_meeting": {}, "spending_history": {}, "find_phone": {},
}

// diary makes six weeks of memories, ascending by time, and one that ada has yet to write. She writes in the evening,
// most on Sundays; three weeks ago her luggage was lost, and since then she hears music.
func (r repo) diary(now time.Time) (diary []memory, another memory, err error) {
	sentences, err := r.intents()
	if err != nil {
		return nil, another, err
	}
	random := rand.New(rand.NewPCG(15, 6))
	random.Shuffle(len(sentences), func(i, j int) { sentences[i], sentences[j] = sentences[j], sentences[i] })
	take := func(may func(topic string) bool) (memory, bool) {
		i := slices.IndexFunc(sentences, func(m memory) bool { return may(m.topic) })
		if i < 0 {
			return memory{}, false
		}
		m := sentences[i]
		sentences = slices.Delete(sentences, i, i+1)
		return m, true
	}
	write := func(m memory, at time.Time) {
		m.created = at.Truncate(time.Millisecond)
		if feels := diaryTopics[m.topic]; feels.from != 0 {
			valence := math.Round((feels.from+random.Float64()*(feels.to-feels.from))*100) / 100
			m.valence = &valence
		}
		diary = append(diary, m)
	}
	another, _ = take(func(topic string) bool { return topic == "recipe" })
	today := now.UTC().Truncate(24 * time.Hour)
	for ago := diaryDays; ago >= 1; ago-- {
		day := today.AddDate(0, 0, -ago)
		if ago == diaryTurn {
			at := day.Add(12 * time.Hour)
			for {
				m, more := take(func(topic string) bool { return topic == "lost_luggage" })
				if !more {
					break
				}
				write(m, at)
				at = at.Add(time.Duration(60+random.IntN(240)) * time.Second)
			}
		}
		at := day.Add(19*time.Hour + time.Duration(random.IntN(3600))*time.Second)
		for range map[time.Weekday]int{time.Sunday: 12, time.Wednesday: 6, time.Friday: 4}[day.Weekday()] + 2 {
			m, more := take(func(topic string) bool {
				bad := diaryTopics[topic].from < 0
				return topic != "lost_luggage" && (diaryTopics[topic].from == 0 || bad == (ago > diaryTurn))
			})
			if more {
				write(m, at)
			}
			at = at.Add(time.Duration(60+random.IntN(480)) * time.Second)
		}
	}
	return diary, another, nil
}

// intents reads the sentences of the diary's topics, with their embeddings.
func (r repo) intents() ([]memory, error) {
	dir := filepath.Join(string(r), "reactors", "synthesis", "testdata", "intents")
	lines, err := os.ReadFile(filepath.Join(dir, "intents.jsonl"))
	if err != nil {
		return nil, err
	}
	numbers, err := os.ReadFile(filepath.Join(dir, "intents.f32"))
	if err != nil {
		return nil, err
	}
	var memories []memory
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var row struct{ Text, Label string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, fmt.Errorf("intents.jsonl, line %d: %w", i+1, err)
		}
		if len(numbers) < (i+1)*sentenceDim*4 {
			return nil, fmt.Errorf("intents.f32 has no row %d", i+1)
		}
		if _, wanted := diaryTopics[row.Label]; !wanted {
			continue
		}
		vector := make([]float32, sentenceDim)
		for j := range vector {
			vector[j] = math.Float32frombits(binary.LittleEndian.Uint32(numbers[(i*sentenceDim+j)*4:]))
		}
		memories = append(memories, memory{id: uuid.NewString(), content: row.Text, topic: row.Label, vector: vector})
	}
	return memories, nil
}

// embedding is what an app would send: the numbers, and zeros up to the column's dimension, which change no cosine.
func (m memory) embedding() string {
	numbers := make([]float32, embeddingDim)
	copy(numbers, m.vector)
	encoded, _ := json.Marshal(numbers) // finite numbers never fail
	return string(encoded)
}

func (m memory) similarity(to memory) (sum float64) {
	for i := range m.vector {
		sum += float64(m.vector[i]) * float64(to.vector[i])
	}
	return sum
}
