package decode

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Host calls. Their requests and responses are bytes: base64 in JSON would cost
// more than the calls.
const (
	callRead  = "read"  // offset (8 bytes, little endian), length (4) → content
	callWrite = "write" // samples, 16 bits each → nothing
)

const (
	readAhead   = 256 << 10 // bytes; 100 MB take 400 calls
	writeBehind = 256 << 10 // bytes, 8 s of audio
)

// recording is what the module reads and writes, as the child sees it: the bytes
// are in the daemon.
type recording struct {
	env   *sandbox.Env
	order order

	window []byte // of the recording
	start  int64  // of window
	out    []byte // not sent yet
	taken  int64  // samples
	err    error  // of a host call; the module runs no further
}

type recordingKey struct{}

// call makes a host call and waits for its reply.
func (r *recording) call(name string, request []byte) ([]byte, error) {
	if _, err := r.env.HostCall(name, request); err != nil {
		return nil, err
	}
	_, response, err := r.env.Reply()
	return response, err
}

// at gives what the recording has at offset, at most size bytes.
func (r *recording) at(offset int64, size int) ([]byte, error) {
	if offset < 0 || offset >= r.order.Size || size <= 0 {
		return nil, nil
	}
	if offset < r.start || offset >= r.start+int64(len(r.window)) {
		request := binary.LittleEndian.AppendUint64(nil, uint64(offset))
		request = binary.LittleEndian.AppendUint32(request, uint32(min(readAhead, r.order.Size-offset)))
		window, err := r.call(callRead, request)
		if err != nil {
			return nil, err
		}
		r.window, r.start = window, offset
	}
	part := r.window[offset-r.start:]
	return part[:min(size, len(part))], nil
}

// write takes samples; false says that there are enough.
func (r *recording) write(samples []byte) (bool, error) {
	if r.taken += int64(len(samples) / 2); r.taken > r.order.Samples {
		return false, nil
	}
	if r.out = append(r.out, samples...); len(r.out) < writeBehind {
		return true, nil
	}
	return true, r.flush()
}

func (r *recording) flush() error {
	for len(r.out) > 0 {
		n := min(len(r.out), writeBehind)
		if _, err := r.call(callWrite, r.out[:n]); err != nil {
			r.err = err
			return err
		}
		r.out = r.out[:copy(r.out, r.out[n:])]
	}
	return nil
}

type hostFunc struct {
	params, results []api.ValueType
	serve           func(r *recording, mem api.Memory, stack []uint64) error
}

var one = []api.ValueType{i32}

// badFile is EBADF of WASI: the module has no files. FFmpeg's libraries refer to
// stderr, for logs that engine/adec.c turns off.
func badFile(params ...api.ValueType) hostFunc {
	return hostFunc{params, one, func(_ *recording, _ api.Memory, stack []uint64) error {
		stack[0] = 8
		return nil
	}}
}

// hostModules are all that a module may import.
var hostModules = map[string]map[string]hostFunc{
	"audio": {
		"read":  {[]api.ValueType{i64, i32, i32}, one, hostRead},
		"write": {[]api.ValueType{i32, i32}, one, hostWrite},
	},
	"wasi_snapshot_preview1": {
		"fd_close":      badFile(i32),
		"fd_fdstat_get": badFile(i32, i32),
		"fd_seek":       badFile(i32, i64, i32, i32),
		"fd_write":      badFile(i32, i32, i32, i32),
	},
}

func hostRead(r *recording, mem api.Memory, stack []uint64) error {
	part, err := r.at(int64(stack[0]), int(int32(stack[2])))
	if err != nil {
		return err
	}
	if !mem.Write(uint32(stack[1]), part) {
		return sandbox.Errorf(sandbox.Trap, "The audio decoder reads to outside of its memory.")
	}
	stack[0] = uint64(len(part))
	return nil
}

func hostWrite(r *recording, mem api.Memory, stack []uint64) error {
	samples, ok := mem.Read(uint32(stack[0]), uint32(stack[1])*2)
	if !ok || int32(stack[1]) < 0 {
		return sandbox.Errorf(sandbox.Trap, "The audio decoder writes from outside of its memory.")
	}
	more, err := r.write(samples)
	stack[0] = 0
	if !more {
		stack[0] = 1
	}
	return err
}

// instantiateHosts makes the host modules.
func instantiateHosts(ctx context.Context, rt wazero.Runtime) (map[string]api.Module, error) {
	return sandbox.HostModules(ctx, rt, hostModules, func(f hostFunc) (api.GoModuleFunc, []api.ValueType, []api.ValueType) {
		return func(ctx context.Context, mod api.Module, stack []uint64) {
			r := ctx.Value(recordingKey{}).(*recording)
			if err := f.serve(r, mod.Memory(), stack); err != nil {
				r.err = err
				panic(err) // ends the module
			}
		}, f.params, f.results
	})
}
