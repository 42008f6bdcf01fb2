package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Limits of a text. libpg_query recurses on the C stack and protobuf refuses trees deeper than
// 10,000 messages, so the depth is bounded before the parser sees the text.
const (
	MaxBytes  = 16 << 20  // bytes of one text
	MaxTokens = 1_000_000 // tokens of one statement (a tree node costs about 300 bytes)
	MaxDepth  = 9_900     // nesting in protobuf messages: 2 for an operator, 6 for a parenthesis
)

const (
	costOp    = 2 // Node + A_Expr
	costParen = 6 // Node + SubLink + Node + SelectStmt + Node + ResTarget, the worst case
)

// nestingWords are keywords that nest trees without parentheses. AND and OR are among them because relgrad's own trees
// nest there.
var nestingWords = map[string]bool{
	"and": true, "or": true, "not": true, "is": true, "isnull": true, "notnull": true, "in": true,
	"like": true, "ilike": true, "similar": true, "between": true, "collate": true, "at": true,
	"case": true, "join": true, "when": true, "then": true, "else": true, "escape": true,
}

// setWords nest across the commas of their select lists.
var setWords = map[string]bool{"union": true, "intersect": true, "except": true}

// CheckSize refuses, before any parsing, a text that is too long (54000), a statement with too many
// tokens (54000) or with operators or parentheses nested too deeply (54001: a sum of 4,900 terms and
// 1,600 parentheses still pass), and bytes that are not UTF-8 text (22021).
func CheckSize(t *ast.Text) error {
	sql := t.SQL
	fail := func(at int, code, format string, args ...any) *sqlerr.Error {
		e := sqlerr.At(at, code, format, args...)
		e.Text = t
		return e
	}
	if len(sql) > MaxBytes {
		return fail(0, sqlerr.ProgramLimit, "sql text of %d bytes exceeds the limit of %d bytes", len(sql), MaxBytes).
			WithHint("Load data with \\copy instead of literals.")
	}
	if !utf8.ValidString(sql) || strings.IndexByte(sql, 0) >= 0 {
		at := badByte(sql)
		return fail(at, "22021", "invalid byte sequence for encoding \"UTF8\": 0x%02x", sql[at])
	}
	var d depth
	d.reset()
	for at := 0; ; {
		tok := Lex(sql, at)
		if tok.Kind == TokEOF || tok.Kind == TokUnfinished {
			return nil // the parser reports an unfinished string
		}
		d.add(tok)
		if d.tokens > MaxTokens {
			return fail(tok.At, sqlerr.ProgramLimit, "statement has more than %d tokens", MaxTokens).
				WithHint("Load data with \\copy instead of literals.")
		}
		if d.now() > MaxDepth {
			return fail(tok.At, sqlerr.TooComplex,
				"statement is nested too deeply: more than %d operators or %d parentheses inside each other",
				MaxDepth/costOp, MaxDepth/costParen).
				WithHint("Write long sums as an aggregate over rows, and long OR chains as x IN (…).")
		}
		at = tok.End
	}
}

func badByte(s string) int {
	for i, r := range s {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return 0
}

// depth bounds the depth of the tree of the statement read so far.
type depth struct {
	tokens int
	frames []parenGroup
	base   int // sum of ops+sets+costParen of the frames below the top one
}

// parenGroup is one open parenthesis: operators since the last comma, set operations, and the deepest
// group closed since the last comma.
type parenGroup struct{ ops, sets, child int }

func (d *depth) reset() {
	d.tokens, d.base = 0, 0
	d.frames = append(d.frames[:0], parenGroup{})
}

func (d *depth) now() int {
	f := d.frames[len(d.frames)-1]
	return d.base + f.ops + f.sets + f.child
}

func (d *depth) add(tok Token) {
	d.tokens++
	f := &d.frames[len(d.frames)-1]
	switch {
	case tok.Is("(") || tok.Is("["):
		d.base += f.ops + f.sets + costParen
		d.frames = append(d.frames, parenGroup{})
	case tok.Is(")") || tok.Is("]"):
		if len(d.frames) == 1 {
			return
		}
		inner := f.ops + f.sets + f.child + costParen
		d.frames = d.frames[:len(d.frames)-1]
		up := &d.frames[len(d.frames)-1]
		d.base -= up.ops + up.sets + costParen
		up.child = max(up.child, inner)
	case tok.Is(","):
		f.ops, f.child = 0, 0
	case tok.Is(";"):
		if len(d.frames) == 1 {
			d.reset()
		}
	case tok.Kind == TokIdent && setWords[tok.Word]:
		f.sets += costOp
		f.ops, f.child = 0, 0
	case tok.Kind == TokOp || tok.Kind == TokIdent && nestingWords[tok.Word]:
		f.ops += costOp
	}
}
