package wasm

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// helixFuncs are the host calls. All are synchronous. A response is the JSON
// {"ok": …} or {"error": {"code", "message"}}; what is wrong with the pointers of a
// call is a trap.
//
//	call(name_ptr, name_len, req_ptr, req_len i32) i64
//	  the response, as ptr<<32 | len, in memory from the module's skill_alloc
//	call_into(name_ptr, name_len, req_ptr, req_len, out_ptr, out_cap i32) i32
//	  the response's length; if that is above out_cap, nothing was written
//	last_response(out_ptr, out_cap i32) i32
//	  the response of the last call_into again
var helixFuncs = map[string]hostFunc{
	"call": {[]api.ValueType{i32, i32, i32, i32}, []api.ValueType{i64}, func(c *call, mod api.Module, s []uint64) {
		response := c.hostCall(mod, s)
		if def, ok := mod.ExportedFunctionDefinitions()["skill_alloc"]; !ok || signature(def.ParamTypes(), def.ResultTypes()) != "(i32) i32" {
			panic(trap("call", "helix.call needs the module to export skill_alloc(i32) i32; call_into does not"))
		}
		p, err := allocate(c, mod, response)
		if err != nil {
			panic(err)
		}
		s[0] = uint64(p)<<32 | uint64(len(response))
	}},
	"call_into": {[]api.ValueType{i32, i32, i32, i32, i32, i32}, []api.ValueType{i32}, func(c *call, mod api.Module, s []uint64) {
		c.last = c.hostCall(mod, s)
		s[0] = c.give(mod, s[4:])
	}},
	"last_response": {[]api.ValueType{i32, i32}, []api.ValueType{i32}, func(c *call, mod api.Module, s []uint64) {
		s[0] = c.give(mod, s)
	}},
}

// hostCall makes the host call whose name and request the stack points to, and
// waits for its reply. One call too many ends the run.
func (c *call) hostCall(mod api.Module, s []uint64) []byte {
	name, request := c.read(mod, s[0], s[1]), c.read(mod, s[2], s[3])
	var refused *sandbox.Error
	id, err := c.env.HostCall(string(name), request)
	switch {
	case errors.As(err, &refused) && refused.Code != sandbox.HostCallLimit:
		return refusal(refused)
	case err != nil:
		panic(err)
	}
	replied, response, err := c.env.Reply()
	switch {
	case errors.As(err, &refused):
		return refusal(refused)
	case err != nil:
		panic(err)
	case replied != id:
		panic(fmt.Errorf("reply to host call %d instead of %d", replied, id))
	case len(response) == 0:
		response = []byte("null")
	}
	return fmt.Appendf(nil, `{"ok":%s}`, response)
}

// give writes the last response to where the stack points, if it fits there.
func (c *call) give(mod api.Module, s []uint64) uint64 {
	if uint64(len(c.last)) <= s[1] && !c.memoryOf(mod).put(s[0], c.last) {
		panic(trap("", "the module gave a host call room outside of its memory"))
	}
	return uint64(len(c.last))
}

func (c *call) read(mod api.Module, ptr, size uint64) []byte {
	b, ok := c.memoryOf(mod).at(ptr, size)
	if !ok {
		panic(trap("", "the module gave a host call a pointer outside of its memory"))
	}
	return b
}

func refusal(err *sandbox.Error) []byte {
	type code struct {
		Code    sandbox.Code `json:"code"`
		Message string       `json:"message"`
	}
	b, _ := json.Marshal(map[string]code{"error": {err.Code, err.Message}}) // of strings, which it always can
	return b
}
