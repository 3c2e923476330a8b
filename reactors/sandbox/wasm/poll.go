package wasm

import (
	"encoding/binary"
	"math"
	"time"
)

const (
	subscriptionSize = 48
	eventSize        = 32

	eventClock   = 0
	eventFDRead  = 1
	eventFDWrite = 2
)

// pollOneoff waits until the first of its subscriptions is due: streams always
// are, clocks when their time has come. It waits no longer than the call may
// take.
func pollOneoff(c *call, mem mem, p []uint64) errno {
	if p[2] == 0 || p[2] > maxVectors {
		return eInval
	}
	in, ok := mem.at(p[0], p[2]*subscriptionSize)
	if !ok {
		return eFault
	}
	out, ok := mem.at(p[1], p[2]*eventSize)
	if !ok {
		return eFault
	}
	// The two may overlap, so the subscriptions are read from a copy.
	in = append([]byte(nil), in...)

	waits := make([]uint64, p[2]) // nanoseconds
	wait := uint64(math.MaxUint64)
	for i := range waits {
		sub := in[i*subscriptionSize:]
		switch sub[8] {
		case eventClock:
			d, ok := c.untilDue(sub)
			if !ok {
				return eInval
			}
			waits[i] = d
		case eventFDRead, eventFDWrite:
		default:
			return eInval
		}
		wait = min(wait, waits[i])
	}
	c.sleep(wait)

	events := uint64(0)
	for i, w := range waits {
		if w > wait {
			continue
		}
		sub, event := in[i*subscriptionSize:], out[events*eventSize:][:eventSize]
		clear(event)
		copy(event, sub[:8]) // userdata
		event[10] = sub[8]
		if sub[8] != eventClock {
			fd := uint64(binary.LittleEndian.Uint32(sub[16:]))
			if !c.open(fd) || (fd == 0) != (sub[8] == eventFDRead) {
				event[8] = byte(eBadF)
			} else if fd == 0 {
				binary.LittleEndian.PutUint64(event[16:], uint64(len(c.stdin)))
				if len(c.stdin) == 0 {
					event[24] = 1 // hang-up: there will be no more
				}
			}
		}
		events++
	}
	if !mem.put32(p[3], uint32(events)) {
		return eFault
	}
	return success
}

// untilDue gives how long the clock of a subscription has to go.
func (c *call) untilDue(sub []byte) (uint64, bool) {
	now, ok := c.clock(uint64(binary.LittleEndian.Uint32(sub[16:])))
	timeout := binary.LittleEndian.Uint64(sub[24:])
	switch flags := binary.LittleEndian.Uint16(sub[40:]); {
	case !ok || flags > 1:
		return 0, false
	case flags == 0:
		return timeout, true
	default: // an absolute time
		return timeout - min(timeout, now), true
	}
}

// sleep ends the call when it would outlast it.
func (c *call) sleep(nanoseconds uint64) {
	if nanoseconds == 0 {
		return
	}
	left := c.env.Limits.Wall - time.Since(c.start)
	d := time.Duration(min(nanoseconds, math.MaxInt64))
	timer := time.NewTimer(min(d, left))
	defer timer.Stop()
	select {
	case <-timer.C:
		if d > left {
			panic(c.tooLong())
		}
	case <-c.Context.Done():
		panic(c.Context.Err())
	}
}
