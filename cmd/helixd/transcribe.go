package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/replication/stream"
)

func transcribeCommand(cfg *config) *cobra.Command {
	var t transcriber
	cmd := &cobra.Command{
		Use:   "transcribe FILE...",
		Short: "Transcribe audio files, without a database",
		Long: "transcribe decodes audio files of any format, has the provider that is set transcribe them, and prints the\n" +
			"transcript to stdout: of one file the text alone, of several a line each with the file's name, with --json an\n" +
			"object a line: transcript, words with times, language, duration, confidence, provider. - is stdin. It uses neither the database nor helixd run.\n\n" +
			"The provider is that of helixd run: set DEEPGRAM_API_KEY, or HELIX_VOICE_URL to the address of any server with\n" +
			"OpenAI's protocol, and HELIX_VOICE_KEY where it wants one. A file that is too large for the provider is sent in\n" +
			"parts, which are cut where it is quiet. --wav only decodes where no provider is set.\n\n" +
			"Where one of several files fails the others are still transcribed, and the exit status is 1.",
		Example: "  helixd transcribe note.webm\n  helixd transcribe --json *.m4a | jq -r .transcript\n" +
			"  ffmpeg -i talk.mkv -f flac - | helixd transcribe --language en -\n  helixd transcribe --wav note.wav note.webm",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.wav != "" && len(args) > 1 {
				return &usageError{errors.New("--wav takes the audio of one FILE")}
			}
			return t.run(cmd, cfg, args)
		},
	}
	cmd.Flags().StringVar(&t.language, "language", "", "language spoken, such as de (default: it is detected)")
	cmd.Flags().StringVar(&t.wav, "wav", "", "write the decoded audio there (16 kHz mono WAV); needs no provider")
	return cmd
}

// transcriber does the work of helixd transcribe.
type transcriber struct {
	language, wav string

	settings *voiceSettings
	decoder  *decode.Decoder // nil: this build has none
	client   *provider.Client
	progress progress
}

func (t *transcriber) run(cmd *cobra.Command, cfg *config, files []string) (err error) {
	ctx, log := cmd.Context(), cfg.logger()
	log = log.Level(max(log.GetLevel(), zerolog.WarnLevel)) // the daemon's everyday news
	t.settings = &cfg.voice
	t.progress = newProgress(cmd.ErrOrStderr())
	if t.client, err = newTranscriber(cfg, log); err != nil {
		return err
	}
	if t.client == nil && t.wav == "" {
		return &stream.SetupError{Problem: "no provider of transcripts is set",
			Hint: "Set DEEPGRAM_API_KEY, or HELIX_VOICE_URL to the address of a server with OpenAI's protocol (and HELIX_VOICE_KEY). Or only decode: --wav FILE"}
	}
	if err := decode.Available(); err != nil && cfg.voice.decoder == "" && t.wav != "" {
		return err
	}
	var stop func()
	if t.decoder, stop, err = newDecoder(ctx, cfg, log); err != nil {
		return err
	}
	defer stop()
	failed := 0
	for _, name := range files {
		result, err := t.transcribe(ctx, cmd.InOrStdin(), name)
		t.progress.clear()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && len(files) == 1:
			return fmt.Errorf("%s: %w", shown(name), err)
		case err != nil:
			failed++
			fmt.Fprintf(cmd.ErrOrStderr(), "helixd: %s: %v\n", shown(name), err)
			continue
		case result == nil: // it was only decoded
			continue
		}
		if err := t.print(cfg, cmd.OutOrStdout(), result, len(files) > 1); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files were not transcribed", failed, len(files))
	}
	return nil
}

// transcript is what --json prints of a file, with the names of voice_recordings.
type transcript struct {
	File       string          `json:"file"`
	Transcript string          `json:"transcript"`
	Confidence *float64        `json:"transcript_confidence"` // null: not told
	Words      []provider.Word `json:"words"`
	Language   string          `json:"detected_language,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	Provider   string          `json:"provider"`
	Parts      int             `json:"parts"`
	Source     *decode.Info    `json:"source,omitempty"` // of what was decoded
}

func (t *transcriber) print(cfg *config, w io.Writer, r *transcript, named bool) error {
	var err error
	switch {
	case cfg.output == outputJSON:
		err = json.NewEncoder(w).Encode(r)
	case named:
		_, err = fmt.Fprintf(w, "%s: %s\n", shown(r.File), r.Transcript)
	default:
		_, err = fmt.Fprintln(w, r.Transcript)
	}
	return err
}

// shown is a file's name, quoted where it would do something to a terminal or end
// the line: names come from strangers, too.
func shown(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(name)
	}
	return name
}

// progress shows on a terminal what takes long.
type progress struct {
	w     io.Writer
	shown bool
}

func newProgress(w io.Writer) progress {
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		return progress{w: w}
	}
	return progress{}
}

func (p *progress) show(format string, args ...any) {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
		p.shown = true
	}
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
