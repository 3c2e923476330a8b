package voice

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sniff says what the bytes are. Clients' MIME types lie, so theirs counts only
// where the content says nothing.
func sniff(of io.ReaderAt, hint *string) string {
	head := make([]byte, 512)
	n, _ := of.ReadAt(head, 0)
	head = head[:n]
	magic := func(at int, bytes string) bool {
		return len(head) >= at+len(bytes) && string(head[at:at+len(bytes)]) == bytes
	}
	switch {
	case magic(0, "fLaC"):
		return "audio/flac"
	case magic(0, "OggS"):
		return "audio/ogg"
	case magic(0, "\x1a\x45\xdf\xa3"):
		return "audio/webm"
	case magic(4, "ftyp"):
		return "audio/mp4"
	case magic(0, "#!AMR"):
		return "audio/amr"
	case n > 1 && head[0] == 0xff && head[1]&0xf6 == 0xf0:
		return "audio/aac"
	case n > 1 && head[0] == 0xff && head[1]&0xe0 == 0xe0:
		return "audio/mpeg"
	}
	if found := http.DetectContentType(head); strings.HasPrefix(found, "audio/") || strings.HasPrefix(found, "video/") {
		return found
	}
	if hint != nil && saneType(*hint) {
		return strings.ToLower(*hint)
	}
	return "application/octet-stream"
}

// saneType reports whether a client's MIME type is one of sound, and may stand in
// a header.
func saneType(s string) bool {
	kind, sub, _ := strings.Cut(strings.ToLower(s), "/")
	if kind != "audio" && kind != "video" || sub == "" || len(sub) > 60 {
		return false
	}
	return strings.Trim(sub, "abcdefghijklmnopqrstuvwxyz0123456789.+-") == ""
}

// isText reports whether the bytes begin as text does: base64, JSON, a playlist.
func isText(of io.ReaderAt) bool {
	head := make([]byte, 512)
	n, _ := of.ReadAt(head, 0)
	return n > 0 && bytes.IndexFunc(head[:n], func(r rune) bool { return r == utf8.RuneError || r < ' ' && !unicode.IsSpace(r) }) < 0
}
