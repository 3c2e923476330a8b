package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/internal/capture"
)

// recordOptions are the flags of helixd record.
type recordOptions struct {
	list        bool
	device, out string
	capture     capture.Options

	user, language  string
	keepAudio, memo bool
	timeout         time.Duration
}

func recordCommand(cfg *config) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record {--out FILE | --user <uuid or email>}",
		Short: "Record from a microphone, into a file or a user's voice_recordings",
		Long: "record takes audio from a microphone until you press Enter or Ctrl-C, until it was silent for --silence after\n" +
			"something was heard, or until --limit. On a terminal it shows the level.\n\n" +
			"With --out it writes a WAV file and needs no database. With --user it inserts a row into that user's\n" +
			"voice_recordings, as the app would, waits until helixd run has had it transcribed, and prints the transcript,\n" +
			"and nothing else, to stdout. A recording that could not be inserted is left in a file, which it names.\n\n" +
			"Silence is what is below --threshold. Where nothing at all is heard within --wait it says so and ends with\n" +
			"status 1. With --silence 0 only Enter, Ctrl-C and --limit end it.",
		Example: "  helixd record --list\n  helixd record --out note.wav\n  helixd record --user ada@example.com --memo\n" +
			"  helixd record --device 'USB Audio' --silence 0 --limit 1h --out talk.wav",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cfg); err != nil {
				return err
			}
			return record(cmd, cfg, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.list, "list", false, "list the microphones (index, name, id, which is the default), and record nothing")
	flags.StringVar(&o.device, "device", "", "microphone: its index, its id, its name or a part of that (default: the system's)")
	flags.IntVar(&o.capture.Rate, "rate", 16_000, "samples a second, of one channel with 16 bits")
	flags.DurationVar(&o.capture.Limit, "limit", 10*time.Minute, "longest recording")
	flags.DurationVar(&o.capture.Silence, "silence", 2*time.Second, "silence that ends it, after something was heard; 0: none does")
	flags.Float64Var(&o.capture.Threshold, "threshold", -40, "level below which it is silent, in dBFS")
	flags.DurationVar(&o.capture.Wait, "wait", 10*time.Second, "how long to wait for the first sound; 0: for ever")
	flags.StringVar(&o.out, "out", "", "WAV file to write; one that is there is replaced when the recording is whole")
	flags.StringVar(&o.user, "user", "", "whose recording it is: the id (uuid) or email of an account")
	flags.StringVar(&o.language, "language", "", "with --user: language spoken, such as de (default: it is detected)")
	flags.BoolVar(&o.keepAudio, "keep-audio", false, "with --user: keep the decoded audio on the row too")
	flags.BoolVar(&o.memo, "memo", false, "with --user: make a memory of the transcript")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "with --user: how long to wait for the transcript; 0: print the row's id and do not")
	return cmd
}

// mostAudio is what a row takes, in bytes.
const mostAudio = 50 << 20

func (o *recordOptions) check(cfg *config) error {
	wrong := func(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }
	bytes := o.capture.Limit.Seconds() * float64(2*o.capture.Rate)
	switch {
	case o.list:
		return nil
	case o.capture.Rate < 8_000 || o.capture.Rate > 192_000:
		return wrong("--rate %d: it takes 8000 to 192000", o.capture.Rate)
	case o.capture.Limit < 100*time.Millisecond:
		return wrong("--limit %s: it takes 100ms and more", o.capture.Limit)
	case o.capture.Silence < 0 || o.capture.Wait < 0 || o.timeout < 0:
		return wrong("--silence, --wait and --timeout take no time below 0")
	case o.capture.Threshold < capture.Floor || o.capture.Threshold > 0:
		return wrong("--threshold %g: it takes %g to 0 dBFS", o.capture.Threshold, capture.Floor)
	case (o.out == "") == (o.user == ""):
		return wrong("where to? Give either --out FILE or --user <uuid or email>")
	case o.out != "" && (o.language != "" || o.keepAudio || o.memo):
		return wrong("--language, --keep-audio and --memo go with --user")
	case o.out != "" && bytes > capture.MostBytes:
		return wrong("--limit %s: a WAV file at --rate %d holds %s", o.capture.Limit, o.capture.Rate, longest(capture.MostBytes, o.capture.Rate))
	case o.user != "" && bytes > mostAudio-1024:
		return wrong("--limit %s: a row at --rate %d holds %s; use --out, and put the file into Supabase Storage", o.capture.Limit, o.capture.Rate, longest(mostAudio-1024, o.capture.Rate))
	case o.out != "":
		return nil
	}
	return cfg.requireDatabase()
}

// longest is how much audio so many bytes hold.
func longest(bytes int64, rate int) time.Duration {
	return time.Duration(bytes/int64(2*rate)) * time.Second
}

func record(cmd *cobra.Command, cfg *config, o recordOptions) error {
	sound, err := openAudio()
	if err != nil {
		return err
	}
	defer sound.Close()
	all, err := sound.Microphones()
	if err != nil {
		return err
	}
	if o.list {
		return printMicrophones(cmd, cfg, all)
	}
	m, err := choose(all, o.device)
	if err != nil {
		return err
	}
	if o.user == "" {
		return recordFile(cmd, sound, m, o.out, o.capture)
	}
	var user uuid.UUID
	if user, err = findUser(cmd.Context(), cfg, o.user); err != nil { // before anybody speaks
		return err
	}
	path, err := spoolPath()
	if err != nil {
		return err
	}
	if err := recordFile(cmd, sound, m, path, o.capture); err != nil {
		return err
	}
	// Ctrl-C has ended the recording; a second one ends the wait.
	ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return recordRow(ctx, cmd, cfg, o, user, path)
}

// recordFile records into a file. What the device gave before it failed is kept.
func recordFile(cmd *cobra.Command, sound audio, m microphone, path string, o capture.Options) error {
	file, err := capture.Create(path, o.Rate)
	if err != nil {
		return fmt.Errorf("make the recording's file: %w", err)
	}
	t := newTake(file, o, cmd.ErrOrStderr())
	if err := t.run(cmd.Context(), sound, m, enter(cmd.InOrStdin())); err != nil {
		_ = file.Discard()
		return err
	}
	if err := file.Commit(); err != nil {
		return fmt.Errorf("write the recording's file: %w", err)
	}
	return nil
}
