package sync

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// small is the size in bytes up to which a message has a clock or data.
const small = 4096

// announce broadcasts what changed.
func announce(tx *reactors.Tx, touched []*entity, recorded map[[16]byte]bool) {
	for _, e := range touched {
		user, entityID := uuid.UUID(e.user).String(), uuid.UUID(e.entity).String()
		name := map[string]string{"entity_type": e.typ, "entity_id": entityID}
		if e.Revision != e.loaded {
			op := replication.Update
			if !e.stored {
				op = replication.Insert
			}
			tx.Broadcast(reactors.Broadcast{UserID: user, Op: op, Table: "sync_entities",
				Key: name, ID: uuid.UUID(e.key.id()).String(), Record: message(e.key, e.State, e.Versions[0])})
		}
		if len(recorded) == 0 && len(e.open) == 0 {
			continue
		}
		tell := func(op replication.Op, id [16]byte, kind ConflictKind, strategy Strategy, resolved bool) {
			tx.Broadcast(reactors.Broadcast{UserID: user, Op: op, Table: "sync_conflicts", Key: name,
				ID: uuid.UUID(id).String(), Record: func() any {
					record := map[string]any{"entity_type": e.typ, "entity_id": entityID, "strategy": strategy, "resolved": resolved}
					if kind != "" {
						record["kind"] = kind
					}
					return record
				}})
		}
		for _, c := range e.conflicts {
			if id := c.id; !recorded[id] { // a version that lost before
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

// message makes the entity's row, with clock and data where they are small.
func message(k key, s State, w Version) func() any {
	s.Versions = nil // else their data would wait with the message
	if len(w.Data) > small {
		w.Data, w.Place = nil, omitted
	}
	return func() any {
		record := map[string]any{
			"entity_type": k.typ, "entity_id": uuid.UUID(k.entity).String(),
			"last_modified": w.LastModified.UTC(), "deleted": w.Deleted, "resolution": s.Resolution,
			"revision": s.Revision, "updated_at": s.Updated.UTC(), "device_id": w.Device,
		}
		if clock := clockJSON(s.Clock); len(clock) <= small {
			record["vector_clock"] = json.RawMessage(clock)
		}
		if w.Place == Here && w.Data == nil {
			record["data"] = nil
		} else if w.Place == Here {
			record["data"] = json.RawMessage(w.Data)
		}
		return record
	}
}

// conflictID is the id of the conflict that a version lost, the same whenever and
// against whom: it is recorded once. A dispute's is of more than the version.
func (e *entity) conflictID(version string) [16]byte {
	id := e.key.id()
	return uuid.NewSHA1(id, []byte(version))
}

func (e *entity) clashID(c *Clash) [16]byte {
	id := e.key.id()
	return uuid.NewSHA1(id, []byte(c.ID()))
}
