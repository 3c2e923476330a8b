package main

import (
	"slices"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv/module"
)

func TestBars(t *testing.T) {
	if got, want := bars([]float64{1, 0.5, 0.75, 1. / 16, 0}, 2), []string{"█ ▄", "███▁"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFit(t *testing.T) {
	if got := fit("früher\nspäter", 6) + fit("früher", 5); got != "früherfrüh…" {
		t.Errorf("%q", got)
	}
}

// TestDiary has the diary be what the acts say: ascending, in the past, of every topic, and the same for the same day.
func TestDiary(t *testing.T) {
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	diary, another, err := repo(root).diary(now)
	if err != nil {
		t.Fatal(err)
	}
	topics := map[string]int{}
	for i, m := range diary {
		if age := now.Sub(m.created); age < 0 || age > (diaryDays+1)*24*time.Hour || i > 0 && m.created.Before(diary[i-1].created) {
			t.Errorf("%d: %v", i, m.created)
		}
		if (diaryTopics[m.topic].from == 0) != (m.valence == nil) {
			t.Errorf("%s feels like %v", m.topic, m.valence)
		}
		topics[m.topic]++
	}
	t.Logf("%d memories: %v", len(diary), topics)
	if len(diary) < 150 || len(diary) > 300 || len(topics) != len(diaryTopics) || another.topic != "recipe" {
		t.Errorf("%d memories of %v, another of %q", len(diary), topics, another.topic)
	}
	again, _, err := repo(root).diary(now)
	if err != nil || !slices.EqualFunc(diary, again, func(a, b memory) bool { return a.content == b.content && a.created.Equal(b.created) }) {
		t.Errorf("another diary for the same day, %v", err)
	}
}
