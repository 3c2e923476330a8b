package provider

// The parsers of answers, for fuzzing.
var (
	DeepgramAnswer = deepgramAnswer
	OpenAIAnswer   = openAIAnswer
)

// Limits, for tests that go past them.
const (
	MostWords  = mostWords
	BaseAnswer = baseAnswer
)
