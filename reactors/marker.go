package reactors

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// markerPrefix is that of helixd's logical messages.
const markerPrefix = "helix"

// marker is the first operation of each of helixd's transactions, a logical
// message in the write-ahead log: it tells helixd's writes from an app's, so that
// a reactor does not react to itself. (Replication origins, made for this,
// need rights that Supabase does not give.)
type marker struct {
	Secret string              `json:"secret"` // any user may emit messages
	Epoch  int64               `json:"epoch"`
	Writes map[string][]string `json:"writes"` // reactor → tables
}

func (m marker) content() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(b)
}

// markSQL is the statement that writes the marker of a job's transaction. It asks
// for the secret each time: a Service is made before the schema is known to be there.
func markSQL(reactor string, tables ...string) string {
	writes, err := json.Marshal(map[string][]string{reactor: tables})
	if err != nil {
		panic(err) // strings
	}
	return fmt.Sprintf(`select pg_logical_emit_message(true, %s, jsonb_build_object(
		'secret', (select secret from helix.instance), 'writes', %s::jsonb)::text)`, quoteLiteral(markerPrefix), quoteLiteral(string(writes)))
}

// Mark makes a transaction that a job has just begun one of helixd's: the
// reactor of this name is not given what it writes into the tables ("public.t").
func Mark(ctx context.Context, tx pgx.Tx, reactor string, tables ...string) error {
	if _, err := tx.Exec(ctx, markSQL(reactor, tables...)); err != nil {
		return fmt.Errorf("mark the transaction: %w", err)
	}
	return nil
}

// readMarker gives the marker that a transaction begins with, nil when it is
// not helixd's.
func readMarker(tx *replication.Transaction, secret string) *marker {
	if tx.Ordinal > 0 || len(tx.Changes) == 0 {
		return nil
	}
	c := &tx.Changes[0]
	if c.Op != replication.Message || !c.Transactional || c.Prefix != markerPrefix {
		return nil
	}
	var m marker
	if json.Unmarshal(c.Content, &m) != nil || subtle.ConstantTimeCompare([]byte(m.Secret), []byte(secret)) != 1 {
		return nil
	}
	return &m
}
