package rights_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/skills/rights"
)

var (
	runner = uuid.MustParse("00000000-0000-4000-8000-000000000001")
	other  = uuid.MustParse("00000000-0000-4000-8000-000000000002")
	digest = strings.Repeat("a", 64)
	stale  = strings.Repeat("b", 64)
)

// Of whom the skill is.
var (
	own     = rights.Skill{ID: uuid.MustParse("00000000-0000-4000-8000-00000000000a"), Owner: runner, SHA256: digest, Kind: "javascript", Visibility: "private"}
	shown   = rights.Skill{ID: own.ID, Owner: runner, SHA256: digest, Kind: "javascript", Visibility: "public"}
	others  = rights.Skill{ID: own.ID, Owner: other, SHA256: digest, Kind: "javascript", Visibility: "public"}
	builtIn = rights.Skill{ID: own.ID, SHA256: digest, Kind: "javascript", Visibility: "public"}
	inline  = rights.Skill{SHA256: digest, Kind: "composite", Visibility: "private"}
)

func policy(t interface {
	Helper()
	Fatal(...any)
}, text string, hosts ...string) *rights.Policy {
	t.Helper()
	if text == "" {
		text = string(rights.DefaultPolicy)
	}
	p, err := rights.NewPolicy([]byte(text), hosts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func grants(sha256 string, capabilities ...string) (all []rights.Grant) {
	for _, c := range capabilities {
		all = append(all, rights.Grant{SHA256: sha256, Capability: c})
	}
	return all
}

// show gives a set, and what was denied with its code.
func show(t *testing.T, s rights.Set, denials []rights.Denial) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, d := range denials {
		text += " " + d.Capability + "!" + string(d.Code)
		if d.Message == "" {
			t.Errorf("%s is denied without a message", d.Capability)
		}
	}
	return text
}

func TestDecide(t *testing.T) {
	const listedOnly = `permit (principal, action, resource) when { resource.kind != "network:https" || resource.listed };`
	everything := []string{"memories:read", "memories:write", "kv", "secrets:a", "llm", "network:https:x.example"}
	all := `["kv","llm","memories:read","memories:write","network:https:x.example","secrets:a"]`
	caller := rights.NewSet(rights.Capability{Kind: rights.KV}, rights.Capability{Kind: rights.Network, Host: "x.example", Port: 443})
	for name, test := range map[string]struct {
		policy string
		hosts  []string
		rights.Request
		want string
	}{
		"the owner of a private skill has granted":   {Request: rights.Request{Skill: own, Asked: everything}, want: all},
		"the owner of a public skill has granted":    {Request: rights.Request{Skill: shown, Asked: everything}, want: all},
		"who runs a definition has granted":          {Request: rights.Request{Skill: inline, Asked: everything}, want: all},
		"who asks for nothing gets nothing":          {Request: rights.Request{Skill: own, Granted: grants(digest, "kv")}, want: `[]`},
		"another's skill gets what was granted":      {Request: rights.Request{Skill: others, Asked: []string{"kv", "memories:read"}, Granted: grants(digest, "kv", "secrets:a")}, want: `["kv"] memories:read!capability_not_granted`},
		"a built-in skill gets what was granted":     {Request: rights.Request{Skill: builtIn, Asked: []string{"kv", "memories:read"}, Granted: grants(digest, "kv")}, want: `["kv"] memories:read!capability_not_granted`},
		"a grant to other code is void":              {Request: rights.Request{Skill: others, Asked: []string{"kv"}, Granted: grants(stale, "kv")}, want: `[] kv!capability_not_granted`},
		"spelling does not matter":                   {Request: rights.Request{Skill: others, Asked: []string{"network:https:X.example:443", "network:https:x.example"}, Granted: grants(digest, "network:https:x.EXAMPLE")}, want: `["network:https:x.example"]`},
		"a port is granted by itself":                {Request: rights.Request{Skill: others, Asked: []string{"network:https:x.example:8443"}, Granted: grants(digest, "network:https:x.example")}, want: `[] network:https:x.example:8443!capability_not_granted`},
		"a subdomain is another host":                {Request: rights.Request{Skill: others, Asked: []string{"network:https:a.x.example"}, Granted: grants(digest, "network:https:x.example")}, want: `[] network:https:a.x.example!capability_not_granted`},
		"network:https is the operator's hosts":      {hosts: []string{"x.example", "Y.example:8443"}, Request: rights.Request{Skill: own, Asked: []string{"network:https"}}, want: `["network:https:x.example","network:https:y.example:8443"]`},
		"network:https without a list is nothing":    {Request: rights.Request{Skill: own, Asked: []string{"network:https"}}, want: `[] network:https!capability_refused`},
		"a listed host is granted with the list":     {hosts: []string{"x.example"}, Request: rights.Request{Skill: others, Asked: []string{"network:https:x.example", "network:https:y.example"}, Granted: grants(digest, "network:https")}, want: `["network:https:x.example"] network:https:y.example!capability_not_granted`},
		"of the list only what was granted":          {hosts: []string{"x.example", "y.example"}, Request: rights.Request{Skill: others, Asked: []string{"network:https"}, Granted: grants(digest, "network:https:y.example")}, want: `["network:https:y.example"] network:https:x.example!capability_not_granted`},
		"what is none is refused":                    {Request: rights.Request{Skill: own, Asked: []string{"filesystem:read", "network:localhost", "kv", "x"}}, want: `["kv"] filesystem:read!capability_refused network:localhost!capability_refused x!capability_refused`},
		"the operator's policy replaces the default": {policy: listedOnly, hosts: []string{"x.example"}, Request: rights.Request{Skill: own, Asked: []string{"network:https:x.example", "network:https:x.example:8443", "network:https:y.example", "kv"}}, want: `["kv","network:https:x.example"] network:https:x.example:8443!capability_refused network:https:y.example!capability_refused`},
		"a forbid is above all":                      {policy: `permit (principal, action, resource); forbid (principal, action, resource) when { resource has host && resource.host like "*.evil.example" };`, Request: rights.Request{Skill: own, Asked: []string{"network:https:a.evil.example", "kv"}}, want: `["kv"] network:https:a.evil.example!capability_refused`},
		"a rule that fails denies":                   {policy: `permit (principal, action, resource); forbid (principal, action, resource) when { resource.hots == "evil.example" };`, Request: rights.Request{Skill: own, Asked: []string{"kv"}}, want: `[] kv!capability_refused`},
		"a rule may ask whose skill it is":           {policy: `permit (principal, action, resource) when { context.skill has owner && context.skill.owner == principal };`, Request: rights.Request{Skill: others, Asked: []string{"kv"}, Granted: grants(digest, "kv")}, want: `[] kv!capability_refused`},
		"a rule may ask what code it is":             {policy: `permit (principal, action, resource) when { context.skill.built_in && !context.skill.inline && context.skill.kind == "javascript" && context.skill.visibility == "public" && context.skill.sha256 == "` + digest + `" };`, Request: rights.Request{Skill: builtIn, Asked: []string{"kv"}, Granted: grants(digest, "kv")}, want: `["kv"]`},
		"a nested skill has its caller's at most":    {Request: rights.Request{Skill: own, Asked: everything, Caller: &caller}, want: `["kv","network:https:x.example"] memories:read!capability_not_granted memories:write!capability_not_granted secrets:a!capability_not_granted llm!capability_not_granted`},
		"a nested skill is granted its own":          {Request: rights.Request{Skill: others, Asked: everything, Granted: grants(digest, "kv", "memories:read"), Caller: &caller}, want: `["kv"] memories:read!capability_not_granted memories:write!capability_not_granted secrets:a!capability_not_granted llm!capability_not_granted network:https:x.example!capability_not_granted`},
		"nobody's runner owns no built-in skill":     {Request: rights.Request{Runner: uuid.Nil, Skill: builtIn, Asked: []string{"kv"}}, want: `[] kv!capability_not_granted`},
	} {
		t.Run(name, func(t *testing.T) {
			if test.Runner == uuid.Nil && !strings.HasPrefix(name, "nobody") {
				test.Runner = runner
			}
			set, denials := policy(t, test.policy, test.hosts...).Decide(test.Request)
			if got := show(t, set, denials); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	t.Run("a list of capabilities is bounded", func(t *testing.T) {
		var asked []string
		for i := range 5000 {
			asked = append(asked, "secrets:a"+strings.Repeat("b", i%60), strings.Repeat("é", 400)+"\x00")
		}
		_, denials := policy(t, "").Decide(rights.Request{Runner: runner, Skill: own, Asked: asked})
		if len(denials) > 101 {
			t.Errorf("%d denials", len(denials))
		}
		if got := rights.Check(asked); !slices.Equal(got, denials) {
			t.Errorf("checking tells %d, deciding %d", len(got), len(denials))
		}
		for _, d := range denials {
			if len(d.Capability) > 310 || strings.Contains(d.Capability, "\x00") || strings.ToValidUTF8(d.Capability, "") != strings.ReplaceAll(d.Capability, "\xff", "") {
				t.Fatalf("a denial of %q", d.Capability)
			}
		}
	})
}

func TestPolicies(t *testing.T) {
	t.Run("that cannot be read are an error", func(t *testing.T) {
		for _, text := range []string{"", "// nothing", "permit", "permit (principal, action, resource)", "allow (principal, action, resource);"} {
			if _, err := rights.NewPolicy([]byte(text), nil); err == nil {
				t.Errorf("%q is a policy", text)
			}
		}
	})
	t.Run("have hosts, not patterns", func(t *testing.T) {
		for _, host := range []string{"*.example.com", "localhost", "10.0.0.1", ""} {
			if _, err := rights.NewPolicy(rights.DefaultPolicy, []string{host}); err == nil {
				t.Errorf("%q is a host", host)
			}
		}
	})
}

// Some capabilities, and hosts of a list, that meet often.
var (
	words    = rapid.SampledFrom([]string{"kv", "llm", "memories:read", "memories:write", "secrets:a", "secrets:b", "network:https", "network:https:x.example", "network:https:y.example", "network:https:y.example:8443", "network:localhost", "filesystem:x"})
	hosts    = rapid.SampledFrom([]string{"x.example", "y.example", "y.example:8443", "z.example"})
	policies = rapid.SampledFrom([]string{string(rights.DefaultPolicy), `permit (principal, action, resource);`, `forbid (principal, action, resource);`,
		`permit (principal, action, resource) when { resource.kind == "kv" || resource.kind == "network:https" && resource.listed };`,
		`permit (principal, action, resource) when { context.skill.built_in };`})
	skills = rapid.SampledFrom([]rights.Skill{own, shown, others, builtIn, inline})
)

// means gives the capabilities of texts as they are in sets.
func means(texts []string, list []string) rights.Set {
	var all []rights.Capability
	for _, text := range texts {
		if text == "network:https" {
			for _, host := range list {
				c, err := rights.Parse("network:https:" + host)
				if err != nil {
					panic(err)
				}
				all = append(all, c)
			}
		} else if c, err := rights.Parse(text); err == nil {
			all = append(all, c)
		}
	}
	return rights.NewSet(all...)
}

func within(t *rapid.T, what string, s, bound rights.Set) {
	t.Helper()
	for _, c := range s.List() {
		if !bound.Has(c) {
			t.Fatalf("%s is more than %s", c, what)
		}
	}
}

func TestNeverMoreThanAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfDistinct(hosts, rapid.ID).Draw(t, "hosts")
		text := policies.Draw(t, "policy")
		p := policy(t, text, list...)
		draw := func(label string, caller *rights.Set) (rights.Set, rights.Request) {
			r := rights.Request{Runner: runner, Skill: skills.Draw(t, label), Asked: rapid.SliceOf(words).Draw(t, label+" asks"), Caller: caller}
			granted := rapid.SliceOf(words).Draw(t, label+" is granted")
			r.Granted = append(grants(digest, granted...), grants(stale, rapid.SliceOf(words).Draw(t, label+" was granted")...)...)
			set, denials := p.Decide(r)

			asked := means(r.Asked, list)
			within(t, "the skill asks", set, asked)
			if r.Skill != own && r.Skill != shown && r.Skill != inline {
				within(t, "the runner granted", set, means(granted, list))
			}
			// Alone before the same policy, each is permitted.
			for _, c := range set.List() {
				alone, _ := p.Decide(rights.Request{Runner: runner, Skill: r.Skill, Asked: []string{c.String()}, Granted: grants(digest, c.String())})
				if !alone.Has(c) {
					t.Fatalf("%s is more than the policy permits", c)
				}
			}
			if caller != nil {
				within(t, "its caller may", set, *caller)
			}
			// Whatever is asked for is in the set or among the denials.
			for _, c := range asked.List() {
				denied := slices.ContainsFunc(denials, func(d rights.Denial) bool { return d.Capability == c.String() })
				if set.Has(c) == denied {
					t.Fatalf("%s: in the set %v, denied %v", c, set.Has(c), denied)
				}
			}
			return set, r
		}
		set, _ := draw("the skill", nil)
		for range rapid.IntRange(0, 4).Draw(t, "nested") {
			nested, r := draw("a nested skill", &set)
			// What its caller may does no more than take away.
			r.Caller = nil
			free, _ := p.Decide(r)
			want := slices.DeleteFunc(free.List(), func(c rights.Capability) bool { return !set.Has(c) })
			if got := nested.List(); !slices.Equal(got, want) {
				t.Fatalf("nested %v, want %v", got, want)
			}
			set = nested
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	p := policy(b, "", "x.example")
	r := rights.Request{Runner: runner, Skill: others, Asked: []string{"kv", "memories:read", "network:https"}, Granted: grants(digest, "kv", "network:https")}
	for b.Loop() {
		p.Decide(r)
	}
}
