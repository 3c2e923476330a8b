package rights

import (
	"encoding/json"
	"maps"
	"slices"
)

// Set is what a skill may do in one run. It does not change; the zero Set is
// empty. It holds no Network capability without a host.
type Set struct{ all map[Capability]struct{} }

// NewSet makes a set.
func NewSet(all ...Capability) Set {
	s := Set{all: make(map[Capability]struct{}, len(all))}
	s.add(all...)
	return s
}

// add is for who makes a set.
func (s Set) add(all ...Capability) {
	for _, c := range all {
		s.all[c] = struct{}{}
	}
}

// Has reports whether the capability is in the set.
func (s Set) Has(c Capability) bool {
	_, ok := s.all[c]
	return ok
}

// HasHost reports whether the host, as Host gives it, may be reached at the port.
func (s Set) HasHost(host string, port uint16) bool {
	return s.Has(Capability{Kind: Network, Host: host, Port: port})
}

// List gives the capabilities in order.
func (s Set) List() []Capability {
	return slices.SortedFunc(maps.Keys(s.all), Capability.Compare)
}

// MarshalJSON gives an array of the capabilities' spellings, in order.
func (s Set) MarshalJSON() ([]byte, error) {
	texts := []string{}
	for _, c := range s.List() {
		texts = append(texts, c.String())
	}
	return json.Marshal(texts)
}
