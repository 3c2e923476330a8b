package javascript_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
)

func TestHostileToolHarmsOnlyItself(t *testing.T) {
	const memory = sandbox.MemoryExceeded
	for _, c := range []struct {
		name, source string
		want         string // output
		code         sandbox.Code
	}{
		{"stringify replaced", `JSON.stringify = () => "pwned"; export default () => ({a: 1})`, `{"a":1}`, ""},
		{"parse replaced", `JSON.parse = () => 666; export default input => input`, `{"in":1}`, ""},
		{"then replaced", `Promise.prototype.then = () => { throw 1 }; export default async () => { await null; return 1 }`, `1`, ""},
		{"promise replaced", `globalThis.Promise = null; export default async (i, helix) => (await helix.call("x")).name`, `"x"`, ""},
		{"promise constructor getter", `Object.defineProperty(Promise.prototype, "constructor", { get() { throw new Error("got") } }); export default () => 1`, `1`, ""},
		{"promise species", `Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } }); export default async (i, helix) => (await helix.call("x")).name`, `"x"`, ""},
		{"object prototype toJSON setter", `Object.defineProperty(Object.prototype, "toJSON", { set() { throw 1 }, get() { return undefined } }); export default () => ({b: 2})`, `{"b":2}`, ""},
		{"object prototype toJSON", `Object.prototype.toJSON = () => "owned"; export default () => ({b: 2})`, `"owned"`, ""},
		{"toJSON hides an error", `Object.prototype.toJSON = () => "x"; export default () => { throw new Error("e") }`, "", sandbox.Exception},
		// The engine's own JSON.stringify runs into these setters.
		{"array index setters", `Object.defineProperty(Array.prototype, "0", { set() { throw 1 }, get() { return 7 } }); export default async (i, helix) => (await helix.call("x")).name`, "", sandbox.Exception},
		{"object index setters", `Object.defineProperty(Object.prototype, "1", { set() { throw 1 } }); export default async (i, helix) => (await helix.call("x")).name`, `"x"`, ""},
		{"iterator replaced", `Array.prototype[Symbol.iterator] = () => { throw 1 }; export default async (i, helix) => (await helix.call("x")).name`, `"x"`, ""},
		{"bind and call replaced", `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }; export default async (i, helix) => { console.log({}); return (await helix.call("x")).name }`, `"x"`, ""},
		{"string methods replaced", `String.prototype.slice = () => { throw 1 }; export default () => { console.log("a"); throw new Error("kept") }`, "", sandbox.Exception},
		{"reflect replaced", `Reflect.apply = Reflect.ownKeys = () => { throw 1 }; export default () => { console.log({a: 1}); return 1 }`, `1`, ""},
		{"globals frozen", `for (const k of Reflect.ownKeys(globalThis)) try { Object.freeze(globalThis[k]) } catch {} Object.freeze(globalThis); function execute(i) { return i }`, `{"in":1}`, ""},
		{"globals sealed", `Object.seal(globalThis); const execute = i => i`, `{"in":1}`, ""},
		{"globals deleted", `const f = i => i; for (const k of Reflect.ownKeys(globalThis)) if (k !== "module") try { delete globalThis[k] } catch {}; module.exports = f`, `{"in":1}`, ""},
		{"getter in the result", `export default () => ({ get a() { return 3 } })`, `{"a":3}`, ""},
		{"getter that throws in the result", `export default () => ({ get a() { throw new TypeError("no") } })`, "", sandbox.InvalidOutput},
		{"proxy as the result", `export default () => new Proxy({a: 1}, { get: (t, k) => k === "then" || k === "toJSON" ? undefined : 5 })`, `{"a":5}`, ""},
		{"proxy that throws", `export default () => new Proxy({}, { get() { throw new Error("trap") } })`, "", sandbox.Exception},
		{"revoked proxy", `export default () => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy }`, "", sandbox.Exception},
		{"thenable", `export default () => ({ then(r) { r(9) } })`, `9`, ""},
		{"thenable that throws", `export default () => ({ then() { throw new RangeError("t") } })`, "", sandbox.Exception},
		{"thenable that settles twice", `export default () => ({ then(r, j) { r(1); r(2); j(3) } })`, `1`, ""},
		{"thenable that changes its mind", `let n = 0; export default () => ({ get then() { return n++ ? r => r("late") : undefined } })`, `"late"`, ""},
		{"thenable that never settles", `export default () => ({ then() {} })`, "", sandbox.Exception},
		{"promise that never settles", `export default () => new Promise(() => {})`, "", sandbox.Exception},
		{"cyclic result", `export default () => { const a = {}; a.a = a; return a }`, "", sandbox.InvalidOutput},
		{"bigint result", `export default () => 1n`, "", sandbox.InvalidOutput},
		{"function result", `export default () => () => 1`, "", sandbox.InvalidOutput},
		{"symbol result", `export default () => Symbol("x")`, "", sandbox.InvalidOutput},
		{"bigint with toJSON", `BigInt.prototype.toJSON = function () { return String(this) }; export default () => 12n`, `"12"`, ""},
		{"toJSON gives itself", `export default () => ({ toJSON() { return this } })`, `{}`, ""},
		{"toJSON recurses", `export default () => ({ toJSON() { return JSON.stringify(this) } })`, "", sandbox.StackOverflow},
		{"NaN result", `export default () => [NaN, Infinity, -0]`, `[null,null,0]`, ""},
		{"sparse array result", `export default () => { const a = []; a[3] = 1; return a }`, `[null,null,null,1]`, ""},
		{"lone surrogate", `export default () => "\ud800"`, `"\ud800"`, ""},
		{"NUL", `export default () => "a\0b"`, `"a\u0000b"`, ""},
		{"emoji", `export default () => "😀" + [..."😀"].length`, `"😀1"`, ""},
		{"proto in the input", `export default () => JSON.parse('{"__proto__": {"a": 1}}').a ?? null`, `null`, ""},
		{"deep recursion", `const f = () => f() + 1; export default f`, "", sandbox.StackOverflow},
		{"deep recursion that is caught", `const f = () => { try { return f() } catch { return 1 } }; export default f`, `1`, ""},
		{"deep recursion of getters", `const o = { get a() { return this.a } }; export default () => o.a`, "", sandbox.StackOverflow},
		{"deep regexp", `export default () => /^(?:(?:a?)*)*$/.test("a".repeat(20))`, `true`, ""},
		{"deep JSON", `export default () => JSON.parse("[".repeat(1e6))`, "", sandbox.StackOverflow},
		{"deep result", `export default () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a }`, "", sandbox.StackOverflow},
		{"string that grows", `export default () => { let s = "aaaaaaaa"; for (;;) s += s }`, "", sandbox.Exception},
		{"array that grows", `export default () => { const a = []; for (;;) a.push({}) }`, "", memory},
		{"map that grows", `export default () => { const m = new Map; for (let i = 0;; i++) m.set(i, i) }`, "", memory},
		{"buffer too large", `export default () => new ArrayBuffer(1e9).byteLength`, "", memory},
		{"memory that is caught", `export default () => { try { new Uint8Array(1e9) } catch (e) { return "caught" } }`, `"caught"`, ""},
		{"output too large", `export default () => "a".repeat(2e6)`, "", sandbox.OutputTooLarge},
		{"string too long", `export default () => "a".repeat(2 ** 31)`, "", sandbox.Exception},
		{"throws null", `export default () => { throw null }`, "", sandbox.Exception},
		{"throws undefined", `export default () => { throw undefined }`, "", sandbox.Exception},
		{"throws a symbol", `export default () => { throw Symbol("s") }`, "", sandbox.Exception},
		{"throws a proxy", `export default () => { throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 1 }, getPrototypeOf() { throw 1 } }) }`, "", sandbox.Exception},
		{"throws a hostile error", `export default () => { const e = new Error; for (const k of ["name", "message", "stack"]) Object.defineProperty(e, k, { get() { throw e } }); throw e }`, "", sandbox.Exception},
		{"throws an error of hostile text", `export default () => { const e = new Error; e.message = { toString() { throw 1 } }; e.stack = 5; throw e }`, "", sandbox.Exception},
		{"throws a huge message", `export default () => { throw new Error("x".repeat(3e6)) }`, "", sandbox.Exception},
		{"claims a code", `export default () => { const e = new Error("e"); e.code = "wall_time_exceeded"; throw e }`, "", sandbox.Exception},
		{"makes up a failed host call", `export default () => { throw new HelixError("wall_time_exceeded", "m") }`, "", sandbox.Exception},
		{"prepareStackTrace", `Error.prepareStackTrace = () => { throw 1 }; export default () => { throw new Error("e") }`, "", sandbox.Exception},
		{"error global replaced", `globalThis.Error = undefined; export default () => { null.x }`, "", sandbox.Exception},
		{"hasInstance", `Object.defineProperty(Function.prototype, Symbol.hasInstance, { value() { throw 1 } , configurable: true }); export default () => 1`, "", sandbox.Exception},
		{"async generator", `async function* g() { yield 1; yield 2 } export default async () => { const out = []; for await (const x of g()) out.push(x); return out }`, `[1,2]`, ""},
		{"async generator that hangs", `async function* g() { await new Promise(() => {}) } export default async () => { for await (const x of g()); }`, "", sandbox.Exception},
		{"unhandled rejection", `export default () => { Promise.reject(new Error("lost")); return 1 }`, `1`, ""},
		{"endless jobs after the end", `export default () => { const spin = () => Promise.resolve().then(spin); spin(); return 1 }`, `1`, ""},
		{"array species", `class A extends Array { static get [Symbol.species]() { throw 1 } } export default () => new A(1, 2)`, `[1,2]`, ""},
		{"dynamic import", `export default async () => import("fs")`, "", sandbox.Exception},
		{"dynamic import of the tool", `export default async () => import("tool.js").then(() => "in")`, "", sandbox.Exception},
		{"engine internals", `export default () => [typeof bjson, typeof std, typeof os, typeof scriptArgs, typeof print, typeof process, typeof require]`, `["undefined","undefined","undefined","undefined","undefined","undefined","undefined"]`, ""},
		{"frozen helix", `export default (i, helix) => { try { helix.call = 1 } catch (e) { return e.name } }`, `"TypeError"`, ""},
		{"eval", `export default () => eval("1 + 1")`, `2`, ""},
		{"too many timers", `export default () => { for (;;) setTimeout(() => {}, 1e9) }`, "", sandbox.Exception},
		{"host call of a bigint", `export default (i, helix) => helix.call("x", 1n)`, "", sandbox.Exception},
		{"host call of a hostile name", `export default (i, helix) => helix.call({ toString() { throw new Error("n") } })`, "", sandbox.Exception},
		{"memory of atomics", `export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 10)`, "", sandbox.Exception},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := run(t, c.source, `{"in":1}`)
			code := codeOf(err)
			if got != c.want || code != c.code {
				t.Errorf("got %.200s, %v; want %s, %q", got, err, c.want, c.code)
			}
			if err != nil && len(err.Error()) > 3000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}
