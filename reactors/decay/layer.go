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
