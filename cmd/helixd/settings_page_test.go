package main

import (
	"os"
	"regexp"
	"testing"
)

// TestSettingsPage: docs/settings.md has every setting with its flag, and none that is not.
func TestSettingsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)`((?:HELIX|SUPABASE|DEEPGRAM|ANTHROPIC|EMBEDDINGS)_[A-Z_]+)`|`(--[a-z-]+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]+m[2]] = true
	}
	var c config
	known := map[string]bool{}
	for _, s := range c.settings() {
		known[s.env] = true
		if s.flag != "" {
			known["--"+s.flag] = true
		}
	}
	for name := range known {
		if !named[name] {
			t.Errorf("docs/settings.md lacks %s", name)
		}
	}
	for name := range named {
		if !known[name] {
			t.Errorf("docs/settings.md has %s, which is no setting", name)
		}
	}
}
