// Package audit keeps a chain of entries for each user: what was granted and
// revoked, what a skill was denied, and each of its host calls.
//
// Each entry's hash covers its columns and the hash of the entry before, so that
// an entry cannot be changed, taken out or moved without breaking what follows.
// It cannot show that the last entries were cut off, or that whoever can write
// the tables has written the whole chain anew: only the heads, kept elsewhere, do.
//
// Entries tell what was done to what, and never its content.
package audit
