package sandbox

// Layer is one wall between a child and the machine, as it was found to hold: a
// child tried what it forbids.
type Layer struct {
	Name     string `json:"name"` // process, no_new_privs, rlimits, seccomp, parent_death, landlock, uid, namespaces
	Required bool   `json:"required"`
	Active   bool   `json:"active"`
	Detail   string `json:"detail,omitempty"`
}
