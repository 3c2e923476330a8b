//go:build !unix

package main

import "io/fs"

// ownedByUs is true where temporary files are each user's own.
func ownedByUs(fs.FileInfo) bool { return true }
