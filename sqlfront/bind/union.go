package bind

import (
	"errors"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// unionQuery binds UNION ALL of any number of branches.
func unionQuery(b *binder, f *place, sel *ast.Select) (*relation, error) {
	if sel.SetOp != "union" || !sel.All {
		return nil, f.fail(sel, sqlerr.FeatureNotSupported, "%s is not differentiable", strings.ToUpper(sel.SetOp)).
			WithHint("UNION ALL is; other set operations may stand in a sub-query that reads no parameter.")
	}
	branches, texts, err := unionBranches(b, f, sel)
	if err != nil {
		return nil, err
	}
	first := branches[0]
	types, known, masked, err := unionTypes(f, sel, branches, texts)
	if err != nil {
		return nil, err
	}
	classes := unionClasses(branches, texts, len(types))
	for i := range types {
		if !known[i] && slices.ContainsFunc(texts, func(q *ast.Select) bool { return textLiteral(q, i, len(types)) }) {
			types[i] = kernels.Type{Kind: kernels.Text, Nullable: types[i].Nullable}
		}
	}
	var inputs []*ra.Node
	for k, r := range branches {
		r, err := typedBranch(b, f, r, texts[k], types, classes, branches)
		if err != nil {
			return nil, err
		}
		n, err := unionBranch(b, r, types, reals(branches), masked)
		if err != nil {
			return nil, f.at(err, sel)
		}
		inputs = append(inputs, n)
	}
	visible := len(types)
	if masked {
		visible++
	}
	n := b.unite(inputs, visible)
	out := &relation{node: n, names: first.names, classes: classes}
	for i := range types {
		out.cols = append(out.cols, n.Cols[i].ID)
	}
	if masked {
		out.mask = n.Cols[len(types)].ID
	}
	return out, nil
}

// unionBranches binds the branches of a UNION ALL, nested ones included.
func unionBranches(b *binder, f *place, sel *ast.Select) (branches []*relation, texts []*ast.Select, err error) {
	var collect func(q *ast.Select) error
	collect = func(q *ast.Select) error {
		if q == sel || q.SetOp == "union" && q.All && len(q.With) == 0 && q.Limit == nil && q.Offset == nil {
			if err := collect(q.L); err != nil {
				return err
			}
			return collect(q.R)
		}
		r, err := b.subSelect(f, q)
		branches, texts = append(branches, r), append(texts, q)
		return err
	}
	err = collect(sel)
	return branches, texts, err
}

// unionTypes are the types of the columns of UNION ALL, of those that some branch gives a type, and whether a branch
// has a mask.
func unionTypes(f *place, sel *ast.Select, branches []*relation,
	texts []*ast.Select) (types []kernels.Type, known []bool, masked bool, err error) {
	first := branches[0]
	types = make([]kernels.Type, len(first.cols))
	known = make([]bool, len(first.cols))
	for k, r := range branches {
		if len(r.cols) != len(first.cols) {
			return nil, nil, false, f.fail(sel, sqlerr.Syntax,
				"each UNION query must have the same number of columns, not %d and %d", len(first.cols), len(r.cols))
		}
		masked = masked || r.mask != 0
		for i, id := range r.cols {
			if nullLiteral(texts[k], i, len(r.cols)) {
				types[i].Nullable = true
				continue
			}
			if textLiteral(texts[k], i, len(r.cols)) {
				continue // of the type of the others
			}
			t, err := unify(types[i], r.node.Col(id).Type, !known[i])
			if err != nil {
				var e *sqlerr.Error
				if errors.As(err, &e) {
					e = e.WithDetail("Column %q is %v in one query and %v in another.", first.names[i], types[i], r.node.Col(id).Type)
				}
				return nil, nil, false, f.at(err, sel)
			}
			types[i], known[i] = t, true
		}
	}
	return types, known, masked, nil
}

// unionClasses are the number classes of the columns of UNION ALL.
func unionClasses(branches []*relation, texts []*ast.Select, n int) []numberClass {
	out := make([]numberClass, n)
	for i := range out {
		known := false
		for k, r := range branches {
			switch {
			case nullLiteral(texts[k], i, n), textLiteral(texts[k], i, n):
			case !known:
				out[i], known = r.class(i), true
			default:
				out[i] = wider(out[i], r.class(i))
			}
		}
	}
	return out
}

// nullLiteral reports whether target i of n is NULL, which takes the type of the other branches.
func nullLiteral(q *ast.Select, i, n int) bool {
	if len(q.Targets) != n {
		return false
	}
	return isNull(q.Targets[i].X)
}

// textLiteral reports whether target i of n is a text literal, which takes the type of the other branches.
func textLiteral(q *ast.Select, i, n int) bool { return len(q.Targets) == n && isText(q.Targets[i].X) }

// typedBranch converts the text literals of a branch to the columns' types.
func typedBranch(b *binder, f *place, r *relation, q *ast.Select, types []kernels.Type, classes []numberClass,
	all []*relation) (*relation, error) {
	var out []ra.OutCol
	changed := false
	s := &scope{b: b, f: f, inputs: []*relation{r}}
	for i, id := range r.cols {
		x := r.node.Var(0, id)
		if textLiteral(q, i, len(r.cols)) {
			var err error
			if x, err = unionText(s, q.Targets[i].X, types[i], classes[i], i, all); err != nil {
				return nil, err
			}
			changed = true
		} else if x.Type.Kind == kernels.Text && types[i].Kind == kernels.Text && x.Type.Of != types[i].Of {
			y, err := toNamed(s, x, types[i].Of)
			if err != nil {
				return nil, err
			}
			changed, x = true, retypedCopy(y, types[i].Of)
		}
		out = append(out, ra.OutCol{Name: r.names[i], X: x})
	}
	if !changed {
		return r, nil
	}
	if r.mask != 0 {
		out = append(out, ra.OutCol{Name: "mask", X: r.node.Var(0, r.mask)})
	}
	n := b.projection(r.node, nil, out)
	typed := &relation{node: n, names: r.names, classes: r.classes}
	for i := range r.cols {
		typed.cols = append(typed.cols, n.Cols[i].ID)
	}
	if r.mask != 0 {
		typed.mask = n.Cols[len(r.cols)].ID
	}
	return typed, nil
}

// unionText is a text literal as a value of column i of a union.
func unionText(s *scope, e ast.Expr, t kernels.Type, c numberClass, i int, all []*relation) (*kernels.Expr, error) {
	if t.Kind != kernels.Text {
		return textAs(s, e, typeName(t, c))
	}
	x, err := s.expr(e)
	if err != nil {
		return nil, err
	}
	args := []*kernels.Expr{x}
	for k, r := range all {
		s.inputs = append(s.inputs, r)
		if y := r.node.Var(k+1, r.cols[i]); !y.IsConst() {
			args = append(args, y)
		}
	}
	err = oneType(s, args, e)
	return args[0], err
}

// unify is the type of a UNION column in two branches.
func unify(a, b kernels.Type, first bool) (kernels.Type, error) {
	if first {
		b.Nullable = b.Nullable || a.Nullable
		return b, nil
	}
	t := a
	switch {
	case a.Kind == b.Kind:
	case a.IsChunk() && b.IsChunk(), a.Kind != kernels.Text && a.Kind != kernels.Bool && b.Kind != kernels.Text &&
		b.Kind != kernels.Bool:
		t.Kind = kernels.Float64
	default:
		return t, sqlerr.New(sqlerr.DatatypeMismatch, "UNION types %v and %v cannot be matched", a, b)
	}
	if a.Kind == kernels.Text && b.Kind == kernels.Text {
		of, err := meet(a.Of, b.Of)
		if err != nil {
			return t, err
		}
		t.Of = of
	} else if t.Of == nil {
		t.Of = b.Of // numerics that cannot be compared
	}
	if !a.Shape.Equal(b.Shape) || (a.Shape == nil) != (b.Shape == nil) {
		return t, sqlerr.New(sqlerr.ArraySubscript, "UNION of different shapes %v and %v", a.Shape, b.Shape)
	}
	t.Nullable = a.Nullable || b.Nullable
	return t, nil
}

// reals tells of each column of a union whether Postgres makes real of it: of reals beside integers and numerics.
func reals(branches []*relation) []bool {
	out := make([]bool, len(branches[0].cols))
	for i := range out {
		all := true
		for _, r := range branches {
			t := r.node.Col(r.cols[i]).Type
			single := t.Kind == kernels.Float32 && t.Shape == nil
			out[i] = out[i] || single
			all = all && (single || t.Kind == kernels.Int || r.class(i) == numericClass || r.isNull(i))
		}
		out[i] = out[i] && all
	}
	return out
}

// unionBranch projects a relation to the union's types; real are the columns of which numbers are rounded to real. The
// mask is its last column.
func unionBranch(b *binder, r *relation, types []kernels.Type, real []bool, masked bool) (*ra.Node, error) {
	var out []ra.OutCol
	for i, id := range r.cols {
		x := r.node.Var(0, id)
		if r.isNull(i) {
			x = kernels.Const(kernels.NullOf(types[i]))
		} else {
			if real[i] && x.Type.Kind != kernels.Float32 && !r.node.Col(id).Dep {
				x = kernels.Build("to_real", x)
			}
			x = kernels.CastTo(types[i].Kind, x)
		}
		out = append(out, ra.OutCol{Name: r.names[i], X: x})
	}
	if masked {
		mask := kernels.Const(kernels.BoolValue(true))
		if r.mask != 0 {
			mask = r.node.Var(0, r.mask)
		}
		out = append(out, ra.OutCol{Name: "mask", X: mask})
	}
	return b.projection(r.node, nil, out), nil
}

// isNull reports whether a column is the constant NULL.
func (r *relation) isNull(i int) bool {
	at := r.node.Index(r.cols[i])
	return r.node.Out != nil && r.node.Out[at].IsConst() && r.node.Out[at].Const.Null
}
