package decay

import "math"

// weights are FSRS-6's published defaults, w0 to w20: those that grade Good needs.
// https://github.com/open-spaced-repetition/py-fsrs, 6.3.1, MIT.
const (
	w2  = 2.3065 // days, stability after a first Good
	w4  = 6.4133 // difficulty after a first Again
	w5  = 0.8334
	w7  = 0.001 // how fast difficulty goes back to Easy's
	w8  = 1.8722
	w9  = 0.1666
	w10 = 0.796
	w17 = 0.5425 // of the same day
	w18 = 0.0912
	w19 = 0.0658
)

const (
	day          = 24.0 // hours
	minStability = 0.001 * day
	maxStability = 36500 * day // go-fsrs's and fsrs-rs's bound; py-fsrs has none
)

// Memory is what FSRS-6 knows of a memory: stability in hours, after which its
// retention is 0.9, and difficulty, 1 to 10.
type Memory struct {
	Stability, Difficulty float64
}

// NewMemory is a memory after its first Good.
func NewMemory() Memory {
	return Memory{w2 * day, initialDifficulty(3)}
}

// Recalled is the memory after a further Good, hours after the last. Within a day
// FSRS-6 has its own formula. The retention counts hours, as that of a memory
// everywhere here; py-fsrs counts whole days.
func (m Memory) Recalled(hours float64) Memory {
	s, d := m.Stability/day, m.Difficulty
	if hours < day {
		s *= max(math.Exp(w17*w18)*math.Pow(s, -w19), 1)
	} else {
		r := FSRS(1, hours, m.Stability)
		s *= 1 + math.Exp(w8)*(11-d)*math.Pow(s, -w9)*math.Expm1((1-r)*w10)
	}
	return Memory{
		Stability:  bounded(s*day, minStability, maxStability),
		Difficulty: bounded(w7*initialDifficulty(4)+(1-w7)*d, 1, 10), // Good itself changes nothing
	}
}

// initialDifficulty is that after a first grade, 1 (Again) to 4 (Easy).
func initialDifficulty(grade float64) float64 { return w4 - math.Exp(w5*(grade-1)) + 1 }
