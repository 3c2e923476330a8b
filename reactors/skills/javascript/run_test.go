package javascript_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
)

func TestExceptionSaysWhereItWasThrown(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         sandbox.Error
	}{
		{"in a module", "function inner() {\n  throw new TypeError('bad')\n}\nexport default () => inner()", sandbox.Error{Code: sandbox.Exception, Message: "TypeError: bad", Function: "inner", Line: 2, Column: 13}},
		{"in a body's first line", "null.x; return 1", sandbox.Error{Code: sandbox.Exception, Message: "TypeError: cannot read property 'x' of null", Function: "tool", Line: 1, Column: 1}},
		{"in a body", "await null\nthrow new Error('late')\nreturn 1", sandbox.Error{Code: sandbox.Exception, Message: "Error: late", Function: "tool", Line: 2, Column: 11}},
		{"of no error", "export default () => { throw { a: 1 } }", sandbox.Error{Code: sandbox.Exception, Message: "{ a: 1 }"}},
		{"of a class", "class Mine extends Error { name = 'Mine' }\nexport default async () => { throw new Mine('m') }", sandbox.Error{Code: sandbox.Exception, Message: "Mine: m", Function: "Mine", Line: 1, Column: 1}},
		{"of a timer", "export default () => new Promise(() => setTimeout(function tick() { throw new Error('t') }))", sandbox.Error{Code: sandbox.Exception, Message: "Error: t", Function: "tick", Line: 1, Column: 79}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(t, c.source, `null`)
			var got *sandbox.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			if *got != c.want {
				t.Errorf("got %v in %q at %d:%d, want %+v", got, got.Function, got.Line, got.Column, c.want)
			}
		})
	}
}

func TestCallsShareNoState(t *testing.T) {
	loaded := load(t, `
let calls = 0
const kept = []
export default input => {
  const seen = [calls, kept.length, typeof globalThis.left, typeof Array.prototype.left, Symbol.keyFor(Symbol.for("left")) && globalThis.sym]
  calls++
  kept.push("x".repeat(input))
  globalThis.left = Array.prototype.left = 1
  globalThis.sym = true
  if (input === 13) throw new Error("left in the middle")
  if (input === 14) for (;;) kept.push(kept.length)
  return seen
}`)
	// 14 needs all memory, 3e5 makes it grow.
	for _, input := range []string{"1", "2", "13", "3", "300000", "4", "14", "5"} {
		out, err := loaded.Run(context.Background(), (&parent{serve: echo}).env(input))
		if input == "13" || input == "14" {
			if err == nil {
				t.Errorf("call %s did not fail", input)
			}
			continue
		}
		if want := `[0,0,"undefined","undefined",null]`; err != nil || string(out) != want {
			t.Errorf("call %s: got %s, %v", input, out, err)
		}
	}
}

func TestRandomnessIsTheSeeds(t *testing.T) {
	loaded := load(t, `const early = Math.random(); export default () => [early, Math.random(), Math.random()]`)
	random := func(seed byte) (numbers [3]float64) {
		env := (&parent{}).env(`null`)
		env.Seed[5] = seed
		out, err := loaded.Run(context.Background(), env)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &numbers); err != nil {
			t.Fatal(err)
		}
		return numbers
	}
	first, again, other := random(1), random(1), random(2)
	if first != again {
		t.Errorf("one seed gave %v and %v", first, again)
	}
	if first[0] != other[0] || first[1] == other[1] || first[2] == other[2] || first[1] == first[2] {
		t.Errorf("two seeds gave %v and %v", first, other)
	}
	for _, n := range append(first[:], other[:]...) {
		if n < 0 || n >= 1 {
			t.Errorf("%v is not in [0, 1)", n)
		}
	}
}

func TestClockStartsAtTheCallsAndAdvances(t *testing.T) {
	out, err := run(t, `
const start = Date.now(), early = performance.now()
await new Promise(done => setTimeout(done, 20))
return [new Date(start).toISOString().slice(0, 19), Date.now() - start >= 19, performance.now() - early >= 19, new Date(0).getTimezoneOffset()]`, `null`)
	if want := `["2026-03-04T05:06:07",true,true,0]`; err != nil || out != want {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestHostCallsRunTogether(t *testing.T) {
	p := &parent{serve: echo}
	out, err := load(t, `export default async (input, helix) =>
  (await Promise.all(input.map(n => helix.call("echo", { n })))).map(r => r.request.n)`).Run(context.Background(), p.env(`[1,2,3,4]`))
	if err != nil || string(out) != `[1,2,3,4]` || p.most != 4 {
		t.Errorf("got %s, %v, with %d at a time", out, err, p.most)
	}
}

func TestHostCalls(t *testing.T) {
	serve := func(name string, request []byte) ([]byte, error) {
		switch name {
		case "http.fetch":
			body := map[string]any{"status": 404, "headers": map[string]string{"Content-Type": "text/plain"}, "body": string(request)}
			if strings.Contains(string(request), "binary") {
				body["body"], body["bodyEncoding"] = "/wD+", "base64"
			}
			return json.Marshal(body)
		case "kv.get":
			return []byte(`{"value":{"a":1}}`), nil
		case "kv.list":
			return []byte(`{"keys":["a"]}`), nil
		case "skill.run":
			return []byte(`{"output":` + string(request) + `}`), nil
		case "refused":
			return nil, sandbox.Errorf("host_not_allowed", "no: %s", "x")
		}
		return echo(name, request)
	}
	for _, c := range []struct{ name, source, want string }{
		{"fetch", `const r = await fetch("https://a.example/", { method: "post", headers: { "X-A": "1" }, body: "b" }); return [r.status, r.ok, r.headers.get("content-type"), await r.json()]`,
			`[404,false,"text/plain",{"url":"https://a.example/","method":"POST","body":"b","headers":{"x-a":"1"}}]`},
		{"fetch of bytes", `const r = await helix.fetch("https://a.example/binary"); return [...new Uint8Array(await r.arrayBuffer())]`, `[255,0,254]`},
		{"fetch sends bytes", `return (await (await fetch("https://a.example/", { method: "PUT", body: new Uint8Array([255, 0]) })).json()).bodyEncoding`, `"base64"`},
		{"a body is read once", `const r = await fetch("https://a.example/"); await r.text(); return r.text().catch(e => e.name)`, `"TypeError"`},
		{"memories", `return [await helix.memories.search("q", { limit: 2 }), await helix.memories.list(), await helix.memories.write({ type: "t", content: "c" })].map(r => [r.name, r.request])`,
			`[["memories.search",{"limit":2,"query":"q"}],["memories.list",{}],["memories.write",{"type":"t","content":"c"}]]`},
		{"kv", `return [await helix.kv.get("k"), await helix.kv.set("k", 1), await helix.kv.delete("k"), await helix.kv.list("p")]`, `[{"a":1},null,null,["a"]]`},
		{"llm", `return [await helix.llm.complete("q"), await helix.llm.complete({ prompt: "q", max_tokens: 5 })].map(r => [r.name, r.request])`,
			`[["llm.complete",{"prompt":"q"}],["llm.complete",{"prompt":"q","max_tokens":5}]]`},
		{"run", `return helix.run("other", [1])`, `{"skill":"other","input":[1]}`},
		{"error", `return helix.call("refused").catch(e => [e instanceof Error, e.name, e.code, e.message])`, `[true,"HelixError","host_not_allowed","no: x"]`},
		{"limit", `for (let i = 0; ; i++) try { await helix.call("x") } catch (e) { return [i, e.code] }`, `[50,"host_call_limit"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := load(t, c.source).Run(context.Background(), (&parent{serve: serve}).env(`null`))
			if err != nil || string(out) != c.want {
				t.Errorf("got %s, %v; want %s", out, err, c.want)
			}
		})
	}
	t.Run("an error that is not caught keeps its code", func(t *testing.T) {
		_, err := load(t, "const a = 1\nreturn await helix.call('refused')").Run(context.Background(), (&parent{serve: serve}).env(`null`))
		var got *sandbox.Error
		if !errors.As(err, &got) || got.Code != "host_not_allowed" || got.Message != "HelixError: no: x" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a parent that is lost ends the call", func(t *testing.T) {
		lost := errors.New("lost")
		_, err := load(t, `return helix.call("x").catch(() => "caught")`).Run(context.Background(),
			(&parent{serve: func(string, []byte) ([]byte, error) { return nil, lost }}).env(`null`))
		if !errors.Is(err, lost) {
			t.Errorf("got %v", err)
		}
	})
}

func TestParentThatTakesNoHostCallEndsTheCall(t *testing.T) {
	loaded := load(t, `return helix.call("x").catch(() => "caught")`)
	env, lost := (&parent{}).env(`null`), errors.New("lost")
	env.HostCall = func(string, []byte) (uint32, error) { return 0, lost }
	if _, err := loaded.Run(context.Background(), env); err != lost {
		t.Errorf("got %v", err)
	}
	out, err := loaded.Run(context.Background(), (&parent{serve: echo}).env(`null`))
	if err != nil || string(out) != `{"name":"x","request":{}}` {
		t.Errorf("the call after it: got %s, %v", out, err)
	}
}

func TestConsole(t *testing.T) {
	p := &parent{}
	_, err := load(t, `
console.log("plain", 1, -0, null, undefined, true, 2n, Symbol("s"))
console.info({ a: [1, "two", { b: {} }], get c() { throw 1 }, [Symbol("k")]: new Map([["m", new Set([1])]]) })
const o = { self: null }; o.self = o
console.warn(o, "\ud800", "nul\0", "😀")
console.error(new RangeError("r").message, () => 1)
console.debug(new Date(0))
console.log(new Proxy({}, { ownKeys() { throw 1 } }))
console.log("x".repeat(20000))
return 1`).Run(context.Background(), p.env(`null`))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(p.logs.String(), "\n")
	for i, want := range []string{
		`plain 1 -0 null undefined true 2n Symbol(s)`,
		`info: { a: [1, "two", { b: {} }], c: [Getter], [Symbol(k)]: Map { "m" => Set { 1 } } }`,
		"warn: { self: [Circular] } \ufffd nul\ufffd 😀",
		`error: r [Function]`,
		`debug: 1970-01-01T00:00:00.000Z`,
		`[a value that cannot be shown]`,
		strings.Repeat("x", 8192),
	} {
		if lines[i] != want {
			t.Errorf("line %d is %.200q, want %q", i, lines[i], want)
		}
	}
}

func TestGlobals(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"TextEncoder", `return [...new TextEncoder().encode("aé😀\ud800")]`, `[97,195,169,240,159,152,128,239,191,189]`},
		{"TextDecoder", `return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff, 0xc3, 0xa9]).subarray(0))`, `"a` + "\ufffd" + `é"`},
		{"TextDecoder of a part", `return new TextDecoder().decode(new Uint8Array([97, 98, 99]).subarray(1, 2))`, `"b"`},
		{"TextDecoder that is fatal", `try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name }`, `"TypeError"`},
		{"TextDecoder of a detached buffer", `const b = new Uint8Array(8); b.buffer.transfer(); return new TextDecoder().decode(b)`, `""`},
		{"base64", `return [btoa("hi"), atob("aGk=")]`, `["aGk=","hi"]`},
		{"timers in order", `const out = []; setTimeout(() => out.push(2), 5); setTimeout(x => out.push(x), 0, 1); clearTimeout(setTimeout(() => out.push(9), 1)); await new Promise(r => setTimeout(r, 10)); return out`, `[1,2]`},
		{"interval", `let n = 0; await new Promise(r => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); r() } }, 1) }); return n`, `3`},
		{"timer that is cleared", `const t = setTimeout(() => {}, 1e6); clearTimeout(t); return 1`, `1`},
		{"queueMicrotask", `const out = []; queueMicrotask(() => out.push(1)); await null; return out`, `[1]`},
		{"URLSearchParams", `const p = new URLSearchParams("?a=1&b=x+y%21&a=2"); p.append("é", "&"); return [p.getAll("a"), p.get("b"), p.toString(), p.get("z")]`, `[["1","2"],"x y!","a=1&b=x+y%21&a=2&%C3%A9=%26",null]`},
		{"structuredClone", `const a = { d: new Date(5), m: new Map([[1, new Set([2])]]), b: new Uint8Array([1, 2]) }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), [...c.m.get(1)], [...c.b]]`, `[true,true,5,[2],[1,2]]`},
		{"structuredClone of a function", `try { structuredClone(() => 1) } catch (e) { return e.name }`, `"DataCloneError"`},
		{"URL", `const u = new URL("../b?x=1#h", "https://User:pw@A.example:8443/c/d/e"); u.searchParams.set("y", "z"); return [u.href, u.host, u.pathname, u.search, u.hash, u.origin]`,
			`["https://User:pw@a.example:8443/c/b?x=1&y=z#h","a.example:8443","/c/b","?x=1&y=z","#h","https://a.example:8443"]`},
		{"URL that is none", `try { new URL("nonsense") } catch (e) { return [e.name, URL.canParse("https://a")] }`, `["TypeError",true]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := run(t, c.source, `null`)
			if err != nil || out != c.want {
				t.Errorf("got %s, %v; want %s", out, err, c.want)
			}
		})
	}
}

func TestMemoryIsToldAndBounded(t *testing.T) {
	loaded := load(t, `export default n => new Uint8Array(n).length`)
	p := &parent{}
	if _, err := loaded.Run(context.Background(), p.env(`6000000`)); err != nil || p.memory < 6e6 || p.memory > 16<<20 {
		t.Errorf("the memory is %d, %v", p.memory, err)
	}
	env := p.env(`1`)
	env.Limits.Memory = 1 << 20
	if _, err := loaded.Run(context.Background(), env); codeOf(err) != sandbox.MemoryExceeded {
		t.Errorf("got %v", err)
	}
}

func TestCancelledCallStopsWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &parent{serve: func(string, []byte) ([]byte, error) { cancel(); return []byte(`1`), nil }}
	_, err := load(t, `await helix.call("x"); return new Promise(done => setTimeout(done, 1e8))`).Run(ctx, p.env(`null`))
	if codeOf(err) != sandbox.Cancelled {
		t.Errorf("got %v", err)
	}
}
