package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Error is something wrong in what the user wrote: where, what, and what to write instead, in one line.
type Error struct {
	File string
	// Line counts from 1.
	Line    int
	Problem string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

func (r *reader) fail(node *yaml.Node, format string, args ...any) error {
	return &Error{r.file, node.Line, fmt.Sprintf(format, args...)}
}

// unknown says what a name might have been meant to be, and lists every name there is.
func (r *reader) unknown(node *yaml.Node, kind, prefix string, valid []string) error {
	hint := ""
	if near, ok := nearest(node.Value, valid); ok {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return r.fail(node, "unknown %s %s%s (valid: %s)", kind, quote(prefix+node.Value), hint, strings.Join(valid, ", "))
}

// yamlPrefix matches every text: what it does not know is all problem.
var yamlPrefix = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// syntaxError moves the line that the YAML parser names to where editors look for it. The parser names where the
// construct began that it could not finish, or the line above, so the message does not promise more.
func syntaxError(file string, err error) error {
	match := yamlPrefix.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(match[1])
	return &Error{file, max(line, 1), "not valid YAML here or soon below: " + match[2]}
}

// quote shows what was written, cut short: a message is one line.
func quote(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}

// nearest finds the valid name fewest edits away, if that is close enough to have been a slip.
func nearest(name string, valid []string) (string, bool) {
	const longestName = 64
	if len(name) > longestName {
		return "", false
	}
	best, fewest := "", len(name)/2+2
	for _, candidate := range valid {
		if n := edits(strings.ToLower(name), candidate); n < fewest {
			best, fewest = candidate, n
		}
	}
	return best, best != ""
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
