package synthesis_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/synthesis"
	"github.com/helixd/helixd/reactors/synthesis/cluster"
)

// TestIntents: sentences of 40 intents among as many others find together again, as
// the rows say that an app reads. A sentence that no row has counts as a cluster of
// its own.
func TestIntents(t *testing.T) {
	b := newBench(t)
	c := config()
	b.work(t, c)
	b.stream(t, c)
	sentences := mustIntents(t)
	user := b.User(t)
	b.Exec(t, "insert into synthesis_settings (user_id, memory_limit) values ($1, 5000)", user)
	ids := b.remember(t, user, sentences)
	b.settled(t)

	of := map[uuid.UUID]int32{}
	rows := int32(0)
	for _, p := range b.patterns(t, user) {
		if p.Type != synthesis.SemanticCluster {
			continue
		}
		for _, id := range p.Members {
			if other, twice := of[id]; twice {
				t.Fatalf("memory %s is in clusters %d and %d", id, other, rows)
			}
			of[id] = rows
		}
		rows++
	}
	names := map[string]int32{}
	var found, want cluster.Labels
	labelled, noise, others, left := 0, 0, 0, 0
	for i, s := range sentences {
		label, clustered := of[ids[i]]
		if s.label == "oos" {
			others++
			if !clustered {
				left++
			}
			continue
		}
		labelled++
		if !clustered {
			noise++
			label = rows + int32(noise)
		}
		if _, known := names[s.label]; !known {
			names[s.label] = int32(len(names))
		}
		found, want = append(found, label), append(want, names[s.label])
	}
	ari, nmi := cluster.ARI(want, found), cluster.NMI(want, found)
	t.Logf("%d rows: ARI %.3f, NMI %.3f; %d of %d labelled sentences in none; %d of %d others in none", rows, ari, nmi, noise, labelled, left, others)
	if ari < 0.70 || nmi < 0.88 {
		t.Errorf("ARI %.3f, NMI %.3f", ari, nmi)
	}
	if noise*4 > labelled {
		t.Errorf("%d of %d labelled sentences are in no row", noise, labelled)
	}
	if left*3 < others {
		t.Errorf("%d of %d sentences of no intent are in no row", left, others)
	}
}
