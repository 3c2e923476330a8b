package decay

import "math"

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
