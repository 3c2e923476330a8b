package javascript_test

import (
	"strings"
	"testing"
)

func TestToolRuns(t *testing.T) {
	for _, c := range []struct{ name, source, input, want string }{
		{"default export", `export default (input) => input.a + 1`, `{"a":1}`, `2`},
		{"async default export", `export default async (input, helix) => (await helix.call("x", input)).name`, `{}`, `"x"`},
		{"global function", `function execute(input) { return input }`, `[1,"ü"]`, `[1,"ü"]`},
		{"body", `return input * 2`, `21`, `42`},
		{"body that waits", `const r = await helix.call("y"); return r.name`, `21`, `"y"`},
		{"module.exports", `module.exports = x => x`, `null`, `null`},
		{"named export", `export async function run(input) { return input }`, `3`, `3`},
		{"export by another name", `const f = () => 4; export { f as default }`, `3`, `4`},
		{"default export of an object", `export default { factor: 2, execute(input) { return input * this.factor } }`, `3`, `6`},
		{"global arrow function", `const main = async (input, helix) => typeof helix.call + input`, `3`, `"function3"`},
		{"exports.execute", `exports.execute = input => input`, `3`, `3`},
		{"module.exports comes first", `function run() { return 1 } module.exports = () => 2`, `3`, `2`},
		{"body in strict mode", `'use strict'; return typeof this`, `3`, `"undefined"`},
		{"body that ends in a comment", "return 1 // one", `3`, `1`},
		{"module that waits at its top level", `const a = await Promise.resolve(5); export default () => a`, `3`, `5`},
		{"byte order mark", "\ufeffexport default () => 1", `3`, `1`},
		{"lines of Windows", "export default () => {\r\n  return 1\r\n}\r\n", `3`, `1`},
		{"shebang", "#!/usr/bin/env node\nfunction run() { return 1 }", `3`, `1`},
		{"shebang of a body", "#!/usr/bin/env node\nreturn 1", `3`, `1`},
		{"shebang of a module, after a byte order mark", "\ufeff#!/usr/bin/env node\r\nexport default () => 1", `3`, `1`},
		{"unicode in names", `const größe = 7; export default () => größe`, `3`, `7`},
		{"large input", `export default input => input.length`, `"` + strings.Repeat("é", 400_000) + `"`, `400000`},
		{"deep input", `export default input => { let n = 0; for (let i = input; i.length; i = i[0]) n++; return n }`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), `999`},
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
