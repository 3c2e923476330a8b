// Package javascript runs tools that are written in JavaScript: the sandbox's
// guest of that kind.
//
// The engine is QuickJS-NG, compiled to WebAssembly (quickjs.wasm of the npm
// package quickjs-wasi, which assets/README.md says how to get), so a tool is
// held by WebAssembly's walls as any other program is. Check evaluates a tool's
// top level once and keeps the memory it came to as a snapshot. Every Run starts
// from the snapshot, in a new instance of the engine or in one whose memory is
// written anew, whole, so no call sees what another left.
//
// So a top level sees the clock and the randomness of the check, and no host
// calls; in a call, both are the call's. A timer that falls due while a host call
// is under way fires after the next reply.
//
// What a tool is: an ES module whose default export is a function (input,
// helix) => output; a script with a function execute, run or main, or with
// module.exports; or the body of such a function, with a return at its top
// level. prelude.js and web.js hold what it finds around itself.
package javascript
