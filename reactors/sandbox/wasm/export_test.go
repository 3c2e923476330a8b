package wasm

import "github.com/tetratelabs/wazero/api"

// HostSignatures gives the parameters and results of all that can be imported, by
// module and name.
func HostSignatures() map[[2]string][2][]api.ValueType {
	all := map[[2]string][2][]api.ValueType{}
	for module, funcs := range hostModules {
		for name, f := range funcs {
			all[[2]string{module, name}] = [2][]api.ValueType{f.params, f.results}
		}
	}
	return all
}
