package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/helixd/helixd/reactors/sandbox"
)

// kindHostile is a kind of programs that have already broken out: its guest does
// in the child's own Go what the input says.
const kindHostile = "hostile"

type hostile struct{}

type hostileProgram struct{ rt wazero.Runtime }

// deed is the input of a hostile program.
type deed struct {
	Do   string `json:"do"`
	N    int    `json:"n"`
	Text string `json:"text"`
	Raw  []byte `json:"raw"`
}

func (hostile) Check(ctx context.Context, rt wazero.Runtime, code []byte, cache sandbox.Cache) (sandbox.Report, error) {
	switch word, _, _ := strings.Cut(string(code), " "); word {
	case "bad":
		return sandbox.Report{}, &sandbox.Error{Code: sandbox.SyntaxError, Message: "bad", Line: 3, Column: 4}
	case "loop":
		spin()
	case "sleep": // as a compiler does that gets no CPU
		time.Sleep(time.Hour)
	case "alloc":
		allocate(8 << 30)
	case "panic":
		panic("compiler")
	case "unavailable":
		return sandbox.Report{}, errors.New("no such file")
	}
	if _, err := rt.CompileModule(ctx, growing); err != nil {
		return sandbox.Report{}, err
	}
	return sandbox.Report{ABI: "hostile"}, cache.Write("code", code)
}

func (hostile) Load(_ context.Context, rt wazero.Runtime, code []byte, cache sandbox.Cache) (sandbox.Loaded, error) {
	kept, err := cache.Read("code")
	if err != nil {
		return nil, err
	}
	if string(kept) != string(code) {
		return nil, errors.New("the cache holds another program")
	}
	return hostileProgram{rt}, nil
}

func (hostileProgram) Close(context.Context) error { return nil }

func (p hostileProgram) Run(ctx context.Context, env *sandbox.Env) ([]byte, error) {
	var d deed
	if err := json.Unmarshal(env.Input, &d); err != nil {
		return nil, sandbox.Errorf(sandbox.Exception, "%v", err)
	}
	switch d.Do {
	case "echo":
		return env.Input, nil
	case "pid":
		return json.Marshal(os.Getpid())
	case "loop":
		fmt.Fprint(env.Logs, "looping")
		spin()
	case "work on":
		go spin()
		return json.Marshal(os.Getpid())
	case "sleep": // what the wall limit, and not that of CPU time, has to end
		time.Sleep(time.Duration(d.N) * time.Millisecond) // is what the program does
		return []byte(`"slept"`), nil
	case "sleep and fail":
		time.Sleep(time.Duration(d.N) * time.Millisecond) // is what the program does
		return nil, &sandbox.Error{Code: sandbox.Code(d.Text)}
	case "alloc":
		allocate(d.N << 20)
		return []byte(`"allocated"`), nil
	case "memory":
		return p.memory(ctx, env, d.N)
	case "log":
		for range d.N {
			fmt.Fprint(env.Logs, d.Text)
		}
		return []byte(`null`), nil
	case "output":
		return []byte(`"` + strings.Repeat("x", d.N) + `"`), nil
	case "raw output":
		return []byte(d.Text), nil
	case "nest":
		return []byte(strings.Repeat("[", d.N) + strings.Repeat("]", d.N)), nil
	case "fail":
		return nil, &sandbox.Error{Code: sandbox.Code(d.Text), Message: "as told", Function: "f", Line: 1, Column: 2}
	case "panic":
		panic(d.Text)
	case "exit":
		os.Exit(d.N)
	case "close":
		_ = syscall.Close(3)
		select {}
	case "raw":
		_, _ = syscall.Write(3, d.Raw)
		select {}
	case "flood":
		for {
			if _, err := syscall.Write(3, d.Raw); err != nil {
				select {}
			}
		}
	case "host":
		return ask(env, d)
	}
	return nil, sandbox.Errorf(sandbox.Exception, "%s: no such deed", d.Do)
}

// ask makes n host calls, all before it reads a reply, and gives the responses.
func ask(env *sandbox.Env, d deed) ([]byte, error) {
	responses := map[uint32]json.RawMessage{}
	for range d.N {
		if _, err := env.HostCall(d.Text, []byte(`{"a":1}`)); err != nil {
			return nil, err
		}
	}
	for range d.N {
		id, response, err := env.Reply()
		if err != nil {
			return nil, err
		}
		responses[id] = response
	}
	return json.Marshal(responses)
}

// memory instantiates a module with a memory of some pages and grows it.
func (p hostileProgram) memory(ctx context.Context, env *sandbox.Env, pages int) ([]byte, error) {
	m, err := p.rt.InstantiateWithConfig(ctx, growing, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Trap, "%v", err)
	}
	defer m.Close(ctx)
	if v, ok := m.Memory().ReadByte(0); !ok || v != 0 {
		return nil, sandbox.Errorf(sandbox.Trap, "the memory is not new")
	}
	if _, ok := m.Memory().Grow(uint32(pages - 1)); !ok {
		return nil, sandbox.Errorf(sandbox.Trap, "memory.grow: -1")
	}
	m.Memory().WriteByte(0, 1)
	m.Memory().WriteByte(m.Memory().Size()-1, 1)
	env.Memory(int64(m.Memory().Size()))
	return []byte(`"grown"`), nil
}

// growing is (module (memory (export "memory") 1 8192)).
var growing = []byte("\x00asm\x01\x00\x00\x00\x05\x05\x01\x01\x01\x80\x40\x07\x0a\x01\x06memory\x02\x00")

// spin is for longer than any test.
func spin() {
	for i := uint64(1); i != 0; i++ {
	}
}

// allocate makes memory resident, outside of any linear memory.
func allocate(bytes int) {
	var kept [][]byte
	for ; bytes > 0; bytes -= 1 << 20 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = append(kept, b)
	}
	_ = kept
}
