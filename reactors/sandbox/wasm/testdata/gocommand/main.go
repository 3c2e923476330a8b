// Command gocommand is a skill as Go's compiler makes it for wasip1: it gives its
// input back with what it sees of the world.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

func main() {
	var input struct {
		Exit  int
		Sleep time.Duration
		Grow  int
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	now := time.Now()
	time.Sleep(input.Sleep) // the test is of WASI's clock
	slept := time.Since(now) >= input.Sleep
	buffer := make([]byte, input.Grow)
	for i := range buffer {
		buffer[i] = 1
	}
	var random [4]byte
	rand.Read(random[:])
	_, file := os.ReadFile("/etc/passwd")
	_, dir := os.ReadDir(".")
	fmt.Fprintln(os.Stderr, "logged")
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"args": os.Args, "env": os.Environ(), "now": now.UTC().Format(time.DateTime), "slept": slept,
		"random": random, "file": file != nil, "dir": dir != nil,
	})
	os.Exit(input.Exit)
}
