//go:build !(record && cgo)

package main

import "github.com/helixd/helixd/replication/stream"

// openAudio: the system's audio is reached through C, and helixd is built without.
func openAudio() (audio, error) {
	return nil, &stream.SetupError{Problem: "this build has no audio capture",
		Hint: "Build one that has, with a C compiler: make build-record. Or record with another program, and: helixd transcribe FILE"}
}
