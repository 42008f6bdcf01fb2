package plpgsql

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// maxPLDepth bounds nested blocks, IFs and loops of one body.
const maxPLDepth = 500

// BodyText is the text of the body of a function or DO, which begins at byte at of t. Its lines are numbered as in the
// file.
func BodyText(t *ast.Text, body string, at ast.Pos) *ast.Text {
	line := max(t.Line, 1)
	if at >= 0 && int(at) <= len(t.SQL) {
		line += strings.Count(t.SQL[:at], "\n")
	}
	return &ast.Text{SQL: body, File: t.File, Line: line, View: t.View}
}

// ParsePLpgSQL parses a PL/pgSQL body; positions are byte offsets into t.SQL.
func ParsePLpgSQL(t *ast.Text) (b *Block, err error) {
	if err := parse.CheckSize(t); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			ref, ok := r.(parse.Refusal)
			if !ok {
				panic(r)
			}
			b, err = nil, ref.Err
		}
	}()
	p := &plParser{text: t, src: t.SQL}
	p.next()
	label := p.label()
	b = p.block(label)
	p.accept(";")
	if p.tok.Kind != parse.TokEOF {
		p.unexpected()
	}
	return b, nil
}

// plParser is a recursive descent parser over the tokens of a body.
type plParser struct {
	text    *ast.Text
	src     string
	tok     parse.Token // the current token
	depth   int
	line    int // the line that contains byte lineAt
	lineAt  int
	prevEnd int // end of the token before tok
}

func (p *plParser) next() {
	p.prevEnd = p.tok.End
	p.tok = parse.Lex(p.src, p.tok.End)
	if p.tok.Kind == parse.TokUnfinished {
		p.fail(p.tok.At, sqlerr.Syntax, "unterminated quoted string or comment")
	}
}

func (p *plParser) peek() parse.Token { return parse.Lex(p.src, p.tok.End) }

func (p *plParser) fail(at int, code, format string, args ...any) {
	e := sqlerr.At(at, code, format, args...)
	e.Text = p.text
	panic(parse.Refusal{Err: e})
}

func (p *plParser) refuse(what, hint string) {
	e := sqlerr.At(p.tok.At, sqlerr.FeatureNotSupported, "%s is not supported", what).WithHint("%s", hint)
	e.Text = p.text
	panic(parse.Refusal{Err: e})
}

func (p *plParser) unexpected() {
	if p.tok.Kind == parse.TokEOF {
		p.fail(len(p.src), sqlerr.Syntax, "syntax error at end of input")
	}
	p.fail(p.tok.At, sqlerr.Syntax, "syntax error at or near \"%s\"", p.src[p.tok.At:p.tok.End])
}

// node gives the position and line of the current token.
func (p *plParser) node() PLNode { return PLNode{ast.Pos(p.tok.At), p.lineOf(p.tok.At)} }

func (p *plParser) lineOf(at int) int {
	if p.line == 0 || at < p.lineAt {
		p.line, p.lineAt = 1, 0
	}
	p.line += strings.Count(p.src[p.lineAt:at], "\n")
	p.lineAt = at
	return p.line
}

// accept takes the keyword or punctuation when it is next.
func (p *plParser) accept(word string) bool {
	if !p.tok.Is(word) {
		return false
	}
	p.next()
	return true
}

func (p *plParser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.unexpected()
		}
	}
}

func (p *plParser) name() string {
	if p.tok.Kind != parse.TokIdent && p.tok.Kind != parse.TokQuoted {
		p.unexpected()
	}
	w := p.tok.Word
	p.next()
	return w
}

// span skips to the first of the stop words outside parentheses and CASE … END, and returns the
// range of the tokens skipped. The stop word becomes the current token.
func (p *plParser) span(stops ...string) (from, to int) {
	from, to = p.tok.At, p.tok.At
	parens, cases := 0, 0
	for {
		if p.tok.Kind == parse.TokEOF || p.tok.Is(";") && parens > 0 {
			p.unexpected()
		}
		if parens == 0 && cases == 0 {
			for _, s := range stops {
				if p.tok.Is(s) {
					return from, to
				}
			}
			if p.tok.Is(";") {
				p.unexpected()
			}
		}
		switch {
		case p.tok.Is("(") || p.tok.Is("["):
			parens++
		case p.tok.Is(")") || p.tok.Is("]"):
			if parens--; parens < 0 {
				p.unexpected()
			}
		case p.tok.Is("case"):
			cases++
		case p.tok.Is("end") && cases > 0:
			cases--
		}
		to = p.tok.End
		p.next()
	}
}

// exprUntil parses the expression that ends before one of the stop words.
func (p *plParser) exprUntil(stops ...string) ast.Expr {
	from, to := p.span(stops...)
	if from == to {
		p.unexpected()
	}
	return p.exprAt(from, to)
}

func (p *plParser) exprAt(from, to int) ast.Expr {
	x, err := parse.ParseExprAt(p.text, from, to)
	if err != nil {
		p.raise(err)
	}
	return x
}

// raise fails with an error of the SQL parser.
func (p *plParser) raise(err error) {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		e = sqlerr.New(sqlerr.Internal, "%s", err.Error()).Wrap(err)
	}
	panic(parse.Refusal{Err: e})
}

// statementAt parses exactly one SQL statement.
func (p *plParser) statementAt(from, to int, blank ...[2]int) parse.Parsed {
	ps, err := parse.ParseAt(p.text, from, to, blank...)
	if err != nil {
		p.raise(err)
	}
	if len(ps) != 1 {
		p.fail(from, sqlerr.Syntax, "expected one SQL statement")
	}
	return ps[0]
}

func (p *plParser) selectAt(from, to int) *ast.Select {
	s, ok := p.statementAt(from, to).Stmt.(*ast.Select)
	if !ok {
		p.fail(from, sqlerr.Syntax, "expected a query (SELECT, VALUES or WITH)")
	}
	return s
}

// label reads an optional <<label>>.
func (p *plParser) label() string {
	if !p.accept("<<") {
		return ""
	}
	l := p.name()
	p.expect(">>")
	return l
}

func (p *plParser) enter() {
	if p.depth++; p.depth > maxPLDepth {
		p.fail(p.tok.At, sqlerr.TooComplex, "more than %d blocks inside each other", maxPLDepth)
	}
}

func (p *plParser) block(label string) *Block {
	p.enter()
	defer func() { p.depth-- }()
	b := &Block{PLNode: p.node(), Label: label}
	if p.accept("declare") {
		for !p.tok.Is("begin") {
			if p.accept("declare") {
				continue
			}
			b.Decls = append(b.Decls, p.decl())
		}
		b.PLNode = p.node()
	}
	p.expect("begin")
	b.Body = p.body("end", "exception")
	if p.accept("exception") {
		for !p.tok.Is("end") {
			b.Exceptions = append(b.Exceptions, p.handler())
		}
		if b.Exceptions == nil {
			p.unexpected()
		}
	}
	p.expect("end")
	p.endLabel(label)
	return b
}

// endLabel reads the optional label behind END or END LOOP.
func (p *plParser) endLabel(label string) {
	if p.tok.Kind != parse.TokIdent && p.tok.Kind != parse.TokQuoted {
		return
	}
	at := p.tok.At
	if l := p.name(); l != label {
		p.fail(at, sqlerr.Syntax, "end label \"%s\" differs from block's label \"%s\"", l, label)
	}
}

// body reads statements up to one of the words, which becomes the current token.
func (p *plParser) body(ends ...string) []PLStmt {
	out := []PLStmt{}
	for {
		for _, e := range ends {
			if p.tok.Is(e) {
				return out
			}
		}
		out = append(out, p.statement())
	}
}

func (p *plParser) handler() Handler {
	h := Handler{PLNode: p.node()}
	p.expect("when")
	for {
		c := Condition{Node: ast.Node{At: ast.Pos(p.tok.At)}}
		if p.tok.Is("sqlstate") {
			p.next()
			c.State = p.sqlState()
		} else {
			c.Name = p.name()
		}
		h.Conds = append(h.Conds, c)
		if !p.accept("or") {
			break
		}
	}
	p.expect("then")
	h.Body = p.body("when", "end")
	return h
}

// sqlState reads a quoted SQLSTATE.
func (p *plParser) sqlState() string {
	at := p.tok.At
	s := p.stringLit()
	if len(s) != 5 || strings.Trim(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		p.fail(at, sqlerr.Syntax, "invalid SQLSTATE code \"%s\"", s)
	}
	return s
}

func (p *plParser) stringLit() string {
	if p.tok.Kind != parse.TokString && p.tok.Kind != parse.TokDollar {
		p.unexpected()
	}
	l, ok := p.exprAt(p.tok.At, p.tok.End).(*ast.Literal)
	if !ok || l.Kind != ast.LitString {
		p.unexpected()
	}
	p.next()
	return l.Value
}

func (p *plParser) decl() Decl {
	d := Decl{PLNode: p.node(), Name: p.name()}
	if p.accept("alias") {
		p.expect("for")
		d.Alias = p.src[p.tok.At:p.tok.End]
		if p.tok.Kind != parse.TokParam {
			d.Alias = p.name()
		} else {
			p.next()
		}
		p.expect(";")
		return d
	}
	d.Constant = p.accept("constant")
	if p.tok.Is("cursor") || p.tok.Is("refcursor") || p.tok.Is("no") || p.tok.Is("scroll") {
		p.refuse("a cursor", "Write FOR r IN SELECT … LOOP.")
	}
	from, to := p.span("not", "default", ":=", "=", ";", "collate")
	p.declType(&d, from, to)
	if p.tok.Is("collate") {
		p.refuse("COLLATE", "Leave it out: text compares byte by byte.")
	}
	if p.accept("not") {
		p.expect("null")
		d.NotNull = true
	}
	if p.accept("default") || p.accept(":=") || p.accept("=") {
		d.Default = p.exprUntil(";")
	}
	if d.NotNull && d.Default == nil {
		p.fail(int(d.At), sqlerr.NullNotAllowed, "variable \"%s\" must have a default value, since it's declared NOT NULL",
			d.Name)
	}
	p.expect(";")
	return d
}

// declType reads record, t%ROWTYPE, t.c%TYPE or a SQL type.
func (p *plParser) declType(d *Decl, from, to int) {
	if from == to {
		p.unexpected()
	}
	var names []string
	for at := from; at < to; {
		t := parse.Lex(p.src[:to], at)
		switch {
		case t.Kind == parse.TokIdent || t.Kind == parse.TokQuoted:
			names = append(names, t.Word)
		case t.Is("%"):
			kind := parse.Lex(p.src[:to], t.End)
			if parse.Lex(p.src[:to], kind.End).Kind != parse.TokEOF {
				p.fail(from, sqlerr.Syntax, "invalid type name \"%s\"", p.src[from:to])
			}
			if kind.Is("rowtype") && len(names) > 0 {
				d.RowOf = strings.Join(names, ".")
				return
			}
			if kind.Is("type") && len(names) > 0 {
				d.TypeOf = names
				return
			}
		}
		at = t.End
	}
	if len(names) == 1 && names[0] == "record" && !strings.ContainsAny(p.src[from:to], "[") {
		d.Record = true
		return
	}
	d.Type = p.typeAt(from, to)
}

func (p *plParser) typeAt(from, to int) ast.TypeName {
	const prefix = "SELECT NULL::"
	c := parse.Converter{Text: p.text, Src: prefix + p.src[from:to], Shift: from - len(prefix)}
	ps, err := c.Statements()
	if err != nil {
		p.raise(err)
	}
	if len(ps) == 1 {
		if s, ok := ps[0].Stmt.(*ast.Select); ok && len(s.Targets) == 1 && s.Targets[0].Name == "" && s.From == nil {
			if x, ok := s.Targets[0].X.(*ast.Cast); ok {
				return x.Type
			}
		}
	}
	p.fail(from, sqlerr.Syntax, "invalid type name \"%s\"", p.src[from:to])
	return ast.TypeName{}
}
