package javascript_test

import "testing"

func TestToolRuns(t *testing.T) {
	for _, c := range []struct{ name, source, input, want string }{
		{"default export", `export default (input) => input.a + 1`, `{"a":1}`, `2`},
		{"async default export", `export default async (input, helix) => (await helix.call("x", input)).name`, `{}`, `"x"`},
		{"global function", `function execute(input) { return input }`, `[1,"ü"]`, `[1,"ü"]`},
		{"body", `return input * 2`, `21`, `42`},
		{"body that waits", `const r = await helix.call("y"); return r.name`, `21`, `"y"`},
		{"module.exports", `module.exports = x => x`, `null`, `null`},
		{"undefined is null", `function run() {}`, `null`, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := run(t, c.source, c.input)
			if err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}
