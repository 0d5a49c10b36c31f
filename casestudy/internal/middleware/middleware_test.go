package middleware

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"

	"plimsoll/casestudy/internal/config"
)

const secret = "0123456789abcdef0123456789abcdef"

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	m.Run()
}

// bench is a server with the named middlewares and a handler of the test's own on /x.
type bench struct {
	engine *gin.Engine
	log    bytes.Buffer
}

func newBench(level slog.Level, handler gin.HandlerFunc, names ...string) *bench {
	b := &bench{engine: gin.New()}
	log := slog.New(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: level}))
	b.engine.Use(Chain(names, Deps{Log: log, Secret: func() string { return secret }})...)
	b.engine.Any("/x", handler)
	return b
}

func answerOK(c *gin.Context) { c.String(http.StatusOK, "fine") }

// ask sends a request with headers given as name, value, name, value.
func (b *bench) ask(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	b.engine.ServeHTTP(answer, request)
	return answer
}

// lines are the log lines written so far.
func (b *bench) lines(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(b.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, fields)
	}
	return all
}

func TestEveryConfigurableNameHasAMiddleware(t *testing.T) {
	want := slices.Sorted(slices.Values(config.Middlewares))
	if have := slices.Sorted(maps.Keys(makers)); !slices.Equal(have, want) {
		t.Errorf("made %q, configurable %q", have, want)
	}
}

func TestRequestID(t *testing.T) {
	b := newBench(slog.LevelInfo, answerOK, "requestid")
	first, second := b.ask("GET", "/x", ""), b.ask("GET", "/x", "")
	a, z := first.Header().Get("X-Request-ID"), second.Header().Get("X-Request-ID")
	if len(a) != 36 || a == z {
		t.Errorf("ids %q and %q", a, z)
	}
	if kept := b.ask("GET", "/x", "", "X-Request-ID", "mine-1").Header().Get("X-Request-ID"); kept != "mine-1" {
		t.Errorf("the caller's id became %q", kept)
	}
	for _, bad := range []string{"a b", "a\"b", strings.Repeat("x", 65)} {
		if got := b.ask("GET", "/x", "", "X-Request-ID", bad).Header().Get("X-Request-ID"); len(got) != 36 {
			t.Errorf("%q was answered with %q", bad, got)
		}
	}
}

func TestLoggerWritesOneLineARequest(t *testing.T) {
	b := newBench(slog.LevelInfo, answerOK, "requestid", "logger")
	b.ask("GET", "/x?user_key=hush", "", "X-Forwarded-For", "10.9.8.7")
	b.ask("GET", "/nowhere", "")
	lines := b.lines(t)
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), b.log.String())
	}
	ok, missing := lines[0], lines[1]
	if ok["status"] != 200.0 || ok["method"] != "GET" || ok["path"] != "/x" || ok["bytes"] != 4.0 {
		t.Errorf("%v", ok)
	}
	if latency, _ := ok["latency_ns"].(float64); latency <= 0 {
		t.Errorf("latency %v", ok["latency_ns"])
	}
	if id, _ := ok["requestID"].(string); len(id) != 36 {
		t.Errorf("id %v", ok["requestID"])
	}
	if ok["client_ip"] == "" || missing["status"] != 404.0 {
		t.Errorf("%v, %v", ok, missing)
	}
	if strings.Contains(b.log.String(), "hush") {
		t.Error("the query is in the log")
	}
}

func TestLoggerObeysTheLevel(t *testing.T) {
	b := newBench(slog.LevelWarn, answerOK, "logger", "dump")
	b.ask("GET", "/x", "")
	if b.log.Len() > 0 {
		t.Errorf("%s", b.log.String())
	}
}

func TestContextTellsTheHandlersLoggerWhoseRequestItIs(t *testing.T) {
	handler := func(c *gin.Context) {
		Log(c.Request.Context(), slog.New(slog.DiscardHandler)).Info("in the handler")
	}
	b := newBench(slog.LevelInfo, handler, "auth", "requestid", "context")
	token, _ := NewToken(secret, "jane", time.Now(), time.Minute)
	b.ask("GET", "/x", "", "X-Request-ID", "id-7", "Authorization", "Bearer "+token)
	lines := b.lines(t)
	if len(lines) != 1 || lines[0]["requestID"] != "id-7" || lines[0]["username"] != "jane" {
		t.Errorf("%v", lines)
	}
	without := newBench(slog.LevelInfo, handler)
	if without.ask("GET", "/x", ""); without.log.Len() > 0 {
		t.Errorf("without the middleware: %s", without.log.String())
	}
}

func TestRecoveryAnswersAPanicWith500(t *testing.T) {
	b := newBench(slog.LevelInfo, func(*gin.Context) { panic("boom") }, "recovery")
	if answer := b.ask("GET", "/x", ""); answer.Code != http.StatusInternalServerError {
		t.Errorf("status %d", answer.Code)
	}
	lines := b.lines(t)
	if len(lines) != 1 || lines[0]["value"] != "boom" || lines[0]["level"] != "ERROR" {
		t.Fatalf("%v", lines)
	}
	if stack, _ := lines[0]["stack"].(string); !strings.Contains(stack, "TestRecoveryAnswersAPanicWith500") {
		t.Errorf("the stack does not reach the culprit: %s", stack)
	}
}

func TestHeadersThatMiddlewaresAdd(t *testing.T) {
	cases := map[string]map[string]string{
		"nocache": {
			"Cache-Control": "no-cache, no-store, max-age=0, must-revalidate",
			"Expires":       "Thu, 01 Jan 1970 00:00:00 GMT",
		},
		"cors": {"Access-Control-Allow-Origin": "*"},
		"secure": {
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Content-Security-Policy": "default-src 'none'",
		},
	}
	bare := newBench(slog.LevelInfo, answerOK).ask("GET", "/x", "", "Origin", "http://a.test").Header()
	for name, headers := range cases {
		answer := newBench(slog.LevelInfo, answerOK, name).ask("GET", "/x", "", "Origin", "http://a.test")
		if answer.Code != http.StatusOK || answer.Body.String() != "fine" {
			t.Errorf("%s: %d %q", name, answer.Code, answer.Body)
		}
		for header, want := range headers {
			if got := answer.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q, not %q", name, header, got, want)
			}
			if bare.Get(header) != "" {
				t.Errorf("%s is there without %s", header, name)
			}
		}
	}
	modified := newBench(slog.LevelInfo, answerOK, "nocache").ask("GET", "/x", "").Header().Get("Last-Modified")
	if _, err := http.ParseTime(modified); err != nil {
		t.Errorf("Last-Modified: %v", err)
	}
}

func TestCORS(t *testing.T) {
	reached := false
	b := newBench(slog.LevelInfo, func(*gin.Context) { reached = true }, "cors")
	preflight := b.ask("OPTIONS", "/x", "", "Origin", "http://a.test", "Access-Control-Request-Method", "GET")
	if preflight.Code != http.StatusNoContent || reached {
		t.Errorf("preflight: status %d, reached the handler: %t", preflight.Code, reached)
	}
	if got := preflight.Header().Get("Access-Control-Allow-Methods"); !strings.Contains(got, "GET") {
		t.Errorf("allowed methods %q", got)
	}
	same := b.ask("GET", "/x", "")
	if !reached || same.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without Origin: %v", same.Header())
	}
}

func TestDumpWritesRequestAndAnswer(t *testing.T) {
	var seen string
	handler := func(c *gin.Context) {
		body, _ := io.ReadAll(c.Request.Body)
		seen = string(body)
		c.Header("Set-Cookie", "session=hush")
		c.Data(http.StatusTeapot, "text/plain", []byte("short and stout"))
	}
	b := newBench(slog.LevelInfo, handler, "dump")
	answer := b.ask("POST", "/x?user_key=hush", "tea please", "X-Pot", "red", "Authorization", "Bearer hush")
	if answer.Body.String() != "short and stout" || seen != "tea please" {
		t.Errorf("answered %q, the handler saw %q", answer.Body, seen)
	}
	if answer.Header().Get("Set-Cookie") != "session=hush" {
		t.Error("masking reached the answer itself")
	}
	lines := b.lines(t)
	if len(lines) != 1 {
		t.Fatalf("%v", lines)
	}
	for field, parts := range map[string][]string{
		"request": {"POST /x HTTP/1.1\r\n", "X-Pot: red\r\n", "Authorization: (masked)\r\n", "\r\n\r\ntea please"},
		"answer":  {"HTTP/1.1 418 I'm a teapot\r\n", "Content-Type: text/plain\r\n", "\r\n\r\nshort and stout"},
	} {
		for _, part := range parts {
			if text, _ := lines[0][field].(string); !strings.Contains(text, part) {
				t.Errorf("%s %q lacks %q", field, text, part)
			}
		}
	}
	if strings.Contains(b.log.String(), "hush") {
		t.Errorf("a secret is in the log: %s", b.log.String())
	}
}

func TestDumpIsBounded(t *testing.T) {
	long := strings.Repeat("y", maxDumpedBody+1)
	b := newBench(slog.LevelInfo, func(c *gin.Context) {
		body, _ := io.ReadAll(c.Request.Body)
		c.Writer.WriteString(string(body))
	}, "dump")
	if answer := b.ask("POST", "/x", long); answer.Body.String() != long {
		t.Errorf("%d bytes answered, not %d", answer.Body.Len(), len(long))
	}
	line := b.lines(t)[0]
	if text := line["request"].(string); strings.Contains(text, "yy") {
		t.Errorf("request of %d bytes dumped", len(text))
	}
	if text := line["answer"].(string); strings.Count(text, "y") > maxDumpedBody+1 {
		t.Errorf("answer of %d bytes dumped", len(text))
	}
}

func TestDumpSurvivesARequestWithoutAPath(t *testing.T) {
	b := newBench(slog.LevelInfo, answerOK, "dump")
	request := httptest.NewRequest("GET", "http://a.test/x", nil)
	request.URL.Path, request.RequestURI = "", "http://a.test"
	b.engine.ServeHTTP(httptest.NewRecorder(), request)
	if text := b.lines(t)[0]["request"].(string); !strings.HasPrefix(text, "GET / HTTP/1.1") {
		t.Errorf("%q", text)
	}
}

func TestAuth(t *testing.T) {
	now := time.Now()
	valid, _ := NewToken(secret, "jane", now, time.Hour)
	foreign, _ := NewToken("another secret of 32 bytes or so.", "jane", now, time.Hour)
	expired, _ := NewToken(secret, "jane", now.Add(-2*time.Hour), time.Hour)
	lasting, _ := jwt.New(jwt.SigningMethodHS256).SignedString([]byte(secret))
	otherHash, _ := jwt.NewWithClaims(jwt.SigningMethodHS512, jwt.MapClaims{"exp": now.Add(time.Hour).Unix()}).
		SignedString([]byte(secret))
	unsigned, _ := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"exp": now.Add(time.Hour).Unix()}).
		SignedString(jwt.UnsafeAllowNoneSignatureType)
	cases := []struct {
		name, header string
		status       int
	}{
		{"valid", "Bearer " + valid, 200},
		{"scheme in lower case", "bearer " + valid, 200},
		{"none", "", 401},
		{"no scheme", valid, 401},
		{"basic", "Basic " + valid, 401},
		{"garbage", "Bearer a.b.c", 401},
		{"cut short", "Bearer " + valid[:len(valid)-2], 401},
		{"signed by another", "Bearer " + foreign, 401},
		{"expired", "Bearer " + expired, 401},
		{"never expires", "Bearer " + lasting, 401},
		{"another hash", "Bearer " + otherHash, 401},
		{"unsigned", "Bearer " + unsigned, 401},
	}
	b := newBench(slog.LevelInfo, answerOK, "auth")
	for _, c := range cases {
		answer := b.ask("GET", "/x", "", "Authorization", c.header)
		if answer.Code != c.status {
			t.Errorf("%s: %d, not %d", c.name, answer.Code, c.status)
		}
		refused := c.status == http.StatusUnauthorized
		if refused && (answer.Header().Get("WWW-Authenticate") != "Bearer" || strings.Contains(answer.Body.String(), "fine")) {
			t.Errorf("%s: %v %q", c.name, answer.Header(), answer.Body)
		}
	}
}

func TestAuthReadsTheSecretForEveryRequest(t *testing.T) {
	reads := 0
	engine := gin.New()
	deps := Deps{Log: slog.New(slog.DiscardHandler), Secret: func() string { reads++; return secret }}
	engine.Use(Chain([]string{"auth"}, deps)...)
	engine.GET("/x", answerOK)
	token, _ := NewToken(secret, "jane", time.Now(), time.Hour)
	for range 3 {
		request := httptest.NewRequest("GET", "/x", nil)
		request.Header.Set("Authorization", "Bearer "+token)
		engine.ServeHTTP(httptest.NewRecorder(), request)
	}
	if reads != 3 {
		t.Errorf("%d reads for 3 requests", reads)
	}
}
