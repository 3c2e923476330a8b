package synthesis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/phrase"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

const (
	seed        = 20261121 // of all that is random: the same memories give the same patterns
	wordsDim    = 1024     // that words are hashed to
	mostPhrases = 5
	mostMembers = 20 // that details name
	excerpt     = 12 // words of the most central memory
)

// semantic finds what memories come back to: clusters of the embeddings, and of
// the words of memories that have none.
func semantic(ctx context.Context, memories []Memory, space *Space, method Method, s Settings) ([]Pattern, error) {
	var rest []int // memories without an embedding
	rows := make([]int, 0, len(memories))
	for i := range memories {
		if space == nil || space.index == nil {
			rest = append(rest, i)
		} else if _, ok := space.row[memories[i].ID]; !ok {
			rest = append(rest, i)
		}
	}
	var patterns []Pattern
	if space != nil && space.index != nil {
		if err := space.cluster(ctx, s.MinClusterSize); err != nil {
			return nil, err
		}
		at := make(map[uuid.UUID]int, len(memories))
		for i := range memories {
			at[memories[i].ID] = i
		}
		for _, id := range space.ids {
			rows = append(rows, at[id])
		}
		patterns = describe(memories, rows, space.index.Matrix(), space.clustering, s, "embedding", method)
	}
	if len(rest) < s.MinClusterSize {
		return patterns, nil
	}
	words, rows, err := wordSpace(ctx, memories, rest, method)
	if err != nil || words.index == nil {
		return patterns, err
	}
	if err := words.cluster(ctx, s.MinClusterSize); err != nil {
		return nil, err
	}
	return append(patterns, describe(memories, rows, words.index.Matrix(), words.clustering, s, "words", method)...), nil
}

// wordSpace is a Space of the words of memories, and which memory each row is.
func wordSpace(ctx context.Context, memories []Memory, which []int, method Method) (*Space, []int, error) {
	texts := make([]string, len(which))
	for i, m := range which {
		texts[i] = memories[m].Content
	}
	s := &Space{method: method}
	m := vector.NewMatrix(len(which), wordsDim)
	var rows []int
	for i, v := range phrase.Vectors(texts, wordsDim) {
		if v != nil && m.Append(v) {
			rows = append(rows, which[i])
		}
	}
	if m.Rows() == 0 {
		return s, nil, nil
	}
	var err error
	s.index, err = vector.NewIndex(ctx, m, cluster.Neighbours)
	return s, rows, err
}

// cluster looks for clusters, from the ones of before where only few rows have
// changed since.
func (s *Space) cluster(ctx context.Context, least int) (err error) {
	changed := s.index.Changed()
	o := cluster.GraphOptions{MinClusterSize: least, Seed: seed}
	switch {
	case s.clustering != nil && s.least == least && len(changed) == 0:
		return nil
	case s.method != Graph:
		s.clustering, err = clusterBy(ctx, s.method, s.index.Matrix(), least)
	case s.clustering == nil || s.least != least:
		s.clustering, err = cluster.Graph(ctx, s.index, o)
		s.moved = 0
	default:
		s.clustering, err = cluster.UpdateGraph(ctx, s.index, s.clustering, changed, o)
	}
	if err != nil {
		s.clustering = nil
		return fmt.Errorf("cluster memories: %w", err)
	}
	s.least = least
	return nil
}

// describe makes patterns of the clusters that are sure enough. rows says which
// memory each row is.
func describe(memories []Memory, rows []int, m *vector.Matrix, c *cluster.Clustering, s Settings, space string, method Method) []Pattern {
	clusters := make([][]int, len(c.Confidence))
	for row, label := range c.Labels {
		if label != cluster.Noise {
			clusters[label] = append(clusters[label], row)
		}
	}
	texts := make([][]string, len(clusters)) // also of those that are not sure: they tell what is common
	for i, of := range clusters {
		for _, row := range of {
			texts[i] = append(texts[i], memories[rows[row]].Content)
		}
	}
	keys := phrase.Keys(texts, mostPhrases)
	var patterns []Pattern
	for i, of := range clusters {
		if len(of) < s.MinClusterSize || !(c.Confidence[i] >= s.MinConfidence) {
			continue
		}
		similarity := toCentroid(m, of)
		order := make([]int, len(of)) // the most central first
		which := make([]int, len(of))
		for j := range of {
			order[j] = j
			which[j] = rows[of[j]]
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(similarity[b], similarity[a]) })
		var named []map[string]any
		var mean float64
		for rank, j := range order {
			mean += similarity[j] / float64(len(of))
			if rank < mostMembers {
				named = append(named, map[string]any{"id": memories[which[j]].ID, "similarity": round(similarity[j], 3)})
			}
		}
		central := memories[which[order[0]]].Content
		slices.Sort(which) // by time
		from, to := memories[which[0]].Time, memories[which[len(which)-1]].Time
		var phrases []map[string]any
		var names []string
		for _, k := range keys[i] {
			phrases = append(phrases, map[string]any{"phrase": k.Text, "weight": round(k.Weight, 4)})
			names = append(names, k.Text)
		}
		text := fmt.Sprintf("%d memories%s", len(of), between(from, to))
		if len(names) > 0 {
			text = strings.Join(names[:min(3, len(names))], ", ") + ": " + text
		}
		if central = phrase.Excerpt(central, excerpt); central != "" {
			text += fmt.Sprintf(", such as “%s”", central)
		}
		patterns = append(patterns, Pattern{Type: SemanticCluster, Members: members(memories, which), Content: text, Confidence: c.Confidence[i],
			Details: map[string]any{"method": method, "space": space, "phrases": phrases, "members": named, "similarity": round(mean, 3),
				"period": period(from, to)}})
	}
	return patterns
}

// toCentroid is the cosine of each of the rows with their mean.
func toCentroid(m *vector.Matrix, rows []int) []float64 {
	centre := make([]float32, m.Dim())
	for _, row := range rows {
		for i, x := range m.Row(row) {
			centre[i] += x
		}
	}
	length := math.Sqrt(float64(vector.Dot(centre, centre)))
	similarity := make([]float64, len(rows))
	if length == 0 {
		return similarity // they point everywhere
	}
	for i, row := range rows {
		similarity[i] = float64(vector.Dot(centre, m.Row(row))) / length
	}
	return similarity
}

func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}
