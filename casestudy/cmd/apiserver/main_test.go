package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run0 runs apiserver with a context that has ended, so that a server stops as soon as it listens.
func run0(args ...string) (code int, stdout, stderr string) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, err bytes.Buffer
	code = run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExitCodes(t *testing.T) {
	sound := write(t, "server: {addr: '127.0.0.1:0'}\n")
	wrong := write(t, "server:\n  middlewares: [loger]\n")
	unopenable := write(t, "log: {output-paths: [/no/such/folder/a.log]}\n")
	cases := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-config", sound}, 0, ""},
		{[]string{"-h"}, 0, "usage: apiserver"},
		{[]string{"-config", wrong}, 1, `c.yaml:2: unknown middleware "loger"; did you mean "logger"?`},
		{[]string{"-config", "no-such.yaml"}, 1, "no-such.yaml"},
		{[]string{"-config", unopenable}, 1, "log.output-paths"},
		{[]string{"-config", sound, "-listen", "nowhere"}, 1, "cannot listen on nowhere"},
		{[]string{"-confg", sound}, 2, "-confg"},
		{[]string{"-config", sound, "more"}, 2, `unexpected argument "more"`},
		{[]string{"token", "-config", sound}, 1, "server.jwt-secret"},
		{[]string{"token", "-config", sound, "-lifetime", "-1s"}, 2, "-lifetime"},
	}
	for _, c := range cases {
		code, _, stderr := run0(c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit %d, %q; wanted %d, %q", c.args, code, stderr, c.code, c.says)
		}
		if code != 0 && strings.Count(stderr, "apiserver: ") > 1 {
			t.Errorf("%q: said more than once: %q", c.args, stderr)
		}
	}
}

func TestDebugOptionsAreWarnedOf(t *testing.T) {
	path := write(t, "server: {mode: debug, addr: '127.0.0.1:0', middlewares: [dump]}\nlog: {output-paths: [stdout]}\n")
	code, stdout, stderr := run0("-config", path)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, option := range []string{"server.mode: debug", "server.middlewares: dump"} {
		if !strings.Contains(stderr, "warning: a measurement will measure the debug option "+option) {
			t.Errorf("stderr does not warn of %s: %s", option, stderr)
		}
		if !strings.Contains(stdout, `"level":"WARN","msg":"a measurement will measure the debug option `+option) {
			t.Errorf("the log does not warn of %s: %s", option, stdout)
		}
	}
}
