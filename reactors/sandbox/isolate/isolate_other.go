//go:build !linux

package isolate

import "os/exec"

// Command makes a command with a clean environment. No layer exists here.
func Command(_ Spec, name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = environment
	cmd.Dir = "/"
	return cmd, nil
}

// Start starts cmd.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Enter does nothing here; SelfTest says so.
func Enter(Spec) error { return nil }

// SelfTest reports that nothing is active.
func SelfTest(Spec) []Layer {
	const detail = "Linux only"
	return []Layer{
		{Name: "process", Required: true, Active: true},
		{Name: "no_new_privs", Required: true, Detail: detail},
		{Name: "rlimits", Required: true, Detail: detail},
		{Name: "seccomp", Required: true, Detail: detail},
		{Name: "parent_death", Required: true, Detail: detail},
		{Name: "landlock", Detail: detail},
		{Name: "uid", Detail: detail},
		{Name: "namespaces", Detail: detail},
	}
}
