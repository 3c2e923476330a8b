package series_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

func TestLombScargleEqualsScipy(t *testing.T) {
	var cases []struct {
		Name                           string
		T, Y, Omega, Power, Normalized []float64
	}
	golden(t, "lombscargle.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			power, normalized := series.LombScargle(c.T, c.Y, c.Omega, false), series.LombScargle(c.T, c.Y, c.Omega, true)
			for i := range c.Omega {
				if !near(power[i], c.Power[i], 1e-9) {
					t.Errorf("power at %g is %.12g, want %.12g", c.Omega[i], power[i], c.Power[i])
				}
				if !near(normalized[i], c.Normalized[i], 1e-9) {
					t.Errorf("normalized power at %g is %.12g, want %.12g", c.Omega[i], normalized[i], c.Normalized[i])
				}
			}
		})
	}
}

// The sparse periodogram is LombScargle of the whole series of zeros and ones.
func TestPowersEqualLombScargle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bins := rapid.IntRange(10, 400).Draw(t, "bins")
		bin, y := make([]float64, bins), make([]float64, bins)
		var active []float64
		for i := range y {
			bin[i] = float64(i)
			if i == 3 || i != 4 && rapid.IntRange(0, 4).Draw(t, "active") == 0 {
				y[i] = 1
				active = append(active, bin[i])
			}
		}
		share := float64(len(active)) / float64(bins)
		for i := range y {
			y[i] -= share
		}
		first, step := rapid.Float64Range(0.01, 0.1).Draw(t, "first"), rapid.Float64Range(0.001, 0.03).Draw(t, "step")
		var omega []float64
		for i := range 10 {
			omega = append(omega, 2*math.Pi*(first+float64(i)*step))
		}
		got := series.Powers(active, float64(bins), first, step, 10)
		for i, want := range series.LombScargle(bin, y, omega, false) {
			if want /= share * (1 - share); !near(got[i], want, 1e-9*(1+want)) {
				t.Fatalf("power at %g is %.12g, want %.12g", omega[i], got[i], want)
			}
		}
	})
}

func golden(t *testing.T, name string, into any) {
	t.Helper()
	src, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, into); err != nil {
		t.Fatal(err)
	}
}
