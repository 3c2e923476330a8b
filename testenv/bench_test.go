package testenv_test

import (
	"testing"

	"github.com/helixd/helixd/testenv"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := testenv.Start(b.Context(), testenv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Stop(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewDatabase(b *testing.B) {
	c := testenv.StartCluster(b, testenv.Options{})
	b.ResetTimer()
	for b.Loop() {
		db, err := c.NewDatabase(b.Context(), "bench")
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Drop(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
