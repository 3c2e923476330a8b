package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/helixd/helixd/internal/capture"
	"github.com/helixd/helixd/replication/stream"
)

// audio is the system's. Only builds with the tag record have it: openAudio.
type audio interface {
	Microphones() ([]microphone, error)
	// Record has a microphone's samples put into ring until stop; lost is closed
	// when the device ends by itself.
	Record(m microphone, rate int, ring *capture.Ring) (lost <-chan struct{}, stop func(), err error)
	Close()
}

// microphone is what the system shows as one.
type microphone struct {
	Index   int    `json:"index"`
	Name    string `json:"name"`
	ID      string `json:"id"` // the system's, the same after a restart
	Default bool   `json:"default"`
}

func printMicrophones(cmd *cobra.Command, cfg *config, all []microphone) error {
	return cfg.print(cmd, all, func(w io.Writer) error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, m := range all {
			mark := ""
			if m.Default {
				mark = "default"
			}
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\n", m.Index, m.Name, m.ID, mark)
		}
		return t.Flush()
	})
}

// choose gives the microphone that is meant: an index, a name, an id, or a part
// of one name; "" is the default one.
func choose(all []microphone, meant string) (microphone, error) {
	if len(all) == 0 {
		return microphone{}, &stream.SetupError{Problem: "the system has no microphone",
			Hint: "Plug one in; where PulseAudio or PipeWire runs for another user, run helixd as that user or set PULSE_SERVER."}
	}
	if meant == "" {
		for _, m := range all {
			if m.Default || len(all) == 1 {
				return m, nil
			}
		}
		return microphone{}, &stream.SetupError{Problem: "the system has no default microphone", Hint: "Name one with --device; they are: helixd record --list"}
	}
	if n, err := strconv.Atoi(meant); err == nil && n >= 0 && n < len(all) {
		return all[n], nil
	}
	var named, parts []microphone
	for _, m := range all {
		if m.ID == meant {
			return m, nil
		}
		if strings.EqualFold(m.Name, meant) {
			named = append(named, m)
		}
		if strings.Contains(strings.ToLower(m.Name), strings.ToLower(meant)) {
			parts = append(parts, m)
		}
	}
	if len(named) > 0 {
		parts = named
	}
	switch len(parts) {
	case 1:
		return parts[0], nil
	case 0:
		return microphone{}, &stream.SetupError{Problem: fmt.Sprintf("there is no microphone %q", meant), Hint: "List them: helixd record --list"}
	}
	var each []string
	for _, m := range parts {
		each = append(each, fmt.Sprintf("%d %q", m.Index, m.Name))
	}
	return microphone{}, &stream.SetupError{Problem: fmt.Sprintf("--device %q may be %s", meant, strings.Join(each, " or ")), Hint: "Name it by its index or its id: helixd record --list"}
}
