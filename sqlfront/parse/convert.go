package parse

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Parsed is one statement of a script with its own text.
type Parsed struct {
	Stmt ast.Statement
	SQL  string  // the statement's text without the semicolon
	At   ast.Pos // where SQL begins in the text
}

// Parse parses any number of statements separated by semicolons. Errors are *sqlerr.Error.
func Parse(t *ast.Text) ([]Parsed, error) {
	if err := CheckSize(t); err != nil {
		return nil, err
	}
	c := Converter{Text: t, Src: t.SQL}
	return c.Statements()
}

// ParseSelect parses exactly one SELECT, VALUES or WITH query.
func ParseSelect(t *ast.Text) (*ast.Select, error) {
	ps, err := Parse(t)
	if err != nil {
		return nil, err
	}
	return OnlySelect(t, 0, ps)
}

func OnlySelect(t *ast.Text, at int, ps []Parsed) (*ast.Select, error) {
	if len(ps) == 1 {
		if s, ok := ps[0].Stmt.(*ast.Select); ok {
			return s, nil
		}
		at = int(ps[0].At)
	} else if len(ps) > 1 {
		at = int(ps[1].At)
	}
	e := sqlerr.At(at, sqlerr.Syntax, "expected one query (SELECT, VALUES or WITH), got %d statements", len(ps))
	if len(ps) == 1 {
		e.Message = "expected a query (SELECT, VALUES or WITH)"
	}
	e.Text = t
	return nil, e
}

// ParseExpr parses a bare expression.
func ParseExpr(t *ast.Text) (ast.Expr, error) {
	if err := CheckSize(t); err != nil {
		return nil, err
	}
	return ParseExprAt(t, 0, len(t.SQL))
}

// ParseExprAt parses t.SQL[from:to] as one expression with positions in t. The text has passed CheckSize.
func ParseExprAt(t *ast.Text, from, to int) (ast.Expr, error) {
	const prefix = "SELECT "
	fail := func(msg string) error {
		e := sqlerr.At(from, sqlerr.Syntax, "%s", msg)
		e.Text = t
		return e
	}
	if strings.TrimSpace(t.SQL[from:to]) == "" {
		return nil, fail("expected an expression")
	}
	c := Converter{Text: t, Src: prefix + t.SQL[from:to], Shift: from - len(prefix)}
	ps, err := c.Statements()
	if err != nil {
		return nil, err
	}
	if len(ps) != 1 {
		return nil, fail("expected one expression")
	}
	s, ok := ps[0].Stmt.(*ast.Select)
	if !ok || len(s.Targets) != 1 || s.Targets[0].Name != "" || s.From != nil || s.Where != nil || s.GroupBy != nil ||
		s.Having != nil || s.OrderBy != nil || s.Limit != nil || s.Offset != nil || s.SetOp != "" ||
		s.Distinct || s.Windows != nil {
		return nil, fail("expected one expression")
	}
	return s.Targets[0].X, nil
}

// ParseAt parses t.SQL[from:to]. The blank ranges are read as spaces.
func ParseAt(t *ast.Text, from, to int, blank ...[2]int) ([]Parsed, error) {
	src := []byte(t.SQL[from:to])
	for _, r := range blank {
		for i := r[0]; i < r[1]; i++ {
			src[i-from] = ' '
		}
	}
	c := Converter{Text: t, Src: string(src), Shift: from}
	return c.Statements()
}

// Converter converts one parser input. Positions in src plus shift are positions in text.
type Converter struct {
	Text  *ast.Text
	Src   string
	Shift int
	own   bool // keep sub-queries as text where the trees cannot hold them

	files   map[int32]string // names of files in FROM whose items are not made yet, by their places
	strange error            // what the parser said of the first of them
}

// pos maps a location of pg_query (-1 when unknown).
func (c *Converter) pos(loc int32) ast.Pos {
	if loc < 0 || int(loc) > len(c.Src) {
		return -1
	}
	return ast.Pos(max(0, min(int(loc)+c.Shift, len(c.Text.SQL))))
}

func (c *Converter) node(loc int32) ast.Node { return ast.Node{At: c.pos(loc)} }

// Refusal is panicked with by refuse; the parser's entry points recover it.
type Refusal struct{ Err *sqlerr.Error }

func (c *Converter) fail(at ast.Pos, code, hint, format string, args ...any) {
	e := sqlerr.At(int(at), code, format, args...)
	e.Text, e.Hint = c.Text, hint
	panic(Refusal{e})
}

// refuse reports a construct that the trees cannot hold.
func (c *Converter) refuse(at ast.Pos, what, hint string) {
	c.fail(at, sqlerr.FeatureNotSupported, hint, "%s is not supported", what)
}

func (c *Converter) Statements() (out []Parsed, err error) {
	defer func() {
		if r := recover(); r != nil {
			ref, ok := r.(Refusal)
			if !ok {
				panic(r)
			}
			out, err = nil, ref.Err
		}
	}()
	tree, perr := c.parsed()
	if perr != nil {
		return nil, c.syntaxError(perr)
	}
	for _, raw := range tree.Stmts {
		from := int(raw.StmtLocation)
		to := len(c.Src)
		if raw.StmtLen > 0 {
			to = from + int(raw.StmtLen)
		}
		from, _ = SkipBlank(c.Src, from)
		to = trimEnd(c.Src, from, to)
		s := stmtConv{Converter: c, from: from, to: to}
		out = append(out, Parsed{Stmt: s.statement(raw.Stmt), SQL: c.Src[from:to], At: c.pos(int32(from))})
	}
	if len(c.files) > 0 { // one stands where no file can
		return nil, c.syntaxError(c.strange)
	}
	return out, nil
}

// trimEnd removes blanks and comments at the end of src[from:to].
func trimEnd(src string, from, to int) int {
	end := from
	for at := from; ; {
		t := Lex(src[:to], at)
		if t.Kind == TokEOF || t.Kind == TokUnfinished {
			return end
		}
		end, at = t.End, t.End
	}
}

// hyphened finds what may be meant as a name at the end of a text: batch-size.
var hyphened = regexp.MustCompile(`[A-Za-z_]\w*(-[A-Za-z_]\w*)+\s*$`)

func (c *Converter) syntaxError(err error) error {
	var pe *parser.Error
	if !errors.As(err, &pe) {
		// protobuf's own recursion limit; CheckSize should have caught it
		e := sqlerr.At(c.Shift, sqlerr.TooComplex, "statement is nested too deeply for the parser")
		e.Pos, e.Text, e.Err = int(c.pos(0)), c.Text, err
		return e
	}
	code := sqlerr.Syntax
	if strings.Contains(pe.Message, "not implemented") || strings.Contains(pe.Message, "not supported") {
		code = sqlerr.FeatureNotSupported
	}
	if strings.HasPrefix(pe.Message, "frame start") {
		code = "42P20" // windowing error
	}
	if strings.Contains(pe.Message, "memory exhausted") {
		code = sqlerr.TooComplex
	}
	e := sqlerr.At(-1, code, "%s", pe.Message)
	e.Text = c.Text
	if pe.Cursorpos > 0 {
		at := byteOffset(c.Src, pe.Cursorpos-1)
		e.Pos = int(c.pos(int32(at)))
		if m := hyphened.FindString(c.Src[:at]); m != "" && strings.HasPrefix(c.Src[at:], "=>") {
			e.Hint = "Names have no hyphens: " + strings.ReplaceAll(strings.TrimSpace(m), "-", "_") + " => …."
		}
	}
	return e
}

// byteOffset converts a 0-based offset in characters into one in bytes.
func byteOffset(s string, chars int) int {
	at := 0
	for ; chars > 0 && at < len(s); chars-- {
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at
}

// stmtConv converts one statement: src[from:to] of its converter.
type stmtConv struct {
	*Converter
	from, to int
}

func (c *stmtConv) here() ast.Node { return c.node(int32(c.from)) }

// statement dispatches on the statement's class.
func (c *stmtConv) statement(n *pg.Node) ast.Statement {
	if s := queryStmt(c, n); s != nil {
		return s
	}
	if s := ddlStmt(c, n); s != nil {
		return s
	}
	if s := utilityStmt(c, n); s != nil {
		return s
	}
	switch n.Node.(type) {
	case *pg.Node_PrepareStmt, *pg.Node_ExecuteStmt, *pg.Node_DeallocateStmt:
		c.refuse(c.pos(int32(c.from)), strings.ToUpper(firstWords(c.Src, c.from, 1)),
			"Write the statement itself. From Go, $1, $2 in it are bound to values.")
	}
	words := strings.ToUpper(firstWords(c.Src, c.from, 2))
	c.refuse(c.pos(int32(c.from)), words,
		"The embedded store has tables, views, indexes, functions, procedures and queries over them.")
	return nil
}

// firstWords returns up to n leading identifiers of src from at.
func firstWords(src string, at, n int) string {
	var ws []string
	for len(ws) < n {
		t := Lex(src, at)
		if t.Kind != TokIdent {
			break
		}
		ws = append(ws, t.Word)
		at = t.End
	}
	return strings.Join(ws, " ")
}

// Strings returns the strings of a list of String nodes.
func Strings(list []*pg.Node) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}
