package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Sums over a residual R = X − A·B distribute over its two parts, where X does not change and the pairs of A's and B's
// rows are a full grid: ΣR·Bᵀ is X·Bᵀ − A·(B·Bᵀ), ΣAᵀ·R is Aᵀ·X − (Aᵀ·A)·B, and Σ|R|² is |X|² − 2⟨X·Bᵀ, A⟩ + ⟨Aᵀ·A,
// B·Bᵀ⟩. Neither A·B nor R is made then: of three large products two remain. device/cpu/run_parts.go computes them, and
// tells when the difference cannot be trusted; the step then makes the residual after all. See
// docs/adr/0018-sums-by-parts.md.

// distribute finds the residuals whose sums are computed without them.
func distribute(l *Lowerer) error {
	if l.Structural || l.Residuals || l.g.Shared == nil || l.g.Parent != nil {
		return nil
	}
	for _, v := range slices.Clone(l.order) {
		d := residualOf(l, v)
		if d == nil || !pairsOf(d, l.g.Shared) || !onlyTargets(l, d, d.R) || !onlyTargets(l, d, d.Product) ||
			!saves(d, l.Tune) {
			continue
		}
		wide, err := l.g.Cast(d.X, kernels.Float64)
		if err != nil {
			return err
		}
		if wide, err = l.g.Call(kernels.Lookup("sqnorm"), kernels.Attr{}, wide); err != nil {
			return err
		}
		d.Norm = l.g.Agg(ra.GradSum, wide, kernels.Type{Kind: kernels.Float64}, l.g.All(d.R.Space, l.g.Unit))
		l.visit(d.Norm)
		if l.distributed == nil {
			l.distributed = map[*values.Val]*device.Distributed{}
		}
		for v := range d.Inner {
			l.distributed[v] = d
		}
		for _, t := range d.Targets {
			l.distributed[t.V] = d
		}
	}
	return nil
}

// residualOf takes v apart as ±(X − A·B); nil where it is something else.
func residualOf(l *Lowerer, v *values.Val) *device.Distributed {
	if v.Op != values.OpCall || v.Data != nil || v.Expr.Def.Name != "sub" || v.Type.Nullable || v.Uniform() ||
		v.Space.Dims != nil || v.Space.Varies || len(v.Type.Shape) < 1 || len(v.Type.Shape) > 2 {
		return nil
	}
	d := &device.Distributed{R: v, X: v.Args[0], Rows: len(v.Type.Shape) == 1, Inner: map[*values.Val]bool{v: true}}
	product := v.Args[1]
	if d.Flip = d.X.Vary; d.Flip {
		d.X, product = product, d.X
	}
	d.Product = product
	for _, a := range v.Args {
		if a.Uniform() || a.Type.Kind != v.Type.Kind || !slices.Equal(a.Type.Shape, v.Type.Shape) {
			return nil
		}
	}
	if d.X.Vary || !product.Vary || product.Op != values.OpCall || l.isRoot[product] ||
		slices.ContainsFunc(l.uses[product], func(u *values.Val) bool { return u != v && !meanSquared(d, u) }) {
		return nil
	}
	c, full := newSum(l.g, v)
	if !c.Split(product, full[len(full)-len(v.Type.Shape):]) || len(c.Ops) != 2 || len(c.Scalars) > 0 || c.Neg ||
		!findFactors(d, c, full) {
		return nil
	}
	d.Inner[product] = true
	return d
}

// newSum is a contraction over the rows of v, with the labels of these, number 0, and of its chunk.
func newSum(g *values.Graph, v *values.Val) (c *values.Contraction, labels []int) {
	c = &values.Contraction{G: g, Pairs: v.Space}
	labels = []int{c.Label(v.Space.N)}
	for _, n := range v.Type.Shape {
		labels = append(labels, c.Label(n))
	}
	return c, labels
}

// findFactors notes the two factors of the product, whose labels are the last two of full.
func findFactors(d *device.Distributed, c *values.Contraction, full []int) bool {
	untransposeUniform(c)
	shared := slices.DeleteFunc(slices.Clone(c.Ops[0].Inner),
		func(l int) bool { return !slices.Contains(c.Ops[1].Inner, l) })
	if len(shared) != 1 {
		return false
	}
	k := shared[0]
	d.K = c.Lens[k]
	for _, o := range c.Ops {
		s := &device.Tiled{V: o.V, Idx: o.Idx, Count: o.V.Space.N}
		switch {
		case len(o.Inner) == 2:
			if s.Turned = o.Inner[0] == k; s.Turned {
				s.Label = o.Inner[1]
			} else {
				s.Label = o.Inner[0]
			}
			if d.Rows && !o.V.Uniform() {
				return false
			}
		case d.Rows && !o.V.Uniform() && o.Idx == nil:
			s.Label, s.Count = 0, 1
		default:
			return false
		}
		at := slices.Index(full[len(full)-2:], s.Label)
		if at < 0 || d.Sides[at] != nil || o.Idx != nil && o.Idx.At == nil {
			return false
		}
		s.N = c.Lens[s.Label]
		d.Sides[at] = s
	}
	return true
}

// untransposeUniform takes the matrices that are the same for all rows as they are stored.
func untransposeUniform(c *values.Contraction) {
	for _, o := range c.Ops {
		if o.V.Uniform() && o.Idx == nil && values.Turned(o.V) {
			o.V, o.Inner = o.V.Args[0], []int{o.Inner[1], o.Inner[0]}
		}
	}
}

// pairsOf reports whether each row of A meets each row of B once, and notes where.
func pairsOf(d *device.Distributed, p *values.Shared) bool {
	if d.Rows {
		return true
	}
	for _, s := range d.Sides {
		switch {
		case s.Idx != nil:
			s.At = s.Idx.At
		case s.V.Uniform():
			s.At = make([]int32, d.R.Space.N)
		default:
			s.At = make([]int32, d.R.Space.N)
			for i := range s.At {
				s.At[i] = int32(i)
			}
		}
	}
	if a, b := d.Sides[0], d.Sides[1]; a.Count*b.Count == d.R.Space.N {
		d.Tiles = p.Pairs(a.At, b.At, a.Count, b.Count)
	}
	return d.Tiles != nil
}

// onlyTargets reports whether all that reads v, which depends on the residual, ends in sums that distribute, and notes
// these.
func onlyTargets(l *Lowerer, d *device.Distributed, v *values.Val) bool {
	if l.isRoot[v] {
		return false
	}
	for _, u := range l.uses[v] {
		if d.Inner[u] || slices.ContainsFunc(d.Targets, func(t *device.Target) bool { return t.V == u }) {
			continue
		}
		if t := targetOf(d, l.g, u); t != nil {
			d.Targets = append(d.Targets, t)
			continue
		}
		if u.Op != values.OpCall || u.Data != nil {
			return false
		}
		if d.Inner[u] = true; !onlyTargets(l, d, u) {
			return false
		}
	}
	return true
}

// targetOf takes u apart as a sum of squares of the residual, or of its products with A or B; nil where it is something
// else.
func targetOf(d *device.Distributed, g *values.Graph, u *values.Val) *device.Target {
	var t *device.Target
	switch {
	case u.Type.Nullable || !u.Type.IsFloat():
		return nil
	case u.Op == values.OpAgg && (u.Fn == ra.Sum || u.Fn == ra.GradSum) && u.Groups.In == d.R.Space &&
		u.Groups.Projection == nil:
		if t = squaresOf(d, g, u); t == nil {
			t = gradientOf(d, g, u, u.Args[0])
		}
	case u.Op == values.OpCall && u.Data == nil && u.Space == d.R.Space && len(u.Type.Shape) == len(d.R.Type.Shape):
		t = gradientOf(d, g, u, u)
	}
	if t == nil || slices.ContainsFunc(t.Scalars, func(f values.Factor) bool { return f.V.Vary || !f.V.Uniform() }) {
		return nil // a scalar that changes may wait for the sum itself
	}
	return t
}

// squaresOf is the target of a sum of all squares.
func squaresOf(d *device.Distributed, g *values.Graph, u *values.Val) *device.Target {
	t := &device.Target{V: u, Side: -1}
	e := u.Args[0]
	for e.Op == values.OpCall && e.Type.Shape == nil {
		a := e.Args
		switch name := e.Expr.Def.Name; {
		case name == "neg":
			t.Neg, e = !t.Neg, a[0]
		case name == "cast" && a[0].Type.IsFloat(): // one to an integer rounds
			e = a[0]
		case name == "mul" && a[0].Uniform():
			t.Scalars, e = append(t.Scalars, values.Factor{V: a[0]}), a[1]
		case name == "mul" && a[1].Uniform():
			t.Scalars, e = append(t.Scalars, values.Factor{V: a[1]}), a[0]
		case name == "div" && a[1].Uniform():
			t.Scalars, e = append(t.Scalars, values.Factor{V: a[1], Divide: true}), a[0]
		case u.Groups.Out.N != 1:
			return nil
		case name == "sqnorm" && isResidual(d, a[0]), name == "dot" && isResidual(d, a[0]) && isResidual(d, a[1]):
			return t
		case name == "mse" && meanSquared(d, e):
			t.Scalars = append(t.Scalars,
				values.Factor{V: g.Constant(kernels.FloatValue(float64(d.R.Type.Size()))), Divide: true})
			return t
		case name == "sum_to" && isSquare(d, a[0]):
			return t
		default:
			return nil
		}
	}
	return nil
}

// isResidual reports whether v is the residual, maybe in double precision.
func isResidual(d *device.Distributed, v *values.Val) bool {
	return v == d.R ||
		v.Op == values.OpCall && v.Expr.Def.Name == "cast" && v.Args[0] == d.R && v.Type.Kind == kernels.Float64
}

// isSquare reports whether v holds the squares of the residual's elements.
func isSquare(d *device.Distributed, v *values.Val) bool {
	if v.Op == values.OpCall && v.Expr.Def.Name == "cast" && v.Type.Kind == kernels.Float64 {
		v = v.Args[0]
	}
	return v.Op == values.OpCall &&
		(v.Expr.Def.Name == "square" || v.Expr.Def.Name == "power" && values.IsTwo(v.Args[1])) && isResidual(d, v.Args[0])
}

// meanSquared reports whether v is the mean of the residual's squares, taken of its two parts.
func meanSquared(d *device.Distributed, v *values.Val) bool {
	return v.Op == values.OpCall && v.Expr.Def.Name == "mse" &&
		(v.Args[0] == d.X && v.Args[1] == d.Product || v.Args[1] == d.X && v.Args[0] == d.Product)
}

// gradientOf is the target of a sum of products e of the residual with one of the factors, which is the other one's
// gradient.
func gradientOf(d *device.Distributed, g *values.Graph, u, e *values.Val) *device.Target {
	if e.Type.Kind != d.R.Type.Kind || e.Type.Nullable {
		return nil
	}
	c, out := newSum(g, e)
	if out = out[1:]; !c.Split(e, out) || len(c.Ops) != 2 {
		return nil
	}
	untransposeUniform(c)
	r, o := c.Ops[0], c.Ops[1]
	if r.V != d.R {
		r, o = o, r
	}
	with := slices.IndexFunc(d.Sides[:], func(s *device.Tiled) bool { return o.V == s.V && o.Idx == s.Idx })
	if r.V != d.R || r.Idx != nil || with < 0 {
		return nil
	}
	labels := r.Inner
	if d.Rows {
		labels = []int{0, r.Inner[0]}
	}
	t := &device.Target{V: u, Side: 1 - with, Scalars: c.Scalars, Neg: c.Neg}
	along, k := 0, o.Inner[0]
	if s := d.Sides[with]; s.Turned {
		along = o.Inner[1]
	} else if s.Label != 0 {
		along, k = o.Inner[0], o.Inner[1]
	}
	if along != labels[with] || k == labels[t.Side] || !liesAs(d, t, out, labels[t.Side], k) {
		return nil
	}
	return t
}

// liesAs finds how the result, whose chunks have the labels out, is the factor's gradient: numbers by the factor's rows
// and k.
func liesAs(d *device.Distributed, t *device.Target, out []int, along, k int) bool {
	s := d.Sides[t.Side]
	if d.Rows && t.Side == 0 {
		t.Row = []int32{0}
		return t.V.Op == values.OpCall && slices.Equal(out, []int{k})
	}
	t.Turned = slices.Equal(out, []int{k, along})
	switch {
	case !t.Turned && !slices.Equal(out, []int{along, k}):
		return false
	case d.Rows:
		t.Row = []int32{0}
		return t.V.Op == values.OpAgg && t.V.Groups.Out.N == 1
	case t.V.Op == values.OpAgg:
		t.Row = t.V.Groups.RowsBy(s.At, s.Count)
	case s.Count == d.R.Space.N && structure.IsIdentity(s.At):
		t.Row = s.At
	}
	return t.Row != nil
}

// saves reports whether the targets take less work without the residual, and notes whose gradients they are.
func saves(d *device.Distributed, tune *tuning.Sizes) bool {
	m, n, k := d.Size(0), d.Size(1), float64(d.K)
	product, now, then := 2*m*n*k, 2*m*n*k, 0.0
	for _, t := range d.Targets {
		if t.Side >= 0 {
			now += product
			if s := d.Sides[t.Side]; !s.Wanted {
				s.Wanted = true
				then += product + 8*d.Size(t.Side)*k*k // two small products, in double precision
			}
		}
	}
	return then > 0 && then < 0.9*now && now >= tune.DistributeFlops &&
		min(d.Sides[0].N, d.Sides[1].N) >= tune.DistributeSide
}

// ready reports whether the operands are in memory, in the kind of the residual.
func ready(d *device.Distributed) bool {
	from, ok := readable(d.X)
	if d.From = from; !ok || d.Rows && from.Idx != nil {
		return false
	}
	return !slices.ContainsFunc([]*values.Val{from.V, d.Sides[0].V, d.Sides[1].V}, func(v *values.Val) bool {
		return v.Data == nil || v.Data.Kind() != column.KindOf(d.R.Type) || v.Data.Valid() != nil
	}) && d.Norm.Data != nil
}

// byPartsOf makes the instruction that computes v, or what v is computed for, without the residual, before the first of
// those that do it with the residual; nil where there is none.
func byPartsOf(l *Lowerer, v *values.Val) (*device.Instr, error) {
	d := l.distributed[v]
	if d == nil || d.Plan != nil {
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
	l.s.Steps, l.byParts[d] = append(l.s.Steps, in), in
	return in, nil
}

// distributedInstr makes the instruction; nil where an operand is not in memory as it stands.
func distributedInstr(l *Lowerer, d *device.Distributed) (*device.Instr, error) {
	if !ready(d) {
		return nil, nil
	}
	c := newCompiler(l.g, nil)
	for _, t := range d.Targets {
		for _, f := range t.Scalars {
			r, err := c.emit(f.V, -1)
			if err != nil {
				return nil, err
			}
			c.t.Result = append(c.t.Result, r)
		}
	}
	c.finish(0)
	c.t.Also = []*values.Val{d.From.V, d.Sides[0].V, d.Sides[1].V, d.Norm}
	d.Plan = newDistribution(d, l.Tune)
	d.Work = &values.Val{ID: l.g.NewID(), Op: values.OpLeaf, Name: "work", Space: l.g.Unit,
		Type: kernels.Type{Kind: kernels.Float64, Shape: []int{d.Plan.Words}}, Vary: true}
	l.inArena(d.Work)
	in := &device.Instr{V: d.Targets[0].V, How: "distributed", Rows: d.R.Space.N, T: c.t, Form: d}
	in.Cut(l.Tune)
	l.s.Tmp = max(l.s.Tmp, c.t.Bytes, d.Plan.Scratch)
	in.Flops, in.Bytes = partsCosts(d)
	return in, nil
}

// partsCosts are the operations and the bytes that are read and written.
func partsCosts(d *device.Distributed) (flops, bytes float64) {
	m, n, k := d.Size(0), d.Size(1), float64(d.K)
	flops, bytes = 4*(m+n)*k*k, m*n
	for i, s := range d.Sides {
		if bytes += d.Size(i) * k; s.Wanted {
			flops += 2*m*n*k + 2*d.Size(i)*k*k
			bytes += d.Size(i) * k
		}
	}
	return flops, bytes * float64(column.KindOf(d.R.Type).Bytes())
}
