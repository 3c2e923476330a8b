package voice_test

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice/provider"
)

// drain is a Transcriber that keeps nothing of what it is sent.
type drain struct {
	*ear
	read atomic.Int64
}

func (d *drain) Transcribe(_ context.Context, r provider.Request) (provider.Answer, error) {
	f, err := r.Open()
	if err != nil {
		return provider.Answer{}, err
	}
	defer f.Close()
	n, err := io.Copy(io.Discard, f)
	d.read.Add(n)
	return provider.Answer{Transcript: "long"}, err
}

// TestMemoryStaysFlat: 50 MB pass from the row to the provider and back to the row.
func TestMemoryStaysFlat(t *testing.T) {
	const size, most = 50_000_000, 32 << 20
	b := newBench(t)
	user := b.User(t)
	d := &drain{ear: &ear{}}
	id := get[uuid.UUID](t, b.Admin, `insert into voice_recordings (user_id, keep_audio, audio_data)
		values ($1, true, decode(repeat('0102', $2::int / 2), 'hex')) returning id`, user, size)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	ended, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapInuse)
			}
		}
	}()
	b.work(t, parts{decoder: raw{}, ear: d})
	r := b.ended(t, id)
	close(ended)
	<-sampled
	if r.code() != "done" || *r.Duration != size/32 || d.read.Load() < size {
		t.Errorf("after %d bytes the row is %+v", d.read.Load(), r)
	}
	if !get[bool](t, b.Admin, "select substring(processed_audio from 45) = audio_data from voice_recordings where id = $1", id) {
		t.Error("other audio is kept")
	}
	if grown := int64(peak) - int64(before.HeapInuse); grown > most {
		t.Errorf("the heap grew by %d bytes", grown)
	} else {
		t.Logf("the heap grew by %d bytes", grown)
	}
}
