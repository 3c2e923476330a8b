package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/helixd/helixd/internal/capture"
	"github.com/helixd/helixd/replication/stream"
)

const (
	ringTime  = 4 * time.Second        // that a slow disk may take
	pollTime  = 20 * time.Millisecond  // of the ring: the device's thread wakes nobody
	meterTime = 100 * time.Millisecond // of the display
	stallTime = 5 * time.Second        // without a sample: the device is gone
)

// take is one recording.
type take struct {
	o        capture.Options
	recorder *capture.Recorder
	ring     *capture.Ring
	buf      []byte
	errs     io.Writer
	meter    bool // errs is a terminal
}

func newTake(w io.Writer, o capture.Options, errs io.Writer) *take {
	terminal, ok := errs.(*os.File)
	return &take{o: o, recorder: capture.NewRecorder(w, o), ring: capture.NewRing(int(ringTime.Seconds() * float64(o.Rate))),
		buf: make([]byte, 32<<10), errs: errs, meter: ok && isTerminal(terminal)}
}

// run records until something ends it, and says what an ear would have noticed.
func (t *take) run(ctx context.Context, sound audio, m microphone, enter <-chan struct{}) error {
	lost, stop, err := sound.Record(m, t.o.Rate, t.ring)
	if err != nil {
		return &stream.SetupError{Problem: err.Error(), Hint: "Is it in use, or forbidden? Others are: helixd record --list"}
	}
	if t.meter {
		fmt.Fprintf(t.errs, "Recording from %s. Enter ends it.\n", m.Name)
	}
	why, gone, err := t.listen(ctx, lost, enter)
	stop()
	if err == nil && why == "" {
		_, err = t.drain() // what came until the device stopped
	}
	if t.meter {
		fmt.Fprint(t.errs, "\r\x1b[K")
	}
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	if gone {
		fmt.Fprintf(t.errs, "helixd: the microphone %q is gone; what it gave until then is kept (%.1fs)\n", m.Name, t.recorder.Duration().Seconds())
	}
	return t.judge(why, m)
}

// judge says whether it is worth keeping, and what is wrong with it.
func (t *take) judge(why capture.Reason, m microphone) error {
	if n := t.ring.Lost(); n > 0 {
		fmt.Fprintf(t.errs, "helixd: %.1fs are missing: the disk did not take them in time\n", float64(n)/float64(t.o.Rate))
	}
	if d := t.recorder.Clipped(); d > 0 {
		fmt.Fprintf(t.errs, "helixd: it was too loud for %.1fs; lower the microphone's level\n", d.Seconds())
	}
	switch {
	case t.recorder.Duration() == 0:
		return errors.New("nothing was recorded: the microphone gave no sample")
	case why == capture.Unheard:
		return &stream.SetupError{Problem: fmt.Sprintf("nothing was heard in %s; the loudest was %.0f dBFS", t.o.Wait, t.recorder.Loudest()),
			Hint: fmt.Sprintf("Is %q the right microphone, and not muted? Others are: helixd record --list. Or lower --threshold.", m.Name)}
	}
	if t.meter {
		fmt.Fprintf(t.errs, "Recorded %.1fs.\n", t.recorder.Duration().Seconds())
	}
	return nil
}

// listen passes samples on until something ends it. gone tells that the device did.
func (t *take) listen(ctx context.Context, lost, enter <-chan struct{}) (why capture.Reason, gone bool, err error) {
	poll, draw := time.NewTicker(pollTime), time.NewTicker(meterTime)
	defer poll.Stop()
	defer draw.Stop()
	newest, got := time.Now(), time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return "", false, nil
		case <-enter:
			return "", false, nil
		case <-lost:
			return "", true, nil
		case <-draw.C:
			t.draw()
		case <-poll.C:
			if why, err := t.drain(); why != "" || err != nil {
				return why, false, err
			}
			if now := t.recorder.Duration(); now != got {
				newest, got = time.Now(), now
			} else if time.Since(newest) > stallTime {
				return "", true, nil
			}
		}
	}
}

// drain passes on what is in the ring.
func (t *take) drain() (capture.Reason, error) {
	for {
		n := t.ring.Take(t.buf)
		if n == 0 {
			return "", nil
		}
		if why, err := t.recorder.Write(t.buf[:n]); why != "" || err != nil {
			return why, err
		}
	}
}

func (t *take) draw() {
	if !t.meter {
		return
	}
	level, seconds, mark := t.recorder.Level(), int(t.recorder.Duration().Seconds()), ""
	if level.Clipped {
		mark = "  TOO LOUD"
	}
	fmt.Fprintf(t.errs, "\r\x1b[K%3d:%02d [%s] %4.0f dBFS%s", seconds/60, seconds%60, level.Bar(40), level.RMS, mark)
}

// enter is closed once a line was read. The end of the input is none: it may be
// /dev/null.
func enter(in io.Reader) <-chan struct{} {
	pressed := make(chan struct{})
	go func() {
		if _, err := bufio.NewReader(in).ReadString('\n'); err == nil {
			close(pressed)
		}
	}()
	return pressed
}
