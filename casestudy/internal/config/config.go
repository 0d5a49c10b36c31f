// Package config owns the reading of apiserver's configuration file.
//
// What was written is a YAML tree; what it means is a [Config], with every default filled in and every name
// checked. It opens no log and builds no server: router and logsink take the Config from here. Whatever is wrong
// with the file is an [Error] that says where.
package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"go.yaml.in/yaml/v3"
)

// Modes of server.mode.
const (
	ModeDebug   = "debug"
	ModeRelease = "release"
)

// The values that names in the file may take, in the order that error messages list them.
var (
	Modes       = []string{ModeDebug, ModeRelease}
	Levels      = []string{"debug", "info", "warn", "error"}
	Middlewares = []string{
		"dump", "logger", "requestid", "context", "recovery", "nocache", "cors", "secure", "auth",
	}
)

const (
	// maxFileBytes bounds the file: a configuration is a page, not a data set.
	maxFileBytes = 64 << 10
	// minSecretBytes is what HS256 asks of its key (RFC 7518, section 3.2).
	minSecretBytes = 32

	secretPath = "server.jwt-secret"
)

// Config is a configuration file resolved: nothing is left to default.
type Config struct {
	// Mode is "debug" or "release".
	Mode string
	// Addr is host:port.
	Addr string
	// Middlewares run in this order; no name twice, each one of [Middlewares].
	Middlewares []string
	// Level is the least severe level that is logged.
	Level slog.Level
	// OutputPaths are "stdout", "stderr" or files; at least one, no path twice.
	OutputPaths []string
	// Profiling turns /debug/pprof on.
	Profiling bool
	// AccessPath is a file that gets a line per response; empty for none.
	AccessPath string
	// Database is the URL of the PostgreSQL database with users and secrets; empty for none, and then the server has
	// neither.
	Database string
	// SecretCached keeps the secret that tokens are checked with, instead of looking it up for each request.
	SecretCached bool

	// Settings holds the values as written, for what is looked up while serving.
	Settings *Settings
}

// Load reads and resolves the file.
func Load(file string) (*Config, error) {
	text, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, text)
}

// Parse resolves text; file is only its name, for messages.
func Parse(file string, text []byte) (*Config, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, syntaxError(file, err)
	}
	r := newReader(file)
	if len(document.Content) > 0 {
		if err := r.section("", document.Content[0]); err != nil {
			return nil, err
		}
	}
	if err := r.checkAuth(); err != nil {
		return nil, err
	}
	return r.config, nil
}

// Secret is the key that tokens are signed and verified with; empty when the file has none. It is looked up anew
// on every call.
func (c *Config) Secret() string {
	return c.Settings.String(secretPath)
}

// SecretReader is what middlewares ask for the secret: it is looked up for each request, or once if SecretCached.
func (c *Config) SecretReader() func() string {
	if !c.SecretCached {
		return c.Secret
	}
	secret := c.Secret()
	return func() string { return secret }
}

// DebugOptions names the options in force that a measurement would measure instead of the server.
func (c *Config) DebugOptions() []string {
	var found []string
	if c.Mode == ModeDebug {
		found = append(found, "server.mode: debug")
	}
	for _, name := range c.Middlewares {
		if name == "dump" {
			found = append(found, "server.middlewares: dump")
		}
	}
	if c.Level == slog.LevelDebug {
		found = append(found, "log.level: debug")
	}
	return found
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		cause := err
		if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
			cause = pathErr.Err
		}
		return nil, fmt.Errorf("cannot read the configuration %s: %w; name one with -config", file, cause)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("%s is larger than %d KiB; is it a configuration?", file, maxFileBytes>>10)
	}
	return text, nil
}
