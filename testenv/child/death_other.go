//go:build !linux

package child

import "syscall"

func signalAtDeath(*syscall.SysProcAttr, syscall.Signal) {}
