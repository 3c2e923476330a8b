package isolate_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/sandbox/isolate"
)

func init() {
	jobs = map[string]func(task) any{
		"self test": func(t task) any { return isolate.SelfTest(t.Spec) },
	}
}

func TestSelfTest(t *testing.T) {
	layers, err := do[[]isolate.Layer](task{Job: "self test", Spec: isolate.Spec{CPUSeconds: 10, DataBytes: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		t.Logf("%+v", l)
		if l.Required && !l.Active {
			t.Errorf("%s: %s", l.Name, l.Detail)
		}
	}
}
