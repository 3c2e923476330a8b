// Package sandbox runs untrusted programs. They never run inside the daemon:
// they run in worker children, which are the same binary executed again, and
// inside those in wazero.
//
//	daemon                                   worker child (one tenant, one call at a time)
//	Pool ── Worker ──frames over a socket──▶ RunChild ── Guest ── wazero
//	  │ kills from outside: wall, CPU, RSS      │ no new privileges, rlimits, seccomp; where the kernel
//	  │ serves host calls (Host)                │ has them Landlock, another uid, namespaces
//	  └─ compile child: rlimits, the only one that may write the compile cache
//
// A limit inside the child (a page limit, a bounded buffer) gives a good error
// early; the limit that holds is the parent's, which kills. What a child says is
// as untrusted as the program in it: frames are bounded and parsed with care.
//
// Rooms: precheck refuses modules that could harm a decoder before anything
// decodes them; isolate puts the layers around a child; wasm is the Guest of
// WebAssembly modules. Other guests (reactors/skills/javascript) register
// themselves with RunChild.
package sandbox
