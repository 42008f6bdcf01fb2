package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// byRows computes a map of few rows with large chunks over the rows of the chunks. Blocks of these stay in the
// second-level cache, and all workers share them. Scores of attention are such chunks. Products of chunks with matrices
// that only the map reads are computed by blocks of their rows too, and never written to memory.
type byRows struct {
	l      *Lowerer
	m      int              // rows of a chunk
	axes   int              // axes of a chunk; a chunk with fewer has its rows along another axis
	from   *structure.Space // space of the chunks
	sp     *structure.Space // space of the chunks' rows
	made   map[*values.Val]*values.Val
	of     *structure.Index // maps each row to its chunk
	views  []*values.Val    // views of chunks in memory
	result *values.Val
}

var _ = registerForm(Form{
	Name: "map by rows",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		b, err := byRowsOf(l, v)
		if b == nil || err != nil {
			return nil, err
		}
		return b, nil
	},
	// the blocks stay in the cache, and all workers share them
	Cost: func(l *Lowerer, v *values.Val, _ any) float64 { return l.treeCost(v) / 2 },
	emit: func(l *Lowerer, v *values.Val, found any) ([]*device.Instr, error) {
		in, err := byRowsInstr(l, v, found.(*byRows))
		return []*device.Instr{in}, err
	},
})

// byRowsOf finds what the form needs; nil for other maps, and where a kernel mixes the rows of a chunk.
func byRowsOf(l *Lowerer, v *values.Val) (*byRows, error) {
	s := v.Type.Shape
	if v.Op != values.OpCall || len(s) < 2 || s[0] < 2 || v.Type.Size() < l.Tune.RowsOfChunks || v.Space.N > 64 ||
		l.Structural {
		return nil, nil
	}
	b := &byRows{l: l, m: s[0], axes: len(s), from: v.Space, sp: &structure.Space{ID: v.Space.ID, N: v.Space.N * s[0],
		Varies: v.Space.Varies}, made: map[*values.Val]*values.Val{}}
	w, err := b.rowsOf(v)
	if w == nil || err != nil {
		return nil, err
	}
	b.result = w
	return b, nil
}

// byRowsInstr makes the instruction of such a map.
func byRowsInstr(l *Lowerer, v *values.Val, b *byRows) (*device.Instr, error) {
	w := b.result
	l.s.Views = append(l.s.Views, b.views...)
	results, besides := []*values.Val{w}, productsOf(l, v)
	for _, u := range besides {
		x := &values.Val{ID: l.g.NewID(), Space: b.sp, Type: u.Type, Vary: u.Vary}
		x.Type.Shape = x.Type.Shape[1:]
		if err := b.product(x, u, w); err != nil {
			return nil, err
		}
		results = append(results, x)
		l.besides[u] = true
	}
	t, err := Compile(l.g, nil, results...)
	if err != nil {
		return nil, err
	}
	if least := t.Rows; l.maps[v] || besides != nil {
		for rows := min(l.Tune.RowsOfProduct, b.sp.N/l.Tune.ShareRows); rows > least; rows /= 2 {
			if t.Place(rows); t.Bytes <= l.Tune.ProductScratch {
				break
			}
			t.Place(least)
		}
	}
	in := l.finish(&device.Instr{V: v, How: "map by rows", Rows: b.sp.N, By: b.m, T: t, Besides: besides})
	for _, u := range besides {
		in.Bytes += float64(u.Space.N * u.Type.Size() * column.KindOf(u.Type).Bytes())
	}
	return in, nil
}

// productsOf lists the products of the map v with narrow matrices that are computed before it. Their rows are made from
// its rows while these are in the cache.
func productsOf(l *Lowerer, v *values.Val) (all []*values.Val) {
	for _, u := range l.uses[v] {
		if !large(l, u) || u.Args[0] != v || !l.mat[u] || u.Space != v.Space || !v.Vary ||
			l.distributed[u] != l.distributed[v] || slices.Contains(all, u) {
			continue
		}
		if p := dims(v, u.Args[1]); p.N > l.Tune.NarrowSide || p.K < 2*p.N {
			continue
		}
		m, _ := values.Untransposed(u.Args[1])
		if m.Data != nil && m.Data.Kind() == column.KindOf(v.Type) && !m.Type.Nullable {
			all = append(all, u)
		}
	}
	return all
}

// rowsOf converts v to a column over the rows of the chunks; nil where that is not possible.
func (b *byRows) rowsOf(v *values.Val) (*values.Val, error) {
	if w := b.made[v]; w != nil {
		return w, nil
	}
	switch s := v.Type.Shape; {
	case v.Type.Nullable:
		return nil, nil
	case s == nil && v.Uniform():
		return v, nil
	case len(s) != b.axes || s[0] != b.m || v.Space.N != b.from.N:
		return nil, nil
	}
	w := &values.Val{
		ID:    b.l.g.NewID(),
		Space: b.sp,
		Type:  v.Type,
		Vary:  v.Vary,
	} // what is computed once must outlive the schedule
	w.Type.Shape = w.Type.Shape[1:]
	if b.made[v] = w; v.Data != nil {
		w.Op, w.Args, w.Layout = values.OpLayout, []*values.Val{v}, values.Chunking{Layout: &values.Layout{View: true}}
		w.Data = column.Planned(v.Data.Kind(), b.sp.N, w.Type.Size())
		b.views = append(b.views, w)
		return w, nil
	}
	if l := b.l; l.maps[v] && large(l, v) {
		x, err := b.rowsOf(v.Args[0])
		if x == nil || err != nil {
			return nil, err
		}
		return w, b.product(w, v, x)
	}
	at, ok := alongRows(v)
	if !ok {
		return nil, nil
	}
	exprs := make([]*kernels.Expr, len(v.Args))
	w.Op = values.OpCall
	for i, a := range v.Args {
		x, err := b.rowsOf(a)
		if x == nil || err != nil {
			return nil, err
		}
		w.Args = append(w.Args, x)
		if exprs[i] = operandOf(i, x); x.Op == values.OpConst {
			exprs[i] = kernels.Const(x.Value)
		}
	}
	e, err := kernels.Call(v.Expr.Def, at, exprs...)
	if err != nil {
		return nil, err
	}
	e.Type = b.l.g.KindType(e.Type)
	if w.Expr = e; !e.Type.Shape.Equal(w.Type.Shape) || e.Type.Kind != w.Type.Kind {
		return nil, nil
	}
	return w, nil
}

// product makes w the product v over the rows. Its first operand is x.
func (b *byRows) product(w, v, x *values.Val) (err error) {
	w.Op, w.Args = values.OpCall, []*values.Val{x, b.whole(v.Args[1])}
	w.Expr, err = kernels.Call(v.Expr.Def, v.Expr.Attr, operandOf(0, x), operandOf(1, w.Args[1]))
	return err
}

// alongRows reports whether a call computes each row of its chunk from the same row of its arguments' chunks, and
// returns its attribute for one row.
func alongRows(v *values.Val) (at kernels.Attr, ok bool) {
	if v.Op != values.OpCall {
		return at, false
	}
	d := v.Expr.Def
	at = v.Expr.Attr
	switch {
	case d.PerStep:
		return at, false
	case d.Elem != nil:
		return at, at.Shape == nil
	case d.Lane != nil: // works along the last axis; all arguments have one shape
		return at, !slices.ContainsFunc(v.Args, func(a *values.Val) bool { return !a.Type.Shape.Equal(v.Type.Shape) })
	case d.Name == "sum_to":
		at.Shape = append(tensor.Shape(nil), at.Shape...)
		if in := v.Args[0].Type.Shape; len(at.Shape) != len(in) || at.Shape[0] != in[0] {
			return at, false
		}
		at.Shape = at.Shape[1:]
		return at, true
	}
	return at, false
}

func operandOf(i int, v *values.Val) *kernels.Expr {
	return kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, v.Type)
}

// whole returns the matrix, perhaps transposed, of the chunk to which each row belongs.
func (b *byRows) whole(v *values.Val) *values.Val {
	if v.Uniform() {
		return v
	}
	w := &values.Val{ID: b.l.g.NewID(), Space: b.sp, Type: v.Type, Vary: v.Vary}
	if m, turned := values.Untransposed(v); turned {
		w.Op, w.Args, w.Expr = values.OpCall, []*values.Val{b.whole(m)}, v.Expr
		return w
	}
	if b.of == nil {
		b.of = &structure.Index{ID: b.l.g.NewID(), Dst: b.sp, Src: b.from, At: make([]int32, b.sp.N)}
		for r := range b.of.At {
			b.of.At[r] = int32(r / b.m)
		}
	}
	w.Op, w.Args, w.Index = values.OpGather, []*values.Val{v}, b.of
	return w
}

// onlyMapped reports whether v is a large product that only a map by rows reads, and whose result is wider than the
// sums in it: writing and reading the result would take much of the product's time. It registers product and map.
func onlyMapped(l *Lowerer, v *values.Val) bool {
	if !large(l, v) || l.isRoot[v] || len(l.owners[v]) != 1 || len(v.Type.Shape) != 2 || !ownRows(l, v) {
		return false
	}
	if p := dims(v.Args[0], v.Args[1]); p.K > l.Tune.NarrowSide || p.N < 2*p.K {
		return false
	}
	if m, _ := values.Untransposed(v.Args[1]); m.Data != nil &&
		m.Data.Kind() != column.KindOf(v.Type) { // it would be converted again for each row
		return false
	}
	if slices.ContainsFunc(
		l.uses[v],
		func(u *values.Val) bool { return values.Turned(u) || large(l, u) && u.Args[1] == v },
	) { // it is read as a whole
		return false
	}
	o := l.owners[v][0]
	if s := o.Type.Shape; o.Op != values.OpCall || large(l, o) || o.Vary != v.Vary || len(s) != 2 ||
		s[0] != v.Type.Shape[0] || o.Space != v.Space || s[0] < 2 || s.Size() < l.Tune.RowsOfChunks || o.Space.N > 64 ||
		l.Structural {
		return false
	}
	if !mapsAlongRows(l, o, o, map[*values.Val]bool{}) {
		return false
	}
	l.maps[v], l.maps[o] = true, true
	return true
}

// ownRows reports whether each row of the product v depends on one row of its first operand, which is or will be in
// memory.
func ownRows(l *Lowerer, v *values.Val) bool {
	a := v.Args[0]
	return !values.Turned(a) && len(a.Type.Shape) == 2 && !a.Uniform() && !a.Type.Nullable && !v.Args[1].Type.Nullable
}

// mapsAlongRows reports whether a map by rows can compute v, a part of the map of o. met holds the parts already
// checked.
func mapsAlongRows(l *Lowerer, v, o *values.Val, met map[*values.Val]bool) bool {
	if met[v] {
		return true
	}
	met[v] = true
	switch s := v.Type.Shape; {
	case v.Type.Nullable:
		return false
	case s == nil:
		return v.Uniform()
	case len(s) != 2 || s[0] != o.Type.Shape[0] || v.Space != o.Space:
		return false
	case v.Data != nil || v.Op == values.OpAgg:
		return true
	case large(l, v):
		return ownRows(l, v)
	}
	if _, ok := alongRows(v); !ok {
		return false
	}
	return !slices.ContainsFunc(v.Args, func(a *values.Val) bool { return !mapsAlongRows(l, a, o, met) })
}
