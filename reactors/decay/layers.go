package decay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

const layersTable = "public.psychology_layers"

// namespace is that of the ids of layers that helixd makes: a user's layer has the
// same one wherever and whenever it is made.
var namespace = uuid.MustParse("2f1f6f0a-9f0e-4f57-8a55-0d3f2b7c9d10")

func layerID(user uuid.UUID, number int32) uuid.UUID {
	return uuid.NewSHA1(namespace, append(user[:], byte(number)))
}

// queueLacking asks which of the seven layers each of the users has not.
func queueLacking(batch *pgx.Batch, users []uuid.UUID, into map[uuid.UUID][]int32) {
	batch.Queue(living+`select id, lacking from living cross join lateral (select array(select n from generate_series(1, 7) n
			where not exists (select from public.psychology_layers l where l.user_id = living.id and l.layer_number = n))) l (lacking)
		where lacking <> '{}'`, users).Query(func(rows pgx.Rows) error {
		var user uuid.UUID
		var lacking []int32
		_, err := pgx.ForEachRow(rows, []any{&user, &lacking}, func() error {
			into[user] = slices.Clone(lacking)
			return nil
		})
		return err
	})
}

// layer is a row of psychology_layers, as much of it as helixd writes.
type layer struct {
	ID         uuid.UUID `json:"id"`
	UserID     uuid.UUID `json:"user_id"`
	Number     int32     `json:"layer_number"`
	Rate       float64   `json:"decay_rate"`
	Strength   float64   `json:"initial_strength"`
	Reinforced time.Time `json:"last_reinforced"`
	Updated    time.Time `json:"last_updated"`
	Created    time.Time `json:"created_at"`
}

// makeLayers makes layers that begin when their user was seen. An app's own, which
// came meanwhile, stays. The rows are read as JSON: then a time is UTC in columns
// without time zone, too, whatever the session's.
func makeLayers(ctx context.Context, tx *reactors.Tx, lacking map[uuid.UUID][]int32, since map[uuid.UUID]time.Time) error {
	if len(lacking) == 0 {
		return nil
	}
	var layers []layer
	for user, numbers := range lacking {
		at := since[user].UTC()
		for _, n := range numbers {
			layers = append(layers, layer{layerID(user, n), user, n, 1, 1, at, at, at})
		}
	}
	slices.SortFunc(layers, func(a, b layer) int { return slices.Compare(a.ID[:], b.ID[:]) })
	rows, err := json.Marshal(layers)
	if err != nil {
		return fmt.Errorf("make layers: %w", err)
	}
	made, err := tx.Query(ctx, `insert into public.psychology_layers
			(id, user_id, layer_number, decay_rate, initial_strength, last_reinforced, last_updated, created_at)
		select id, user_id, layer_number, decay_rate, initial_strength, last_reinforced, last_updated, created_at
		from jsonb_populate_recordset(null::public.psychology_layers, $1) on conflict do nothing
		returning `+layerColumns, string(rows))
	if err == nil {
		_, err = broadcastLayers(made, replication.Insert, tx.Broadcast)
	}
	if err != nil {
		return fmt.Errorf("make layers: %w", err)
	}
	return nil
}

// tellLayers tells users of their layers, which one of their devices has written.
func tellLayers(ctx context.Context, tx *reactors.Tx, written map[uuid.UUID]bool) error {
	var users []uuid.UUID
	for user, w := range written {
		if w {
			users = append(users, user)
		}
	}
	if len(users) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, "select "+layerColumns+" from public.psychology_layers where user_id = any ($1) and layer_number is not null order by user_id, layer_number", users)
	if err == nil {
		_, err = broadcastLayers(rows, replication.Update, tx.Broadcast)
	}
	if err != nil {
		return fmt.Errorf("tell of layers: %w", err)
	}
	return nil
}

// layerColumns are those that broadcastLayers reads. JSON has no number for what an
// adopted row may have as decay_rate.
const layerColumns = `id, user_id, layer_number, layer_name, case when decay_rate between 0 and 1 then decay_rate::float8 end, helix.utc(last_reinforced)`

// broadcastLayers tells of a statement's rows, and counts them.
func broadcastLayers(rows pgx.Rows, op replication.Op, tell func(reactors.Broadcast)) (n int64, err error) {
	var id, user uuid.UUID
	var number int32
	var title *string
	var rate *float64
	var reinforced pgtype.Timestamptz
	tag, err := pgx.ForEachRow(rows, []any{&id, &user, &number, &title, &rate, &reinforced}, func() error {
		record := map[string]any{"layer_name": title, "decay_rate": rate, "last_reinforced": reinforced}
		tell(reactors.Broadcast{UserID: user.String(), Op: op, Table: "psychology_layers", ID: id.String(),
			Key: map[string]any{"layer_number": number}, Record: func() any { return record }})
		return nil
	})
	return tag.RowsAffected(), err
}
