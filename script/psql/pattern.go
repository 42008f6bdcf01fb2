package psql

import (
	"regexp"
	"strings"
)

// pattern selects what a \d command shows, by psql's rules: names in lower case unless quoted, * and ? as in file
// names, a schema before a dot. Without a schema it selects only objects visible on the search path.
type pattern struct {
	text         string // as it was written, "" for none
	schema, name *regexp.Regexp
}

// newPattern reads a pattern; an empty one matches everything that the search path shows.
func newPattern(text string) pattern {
	p := pattern{text: text}
	var parts []string
	var b strings.Builder
	quoted := false
	double := false // the last quote may be the first of two
	for _, c := range text {
		again := double && c == '"'
		double = c == '"' && quoted && !again
		switch {
		case again:
			b.WriteByte('"')
			quoted = true
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted && len(parts) == 0:
			parts = append(parts, b.String())
			b.Reset()
		case c == '*' && !quoted:
			b.WriteString(".*")
		case c == '?' && !quoted:
			b.WriteByte('.')
		case quoted:
			b.WriteString(regexp.QuoteMeta(string(c)))
		default:
			b.WriteString(regexp.QuoteMeta(strings.ToLower(string(c))))
		}
	}
	compile := func(s string) *regexp.Regexp { return regexp.MustCompile("^(?s:" + s + ")$") }
	if len(parts) > 0 {
		p.schema = compile(parts[0])
	}
	if text != "" {
		p.name = compile(b.String())
	}
	return p
}

// matches reports whether the pattern selects an object. visible: its schema is on the search path.
func (p pattern) matches(schema, name string, visible bool) bool {
	if p.schema != nil && !p.schema.MatchString(schema) || p.schema == nil && !visible {
		return false
	}
	return p.name == nil || p.name.MatchString(name)
}
