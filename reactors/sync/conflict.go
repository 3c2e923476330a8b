package sync

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// conflictColumns are conflicts as parameters. The loser is kept with its data:
// this may be the last place that has it. The winner's data and clock are there
// where they are small: it stands in sync_entities, and one winner may beat
// thousands.
type conflictColumns struct {
	keyColumns
	loser      dataColumns
	winner     dataColumns
	id         [][16]byte
	kind       []string
	strategy   []string
	resolution []*string // of one that is resolved; "" is the winner
	resolved   []*time.Time
	at         []time.Time
	loserJSON  []string
	winnerJSON []string
	asked      []bool // a dispute, not a record
}

// smallWinner is the size in bytes up to which a conflict holds the winner's data
// or clock.
const smallWinner = 4096

// omitted is the Place of data that is not to be written.
const omitted Place = -1

func (c *conflictColumns) add(e *entity, f *record) {
	c.keyColumns.add(e.key)
	winner, manual := f.Winner, f.dispute != nil
	if len(winner.Data) > smallWinner && !manual {
		winner.Place, winner.Data = omitted, nil
	}
	c.loser.add(&f.Loser)
	c.winner.add(&winner)
	c.id = append(c.id, f.id)
	strategy, resolution, resolved := LastWriteWinsStrategy, new(string), &f.At
	var winnerID, loserID string
	if manual {
		strategy, resolution, resolved = ManualStrategy, f.resolution, f.resolvedAt
		winnerID, loserID = f.versions[0], f.Loser.ID()
	}
	c.asked = append(c.asked, f.asks())
	c.strategy, c.resolution, c.resolved = append(c.strategy, string(strategy)), append(c.resolution, resolution), append(c.resolved, resolved)
	c.kind, c.at = append(c.kind, string(f.Kind)), append(c.at, f.At)
	c.loserJSON = append(c.loserJSON, f.Loser.summary(false, json.RawMessage(clockJSON(f.Loser.Clock)), loserID))
	var clock json.RawMessage
	if f.Winner.Clock.size() <= smallWinner || manual {
		clock = json.RawMessage(clockJSON(f.Winner.Clock))
	}
	c.winnerJSON = append(c.winnerJSON, f.Winner.summary(true, clock, winnerID))
}

func (c *conflictColumns) queue(batch *pgx.Batch, recorded map[[16]byte]bool) {
	batch.Queue(fmt.Sprintf(`insert into public.sync_conflicts
			(id, user_id, entity_type, entity_id, versions, strategy, kind, resolved, resolution, created_at, resolved_at)
		select p.id, p.user_id, p.entity_type, p.entity_id, jsonb_build_array(
				p.winner::jsonb || case p.winner_place
					when 0 then jsonb_build_object('data', p.winner_data::jsonb)
					when 1 then case when p.strategy = 'manual' or coalesce(octet_length(e.data::text), 0) <= %[1]d then jsonb_build_object('data', e.data) else '{}' end
					when 2 then case when p.strategy = 'manual' or coalesce(octet_length(w.data::text), 0) <= %[1]d then jsonb_build_object('data', w.data) else '{}' end
					else '{}' end,
				p.loser::jsonb || jsonb_build_object('data', case p.loser_place
					when 0 then p.loser_data::jsonb when 1 then e.data else l.data end)),
			p.strategy, p.kind, p.resolved_at is not null,
			case p.resolution when '' then p.winner::jsonb else p.resolution::jsonb end, p.at, p.resolved_at
		from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[],
			$7::text[], $8::int[], $9::text[], $10::text[], $11::text[], $12::int[], $13::text[], $14::text[],
			$15::text[], $16::text[], $17::timestamptz[], $18::bool[])
			as p (id, user_id, entity_type, entity_id, kind, at,
				winner, winner_place, winner_version, winner_data, loser, loser_place, loser_version, loser_data,
				strategy, resolution, resolved_at, asked)
		left join lateral (select data from public.sync_entities e where 1 in (p.winner_place, p.loser_place)
			and (e.user_id, e.entity_type, e.entity_id) = (p.user_id, p.entity_type, p.entity_id) limit 1) e on true
		left join lateral (select data from helix.sync_siblings w where p.winner_place = 2
			and (w.user_id, w.entity_type, w.entity_id, w.version) = (p.user_id, p.entity_type, p.entity_id, p.winner_version) limit 1) w on true
		left join lateral (select data from helix.sync_siblings l where p.loser_place = 2
			and (l.user_id, l.entity_type, l.entity_id, l.version) = (p.user_id, p.entity_type, p.entity_id, p.loser_version) limit 1) l on true
		where p.strategy <> 'manual' or p.asked or not exists (select from public.sync_conflicts c
			where (c.user_id, c.entity_type, c.entity_id) = (p.user_id, p.entity_type, p.entity_id) and c.strategy = 'manual'
				and c.versions @> jsonb_build_array(jsonb_build_object('version', p.loser::jsonb -> 'version')))
		on conflict (id) do nothing returning id`, smallWinner),
		c.id, c.user, c.typ, c.entity, c.kind, c.at,
		c.winnerJSON, c.winner.place, c.winner.version, c.winner.data,
		c.loserJSON, c.loser.place, c.loser.version, c.loser.data,
		c.strategy, c.resolution, c.resolved, c.asked).Query(collect(recorded))
}

// dataColumns say where versions' data is.
type dataColumns struct {
	place   []int32
	version []*string // of a sibling; only then, since a large clock makes it dear
	data    []*string
}

func (c *dataColumns) add(v *Version) {
	var version *string
	if v.Place == InSibling {
		id := v.ID()
		version = &id
	}
	c.place, c.version, c.data = append(c.place, int32(v.Place)), append(c.version, version), append(c.data, text(v.Data))
}

// collect reads ids.
func collect(ids map[[16]byte]bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id [16]byte
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			ids[id] = true
			return nil
		})
		return err
	}
}
