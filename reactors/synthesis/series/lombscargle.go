package series

import "math"

// moments are the sums over all measurements of products of y, cosine and sine.
type moments struct{ yc, ys, cc, ss, cs float64 }

// power is that of the best sine of the frequency: half of the squares of the
// projections on a cosine and a sine so shifted that they are orthogonal.
func (m moments) power() float64 {
	sin, cos := math.Sincos(math.Atan2(2*m.cs, m.cc-m.ss) / 2)
	even, odd := cos*m.yc+sin*m.ys, cos*m.ys-sin*m.yc
	return (even*even/(cos*cos*m.cc+2*cos*sin*m.cs+sin*sin*m.ss) + odd*odd/(cos*cos*m.ss-2*cos*sin*m.cs+sin*sin*m.cc)) / 2
}

// activity is a series of bins of equal width, 1 in those that are listed and 0 in
// the others, with its mean taken off.
type activity struct {
	active []float64 // numbers of the bins, ascending
	bins   float64
}

// powers gives the Lomb–Scargle power of the series at the frequencies first,
// first+step, … (cycles a bin), in units of its variance: exponential with mean 1
// where the activity is without memory. The many bins without activity cost nothing:
// their sums are geometric series.
func (a activity) powers(first, step float64, count int) []float64 {
	m := make([]moments, count)
	for _, bin := range a.active {
		turn, onward := turned(first*bin), turned(step*bin)
		for i := range m {
			m[i].yc += real(turn)
			m[i].ys += imag(turn)
			turn *= onward
		}
	}
	share := float64(len(a.active)) / a.bins
	variance := share * (1 - share)
	powers := make([]float64, count)
	for i := range m {
		f := first + float64(i)*step
		once, twice := a.all(f), a.all(2*f)
		m[i].yc -= share * real(once)
		m[i].ys -= share * imag(once)
		m[i].cc, m[i].ss, m[i].cs = (a.bins+real(twice))/2, (a.bins-real(twice))/2, imag(twice)/2
		powers[i] = m[i].power() / variance
	}
	return powers
}

// all is the sum of e^(2πi·f·bin) over all bins.
func (a activity) all(f float64) complex128 {
	below := math.Sin(math.Pi * f)
	if math.Abs(below) < 1e-15 {
		return complex(a.bins, 0)
	}
	return turned(f*(a.bins-1)/2) * complex(math.Sin(math.Pi*f*a.bins)/below, 0)
}

// turned is e^(2πi·cycles).
func turned(cycles float64) complex128 {
	_, cycles = math.Modf(cycles)
	sin, cos := math.Sincos(2 * math.Pi * cycles)
	return complex(cos, sin)
}
