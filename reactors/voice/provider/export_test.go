package provider

import "github.com/helixd/helixd/reactors/outbound"

// The parsers of answers, for fuzzing.
var (
	DeepgramAnswer = deepgramAnswer
	OpenAIAnswer   = openAIAnswer
	Clean          = outbound.Clean
)

// Limits, for tests that go past them.
const (
	MostWords    = mostWords
	BaseAnswer   = baseAnswer
	LongestAfter = outbound.LongestAfter
)
