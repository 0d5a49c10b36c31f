// Package accesslog writes a line per response, as nginx does, for `plimsoll mine` to read.
//
// It owns the line and the file; logsink owns where a server's own messages go.
package accesslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Wrap writes a line per response as nginx's `combined` does, with the time it took in seconds behind it:
// $remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time
//
// Where a proxy stands in front, X-Forwarded-For names the client.
func Wrap(out io.Writer, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		seen := &seen{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		// One write a line, so that lines of several requests are not torn. A full disk stops the log, not the shop.
		_, _ = fmt.Fprintf(out, "%s - - [%s] \"%s %s %s\" %d %d \"%s\" \"%s\" %.3f\n",
			client(r), began.Format("02/Jan/2006:15:04:05 -0700"), r.Method, escaped(r.URL.RequestURI()), r.Proto,
			seen.status, seen.bytes, escaped(r.Referer()), escaped(r.UserAgent()), time.Since(began).Seconds())
	})
}

// seen counts what a response holds.
type seen struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (s *seen) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *seen) Write(body []byte) (int, error) {
	written, err := s.ResponseWriter.Write(body)
	s.bytes += written
	return written, err
}

func client(r *http.Request) string {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if address := net.ParseIP(strings.TrimSpace(first)); address != nil {
		return address.String()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "-"
	}
	return host
}

// escaped writes what would end a field or a line as nginx does.
func escaped(text string) string {
	if text == "" {
		return "-"
	}
	var safe strings.Builder
	for i := range len(text) {
		switch b := text[i]; {
		case b < ' ', b == '"', b == '\\', b >= 0x7f:
			fmt.Fprintf(&safe, "\\x%02X", b)
		default:
			safe.WriteByte(b)
		}
	}
	return safe.String()
}

// File is a log that several handlers write to. What it holds is written out each second.
type File struct {
	mu      sync.Mutex
	file    *os.File
	out     *bufio.Writer
	stopped chan struct{}
}

// Open appends to a file.
func Open(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	log := &File{file: file, out: bufio.NewWriterSize(file, 64<<10), stopped: make(chan struct{})}
	go log.flushEach(time.Second)
	return log, nil
}

// Write adds a line.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(line)
}

// Close writes out what is left.
func (f *File) Close() error {
	close(f.stopped)
	return errors.Join(f.flush(), f.file.Close())
}

func (f *File) flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Flush()
}

func (f *File) flushEach(pause time.Duration) {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			_ = f.flush()
		case <-f.stopped:
			return
		}
	}
}
