package config

import "strings"

// Settings is the file's single values by dotted path, looked up while serving.
//
// It is a tree walked by name, case aside, because that is what the configuration libraries of API servers do and
// what a middleware pays that asks for its setting on every request. A field would be free, and would hide the
// cost that the case study is there to find. Filled while reading, never changed afterwards, hence safe to share.
type Settings struct {
	root map[string]any
}

func newSettings() *Settings {
	return &Settings{root: map[string]any{}}
}

// String is the value at path, or "" where there is none.
func (s *Settings) String(path string) string {
	names := strings.Split(strings.ToLower(path), ".")
	last := len(names) - 1
	level := s.root
	for _, name := range names[:last] {
		below, ok := level[name].(map[string]any)
		if !ok {
			return ""
		}
		level = below
	}
	value, _ := level[names[last]].(string)
	return value
}

func (s *Settings) put(path, value string) {
	names := strings.Split(strings.ToLower(path), ".")
	last := len(names) - 1
	level := s.root
	for _, name := range names[:last] {
		below, ok := level[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			level[name] = below
		}
		level = below
	}
	level[names[last]] = value
}
