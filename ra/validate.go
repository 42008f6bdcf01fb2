package ra

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
)

// ValidateForward checks a query that may be differentiated: besides Validate, that selections and joins pass
// the identities of their inputs through or, where that would make theirs too wide, can be found by their own.
func ValidateForward(roots ...*Node) error {
	err := Validate(roots...)
	Walk(func(n *Node) {
		if err == nil && (n.Op == Select || n.Op == Join) {
			err = n.checkIdentity()
		}
	}, roots...)
	return err
}

func (n *Node) checkIdentity() error {
	l, isKey := n.Links(), n.keyed()
	for i, in := range n.Inputs {
		for _, k := range in.Key {
			if at, ok := l.carrier(kernels.Col{Input: i, ID: k}, isKey); (!ok || !isKey(at)) && !n.found() {
				return broken(n, "identity column %d of input %d is not passed through", k, i)
			}
		}
	}
	return nil
}

// found reports whether the rows of a join can be found again by its identity: among the rows of its inputs, by columns
// of these.
func (n *Node) found() bool {
	return !slices.ContainsFunc(n.Key, func(k ColumnID) bool { x := n.Out[n.Index(k)]; return !x.IsCol && !x.IsConst() })
}

// Validate checks the invariants of every node below roots and returns an internal error that names the
// first broken one. It is run after binding, differentiation and (under test) each rule.
func Validate(roots ...*Node) error {
	defined := map[ColumnID]*Node{}
	var err error
	Walk(func(n *Node) {
		if err != nil {
			return
		}
		for _, c := range n.Cols {
			if o := defined[c.ID]; o != nil && o != n {
				err = broken(n, "column %d is also defined by %v", c.ID, o.Op)
			}
			defined[c.ID] = n
		}
		if err == nil {
			err = n.check()
		}
	}, roots...)
	return err
}

func broken(n *Node, format string, args ...any) error {
	return sqlerr.New(sqlerr.Internal, "internal error: "+format, args...).WithDetail("In node:\n%s", n.Format())
}

func (n *Node) check() error {
	for _, k := range n.Key {
		if n.Col(k) == nil {
			return broken(n, "key column %d is not an output", k)
		}
		if n.Col(k).Dep {
			return broken(n, "key column %d depends on a parameter", k)
		}
	}
	for _, k := range n.Unique {
		if !n.IsKey(k) {
			return broken(n, "unique column %d is not in the key", k)
		}
	}
	if err := n.checkConditions(); err != nil {
		return err
	}
	switch n.Op {
	case Select, Join:
		return n.checkOut()
	case Aggregate:
		return n.checkAggregate()
	case Window:
		return n.checkWindow()
	case Union, Add:
		return n.checkInputs(n.Inputs, len(n.Cols))
	case Recursion:
		if n.SelfLeaf() == nil {
			return broken(n, "the step of a recursion does not read the level before")
		}
		return n.checkInputs(n.Inputs[:along], n.States())
	case SemiJoin, AntiJoin:
		if len(n.Cols) > len(n.Inputs[0].Cols) { // the input may have more, which rules have added
			return broken(n, "%v does not pass its input's columns", n.Op)
		}
	}
	return nil
}

// checkInputs checks that the first columns of inputs correspond to those of n.
func (n *Node) checkInputs(inputs []*Node, cols int) error {
	for _, in := range inputs {
		for i, c := range n.Cols[:cols] {
			if i >= len(in.Cols) || !in.Cols[i].Type.Is(c.Type) {
				return broken(n, "input columns of %v do not correspond at %d", n.Op, i)
			}
		}
	}
	return nil
}

func (n *Node) checkConditions() error {
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			if err := n.checkCol(c, true); err != nil {
				return err
			}
		}
		if l, r := n.kind(q.L), n.kind(q.R); l != r {
			return broken(n, "a condition equates %v with %v", l, r)
		}
	}
	for _, p := range n.Pred {
		if err := n.checkExpr(p, true); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) checkOut() error {
	if len(n.Out) != len(n.Cols) {
		return broken(n, "%d expressions for %d columns", len(n.Out), len(n.Cols))
	}
	dep := n.dependent()
	for i, e := range n.Out {
		if err := n.checkExpr(e, false); err != nil {
			return err
		}
		if !e.Type.Is(n.Cols[i].Type) || e.Type.Nullable && !n.Cols[i].Type.Nullable {
			return broken(n, "column %d is %v, its expression %v", n.Cols[i].ID, n.Cols[i].Type, e.Type)
		}
		if dep.Any(e) && !n.Cols[i].Dep {
			return broken(n, "column %d hides that it depends on a parameter", n.Cols[i].ID)
		}
	}
	return nil
}

func (n *Node) checkAggregate() error {
	if len(n.Cols) != len(n.Group)+len(n.Aggs) || len(n.Key) != len(n.Group) {
		return broken(n, "columns of an aggregate do not correspond")
	}
	for _, g := range n.Group {
		if err := n.checkCol(kernels.Col{ID: g}, true); err != nil {
			return err
		}
	}
	for _, a := range n.Aggs {
		if a.Fn != CountRows {
			if err := n.checkCol(kernels.Col{ID: a.Arg}, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *Node) checkWindow() error {
	if n.Over == nil || len(n.Cols) != len(n.Over.Pass)+len(n.Aggs) {
		return broken(n, "columns of a window do not correspond")
	}
	for _, id := range slices.Concat(n.Over.Pass, n.Arranged()) {
		if err := n.checkCol(kernels.Col{ID: id}, true); err != nil {
			return err
		}
	}
	for _, k := range n.Inputs[0].Key {
		if i := slices.Index(n.Over.Pass, k); i < 0 || !n.IsKey(n.Cols[i].ID) {
			return broken(n, "identity column %d of the input is not passed through", k)
		}
	}
	if f := n.Over.Frame; f.Peers && (f.Lo != 0 && f.Lo != -Unbounded || f.Hi != 0 && f.Hi != Unbounded) {
		return broken(n, "a frame of peers from %d to %d", f.Lo, f.Hi)
	}
	for i, a := range n.Aggs {
		c := n.Cols[len(n.Over.Pass)+i]
		if a.Fn == CountRows {
			continue
		}
		if err := n.checkCol(kernels.Col{ID: a.Arg}, false); err != nil {
			return err
		}
		if n.Inputs[0].Col(a.Arg).Dep && !c.Dep {
			return broken(n, "column %d hides that it depends on a parameter", c.ID)
		}
		if t := n.Inputs[0].Col(a.Arg).Type; (a.Fn == Min || a.Fn == Max || a.Fn == Rank) && !Extremal(t) {
			return broken(n, "a window has no %v of %v", a.Fn, t)
		}
		if a.Fn == Rank && n.Over.Frame != (Frame{Lo: -Unbounded, Hi: Unbounded}) {
			return broken(n, "a rank over %v", n.Over.Frame)
		}
	}
	return n.checkAmong()
}

// Extremal reports whether a window may have the least and greatest of a type.
func Extremal(t kernels.Type) bool { return t.Shape == nil && (t.IsFloat() || t.Kind == kernels.Int) }

// checkAmong: the column of extremes is known to the columns that depend on it, and only sums are taken among them.
func (n *Node) checkAmong() error {
	e := n.Over.Among
	if e == nil {
		return nil
	}
	if err := n.checkCol(kernels.Col{ID: e.Col}, false); err != nil {
		return err
	}
	x := n.Inputs[0].Col(e.Col)
	if e.Fn != Min && e.Fn != Max || !Extremal(x.Type) {
		return broken(n, "extremes by %v of %v", e.Fn, x.Type)
	}
	for i, a := range n.Aggs {
		c := n.Cols[len(n.Over.Pass)+i]
		if a.Fn != Sum && a.Fn != GradSum || c.Type.Shape != nil || !c.Type.IsFloat() {
			return broken(n, "%v of %v among extremes", a.Fn, c.Type)
		}
		if n.Inputs[0].Col(a.Arg).Type.Nullable {
			return broken(n, "%v of a column with NULLs among extremes", a.Fn)
		}
		if x.Dep && !c.Dep {
			return broken(n, "column %d hides that it depends on a parameter", c.ID)
		}
	}
	return nil
}

func (n *Node) checkExpr(e *kernels.Expr, structure bool) (err error) {
	e.Any(func(x *kernels.Expr) bool {
		if !x.IsCol {
			return false
		}
		err = n.checkCol(x.Col, structure)
		if err == nil && !x.Type.Nullable && n.Inputs[x.Col.Input].Col(x.Col.ID).Type.Nullable {
			err = broken(n, "column %d may be NULL, its reader says that it is not", x.Col.ID)
		}
		return err != nil
	})
	return err
}

func (n *Node) checkCol(c kernels.Col, structure bool) error {
	if c.Input < 0 || c.Input >= len(n.Inputs) || n.Inputs[c.Input].Col(c.ID) == nil {
		return broken(n, "input %d has no column %d", c.Input, c.ID)
	}
	if structure && n.Inputs[c.Input].Col(c.ID).Dep {
		return broken(n, "structure reads column %d, which depends on a parameter", c.ID)
	}
	return nil
}

func (n *Node) kind(c kernels.Col) kernels.Kind { return n.Inputs[c.Input].Col(c.ID).Type.Kind }
