package pgsession

import (
	"context"
	"errors"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// Portable is a Session on a server with the portable tier, which has no engine. This process is the engine: it runs
// CALL train(…) itself, on the session's connection. Before a statement that calls gradient() or backward(), it
// compiles the texts of the loss if they are missing or stale. All else is left to the server.
type Portable struct {
	*Session
	engine *relgrad.Server
}

// OpenPortable makes this process the session's engine if its server has the portable tier; ok is false otherwise.
func (s *Session) OpenPortable(ctx context.Context) (p *Portable, ok bool, err error) {
	engine := relgrad.OnServer(conn.Attach(s.conn))
	res, err := engine.RunSQL(ctx, "SELECT to_regclass('relgrad.compiled') IS NOT NULL")
	if err != nil || res.Rows[0][0] != true {
		return nil, false, err
	}
	return &Portable{s, engine}, true, nil
}

// Run implements psql.Server.
func (p *Portable) Run(ctx context.Context, sql string, c *psql.Client) error {
	text := &ast.Text{SQL: sql}
	stmts, err := parse.Parse(text)
	if err != nil { // the server says why, or can parse it
		return p.Session.Run(ctx, sql, c)
	}
	if len(stmts) == 1 {
		if call, ok := stmts[0].Stmt.(*ast.Call); ok && call.Func.Name == "train" &&
			(call.Func.Schema == "" || call.Func.Schema == "relgrad") {
			p.engine.Notice = func(level, message string) {
				c.Notice(&sqlerr.Error{Message: message, Pos: -1, Shown: level + ":  " + message + "\n"})
			}
			if err := p.engine.CallTrain(ctx, call.Func, text); err != nil {
				return shown(sqlerr.In(err, text))
			}
			return c.Result(&script.Result{Tag: "CALL"})
		}
	}
	if !p.Failed() {
		for _, g := range gradientCalls(sql) {
			for _, param := range g.params {
				if err := p.engine.CompileHere(ctx, g.loss, param); err != nil {
					break // the server's own function raises the error
				}
			}
		}
	}
	return p.Session.Run(ctx, sql, c)
}

// shown gives an error of the engine the text that psql would print.
func shown(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Shown != "" {
		return err
	}
	out := *e
	out.Shown = sqlerr.Render(err)
	return &out
}

// gradientCall is a loss, and the parameters whose gradients a call needs.
type gradientCall struct {
	loss   string
	params []string
}

// gradientCalls finds the calls of gradient() and backward() with constant arguments in a text, those in bodies between
// $$ too.
func gradientCalls(sql string) (out []gradientCall) {
	for at := 0; ; {
		name := parse.Lex(sql, at)
		if name.Kind == parse.TokEOF {
			return out
		}
		at = name.End
		if name.Kind == parse.TokDollar { // a body
			word := sql[name.At:name.End]
			tag := strings.IndexByte(word[1:], '$') + 2
			out = append(out, gradientCalls(word[tag:len(word)-tag])...)
			continue
		}
		if !name.Is("gradient") && !name.Is("backward") {
			continue
		}
		open := parse.Lex(sql, at)
		end := closing(sql, open)
		if end < 0 {
			continue
		}
		x, err := parse.ParseExpr(&ast.Text{SQL: sql[name.At:end]})
		if call, ok := x.(*ast.FuncCall); err == nil && ok {
			if g, ok := constantCall(call); ok {
				out = append(out, g)
			}
		}
	}
}

// closing finds the parenthesis that closes open; -1 if there is none.
func closing(sql string, open parse.Token) int {
	if sql[open.At:open.End] != "(" {
		return -1
	}
	depth := 1
	for at := open.End; ; {
		t := parse.Lex(sql, at)
		switch {
		case t.Kind == parse.TokEOF:
			return -1
		case sql[t.At:t.End] == "(":
			depth++
		case sql[t.At:t.End] == ")":
			depth--
		}
		if at = t.End; depth == 0 {
			return at
		}
	}
}

func constantCall(c *ast.FuncCall) (g gradientCall, ok bool) {
	if len(c.Args) < 2 {
		return g, false
	}
	loss, ok := c.Args[0].(*ast.Literal)
	if !ok || loss.Kind != ast.LitString {
		return g, false
	}
	g.loss = loss.Value
	if table, ok := bind.RowParam(c.Args[1]); ok {
		g.params = []string{table}
	}
	if list, ok := c.Args[1].(*ast.ArrayLit); ok {
		for _, e := range list.Elems {
			if l, ok := e.(*ast.Literal); ok && l.Kind == ast.LitString {
				g.params = append(g.params, l.Value)
			}
		}
	}
	return g, len(g.params) > 0
}
