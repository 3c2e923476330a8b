package replication

import "github.com/jackc/pglogrepl"

// LSN is a byte position in the write-ahead log. There is one such type in
// helixd, pglogrepl's; its text form is Postgres's ("16/B374D848").
type LSN = pglogrepl.LSN
