package logsink

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALineGoesToEveryOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	var stdout, stderr bytes.Buffer
	sink, err := Open([]string{"stdout", path, "stderr"}, &stdout, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	sink.Write([]byte("one\n"))
	sink.Write([]byte("two\n"))
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	for _, got := range []string{stdout.String(), stderr.String(), string(text)} {
		if got != "one\ntwo\n" {
			t.Errorf("%q", got)
		}
	}
}

func TestAFileNeverGrowsPastItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	f, err := openFile(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"1234\n", "5678\n", "9\n", "longer than the limit\n", "x\n"} {
		if _, err := f.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	now, _ := os.ReadFile(path)
	before, _ := os.ReadFile(path + ".1")
	if string(now) != "x\n" || string(before) != "longer than the limit\n" {
		t.Errorf("now %q, before %q", now, before)
	}
}

func TestAnOpenedFileIsAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	for _, line := range []string{"one\n", "two\n"} {
		sink, err := Open([]string{path}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sink.Write([]byte(line))
		sink.Close()
	}
	if text, _ := os.ReadFile(path); string(text) != "one\ntwo\n" {
		t.Errorf("%q", text)
	}
}

func TestADeviceIsNotMovedAside(t *testing.T) {
	f, err := openFile("/dev/null", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 3 {
		if _, err := f.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestLostLinesAreCounted(t *testing.T) {
	var stderr bytes.Buffer
	sink, err := Open([]string{"stdout", "stderr"}, broken{}, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	sink.Write([]byte("one\n"))
	sink.Write([]byte("two\n"))
	if err := sink.Close(); err == nil || !strings.Contains(err.Error(), "2 log lines were lost: disk full") {
		t.Errorf("%v", err)
	}
	if stderr.String() != "one\ntwo\n" {
		t.Errorf("the sound output has %q", stderr.String())
	}
}

func TestAPathThatCannotBeOpened(t *testing.T) {
	_, err := Open([]string{filepath.Join(t.TempDir(), "no", "such", "a.log")}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "a.log") {
		t.Errorf("%v", err)
	}
}
