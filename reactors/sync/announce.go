package sync

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// announce broadcasts what changed, with clock and data where they are small.
func announce(tx *reactors.Tx, touched []*entity, recorded map[[16]byte]bool) {
	const small = 4096 // bytes; a message may have 256 KB at most
	for _, e := range touched {
		w := &e.Versions[0]
		user, entityID := uuid.UUID(e.user).String(), uuid.UUID(e.entity).String()
		name := map[string]string{"entity_type": e.typ, "entity_id": entityID}
		if e.Revision != e.loaded {
			record := map[string]any{
				"entity_type": e.typ, "entity_id": entityID,
				"last_modified": w.LastModified.UTC(), "deleted": w.Deleted, "resolution": e.Resolution,
				"revision": e.Revision, "updated_at": e.Updated.UTC(), "device_id": w.Device,
			}
			if clock := clockJSON(e.Clock); len(clock) <= small {
				record["vector_clock"] = json.RawMessage(clock)
			}
			if w.Place == Here && w.Data == nil {
				record["data"] = nil
			} else if w.Place == Here && len(w.Data) <= small {
				record["data"] = json.RawMessage(w.Data)
			}
			op := replication.Update
			if !e.stored {
				op = replication.Insert
			}
			tx.Broadcast(reactors.Broadcast{UserID: user, Op: op, Table: "sync_entities",
				Key: name, ID: uuid.UUID(e.key.id()).String(), Record: record})
		}
		tell := func(op replication.Op, id [16]byte, kind ConflictKind, strategy Strategy, resolved bool) {
			record := map[string]any{"entity_type": e.typ, "entity_id": entityID, "strategy": strategy, "resolved": resolved}
			if kind != "" {
				record["kind"] = kind
			}
			tx.Broadcast(reactors.Broadcast{UserID: user, Op: op, Table: "sync_conflicts", Key: name,
				ID: uuid.UUID(id).String(), Record: record})
		}
		for _, c := range e.conflicts {
			if id := e.conflictID(&c.Conflict); !recorded[id] { // a version that lost before
				continue
			} else if c.dispute != nil {
				tell(replication.Insert, id, c.Kind, ManualStrategy, c.closed())
			} else {
				tell(replication.Insert, id, c.Kind, LastWriteWinsStrategy, true)
			}
		}
		for i := range e.clashes {
			if c := &e.clashes[i]; recorded[e.clashID(c)] {
				tell(replication.Insert, e.clashID(c), c.Kind, MergeStrategy, true)
			}
		}
		for _, d := range e.open {
			if d.stored && d.closed() {
				tell(replication.Update, d.id, "", ManualStrategy, true)
			}
		}
	}
}

// conflictID is the same whenever and against whom the version lost: it is
// recorded once.
func (e *entity) conflictID(c *Conflict) [16]byte {
	id := e.key.id()
	return uuid.NewSHA1(id, []byte(c.Loser.ID()))
}

func (e *entity) clashID(c *Clash) [16]byte {
	id := e.key.id()
	return uuid.NewSHA1(id, []byte(c.ID()))
}
