package series

import "math"

// Powers is the sparse periodogram, for comparison with LombScargle.
func Powers(active []float64, bins, first, step float64, count int) []float64 {
	return activity{active, bins}.powers(first, step, count)
}

// LombScargle is the periodogram of y, measured at the times t, at the angular
// frequencies omega (Scargle 1982): the same figures as scipy.signal.lombscargle,
// normalize as there (2·P/Σy², a share of 0..1). It takes no mean off y.
func LombScargle(t, y, omega []float64, normalize bool) []float64 {
	squares := 0.
	for _, v := range y {
		squares += v * v
	}
	power := make([]float64, len(omega))
	for i, w := range omega {
		var s moments
		for j := range t {
			sin, cos := math.Sincos(w * t[j])
			s.yc += y[j] * cos
			s.ys += y[j] * sin
			s.cc += cos * cos
			s.ss += sin * sin
			s.cs += cos * sin
		}
		if power[i] = s.power(); normalize {
			power[i] *= 2 / squares
		}
	}
	return power
}
