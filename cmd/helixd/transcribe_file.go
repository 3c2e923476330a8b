package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/internal/capture"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/wav"
	"github.com/helixd/helixd/replication/stream"
)

// tries is how often a request is made before the command gives up.
const tries = 4

// transcribe gives a file's transcript, nil where it was only decoded.
func (t *transcriber) transcribe(ctx context.Context, stdin io.Reader, name string) (*transcript, error) {
	source, err := t.await(ctx, stdin, name)
	if err != nil {
		return nil, err
	}
	defer source.close()
	temporary, err := newAudioFile()
	if err != nil {
		return nil, fmt.Errorf("make a file for the decoded audio: %w", err)
	}
	defer temporary.close()
	sound := temporary.File
	info, err := t.decode(ctx, source, sound)
	if err != nil {
		return nil, err
	}
	if t.wav != "" {
		if err := place(sound, info.Samples, t.wav); err != nil {
			return nil, fmt.Errorf("write the decoded audio: %w", err)
		}
	}
	if t.client == nil {
		return nil, nil
	}
	result := &transcript{File: name, Provider: t.client.Name(), Words: []provider.Word{}, Source: info}
	if info == nil {
		return result, t.askWhole(ctx, source, result)
	}
	return result, t.askParts(ctx, wav.New(sound, info.Samples), result)
}

// audioFile is a recording as somebody else made it.
type audioFile struct {
	*os.File
	size  int64
	named bool // it is temporary, where the system removes no file that is open
}

// newAudioFile makes a temporary one, which nothing is left of however helixd ends.
func newAudioFile() (audioFile, error) {
	f, err := os.CreateTemp("", "helixd-audio-*")
	if err != nil {
		return audioFile{}, err
	}
	return audioFile{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Size implements decode.Input.
func (f audioFile) Size() int64 { return f.size }

func (f audioFile) close() {
	_ = f.Close()
	if f.named {
		_ = os.Remove(f.Name())
	}
}

// await is open, until ctx ends: a pipe may have nobody who writes, and what waits
// for one cannot be interrupted. It ends with the process.
func (t *transcriber) await(ctx context.Context, stdin io.Reader, name string) (audioFile, error) {
	var file audioFile
	var err error
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		file, err = t.open(stdin, name)
	}()
	select {
	case <-opened:
		return file, err
	case <-ctx.Done():
		return audioFile{}, ctx.Err()
	}
}

// open opens a file that can be read anywhere: what comes through a pipe is put
// into one.
func (t *transcriber) open(stdin io.Reader, name string) (audioFile, error) {
	if name == "-" {
		return t.spool(stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err // the caller tells the name
		}
		return audioFile{}, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("it is a directory; name the files in it")
	case !info.Mode().IsRegular():
		defer f.Close()
		return t.spool(f)
	case info.Size() > t.settings.config.MostBytes:
		err = t.tooLarge()
	default:
		return audioFile{File: f, size: info.Size()}, nil
	}
	return audioFile{}, errors.Join(err, f.Close())
}

func (t *transcriber) spool(in io.Reader) (audioFile, error) {
	file, err := newAudioFile()
	if err != nil {
		return audioFile{}, fmt.Errorf("make a file for the audio: %w", err)
	}
	file.size, err = io.Copy(file.File, io.LimitReader(in, t.settings.config.MostBytes+1))
	if err == nil && file.size > t.settings.config.MostBytes {
		err = t.tooLarge()
	}
	if err != nil {
		file.close()
		return audioFile{}, err
	}
	return file, nil
}

func (t *transcriber) tooLarge() error {
	return &stream.SetupError{Problem: fmt.Sprintf("it is larger than %.0f MB", float64(t.settings.config.MostBytes)/(1<<20)),
		Hint: "Allow more with --voice-max-bytes, such as 500MB."}
}

// decode writes the audio into a WAV file, and gives what the source was; nil where
// the provider has to try with the source itself.
func (t *transcriber) decode(ctx context.Context, source audioFile, sound *os.File) (*decode.Info, error) {
	if t.decoder == nil {
		return nil, nil
	}
	began := time.Now()
	out := writerFunc(func(p []byte) (int, error) {
		offset, err := sound.Seek(0, io.SeekCurrent)
		if err == nil && time.Since(began) > time.Second {
			began = time.Now()
			t.progress.show("decoded %s", wav.Time((offset-wav.HeaderBytes)/wav.SampleBytes).Truncate(time.Second))
		}
		return sound.Write(p)
	})
	if _, err := sound.Seek(wav.HeaderBytes, io.SeekStart); err != nil {
		return nil, err
	}
	info, err := t.decoder.Decode(ctx, decode.Options{Tenant: "helixd transcribe", Denoise: t.settings.config.Denoise, Longest: t.settings.config.Longest}, source, out)
	var fault *decode.Error
	switch {
	case err == nil:
		_, err = sound.WriteAt(wav.Header(info.Samples), 0)
		return &info, err
	case !errors.As(err, &fault):
		return nil, err
	case fault.Code == decode.TooLong:
		return nil, &stream.SetupError{Problem: fault.Message, Hint: "Allow more with --voice-max-duration, such as 8h."}
	case fault.Code == decode.Empty || t.wav != "":
		return nil, fault
	}
	return nil, nil // a provider may know what the decoder does not
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// place copies the decoded audio to where it was asked for.
func place(sound io.ReaderAt, samples int64, path string) error {
	file, err := capture.Create(path, wav.Rate)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, io.NewSectionReader(sound, wav.HeaderBytes, samples*wav.SampleBytes)); err != nil {
		return errors.Join(err, file.Discard())
	}
	return file.Commit()
}

// askWhole has the provider transcribe the source as it is.
func (t *transcriber) askWhole(ctx context.Context, source audioFile, result *transcript) error {
	if most := t.client.MostBytes(); most > 0 && source.size > most {
		return fmt.Errorf("helixd cannot decode it, and it is larger than what %s takes (%d MB)", t.client.Name(), most>>20)
	}
	head := make([]byte, 512)
	n, err := source.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	t.progress.show("asking %s", t.client.Name())
	answer, err := t.client.Persist(ctx, provider.Request{
		Open:        func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(source, 0, source.size)), nil },
		Size:        source.size,
		ContentType: http.DetectContentType(head[:n]),
		Language:    t.language,
		Key:         uuid.NewString(),
	}, tries)
	if err != nil {
		return err
	}
	result.take(answer, 1)
	result.DurationMS = answer.Duration.Milliseconds()
	return nil
}

// askParts has the provider transcribe decoded audio, in as many parts as it needs.
func (t *transcriber) askParts(ctx context.Context, sound wav.Audio, result *transcript) error {
	parts, err := provider.Parts(t.client, sound)
	if err != nil {
		return err
	}
	answers := make([]provider.Answer, len(parts))
	for i, p := range parts {
		t.progress.show("asking %s: part %d of %d", t.client.Name(), i+1, len(parts))
		answers[i], err = t.client.Persist(ctx, provider.Request{
			Open:        func() (io.ReadCloser, error) { return io.NopCloser(sound.Open(p)), nil },
			Size:        p.Size(),
			ContentType: "audio/wav",
			Language:    t.language,
			Key:         uuid.NewString(),
		}, tries)
		if err != nil {
			return err
		}
	}
	result.take(provider.Join(parts, answers), len(parts))
	result.DurationMS = sound.Duration().Milliseconds()
	return nil
}

// take is what was heard, in so many parts.
func (r *transcript) take(a provider.Answer, parts int) {
	r.Transcript, r.Confidence, r.Language, r.Parts = a.Transcript, a.Confidence, a.Language, parts
	r.Words = append(r.Words, a.Words...)
}
