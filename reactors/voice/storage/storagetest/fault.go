package storagetest

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fault answers in the place of a server that works. body is what that would send.
type Fault func(w http.ResponseWriter, r *http.Request, body []byte)

// Status answers with a status and no body of Storage's.
func Status(status int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) { http.Error(w, "upstream", status) }
}

// Refuse answers with an error of Storage's, such as 403 AccessDenied.
func Refuse(status int, code string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) { refuse(w, status, code, code, code) }
}

// Redirect leads to another address.
func Redirect(to string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}
}

// Silence does not answer.
func Silence(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }

// Stall sends the first half of the body, and then nothing more.
func Stall(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	send(w, body[:len(body)/2])
	<-r.Context().Done()
}

// Drip sends a byte in each interval.
func Drip(interval time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for i := range body {
			send(w, body[i:i+1])
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
}

// CutOff ends the connection in the middle of the body. The body's length was told,
// or chunked says that the end is missing.
func CutOff(chunked bool) Fault {
	return func(w http.ResponseWriter, _ *http.Request, body []byte) {
		if !chunked {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		send(w, body[:len(body)/2])
		panic(http.ErrAbortHandler)
	}
}

// Chunked tells no length, and sends the body so many times.
func Chunked(times int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, body []byte) {
		for range times {
			send(w, body)
		}
	}
}

// Unframed sends half the body as a server of HTTP/1.0 may: the end of the
// connection is that of the body.
func Unframed(w http.ResponseWriter, _ *http.Request, body []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // this server speaks HTTP/1.1
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "HTTP/1.0 200 OK\r\n\r\n%s", body[:len(body)/2]) // the client may have gone
}

// Gzip compresses the body, asked or not.
func Gzip(w http.ResponseWriter, _ *http.Request, body []byte) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = z.Write(body) // the client may have gone
	_ = z.Close()
	send(w, nil) // chunked, so that a client which unpacks it by itself finds nothing odd
}

// send writes and flushes; the client may have gone.
func send(w http.ResponseWriter, body []byte) {
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
}
