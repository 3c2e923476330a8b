//go:build failpoint

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// audit counts in public.helix_audit how often each write of a device was
// applied. Crash tests compare it with what was written.
type audit struct{}

func init() {
	if os.Getenv("HELIX_AUDIT") != "" {
		extraReactors = append(extraReactors, audit{})
	}
}

func (audit) Name() string     { return "audit" }
func (audit) Writes() []string { return []string{"public.helix_audit"} }

func (audit) Watches() []reactors.Watch {
	return []reactors.Watch{{Table: "public.sync_state",
		Ops:     []replication.Op{replication.Insert, replication.Update},
		Columns: []string{"entity_id", "device_id", "vector_clock"}}}
}

func (audit) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	var entities, devices []string
	var counters []int64
	for i := range rows {
		entity, _ := rows[i].Text(0)
		device, _ := rows[i].Text(1)
		clock, _ := rows[i].Text(2)
		var counts map[string]int64
		if err := json.Unmarshal([]byte(clock), &counts); err != nil {
			return fmt.Errorf("vector_clock: %w", err)
		}
		entities, devices, counters = append(entities, entity), append(devices, device), append(counters, counts[device])
	}
	_, err := tx.Exec(ctx, `insert into public.helix_audit as a (entity_id, device_id, counter, applied)
		select entity_id, device_id, counter, count(*)
		from unnest($1::text[]::uuid[], $2::text[], $3::bigint[]) as r (entity_id, device_id, counter)
		group by 1, 2, 3
		on conflict (entity_id, device_id, counter) do update set applied = a.applied + excluded.applied`,
		entities, devices, counters)
	return err
}
