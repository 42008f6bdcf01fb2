package kernels

import (
	"sort"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Def is one kernel. Exactly one of Elem, Eval, Lane and Lazy computes it. A Def with Bind and none of them is a
// macro: a SQL name for an expression over other kernels, which never stands in an Expr itself.
type Def struct {
	Name string // SQL name, or the internal name of an operator ("add" is +)
	Args string // names of the arguments, for the manual: "a, b"
	Doc  string // what it computes, with shapes
	Kink string // the derivative chosen where there is none, "" if smooth
	Null string // behaviour on NULL where it is not strict

	MinArgs, MaxArgs int // as SQL calls it; MaxArgs < 0: any number; 0 means MinArgs

	// Ulps bounds the error of the value and of its first and second derivative, in units in the last place of what
	// they are; 0: 8. Of vectors the largest element's unit counts, and where a derivative crosses zero that of its
	// terms.
	Ulps int

	Internal  bool  // not callable from SQL under its name
	NonStrict bool  // sees NULL arguments
	PerStep   bool  // depends on the step
	PerCall   bool  // depends on the seed of the call
	Zero      bool  // piecewise constant: derivative zero by definition (law 5)
	Traits    Trait // what it means to rules that look at forms
	// Linear lists the arguments in which a call of floats is linear while the others stay (mul is in both), so
	// that sums may be taken before it.
	Linear []int
	// Labels are the forms in which a call is a sum of products of its arguments, in Einstein's notation: "ij,jk->ik".
	// The first one counts that the shapes fit. Three dots stand for any axes, a slash for division by an argument, a
	// minus in front for the sign. Where a call has a Spec among its attributes, that is its form.
	Labels []string
	// Role says what the value is of the arguments; Chosen, of a Choice, which of n arguments may be it.
	Role   Role
	Chosen func(n int) []int

	// Infer is the shape rule.
	Infer func(a []Type, at Attr) (Type, error)
	// Elem is the reference code of an element-wise kernel, one element at a time. For integer
	// arguments with Ints set, Ints is used.
	Elem func(x []float64) float64
	Ints func(x []int64) (int64, error)
	// Eval is the reference code of any other kernel. Arguments are not NULL unless NonStrict.
	Eval func(env *Env, a []Value, at Attr, out Type) (Value, error)
	// Lane is the reference code of a kernel of the lanes of its arguments' last axis, each by itself: to as many
	// elements, or one.
	Lane func(x [][]float64, out []float64)
	// Lazy evaluates only the arguments it needs (CASE, COALESCE, AND).
	Lazy func(e *Expr, eval func(*Expr) (Value, error)) (Value, error)

	// VJP gives, for the call e and the upstream gradient g (of e's shape), each argument's contribution
	// (of the argument's shape; see SumTo); nil where the argument has none. Nil VJP and !Zero: not
	// differentiable, for the reason NoGrad.
	VJP    func(e, g *Expr) []*Expr
	NoGrad string
	// Guarded is set for kernels that select validity (law 6): Branches gives, per argument, the condition
	// under which that argument is the result; contributions are guarded by it as a whole.
	Guarded func(e *Expr) []*Expr

	// Bind builds the call from SQL arguments where some of them are static, or expands a macro; nil: all
	// are arguments. Register puts the check of their number before it.
	Bind func(args []*Expr) (*Expr, error)
	// Divide makes a call of more than MaxArgs arguments, which are a spec and n operands, from calls of two operands.
	// nil: there is none. length is how long the dimension of a label is.
	Divide func(spec string, n int, length func(label rune) int) ([]EinsumStep, error)

	// Flops estimates the work of one call; by default one operation per element.
	Flops func(a []Type, at Attr, out Type) float64

	// Samples are calls for the registry test; Lo and Hi bound the sampled arguments (default −2, 2).
	Samples []Sample
	Lo, Hi  float64
}

// Sample is one typed call for the registry tests and the manual: the run-time arguments and attributes of a
// kernel, the SQL arguments of a macro, whose bigint[] is the attributes' shape (see Def.Array). Ints lists values for
// integer and boolean arguments in turn (default 1).
type Sample struct {
	Types []Type
	Attr  Attr
	Ints  []int64
}

var registry = map[string]*Def{}

// Register adds a kernel; a second one of the same name panics at start.
func Register(d *Def) *Def {
	if registry[d.Name] != nil {
		panic("kernels: registered twice: " + d.Name)
	}
	if d.Doc == "" || d.Infer == nil && d.Bind == nil {
		panic("kernels: without doc or shape rule: " + d.Name)
	}
	if d.MaxArgs == 0 {
		d.MaxArgs = d.MinArgs
	}
	if d.Lane != nil {
		d.Eval = evalLanes(d.Lane)
	}
	if d.Flops == nil {
		d.Flops = perElement(1)
	}
	if bind := d.Bind; bind != nil {
		d.Bind = func(args []*Expr) (*Expr, error) {
			if err := d.arity(len(args)); err != nil {
				return nil, err
			}
			return bind(args)
		}
	}
	registry[d.Name] = d
	return d
}

// perElement is the cost of k operations for each element of the largest argument or the result.
func perElement(k float64) func(a []Type, at Attr, out Type) float64 {
	return func(a []Type, _ Attr, out Type) float64 {
		n := out.Size()
		for _, t := range a {
			n = max(n, t.Size())
		}
		return k * float64(n)
	}
}

// Is reports whether d has a trait; a nil d, of a column or constant, has none.
func (d *Def) Is(t Trait) bool { return d != nil && d.Traits&t != 0 }

// IsMacro reports whether the name stands for an expression over other kernels.
func (d *Def) IsMacro() bool { return d.Infer == nil }

// Apply makes the call that SQL means by d(args…): it checks their number, takes static arguments into the
// attributes and expands macros.
func (d *Def) Apply(args ...*Expr) (*Expr, error) {
	if d.Bind == nil {
		return Call(d, Attr{}, args...)
	}
	return d.Bind(args)
}

// Lookup returns the kernel of that name; an unknown one is our own mistake and panics.
func Lookup(name string) *Def {
	if d := registry[name]; d != nil {
		return d
	}
	panic("kernels: no kernel " + name)
}

// Known returns the kernel of that name, or nil.
func Known(name string) *Def { return registry[name] }

// Find returns the kernel that SQL may call by that name, or nil.
func Find(name string) *Def {
	if d := registry[name]; d != nil && !d.Internal {
		return d
	}
	return nil
}

// All returns every kernel, sorted by name.
func All() []*Def {
	out := make([]*Def, 0, len(registry))
	for _, d := range registry {
		out = append(out, d)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// eval runs the reference code on values that the strictness rule has passed.
func (d *Def) eval(env *Env, a []Value, at Attr, out Type) (Value, error) {
	if d.Eval != nil {
		return d.Eval(env, a, at, out)
	}
	if out.Kind == Int {
		return d.evalInts(a, out)
	}
	if out.Shape == nil {
		var buf [4]float64
		x := buf[:0]
		for i := range a {
			x = append(x, a[i].Float())
		}
		return Value{Type: out, X: d.Elem(x)}, nil
	}
	return Value{Type: out, F: broadcast(d.Elem, a, out)}, nil
}

func (d *Def) evalInts(a []Value, out Type) (Value, error) {
	var buf [4]int64
	x := buf[:0]
	for i := range a {
		x = append(x, a[i].I)
	}
	i, err := d.Ints(x)
	return Value{Type: out, I: i}, err
}

// EvalValues is what a SQL function does: bind the call to the arguments' types (and, where they are
// static in a loss, values), then evaluate.
func (d *Def) EvalValues(env *Env, a []Value) (Value, error) {
	args := make([]*Expr, len(a))
	for i := range a {
		args[i] = Const(a[i])
		if a[i].Null && d.Bind != nil && !d.NonStrict {
			return NullOf(Type{Kind: Float64}), nil
		}
	}
	e, err := d.Apply(args...)
	if err != nil {
		return Value{}, err
	}
	return e.Eval(env, nil)
}

// wrongType is the error of a shape rule that got a type it cannot use.
func wrongType(name string, a []Type) *sqlerr.Error {
	e := noSuch(name, a)
	for _, t := range a {
		if t.Kind == Int && t.Shape != nil {
			return e.WithHint("ARRAY[1, 2] holds integers; a chunk is written ARRAY[1.0, 2].")
		}
	}
	return e
}

func noSuch(name string, a []Type) *sqlerr.Error {
	if op, ok := infix[name]; ok && len(a) == 2 {
		return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %v%s%v", a[0], op, a[1])
	}
	if name == "neg" {
		return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: - %v", a[0])
	}
	s := ""
	for i, t := range a {
		if i > 0 {
			s += ", "
		}
		s += t.String()
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "%s(%s) does not exist", name, s)
}
