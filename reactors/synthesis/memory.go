package synthesis

import (
	"time"

	"github.com/google/uuid"
)

// Memory is a row of memories, as far as patterns are made of it.
type Memory struct {
	ID      uuid.UUID
	Rev     int64   // content_rev
	Time    float64 // created_at in seconds since 1970; may be infinite
	Valence float64 // emotional_valence, NaN: none
	Content string  // its first characters, see contentOf
}

// How much text is read for its words, in characters. A text of nothing but new words
// takes some hundred bytes for each of its own, and two microseconds.
const (
	mostContent = 4000      // of a memory
	mostText    = 4_000_000 // of all memories
)

// contentOf is how many characters of each are read of so many memories.
func contentOf(memories int) int { return min(mostContent, mostText/max(memories, 1)) }

// Of memory_synthesis.pattern_type.
const (
	TemporalSession   = "temporal_session"
	TemporalBurst     = "temporal_burst"
	TemporalPeriodic  = "temporal_periodic"
	SemanticCluster   = "semantic_cluster"
	EmotionalPositive = "emotional_positive"
	EmotionalNegative = "emotional_negative"
	EmotionalShift    = "emotional_shift"
)

// Pattern is what was found in memories.
type Pattern struct {
	Type       string
	Members    []uuid.UUID // by their time
	Content    string      // a sentence for people
	Confidence float64     // 0 to 1: the bootstrap probability that it recurs
	Details    map[string]any
}

// Settings are a row of synthesis_settings.
type Settings struct {
	MemoryLimit    int // newest memories
	MinConfidence  float64
	MinClusterSize int
	Enabled        bool
}

// DefaultSettings are those of a user without a row.
var DefaultSettings = Settings{MemoryLimit: 1000, MinConfidence: 0.7, MinClusterSize: 3, Enabled: true}

// Method is how embeddings are clustered.
type Method string

// Methods.
const (
	Graph   Method = "graph" // fuzzy nearest neighbours and Leiden
	HDBSCAN Method = "hdbscan"
	DBSCAN  Method = "dbscan"
	KMeans  Method = "kmeans"
)

// Methods are all, the default first.
var Methods = []Method{Graph, HDBSCAN, DBSCAN, KMeans}

// Config is what an operator says.
type Config struct {
	Method       Method
	Concurrency  int           // users at a time in this process
	Delay        time.Duration // from a change until it is synthesised, with what came meanwhile
	MostMemories int           // of a user, whatever memory_limit says
	CacheBytes   int64         // of vectors kept between the syntheses of users

	// Hold is told how many bytes are needed for vectors from now on; may be nil.
	Hold func(bytes int64)
}

// DefaultConfig is an operator's who says nothing.
var DefaultConfig = Config{Method: Graph, Concurrency: 2, Delay: 2 * time.Second, MostMemories: 20_000, CacheBytes: 256 << 20}
