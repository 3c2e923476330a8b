package sandbox_test

import (
	"testing"
)

func TestFirst(t *testing.T) {
	p := newPool(t)
	for _, l := range p.Layers() {
		t.Log(l)
	}
	r := mustRun(t, p, do(deed{Do: "echo", N: 1}))
	t.Logf("%s %+v", r.Output, r)
	r = mustRun(t, p, do(deed{Do: "memory", N: 100}))
	t.Logf("%s %+v", r.Output, r)
	r = mustRun(t, p, do(deed{Do: "echo", N: 1}))
	t.Logf("%s %+v", r.Output, r)
}
