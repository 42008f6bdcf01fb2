package psql

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
)

// scanner collects the text of one statement from lines, as psql's psqlscan.l does: it knows quotes,
// dollar quotes, comments and parentheses, replaces :variables outside of them, and stops at a
// semicolon outside parentheses and at a backslash command.
type scanner struct {
	buf         strings.Builder // the statement so far, from its first character that is neither blank nor comment
	line        int             // source line of buf's first character
	parens      int
	quote       byte   // what the text is inside: 0 nothing, ' string, E E'…', " name, $ dollar quote, * comment
	tag         string // of the dollar quote, with its dollars
	comment     int    // depth of the block comment
	commentLine int    // where it began
	last        byte   // the character before; it decides whether $ or E is part of a name
	comments    bool   // comments before a statement belong to it
	mute        bool   // in a branch that is not taken: variables are not replaced
	ended       bool   // the statement ended in a semicolon
	word        string // the name or keyword being read, in lower case
	words       string // first letters of its first words, as far as they are create, or, replace, function, procedure
	count       int    // words so far
	begins      int    // depth of BEGIN ATOMIC … END in the body of a function
}

// stop tells why scan ended.
type stop uint8

const (
	stopEnd       stop = iota // end of the line
	stopSemicolon             // a statement is complete
	stopBackslash             // a command begins behind the backslash
)

func (s *scanner) reset() { *s = scanner{mute: s.mute, comments: s.comments} }

// empty tells whether no statement has begun.
func (s *scanner) empty() bool { return s.buf.Len() == 0 }

// inQuote tells whether the line ended inside a string, name, dollar quote or comment.
func (s *scanner) inQuote() bool { return s.quote != 0 }

// scan reads line from byte i on. It returns where it stopped; the line may have grown by values of variables.
func (s *scanner) scan(line string, i, lineno int, vars func(string) (string, bool)) (stop, string, int) {
	var open []expansion
	for i < len(line) {
		if c := line[i]; s.word != "" && (s.quote != 0 || !isNameByte(c)) {
			s.endWord()
		}
		for len(open) > 0 && len(line)-i <= open[len(open)-1].rest {
			open = open[:len(open)-1]
		}
		c := line[i]
		if s.quote != 0 {
			i = s.quoted(line, i, lineno)
			continue
		}
		rest := line[i:]
		switch {
		case strings.HasPrefix(rest, "--"):
			if !s.empty() {
				s.add(rest, lineno)
			}
			return stopEnd, line, len(line)
		case strings.HasPrefix(rest, "/*"):
			s.openComment(lineno)
			i += 2
		case c == '\'' || c == '"':
			s.openQuote(c, lineno)
			i++
		case c == '$' && !isNameByte(s.last) && dollarTag(rest) != "":
			s.quote, s.tag = '$', dollarTag(rest)
			s.add(s.tag, lineno)
			i += len(s.tag)
		case c == ':' && (strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, ":=")):
			s.add(rest[:2], lineno)
			i += 2
		case c == ':' && !s.mute && refers(rest, vars, open):
			text, n, _ := variableRef(rest, vars)
			open = append(open, expansion{rest[:n], len(rest) - n})
			line = line[:i] + text + rest[n:] // the value is scanned next
		case c == ';' && s.parens == 0 && s.begins == 0:
			return stopSemicolon, line, i + 1
		case c == '\\':
			if i+1 == len(line) || line[i+1] != ';' && line[i+1] != ':' {
				return stopBackslash, line, i + 1
			}
			s.add(line[i+1:i+2], lineno) // \; and \: are plain characters
			i += 2
		default:
			s.plain(c, lineno)
			i++
		}
	}
	if s.word != "" {
		s.endWord()
	}
	return stopEnd, line, i
}

// openComment begins a comment in slash and star.
func (s *scanner) openComment(lineno int) {
	s.quote, s.comment, s.commentLine = '*', 1, lineno
	if !s.empty() || s.comments {
		s.add("/*", lineno)
	}
}

// endWord counts BEGIN and END in a function whose body is SQL, since semicolons inside it end no statement. As in
// psqlscan.l, such a function is a statement that begins with CREATE [OR REPLACE] FUNCTION or PROCEDURE.
func (s *scanner) endWord() {
	word := s.word
	s.word = ""
	if s.count < 4 {
		switch word {
		case "create", "or", "replace", "function", "procedure":
			s.words += word[:1]
		default:
			s.words += " "
		}
	}
	s.count++
	function := strings.HasPrefix(s.words, "cf") || strings.HasPrefix(s.words, "cp") ||
		strings.HasPrefix(s.words, "corf") || strings.HasPrefix(s.words, "corp")
	switch {
	case !function || s.parens > 0:
	case word == "begin", word == "case" && s.begins > 0:
		s.begins++
	case word == "end" && s.begins > 0:
		s.begins--
	}
}

// plain adds a character outside quotes; a statement does not begin with a blank.
func (s *scanner) plain(c byte, lineno int) {
	switch {
	case c == '(':
		s.parens++
	case c == ')' && s.parens > 0:
		s.parens--
	}
	// longer ones need not be told apart
	if len(s.word) <= len("procedure") && (isVarByte(c) || isNameByte(c) && s.word != "") {
		s.word += strings.ToLower(string([]byte{c}))
	}
	if !s.empty() || !isSpace(c) {
		s.add(string([]byte{c}), lineno)
	}
}

func (s *scanner) openQuote(c byte, lineno int) {
	s.quote = c
	if c == '\'' && (s.last == 'e' || s.last == 'E') && s.ePrefix() {
		s.quote = 'E'
	}
	s.add(string(c), lineno)
}

// add appends text to the statement.
func (s *scanner) add(text string, lineno int) {
	if s.empty() {
		s.line = lineno
	}
	s.buf.WriteString(text)
	s.last = text[len(text)-1]
}

// endLine appends the newline that ends a line.
func (s *scanner) endLine() {
	if !s.empty() {
		s.buf.WriteByte('\n')
	}
	s.last = '\n'
}

// ePrefix tells whether the E before a quote is a word of its own.
func (s *scanner) ePrefix() bool {
	b := s.buf.String()
	return len(b) < 2 || !isNameByte(b[len(b)-2])
}

// quoted copies the text inside a quote and notices its end; it returns the next offset.
func (s *scanner) quoted(line string, i, lineno int) int {
	if s.quote == '*' {
		return s.inComment(line, i, lineno)
	}
	c := line[i]
	switch s.quote {
	case '$':
		if strings.HasPrefix(line[i:], s.tag) {
			s.add(s.tag, lineno)
			s.quote = 0
			return i + len(s.tag)
		}
	case 'E':
		if c == '\\' && i+1 < len(line) {
			s.add(line[i:i+2], lineno)
			return i + 2
		}
		if c == '\'' {
			s.quote = 0
		}
	case c: // two quotes stand for one: ending and beginning again is the same
		s.quote = 0
	}
	s.add(line[i:i+1], lineno)
	return i + 1
}

func (s *scanner) inComment(line string, i, lineno int) int {
	n := 1
	switch {
	case strings.HasPrefix(line[i:], "*/"):
		s.comment--
		n = 2
	case strings.HasPrefix(line[i:], "/*"):
		s.comment++
		n = 2
	}
	if !s.empty() {
		s.add(line[i:i+n], lineno)
	}
	if s.comment == 0 {
		s.quote = 0
		s.last = ' '
	}
	return i + n
}

// expansion is a variable whose value is being scanned: rest is how many bytes of the line follow the value.
type expansion struct {
	ref  string
	rest int
}

// expanding reports whether a reference is inside its own value, where it is left unreplaced.
func expanding(open []expansion, ref string) bool {
	return slices.ContainsFunc(open, func(e expansion) bool { return e.ref == ref })
}

// refers reports whether text begins with the reference of a variable that is replaced by its value here.
func refers(text string, vars func(string) (string, bool), open []expansion) bool {
	_, n, ok := variableRef(text, vars)
	return ok && !expanding(open, text[:n])
}

// variableRef reads :name, :'name', :"name" or :{?name} at the beginning of text. It returns the replacement and the
// length of the reference. ok is false where there is no reference or the variable is not set.
func variableRef(text string, vars func(string) (string, bool)) (out string, n int, ok bool) {
	if len(text) < 2 {
		return "", 0, false
	}
	name := func(from int) int {
		end := from
		for end < len(text) && isVarByte(text[end]) {
			end++
		}
		return end
	}
	switch q := text[1]; {
	case q == '\'' || q == '"':
		end := name(2)
		if end == 2 || end >= len(text) || text[end] != q {
			return "", 0, false
		}
		v, ok := vars(text[2:end])
		if q == '"' {
			return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`, end + 1, ok
		}
		return quoteLiteral(v), end + 1, ok
	case strings.HasPrefix(text, ":{?"):
		end := name(3)
		if end == 3 || end >= len(text) || text[end] != '}' {
			return "", 0, false
		}
		if _, set := vars(text[3:end]); set {
			return "TRUE", end + 1, true
		}
		return "FALSE", end + 1, true
	}
	end := name(1)
	if end == 1 {
		return "", 0, false
	}
	v, ok := vars(text[1:end])
	return v, end, ok
}

// quoteLiteral makes a SQL string literal, as PQescapeLiteral does.
func quoteLiteral(s string) string {
	if q := sqltext.Text(s); q[0] == 'E' {
		return " " + q
	}
	return sqltext.Text(s)
}

// dollarTag returns the dollar-quote delimiter at the beginning of text, "" when there is none.
func dollarTag(text string) string {
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == '$' {
			return text[:i+1]
		}
		if !isVarByte(c) || i == 1 && c >= '0' && c <= '9' {
			break
		}
	}
	return ""
}

func isVarByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func isNameByte(c byte) bool { return isVarByte(c) || c == '$' }
