package kernels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// ColumnID identifies a column within one query.
type ColumnID int32

// Col is a column of one of an operator's inputs.
type Col struct {
	Input int // input slot of the operator that holds the expression
	ID    ColumnID
}

// Attr are the static arguments of a call; which of them count is the kernel's affair.
type Attr struct {
	Shape tensor.Shape // reshape, zeros, sum_to, expand_to, …
	Axis  int          // 0-based; -1: none (max_elements, logsumexp over all elements)
	Spec  string       // einsum; stream name of a draw
	Num   float64      // dropout's p, leaky_relu's slope
	Int   int64        // one_hot's n, stream numbers
	Kind  Kind         // cast's target
	From  []int        // slice and pad: 0-based start on each axis; subscript and put: constant 0-based indices
}

// IsZero reports whether there are no attributes.
func (a Attr) IsZero() bool {
	return a.Shape == nil && a.From == nil && a.Axis == 0 && a.Spec == "" && a.Num == 0 && a.Int == 0 && a.Kind == 0
}

// Expr is an expression: a constant (Def nil, Const set), a column (Def nil, IsCol) or a call.
// Expressions are immutable and may share sub-trees.
type Expr struct {
	Def   *Def
	Args  []*Expr
	Attr  Attr
	Col   Col
	IsCol bool
	Const Value
	Type  Type
	Pos   int // 0-based byte offset in the user's text, -1 when derived
}

// Column makes a column leaf.
func Column(c Col, t Type) *Expr { return &Expr{IsCol: true, Col: c, Type: t, Pos: -1} }

// Const makes a constant leaf.
func Const(v Value) *Expr {
	t := v.Type
	t.Nullable = v.Null
	v.Type = t
	return &Expr{Const: v, Type: t, Pos: -1}
}

// Num makes a double precision constant.
func Num(x float64) *Expr { return Const(FloatValue(x)) }

// IsConst reports whether e is a constant leaf.
func (e *Expr) IsConst() bool { return e.Def == nil && !e.IsCol }

// isNum reports whether e is the constant scalar x.
func (e *Expr) isNum(x float64) bool {
	return e.IsConst() && !e.Const.Null && e.Type.Shape == nil && e.Type.Kind != Text && e.Const.Float() == x
}

// Call applies a kernel to its run-time arguments, static ones standing in attr (see Def.Apply for calls as
// SQL writes them); its error is the shape rule's, without position.
func Call(d *Def, attr Attr, args ...*Expr) (*Expr, error) {
	if d.Bind == nil {
		if err := d.arity(len(args)); err != nil {
			return nil, err
		}
	}
	types := lists.Map(args, func(a *Expr) Type { return a.Type })
	t, err := d.Infer(types, attr)
	if err == nil {
		err = d.bounded(t)
	}
	if err != nil {
		return nil, err
	}
	if !d.NonStrict {
		for _, a := range types {
			t.Nullable = t.Nullable || a.Nullable
		}
	}
	return &Expr{Def: d, Args: args, Attr: attr, Type: t, Pos: -1}, nil
}

// bounded refuses a result that no chunk can hold.
func (d *Def) bounded(t Type) error {
	n := 1
	for _, l := range t.Shape {
		if l > 0 && n > maxElements/l {
			return sqlerr.New(sqlerr.ProgramLimit, "the result of %s would be %v: a chunk has at most %d elements",
				d.Name, t, maxElements)
		}
		n *= l
	}
	return nil
}

// arity checks the number of arguments.
func (d *Def) arity(n int) error {
	if n >= d.MinArgs && (d.MaxArgs < 0 || n <= d.MaxArgs) {
		return nil
	}
	want := fmt.Sprintf("%d arguments", d.MinArgs)
	switch {
	case d.MaxArgs < 0:
		want = fmt.Sprintf("at least %d arguments", d.MinArgs)
	case d.MaxArgs > d.MinArgs:
		want = fmt.Sprintf("%d to %d arguments", d.MinArgs, d.MaxArgs)
	case d.MinArgs == 1:
		want = "1 argument"
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "%s takes %s, not %d", d.Name, want, n)
}

// must is for derivatives: our own expressions always type-check.
func must(name string, attr Attr, args ...*Expr) *Expr {
	e, err := Call(Lookup(name), attr, args...)
	if err != nil {
		panic(fmt.Sprintf("kernels: %s: %v", name, err))
	}
	return e
}

// Build applies the kernel of that name; it panics where the shape rule refuses, so it is for derivatives
// and rules, whose arguments are known to fit.
func Build(name string, args ...*Expr) *Expr { return must(name, Attr{}, args...) }

// BuildAttr is Build with static arguments.
func BuildAttr(name string, attr Attr, args ...*Expr) *Expr { return must(name, attr, args...) }

// String prints the expression for plans: columns as $input.id or the name that names gives.
func (e *Expr) String() string { return e.Format(nil) }

// Format prints the expression; name maps a column to its text, nil means "slot:id".
func (e *Expr) Format(name func(Col) string) string {
	var b strings.Builder
	e.format(&b, name)
	return b.String()
}

var infix = map[string]string{"add": " + ", "sub": " - ", "mul": " * ", "div": " / ", "eq": " = ", "ne": " <> ",
	"lt": " < ", "le": " <= ", "gt": " > ", "ge": " >= ", "and": " AND ", "or": " OR ", "mod": " % ", "power": " ^ ",
	"textcat": " || ", "like": " LIKE "}

func (e *Expr) format(b *strings.Builder, name func(Col) string) {
	switch {
	case e.IsCol:
		if name != nil {
			b.WriteString(name(e.Col))
			return
		}
		fmt.Fprintf(b, "%d:%d", e.Col.Input, e.Col.ID)
		return
	case e.Def == nil:
		b.WriteString(e.Const.String())
		return
	}
	if op, ok := infix[e.Def.Name]; ok && len(e.Args) == 2 {
		b.WriteByte('(')
		e.Args[0].format(b, name)
		b.WriteString(op)
		e.Args[1].format(b, name)
		b.WriteByte(')')
		return
	}
	if e.Def.Name == "cast" {
		e.Args[0].format(b, name)
		b.WriteString("::" + e.Type.Kind.String())
		if e.Type.Shape != nil {
			b.WriteString("[]")
		}
		return
	}
	b.WriteString(e.Def.Name)
	b.WriteByte('(')
	for i, a := range e.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		a.format(b, name)
	}
	if s := e.Attr.String(); s != "" {
		b.WriteString("; " + s)
	}
	b.WriteByte(')')
}

// String prints the attributes that are set, "" for none.
func (a Attr) String() string {
	var p []string
	if a.Shape != nil {
		p = append(p, "shape="+a.Shape.String())
	}
	if a.Axis != 0 {
		p = append(p, fmt.Sprintf("axis=%d", a.Axis))
	}
	if a.Spec != "" {
		p = append(p, a.Spec)
	}
	if a.Num != 0 {
		p = append(p, tensor.FormatFloat(a.Num, tensor.Float64))
	}
	if a.From != nil {
		p = append(p, fmt.Sprintf("from=%v", a.From))
	}
	if a.Int != 0 {
		p = append(p, fmt.Sprintf("n=%d", a.Int))
	}
	if a.Kind != 0 {
		p = append(p, a.Kind.String())
	}
	return strings.Join(p, " ")
}

// Cols calls f for every column leaf.
func (e *Expr) Cols(f func(Col)) {
	e.Any(func(x *Expr) bool {
		if x.IsCol {
			f(x.Col)
		}
		return false
	})
}

// Any reports whether f holds for some node of the expression. Of a large expression every node is looked at
// once, however often it is shared.
func (e *Expr) Any(f func(*Expr) bool) bool { return (&visitor{}).any(e, f) }

// AnyOf is Any over several expressions, which may share parts.
func AnyOf(f func(*Expr) bool, lists ...[]*Expr) bool {
	v := &visitor{}
	for _, es := range lists {
		for _, e := range es {
			if v.any(e, f) {
				return true
			}
		}
	}
	return false
}

// visitor walks an expression; second derivatives share sub-trees so often that a plain walk would not end.
type visitor struct {
	n    int
	seen map[*Expr]bool
}

// plainVisits is the number of nodes from which a visitor remembers where it has been.
const plainVisits = 256

func (v *visitor) any(e *Expr, f func(*Expr) bool) bool {
	if v.n++; v.n > plainVisits {
		if v.seen == nil {
			v.seen = make(map[*Expr]bool, 4*plainVisits)
		}
		if v.seen[e] {
			return false
		}
		v.seen[e] = true
	}
	if f(e) {
		return true
	}
	return slices.ContainsFunc(e.Args, func(a *Expr) bool { return v.any(a, f) })
}

// Asker is Any for many expressions, which may share parts: what large ones share is asked once.
type Asker struct {
	f     func(*Expr) bool
	n     int
	known map[*Expr]bool
}

// NewAsker asks f.
func NewAsker(f func(*Expr) bool) *Asker { return &Asker{f: f} }

// Any reports whether f holds for some node of e.
func (a *Asker) Any(e *Expr) bool {
	if a.n++; a.n > plainVisits {
		if a.known == nil {
			a.known = map[*Expr]bool{}
		}
		if r, ok := a.known[e]; ok {
			return r
		}
	}
	r := a.f(e) || slices.ContainsFunc(e.Args, a.Any)
	if a.known != nil {
		a.known[e] = r
	}
	return r
}

// PerStep reports whether the value depends on the step (current_step, current_epoch, dropout's mask).
func (e *Expr) PerStep() bool {
	return e.Any(func(x *Expr) bool { return x.Def != nil && x.Def.PerStep })
}

// MapCols replaces column leaves. Types are recomputed, so that a changed Nullable spreads.
func (e *Expr) MapCols(f func(*Expr) *Expr) *Expr { return NewMapper(f).Map(e) }

// Mapper is MapCols for several expressions: what large ones share stays shared.
type Mapper struct {
	f    func(*Expr) *Expr
	n    int
	done map[*Expr]*Expr
}

// NewMapper replaces column leaves by f.
func NewMapper(f func(*Expr) *Expr) *Mapper { return &Mapper{f: f} }

// Map replaces the column leaves of e.
func (m *Mapper) Map(e *Expr) *Expr {
	if e.IsCol {
		return m.f(e)
	}
	if len(e.Args) == 0 {
		return e
	}
	if m.n++; m.n > plainVisits {
		if m.done == nil {
			m.done = map[*Expr]*Expr{}
		}
		if r := m.done[e]; r != nil {
			return r
		}
	}
	out := m.call(e)
	if m.done != nil {
		m.done[e] = out
	}
	return out
}

func (m *Mapper) call(e *Expr) *Expr {
	args, changed := make([]*Expr, len(e.Args)), false
	for i, a := range e.Args {
		args[i] = m.Map(a)
		changed = changed || args[i] != a
	}
	if !changed {
		return e
	}
	n, err := Call(e.Def, e.Attr, args...)
	if err != nil {
		panic(fmt.Sprintf("kernels: mapping columns of %v: %v", e.Def.Name, err))
	}
	n.Pos = e.Pos
	return n
}

// Same reports whether both expressions compute the same by construction.
func (e *Expr) Same(o *Expr) bool {
	if e == o {
		return true
	}
	if e.IsCol != o.IsCol || e.Def != o.Def || len(e.Args) != len(o.Args) || !e.Type.Is(o.Type) {
		return false
	}
	if e.IsCol {
		return e.Col == o.Col
	}
	if e.Def == nil {
		return e.Const.String() == o.Const.String()
	}
	if e.Attr.String() != o.Attr.String() {
		return false
	}
	for i := range e.Args {
		if !e.Args[i].Same(o.Args[i]) {
			return false
		}
	}
	return true
}

// Eval computes the expression in the reference representation (float64, SQL's NULLs).
func (e *Expr) Eval(env *Env, col func(Col) Value) (Value, error) {
	switch {
	case e.IsCol:
		return col(e.Col), nil
	case e.Def == nil:
		return e.Const, nil
	case e.Def.Lazy != nil:
		return e.Def.Lazy(e, func(a *Expr) (Value, error) { return a.Eval(env, col) })
	}
	args := make([]Value, 0, len(e.Args))
	for _, a := range e.Args {
		v, err := a.Eval(env, col)
		if err != nil {
			return Value{}, err
		}
		if v.Null && !e.Def.NonStrict {
			return NullOf(e.Type), nil
		}
		args = append(args, v)
	}
	return e.Def.eval(env, args, e.Attr, e.Type)
}

// EvalWith evaluates a call, not of a Lazy kernel, whose arguments have the values args; the caller may use the slice
// again.
func (e *Expr) EvalWith(env *Env, args []Value) (Value, error) {
	if !e.Def.NonStrict {
		for i := range args {
			if args[i].Null {
				return NullOf(e.Type), nil
			}
		}
	}
	return e.Def.eval(env, args, e.Attr, e.Type)
}

// Flops estimates the floating-point operations of one evaluation of e.
func (e *Expr) Flops() float64 {
	total := 0.0
	e.Any(func(x *Expr) bool { // large expressions share parts: each counts once
		total += x.flops()
		return false
	})
	return total
}

// perNumber are the operations of a product in whose time a kernel that is none loads and stores a number.
const perNumber = 8

// Effort is the time of e's own call in operations of products of matrices, which run at the speed of the machine.
// Other kernels do not. What only turns, negates or scales a product is part of it.
func (e *Expr) Effort() float64 {
	f := e.flops()
	if f == 0 || e.IsProduct() {
		return f
	}
	n, products := e.Type.Size(), 0
	for _, a := range e.Args {
		n = max(n, a.Type.Size())
		if a.IsProduct() {
			products++
		}
	}
	if len(e.Def.Labels) > 0 && (len(e.Args) == 1 || products > 0) {
		return 0
	}
	return f + perNumber*float64(n)
}

// IsProduct reports whether e is a call that multiplies by labels of its arguments, as products of matrices do.
func (e *Expr) IsProduct() bool {
	if e.Def == nil || len(e.Args) < 2 {
		return false
	}
	return strings.Contains(e.Attr.Spec, "->") ||
		slices.ContainsFunc(e.Def.Labels, func(l string) bool { return strings.ContainsAny(l, "ijk") })
}

// Takes reports whether Flops is at least n, without a look at all of a large expression.
func (e *Expr) Takes(n float64) bool {
	total := 0.0
	return e.Any(func(x *Expr) bool {
		total += x.flops()
		return total >= n
	})
}

// flops are those of e's own call.
func (e *Expr) flops() float64 {
	if e.Def == nil {
		return 0
	}
	if e.Def.Flops == nil {
		return float64(e.Type.Size())
	}
	types := lists.Map(e.Args, func(a *Expr) Type { return a.Type })
	return e.Def.Flops(types, e.Attr, e.Type)
}
