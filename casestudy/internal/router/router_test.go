package router

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plimsoll/casestudy/internal/config"
	"plimsoll/casestudy/internal/health"
)

func build(t *testing.T, text string) http.Handler {
	t.Helper()
	cfg, err := config.Parse("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return New(cfg, slog.New(slog.DiscardHandler), nil)
}

func ask(handler http.Handler, method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer
}

func TestHealthIsTheSameWhateverStandsBeforeIt(t *testing.T) {
	for _, names := range []string{"", "logger", "dump, logger, requestid, context, recovery, nocache, cors, secure"} {
		answer := ask(build(t, fmt.Sprintf("server: {middlewares: [%s]}", names)), "GET", health.Path)
		if answer.Code != 200 || answer.Body.String() != health.Body {
			t.Errorf("[%s]: %d %q", names, answer.Code, answer.Body)
		}
		if got := answer.Header().Get("Content-Type"); got != health.ContentType {
			t.Errorf("[%s]: %s", names, got)
		}
	}
}

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	handler := build(t, "")
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/", 404}, {"POST", health.Path, 405}, {"HEAD", health.Path, 200}} {
		got := ask(handler, c.method, c.path)
		if got.Code != c.status {
			t.Errorf("%s %s: %d, not %d", c.method, c.path, got.Code, c.status)
		}
		if kind := got.Header().Get("Content-Type"); got.Code >= 400 && kind != "application/problem+json" {
			t.Errorf("%s %s: an error of the type %s", c.method, c.path, kind)
		}
	}
}

func TestProfilingIsThereOnlyWhenTurnedOn(t *testing.T) {
	const auth = "server: {middlewares: [auth], jwt-secret: 0123456789abcdef0123456789abcdef}\n"
	paths := []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/symbol", "/debug/pprof/heap"}
	on, off := build(t, auth+"feature: {profiling: true}"), build(t, "feature: {profiling: false}")
	for _, path := range paths {
		if got := ask(on, "GET", path).Code; got != 200 {
			t.Errorf("on, %s: %d", path, got)
		}
		if got := ask(off, "GET", path).Code; got != 404 {
			t.Errorf("off, %s: %d", path, got)
		}
	}
	if got := ask(on, "GET", health.Path).Code; got != 401 {
		t.Errorf("profiling let %s through without a token: %d", health.Path, got)
	}
	if index := ask(on, "GET", "/debug/pprof/").Body.String(); !strings.Contains(index, "goroutine") {
		t.Error("the index lists no profiles")
	}
}
