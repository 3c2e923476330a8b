package decay_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/decay"
)

// tick ticks once, in small chunks.
func (p *project) tick(t testing.TB, at time.Time, ahead time.Duration) decay.Progress {
	t.Helper()
	ticker, err := decay.NewTicker(t.Context(), p.pool)
	if err != nil {
		t.Fatal(err)
	}
	ticker.InChunksOf(1)
	done, err := ticker.Tick(t.Context(), at, ahead, func(decay.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// exact checks that layers are within the tolerance of what they are at a time.
func (p *project) exact(t testing.TB, at time.Time, where string) {
	t.Helper()
	rows, err := p.admin.Query(t.Context(), `select id::text, coalesce(layer_number, 0), coalesce(decay_model, ''), decay_params, coalesce(decay_rate::float8, -1), coalesce(initial_strength, 1),
			date_part('epoch', helix.utc(last_reinforced)), helix.layer_retention(layer_number, decay_model, decay_params, coalesce(initial_strength, 1), ($1 - date_part('epoch', helix.utc(last_reinforced))) / 3600)
		from psychology_layers where `+where, float64(at.UnixMicro())/1e6)
	if err != nil {
		t.Fatal(err)
	}
	var id, model string
	var layer int
	var params []byte
	var rate, strength, anchor, sql float64
	n := 0
	if _, err := pgx.ForEachRow(rows, []any{&id, &layer, &model, &params, &rate, &strength, &anchor, &sql}, func() error {
		n++
		hours := (float64(at.UnixMicro())/1e6 - anchor) / 3600
		want := decay.LayerCurve(layer, decay.Model(model), params).Retention(strength, hours)
		if math.Abs(want-sql) > 1e-12 {
			t.Errorf("layer %d (%s %s) of %g after %g h: %.15g in SQL, %.15g in Go", layer, model, params, strength, hours, sql, want)
		}
		if !(math.Abs(rate-want) <= decay.Tolerance) {
			t.Errorf("layer %d (%s %s) of %g after %g h: decay_rate is %g, exactly %g", layer, model, params, strength, hours, rate, want)
		}
		return nil
	}); err != nil || n == 0 {
		t.Fatalf("%d layers, %v", n, err)
	}
}

var anchor = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC) // a day of 23 hours in Berlin follows

// layers makes the seven of some users, in all models, reinforced at the anchor.
func (p *project) layers(t testing.TB, users int) {
	t.Helper()
	for range users {
		exec(t, p.admin, `insert into psychology_layers (user_id, layer_number, last_reinforced, last_updated, data) -- six a page
			select $1, n, $2, $2, jsonb_build_object('long', repeat('.', 1150)) from generate_series(1, 7) n`, p.db.NewUser(t).ID, anchor)
	}
}

// TestHundredTicks: ticks follow the curve, however many there are and however far
// apart: none multiplies what another has left, counts whole hours or moves the
// anchor.
func TestHundredTicks(t *testing.T) {
	p := newProject(t)
	p.layers(t, 3)
	exec(t, p.admin, `update psychology_layers set decay_model = 'fsrs', decay_params = '{"hours": 240}' where layer_number = 7
		and user_id = (select user_id from psychology_layers order by user_id limit 1)`)
	exec(t, p.admin, `update psychology_layers set decay_model = 'ebbinghaus', decay_params = '{"hours": 24}' where layer_number = 5`)
	state := get[string](t, p.admin, "select string_agg(to_jsonb(l)::text, '') from psychology_layers l")
	exec(t, p.admin, "create temp table fresh as table psychology_layers")
	for _, every := range []time.Duration{50 * time.Minute, time.Hour, 36 * time.Hour} {
		exec(t, p.admin, "delete from psychology_layers")
		exec(t, p.admin, "insert into psychology_layers table fresh")
		at := anchor
		for range 100 {
			at = at.Add(every)
			p.tick(t, at, every)
			p.exact(t, at, "true")
		}
		many := get[[]float64](t, p.admin, "select array_agg(decay_rate order by id) from psychology_layers")
		if n := get[int](t, p.admin, "select count(*) from psychology_layers l join fresh f using (id) where l.last_reinforced <> f.last_reinforced or l.initial_strength <> f.initial_strength"); n != 0 {
			t.Errorf("every %s: %d anchors have moved", every, n)
		}
		exec(t, p.admin, "delete from psychology_layers")
		exec(t, p.admin, "insert into psychology_layers table fresh")
		p.tick(t, at, every)
		one := get[[]float64](t, p.admin, "select array_agg(decay_rate order by id) from psychology_layers")
		for i := range many {
			if math.Abs(many[i]-one[i]) > decay.Tolerance {
				t.Errorf("every %s: 100 ticks left %g, one %g", every, many[i], one[i])
			}
		}
	}
	if state == get[string](t, p.admin, "select string_agg(to_jsonb(l)::text, '') from psychology_layers l") {
		t.Error("nothing was written")
	}
}

// TestTickWritesLittle: what is near enough stays as it is, and is near enough until
// the next tick.
func TestTickWritesLittle(t *testing.T) {
	p := newProject(t)
	p.layers(t, 4)
	at := anchor
	written := map[int64]int{}
	for range 48 {
		at = at.Add(time.Hour)
		done := p.tick(t, at, time.Hour)
		if done.Rows < 28 || done.Chunks < 4 { // what it writes may come to stand ahead of it
			t.Fatalf("%+v", done)
		}
		written[done.Written]++
		if again := p.tick(t, at, time.Hour); again.Written != 0 && again.Written >= done.Written {
			t.Fatalf("written twice: %+v", again)
		}
		// Layer 3 and others that just began lose more than 0.01 between two ticks.
		p.exact(t, at.Add(59*time.Minute), `abs(helix.layer_retention(layer_number, null, null, 1, extract(epoch from '`+at.Format(time.RFC3339)+`'::timestamptz - last_reinforced)::float8 / 3600)
			- helix.layer_retention(layer_number, null, null, 1, extract(epoch from '`+at.Format(time.RFC3339)+`'::timestamptz - last_reinforced)::float8 / 3600 + 1)) < 0.0099`)
	}
	if written[28] != 0 || len(written) < 2 {
		t.Errorf("rows written a tick, and how often: %v", written)
	}
}

// TestClocks: 24 hours are 24 hours across a change to summer time, in a session
// that lives there; what begins later is whole.
func TestClocks(t *testing.T) {
	p := newProject(t)
	exec(t, p.admin, "alter database "+pgx.Identifier{p.db.Name()}.Sanitize()+" set timezone = 'Europe/Berlin'")
	p.pool.Reset() // into new sessions
	p.layers(t, 1)
	exec(t, p.admin, `update psychology_layers set decay_model = 'ebbinghaus', decay_params = '{"hours": 24}' where layer_number = 1`)
	exec(t, p.admin, `update psychology_layers set last_reinforced = last_reinforced + interval '100 years', decay_rate = .2 where layer_number = 2`)
	exec(t, p.admin, `update psychology_layers set last_reinforced = last_reinforced - interval '100 years' where layer_number >= 4`)
	at := anchor.Add(24 * time.Hour)
	p.tick(t, at, time.Hour)
	for layer, want := range map[int]float64{1: .367879441171, 2: 1, 3: .2, 4: 0, 7: 0} {
		if got := get[float64](t, p.admin, "select decay_rate from psychology_layers where layer_number = $1", layer); math.Abs(got-want) > 1e-9 {
			t.Errorf("layer %d: %.12g, want %.12g", layer, got, want)
		}
	}
	if !get[bool](t, p.admin, "select bool_and(last_updated = $1) from psychology_layers", at) {
		t.Error("last_updated is not the tick's time")
	}
}

// TestRefused: rows that an app's trigger refuses keep no others from being written.
func TestRefused(t *testing.T) {
	p := newProject(t)
	p.layers(t, 6)
	exec(t, p.admin, `create table pinned as select user_id from psychology_layers order by user_id offset 14 limit 1;
		create function pin() returns trigger language plpgsql as $$ begin if new.user_id in (select user_id from pinned) then raise exception 'pinned'; end if; return new; end $$;
		create trigger pin before update on psychology_layers for each row execute function pin()`)
	at := anchor.Add(100 * time.Hour)
	done := p.tick(t, at, time.Hour)
	if done.Refused != 7 || done.Written != 35 {
		t.Errorf("%+v", done)
	}
	p.exact(t, at, "user_id not in (select user_id from pinned)")
	if !get[bool](t, p.admin, "select bool_and(decay_rate = 1) from psychology_layers where user_id in (select user_id from pinned)") {
		t.Error("the refused rows were written")
	}
}

// TestWrittenMeanwhile: rows that come to stand where the tick does not look, as an
// update may move them, are found.
func TestWrittenMeanwhile(t *testing.T) {
	p := newProject(t)
	p.layers(t, 2)
	ticker, err := decay.NewTicker(t.Context(), p.pool)
	if err != nil {
		t.Fatal(err)
	}
	ticker.InChunksOf(1)
	at := anchor.Add(100 * time.Hour)
	done, err := ticker.Tick(t.Context(), at, time.Hour, func(done decay.Progress) {
		if done.Chunks == 1 {
			p.layers(t, 4)
		}
	})
	if err != nil || done.Rows == 42 {
		t.Fatalf("%+v, %v", done, err)
	}
	p.exact(t, at, "true")
}

// TestOneTick: two ticks do not go at once; the second finds nothing to do.
func TestOneTick(t *testing.T) {
	p := newProject(t)
	p.layers(t, 2)
	other := p.db.Connect(t, "postgres")
	exec(t, other, "select pg_advisory_lock($1)", 0x646563617973)
	ticker, err := decay.NewTicker(t.Context(), p.pool)
	if err != nil {
		t.Fatal(err)
	}
	at := anchor.Add(10 * time.Hour)
	waits := make(chan struct{})
	ended := make(chan decay.Progress, 1)
	failed := make(chan error, 1)
	go func() {
		done, err := ticker.Tick(context.WithoutCancel(t.Context()), at, time.Hour, func(p decay.Progress) {
			if p.Waited && p.Chunks == 0 {
				close(waits)
			}
		})
		ended <- done
		failed <- err
	}()
	<-waits
	if n := get[int](t, p.admin, "select count(*) from psychology_layers where decay_rate < 1"); n != 0 {
		t.Errorf("%d rows were written while another ticked", n)
	}
	exec(t, other, "select pg_advisory_unlock($1)", 0x646563617973)
	if done, err := <-ended, <-failed; err != nil || done.Written != 12 || !done.Waited {
		t.Errorf("%+v, %v", done, err)
	}
	if free := get[bool](t, p.admin, "select pg_try_advisory_lock($1)", 0x646563617973); !free {
		t.Error("the tick has kept its lock")
	}
}

// TestNearly: what a tick compares with is the exact value to 1e-9, as of which a tick writes.
func TestNearly(t *testing.T) {
	p := newProject(t)
	exec(t, p.admin, "create temp table odd (layer_number int, decay_model text, decay_params jsonb, initial_strength float8, last_reinforced timestamptz)")
	exec(t, p.admin, `insert into odd select n, m, p::jsonb, s, a from generate_series(0, 8) n, unnest(array[null, 'power', 'fsrs']) m, unnest(array[null, '{"hours": 3}']) p,
		unnest(array[null, 0, .3, 1, 7, -1, 1e-300, 'nan', 'inf']::float8[]) s,
		unnest(array['infinity', '-infinity', '2026-01-01', '2025-12-31 23:59:59.999999', '2025-12-31', '2025-12-01', '1926-01-01', '2126-01-01', '0044-01-01 BC']::timestamptz[]) a`)
	const seconds = "date_part('epoch', timestamptz '2026-01-01 00:00Z')"
	if got := get[int](t, p.admin, "select count(*) from odd where abs("+decay.NearlyAt(seconds)+" - "+decay.RetentionAt(seconds)+") <= 1e-9"); got != 9*3*2*9*9 {
		t.Errorf("%d of %d are the same", got, 9*3*2*9*9)
	}
}
