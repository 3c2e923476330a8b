//go:build record && cgo

package main

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/gen2brain/malgo"

	"github.com/helixd/helixd/internal/capture"
	"github.com/helixd/helixd/replication/stream"
)

// backends are all that have microphones. malgo's own list ends with a null
// device, which would record silence where there is no audio at all.
var backends = []malgo.Backend{malgo.BackendWasapi, malgo.BackendDsound, malgo.BackendWinmm, malgo.BackendCoreaudio,
	malgo.BackendSndio, malgo.BackendAudio4, malgo.BackendOss, malgo.BackendPulseaudio, malgo.BackendAlsa, malgo.BackendJack}

type malgoAudio struct {
	*malgo.AllocatedContext
	ids   []malgo.DeviceID // of Microphones, by their index
	stuck bool             // a device did not stop
}

func openAudio() (audio, error) {
	ctx, err := malgo.InitContext(backends, malgo.ContextConfig{}, nil)
	if err != nil {
		return nil, &stream.SetupError{Problem: "the system has no audio that helixd can use", Err: err,
			Hint: "On Linux it needs PulseAudio, PipeWire with its PulseAudio server, or ALSA, and their client library (libpulse0, libasound2)."}
	}
	return &malgoAudio{AllocatedContext: ctx}, nil
}

// Close ends it, but not under a device that still runs: the process' end does.
func (a *malgoAudio) Close() {
	if a.stuck {
		return
	}
	_ = a.Uninit()
	a.Free()
}

func (a *malgoAudio) Microphones() ([]microphone, error) {
	infos, err := a.Devices(malgo.Capture)
	if err != nil {
		return nil, fmt.Errorf("list the microphones: %w", err)
	}
	a.ids = nil
	all := make([]microphone, 0, len(infos))
	for i, info := range infos {
		all = append(all, microphone{Index: i, Name: info.Name(), ID: idText(info.ID), Default: info.IsDefault != 0})
		a.ids = append(a.ids, info.ID)
	}
	return all, nil
}

// idText is an id as the system writes it, where that is text; PulseAudio's and
// ALSA's are.
func idText(id malgo.DeviceID) string {
	text, _, _ := bytes.Cut(id[:], []byte{0})
	binary := func(r rune) bool { return r < ' ' || r > '~' }
	if len(text) < 2 || bytes.ContainsFunc(text, binary) {
		return id.String()
	}
	return string(text)
}

func (a *malgoAudio) Record(m microphone, rate int, ring *capture.Ring) (<-chan struct{}, func(), error) {
	id := a.ids[m.Index]
	cfg := malgo.DefaultDeviceConfig(malgo.Capture)
	cfg.Capture.Format, cfg.Capture.Channels, cfg.SampleRate = malgo.FormatS16, 1, uint32(rate)
	cfg.Capture.DeviceID = id.Pointer() // C's memory: it goes with the process, which records once
	cfg.PerformanceProfile = malgo.Conservative
	cfg.Resampling.Linear.LpfOrder = 8 // the most; what is above half the rate would be heard as something else
	cfg.Alsa.NoMMap = 1
	cfg.Pulse.StreamNameCapture = "helixd record"
	lost := make(chan struct{})
	var once sync.Once
	device, err := malgo.InitDevice(a.Context, cfg, malgo.DeviceCallbacks{
		Data: func(_, in []byte, _ uint32) { ring.Put(in) },
		Stop: func() { once.Do(func() { close(lost) }) },
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open the microphone %q: %w", m.Name, err)
	}
	if err := device.Start(); err != nil {
		device.Uninit()
		return nil, nil, fmt.Errorf("start the microphone %q: %w", m.Name, err)
	}
	return lost, func() { a.stuck = !ends(device.Uninit) }, nil
}

// ends reports whether f returns in the time that a device needs to stop: where
// the device or its server is gone, some backends never do.
func ends(f func()) bool {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(2 * time.Second):
		return false
	}
}
