package child

import "syscall"

func signalAtDeath(attr *syscall.SysProcAttr, signal syscall.Signal) { attr.Pdeathsig = signal }
