package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
)

// outOfScope is the label of a sentence that belongs to no intent.
const outOfScope = "oos"

// intents reads the labels of CLINC150's sentences, Noise for those out of scope.
func intents(path string) (truth cluster.Labels, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	number := map[string]int32{outOfScope: cluster.Noise}
	for lines := json.NewDecoder(f); ; {
		var sentence struct{ Label string }
		if err := lines.Decode(&sentence); errors.Is(err, io.EOF) {
			return truth, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if _, ok := number[sentence.Label]; !ok {
			number[sentence.Label] = int32(len(number) - 1)
		}
		truth = append(truth, number[sentence.Label])
	}
}

// quality scores labels over the rows with an intent, of which each that is left as
// noise is a cluster of its own.
func quality(labels, truth cluster.Labels) (ari, nmi, lost, noise float64) {
	var found, want cluster.Labels
	outside := 0
	for i, l := range labels {
		if truth[i] == cluster.Noise {
			outside++
			if l == cluster.Noise {
				noise++
			}
			continue
		}
		if l == cluster.Noise {
			lost++
			l = int32(len(labels) + i)
		}
		found, want = append(found, l), append(want, truth[i])
	}
	return cluster.ARI(found, want), cluster.NMI(found, want), lost / float64(len(want)), noise / float64(outside)
}

func (b *bench) clusterQuality(ctx context.Context, python, dir string) error {
	const section = "clusters of 1,204 sentences of 40 intents and of none"
	data := filepath.Join(dir, "reactors", "synthesis", "testdata", "intents")
	truth, err := intents(filepath.Join(data, "intents.jsonl"))
	if err != nil {
		return err
	}
	for _, job := range []clusterJob{
		{Method: methodGraph},
		{Method: "hdbscan", MinClusterSize: 5, MinSamples: 5},
		{Method: "dbscan", Eps: 0.3, MinSamples: 5},
		{Method: "kmeans", K: 40},
	} {
		job.Path, job.Dim = filepath.Join(data, "intents.f32"), 512
		b.say("  intents by %s", job.Method)
		var own clustered
		if _, err := runChild(ctx, clusterEnv, job, &own); err != nil {
			return err
		}
		ari, nmi, lost, noise := quality(own.Labels, truth)
		figures := []*figure{
			newFigure(section, job.Method+", ARI", "", ari),
			newFigure(section, "  NMI", "", nmi),
			newFigure(section, "  intents' sentences left as noise", "%", 100*lost),
			newFigure(section, "  other sentences left as noise", "%", 100*noise),
		}
		if job.Method == methodGraph {
			figures[0].atLeast(0.7)
			figures[1].atLeast(0.88)
			figures[2].aim("≤ 25", lost <= 0.25)
			figures[3].aim("≥ 33", noise >= 1./3)
		} else {
			peer, err := sklearn(ctx, python, job)
			if err != nil {
				return err
			}
			ari, nmi, lost, noise := quality(peer.Labels, truth)
			for i, v := range []float64{ari, nmi, 100 * lost, 100 * noise} {
				figures[i].beside(nameSklearn, v)
			}
		}
		b.report.add(figures...)
	}
	return nil
}
