package capture

import (
	"encoding/binary"
	"math"
	"strings"
)

// Floor is the lowest level that is told, in dBFS: what 16 bits can hold.
const Floor = -96.0

// Level is how loud samples are, in dBFS: 0 is the end of their range.
type Level struct {
	RMS, Peak float64
	Clipped   bool // a sample is at the end of the range
}

// Measure gives the level of samples. A constant offset, which cheap microphones
// have, is no sound.
func Measure(p []byte) Level {
	var sum, squares float64
	var peak int
	n := len(p) / 2
	if n == 0 {
		return Level{RMS: Floor, Peak: Floor}
	}
	for i := range n {
		s := int(int16(binary.LittleEndian.Uint16(p[2*i:])))
		sum += float64(s)
		squares += float64(s) * float64(s)
		peak = max(peak, s, -s)
	}
	mean := sum / float64(n)
	return Level{
		RMS:     decibels(math.Sqrt(max(squares/float64(n)-mean*mean, 0))),
		Peak:    decibels(float64(peak)),
		Clipped: peak >= math.MaxInt16,
	}
}

func decibels(v float64) float64 {
	if v <= 0 {
		return Floor
	}
	return max(20*math.Log10(v/(math.MaxInt16+1)), Floor)
}

// meterFloor is where the bar begins: rooms are louder.
const meterFloor = -60.0

// Bar draws the level with so many characters: the RMS as #, up to the peak as -.
func (l Level) Bar(width int) string {
	cells := func(db float64) int {
		return int(math.Round(float64(width) * min(max(1-db/meterFloor, 0), 1)))
	}
	rms, peak := cells(l.RMS), cells(l.Peak)
	peak = max(peak, rms)
	return strings.Repeat("#", rms) + strings.Repeat("-", peak-rms) + strings.Repeat(" ", width-peak)
}
