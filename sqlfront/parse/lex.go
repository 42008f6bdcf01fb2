package parse

import (
	"strings"
	"unicode/utf8"
)

// TokenKind is the lexical class of a token.
type TokenKind uint8

// Kinds of token. A keyword is an unquoted identifier like any other.
const (
	TokEOF        TokenKind = iota
	TokIdent                // unquoted; Token.Word is its lower-case spelling
	TokQuoted               // "quoted"; Token.Word is the name without quotes
	TokNumber               // 1, 1.5e3, 0x1F
	TokString               // 'x', E'x', B'x', X'x', U&'x'
	TokDollar               // $tag$ … $tag$
	TokParam                // $1
	TokOp                   // a run of operator characters, also := and => and ::
	TokPunct                // one of ( ) [ ] , ; . : or ..
	TokUnfinished           // a string, quoted name, dollar string or comment that the text ends in
)

// Token is one token of a text, without the blanks and comments before it.
type Token struct {
	Kind    TokenKind
	At, End int    // byte range
	Word    string // identifiers: see TokIdent, TokQuoted, cut as Identifier does; otherwise the text itself
}

// Is tells whether the token is the keyword, operator or punctuation word (lower case).
func (t Token) Is(word string) bool {
	switch t.Kind {
	case TokIdent, TokOp, TokPunct:
		return t.Word == word
	}
	return false
}

const opChars = "+-*/<>=~!@#%^&|`?"

// SkipBlank returns the offset of the first byte at or after at that is neither blank nor comment.
// ok is false when a block comment does not end.
func SkipBlank(sql string, at int) (next int, ok bool) {
	for at < len(sql) {
		switch c := sql[at]; {
		case IsBlank(c):
			at++
		case strings.HasPrefix(sql[at:], "--"):
			n := strings.IndexAny(sql[at:], "\n\r")
			if n < 0 {
				return len(sql), true
			}
			at += n
		case strings.HasPrefix(sql[at:], "/*"):
			end := skipComment(sql, at)
			if end < 0 {
				return len(sql), false
			}
			at = end
		default:
			return at, true
		}
	}
	return at, true
}

// skipComment returns the end of the nested block comment at at, -1 when it does not end.
func skipComment(sql string, at int) int {
	depth := 0
	for at < len(sql) {
		switch {
		case strings.HasPrefix(sql[at:], "/*"):
			depth++
			at += 2
		case strings.HasPrefix(sql[at:], "*/"):
			depth--
			at += 2
			if depth == 0 {
				return at
			}
		default:
			at++
		}
	}
	return -1
}

// Lex returns the next token at or after the byte offset at, by PostgreSQL's lexical rules
// (standard_conforming_strings on).
func Lex(sql string, at int) Token {
	start, ok := SkipBlank(sql, at)
	if !ok {
		return Token{Kind: TokUnfinished, At: start, End: len(sql)}
	}
	if start >= len(sql) {
		return Token{Kind: TokEOF, At: len(sql), End: len(sql)}
	}
	c := sql[start]
	switch {
	case c == '\'':
		return lexQuoted(sql, start, start, false)
	case c == '"':
		return lexName(sql, start, start)
	case isIdentStart(c):
		return lexWord(sql, start)
	case IsDigit(c) || c == '.' && start+1 < len(sql) && IsDigit(sql[start+1]):
		return lexNumber(sql, start)
	case c == '$':
		return lexDollar(sql, start)
	case c == ':' && start+1 < len(sql) && (sql[start+1] == ':' || sql[start+1] == '='):
		return tok(sql, TokOp, start, start+2)
	case c == '.' && start+1 < len(sql) && sql[start+1] == '.':
		return tok(sql, TokPunct, start, start+2)
	case strings.IndexByte(opChars, c) >= 0:
		return lexOp(sql, start)
	}
	return tok(sql, TokPunct, start, start+1)
}

func tok(sql string, k TokenKind, at, end int) Token {
	return Token{Kind: k, At: at, End: end, Word: sql[at:end]}
}

// lexOp reads an operator: it ends before a comment, and a trailing + or - belongs to it only
// when it holds one of ~ ! @ # % ^ & | ` ? (PostgreSQL's scan.l).
func lexOp(sql string, at int) Token {
	end := at
	for end < len(sql) && strings.IndexByte(opChars, sql[end]) >= 0 {
		if end > at && (strings.HasPrefix(sql[end:], "--") || strings.HasPrefix(sql[end:], "/*")) {
			break
		}
		end++
	}
	for end-at > 1 && (sql[end-1] == '+' || sql[end-1] == '-') && !strings.ContainsAny(sql[at:end-1], "~!@#%^&|`?") {
		end--
	}
	return tok(sql, TokOp, at, end)
}

// lexWord reads an identifier, or a string or name that begins with a letter (E”, B”, X”, N”, U&).
func lexWord(sql string, at int) Token {
	end := at
	for end < len(sql) && isIdentPart(sql[end]) {
		end++
	}
	if end < len(sql) && end == at+1 {
		switch c := sql[at] | 0x20; {
		case sql[end] == '\'' && strings.IndexByte("ebxn", c) >= 0:
			return lexQuoted(sql, at, end, c == 'e')
		case c == 'u' && strings.HasPrefix(sql[end:], "&'"):
			return lexQuoted(sql, at, end+1, false)
		case c == 'u' && strings.HasPrefix(sql[end:], "&\""):
			return lexName(sql, at, end+1)
		}
	}
	return Token{Kind: TokIdent, At: at, End: end, Word: Identifier(LowerASCII(sql[at:end]))}
}

// lexQuoted reads the string literal that begins at at and whose quote stands at quote.
func lexQuoted(sql string, at, quote int, escapes bool) Token {
	for i := quote + 1; i < len(sql); i++ {
		switch {
		case escapes && sql[i] == '\\':
			i++
		case sql[i] == '\'':
			if i+1 < len(sql) && sql[i+1] == '\'' {
				i++
				continue
			}
			return tok(sql, TokString, at, i+1)
		}
	}
	return tok(sql, TokUnfinished, at, len(sql))
}

func lexName(sql string, at, quote int) Token {
	for i := quote + 1; i < len(sql); i++ {
		if sql[i] != '"' {
			continue
		}
		if i+1 < len(sql) && sql[i+1] == '"' {
			i++
			continue
		}
		return Token{Kind: TokQuoted, At: at, End: i + 1, Word: Identifier(strings.ReplaceAll(sql[quote+1:i], `""`, `"`))}
	}
	return tok(sql, TokUnfinished, at, len(sql))
}

func lexNumber(sql string, at int) Token {
	end := at
	digits := func() {
		for end < len(sql) && (isIdentPart(sql[end]) && sql[end] != '$') {
			// 1e+5: the sign belongs to the number
			if (sql[end] == 'e' || sql[end] == 'E') && end+2 < len(sql) && strings.IndexByte("+-", sql[end+1]) >= 0 &&
				IsDigit(sql[end+2]) && !strings.HasPrefix(strings.ToLower(sql[at:end]), "0x") {
				end++
			}
			end++
		}
	}
	digits()
	if end < len(sql) && sql[end] == '.' && !(end+1 < len(sql) && sql[end+1] == '.') {
		end++
		digits()
	}
	return tok(sql, TokNumber, at, end)
}

// lexDollar reads $1 or a dollar-quoted string.
func lexDollar(sql string, at int) Token {
	end := at + 1
	if end < len(sql) && IsDigit(sql[end]) {
		for end < len(sql) && IsDigit(sql[end]) {
			end++
		}
		return tok(sql, TokParam, at, end)
	}
	for end < len(sql) && sql[end] != '$' && isIdentPart(sql[end]) {
		end++
	}
	if end >= len(sql) || sql[end] != '$' {
		return tok(sql, TokPunct, at, at+1)
	}
	tag := sql[at : end+1]
	n := strings.Index(sql[end+1:], tag)
	if n < 0 {
		return tok(sql, TokUnfinished, at, len(sql))
	}
	return tok(sql, TokDollar, at, end+1+n+len(tag))
}

func IsBlank(c byte) bool      { return c == ' ' || c >= '\t' && c <= '\r' }
func IsDigit(c byte) bool      { return c >= '0' && c <= '9' }
func isIdentStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
func isIdentPart(c byte) bool  { return isIdentStart(c) || IsDigit(c) || c == '$' }

// LowerASCII folds as PostgreSQL folds identifiers of UTF-8 databases: ASCII only.
func LowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// MaxIdentifier is the length of a name in bytes, NAMEDATALEN − 1: what is longer is cut off, as Postgres does.
const MaxIdentifier = 63

// Identifier cuts a name to the length that names have, between two characters.
func Identifier(s string) string {
	if len(s) <= MaxIdentifier {
		return s
	}
	end := MaxIdentifier
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
