package psql

import "strings"

// argScanner reads the arguments of a backslash command, by the rules of psqlscanslash.l.
type argScanner struct {
	line  string
	start int // offset of the arguments, after the command's name
	at    int
	vars  func(string) (string, bool)
	shell func(string) (string, error)
	mute  bool // read the arguments without replacing variables or running commands
}

// next returns the next argument; ok is false at the end of the command, which is the end of the line
// or a backslash that begins another command.
func (a *argScanner) next() (arg string, ok bool, err error) {
	for a.at < len(a.line) && isSpace(a.line[a.at]) {
		a.at++
	}
	if a.at >= len(a.line) || a.line[a.at] == '\\' {
		return "", false, nil
	}
	var b strings.Builder
	for a.at < len(a.line) && !isSpace(a.line[a.at]) && a.line[a.at] != '\\' {
		if err := a.piece(&b); err != nil {
			return "", false, err
		}
	}
	return b.String(), true, nil
}

// piece reads one quoted part, variable or character.
func (a *argScanner) piece(b *strings.Builder) error {
	c := a.line[a.at]
	switch {
	case c == '\'':
		a.at++
		a.single(b)
	case c == '"': // the quotes are part of the argument
		end := strings.IndexByte(a.line[a.at+1:], '"')
		if end < 0 {
			end = len(a.line) - a.at - 2
		}
		b.WriteString(a.line[a.at : a.at+end+2])
		a.at += end + 2
	case c == '`':
		return a.backtick(b)
	case c == ':' && !a.mute:
		if text, n, ok := variableRef(a.line[a.at:], a.vars); ok {
			b.WriteString(text)
			a.at += n
			return nil
		}
		b.WriteByte(c)
		a.at++
	default:
		b.WriteByte(c)
		a.at++
	}
	return nil
}

// single reads up to the closing quote, with C's escapes.
func (a *argScanner) single(b *strings.Builder) {
	for a.at < len(a.line) {
		c := a.line[a.at]
		a.at++
		switch {
		case c == '\'' && a.at < len(a.line) && a.line[a.at] == '\'':
			b.WriteByte('\'')
			a.at++
		case c == '\'':
			return
		case c == '\\' && a.at < len(a.line):
			e := a.line[a.at]
			a.at++
			if r, ok := map[byte]byte{'n': '\n', 't': '\t', 'b': '\b', 'r': '\r', 'f': '\f'}[e]; ok {
				e = r
			}
			b.WriteByte(e)
		default:
			b.WriteByte(c)
		}
	}
}

func (a *argScanner) backtick(b *strings.Builder) error {
	end := strings.IndexByte(a.line[a.at+1:], '`')
	if end < 0 {
		end = len(a.line) - a.at - 1
	}
	cmd := a.line[a.at+1 : a.at+1+end]
	a.at = min(a.at+end+2, len(a.line))
	if a.mute {
		return nil
	}
	out, err := a.shell(cmd)
	b.WriteString(strings.TrimRight(out, "\n"))
	return err
}

// all returns the remaining arguments.
func (a *argScanner) all() ([]string, error) {
	var out []string
	for {
		s, ok, err := a.next()
		if err != nil || !ok {
			return out, err
		}
		out = append(out, s)
	}
}

// rest returns the rest of the line as it stands.
func (a *argScanner) rest() string {
	s := a.line[a.at:]
	a.at = len(a.line)
	return strings.TrimSpace(s)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
