package rights_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/skills/rights"
)

// TestDocumentedPolicies: the examples of docs/skills-rights.md do what they say.
func TestDocumentedPolicies(t *testing.T) {
	page, err := os.ReadFile("../../../docs/skills-rights.md")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, block := range regexp.MustCompile(`(?:    .*\n)+`).FindAllString(string(page), -1) {
		if strings.Contains(block, "(principal, action, resource)") {
			rules = append(rules, block)
		}
	}
	if len(rules) != 2 {
		t.Fatalf("%d examples of policies", len(rules))
	}
	asked := []string{"network:https:x.example", "network:https:y.example", "memories:write", "kv"}
	p := policy(t, strings.Join(rules, "\n"), "x.example")
	set, _ := p.Decide(rights.Request{Runner: runner, Skill: own, Asked: asked})
	if got := show(t, set, nil); got != `["kv","memories:write","network:https:x.example"]` {
		t.Errorf("an own skill gets %s", got)
	}
	set, _ = p.Decide(rights.Request{Runner: runner, Skill: others, Asked: asked, Granted: grants(digest, asked...)})
	if got := show(t, set, nil); got != `["kv","network:https:x.example"]` {
		t.Errorf("another's skill gets %s", got)
	}
}
