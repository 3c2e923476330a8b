package main_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// TestTypesAreOfTheSchema: database.types.ts is what the migrations of today make.
func TestTypesAreOfTheSchema(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", testenv.New(t).URL("postgres"))
	cmd.Stderr = os.Stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../database.types.ts")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the schema has changed: go run ./examples/js/gen > examples/js/database.types.ts")
	}
}
