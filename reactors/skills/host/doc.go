// Package host serves what skills ask of the outside, in the daemon: each call's
// right is looked up first, and each call and denial is noted for the audit.
//
//	Services (one a process) ──Run───▶ Run (a skill's run) ──Nested──▶ Run (of a skill that it calls)
//	   │ policy, pool, broker, secrets, model │ Call: right? ─▶ serve ─▶ audit entry
//
// Nothing that a skill sends chooses a user: the run does.
//
// Rooms: broker fetches over https, secrets keeps what is put into its headers,
// audit chains the entries.
package host
