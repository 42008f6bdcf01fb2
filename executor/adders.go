package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// adding is a form of sum whose rows need not be made one by one.
type adding struct {
	how   string
	vals  []*val  // the results of the tree, in the kind of the sum: scalar factors first
	also  []*val  // columns that are read in place
	index []*val  // those of them that are read through an index
	near  []bool  // which of also something else in the tree has just read
	flops float64 // per row, besides the tree's

	scalars []factor    // by which chunks are weighted
	from    []source    // the chunk, or two of which it is the difference, where they are read in place
	terms   []outerTerm // outer products that are summed instead
}

// addingOf returns the form for sums over large groups of scalars times chunks, of outer products and of matrix products;
// nil for other aggregates. The rows come in an order: that of the groups, or nil where they come as they stand.
func addingOf(l *lowerer, v *val, order *structure.Index) *adding {
	arg := v.args[0]
	if v.fn != ra.Sum && v.fn != ra.GradSum || !v.typ.IsFloat() || arg.typ.Nullable || arg.typ.Size() == 1 {
		return nil
	}
	many := v.grp.In.N >= l.tune.GroupRows*v.grp.Out.N
	if many || v.typ.Size() >= l.tune.PassChunk {
		if terms, ok := outersOf(l, nil, arg, nil); ok {
			return outerSumOf(v, terms)
		}
	}
	if !many {
		return nil
	}
	scalars, core := l.g.factors(arg)
	if len(scalars) == 0 || core.uniform() {
		return nil
	}
	if !l.mat[core] || core.data != nil {
		if a := l.g.sumInPlace(v, order, scalars, core); a != nil {
			return a
		}
	}
	if core.op == vCall && core.data == nil {
		return nil
	}
	return weightedSum(v, scalars, core)
}

var _ = registerForm(form{
	name: "adder",
	match: func(l *lowerer, v *val) (any, error) {
		if v.op != vAgg {
			return nil, nil
		}
		if a := addingOf(l, v, v.grp.Order); a != nil {
			return a, nil
		}
		return nil, nil
	},
	cost: func(l *lowerer, v *val, found any) float64 {
		if from := len(found.(*adding).also); from > 0 { // as SpMM does, a group at a time
			n := float64(v.grp.In.N * v.typ.Size() * from)
			return rate{0.25, 0.12}.of(n, n*float64(kindOf(v.typ).bytes()))
		}
		return l.treeCost(v) / 2 // rows are summed as they are made, and not stored
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := addedInstr(l, v, found.(*adding))
		return []*instr{in}, err
	},
})

// addedInstr makes the instruction of such a sum.
func addedInstr(l *lowerer, v *val, a *adding) (*instr, error) {
	c := newCompiler(l.g, v.grp.Order)
	if err := c.emitSum(v, a); err != nil {
		return nil, err
	}
	c.finish()
	in := &instr{v: v, how: a.how, rows: v.grp.In.N, t: c.t, grp: v.grp, sum: a}
	l.finish(in)
	if a.flops > 0 {
		in.flops += float64(in.rows) * a.flops
		in.cut(l.tune)
	}
	return in, nil
}

// emitSum compiles the factors, then the vals, in the sum's kind.
func (c *compiler) emitSum(v *val, a *adding) error {
	for _, x := range a.vals {
		r, err := c.emit(x, -1)
		if err != nil {
			return err
		}
		c.t.result = append(c.t.result, c.convert(r, kindOf(v.typ)))
	}
	c.t.also, c.sums = append(c.t.also, a.also...), append(c.sums, a)
	c.t.gathers = append(c.t.gathers, a.index...)
	if len(a.also) == 0 {
		c.t.most = chain // sums in single precision run over no more rows
	}
	return nil
}

// nearby notes what the tree reads besides its sums.
func (c *compiler) nearby() {
	read := map[*val]int{}
	for _, v := range c.t.also {
		read[v]++
	}
	for _, o := range c.t.ops {
		read[o.v]++
	}
	for _, a := range c.sums {
		for _, v := range a.also {
			read[v]--
		}
	}
	for _, a := range c.sums {
		for i := range a.near {
			a.near[i] = read[a.also[i]] > 0
		}
	}
}

func factorVals(scalars []factor) []*val {
	out := make([]*val, len(scalars))
	for i, f := range scalars {
		out[i] = f.v
	}
	return out
}

// weightedSum adds weighted chunks without making the products.
func weightedSum(v *val, scalars []factor, chunk *val) *adding {
	return &adding{how: v.fn.String() + " weighted", vals: append(factorVals(scalars), chunk), scalars: scalars}
}

// sumInPlace adds weighted chunks, or differences of two, that are read where they are, through their indexes; nil
// where they are in memory nowhere.
func (g *graph) sumInPlace(v *val, order *structure.Index, scalars []factor, chunk *val) *adding {
	from := sources(chunk)
	if from == nil {
		return nil
	}
	a := &adding{how: v.fn.String() + " in place", vals: factorVals(scalars), near: make([]bool, len(from))}
	for i, x := range from {
		if x.v.data.kind != kindOf(v.typ) {
			return nil
		}
		from[i] = x.in(g, order)
		a.also = append(a.also, x.v)
		if from[i].idx != nil {
			a.index = append(a.index, x.v)
		}
	}
	a.scalars, a.from = scalars, from
	return a
}

// inParts tells that accumulators hold single precision, and double precision only where there are too many rows for it.
func (a *adding) inParts(v *val) bool { return a != nil && a.terms != nil && kindOf(v.typ) == f32 }

// adders are the loops of the sum v; whole is nil where there is no such loop.
func (a *adding) adders(v *val, mem *tray) (add adder, whole wholes) {
	single := kindOf(v.typ) == f32
	switch {
	case a == nil:
		return nil, nil
	case a.inParts(v):
		return addOutersInParts(a.terms, mem, v.typ.Size()), nil
	case a.terms != nil:
		return func(b *block, acc *accum, lo, hi int) { addOuters(b, a.terms, acc.f, 1, lo, hi) }, nil
	case a.from != nil && single:
		return addInPlace[float32](a.scalars, a.from, a.near), sumWholes[float32](a.scalars, a.from, a.near)
	case a.from != nil:
		return addInPlace[float64](a.scalars, a.from, a.near), sumWholes[float64](a.scalars, a.from, a.near)
	case single:
		return addWeighted[float32](a.scalars), nil
	}
	return addWeighted[float64](a.scalars), nil
}

// wholes makes the sums of groups from g on, whose rows begin and end at start and lie in the block, with the bits that
// an adder gives.
type wholes func(b *block, start []int32, out *data, g int)

func sumWholes[T float](scalars []factor, from []source, near []bool) wholes {
	return func(b *block, start []int32, out *data, g int) {
		lo, hi := int(start[0]), int(start[len(start)-1])
		weights := of[T](b.partial(out.kind, b.t.rows))[:hi-lo]
		multiply(b, scalars, weights, lo-b.lo)
		x := inPlace[T](from, near, lo, hi)
		cpu.SpMM(len(start)-1, start, lo, weights, x[0], x[1], out.size, of[T](out)[g*out.size:])
	}
}

// inPlace are the rows lo to hi of one or two columns.
func inPlace[T float](from []source, near []bool, lo, hi int) (x [2]cpu.Rows[T]) {
	for i, s := range from {
		x[i] = cpu.Rows[T]{X: of[T](s.v.data), Near: near[i]}
		if s.idx != nil {
			x[i].At = s.idx.At[lo:hi]
		}
	}
	return x
}

func addInPlace[T float](scalars []factor, from []source, near []bool) adder {
	return func(b *block, a *accum, lo, hi int) {
		sum, size := a.f, len(a.f)
		tmp := of[T](b.partial(from[0].v.data.kind, b.t.rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.rows:b.t.rows+size]
		multiply(b, scalars, weights, lo)
		x := inPlace[T](from, near, b.lo+lo, b.lo+hi)
		cpu.SpMM(1, []int32{int32(b.lo + lo), int32(b.lo + hi)}, b.lo+lo, weights, x[0], x[1], size, part)
		cpu.AddRows(1, size, part, sum)
	}
}

func addWeighted[T float](scalars []factor) adder {
	return func(b *block, a *accum, lo, hi int) {
		sum, size := a.f, len(a.f)
		x, _ := b.result(len(scalars))
		tmp := of[T](b.partial(x.kind, b.t.rows+size))
		weights, part := tmp[:hi-lo], tmp[b.t.rows:b.t.rows+size]
		multiply(b, scalars, weights, lo)
		cpu.SpMM(
			1,
			[]int32{0, int32(hi - lo)},
			0,
			weights,
			cpu.Rows[T]{X: of[T](x)[lo*size : hi*size]},
			cpu.Rows[T]{},
			size,
			part,
		)
		cpu.AddRows(1, size, part, sum)
	}
}

// partial returns the block's space for n elements of the kind; the sums of a pass may be of both.
func (b *block) partial(k kind, n int) *data {
	if k == f32 && len(b.tmp.f32) < n {
		b.tmp.f32 = make([]float32, n)
	}
	if k == f64 && len(b.tmp.f64) < n {
		b.tmp.f64 = make([]float64, n)
	}
	return &b.tmp
}

// multiply writes the product of the scalar factors, which are the first results of the tree, for the
// block's rows from lo on.
func multiply[T float](b *block, scalars []factor, out []T, lo int) {
	n, product, each := len(out), []T{1}, 0
	for i, f := range scalars {
		d, uniform := b.result(i)
		x, step := of[T](d), 0
		if !uniform {
			x, step = x[lo:], 1
		}
		op := cpu.Mul
		if f.divide {
			op = cpu.Div
		}
		if i == 0 && !f.divide {
			product, each = x, step
			continue
		}
		cpu.Binary(op, 1, n, product, 0, each, x, 0, step, out)
		product, each = out, 1
	}
	switch {
	case each == 0:
		for r := range out {
			out[r] = product[0]
		}
	case len(scalars) == 1 && !scalars[0].divide:
		copy(out, product)
	}
}

// outerTerm is xᵀ·y for each row, times scalars; x and y are vectors, or matrices with as many rows.
type outerTerm struct {
	scalars []factor
	x, y    *val
	each    int // rows of a matrix
}

// outersOf splits v, times scalars, into a sum of such terms.
func outersOf(l *lowerer, terms []outerTerm, v *val, scalars []factor) ([]outerTerm, bool) {
	more, core := l.g.factors(v)
	scalars = append(scalars[:len(scalars):len(scalars)], more...)
	if core.op != vCall || core.data != nil || len(terms) > 0 && l.mat[core] {
		return nil, false
	}
	x, y := core.args[0], core.args[len(core.args)-1]
	t := outerTerm{scalars: scalars, x: x, y: y, each: 1}
	switch core.expr.Def.Name {
	case "add":
		if x.typ.Size() != core.typ.Size() || y.typ.Size() != core.typ.Size() {
			return nil, false
		}
		terms, ok := outersOf(l, terms, x, scalars)
		if !ok {
			return nil, false
		}
		return outersOf(l, terms, y, scalars)
	case "outer":
	case "matmul":
		turned := false
		if t.x, turned = untransposed(x); !turned || len(x.typ.Shape) != 2 || len(y.typ.Shape) != 2 {
			return nil, false
		}
		t.each = t.x.typ.Shape[0]
	default:
		return nil, false
	}
	return append(terms, t), !t.x.uniform() && !t.y.uniform()
}

// outerSumOf sums outer products over rows as products of matrices, one of the rows for each term.
func outerSumOf(v *val, terms []outerTerm) *adding {
	a := &adding{how: v.fn.String() + " GEMM", terms: terms}
	for _, t := range terms {
		a.vals = append(append(a.vals, factorVals(t.scalars)...), t.x, t.y)
		a.flops += 2 * float64(t.x.typ.Size()*t.y.typ.Size()/t.each)
	}
	return a
}

// addOutersInParts adds in single precision as long as rows are few enough.
func addOutersInParts(terms []outerTerm, mem *tray, size int) adder {
	return func(b *block, acc *accum, lo, hi int) {
		if acc.rows > 0 && acc.rows+hi-lo > chain {
			acc.settle(mem, size)
		}
		if acc.part == nil {
			acc.part = mem.singles(size)
		}
		addOuters(b, terms, acc.part, min(acc.rows, 1), lo, hi)
		acc.rows += hi - lo
	}
}

// chain is over how many rows sums run in single precision.
const chain = 256

// addOuters adds the sums of all terms to so many times what out holds.
func addOuters[T float](b *block, terms []outerTerm, out []T, keep, lo, hi int) {
	most := 0
	for _, t := range terms {
		if len(t.scalars) > 0 {
			most = max(most, t.y.typ.Size()+1)
		}
	}
	first, _ := b.result(0)
	tmp, base := of[T](b.partial(first.kind, b.t.rows*most)), b.base
	for _, t := range terms {
		addOuter(b, t, out, tmp, keep, lo, hi)
		b.base, keep = b.base+len(t.scalars)+2, 1
	}
	b.base = base
}

// addOuter adds the products of a term, whose cells are the block's next results, to so many times what out holds.
func addOuter[T float](b *block, t outerTerm, out, tmp []T, keep, lo, hi int) {
	dx, _ := b.result(len(t.scalars))
	dy, _ := b.result(len(t.scalars) + 1)
	n, p, q := hi-lo, t.x.typ.Size()/t.each, t.y.typ.Size()/t.each
	width := t.each * q
	x, y := of[T](dx)[lo*t.each*p:hi*t.each*p], of[T](dy)[lo*width:hi*width]
	if len(t.scalars) > 0 {
		w, scaled := tmp[:n], tmp[b.t.rows:b.t.rows+n*width]
		multiply(b, t.scalars, w, lo)
		cpu.Binary(cpu.Mul, n, width, w, 1, 0, y, width, 1, scaled)
		y = scaled
	}
	blas.Gemm(true, false, p, q, n*t.each, x, p, y, q, T(keep), out, q)
}
