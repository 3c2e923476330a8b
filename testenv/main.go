package testenv

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Main runs a package's tests and stops the cluster that they shared:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
//
// The cluster is started by the first [New], so a run that needs none costs nothing.
func Main(m *testing.M) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		stopShared()
		os.Exit(130)
	}()
	code := m.Run()
	stopShared()
	os.Exit(code)
}
