package stream

import (
	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/internal/pulse"
)

// measure tells that the owner goes on, and how far it is.
func (o *owner) measure() {
	pulse.Stream.Step()
	metric.InFlight.Set(float64(o.assembler.Bytes() + o.handed))
	metric.Received.Set(float64(o.received))
	metric.Flushed.Set(float64(o.flushed))
}

// rest tells that nothing is streamed any more.
func (o *owner) rest() {
	pulse.Stream.Rest()
	metric.InFlight.Set(0)
	metric.Received.Set(0)
	metric.Flushed.Set(0)
}
