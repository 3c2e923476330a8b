package decay_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/decay"
)

// curves are all of them, in Go and in SQL, of the same four numbers.
var curves = []struct {
	name, sql string
	of        func(strength, hours, constant, exponent float64) float64
}{
	{"Ebbinghaus", "helix.ebbinghaus(s, t, c)", func(s, t, c, _ float64) float64 { return decay.Ebbinghaus(s, t, c) }},
	{"HalfLife", "helix.half_life(s, t, c)", func(s, t, c, _ float64) float64 { return decay.HalfLife(s, t, c) }},
	{"Power", "helix.power_law(s, t, c, b)", decay.Power},
	{"FSRS", "helix.fsrs(s, t, c)", func(s, t, c, _ float64) float64 { return decay.FSRS(s, t, c) }},
}

// TestOracle: figures of twelve digits, of 24 h, or 10 days, after 20 minutes to a
// month; sql/triggers has the same test of the SQL functions.
func TestOracle(t *testing.T) {
	hours := []float64{20. / 60, 1, 9, 24, 48, 144, 744}
	constants := []float64{24, 24, 1, 240}
	for i, want := range [][]float64{
		{.986207116744, .959189457109, .687289278791, .367879441171, .135335283237, .00247875217667, 3.44247710847e-14},
		{.990419147467, .971531941154, .771105412704, .5, .25, .015625, 4.65661287308e-10},
		{.866025403784, .707106781187, .316227766017, .2, .142857142857, .0830454798537, .0366371652724},
		{.999790207277, .999371607851, .994448330755, .985682408778, .97276955948, .931150940958, .806327260364},
	} {
		for j, h := range hours {
			if got := curves[i].of(1, h, constants[i], .5); math.Abs(got-want[j]) > 1e-12 {
				t.Errorf("%s after %g h is %.13g, want %.13g", curves[i].name, h, got, want[j])
			}
		}
	}
}

// TestExtremes: no number gives anything but a retention, what has not begun to
// fade is whole, and a strength above 1 or below 0 is bounded.
func TestExtremes(t *testing.T) {
	for _, c := range curves {
		for _, s := range extremes {
			for _, h := range extremes {
				for _, k := range extremes {
					for _, b := range extremes {
						if got := c.of(s, h, k, b); !(got >= 0 && got <= 1) {
							t.Fatalf("%s(%g, %g, %g, %g) = %g", c.name, s, h, k, b, got)
						}
					}
				}
			}
		}
		for _, h := range []float64{0, -1, -876_600, math.Inf(-1)} {
			if got := c.of(1, h, 24, .5); got != 1 {
				t.Errorf("%s after %g h is %g, want 1", c.name, h, got)
			}
		}
		if got := c.of(1, 876_600, 24, .5); got > .5 {
			t.Errorf("%s after 100 years is %g", c.name, got)
		}
	}
}

var extremes = []float64{0, 1, -1, .5, 1e-300, -1e-300, 5e-324, 1e-40, 1e-12, 1e-9, 745, 746, 1e5, 876_600, -876_600, 1e9, 1e12, 1e16, 1e300,
	math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// drawNumber draws any number, and more often one that means something.
func drawNumber(low, high float64) *rapid.Generator[float64] {
	return rapid.OneOf(rapid.SampledFrom(extremes), rapid.Float64(), rapid.Float64Range(low, high),
		rapid.Map(rapid.Float64Range(-12, 12), func(e float64) float64 { return math.Pow(10, e) }))
}

// TestGoIsSQL: the curves agree with Postgres's to 1e-12, whatever the numbers.
func TestGoIsSQL(t *testing.T) {
	p := newProject(t)
	const batch = 60
	rapid.Check(t, func(t *rapid.T) {
		args := make([][]float64, 4)
		for i, g := range []*rapid.Generator[float64]{drawNumber(0, 1), drawNumber(-100, 876_600), drawNumber(.1, 10_000), drawNumber(0, 3)} {
			args[i] = rapid.SliceOfN(g, batch, batch).Draw(t, [...]string{"strength", "hours", "constant", "exponent"}[i])
		}
		rows, err := p.admin.Query(t.Context(), fmt.Sprintf("select %s, %s, %s, %s from unnest($1::float8[], $2::float8[], $3::float8[], $4::float8[]) a (s, t, c, b)",
			curves[0].sql, curves[1].sql, curves[2].sql, curves[3].sql), args[0], args[1], args[2], args[3])
		if err != nil {
			t.Fatal(err)
		}
		var sql [4]float64
		i := 0
		if _, err := pgx.ForEachRow(rows, []any{&sql[0], &sql[1], &sql[2], &sql[3]}, func() error {
			for j, c := range curves {
				s, h, k, b := args[0][i], args[1][i], args[2][i], args[3][i]
				if got := c.of(s, h, k, b); !(math.Abs(got-sql[j]) <= 1e-12) {
					t.Fatalf("%s(%g, %g, %g, %g) = %.17g, in SQL %.17g", c.name, s, h, k, b, got, sql[j])
				}
			}
			i++
			return nil
		}); err != nil || i != batch {
			t.Fatalf("%d rows, %v", i, err)
		}
	})
}

// TestLayersAreSQL: layers have the same curve in Go and SQL, with parameters of
// any kind.
func TestLayersAreSQL(t *testing.T) {
	p := newProject(t)
	number := rapid.Map(drawNumber(.1, 3000), func(f float64) any {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return json.Number([]string{"1e400", "-1e400", "1e-400"}[int(math.Float64bits(f)%3)])
		}
		return f
	})
	value := rapid.OneOf(number, rapid.SampledFrom([]any{nil, "24", "many", true, []any{1}, map[string]any{"hours": 1}}))
	models := []string{"", "ebbinghaus", "half_life", "power", "fsrs", "another"}
	const batch = 40
	rapid.Check(t, func(t *rapid.T) {
		layers := rapid.SliceOfN(rapid.IntRange(-1, 9), batch, batch).Draw(t, "layers")
		names := rapid.SliceOfN(rapid.SampledFrom(models), batch, batch).Draw(t, "models")
		hours := rapid.SliceOfN(drawNumber(-10, 5000), batch, batch).Draw(t, "hours")
		params := make([]*string, batch)
		for i := range params {
			given := map[string]any{}
			for _, key := range []string{"hours", "exponent", "other"} {
				if rapid.Bool().Draw(t, key+" is there") {
					given[key] = value.Draw(t, key)
				}
			}
			var whole any = given
			switch rapid.IntRange(0, 9).Draw(t, "params") {
			case 0:
				continue
			case 1:
				whole = value.Draw(t, "odd params")
			}
			b, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			params[i] = &text
		}
		rows, err := p.admin.Query(t.Context(), `select helix.layer_retention(l, nullif(m, ''), p::jsonb, .8, t)
			from unnest($1::int[], $2::text[], $3::text[], $4::float8[]) with ordinality a (l, m, p, t, i) order by i`, layers, names, params, hours)
		if err != nil {
			t.Fatal(err)
		}
		sql, err := pgx.CollectRows(rows, pgx.RowTo[float64])
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range sql {
			var given []byte
			if params[i] != nil {
				given = []byte(*params[i])
			}
			c := decay.LayerCurve(layers[i], decay.Model(names[i]), given)
			if got := c.Retention(.8, hours[i]); !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("layer %d, model %q, %s after %g h: %v gives %.17g, in SQL %.17g", layers[i], names[i], given, hours[i], c, got, want)
			}
		}
	})
}

// TestLayerCurves: the defaults.
func TestLayerCurves(t *testing.T) {
	var got []string
	for layer := range 9 {
		c := decay.LayerCurve(layer, "", nil)
		got = append(got, fmt.Sprintf("%d %s %g %g", layer, c.Model, c.Hours, c.Exponent))
	}
	want := []string{"0 ebbinghaus 168 0", "1 half_life 720 0", "2 ebbinghaus 168 0", "3 power 1 0.5", "4 half_life 360 0",
		"5 ebbinghaus 240 0", "6 half_life 480 0", "7 ebbinghaus 1440 0", "8 ebbinghaus 168 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
