package executor

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/tensor"
)

// byRows computes a map of few rows, each a large chunk, over the rows of the chunks: blocks of these stay in the second-level
// cache, and all workers share them. Scores of attention are such chunks.
type byRows struct {
	l    *lowerer
	m    int    // rows of a chunk
	axes int    // of a chunk: the rows of one with fewer lie along another axis
	from *space // of the chunks
	sp   *space // of their rows
	made map[*val]*val
}

// tryByRows makes the instruction of such a map; nil where it is another, or a kernel mixes the rows of a chunk.
func (l *lowerer) tryByRows(v *val) (*instr, error) {
	s := v.typ.Shape
	if v.op != vCall || len(s) < 2 || s[0] < 2 || v.typ.Size() < rowsOfChunks || v.sp.n > 64 || l.structural {
		return nil, nil
	}
	b := &byRows{l: l, m: s[0], axes: len(s), from: v.sp, sp: &space{id: v.sp.id, n: v.sp.n * s[0], vary: v.sp.vary}, made: map[*val]*val{}}
	views := len(l.s.views)
	w, err := b.rowsOf(v)
	if w == nil || err != nil {
		l.s.views = l.s.views[:views]
		return nil, err
	}
	t, err := compile(l.g, nil, w)
	if err != nil {
		return nil, err
	}
	return l.finish(&instr{v: v, how: "map by rows", rows: b.sp.n, by: b.m, t: t}), nil
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
	case len(s) != b.axes || s[0] != b.m || v.sp.n != b.from.n:
		return nil, nil
	}
	w := &val{id: b.l.g.id(), sp: b.sp, typ: v.typ, vary: v.vary} // what is computed once outlives the schedule
	w.typ.Shape = w.typ.Shape[1:]
	if b.made[v] = w; v.data != nil {
		w.op, w.args, w.lay = vLayout, []*val{v}, &layout{view: true}
		w.data = &data{kind: v.data.kind, size: w.typ.Size(), n: b.sp.n}
		b.l.s.views = append(b.l.s.views, w)
		return w, nil
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
		if exprs[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, x.typ); x.op == vConst {
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

// alongRows reports whether a call computes each row of its chunk from the same row of its arguments' chunks, and gives the
// attribute with which it does so for one.
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
	case d.Name == "softmax" || d.Name == "log_softmax":
		return at, true
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
