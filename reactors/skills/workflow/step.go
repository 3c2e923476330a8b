package workflow

import (
	"encoding/json"
	"time"
)

// Ref is what a step calls.
type Ref struct {
	Kind string // KindTool or KindSkill
	Name string // a tool's name, or a skill's name or id
}

// Kinds of Ref.
const (
	KindTool  = "tool" // built in, or mcp:<server>/<tool>
	KindSkill = "skill"
)

// step is one of a workflow, checked.
type step struct {
	id        string
	pointer   string
	ref       Ref // the zero Ref: the step only decides
	input     *mapping
	output    *mapping
	condition condition
	then      branch
	otherwise branch
	failure   failure
	timeout   time.Duration // 0: the run's
	named     bool          // by a branch of another step: it runs in that branch only
}

// branch is what a decision leads to.
type branch struct {
	steps []*step
	names []string // of later steps in the same list
}

// failure is what errorHandling says.
type failure struct {
	then  string // stop, continue or skip
	retry retry
}

const (
	stop     = "stop"
	goOn     = "continue"
	skip     = "skip"
	tryAgain = "retry"
)

// retry waits before each attempt after the first: for base·factorⁿ, at most limit,
// and with jitter for a random part of that.
type retry struct {
	retries int
	base    time.Duration
	factor  float64
	limit   time.Duration
	jitter  bool
}

// The documents as they are written; docs/steps.schema.json has checked them.
type (
	document struct {
		Steps  []stepDocument  `json:"steps"`
		Output json.RawMessage `json:"output"`
	}
	stepDocument struct {
		StepID        string          `json:"stepId"`
		ToolID        string          `json:"toolId"`
		ToolName      string          `json:"toolName"`
		SkillName     string          `json:"skillName"`
		InputMapping  json.RawMessage `json:"inputMapping"`
		OutputMapping json.RawMessage `json:"outputMapping"`
		Condition     string          `json:"condition"`
		Then          json.RawMessage `json:"then"`
		Else          json.RawMessage `json:"else"`
		ErrorHandling json.RawMessage `json:"errorHandling"`
		TimeoutMs     json.Number     `json:"timeoutMs"`
	}
	retryDocument struct {
		MaxRetries  *json.Number `json:"maxRetries"`
		MaxAttempts *json.Number `json:"maxAttempts"`
		BaseDelayMs *json.Number `json:"baseDelayMs"`
		Base        *json.Number `json:"base"`
		Factor      *json.Number `json:"factor"`
		CapMs       *json.Number `json:"capMs"`
		Jitter      *bool        `json:"jitter"`
		Then        string       `json:"then"`
	}
)

func parseFailure(doc json.RawMessage) (failure, error) {
	f := failure{then: stop}
	var word string
	if len(doc) == 0 {
		return f, nil
	}
	if json.Unmarshal(doc, &word) == nil {
		if word == tryAgain {
			f.retry = retry{retries: 3, base: 200 * time.Millisecond, factor: 2, limit: 30 * time.Second, jitter: true}
			return f, nil
		}
		f.then = word
		return f, nil
	}
	var d struct {
		Retry retryDocument `json:"retry"`
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		return f, err
	}
	r := d.Retry
	f.retry = retry{
		retries: int(number(3, r.MaxRetries)),
		base:    milliseconds(number(200, r.BaseDelayMs, r.Base)),
		factor:  number(2, r.Factor),
		limit:   milliseconds(number(30_000, r.CapMs)),
		jitter:  r.Jitter == nil || *r.Jitter,
	}
	if r.MaxAttempts != nil {
		f.retry.retries = int(number(1, r.MaxAttempts)) - 1
	}
	if r.Then != "" {
		f.then = r.Then
	}
	return f, nil
}

// number is the first that is given, or otherwise.
func number(otherwise float64, given ...*json.Number) float64 {
	for _, n := range given {
		if n != nil {
			f, _ := n.Float64() // the schema allows small numbers only
			return f
		}
	}
	return otherwise
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
