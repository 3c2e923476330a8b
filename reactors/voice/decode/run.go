package decode

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// order is the input of a call.
type order struct {
	Size    int64  `json:"size"`    // bytes of the recording
	Samples int64  `json:"samples"` // that may be written
	Denoise string `json:"denoise"` // filters
}

// account is the output of a call.
type account struct {
	Status status `json:"status"`
	Info
}

// status is how a decoding ended; engine/adec.c has the same.
type status int

const (
	done status = iota
	unknownFormat
	noAudio
	unknownCodec
	enough
	noMemory
	badFilters
)

// report is as engine/adec.c lays it out.
type report struct {
	Samples, Packets, Bad int64
	Rate, Channels        int32
	Container, Codec      [64]byte
}

// mostDenoise is how long the text of filters may be, in bytes with a NUL.
const mostDenoise = 256

// Run implements sandbox.Loaded: it decodes one recording in an instance of its
// own.
func (m *module) Run(ctx context.Context, env *sandbox.Env) ([]byte, error) {
	var o order
	if err := json.Unmarshal(env.Input, &o); err != nil {
		return nil, fmt.Errorf("read the order: %w", err)
	}
	r := &recording{env: env, order: o}
	ctx, instance, err := m.instantiate(ctx, r)
	if err != nil {
		return nil, err
	}
	defer instance.Close(ctx)
	ended, err := decode(ctx, instance, r)
	env.Memory(int64(instance.Memory().Size()))
	switch {
	case r.err != nil:
		return nil, r.err
	case err != nil:
		return nil, trapped(err)
	}
	found, err := readReport(ctx, instance)
	if err != nil {
		return nil, trapped(err)
	}
	return json.Marshal(account{ended, found})
}

func decode(ctx context.Context, instance api.Module, r *recording) (status, error) {
	if _, err := instance.ExportedFunction("_initialize").Call(ctx); err != nil {
		return 0, err
	}
	at, err := instance.ExportedFunction("denoise").Call(ctx)
	if err != nil {
		return 0, err
	}
	if text := append([]byte(r.order.Denoise), 0); len(text) > mostDenoise || !instance.Memory().Write(uint32(at[0]), text) {
		return 0, errors.New("the filters do not fit")
	}
	ended, err := instance.ExportedFunction("decode").Call(ctx, uint64(r.order.Size))
	if err != nil {
		return 0, err
	}
	return status(int32(ended[0])), r.flush()
}

func readReport(ctx context.Context, instance api.Module) (Info, error) {
	at, err := instance.ExportedFunction("report").Call(ctx)
	if err != nil {
		return Info{}, err
	}
	var found report
	content, ok := instance.Memory().Read(uint32(at[0]), uint32(binary.Size(found)))
	if !ok {
		return Info{}, errors.New("the report is outside of the memory")
	}
	if _, err := binary.Decode(content, binary.LittleEndian, &found); err != nil {
		return Info{}, err
	}
	return Info{
		Container: text(found.Container[:]), Codec: text(found.Codec[:]), Rate: int(found.Rate), Channels: int(found.Channels),
		Samples: found.Samples, Packets: found.Packets, Bad: found.Bad,
	}, nil
}

func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// trapped says what ended the module by force.
func trapped(err error) *sandbox.Error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	if strings.HasSuffix(first, "stack overflow") {
		return sandbox.Errorf(sandbox.StackOverflow, "The audio decoder calls too deep.")
	}
	return sandbox.Errorf(sandbox.Trap, "The audio decoder trapped: %s.", first)
}
