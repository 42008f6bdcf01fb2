package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// byRows computes a map of few rows, each a large chunk, over the rows of the chunks: blocks of these stay in the
// second-level cache, and all workers share them. Scores of attention are such chunks. Products of chunks with matrices
// that only the map reads are made by blocks of their rows too, and never written to memory.
type byRows struct {
	l      *lowerer
	m      int              // rows of a chunk
	axes   int              // of a chunk: the rows of one with fewer lie along another axis
	from   *structure.Space // of the chunks
	sp     *structure.Space // of their rows
	made   map[*val]*val
	of     *structure.Index // the chunk of each row
	views  []*val           // of chunks that are there
	result *val
}

var _ = registerForm(form{
	name: "map by rows",
	match: func(l *lowerer, v *val) (any, error) {
		b, err := byRowsOf(l, v)
		if b == nil || err != nil {
			return nil, err
		}
		return b, nil
	},
	// blocks of rows stay in the cache, and workers share them
	cost: func(l *lowerer, v *val, _ any) float64 { return l.treeCost(v) / 2 },
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := byRowsInstr(l, v, found.(*byRows))
		return []*instr{in}, err
	},
})

// byRowsOf finds such a map; nil where it is another, or a kernel mixes the rows of a chunk.
func byRowsOf(l *lowerer, v *val) (*byRows, error) {
	s := v.typ.Shape
	if v.op != vCall || len(s) < 2 || s[0] < 2 || v.typ.Size() < l.tune.RowsOfChunks || v.sp.N > 64 || l.structural {
		return nil, nil
	}
	b := &byRows{
		l:    l,
		m:    s[0],
		axes: len(s),
		from: v.sp,
		sp:   &structure.Space{ID: v.sp.ID, N: v.sp.N * s[0], Varies: v.sp.Varies},
		made: map[*val]*val{},
	}
	w, err := b.rowsOf(v)
	if w == nil || err != nil {
		return nil, err
	}
	b.result = w
	return b, nil
}

// byRowsInstr makes the instruction of such a map.
func byRowsInstr(l *lowerer, v *val, b *byRows) (*instr, error) {
	w := b.result
	l.s.views = append(l.s.views, b.views...)
	results, besides := []*val{w}, productsOf(l, v)
	for _, u := range besides {
		x := &val{id: l.g.NewID(), sp: b.sp, typ: u.typ, vary: u.vary}
		x.typ.Shape = x.typ.Shape[1:]
		if err := b.product(x, u, w); err != nil {
			return nil, err
		}
		results = append(results, x)
		l.besides[u] = true
	}
	t, err := compile(l.g, nil, results...)
	if err != nil {
		return nil, err
	}
	if least := t.rows; l.maps[v] || besides != nil {
		for rows := min(l.tune.RowsOfProduct, b.sp.N/l.tune.ShareRows); rows > least; rows /= 2 {
			if t.place(rows); t.bytes <= l.tune.ProductScratch {
				break
			}
			t.place(least)
		}
	}
	in := l.finish(&instr{v: v, how: "map by rows", rows: b.sp.N, by: b.m, t: t, besides: besides})
	for _, u := range besides {
		in.bytes += float64(u.sp.N * u.typ.Size() * kindOf(u.typ).bytes())
	}
	return in, nil
}

// productsOf lists the products of the map v with narrow matrices that are in memory before it: their rows are made of
// its rows while these are in the cache.
func productsOf(l *lowerer, v *val) (all []*val) {
	for _, u := range l.uses[v] {
		if !large(l, u) || u.args[0] != v || !l.mat[u] || u.sp != v.sp || !v.vary || l.distributed[u] != l.distributed[v] ||
			slices.Contains(all, u) {
			continue
		}
		if p := dims(v, u.args[1]); p.n > l.tune.NarrowSide || p.k < 2*p.n {
			continue
		}
		if m, _ := untransposed(u.args[1]); m.data != nil && m.data.kind == kindOf(v.typ) && !m.typ.Nullable {
			all = append(all, u)
		}
	}
	return all
}

// rowsOf gives v as a column over the rows of the chunks; nil where it has none.
func (b *byRows) rowsOf(v *val) (*val, error) {
	if w := b.made[v]; w != nil {
		return w, nil
	}
	switch s := v.typ.Shape; {
	case v.typ.Nullable:
		return nil, nil
	case s == nil && v.uniform():
		return v, nil
	case len(s) != b.axes || s[0] != b.m || v.sp.N != b.from.N:
		return nil, nil
	}
	w := &val{id: b.l.g.NewID(), sp: b.sp, typ: v.typ, vary: v.vary} // what is computed once outlives the schedule
	w.typ.Shape = w.typ.Shape[1:]
	if b.made[v] = w; v.data != nil {
		w.op, w.args, w.lay = vLayout, []*val{v}, &layout{view: true}
		w.data = &data{kind: v.data.kind, size: w.typ.Size(), n: b.sp.N}
		b.views = append(b.views, w)
		return w, nil
	}
	if l := b.l; l.maps[v] && large(l, v) {
		x, err := b.rowsOf(v.args[0])
		if x == nil || err != nil {
			return nil, err
		}
		return w, b.product(w, v, x)
	}
	at, ok := alongRows(v)
	if !ok {
		return nil, nil
	}
	exprs := make([]*kernels.Expr, len(v.args))
	w.op = vCall
	for i, a := range v.args {
		x, err := b.rowsOf(a)
		if x == nil || err != nil {
			return nil, err
		}
		w.args = append(w.args, x)
		if exprs[i] = operandOf(i, x); x.op == vConst {
			exprs[i] = kernels.Const(x.konst)
		}
	}
	e, err := kernels.Call(v.expr.Def, at, exprs...)
	if err != nil {
		return nil, err
	}
	e.Type = b.l.g.kindType(e.Type)
	if w.expr = e; !e.Type.Shape.Equal(w.typ.Shape) || e.Type.Kind != w.typ.Kind {
		return nil, nil
	}
	return w, nil
}

// product makes w the product v over the rows, whose first operand is x.
func (b *byRows) product(w, v, x *val) (err error) {
	w.op, w.args = vCall, []*val{x, b.whole(v.args[1])}
	w.expr, err = kernels.Call(v.expr.Def, v.expr.Attr, operandOf(0, x), operandOf(1, w.args[1]))
	return err
}

// alongRows reports whether a call computes each row of its chunk from the same row of its arguments' chunks, and gives
// the attribute with which it does so for one.
func alongRows(v *val) (at kernels.Attr, ok bool) {
	if v.op != vCall {
		return at, false
	}
	d := v.expr.Def
	at = v.expr.Attr
	switch {
	case d.PerStep:
		return at, false
	case d.Elem != nil:
		return at, at.Shape == nil
	case d.Lane != nil: // over the last axis, of arguments of one shape
		return at, !slices.ContainsFunc(v.args, func(a *val) bool { return !a.typ.Shape.Equal(v.typ.Shape) })
	case d.Name == "sum_to":
		at.Shape = append(tensor.Shape(nil), at.Shape...)
		if in := v.args[0].typ.Shape; len(at.Shape) != len(in) || at.Shape[0] != in[0] {
			return at, false
		}
		at.Shape = at.Shape[1:]
		return at, true
	}
	return at, false
}

func operandOf(i int, v *val) *kernels.Expr {
	return kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, v.typ)
}

// whole gives the matrix of each row's chunk, maybe transposed, over the rows.
func (b *byRows) whole(v *val) *val {
	if v.uniform() {
		return v
	}
	w := &val{id: b.l.g.NewID(), sp: b.sp, typ: v.typ, vary: v.vary}
	if m, turned := untransposed(v); turned {
		w.op, w.args, w.expr = vCall, []*val{b.whole(m)}, v.expr
		return w
	}
	if b.of == nil {
		b.of = &structure.Index{ID: b.l.g.NewID(), Dst: b.sp, Src: b.from, At: make([]int32, b.sp.N)}
		for r := range b.of.At {
			b.of.At[r] = int32(r / b.m)
		}
	}
	w.op, w.args, w.idx = vGather, []*val{v}, b.of
	return w
}

// onlyMapped reports whether v is a large product that nothing but a map by rows reads, and whose result is wider than
// what it sums: to write that and read it again takes a good part of the time of the product. It notes the product and
// the map.
func onlyMapped(l *lowerer, v *val) bool {
	if !large(l, v) || l.isRoot[v] || len(l.owners[v]) != 1 || len(v.typ.Shape) != 2 || !ownRows(l, v) {
		return false
	}
	if p := dims(v.args[0], v.args[1]); p.k > l.tune.NarrowSide || p.n < 2*p.k {
		return false
	}
	if m, _ := untransposed(v.args[1]); m.data != nil &&
		m.data.kind != kindOf(v.typ) { // it would be converted for each row
		return false
	}
	if slices.ContainsFunc(
		l.uses[v],
		func(u *val) bool { return turns(u) || large(l, u) && u.args[1] == v },
	) { // it is read whole
		return false
	}
	o := l.owners[v][0]
	if s := o.typ.Shape; o.op != vCall || large(l, o) || o.vary != v.vary || len(s) != 2 || s[0] != v.typ.Shape[0] ||
		o.sp != v.sp ||
		s[0] < 2 ||
		s.Size() < l.tune.RowsOfChunks ||
		o.sp.N > 64 ||
		l.structural {
		return false
	}
	if !mapsAlongRows(l, o, o, map[*val]bool{}) {
		return false
	}
	l.maps[v], l.maps[o] = true, true
	return true
}

// ownRows reports whether each row of the product v is made of a row of its first operand, which is in memory or will
// be.
func ownRows(l *lowerer, v *val) bool {
	a := v.args[0]
	return !turns(a) && len(a.typ.Shape) == 2 && !a.uniform() && !a.typ.Nullable && !v.args[1].typ.Nullable
}

// mapsAlongRows reports whether a map by rows can compute v, a part of the map of o, beside those that it has met.
func mapsAlongRows(l *lowerer, v, o *val, met map[*val]bool) bool {
	if met[v] {
		return true
	}
	met[v] = true
	switch s := v.typ.Shape; {
	case v.typ.Nullable:
		return false
	case s == nil:
		return v.uniform()
	case len(s) != 2 || s[0] != o.typ.Shape[0] || v.sp != o.sp:
		return false
	case v.data != nil || v.op == vAgg:
		return true
	case large(l, v):
		return ownRows(l, v)
	}
	if _, ok := alongRows(v); !ok {
		return false
	}
	for _, a := range v.args {
		if !mapsAlongRows(l, a, o, met) {
			return false
		}
	}
	return true
}
