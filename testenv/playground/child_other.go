//go:build !linux

package main

import "syscall"

// dieWithParent does nothing: only Linux can promise it.
func dieWithParent(*syscall.SysProcAttr) {}
