package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Sums over a residual R = X − A·B distribute over its two parts, where X does not change and the pairs of A's and B's
// rows are a full grid: ΣR·Bᵀ is X·Bᵀ − A·(B·Bᵀ), ΣAᵀ·R is Aᵀ·X − (Aᵀ·A)·B, and Σ|R|² is |X|² − 2⟨X·Bᵀ, A⟩ + ⟨Aᵀ·A,
// B·Bᵀ⟩. Neither A·B nor R is made then: of three large products two remain. distribute_run.go computes them, and tells
// when the difference cannot be trusted; the step then makes the residual after all. See
// docs/adr/0018-sums-by-parts.md.

// distribute finds the residuals whose sums are computed without them.
func distribute(l *lowerer) error {
	if l.structural || l.residuals || l.g.shared == nil || l.g.parent != nil {
		return nil
	}
	for _, v := range slices.Clone(l.order) {
		d := residualOf(l, v)
		if d == nil || !d.pairs(l.g.shared) || !onlyTargets(l, d, d.r) || !onlyTargets(l, d, d.product) || !d.saves(l.tune) {
			continue
		}
		wide, err := l.g.cast(d.x, kernels.Float64)
		if err != nil {
			return err
		}
		if wide, err = l.g.call(kernels.Lookup("sqnorm"), kernels.Attr{}, wide); err != nil {
			return err
		}
		d.norm = l.g.agg(ra.GradSum, wide, kernels.Type{Kind: kernels.Float64}, l.g.All(d.r.sp, l.g.unit))
		l.visit(d.norm)
		if l.distributed == nil {
			l.distributed = map[*val]*distributed{}
		}
		for v := range d.inner {
			l.distributed[v] = d
		}
		for _, t := range d.targets {
			l.distributed[t.v] = d
		}
	}
	return nil
}

// residualOf takes v apart as ±(X − A·B); nil where it is something else.
func residualOf(l *lowerer, v *val) *distributed {
	if v.op != vCall || v.data != nil || v.expr.Def.Name != "sub" || v.typ.Nullable || v.uniform() || v.sp.Dims != nil ||
		v.sp.Varies ||
		len(v.typ.Shape) < 1 ||
		len(v.typ.Shape) > 2 {
		return nil
	}
	d := &distributed{r: v, x: v.args[0], rows: len(v.typ.Shape) == 1, inner: map[*val]bool{v: true}}
	product := v.args[1]
	if d.flip = d.x.vary; d.flip {
		d.x, product = product, d.x
	}
	d.product = product
	for _, a := range v.args {
		if a.uniform() || a.typ.Kind != v.typ.Kind || !slices.Equal(a.typ.Shape, v.typ.Shape) {
			return nil
		}
	}
	if d.x.vary || !product.vary || product.op != vCall || l.isRoot[product] ||
		slices.ContainsFunc(l.uses[product], func(u *val) bool { return u != v && !d.mse(u) }) {
		return nil
	}
	c, full := newSum(l.g, v)
	if !c.split(product, full[len(full)-len(v.typ.Shape):]) || len(c.ops) != 2 || len(c.scalars) > 0 || c.neg ||
		!d.factors(c, full) {
		return nil
	}
	d.inner[product] = true
	return d
}

// newSum is a contraction over the rows of v, with the labels of these, number 0, and of its chunk.
func newSum(g *graph, v *val) (c *contraction, labels []int) {
	c = &contraction{g: g, pairs: v.sp, lens: []int{v.sp.N}}
	labels = []int{0}
	for _, n := range v.typ.Shape {
		labels = append(labels, c.label(n))
	}
	return c, labels
}

// factors notes the two factors of the product, whose labels are the last two of full.
func (d *distributed) factors(c *contraction, full []int) bool {
	untransposeUniform(c)
	shared := slices.DeleteFunc(
		slices.Clone(c.ops[0].inner),
		func(l int) bool { return !slices.Contains(c.ops[1].inner, l) },
	)
	if len(shared) != 1 {
		return false
	}
	k := shared[0]
	d.k = c.lens[k]
	for _, o := range c.ops {
		s := &tiled{v: o.v, idx: o.idx, count: o.v.sp.N}
		switch {
		case len(o.inner) == 2:
			if s.turned = o.inner[0] == k; s.turned {
				s.label = o.inner[1]
			} else {
				s.label = o.inner[0]
			}
			if d.rows && !o.v.uniform() {
				return false
			}
		case d.rows && !o.v.uniform() && o.idx == nil:
			s.label, s.count = 0, 1
		default:
			return false
		}
		at := slices.Index(full[len(full)-2:], s.label)
		if at < 0 || d.sides[at] != nil || o.idx != nil && o.idx.At == nil {
			return false
		}
		s.n = c.lens[s.label]
		d.sides[at] = s
	}
	return true
}

// untransposeUniform takes the matrices that are the same for all rows as they are stored.
func untransposeUniform(c *contraction) {
	for _, o := range c.ops {
		if o.v.uniform() && o.idx == nil && turns(o.v) {
			o.v, o.inner = o.v.args[0], []int{o.inner[1], o.inner[0]}
		}
	}
}

// pairs reports whether each row of A meets each row of B once, and notes where.
func (d *distributed) pairs(p *shared) bool {
	if d.rows {
		return true
	}
	for _, s := range d.sides {
		switch {
		case s.idx != nil:
			s.at = s.idx.At
		case s.v.uniform():
			s.at = make([]int32, d.r.sp.N)
		default:
			s.at = make([]int32, d.r.sp.N)
			for i := range s.at {
				s.at[i] = int32(i)
			}
		}
	}
	a, b := d.sides[0], d.sides[1]
	if a.count*b.count == d.r.sp.N {
		d.tiles = p.pairs(a.at, b.at, a.count, b.count)
	}
	return d.tiles != nil
}

// onlyTargets reports whether all that reads v, which depends on the residual, ends in sums that distribute, and notes
// these.
func onlyTargets(l *lowerer, d *distributed, v *val) bool {
	if l.isRoot[v] {
		return false
	}
	for _, u := range l.uses[v] {
		if d.inner[u] || slices.ContainsFunc(d.targets, func(t *target) bool { return t.v == u }) {
			continue
		}
		if t := d.target(l.g, u); t != nil {
			d.targets = append(d.targets, t)
			continue
		}
		if u.op != vCall || u.data != nil {
			return false
		}
		if d.inner[u] = true; !onlyTargets(l, d, u) {
			return false
		}
	}
	return true
}

// target takes u apart as a sum of squares of the residual, or of its products with A or B; nil where it is something
// else.
func (d *distributed) target(g *graph, u *val) *target {
	var t *target
	switch {
	case u.typ.Nullable || !u.typ.IsFloat():
		return nil
	case u.op == vAgg && (u.fn == ra.Sum || u.fn == ra.GradSum) && u.grp.In == d.r.sp && u.grp.Projection == nil:
		if t = d.squares(g, u); t == nil {
			t = d.gradient(g, u, u.args[0])
		}
	case u.op == vCall && u.data == nil && u.sp == d.r.sp && len(u.typ.Shape) == len(d.r.typ.Shape):
		t = d.gradient(g, u, u)
	}
	if t == nil || slices.ContainsFunc(t.scalars, func(f factor) bool { return f.v.vary || !f.v.uniform() }) {
		return nil // a scalar that changes may wait for the sum itself
	}
	return t
}

// squares is the target of a sum of all squares.
func (d *distributed) squares(g *graph, u *val) *target {
	t := &target{v: u, side: -1}
	e := u.args[0]
	for e.op == vCall && e.typ.Shape == nil {
		a := e.args
		switch name := e.expr.Def.Name; {
		case name == "neg":
			t.neg, e = !t.neg, a[0]
		case name == "cast" && a[0].typ.IsFloat(): // one to an integer rounds
			e = a[0]
		case name == "mul" && a[0].uniform():
			t.scalars, e = append(t.scalars, factor{v: a[0]}), a[1]
		case name == "mul" && a[1].uniform():
			t.scalars, e = append(t.scalars, factor{v: a[1]}), a[0]
		case name == "div" && a[1].uniform():
			t.scalars, e = append(t.scalars, factor{v: a[1], divide: true}), a[0]
		case u.grp.Out.N != 1:
			return nil
		case name == "sqnorm" && d.is(a[0]), name == "dot" && d.is(a[0]) && d.is(a[1]):
			return t
		case name == "mse" && d.mse(e):
			t.scalars = append(t.scalars, factor{v: g.constant(kernels.FloatValue(float64(d.r.typ.Size()))), divide: true})
			return t
		case name == "sum_to" && d.isSquare(a[0]):
			return t
		default:
			return nil
		}
	}
	return nil
}

// is reports whether v is the residual, maybe in double precision.
func (d *distributed) is(v *val) bool {
	return v == d.r || v.op == vCall && v.expr.Def.Name == "cast" && v.args[0] == d.r && v.typ.Kind == kernels.Float64
}

// isSquare reports whether v holds the squares of the residual's elements.
func (d *distributed) isSquare(v *val) bool {
	if v.op == vCall && v.expr.Def.Name == "cast" && v.typ.Kind == kernels.Float64 {
		v = v.args[0]
	}
	return v.op == vCall && (v.expr.Def.Name == "square" || v.expr.Def.Name == "power" && isTwo(v.args[1])) &&
		d.is(v.args[0])
}

// mse reports whether v is the mean of the residual's squares, taken of its two parts.
func (d *distributed) mse(v *val) bool {
	return v.op == vCall && v.expr.Def.Name == "mse" &&
		(v.args[0] == d.x && v.args[1] == d.product || v.args[1] == d.x && v.args[0] == d.product)
}

// gradient is the target of a sum of products e of the residual with one of the factors, which is the other one's
// gradient.
func (d *distributed) gradient(g *graph, u, e *val) *target {
	if e.typ.Kind != d.r.typ.Kind || e.typ.Nullable {
		return nil
	}
	c, out := newSum(g, e)
	if out = out[1:]; !c.split(e, out) || len(c.ops) != 2 {
		return nil
	}
	untransposeUniform(c)
	r, o := c.ops[0], c.ops[1]
	if r.v != d.r {
		r, o = o, r
	}
	with := slices.IndexFunc(d.sides[:], func(s *tiled) bool { return o.v == s.v && o.idx == s.idx })
	if r.v != d.r || r.idx != nil || with < 0 {
		return nil
	}
	labels := r.inner
	if d.rows {
		labels = []int{0, r.inner[0]}
	}
	t := &target{v: u, side: 1 - with, scalars: c.scalars, neg: c.neg}
	along, k := 0, o.inner[0]
	if s := d.sides[with]; s.turned {
		along = o.inner[1]
	} else if s.label != 0 {
		along, k = o.inner[0], o.inner[1]
	}
	if along != labels[with] || k == labels[t.side] || !d.lies(t, out, labels[t.side], k) {
		return nil
	}
	return t
}

// lies finds how the result, whose chunks have the labels out, is the factor's gradient: numbers by the factor's rows
// and k.
func (d *distributed) lies(t *target, out []int, along, k int) bool {
	s := d.sides[t.side]
	if d.rows && t.side == 0 {
		t.row = []int32{0}
		return t.v.op == vCall && slices.Equal(out, []int{k})
	}
	t.turned = slices.Equal(out, []int{k, along})
	switch {
	case !t.turned && !slices.Equal(out, []int{along, k}):
		return false
	case d.rows:
		t.row = []int32{0}
		return t.v.op == vAgg && t.v.grp.Out.N == 1
	case t.v.op == vAgg:
		t.row = t.v.grp.RowsBy(s.at, s.count)
	case s.count == d.r.sp.N && structure.IsIdentity(s.at):
		t.row = s.at
	}
	return t.row != nil
}

// saves reports whether the targets take less work without the residual, and notes whose gradients they are.
func (d *distributed) saves(tune *tuning.Sizes) bool {
	m, n, k := d.size(0), d.size(1), float64(d.k)
	product, now, then := 2*m*n*k, 2*m*n*k, 0.0
	for _, t := range d.targets {
		if t.side >= 0 {
			now += product
			if s := d.sides[t.side]; !s.wanted {
				s.wanted = true
				then += product + 8*d.size(t.side)*k*k // two small products, in double precision
			}
		}
	}
	return then > 0 && then < 0.9*now && now >= tune.DistributeFlops &&
		min(d.sides[0].n, d.sides[1].n) >= tune.DistributeSide
}

// ready reports whether the operands are in memory, in the kind of the residual.
func (d *distributed) ready() bool {
	from, ok := readable(d.x)
	if d.from = from; !ok || d.rows && from.idx != nil {
		return false
	}
	for _, v := range []*val{from.v, d.sides[0].v, d.sides[1].v} {
		if v.data == nil || v.data.kind != kindOf(d.r.typ) || v.data.valid != nil {
			return false
		}
	}
	return d.norm.data != nil
}

// byPartsOf makes the instruction that computes v, or what v is computed for, without the residual, before the first of
// those that do it with the residual; nil where there is none.
func byPartsOf(l *lowerer, v *val) (*instr, error) {
	d := l.distributed[v]
	if d == nil || d.plan != nil {
		return l.byParts[d], nil
	}
	in, err := distributedInstr(l, d)
	if in == nil || err != nil {
		for v := range l.distributed {
			if l.distributed[v] == d {
				delete(l.distributed, v)
			}
		}
		return nil, err
	}
	l.s.steps, l.byParts[d] = append(l.s.steps, in), in
	return in, nil
}

// distributedInstr makes the instruction; nil where an operand is not in memory as it stands.
func distributedInstr(l *lowerer, d *distributed) (*instr, error) {
	if !d.ready() {
		return nil, nil
	}
	c := newCompiler(l.g, nil)
	for _, t := range d.targets {
		for _, f := range t.scalars {
			r, err := c.emit(f.v, -1)
			if err != nil {
				return nil, err
			}
			c.t.result = append(c.t.result, r)
		}
	}
	c.finish()
	c.t.also = []*val{d.from.v, d.sides[0].v, d.sides[1].v, d.norm}
	d.plan = newDistribution(d, l.tune)
	d.work = &val{
		id:   l.g.NewID(),
		op:   vLeaf,
		name: "work",
		sp:   l.g.unit,
		typ:  kernels.Type{Kind: kernels.Float64, Shape: []int{d.plan.words}},
		vary: true,
	}
	l.inArena(d.work)
	in := &instr{v: d.targets[0].v, how: "distributed", rows: d.r.sp.N, t: c.t, form: d}
	in.cut(l.tune)
	l.s.tmp = max(l.s.tmp, c.t.bytes, d.plan.scratch)
	in.flops, in.bytes = d.costs()
	return in, nil
}

// costs are the operations and the bytes that are read and written.
func (d *distributed) costs() (flops, bytes float64) {
	m, n, k := d.size(0), d.size(1), float64(d.k)
	flops, bytes = 4*(m+n)*k*k, m*n
	for i, s := range d.sides {
		if bytes += d.size(i) * k; s.wanted {
			flops += 2*m*n*k + 2*d.size(i)*k*k
			bytes += d.size(i) * k
		}
	}
	return flops, bytes * float64(kindOf(d.r.typ).bytes())
}
