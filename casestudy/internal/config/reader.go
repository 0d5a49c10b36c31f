package config

import (
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader walks the tree once and fills the Config.
type reader struct {
	file   string
	config *Config
	// authLine is where the middleware auth was listed, 0 if it was not.
	authLine int
}

// setters is the one table of keys: what is not in it is unknown, and what is lists the names to suggest.
var setters = []struct {
	path string
	set  func(*reader, string, *yaml.Node) error
}{
	{"server.mode", (*reader).setMode},
	{"server.addr", (*reader).setAddr},
	{"server.middlewares", (*reader).setMiddlewares},
	{secretPath, (*reader).setSecret},
	{"server.jwt-secret-cached", switched(func(c *Config) *bool { return &c.SecretCached })},
	{"log.level", (*reader).setLevel},
	{"log.output-paths", (*reader).setOutputPaths},
	{"log.access-path", worded(func(c *Config) *string { return &c.AccessPath })},
	{"database.url", worded(func(c *Config) *string { return &c.Database })},
	{"feature.profiling", switched(func(c *Config) *bool { return &c.Profiling })},
}

func newReader(file string) *reader {
	return &reader{file: file, config: &Config{
		Mode:        ModeRelease,
		Addr:        "127.0.0.1:8080",
		Level:       slog.LevelInfo,
		OutputPaths: []string{"stdout"},
		Settings:    newSettings(),
	}}
}

// section reads the mapping at prefix ("" or "server."). A section with nothing in it is one whose every line was
// commented out, and stands.
func (r *reader) section(prefix string, node *yaml.Node) error {
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return r.fail(node, "%s must hold keys (%s)", sectionName(prefix), strings.Join(keysUnder(prefix), ", "))
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if first, twice := lines[key.Value]; twice {
			return r.fail(key, "%s is given twice, first in line %d; keep one", quote(prefix+key.Value), first)
		}
		lines[key.Value] = key.Line
		if err := r.entry(prefix, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) entry(prefix string, key, value *yaml.Node) error {
	path := prefix + key.Value
	// "server.mode: debug" is a key with a dot in its name, and not the key mode of server.
	dotted := strings.Contains(key.Value, ".")
	for _, known := range setters {
		if known.path == path && !dotted {
			r.config.Settings.put(path, value.Value)
			return known.set(r, path, value)
		}
	}
	names := keysUnder(prefix)
	if key.Kind == yaml.ScalarNode && prefix == "" && slices.Contains(names, key.Value) {
		return r.section(path+".", value)
	}
	return r.unknown(key, "key", prefix, names)
}

func (r *reader) setMode(path string, node *yaml.Node) error {
	name, err := r.oneOf(path, node, "mode", Modes)
	r.config.Mode = name
	return err
}

func (r *reader) setAddr(path string, node *yaml.Node) error {
	text, err := r.text(path, node)
	if err != nil {
		return err
	}
	if !validAddr(text) {
		return r.fail(node, "%s %s is not an address; write host:port, such as 127.0.0.1:8080", path, quote(text))
	}
	r.config.Addr = text
	return nil
}

func (r *reader) setMiddlewares(path string, node *yaml.Node) error {
	items, err := r.list(path, node)
	if err != nil {
		return err
	}
	for _, item := range items {
		name, err := r.oneOf(path, item, "middleware", Middlewares)
		if err != nil {
			return err
		}
		if name == "auth" {
			r.authLine = item.Line
		}
		r.config.Middlewares = append(r.config.Middlewares, name)
	}
	return nil
}

// setSecret never repeats the value in a message: messages end in logs.
func (r *reader) setSecret(path string, node *yaml.Node) error {
	secret, err := r.text(path, node)
	if err != nil {
		return err
	}
	if len(secret) < minSecretBytes {
		return r.fail(node, "%s has %d bytes; HS256 needs at least %d", path, len(secret), minSecretBytes)
	}
	return nil
}

func (r *reader) setLevel(path string, node *yaml.Node) error {
	name, err := r.oneOf(path, node, "level", Levels)
	if err != nil {
		return err
	}
	return r.config.Level.UnmarshalText([]byte(name))
}

func (r *reader) setOutputPaths(path string, node *yaml.Node) error {
	items, err := r.list(path, node)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return r.fail(node, "%s is empty; list stdout, stderr or files (/dev/null for none)", path)
	}
	r.config.OutputPaths = nil
	for _, item := range items {
		text, err := r.text(path, item)
		if err != nil {
			return err
		}
		r.config.OutputPaths = append(r.config.OutputPaths, text)
	}
	return nil
}

// switched sets what is true or false.
func switched(field func(*Config) *bool) func(*reader, string, *yaml.Node) error {
	return func(r *reader, path string, node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode || node.Tag != "!!bool" {
			return r.fail(node, "%s must be true or false, not %s", path, quote(node.Value))
		}
		return node.Decode(field(r.config))
	}
}

// worded sets what is any text.
func worded(field func(*Config) *string) func(*reader, string, *yaml.Node) error {
	return func(r *reader, path string, node *yaml.Node) error {
		text, err := r.text(path, node)
		*field(r.config) = text
		return err
	}
}

// checkAuth holds a rule between two keys, which may come in either order.
func (r *reader) checkAuth() error {
	if r.authLine == 0 || r.config.Secret() != "" {
		return nil
	}
	return &Error{r.file, r.authLine, fmt.Sprintf(
		"the middleware auth needs %s, of at least %d bytes, to verify tokens with", secretPath, minSecretBytes)}
}

// list takes a sequence of scalars without repeats; null is a list whose every line was commented out.
func (r *reader) list(path string, node *yaml.Node) ([]*yaml.Node, error) {
	if isNull(node) {
		return nil, nil
	}
	if node.Kind != yaml.SequenceNode {
		return nil, r.fail(node, "%s must be a list, such as [a, b]", path)
	}
	lines := map[string]int{}
	for _, item := range node.Content {
		if first, twice := lines[item.Value]; twice && item.Kind == yaml.ScalarNode {
			return nil, r.fail(item, "%s is listed twice in %s, first in line %d; keep one",
				quote(item.Value), path, first)
		}
		lines[item.Value] = item.Line
	}
	return node.Content, nil
}

func (r *reader) text(path string, node *yaml.Node) (string, error) {
	if node.Kind != yaml.ScalarNode || isNull(node) || node.Value == "" {
		return "", r.fail(node, "%s must be a text, and not an empty one", path)
	}
	return node.Value, nil
}

func (r *reader) oneOf(path string, node *yaml.Node, kind string, valid []string) (string, error) {
	text, err := r.text(path, node)
	if err == nil && !slices.Contains(valid, text) {
		err = r.unknown(node, kind, "", valid)
	}
	return text, err
}

// keysUnder lists the names that may stand directly below prefix, in the table's order.
func keysUnder(prefix string) []string {
	var names []string
	for _, known := range setters {
		rest, below := strings.CutPrefix(known.path, prefix)
		name, _, _ := strings.Cut(rest, ".")
		if below && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func sectionName(prefix string) string {
	if prefix == "" {
		return "the file"
	}
	return strings.TrimSuffix(prefix, ".")
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Tag == "!!null"
}

func validAddr(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
