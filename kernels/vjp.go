package kernels

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Contribution is what one column leaf of an expression receives.
type Contribution struct {
	Col  Col
	Grad *Expr // of the column's type, never NULL
}

// VJP is the reverse walk over one expression: given the upstream gradient g of e, it returns the contribution to each
// column for which wrt holds, in order of first use. A column reached only through piecewise constant kernels gets
// none. Where e is NULL all contributions are zero. Contributions inside a branch of CASE and its kin are guarded as a
// whole (law 6), and a contribution that comes out NULL, because some other argument is, counts as zero (law 1).
func VJP(e, g *Expr, wrt func(Col) bool) ([]Contribution, error) {
	w := &walk{wrt: wrt, at: map[Col]int{}, active: map[*Expr]bool{}}
	var guards []*Expr
	if c := Valid(e); c != nil {
		guards = []*Expr{c}
	}
	if err := w.down(e, g, guards); err != nil {
		return nil, err
	}
	return w.out, nil
}

type walk struct {
	wrt    func(Col) bool
	at     map[Col]int
	out    []Contribution
	active map[*Expr]bool
}

// reaches reports whether e depends differentiably on a wanted column.
func (w *walk) reaches(e *Expr) bool {
	if e.IsCol {
		return e.Type.IsFloat() && w.wrt(e.Col)
	}
	if e.Def == nil || e.Def.Zero || !e.Type.IsFloat() { // integers and booleans are piecewise constant
		return false
	}
	if r, ok := w.active[e]; ok {
		return r
	}
	r := false
	for _, a := range e.Args {
		r = r || w.reaches(a)
	}
	w.active[e] = r
	return r
}

// Reaches reports whether e depends on a column of wrt other than through piecewise constant kernels.
func Reaches(e *Expr, wrt func(Col) bool) bool {
	return (&walk{wrt: wrt, active: map[*Expr]bool{}}).reaches(e)
}

func (w *walk) down(e, g *Expr, guards []*Expr) error {
	if !w.reaches(e) {
		return nil
	}
	if e.IsCol {
		w.add(e, g, guards)
		return nil
	}
	var conds []*Expr
	if e.Def.Guarded != nil {
		conds = e.Def.Guarded(e)
	}
	if e.Def.VJP == nil {
		reason := e.Def.NoGrad
		if reason == "" {
			reason = "it has no derivative here"
		}
		return sqlerr.At(e.Pos, sqlerr.FeatureNotSupported, "%s is not differentiable", e.Def.Name).WithDetail("%s.", reason)
	}
	for i, c := range e.Def.VJP(e, g) {
		if c == nil {
			continue
		}
		gs := guards
		if conds != nil && conds[i] != nil {
			gs = append(guards[:len(guards):len(guards)], conds[i])
		}
		if err := w.down(e.Args[i], c, gs); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) add(leaf, g *Expr, guards []*Expr) {
	g = CastTo(leaf.Type.Kind, g)
	for i := len(guards) - 1; i >= 0; i-- {
		g = Guard(guards[i], g)
	}
	g = NullToZero(g)
	if i, ok := w.at[leaf.Col]; ok {
		w.out[i].Grad = Add(w.out[i].Grad, g)
		return
	}
	w.at[leaf.Col] = len(w.out)
	w.out = append(w.out, Contribution{leaf.Col, g})
}

// Guard is g where cond holds, else 0; g is not evaluated where it does not hold.
func Guard(cond, g *Expr) *Expr { return Build("case", cond, g, ZerosLike(g.Type)) }

// NullToZero replaces a NULL gradient by zeros.
func NullToZero(g *Expr) *Expr {
	if !g.Type.Nullable {
		return g
	}
	return Build("coalesce", g, ZerosLike(g.Type))
}

// ZerosLike is the zero of a float type.
func ZerosLike(t Type) *Expr {
	t.Nullable = false
	if t.Shape == nil {
		return Const(Value{Type: t})
	}
	return Const(Value{Type: t, F: make([]float64, t.Size())})
}

// Add is a + b, without the zeros.
func Add(a, b *Expr) *Expr {
	if a.isZero() && b.Type.Is(a.Type) {
		return b
	}
	if b.isZero() && b.Type.Is(a.Type) {
		return a
	}
	return Build("add", a, b)
}

func (e *Expr) isZero() bool {
	if !e.IsConst() || e.Const.Null || !e.Type.IsFloat() {
		return false
	}
	return !slices.ContainsFunc(e.Const.Floats(), func(x float64) bool { return x != 0 })
}

// Sub is a - b.
func Sub(a, b *Expr) *Expr { return Build("sub", a, b) }

// Mul is a * b, without the ones.
func Mul(a, b *Expr) *Expr {
	if a.isNum(1) && b.Type.IsFloat() && (b.Type.Kind == Float64 || b.Type.IsChunk()) {
		return b
	}
	if b.isNum(1) && a.Type.IsFloat() && (a.Type.Kind == Float64 || a.Type.IsChunk()) {
		return a
	}
	return Build("mul", a, b)
}

// Div is a / b.
func Div(a, b *Expr) *Expr { return Build("div", a, b) }

// Neg is -a.
func Neg(a *Expr) *Expr { return Build("neg", a) }

// Select is element-wise a where the mask is not 0, else b. Unlike a product it lets no NaN through.
func Select(mask, a, b *Expr) *Expr { return Build("select", mask, a, b) }

// SumTo undoes broadcasting: it sums g over the axes in which t was repeated. A scalar t gets a double.
func SumTo(g *Expr, t Type) *Expr {
	if g.Type.Shape.Equal(t.Shape) && (t.Shape == nil) == (g.Type.Shape == nil) {
		return g
	}
	return BuildAttr("sum_to", Attr{Shape: t.Shape}, g)
}

// CastTo converts a float expression to another float kind.
func CastTo(k Kind, e *Expr) *Expr {
	if e.Type.Kind == k {
		return e
	}
	return BuildAttr("cast", Attr{Kind: k}, e)
}

// CastConst is the scalar constant x of a float kind.
func CastConst(k Kind, x float64) *Expr { return Const(Value{Type: Type{Kind: k}, X: x}) }
