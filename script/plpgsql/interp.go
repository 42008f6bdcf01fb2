package plpgsql

import (
	"context"
	"errors"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// Interp runs statements on a Store. DO, CALL and the user's functions it interprets itself.
type Interp struct {
	Session script.Store
	Notice  func(script.Notice) // receives RAISE NOTICE, INFO and WARNING; may be nil
	Dir     func() string       // the folder of COPY's relative file names; nil: the process's

	calls  int  // number of functions that are running
	owner  bool // the open transaction was begun by the interpreter
	bodies map[*ast.CreateFunction]*body
	types  map[string]bool // names that checkType has found
}

// NewInterp returns an interpreter on a session.
func NewInterp(s script.Store, notice func(script.Notice)) *Interp {
	in := &Interp{Session: s, Notice: notice, bodies: map[*ast.CreateFunction]*body{}}
	if n, ok := s.(nester); ok {
		n.Nest(func(ctx context.Context, stmt ast.Statement, text *ast.Text) error {
			_, err := in.exec(ctx, stmt, text, &frame{in: in, atomic: true})
			return err
		})
	}
	return in
}

// nester is a Store whose statements may run statements of the user: those of before_step. The interpreter runs them
// inside the transaction of the outer statement.
type nester interface {
	Nest(run func(context.Context, ast.Statement, *ast.Text) error)
}

// timer is a Store that ends the context of a statement at statement_timeout.
type timer interface {
	Timed(ctx context.Context) (context.Context, func(*error))
}

// Exec runs one statement; positions in stmt point into text.
func (in *Interp) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*script.Result, error) {
	return in.ExecParts(ctx, stmt, text, nil)
}

// ExecParts is Exec. If p is not nil, it gets the rows of a query, or of RETURNING, in parts.
func (in *Interp) ExecParts(ctx context.Context, stmt ast.Statement, text *ast.Text,
	p *Parts) (_ *script.Result, err error) {
	defer in.rescue(in.Session.InTransaction(), text, &err)
	if s, ok := in.Session.(timer); ok {
		timed, done := s.Timed(ctx)
		defer done(&err)
		ctx = timed
	}
	return in.execParts(ctx, stmt, text, nil, p)
}

// ExecText parses and runs all statements of a text and returns the last result.
func (in *Interp) ExecText(ctx context.Context, text *ast.Text) (res *script.Result, err error) {
	ps, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		if res, err = in.Exec(ctx, p.Stmt, text); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// exec runs a statement for a frame, or for the script when caller is nil.
func (in *Interp) exec(ctx context.Context, stmt ast.Statement, text *ast.Text, caller *frame) (*script.Result, error) {
	return in.execParts(ctx, stmt, text, caller, nil)
}

func (in *Interp) execParts(ctx context.Context, stmt ast.Statement, text *ast.Text, caller *frame,
	p *Parts) (*script.Result, error) {
	if err := script.Canceled(ctx); err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *ast.Do:
		return in.do(ctx, s, text, caller)
	case *ast.Call:
		if fn := in.Session.Function(s.Func.Schema, s.Func.Name); fn != nil {
			return callProcedure(in, ctx, fn, s, text, caller)
		}
		c, err := in.constantArgs(ctx, s, text)
		if err != nil {
			return nil, err
		}
		stmt = c
	case *ast.CreateFunction:
		if err := checkFunction(in, ctx, s, text); err != nil {
			return nil, err
		}
		return in.Session.Exec(ctx, stmt, text)
	case *ast.Copy:
		if !s.Std {
			res, err := in.CopyFile(ctx, s, text)
			return res, sqlerr.In(err, text)
		}
		return nil, sqlerr.In(sqlerr.At(int(s.At), sqlerr.FeatureNotSupported,
			"COPY from STDIN or to STDOUT works only in a script"), text)
	}
	return in.query(ctx, stmt, text, p)
}

// constantArgs evaluates the arguments of a built-in procedure: constants only.
func (in *Interp) constantArgs(ctx context.Context, c *ast.Call, text *ast.Text) (*ast.Call, error) {
	f := *c.Func
	f.Args = slices.Clone(f.Args)
	for i, a := range f.Args {
		if isConstant(a) {
			continue
		}
		v, err := in.evalExpr(ctx, a, text)
		if err != nil {
			return nil, byName(err, a)
		}
		f.Args[i] = v.bound(a.Position())
	}
	return &ast.Call{Node: c.Node, Func: &f}, nil
}

// byName gives an error about an argument a hint where it is written name = value.
func byName(err error, arg ast.Expr) error {
	var e *sqlerr.Error
	if hint := ast.ByEquals(arg); hint != "" && errors.As(err, &e) && e.Code == sqlerr.UndefinedColumn && e.Hint == "" {
		e.Hint = hint
	}
	return err
}

func isConstant(x ast.Expr) bool {
	switch n := x.(type) {
	case *ast.Literal, *ast.Bound:
		return true
	case *ast.ArrayLit:
		return !slices.ContainsFunc(n.Elems, func(e ast.Expr) bool { return !isConstant(e) })
	}
	return false
}

// query runs a statement of the Store after replacing calls of the user's functions, in one transaction with these
// calls. If p is not nil, it gets the rows in parts.
func (in *Interp) query(ctx context.Context, stmt ast.Statement, text *ast.Text,
	p *Parts) (res *script.Result, err error) {
	il := &inliner{in: in, ctx: ctx, text: text, began: new(bool), err: new(error)}
	stmt = ast.Rewrite(stmt, il.node)
	if err = *il.err; err == nil {
		if p != nil && gives(stmt) {
			res, err = in.partly(ctx, stmt, text, p)
		} else {
			res, err = in.Session.Exec(ctx, stmt, text)
		}
		if err == nil && in.Notice != nil {
			for _, n := range res.Notices {
				in.Notice(n)
			}
		}
	}
	if *il.began {
		err = in.finish(ctx, true, err)
	}
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	return res, nil
}

// Transaction runs BEGIN, COMMIT, ROLLBACK or a savepoint command on the session.
func (in *Interp) Transaction(ctx context.Context, kind, name string) error {
	_, err := in.Session.Exec(ctx, &ast.Transaction{Kind: kind, Name: name}, noText)
	return err
}

// begin starts a transaction unless there is one. owns: the caller has to finish it.
func (in *Interp) begin(ctx context.Context) (owns bool, err error) {
	if in.Session.InTransaction() {
		return false, nil
	}
	if err := in.Transaction(ctx, "begin", ""); err != nil {
		return false, err
	}
	in.owner = true
	return true, nil
}

// finish ends a transaction that begin started: it commits, or rolls back after an error.
func (in *Interp) finish(ctx context.Context, owns bool, err error) error {
	if !owns {
		return err
	}
	in.owner = false
	if err == nil {
		if err = in.Transaction(ctx, "commit", ""); err == nil {
			return nil
		}
	}
	if in.Session.InTransaction() {
		// also after a cancel, whose context would refuse the rollback
		if e := in.Transaction(context.WithoutCancel(ctx), "rollback", ""); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

// noText is the text of statements that have none.
var noText = &ast.Text{}

// do runs a DO block.
func (in *Interp) do(ctx context.Context, d *ast.Do, text *ast.Text, caller *frame) (*script.Result, error) {
	body := plpgsql.BodyText(text, d.Body, d.BodyAt)
	block, err := plpgsql.ParsePLpgSQL(body)
	if err != nil {
		return nil, err
	}
	owns, err := in.begin(ctx)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	f := &frame{in: in, ctx: ctx, text: body, name: "inline_code_block", atomic: in.atomic(caller), plans: newPlans()}
	f.push("")
	f.declareFound()
	_, err = f.block(block)
	if err = in.finish(ctx, owns, f.annotate(err)); err != nil {
		return nil, err
	}
	return &script.Result{Tag: "DO"}, nil
}

// atomic reports whether code called from a frame must not commit, because it runs in a transaction that the user began
// or inside a function.
func (in *Interp) atomic(caller *frame) bool {
	if caller != nil {
		return caller.atomic || caller.guarded > 0
	}
	return !in.owner
}

// evalExpr evaluates an expression without variables.
func (in *Interp) evalExpr(ctx context.Context, x ast.Expr, text *ast.Text) (value, error) {
	if v, ok := eval(x, func(*ast.ColumnRef) (value, bool) { return value{}, false }); ok {
		return v, nil
	}
	res, err := in.query(ctx, selectOf(x), text, nil)
	if err != nil {
		return value{}, err
	}
	return single(res, x.Position(), text)
}

// single returns the one value of a query used as an expression.
func single(res *script.Result, at ast.Pos, text *ast.Text) (value, error) {
	if len(res.Cols) != 1 {
		e := sqlerr.At(int(at), sqlerr.Syntax, "query returned %d columns", len(res.Cols))
		return value{}, sqlerr.In(e, text)
	}
	switch len(res.Rows) {
	case 0:
		return value{nil, res.Cols[0].Type}, nil
	case 1:
		return value{res.Rows[0][0], res.Cols[0].Type}, nil
	}
	return value{}, sqlerr.In(sqlerr.At(int(at), sqlerr.Cardinality, "query returned more than one row"), text)
}

// withPos gives an error a position unless it has one.
func withPos(err error, at ast.Pos) error {
	var e *sqlerr.Error
	if errors.As(err, &e) && e.Pos < 0 && e.Text == nil {
		c := *e
		c.Pos = int(at)
		return &c
	}
	return err
}

// checkType refuses a type that the session does not have.
func (in *Interp) checkType(ctx context.Context, t ast.TypeName, text *ast.Text) error {
	name := t.String()
	if in.types[name] {
		return nil
	}
	null := &ast.Literal{Node: ast.Node{At: t.At}, Kind: ast.LitNull, Value: "NULL"}
	if _, err := in.Session.Exec(ctx, selectOf(&ast.Cast{Node: ast.Node{At: t.At}, X: null, Type: t}), text); err != nil {
		return err
	}
	if in.types == nil {
		in.types = map[string]bool{}
	}
	in.types[name] = true
	return nil
}

// cast converts a value to a declared type by Postgres's assignment rules.
func (in *Interp) cast(ctx context.Context, x value, to ast.TypeName, text *ast.Text) (value, error) {
	typ := to.String()
	if len(to.Mods) == 0 || x.v == nil {
		if out, ok, err := convert(x, typ); ok || err != nil {
			return out, err
		}
	}
	c := &ast.Cast{Node: ast.Node{At: -1}, X: x.bound(-1), Type: to}
	res, err := in.Session.Exec(ctx, selectOf(c), text)
	if err != nil {
		return value{}, err
	}
	out, err := single(res, -1, text)
	return value{out.v, typ}, err
}
