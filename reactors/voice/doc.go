// Package voice turns recordings into transcripts.
//
//	          claimed            answered
//	pending ──────────▶ processing ──────────▶ done
//	   ▲                    │ │
//	   │  retried later     │ │ not to be retried
//	   ├────────────────────┘ └───────────────▶ failed
//	   └──── the client sets status = pending ────┘
//
// A recording is read from its row or from Supabase Storage (storage), decoded to
// 16 kHz mono in a worker child (decode), sent to a provider (provider), and what
// that heard is written on the row, with what the user wants done with it: voice
// commands (command) and a memory.
package voice
