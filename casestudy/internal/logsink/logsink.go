// Package logsink owns where log lines go: the streams and files of log.output-paths.
//
// It takes finished lines, one per write, and neither formats nor filters them. Files are bounded, since a load
// test writes tens of thousands of lines a second; lines that could not be written are counted, since nobody looks
// at a logger's errors while serving.
package logsink

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// maxFileBytes is where a file is moved aside to FILE.1, replacing the one moved before: a log takes up to twice
// this much of the disk.
const maxFileBytes = 64 << 20

// Sink writes each line to every output. Safe for concurrent use; a line is never torn.
type Sink struct {
	mu      sync.Mutex
	outputs []io.WriteCloser
	lost    uint64
	reason  error
}

// Open opens the paths: "stdout" and "stderr" stand for the streams given, anything else is a file to append to.
func Open(paths []string, stdout, stderr io.Writer) (*Sink, error) {
	sink := &Sink{}
	for _, path := range paths {
		output, err := open(path, stdout, stderr)
		if err != nil {
			return nil, errors.Join(err, sink.Close())
		}
		sink.outputs = append(sink.outputs, output)
	}
	return sink, nil
}

// Write hands the line to every output, whichever of them fail.
func (s *Sink) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, output := range s.outputs {
		if _, err := output.Write(line); err != nil {
			s.lost++
			s.reason = err
		}
	}
	return len(line), nil
}

// Close closes the files. The error counts the lines that were lost, with the last reason, if any were.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for _, output := range s.outputs {
		failed = errors.Join(failed, output.Close())
	}
	s.outputs = nil
	if s.lost > 0 {
		failed = errors.Join(fmt.Errorf("%d log lines were lost: %w", s.lost, s.reason), failed)
	}
	return failed
}

func open(path string, stdout, stderr io.Writer) (io.WriteCloser, error) {
	switch path {
	case "stdout":
		return stream{stdout}, nil
	case "stderr":
		return stream{stderr}, nil
	}
	return openFile(path, maxFileBytes)
}

// stream is an output that is not ours to close.
type stream struct{ io.Writer }

func (stream) Close() error { return nil }

// file is a log file that never grows past its limit.
type file struct {
	path    string
	limit   int64
	written int64
	// device marks what has no size to bound, such as /dev/null.
	device bool
	*os.File
}

func openFile(path string, limit int64) (*file, error) {
	f := &file{path: path, limit: limit}
	return f, f.reopen()
}

func (f *file) reopen() error {
	handle, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the log: %w", err)
	}
	info, err := handle.Stat()
	if err != nil {
		return errors.Join(err, handle.Close())
	}
	f.File, f.written, f.device = handle, info.Size(), !info.Mode().IsRegular()
	return nil
}

func (f *file) Write(line []byte) (int, error) {
	if !f.device && f.written > 0 && f.written+int64(len(line)) > f.limit {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.File.Write(line)
	f.written += int64(n)
	return n, err
}

// rotate opens the new file before it lets go of the old one, so that a failure leaves a file to write to later.
func (f *file) rotate() error {
	if err := os.Rename(f.path, f.path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	old := f.File
	if err := f.reopen(); err != nil {
		return err
	}
	return old.Close()
}
