package plpgsql

import (
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// statement reads one PL/pgSQL statement with its semicolon.
func (p *plParser) statement() PLStmt {
	if p.tok.Kind == parse.TokEOF {
		p.unexpected()
	}
	if p.tok.Is("<<") {
		label := p.label()
		switch {
		case p.tok.Is("declare") || p.tok.Is("begin"):
			return p.nestedBlock(label)
		case p.tok.Is("for") || p.tok.Is("foreach") || p.tok.Is("while") || p.tok.Is("loop"):
			return loopStmt(p, label)
		}
		p.unexpected()
	}
	if p.isAssignment() {
		return assignmentStmt(p)
	}
	if p.tok.Kind == parse.TokIdent {
		if s := keywordStmt(p, p.tok.Word); s != nil {
			return s
		}
	}
	if p.tok.Kind != parse.TokIdent && !p.tok.Is("(") {
		p.unexpected()
	}
	return sqlStmt(p)
}

func (p *plParser) nestedBlock(label string) PLStmt {
	b := p.block(label)
	p.expect(";")
	return b
}

// statements are the statements that begin with a keyword and have only one form.
var statements map[string]func(p *plParser) PLStmt

func init() { // the parsers of statements refer to this table
	statements = map[string]func(p *plParser) PLStmt{"if": ifStmt, "case": caseStmt, "exit": exitStmt,
		"continue": exitStmt, "return": returnStmt, "raise": raiseStmt, "perform": performStmt, "get": diagnosticsStmt,
		"assert": assertStmt}
}

// keywordStmt reads the statements that begin with a word of PL/pgSQL; nil when w begins a SQL statement.
func keywordStmt(p *plParser, w string) PLStmt {
	if parse := statements[w]; parse != nil {
		return parse(p)
	}
	at := p.node()
	switch w {
	case "declare", "begin":
		return p.nestedBlock("")
	case "for", "foreach", "while", "loop":
		return loopStmt(p, "")
	case "execute":
		s := executeStmt(p, true, ";")
		p.expect(";")
		return s
	case "commit", "rollback":
		if t := p.peek(); t.Is("to") { // ROLLBACK TO is refused below, like SAVEPOINT
			break
		}
		p.next()
		p.expect(";")
		return &PLTransaction{at, w == "rollback"}
	case "savepoint", "release":
		p.refuse("a savepoint in PL/pgSQL", "Use a block with EXCEPTION.")
	case "null":
		p.next()
		p.expect(";")
		return &PLNull{at}
	case "open", "fetch", "close", "move":
		p.refuse("a cursor", "Write FOR r IN SELECT … LOOP.")
	case "elsif", "elseif", "else", "end", "exception", "then", "when":
		p.unexpected()
	}
	if w == "rollback" {
		p.refuse("ROLLBACK TO in PL/pgSQL", "Use a block with EXCEPTION.")
	}
	return nil
}

// isAssignment looks ahead for name[.name…][[…]…] followed by := or =.
func (p *plParser) isAssignment() bool {
	if p.tok.Kind != parse.TokIdent && p.tok.Kind != parse.TokQuoted {
		return false
	}
	t := p.peek()
	for {
		switch {
		case t.Is(":=") || t.Is("="):
			return true
		case t.Is("."):
			if t = parse.Lex(p.src, t.End); t.Kind != parse.TokIdent && t.Kind != parse.TokQuoted {
				return false
			}
			t = parse.Lex(p.src, t.End)
		case t.Is("["):
			for depth := 0; ; t = parse.Lex(p.src, t.End) {
				if t.Is("[") {
					depth++
				}
				if t.Is("]") {
					depth--
				}
				if depth == 0 {
					break
				}
				if t.Kind == parse.TokEOF || t.Kind == parse.TokUnfinished || t.Is(";") {
					return false
				}
			}
			t = parse.Lex(p.src, t.End)
		default:
			return false
		}
	}
}

// target reads name[.name…][[…]…].
func (p *plParser) target() PLTarget {
	t := PLTarget{Node: ast.Node{At: ast.Pos(p.tok.At)}}
	from := p.tok.At
	t.Names = append(t.Names, p.name())
	for p.accept(".") {
		t.Names = append(t.Names, p.name())
	}
	if !p.tok.Is("[") {
		return t
	}
	for p.tok.Is("[") {
		p.next()
		p.span("]")
		p.next()
	}
	x, ok := p.exprAt(from, p.prevEnd).(*ast.Subscript)
	if !ok {
		p.fail(from, sqlerr.Syntax, "invalid assignment target")
	}
	t.Indices = x.Indices
	return t
}

func (p *plParser) targets() []PLTarget {
	out := []PLTarget{p.target()}
	for p.accept(",") {
		out = append(out, p.target())
	}
	return out
}

func assignmentStmt(p *plParser) PLStmt {
	s := &PLAssign{PLNode: p.node()}
	s.Target = p.target()
	if !p.accept(":=") {
		p.expect("=")
	}
	s.X = p.exprUntil(";")
	p.expect(";")
	return s
}

func ifStmt(p *plParser) PLStmt {
	p.enter()
	defer func() { p.depth-- }()
	s := &PLIf{PLNode: p.node()}
	for {
		arm := PLArm{PLNode: p.node()}
		p.next() // skip IF or ELSIF
		arm.Cond = p.exprUntil("then")
		p.expect("then")
		arm.Body = p.body("elsif", "elseif", "else", "end")
		s.Arms = append(s.Arms, arm)
		if !p.tok.Is("elsif") && !p.tok.Is("elseif") {
			break
		}
	}
	if p.accept("else") {
		s.Else = p.body("end")
	}
	p.expect("end", "if", ";")
	return s
}

func caseStmt(p *plParser) PLStmt {
	p.enter()
	defer func() { p.depth-- }()
	s := &PLCase{PLNode: p.node()}
	p.next()
	if !p.tok.Is("when") {
		s.Arg = p.exprUntil("when")
	}
	for p.tok.Is("when") {
		arm := PLArm{PLNode: p.node()}
		p.next()
		if s.Arg == nil {
			arm.Cond = p.exprUntil("then")
		} else {
			arm.Match = append(arm.Match, p.exprUntil("then", ","))
			for p.accept(",") {
				arm.Match = append(arm.Match, p.exprUntil("then", ","))
			}
		}
		p.expect("then")
		arm.Body = p.body("when", "else", "end")
		s.Arms = append(s.Arms, arm)
	}
	if p.accept("else") {
		s.HasElse = true
		s.Else = p.body("end")
	}
	p.expect("end", "case", ";")
	return s
}

func loopStmt(p *plParser, label string) PLStmt {
	p.enter()
	defer func() { p.depth-- }()
	at := p.node()
	word := p.tok.Word
	p.next()
	switch word {
	case "loop":
		return &PLWhile{PLNode: at, Label: label, Body: p.loopBody(label, false)}
	case "while":
		c := p.exprUntil("loop")
		return &PLWhile{PLNode: at, Label: label, Cond: c, Body: p.loopBody(label, true)}
	case "foreach":
		s := &PLForEach{PLNode: at, Label: label, Targets: p.targets()}
		if p.accept("slice") {
			n, err := strconv.Atoi(p.tok.Word)
			if err != nil || p.tok.Kind != parse.TokNumber {
				p.unexpected()
			}
			s.Slice = n
			p.next()
		}
		p.expect("in", "array")
		s.Array = p.exprUntil("loop")
		s.Body = p.loopBody(label, true)
		return s
	}
	targets := p.targets()
	p.expect("in")
	if p.tok.Is("execute") {
		ex := executeStmt(p, false, "loop")
		return &PLForQuery{PLNode: at, Label: label, Targets: targets, Dynamic: ex, Body: p.loopBody(label, true)}
	}
	reverse := p.tok.Is("reverse")
	if reverse {
		p.next()
	}
	from, to := p.span("..", "loop")
	if !p.tok.Is("..") {
		if reverse {
			p.fail(from, sqlerr.Syntax, "cannot specify REVERSE in query FOR loop")
		}
		return queryLoop(p, at, label, targets, from, to)
	}
	if len(targets) != 1 || len(targets[0].Names) != 1 || targets[0].Indices != nil {
		p.fail(int(targets[0].At), sqlerr.Syntax, "integer FOR loop must have only one target variable")
	}
	s := &PLForInt{PLNode: at, Label: label, Var: targets[0].Names[0], Reverse: reverse, From: p.exprAt(from, to)}
	p.expect("..")
	s.To = p.exprUntil("by", "loop")
	if p.accept("by") {
		s.By = p.exprUntil("loop")
	}
	s.Body = p.loopBody(label, true)
	return s
}

func queryLoop(p *plParser, at PLNode, label string, targets []PLTarget, from, to int) PLStmt {
	first := parse.Lex(p.src, from)
	if (first.Kind == parse.TokIdent || first.Kind == parse.TokQuoted) && first.End == to || from == to {
		p.fail(from, sqlerr.FeatureNotSupported, "a FOR loop over a cursor is not supported; write FOR r IN SELECT … LOOP")
	}
	ps := p.statementAt(from, to)
	return &PLForQuery{PLNode: at, Label: label, Targets: targets, Query: ps.Stmt, Body: p.loopBody(label, true)}
}

// loopBody reads [LOOP] statements END LOOP [label];.
func (p *plParser) loopBody(label string, loop bool) []PLStmt {
	if loop {
		p.expect("loop")
	}
	b := p.body("end")
	p.expect("end", "loop")
	p.endLabel(label)
	p.expect(";")
	return b
}

func exitStmt(p *plParser) PLStmt {
	s := &PLExit{PLNode: p.node(), Continue: p.tok.Is("continue")}
	p.next()
	if !p.tok.Is("when") && !p.tok.Is(";") {
		s.Label = p.name()
	}
	if p.accept("when") {
		s.When = p.exprUntil(";")
	}
	p.expect(";")
	return s
}

func returnStmt(p *plParser) PLStmt {
	s := &PLReturn{PLNode: p.node()}
	p.next()
	switch {
	case p.tok.Is("query"):
		p.next()
		if p.tok.Is("execute") {
			s.Dynamic = executeStmt(p, false, ";")
		} else {
			from, to := p.span(";")
			s.Query = p.selectAt(from, to)
		}
	case p.tok.Is("next"):
		s.Next = true
		p.next()
		if !p.tok.Is(";") {
			s.X = p.exprUntil(";")
		}
	case !p.tok.Is(";"):
		s.X = p.exprUntil(";")
	}
	p.expect(";")
	return s
}

func raiseStmt(p *plParser) PLStmt {
	s := &PLRaise{PLNode: p.node(), Level: "exception"}
	p.next()
	hasLevel := false
	switch p.tok.Word {
	case "debug", "log", "info", "notice", "warning", "exception":
		if p.tok.Kind == parse.TokIdent {
			s.Level, hasLevel = p.tok.Word, true
			p.next()
		}
	}
	switch {
	case p.tok.Kind == parse.TokString || p.tok.Kind == parse.TokDollar:
		raiseFormat(p, s)
	case p.tok.Is("sqlstate"):
		p.next()
		s.State = p.sqlState()
	case p.tok.Is("using") || p.tok.Is(";"):
		if p.tok.Is(";") && hasLevel {
			p.unexpected()
		}
	default:
		s.Cond = p.name()
	}
	if p.accept("using") {
		for {
			o := PLOption{Node: ast.Node{At: ast.Pos(p.tok.At)}, Name: p.name()}
			if !p.accept("=") {
				p.expect(":=")
			}
			o.X = p.exprUntil(",", ";")
			s.Using = append(s.Using, o)
			if !p.accept(",") {
				break
			}
		}
	}
	p.expect(";")
	return s
}

// raiseFormat reads the format and its parameters and checks their number, as PostgreSQL does.
func raiseFormat(p *plParser, s *PLRaise) {
	at := p.tok.At
	s.HasFormat, s.Format = true, p.stringLit()
	for p.accept(",") {
		s.Params = append(s.Params, p.exprUntil(",", ";", "using"))
	}
	n := strings.Count(strings.ReplaceAll(s.Format, "%%", ""), "%")
	if n > len(s.Params) {
		p.fail(at, sqlerr.Syntax, "too few parameters specified for RAISE")
	}
	if n < len(s.Params) {
		p.fail(at, sqlerr.Syntax, "too many parameters specified for RAISE")
	}
}

// performStmt parses PERFORM rest as SELECT rest.
func performStmt(p *plParser) PLStmt {
	s := &PLPerform{PLNode: p.node()}
	p.next()
	from, to := p.span(";")
	const prefix = "SELECT "
	c := parse.Converter{Text: p.text, Src: prefix + p.src[from:to], Shift: from - len(prefix)}
	ps, err := c.Statements()
	if err != nil {
		p.raise(err)
	}
	q, err := parse.OnlySelect(p.text, from, ps)
	if err != nil {
		p.raise(err)
	}
	s.Query = q
	p.expect(";")
	return s
}

// executeStmt reads EXECUTE expr [INTO …] [USING …] up to the end word, which becomes the current token.
func executeStmt(p *plParser, into bool, end string) *PLExecute {
	s := &PLExecute{PLNode: p.node()}
	p.next()
	s.X = p.exprUntil("into", "using", end)
	for !p.tok.Is(end) {
		switch {
		case p.tok.Is("into") && into && s.Into == nil:
			p.next()
			s.Strict = p.accept("strict")
			s.Into = p.targets()
		case p.tok.Is("using") && s.Using == nil:
			p.next()
			s.Using = append(s.Using, p.exprUntil(",", "into", end))
			for p.accept(",") {
				s.Using = append(s.Using, p.exprUntil(",", "into", end))
			}
		default:
			p.unexpected()
		}
	}
	return s
}

func diagnosticsStmt(p *plParser) PLStmt {
	s := &PLGetDiagnostics{PLNode: p.node()}
	p.next()
	if p.accept("stacked") {
		s.Stacked = true
	} else {
		p.accept("current")
	}
	p.expect("diagnostics")
	for {
		t := p.target()
		if !p.accept("=") {
			p.expect(":=")
		}
		s.Items = append(s.Items, PLDiagnostic{t, p.name()})
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return s
}

func assertStmt(p *plParser) PLStmt {
	s := &PLAssert{PLNode: p.node()}
	p.next()
	s.Cond = p.exprUntil(",", ";")
	if p.accept(",") {
		s.Message = p.exprUntil(";")
	}
	p.expect(";")
	return s
}

// sqlStmt reads a SQL statement; INTO outside parentheses, unless it follows INSERT, names targets.
func sqlStmt(p *plParser) PLStmt {
	s := &PLSQL{PLNode: p.node()}
	from, to := p.tok.At, p.tok.End
	var blank [2]int
	parens := 0
	prev := parse.Token{}
	for !p.tok.Is(";") || parens > 0 {
		switch {
		case p.tok.Kind == parse.TokEOF:
			p.unexpected()
		case p.tok.Is("("):
			parens++
		case p.tok.Is(")"):
			parens--
		case p.tok.Is("into") && parens == 0 && !prev.Is("insert") && s.Into == nil:
			blank[0] = p.tok.At
			p.next()
			s.Strict = p.accept("strict")
			s.Into = p.targets()
			blank[1] = p.prevEnd
			to = p.prevEnd
			continue
		}
		prev, to = p.tok, p.tok.End
		p.next()
	}
	p.expect(";")
	ps := p.statementAt(from, to, blank)
	switch x := ps.Stmt.(type) {
	case *ast.Transaction:
		p.fail(from, sqlerr.FeatureNotSupported, "%s is not supported in PL/pgSQL", strings.ToUpper(x.Kind))
	case *ast.Copy:
		if x.Std {
			p.fail(from, sqlerr.FeatureNotSupported, "cannot COPY to or from the client in PL/pgSQL")
		}
	}
	s.Stmt, s.SQL = ps.Stmt, ps.SQL
	return s
}
