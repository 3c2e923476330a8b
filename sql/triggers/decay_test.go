package triggers_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestDecayOracle: REACTORS.md's figures, twelve digits each.
func TestDecayOracle(t *testing.T) {
	_, admin, _, _ := migrated(t)
	hours := []string{"20 / 60.0", "1", "9", "24", "48", "144", "744"}
	for name, want := range map[string][]float64{
		"helix.ebbinghaus(1, %s, 24)":    {.986207116744, .959189457109, .687289278791, .367879441171, .135335283237, .00247875217667, 3.44247710847e-14},
		"helix.half_life(1, %s, 24)":     {.990419147467, .971531941154, .771105412704, .5, .25, .015625, 4.65661287308e-10},
		"helix.power_law(1, %s, 1, 0.5)": {.866025403784, .707106781187, .316227766017, .2, .142857142857, .0830454798537, .0366371652724},
		"helix.fsrs(1, %s, 240)":         {.999790207277, .999371607851, .994448330755, .985682408778, .97276955948, .931150940958, .806327260364},
	} {
		for i, h := range hours {
			got := get[float64](t, admin, "select "+fmt.Sprintf(name, "("+h+")::float8"))
			if math.Abs(got-want[i]) > 1e-12 {
				t.Errorf(name+" = %.13g, want %.13g", h, got, want[i])
			}
		}
	}
}

// TestDecayExact: to 1e-12 of the formulas in double precision, far beyond the
// oracle's hours.
func TestDecayExact(t *testing.T) {
	_, admin, _, _ := migrated(t)
	clamp := func(x float64) float64 { return math.Max(0, math.Min(1, x)) }
	f := math.Pow(.9, 1/-.1542) - 1
	rows, err := admin.Query(t.Context(), `select s, t, c, helix.ebbinghaus(s, t, c), helix.half_life(s, t, c), helix.power_law(s, t, c, .5), helix.fsrs(s, t, c)
		from unnest(array[0, 1e-9, .3, 1]::float8[]) s, unnest(array[0, 1e-7, .01, 1, 50.5, 1e4, 1e6, 1e8]::float8[]) t, unnest(array[.001, 1, 24, 55.356, 1e6]::float8[]) c`)
	if err != nil {
		t.Fatal(err)
	}
	var s, h, c float64
	var got [4]float64
	n := 0
	if _, err := pgx.ForEachRow(rows, []any{&s, &h, &c, &got[0], &got[1], &got[2], &got[3]}, func() error {
		n++
		for i, want := range []float64{s * math.Exp(-h/c), s * math.Pow(.5, h/c), s * math.Pow(1+h/c, -.5), s * math.Pow(1+f*h/c, -.1542)} {
			if math.Abs(got[i]-clamp(want)) > 1e-12 {
				t.Errorf("model %d of %g after %g h, constant %g: %.15g, want %.15g", i, s, h, c, got[i], want)
			}
		}
		return nil
	}); err != nil || n != 160 {
		t.Fatalf("%d rows, %v", n, err)
	}
}

// TestDecayOfAnything: no number raises an underflow, an overflow or a division
// by zero, and every result is a retention.
func TestDecayOfAnything(t *testing.T) {
	_, admin, _, _ := migrated(t)
	const numbers = `array[0, -1, 1, -1e-300, 1e-300, 5e-324, 1e-12, 745, 746, 1e5, 1e16, 1e300, 1.7e308, -1.7e308, 'inf', '-inf', 'nan']::float8[]`
	got := get[int](t, admin, `select count(*) from unnest(`+numbers+`) s, unnest(`+numbers+`) t, unnest(`+numbers+`) c, unnest(array[0, .5, -1, 1e-300, 1e300, 'nan']::float8[]) b,
		lateral (values (helix.ebbinghaus(s, t, c)), (helix.half_life(s, t, c)), (helix.power_law(s, t, c, b)), (helix.fsrs(s, t, c))) v (r)
		where not (r between 0 and 1)`)
	if got != 0 {
		t.Errorf("%d results are not between 0 and 1", got)
	}
	for _, model := range []string{"ebbinghaus(1, %s, 24)", "half_life(1, %s, 24)", "power_law(1, %s, 1, .5)", "fsrs(1, %s, 24)"} {
		if got := get[float64](t, admin, "select helix."+fmt.Sprintf(model, "-1000")); got != 1 {
			t.Errorf(model+" = %g, want 1: nothing has passed", "-1000", got)
		}
	}
}

func TestLayerRetention(t *testing.T) {
	_, admin, _, _ := migrated(t)
	for layer, model := range map[int]string{
		1: "half_life(.8, 100, 720)", 2: "ebbinghaus(.8, 100, 168)", 3: "power_law(.8, 100, 1, .5)", 4: "half_life(.8, 100, 360)",
		5: "ebbinghaus(.8, 100, 240)", 6: "half_life(.8, 100, 480)", 7: "ebbinghaus(.8, 100, 1440)", 8: "ebbinghaus(.8, 100, 168)",
	} {
		got := get[float64](t, admin, "select helix.layer_retention($1, null, null, .8, 100)", layer)
		if want := get[float64](t, admin, "select helix."+model); got != want {
			t.Errorf("layer %d: %g, want %s = %g", layer, got, model, want)
		}
	}
	for own, model := range map[string]string{
		`'ebbinghaus', '{"hours": 24}'`: "ebbinghaus(.8, 100, 24)", `'half_life', '{"hours": 24}'`: "half_life(.8, 100, 24)",
		`'power', '{"hours": 2, "exponent": 0.3}'`: "power_law(.8, 100, 2, .3)", `'fsrs', '{"hours": 240}'`: "fsrs(.8, 100, 240)",
		`null, '{"hours": 24}'`: "half_life(.8, 100, 24)", `'power', null`: "power_law(.8, 100, 1, .5)",
	} {
		if !get[bool](t, admin, "select helix.layer_retention(1, "+own+", .8, 100) = helix."+model) {
			t.Errorf("(%s) is not %s", own, model)
		}
	}
}

func TestMemoriesWithRetention(t *testing.T) {
	db, admin, user, app := migrated(t)
	exec(t, app, "insert into memories (content, created_at) values ('known', now() - interval '30 days'), ('unknown', now() - interval '30 days')")
	exec(t, admin, `insert into memory_retention select id, user_id, 240, 5, now() - interval '744 hours', 1 from memories where content = 'known'`)
	exec(t, db.AsUser(t, db.NewUser(t).ID), "insert into memories (content) values ('another''s')")
	for content, want := range map[string]float64{"known": .806327260364, "unknown": math.Pow(1+(math.Pow(.9, 1/-.1542)-1)*720/55.356, -.1542)} {
		if got := get[float64](t, app, "select retention from memories_with_retention where content = $1", content); math.Abs(got-want) > 1e-6 {
			t.Errorf("retention of %s is %g, want %g", content, got, want)
		}
	}
	if got := get[int](t, app, "select count(*) from memories_with_retention where user_id <> $1", user.ID); got != 0 {
		t.Errorf("sees %d memories of others", got)
	}
}
