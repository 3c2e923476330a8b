package synthesis

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
)

// Detect finds the patterns in memories that are ascending by time, the surest
// first. The embeddings are space's, which is nil or empty where there are none,
// and keeps what it costs least to begin with the next time. The result depends on
// nothing else; of the same space it may depend on how it came about.
func Detect(ctx context.Context, memories []Memory, space *Space, method Method, s Settings) ([]Pattern, error) {
	patterns, err := semantic(ctx, memories, space, method, s)
	if err != nil {
		return nil, err
	}
	temporal, err := temporal(ctx, memories, s)
	if err != nil {
		return nil, err
	}
	patterns = append(patterns, temporal...)
	patterns = slices.DeleteFunc(patterns, func(p Pattern) bool { return !(p.Confidence >= s.MinConfidence) })
	slices.SortStableFunc(patterns, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Type, b.Type), cmp.Compare(len(b.Members), len(a.Members)))
	})
	return patterns, nil
}

// members are the ids of some of the memories.
func members(memories []Memory, which []int) []uuid.UUID {
	ids := make([]uuid.UUID, len(which))
	for i, m := range which {
		ids[i] = memories[m].ID
	}
	return ids
}
