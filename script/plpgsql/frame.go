package plpgsql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// variable is a PL/pgSQL variable: a scalar, or a record where fields is set.
type variable struct {
	name              string
	decl              ast.TypeName // the type of a scalar
	val               value
	record            bool
	fields            []script.Col
	vals              []any
	dynamic           bool // a record that takes the columns of each row assigned to it
	assigned          bool // a record to which a row has been assigned
	constant, notNull bool
}

// varScope is a block's variables.
type varScope struct {
	outer *varScope
	label string
	vars  map[string]*variable
}

// plans remembers for the trees of one body which references are variables, and the SELECTs that evaluate its
// expressions.
type plans struct {
	vars    map[ast.Tree]map[*ast.ColumnRef]bool
	selects map[ast.Expr]*ast.Select
	limited map[*ast.Select]*ast.Select // with LIMIT 2 added, for INTO
}

func newPlans() *plans {
	return &plans{map[ast.Tree]map[*ast.ColumnRef]bool{}, map[ast.Expr]*ast.Select{}, map[*ast.Select]*ast.Select{}}
}

// frame is one running DO block or function.
type frame struct {
	in      *Interp
	ctx     context.Context
	text    *ast.Text // the body
	name    string    // the name in messages: "inline_code_block", "f(integer)"
	scope   *varScope
	params  []*variable // $1, $2, …
	plans   *plans
	atomic  bool // COMMIT is refused
	guarded int  // number of EXCEPTION blocks around the statement
	saves   int  // number of savepoints made, for their names

	fn       *ast.CreateFunction // nil for DO
	out      []*variable         // OUT and INOUT parameters
	ret      value
	returned bool
	rows     [][]any // rows of RETURN NEXT and RETURN QUERY
	rowCount int64   // for GET DIAGNOSTICS
	handling []*sqlerr.Error

	pos  ast.Pos // of the statement running now
	line int     // its line
	what string  // its kind, as Postgres names it in CONTEXT
}

func (f *frame) push(label string) {
	f.scope = &varScope{outer: f.scope, label: label, vars: map[string]*variable{}}
}

func (f *frame) pop() { f.scope = f.scope.outer }

func (f *frame) declare(v *variable) { f.scope.vars[v.name] = v }

func (f *frame) declareFound() {
	f.declare(&variable{name: "found", decl: typeName("boolean"), val: boolValue(false)})
}

func (f *frame) setFound(b bool) {
	for s := f.scope; s != nil; s = s.outer {
		if v, ok := s.vars["found"]; ok && s.outer == nil {
			v.val = boolValue(b)
		}
	}
}

// find resolves a name, label.name, record.field or label.record.field. field is "" for a whole variable.
func (f *frame) find(names []string) (v *variable, field string, ok bool) {
	for s := f.scope; s != nil; s = s.outer {
		if v, field, ok := s.find(names); ok {
			return v, field, true
		}
		if s.label == "" || s.label != names[0] {
			continue
		}
		if v, field, ok := s.find(names[1:]); ok {
			return v, field, true
		}
	}
	return nil, "", false
}

// find resolves a name or record.field in one block.
func (s *varScope) find(names []string) (v *variable, field string, ok bool) {
	if len(names) == 0 || s.vars[names[0]] == nil {
		return nil, "", false
	}
	v = s.vars[names[0]]
	switch {
	case len(names) == 1:
		return v, "", true
	case len(names) == 2 && v.record:
		return v, names[1], true
	}
	return nil, "", false
}

func (f *frame) isVar(names []string) bool {
	_, _, ok := f.find(names)
	return ok
}

// field reads a record's field.
func (v *variable) field(name string) (value, error) {
	for i, c := range v.fields {
		if c.Name == name {
			return value{v.vals[i], c.Type}, nil
		}
	}
	if !v.assigned && v.fields == nil {
		return value{}, sqlerr.New(sqlerr.ObjectNotPrereqState, "record \"%s\" is not assigned yet", v.name).
			WithDetail("The tuple structure of a not-yet-assigned record is indeterminate.")
	}
	return value{}, sqlerr.New(sqlerr.UndefinedColumn, "record \"%s\" has no field \"%s\"", v.name, name)
}

// read returns the value that a reference names.
func (f *frame) read(c *ast.ColumnRef) (value, error) {
	v, field, ok := f.find(c.Names)
	if !ok {
		return value{}, f.fail(c.At, sqlerr.UndefinedColumn, "column \"%s\" does not exist", strings.Join(c.Names, "."))
	}
	if field != "" {
		x, err := v.field(field)
		return x, f.at(err, c.At)
	}
	if v.record || c.Star {
		e := sqlerr.At(int(c.At), sqlerr.FeatureNotSupported,
			"the whole record \"%s\" in an expression is not supported", v.name)
		e.Text = f.text
		return value{}, e.WithHint("Name its fields: %s.field.", v.name)
	}
	return v.val, nil
}

func (f *frame) fail(at ast.Pos, code, format string, args ...any) error {
	e := sqlerr.At(int(at), code, format, args...)
	e.Text = f.text
	return e
}

// at gives err a position in the body unless it has one.
func (f *frame) at(err error, pos ast.Pos) error {
	if err == nil {
		return nil
	}
	return sqlerr.In(withPos(err, pos), f.text)
}

// step records which statement runs, for CONTEXT.
func (f *frame) step(s plpgsql.PLStmt, what string) {
	f.pos, f.line, f.what = s.Position(), s.LineNo(), what
}

// maxContext bounds the lines of CONTEXT.
const maxContext = 10

// annotate adds the frame's line of CONTEXT to an error, and the statement's position to one without.
func (f *frame) annotate(err error) error {
	if err == nil {
		return nil
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		e = sqlerr.New(sqlerr.Internal, "%s", err.Error()).Wrap(err)
	}
	c := *e
	if c.Pos < 0 && (c.Text == nil || c.Text == f.text) {
		c.Pos, c.Text = int(f.pos), f.text
	}
	line := fmt.Sprintf("PL/pgSQL function %s line %d at %s", f.name, f.line, f.what)
	if f.what == "" {
		line = fmt.Sprintf("PL/pgSQL function %s", f.name)
	}
	switch n := strings.Count(c.Context, "\n"); {
	case n > maxContext: // a runaway recursion
		return &c
	case n == maxContext:
		line = c.Context + "\n…"
	case c.Context != "":
		line = c.Context + "\n" + line
	}
	c.Context = line
	return &c
}

// substitute replaces the variables of a tree by their values.
func substitute[T ast.Tree](f *frame, tree T) (T, error) {
	vars, ok := f.plans.vars[tree]
	if !ok {
		r := &resolver{session: f.in.Session, isVar: f.isVar, text: f.text}
		var err error
		if vars, err = r.variables(tree); err != nil {
			return tree, err
		}
		f.plans.vars[tree] = vars
	}
	var failed error
	out := ast.Rewrite(tree, func(t ast.Tree) ast.Tree {
		if failed != nil {
			return nil
		}
		switch n := t.(type) {
		case *ast.ColumnRef:
			if !vars[n] {
				return nil
			}
			v, err := f.read(n)
			if err != nil {
				failed = err
				return nil
			}
			return v.bound(n.At)
		case *ast.Param:
			if n.N < 1 || n.N > len(f.params) {
				failed = f.fail(n.At, sqlerr.UndefinedParameter, "there is no parameter $%d", n.N)
				return nil
			}
			return f.params[n.N-1].val.bound(n.At)
		}
		return nil
	})
	return out, failed
}

// eval evaluates an expression of the body.
func (f *frame) eval(x ast.Expr) (value, error) {
	v, ok := eval(x, func(c *ast.ColumnRef) (value, bool) {
		if c.Star {
			return value{}, false
		}
		v, field, ok := f.find(c.Names)
		if !ok || field == "" && v.record {
			return value{}, false
		}
		if field == "" {
			return v.val, true
		}
		out, err := v.field(field)
		return out, err == nil
	})
	if ok {
		return v, nil
	}
	sel := f.wrap(x)
	bound, err := substitute(f, sel)
	if err != nil {
		return value{}, err
	}
	res, err := f.in.query(f.ctx, bound, f.text, nil)
	if err != nil {
		return value{}, err
	}
	return single(res, x.Position(), f.text)
}

// wrap makes SELECT x. It returns the same tree for the same expression, so that variables are looked up once.
func (f *frame) wrap(x ast.Expr) *ast.Select {
	if s, ok := f.plans.selects[x]; ok {
		return s
	}
	s := selectOf(x)
	f.plans.selects[x] = s
	return s
}

func selectOf(x ast.Expr) *ast.Select {
	at := ast.Node{At: x.Position()}
	return &ast.Select{Node: at, End: -1, Targets: []ast.Target{{Node: at, X: x}}}
}
