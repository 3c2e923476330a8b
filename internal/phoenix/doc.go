// Package phoenix is a client of the channel protocol of Phoenix, as Supabase
// Realtime speaks it in version 1.0.0: one JSON object a message over a WebSocket.
//
// It does what a check of Realtime needs: it joins channels, public or private,
// hears broadcasts, and says why a join was refused. It does not come back after
// a lost connection.
//
// https://supabase.com/docs/guides/realtime/protocol
package phoenix
