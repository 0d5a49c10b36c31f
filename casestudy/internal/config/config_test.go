package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const longSecret = "0123456789abcdef0123456789abcdef"

func TestDefaultsFillWhatIsNotWritten(t *testing.T) {
	for _, text := range []string{"", "server:\n", "# nothing\n", "server:\n  middlewares:\n", "feature: {}\n"} {
		cfg, err := Parse("c.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if cfg.Mode != ModeRelease || cfg.Addr != "127.0.0.1:8080" || len(cfg.Middlewares) != 0 ||
			cfg.Level != slog.LevelInfo || !slices.Equal(cfg.OutputPaths, []string{"stdout"}) || cfg.Profiling {
			t.Errorf("%q: %+v", text, cfg)
		}
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	cfg, err := Parse("c.yaml", []byte(`
feature: {profiling: true}
log:
  level: warn
  output-paths: [stderr, /tmp/x.log]
server:
  middlewares: [auth, dump]
  jwt-secret: `+longSecret+`
  mode: debug
  addr: "[::1]:0"
`))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Mode != ModeDebug || cfg.Addr != "[::1]:0" || cfg.Level != slog.LevelWarn || !cfg.Profiling {
		t.Errorf("%+v", cfg)
	}
	if !slices.Equal(cfg.Middlewares, []string{"auth", "dump"}) {
		t.Errorf("middlewares %q, not in the order written", cfg.Middlewares)
	}
	if !slices.Equal(cfg.OutputPaths, []string{"stderr", "/tmp/x.log"}) {
		t.Errorf("output paths %q", cfg.OutputPaths)
	}
	if cfg.Secret() != longSecret {
		t.Errorf("secret %q", cfg.Secret())
	}
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	cases := []struct {
		name, text string
		line       int
		says       []string
	}{
		{"middleware", "server:\n  middlewares:\n    - logger\n    - requestdi\n", 4,
			[]string{`unknown middleware "requestdi"`, `did you mean "requestid"?`, "nocache"}},
		{"middleware in another case", "server: {middlewares: [CORS]}", 1, []string{`did you mean "cors"?`}},
		{"middleware like nothing", "server: {middlewares: [zzzzzzzzzzzz]}", 1, []string{"valid: dump, logger"}},
		{"middleware twice", "server:\n  middlewares:\n  - cors\n  - cors\n", 4,
			[]string{`"cors" is listed twice`, "line 3"}},
		{"middlewares no list", "server:\n  middlewares: cors\n", 2, []string{"must be a list"}},
		{"middlewares of lists", "server:\n  middlewares: [[cors]]\n", 2, []string{"must be a text"}},
		{"level", "log:\n\n  level: wran\n", 3, []string{`unknown level "wran"`, `"warn"`}},
		{"mode", "server:\n  mode: relaese\n", 2, []string{`unknown mode "relaese"`, `"release"`}},
		{"mode empty", "server:\n  mode:\n", 2, []string{"server.mode must be a text"}},
		{"key", "server:\n  adr: x\n", 2, []string{`unknown key "server.adr"`, `"addr"`, "jwt-secret"}},
		{"section", "sever:\n  mode: debug\n", 1, []string{`unknown key "sever"`, `"server"`}},
		{"dotted key", "server.mode: debug\n", 1, nil},
		{"key of the wrong section", "log:\n  profiling: true\n", 2, []string{`unknown key "log.profiling"`}},
		{"key twice", "server:\n  mode: debug\n  mode: release\n", 3, []string{`"server.mode" is given twice`, "line 2"}},
		{"section no mapping", "server: [mode]\n", 1, []string{"server must hold keys"}},
		{"file no mapping", "- server\n", 1, []string{"the file must hold keys"}},
		{"address", "server:\n  addr: localhost\n", 2, []string{"not an address", "host:port"}},
		{"port", "server:\n  addr: localhost:70000\n", 2, []string{"not an address"}},
		{"profiling", "feature:\n  profiling: 'on'\n", 2, []string{"must be true or false"}},
		{"no output", "log:\n  output-paths: []\n", 2, []string{"is empty", "/dev/null"}},
		{"short secret", "server:\n  jwt-secret: hunter2\n", 2, []string{"7 bytes", "at least 32"}},
		{"auth without secret", "server:\n  middlewares:\n    - auth\n", 3, []string{"server.jwt-secret"}},
		{"alias", "server: &a\n  mode: *a\n", 2, []string{"must be a text"}},
		{"syntax", "server:\n  mode: debug\n\tlog: x\n", 2, []string{"not valid YAML here or soon below", "tab character"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("c.yaml", []byte(c.text))
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("got %+v and %v, not an Error", cfg, err)
			}
			if wrong.Line != c.line {
				t.Errorf("line %d, not %d: %v", wrong.Line, c.line, err)
			}
			for _, part := range append(c.says, "c.yaml:") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("not one line, or tells the secret: %q", err)
			}
		})
	}
}

func TestFilesThatAreNoConfiguration(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, says := range map[string]string{
		"no-such.yaml": "no such file",
		t.TempDir():    "is a directory",
		big:            "larger than",
	} {
		_, err := Load(file)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestDebugOptionsAreNoticed(t *testing.T) {
	for text, want := range map[string][]string{
		"server: {middlewares: [logger]}":    nil,
		"server: {mode: debug}":              {"server.mode: debug"},
		"server: {middlewares: [cors,dump]}": {"server.middlewares: dump"},
		"log: {level: debug}":                {"log.level: debug"},
	} {
		cfg, err := Parse("c.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.DebugOptions(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"loger": "logger", "requst-id": "requestid", "recover": "recovery", "no-cache": "nocache",
		"dmup": "dump", "xyz": "", strings.Repeat("x", 10_000): "",
	} {
		if got, _ := nearest(name, Middlewares); got != want {
			t.Errorf("nearest to %.20q is %q, not %q", name, got, want)
		}
	}
}

func TestSettingsAreLookedUpByPath(t *testing.T) {
	s := newSettings()
	s.put("server.jwt-secret", "a")
	s.put("server.mode", "b")
	for path, want := range map[string]string{
		"server.jwt-secret": "a", "Server.Mode": "b", "server": "", "server.mode.x": "", "log.level": "", "": "",
	} {
		if got := s.String(path); got != want {
			t.Errorf("%q is %q, not %q", path, got, want)
		}
	}
}

// FuzzParse: whatever the file holds, the answer is a configuration or one line that says where.
func FuzzParse(f *testing.F) {
	f.Add([]byte("server:\n  middlewares: [logger]\n"))
	f.Add([]byte("server: &a {mode: *a}\n<<: *a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := Parse("c.yaml", text)
		if (cfg == nil) == (err == nil) {
			t.Fatalf("%+v and %v", cfg, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("more than a line: %q", err)
		}
	})
}
