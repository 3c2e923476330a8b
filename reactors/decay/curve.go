package decay

import (
	"encoding/json"
	"math"
)

// Model is the name of a curve, psychology_layers.decay_model.
type Model string

// The four of them. Any other is read as Ebbinghaus.
const (
	ModelEbbinghaus Model = "ebbinghaus"
	ModelHalfLife   Model = "half_life"
	ModelPower      Model = "power"
	ModelFSRS       Model = "fsrs"
)

// Curve is a model with its parameters.
type Curve struct {
	Model    Model
	Hours    float64 // stability, half-life or tau
	Exponent float64 // of Power only
}

// layerCurves are those of the seven layers.
var layerCurves = map[int]Curve{
	1: {ModelHalfLife, 720, 0},
	2: {ModelEbbinghaus, 168, 0},
	3: {ModelPower, 1, 0.5},
	4: {ModelHalfLife, 360, 0},
	5: {ModelEbbinghaus, 240, 0},
	6: {ModelHalfLife, 480, 0},
	7: {ModelEbbinghaus, 1440, 0},
}

// LayerCurve is a psychology layer's curve as helix.layer_retention has it: the
// layer's own where model is "" and params, a JSON object with hours and exponent,
// do not say otherwise. What is no number counts as not said.
func LayerCurve(layer int, model Model, params []byte) Curve {
	c, known := layerCurves[layer]
	if !known {
		c = Curve{ModelEbbinghaus, 168, 0}
	}
	switch {
	case model == "":
	case model == ModelPower:
		c = layerCurves[3]
	case c.Model == ModelPower:
		c = Curve{model, 168, 0}
	default:
		c.Model = model
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(params, &given) != nil {
		return c
	}
	if v, ok := number(given["hours"]); ok {
		c.Hours = v
	}
	if v, ok := number(given["exponent"]); ok && c.Model == ModelPower {
		c.Exponent = v
	}
	return c
}

// number reads a JSON number, within ±1e12, as helix.layer_parameter does.
func number(raw json.RawMessage) (float64, bool) {
	var n json.Number
	if len(raw) == 0 || raw[0] == '"' || json.Unmarshal(raw, &n) != nil || n == "" {
		return 0, false
	}
	f, err := n.Float64()
	if err != nil && !math.IsInf(f, 0) { // that is one too large, which is bounded
		return 0, false
	}
	return bounded(f, -1e12, 1e12), true
}

// Retention is what the curve leaves of a strength after some hours, 0 to 1.
func (c Curve) Retention(strength, hours float64) float64 {
	switch c.Model {
	case ModelHalfLife:
		return HalfLife(strength, hours, c.Hours)
	case ModelPower:
		return Power(strength, hours, c.Hours, c.Exponent)
	case ModelFSRS:
		return FSRS(strength, hours, c.Hours)
	default:
		return Ebbinghaus(strength, hours, c.Hours)
	}
}

// FSRS-6's forgetting curve with its default weights: 0.9 is left after the
// stability. https://github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm
const fsrsDecay = -0.1542 // -w20

var fsrsFactor = math.Pow(0.9, 1/fsrsDecay) - 1

// Ebbinghaus is strength·e^(-hours/stability), 0 to 1, as helix.ebbinghaus gives it.
func Ebbinghaus(strength, hours, stability float64) float64 {
	return decayed(strength, passed(hours)/constant(stability))
}

// HalfLife is strength·0.5^(hours/halfLife), 0 to 1, as helix.half_life gives it.
func HalfLife(strength, hours, halfLife float64) float64 {
	return decayed(strength, math.Ln2*(passed(hours)/constant(halfLife)))
}

// Power is strength·(1 + hours/tau)^(-exponent), 0 to 1, as helix.power_law gives it.
func Power(strength, hours, tau, exponent float64) float64 {
	if exponent <= 1e-9 {
		exponent = 0
	}
	return decayed(strength, bounded(exponent, 0, 1e6)*math.Log(1+passed(hours)/constant(tau)))
}

// FSRS is FSRS-6's strength·(1 + f·hours/stability)^-0.1542, 0 to 1, as
// helix.fsrs gives it; 0.9 of the strength is left after stability hours.
func FSRS(strength, hours, stability float64) float64 {
	return decayed(strength, -fsrsDecay*math.Log(1+fsrsFactor*(passed(hours)/constant(stability))))
}

// passed is how many hours count: none before the beginning, as a clock that was
// set back has them, and no more than any clock will count.
func passed(hours float64) float64 {
	if hours <= 1e-9 {
		return 0
	}
	return bounded(hours, 0, 1e9)
}

// constant is a time constant that can be divided by.
func constant(hours float64) float64 { return bounded(hours, 1e-9, 1e12) }

// decayed is strength·e^-x. Postgres raises an underflow below 1e-308; so there is
// nothing left of less than 1e-40, nor after an x of 600.
func decayed(strength, x float64) float64 {
	if x > 600 || strength <= 1e-40 {
		return 0
	}
	return bounded(strength, 0, 1) * math.Exp(-x)
}

// bounded is x within low and high; NaN is above all, as in Postgres.
func bounded(x, low, high float64) float64 {
	if math.IsNaN(x) {
		return high
	}
	return min(max(x, low), high)
}
