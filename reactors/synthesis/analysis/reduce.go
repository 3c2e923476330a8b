package analysis

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/helixd/helixd/reactors/llm"
)

// note is a finding as it is sent to be merged.
type note struct {
	ID          string         `json:"id"`
	Type        string         `json:"pattern_type"`
	Description string         `json:"description"`
	Confidence  float64        `json:"confidence"`
	Texts       int            `json:"texts"`
	Content     map[string]any `json:"content,omitempty"`
}

// batch is findings whose notes fit into one request.
type batch struct {
	found  []finding
	prompt string
}

const mergeIntroduction = "The findings of all parts, one a line.\n"

// batches are the requests that merge findings; nil where one finding alone has no room.
func batches(found []finding, room int64) []batch {
	room -= llm.EstimateTokens(mergeIntroduction)
	var all []batch
	left := int64(0)
	for _, f := range found {
		n := 0
		if len(all) > 0 {
			n = len(all[len(all)-1].found)
		}
		text := line(note{"f" + strconv.Itoa(n+1), f.Type, f.Description, f.Confidence, len(f.Evidence), f.Content})
		if size := llm.EstimateTokens(text); size > left || len(all) == 0 {
			text = line(note{"f1", f.Type, f.Description, f.Confidence, len(f.Evidence), f.Content})
			if size > room {
				return nil
			}
			all, left = append(all, batch{prompt: mergeIntroduction}), room
		}
		b := &all[len(all)-1]
		b.found, b.prompt = append(b.found, f), b.prompt+text
		left -= llm.EstimateTokens(text)
	}
	return all
}

// cited gives the texts of the findings that are named; of another type's it may
// name none.
func (b *batch) cited(typ, id string) ([]int, bool) {
	number, err := strconv.Atoi(id[min(1, len(id)):])
	if err != nil || number < 1 || number > len(b.found) || id != "f"+strconv.Itoa(number) || b.found[number-1].Type != typ {
		return nil, false
	}
	return b.found[number-1].Evidence, true
}

// cited gives the text that is named.
func (p *part) cited(_, id string) ([]int, bool) {
	number, err := strconv.Atoi(id[min(1, len(id)):])
	if err != nil || id != "t"+strconv.Itoa(number) {
		return nil, false
	}
	if _, sent := slices.BinarySearch(p.texts, number-1); !sent {
		return nil, false
	}
	return []int{number - 1}, true
}

// reduce merges what was found in several parts: by the model, in as many steps as
// its bounds ask for, or without where it does not help.
func (w *work) reduce(ctx context.Context, found []finding) ([]finding, string, error) {
	for {
		// Like with like: what says the same is of one type.
		slices.SortStableFunc(found, func(a, b finding) int {
			return cmp.Compare(slices.Index(w.plan.kind.types, a.Type), slices.Index(w.plan.kind.types, b.Type))
		})
		all := batches(found, w.s.cfg.ChunkTokens)
		if len(all) == 0 {
			return merge(found), "", nil
		}
		var merged []finding
		for i := range all {
			a, err := w.ask(ctx, w.plan.kind.request(all[i].prompt, true, w.s.cfg), all[i].cited)
			if err != nil && !w.without(err) {
				return nil, "", err
			}
			if a == nil || len(a.Patterns) == 0 { // it has nothing to say of what is there
				w.result.Merged = mergedLocally
				merged = append(merged, merge(all[i].found)...)
				continue
			}
			if len(all) == 1 {
				rank(a.Patterns)
				return a.Patterns, a.Summary, nil
			}
			merged = append(merged, a.Patterns...)
		}
		if len(all) == 1 || len(merged) >= len(found) || w.spent != nil {
			return merge(merged), "", nil
		}
		found = merged
	}
}
