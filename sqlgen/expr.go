package sqlgen

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// prec is the precedence of a text's outermost operator.
type prec int

const (
	precOr prec = iota
	precAnd
	precNot
	precCompare
	precArith
	precAtom
)

// text is a printed expression.
type text struct {
	sql  string
	prec prec
}

// at prints the text for a place that needs precedence least, in parentheses where its own is lower.
func (t text) at(least prec) string {
	if t.prec < least {
		return "(" + t.sql + ")"
	}
	return t.sql
}

func atom(s string) text { return text{s, precAtom} }

// maxText bounds an expression in bytes: expressions share sub-trees, texts cannot.
const maxText = 1 << 18

func (p *printer) expr(e *kernels.Expr, col func(kernels.Col) string) (text, error) {
	w := &writer{p: p, col: col}
	if s := newSharing(); s.sizes[s.id(e)] > maxPlain {
		w.share = s
	}
	t := w.region(e)
	return t, w.err
}

// writer prints an expression and keeps the first error that it meets.
type writer struct {
	p     *printer
	col   func(kernels.Col) string
	share *sharing // nil for a small expression
	err   error
}

func (w *writer) expr(e *kernels.Expr) text {
	switch {
	case w.err != nil:
		return text{}
	case e.IsCol:
		return atom(w.col(e.Col))
	case e.Def == nil:
		return w.constant(e.Const)
	}
	if w.share != nil {
		if name := w.share.names[w.share.id(e)]; name != "" {
			return atom(name)
		}
	}
	t := w.call(e)
	if w.err == nil && len(t.sql) > maxText {
		w.err = sqlerr.At(e.Pos, sqlerr.TooComplex, "the SQL text of an expression has more than %d bytes", maxText).
			WithHint("Split the expression: give a part of it a name in a sub-query.")
	}
	return t
}

func (w *writer) constant(v kernels.Value) text {
	s, err := w.p.d.Const(v)
	if w.err = err; strings.HasPrefix(s, "-") {
		return text{s, precArith}
	}
	return atom(s)
}

func (w *writer) list(args []*kernels.Expr, least prec) []string {
	return lists.Map(args, func(a *kernels.Expr) string { return w.expr(a).at(least) })
}

var comparisons = map[string]string{"eq": " = ", "ne": " <> ", "lt": " < ", "le": " <= ", "gt": " > ", "ge": " >= "}

// call prints a call: in standard SQL, as native arithmetic, or as a call of the kernel's function.
func (w *writer) call(e *kernels.Expr) text {
	if !e.Def.Static() && e.Attr.Encode() != "" {
		w.err = sqlerr.New(sqlerr.Internal, "internal error: kernel %s with attributes %v that its samples do not show",
			e.Def.Name, e.Attr)
		return text{}
	}
	if op := comparisons[e.Def.Name]; op != "" {
		a := sameKind(e.Args)
		return text{w.compared(a[0], precArith) + op + w.compared(a[1], precArith), precCompare}
	}
	if t, ok := w.standard(e); ok {
		return t
	}
	switch e.Def.Name {
	case "add", "sub", "mul", "div", "mod", "neg", "power":
		if e.Type.Shape == nil {
			if s, call := w.p.d.Arith(e, w.list(e.Args, precAtom)); call {
				return atom(s)
			} else if s != "" {
				return text{s, precArith}
			}
		}
	case "cast":
		arg := w.expr(e.Args[0])
		if e.Args[0].Type.Is(e.Type) {
			return arg
		}
		return atom(w.p.d.Cast(e, arg.at(precAtom)))
	}
	args := e.Args
	if e.Def.Is(kernels.ReturnsArgument) {
		args = widen(args, e.Type, 0)
	}
	list := w.list(args, precOr)
	if w.err != nil {
		return text{}
	}
	s, err := w.p.d.Call(e, list, w.p.draw)
	w.err = err
	return atom(s)
}

// compared prints an operand of a comparison.
func (w *writer) compared(e *kernels.Expr, outer prec) string {
	s := w.expr(e).at(outer)
	if w.p.o.Typed && literal(e) && e.Type.IsFloat() && e.Type.Shape == nil {
		return w.p.d.Literal(e.Type, w.expr(e).at(precAtom))
	}
	return s
}

// tests are the suffixes of the kernels that test an operand.
var tests = map[string]string{"is_true": " IS TRUE", "is_null": " IS NULL", "is_not_null": " IS NOT NULL"}

// given prints a number of the call: the SQL text where there is one, else the number.
func (w *writer) given(sql string, n int64) text {
	if sql != "" {
		return atom(sql)
	}
	return w.expr(kernels.Const(kernels.IntValue(n)))
}

// standard prints what all databases write in the same way.
func (w *writer) standard(e *kernels.Expr) (text, bool) {
	a := e.Args
	switch e.Def.Name {
	case "case":
		return w.caseText(widen(a[:len(a)-1], e.Type, 1), widen(a[len(a)-1:], e.Type, 0)[0]), true
	case "coalesce":
		if len(a) == 1 {
			return w.expr(a[0]), true
		}
		c := widen(a, e.Type, 0)
		list := []string{w.expr(c[0]).sql}
		for _, x := range c[1:] {
			list = append(list, w.region(x).sql)
		}
		return atom("coalesce(" + strings.Join(list, ", ") + ")"), true
	case "nullif":
		if a[0].Type.Kind == a[1].Type.Kind {
			return atom("nullif(" + w.expr(a[0]).at(precOr) + ", " + w.compared(a[1], precOr) + ")"), true
		}
		return w.caseText([]*kernels.Expr{kernels.Build("eq", a[0], a[1]), kernels.Const(kernels.NullOf(e.Type))}, a[0]), true
	case "and", "or":
		return w.connective(e), true
	case "not":
		return text{"NOT " + w.expr(a[0]).at(precCompare), precNot}, true
	case "is_true", "is_null", "is_not_null":
		return text{w.expr(a[0]).at(precArith) + tests[e.Def.Name], precCompare}, true
	case "is_distinct":
		c := sameKind(a)
		return text{"NOT (" + w.p.d.Same(w.compared(c[0], precArith), w.compared(c[1], precArith)) + ")", precNot}, true
	case "select", "greater", "eq_mask":
		if e.Type.Shape == nil {
			return w.mask(e), true
		}
	case "stop_gradient":
		return w.expr(a[0]), true
	case "current_step", "current_epoch", "current_seed":
		return w.ofStep(e.Def.Name), true
	}
	return text{}, false
}

// ofStep prints what a step has of the run.
func (w *writer) ofStep(name string) text {
	switch o := &w.p.o; name {
	case "current_step":
		return w.given(o.Step, o.Env.Step)
	case "current_epoch":
		return w.given(o.Epoch, o.Env.Epoch)
	default:
		return w.given(o.Seed, o.Env.Seed)
	}
}

// caseText prints CASE WHEN conds[0] THEN conds[1] … ELSE otherwise END; a NULL otherwise is left out.
func (w *writer) caseText(conds []*kernels.Expr, otherwise *kernels.Expr) text {
	s := "CASE"
	for i := 0; i < len(conds); i += 2 {
		cond := w.region
		if i == 0 {
			cond = w.expr
		}
		s += " WHEN " + cond(conds[i]).sql + " THEN " + w.region(conds[i+1]).sql
	}
	if !otherwise.IsConst() || !otherwise.Const.Null {
		s += " ELSE " + w.region(otherwise).sql
	}
	return atom(s + " END")
}

// mask prints the element-wise choice between scalars as a CASE, because SQL may fail to compute the side that is not
// chosen.
func (w *writer) mask(e *kernels.Expr) text {
	a, zero := e.Args, kernels.Num(0)
	var t text
	switch e.Def.Name {
	case "select":
		c := widen([]*kernels.Expr{a[1], a[2]}, e.Type, 0)
		t = w.caseText([]*kernels.Expr{kernels.Build("ne", a[0], zero), c[0]}, c[1])
	case "greater":
		t = w.caseText([]*kernels.Expr{kernels.Build("gt", a[0], a[1]), kernels.Num(1)}, zero)
	default:
		t = w.caseText([]*kernels.Expr{kernels.Build("eq", a[0], a[1]), kernels.Num(1)}, zero)
	}
	if valid := kernels.Valid(e); valid != nil {
		return atom("CASE WHEN " + w.expr(valid).sql + " THEN " + t.sql + " END")
	}
	return t
}

// connectives are AND and OR: how tightly each binds, which test of an argument decides the result, and that result.
var connectives = map[string]struct {
	op, test string
	own      prec
	decided  bool
}{"and": {" AND ", "NOT ", precAnd, false}, "or": {" OR ", "", precOr, true}}

// connective prints AND and OR. SQL may evaluate both sides in any order. Where a later side could fail, a CASE
// evaluates it only if the earlier ones do not decide.
func (w *writer) connective(e *kernels.Expr) text {
	var args []*kernels.Expr
	var flatten func(x *kernels.Expr)
	flatten = func(x *kernels.Expr) {
		if x.Def == e.Def {
			flatten(x.Args[0])
			flatten(x.Args[1])
			return
		}
		args = append(args, x)
	}
	flatten(e)
	word := connectives[e.Def.Name]
	parts := []string{w.expr(args[0]).at(word.own + 1)}
	for _, a := range args[1:] {
		parts = append(parts, w.region(a).at(word.own+1))
	}
	all := text{strings.Join(parts, word.op), word.own}
	risky := false
	for _, a := range args[1:] {
		risky = risky || a.Any(mayFail)
	}
	if !risky || w.err != nil {
		return all
	}
	result, err := w.p.d.Const(kernels.BoolValue(word.decided))
	w.err = err
	s := "CASE"
	for _, a := range args[:len(args)-1] {
		s += " WHEN " + word.test + w.region(a).at(precCompare) + " THEN " + result
	}
	return atom(s + " ELSE " + all.sql + " END")
}

// literal reports whether an expression consists of constants only: a database may give it a narrower type. CASE WHEN …
// THEN 1 ELSE 0 END is an integer on Postgres.
func literal(e *kernels.Expr) bool {
	if e.Def == nil {
		return !e.IsCol
	}
	args := e.Args
	switch e.Def.Name {
	case "greater", "eq_mask":
		return e.Type.Shape == nil
	case "case":
		for i := 1; i < len(args)-1; i += 2 {
			if !literal(args[i]) {
				return false
			}
		}
		args = args[len(args)-1:]
	case "select":
		args = args[1:]
	case "nullif":
		args = args[:1]
	case "coalesce", "greatest", "least", "stop_gradient", "neg":
	default:
		return false
	}
	return !slices.ContainsFunc(args, func(a *kernels.Expr) bool { return !literal(a) })
}

// mayFail reports whether a call can raise an error. Element-wise functions cannot, except by making a scalar NaN.
func mayFail(e *kernels.Expr) bool {
	if e.Def == nil {
		return false
	}
	switch e.Def.Name {
	case "case", "coalesce", "nullif", "and", "or", "not", "is_true", "is_null", "is_not_null", "is_distinct",
		"stop_gradient", "eq", "ne", "lt", "le", "gt", "ge", "greater", "eq_mask", "select", "current_step",
		"current_epoch", "current_seed":
		return false
	}
	return e.Def.Elem == nil || e.Type.Shape == nil
}

// sameKind casts an integer to double precision where it is compared with a float, as the kernels do.
func sameKind(a []*kernels.Expr) []*kernels.Expr {
	for _, x := range a {
		if x.Type.IsFloat() {
			return widen(a, kernels.Type{Kind: kernels.Float64}, 0)
		}
	}
	return a
}

// widen casts integer arguments to double precision where the result t is a float: all arguments, or with skip 1 every
// second one.
func widen(a []*kernels.Expr, t kernels.Type, skip int) []*kernels.Expr {
	if !t.IsFloat() {
		return a
	}
	out := append([]*kernels.Expr(nil), a...)
	for i := skip; i < len(out); i += 1 + skip {
		x := out[i]
		switch {
		case x.Type.IsChunk() && x.Type.Kind != t.Kind: // a chunk's bytes hold its dtype
			out[i] = kernels.CastTo(t.Kind, x)
		case x.Type.Kind != kernels.Int || x.Type.Shape != nil:
		case x.IsConst() && x.Const.Null:
			out[i] = kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Float64}))
		case x.IsConst():
			out[i] = kernels.Num(float64(x.Const.I))
		default:
			out[i] = kernels.BuildAttr("cast", kernels.Attr{Kind: kernels.Float64}, x)
		}
	}
	return out
}
