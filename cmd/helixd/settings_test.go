package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSkillSettings: a setting of skills that cannot be meant ends helixd at once,
// and it says what the setting takes.
func TestSkillSettings(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken.cedar")
	if err := os.WriteFile(broken, []byte("permit (principal"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(t.TempDir(), "good.cedar")
	if err := os.WriteFile(good, []byte("permit (principal, action, resource);"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		setting string
		wants   []string
	}{
		"NoWorkers":          {"HELIX_SKILLS_WORKERS=0", []string{"--skills-workers", "from 1 to"}},
		"WorkersInWords":     {"HELIX_SKILLS_WORKERS=many", []string{"--skills-workers", "from 1 to"}},
		"TooManyWorkers":     {"HELIX_SKILLS_WORKERS=99999", []string{"--skills-workers", "to 32767"}},
		"NoConcurrency":      {"HELIX_SKILLS_CONCURRENCY=-1", []string{"--skills-concurrency", "from 1 to"}},
		"NegativeRate":       {"HELIX_SKILLS_RATE=-1", []string{"--skills-rate", "from 0 to"}},
		"RateWithUnit":       {"HELIX_SKILLS_RATE=10/m", []string{"--skills-rate", "from 0 to"}},
		"UnknownLimit":       {"HELIX_SKILLS_LIMITS=walls=3s", []string{"--skills-limits", "there are wall, cpu, memory"}},
		"LimitWithoutUnit":   {"HELIX_SKILLS_LIMITS=wall=30", []string{"--skills-limits", "such as 30s"}},
		"LimitBelowZero":     {"HELIX_SKILLS_LIMITS=cpu=-1s", []string{"--skills-limits", "such as 10s"}},
		"LimitWithoutValue":  {"HELIX_SKILLS_LIMITS=memory", []string{"--skills-limits", "such as 128MB"}},
		"LimitTooLarge":      {"HELIX_SKILLS_LIMITS=memory=99999999MB", []string{"--skills-limits", "such as 128MB"}},
		"HostCallsBelowZero": {"HELIX_SKILLS_LIMITS=host_calls=-1", []string{"--skills-limits", "a number"}},
		"Sandbox":            {"HELIX_SANDBOX=off", []string{"--sandbox", "required or unsafe"}},
		"PolicyNotThere":     {"HELIX_SKILLS_POLICY=/nowhere/policy.cedar", []string{"--skills-policy", "no such file"}},
		"PolicyBroken":       {"HELIX_SKILLS_POLICY=" + broken, []string{"--skills-policy", "read the policy"}},
		"HostIsAnAddress":    {"HELIX_SKILLS_HOSTS=api.example.com,10.0.0.1", []string{"--skills-hosts", "10.0.0.1", "hosts have names"}},
		"HostWithWildcard":   {"HELIX_SKILLS_HOSTS=*.example.com", []string{"--skills-hosts", "each host is named"}},
		"HostWithBadPort":    {"HELIX_SKILLS_HOSTS=api.example.com:0", []string{"--skills-hosts", "port from 1 to 65535"}},
		"MCPWithoutAddress":  {"HELIX_SKILLS_MCP=tools", []string{"--skills-mcp", "tools"}},
		"MCPWithoutTLS":      {"HELIX_SKILLS_MCP=tools=http://mcp.example.com/", []string{"--skills-mcp", "https"}},
		"MCPOnThisMachine":   {"HELIX_SKILLS_MCP=tools=https://localhost/", []string{"--skills-mcp", "localhost"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "postgresql://h/d", []string{c.setting}, "run")
			if status := p.wait(t); status != 2 {
				t.Errorf("exit status %d", status)
			}
			for _, want := range c.wants {
				if !strings.Contains(p.log.String(), want) {
					t.Errorf("%q is not in:\n%s", want, p.log)
				}
			}
		})
	}
	t.Run("AllOfThemRight", func(t *testing.T) {
		t.Parallel()
		p := start(t, "", []string{"HELIX_SKILLS_WORKERS=3", "HELIX_SKILLS_CONCURRENCY=2", "HELIX_SKILLS_RATE=60",
			"HELIX_SKILLS_LIMITS= wall=5s, cpu=500ms,memory=64MB,input=1KB,output=2048,logs=1KB,host_calls=0", "HELIX_SANDBOX=unsafe",
			"HELIX_SKILLS_POLICY=" + good, "HELIX_SKILLS_HOSTS=api.example.com, other.example.com:8443", "HELIX_SKILLS_MCP=tools=https://mcp.example.com/mcp"}, "run")
		if status := p.wait(t); status != 1 || !strings.Contains(p.log.String(), "SUPABASE_DB_URL is not set") {
			t.Errorf("exit status %d: %s", status, p.log)
		}
	})
}

// TestVoiceSettings: the same of voice's, and a key never goes where it may not be
// meant to go.
func TestVoiceSettings(t *testing.T) {
	t.Parallel()
	const url, key = "HELIX_VOICE_URL=http://localhost:8000", "DEEPGRAM_API_KEY=the-key"
	for name, c := range map[string]struct {
		settings []string
		wants    []string
	}{
		"Provider":            {[]string{"HELIX_VOICE_PROVIDER=whisper"}, []string{"--voice-provider", "deepgram, openai or off"}},
		"DeepgramWithoutKey":  {[]string{"HELIX_VOICE_PROVIDER=deepgram"}, []string{"--voice-provider deepgram", "DEEPGRAM_API_KEY is not set"}},
		"OpenAIWithoutURL":    {[]string{"HELIX_VOICE_PROVIDER=openai", key}, []string{"--voice-provider openai", "neither HELIX_VOICE_KEY nor HELIX_VOICE_URL is set"}},
		"KeyAndURL":           {[]string{url, key}, []string{"--voice-provider", "both set"}},
		"URLWithoutScheme":    {[]string{"HELIX_VOICE_URL=localhost:8000"}, []string{"--voice-url", "such as https://"}},
		"URLOfAFile":          {[]string{"HELIX_VOICE_URL=file:///etc/passwd"}, []string{"--voice-url", "such as https://"}},
		"URLWithPassword":     {[]string{"HELIX_VOICE_URL=https://u:the-key@h/"}, []string{"--voice-url", "password"}},
		"URLWithQuery":        {[]string{"HELIX_VOICE_URL=https://h/?key=the-key"}, []string{"--voice-url", "query"}},
		"SupabaseURL":         {[]string{"SUPABASE_URL=ref.supabase.co"}, []string{"--supabase-url", "such as https://"}},
		"Denoise":             {[]string{"HELIX_VOICE_DENOISE=on"}, []string{"--voice-denoise", "off, highpass, light or strong"}},
		"NoConcurrency":       {[]string{"HELIX_VOICE_CONCURRENCY=0"}, []string{"--voice-concurrency", "from 1 to"}},
		"NoUserConcurrency":   {[]string{"HELIX_VOICE_USER_CONCURRENCY=some"}, []string{"--voice-user-concurrency", "from 1 to"}},
		"NoBytes":             {[]string{"HELIX_VOICE_MAX_BYTES=0"}, []string{"--voice-max-bytes", "such as 100MB"}},
		"BytesInWords":        {[]string{"HELIX_VOICE_MAX_BYTES=1GB"}, []string{"--voice-max-bytes", "such as 100MB"}},
		"NoDuration":          {[]string{"HELIX_VOICE_MAX_DURATION=0s"}, []string{"--voice-max-duration", "such as 4h"}},
		"DurationWithoutUnit": {[]string{"HELIX_VOICE_MAX_DURATION=4"}, []string{"--voice-max-duration", "such as 4h"}},
		"DurationOfWeeks":     {[]string{"HELIX_VOICE_MAX_DURATION=200h"}, []string{"--voice-max-duration", "to 24h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "postgresql://h/d", c.settings, "run")
			if status := p.wait(t); status != 2 {
				t.Errorf("exit status %d", status)
			}
			for _, want := range c.wants {
				if !strings.Contains(p.log.String(), want) {
					t.Errorf("%q is not in:\n%s", want, p.log)
				}
			}
			if strings.Contains(p.log.String(), "the-key") {
				t.Errorf("a key is in:\n%s", p.log)
			}
		})
	}
	for name, settings := range map[string][]string{
		"Nothing":        nil,
		"Deepgram":       {key},
		"DeepgramAtHome": {key, url, "HELIX_VOICE_PROVIDER=deepgram"},
		"OpenAI":         {url},
		"Off":            {key, url, "HELIX_VOICE_PROVIDER=off"},
		"AllOfThem": {url, "HELIX_VOICE_KEY=x", "HELIX_VOICE_MODEL=m", "HELIX_VOICE_DENOISE=light", "HELIX_VOICE_CONCURRENCY=2", "HELIX_VOICE_USER_CONCURRENCY=1",
			"HELIX_VOICE_MAX_BYTES=64KB", "HELIX_VOICE_MAX_DURATION=90s", "SUPABASE_URL=https://ref.supabase.co", "SUPABASE_SERVICE_ROLE_KEY=k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "", settings, "run")
			if status := p.wait(t); status != 1 || !strings.Contains(p.log.String(), "SUPABASE_DB_URL is not set") {
				t.Errorf("exit status %d: %s", status, p.log)
			}
		})
	}
}
