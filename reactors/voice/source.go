package voice

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/storage"
	"github.com/helixd/helixd/reactors/voice/wav"
)

const readPart = 1 << 20 // bytes of audio_data that are in memory at a time

// read brings a recording into a spool, from its row or from Storage.
func (s *Service) read(ctx context.Context, c *claim) (*spool, error) {
	if c.audioBytes == nil && c.storagePath == nil {
		return nil, errMissing
	}
	if c.audioBytes != nil && *c.audioBytes > s.cfg.MostBytes {
		return nil, tooLarge(s.cfg.MostBytes)
	}
	to, err := newSpool()
	if err != nil {
		return nil, err
	}
	if c.audioBytes != nil {
		err = s.readRow(ctx, c, to)
	} else {
		err = s.readObject(ctx, c, to)
	}
	if err != nil {
		_ = to.Close()
		return nil, err
	}
	return to, nil
}

func (s *Service) readRow(ctx context.Context, c *claim, to io.Writer) error {
	for at := int64(0); at < *c.audioBytes; at += readPart {
		rows, err := s.pool.Query(ctx, "select substring(audio_data from $3::int for $4::int) from public.voice_recordings where id = $1 and content_rev = $2",
			c.id, c.rev, at+1, readPart)
		if err != nil {
			return fmt.Errorf("read audio_data: %w", err)
		}
		_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
			_, err := to.Write(row.RawValues()[0]) // the connection's own buffer, in binary form
			return struct{}{}, err
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return errChanged
		}
		if err != nil {
			return fmt.Errorf("read audio_data: %w", err)
		}
	}
	return nil
}

func (s *Service) readObject(ctx context.Context, c *claim, to io.Writer) error {
	if s.objects == nil {
		return errStorageNotConfigured
	}
	object, err := s.objects.Open(ctx, c.user.String(), *c.storagePath, s.cfg.MostBytes)
	if err != nil {
		return err
	}
	defer object.Close()
	n, err := io.Copy(to, io.LimitReader(object, s.cfg.MostBytes+1))
	var own *Error
	var theirs *storage.Error
	switch {
	case errors.As(err, &own), errors.As(err, &theirs), ctx.Err() != nil:
		return err
	case err != nil:
		return &Error{Code: string(storage.Unavailable), Retryable: true, again: true, Message: "Supabase Storage broke off while the recording was read; it is tried again."}
	case n > s.cfg.MostBytes:
		return tooLarge(s.cfg.MostBytes)
	}
	return nil
}

// decode makes a WAV file of a recording.
func (s *Service) decode(ctx context.Context, c *claim, from *spool) (*spool, wav.Audio, error) {
	to, err := newSpool()
	if err != nil {
		return nil, wav.Audio{}, err
	}
	fail := func(err error) (*spool, wav.Audio, error) {
		_ = to.Close()
		return nil, wav.Audio{}, err
	}
	if _, err := to.Write(make([]byte, wav.HeaderBytes)); err != nil {
		return fail(err)
	}
	// One at a time of each user: what takes long keeps nobody else from a child.
	leave, err := s.decoding.Take(ctx, c.user.String())
	if err != nil {
		return fail(err)
	}
	defer leave()
	_, err = s.decoder.Decode(ctx, decode.Options{Tenant: c.user.String(), Denoise: s.cfg.Denoise, Longest: s.cfg.Longest}, from, to)
	if err != nil {
		return fail(err)
	}
	samples := (to.size - wav.HeaderBytes) / wav.SampleBytes
	if samples == 0 {
		return fail(&decode.Error{Code: decode.Empty, Message: "The recording has no sound in it."})
	}
	if _, err := to.file.WriteAt(wav.Header(samples), 0); err != nil {
		return fail(internal("write a temporary file", err))
	}
	return to, wav.New(to, samples), nil
}
