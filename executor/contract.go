package executor

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// A sum over a grid of products of two columns is a product of matrices, whatever chunks the columns are stored in: the
// directions in which their numbers run, over keys and within chunks, are the labels of an einsum. (TRA's Tile and
// Concat, Yuan et al. 2021; EinDecomp chooses such chunkings for a whole query, here each product gets the one that
// costs least.)

// Numbers of multiplications of one pair from which the products of the pairs are as good: where the pairs are not
// listed, and where they are there with data that would be copied.
const (
	pairWork  = 1 << 22
	chunkWork = 1 << 17
)

// contraction is a sum of products of the columns that ops read, over a grid.
type contraction struct {
	g       *graph
	pairs   *structure.Space
	lens    []int // of the labels: the dims of the grid, then the directions within chunks
	ops     []*operand
	scalars []factor // the same for all rows
	neg     bool
}

// operand is a column, its labels in the chunk, and the rows of the grid that it is read in.
type operand struct {
	v     *val
	idx   *structure.Index // nil: row r in row r
	inner []int
	proj  *structure.Projection // of the grid; nil: the same in all rows
}

func (c *contraction) label(n int) int { c.lens = append(c.lens, n); return len(c.lens) - 1 }

// product computes a sum over a grid, whose rows grp groups (nil: the rows are not summed), as a product of matrices;
// nil for another sum.
func (g *graph) product(v *val, t kernels.Type, grp *structure.Groups) (*val, error) {
	if g.shared == nil || g.wide && !g.shared.double || g.parent != nil || !v.typ.IsFloat() || v.typ.Nullable || t.Nullable ||
		len(v.typ.Shape) > 2 ||
		v.uniform() {
		return nil, nil
	}
	c := &contraction{g: g, pairs: v.sp}
	if v.sp.Varies || grp != nil && (grp.Varies() || grp.In != v.sp) {
		return nil, nil
	}
	var out []int
	for range v.typ.Shape {
		out = append(out, -1)
	}
	dims, sum, err := c.directions(v, grp, &out)
	if dims == nil || err != nil {
		return nil, err
	}
	m, ok := c.matrices(dims, sum, out)
	if !ok ||
		grp == nil && c.pairs.Dims != nil && len(m.batch) > 0 { // whoever sums over the keys in common will ask again
		return nil, nil
	}
	return m.compute(v, t, grp)
}

// directions splits v into operands and finds the grid: its dims and those of the result. out gets the labels of v's
// chunk.
func (c *contraction) directions(
	v *val,
	grp *structure.Groups,
	out *[]int,
) (dims []int, result *structure.Projection, err error) {
	const most = 6 // dims
	grid := c.pairs.Dims
	c.lens = make([]int, max(len(grid), 2), most+8)
	if len(grid) > most {
		return nil, nil, nil
	}
	for i, n := range v.typ.Shape {
		(*out)[i] = c.label(n)
	}
	if !c.split(v, *out) {
		return nil, nil, nil
	}
	if err := c.merge(); len(c.ops) != 2 || err != nil {
		return nil, nil, err
	}
	each := 1.0
	for _, n := range c.lens[max(len(grid), 2):] {
		each *= float64(n)
	}
	if float64(c.pairs.N)*each < float64(c.g.Env.Tune.GridWork) || each >= pairWork && grid != nil ||
		each >= chunkWork && grid == nil && !c.direct(grp) {
		return nil, nil, nil
	}
	if grid == nil {
		return c.foundGrid(grp)
	}
	if grp != nil && grp.Projection == nil && grp.Out.N != 1 {
		return nil, nil, nil
	}
	for d := range grid {
		c.lens[d], dims = grid[d].N, append(dims, d)
	}
	switch result = (&structure.Projection{}); {
	case grp == nil && c.pairs.N > structure.MaxRows:
		return nil, nil, nil
	case grp == nil:
		result.Dims = dims
	case grp.Projection != nil:
		result = grp.Projection
	}
	for _, o := range c.ops {
		switch {
		case o.idx != nil && (o.idx.Projection == nil || o.idx.Projection.Back):
			return nil, nil, nil
		case o.idx != nil:
			o.proj = o.idx.Projection
		case !o.v.uniform():
			o.proj = &structure.Projection{Dims: dims}
		}
	}
	return dims, result, nil
}

// direct reports whether rows that are there are summed, all of them, and are read through nothing.
func (c *contraction) direct(grp *structure.Groups) bool {
	if c.pairs.Dims != nil || grp == nil || grp.Out.N != 1 || grp.Order != nil {
		return false
	}
	for _, o := range c.ops {
		if o.idx != nil || o.v.uniform() {
			return false
		}
	}
	return true
}

// foundGrid finds the grid of rows that are there: all pairs of two things that the rows are read through or grouped
// by.
func (c *contraction) foundGrid(grp *structure.Groups) (dims []int, result *structure.Projection, err error) {
	var by [][]int32
	var size []int
	find := func(at []int32, n int) int {
		for i, x := range by {
			if n == size[i] && structure.EqualInts(x, at) {
				return i
			}
		}
		by, size = append(by, at), append(size, n)
		return len(by) - 1
	}
	at := make([]int, len(c.ops))
	for i, o := range c.ops {
		if at[i] = -1; o.idx != nil && o.idx.At != nil {
			at[i] = find(o.idx.At, o.idx.Src.N)
		} else if o.idx != nil {
			return nil, nil, nil
		}
	}
	to := -1
	if grp != nil && grp.Codes != nil {
		to = find(grp.Codes, grp.Out.N)
	}
	if c.direct(grp) {
		by0 := &structure.Projection{Dims: []int{0}}
		for _, o := range c.ops {
			if !o.v.uniform() {
				o.proj = by0
			}
		}
		c.lens[0] = c.pairs.N
		return []int{0}, &structure.Projection{}, nil
	}
	if len(by) != 2 || size[0]*size[1] != c.pairs.N {
		return nil, nil, nil
	}
	if before(by[1], by[0]) { // in one order, whoever asks, so that all find the same matrix
		slices.Reverse(by)
		slices.Reverse(size)
		for i, k := range at {
			if k >= 0 {
				at[i] = 1 - k
			}
		}
		if to >= 0 {
			to = 1 - to
		}
	}
	table := c.g.shared.pairs(by[0], by[1], size[0], size[1])
	if table == nil {
		return nil, nil, nil
	}
	whole := &structure.Projection{Dims: []int{0, 1}, Table: table}
	side := func(k int) *structure.Projection {
		if k < 0 {
			return whole
		}
		return &structure.Projection{Dims: []int{k}}
	}
	copy(c.lens, size)
	for i, o := range c.ops {
		if !o.v.uniform() {
			o.proj = side(at[i])
		}
	}
	switch {
	case grp == nil:
		result = whole
	case to >= 0:
		result = side(to)
	case grp.Out.N == 1:
		result = &structure.Projection{}
	default:
		return nil, nil, nil
	}
	return []int{0, 1}, result, nil
}

// before orders two columns of numbers: one that changes less often from row to row comes first.
func before(a, b []int32) bool {
	x, y := a[1] == a[0], b[1] == b[0]
	if x != y {
		return x
	}
	return structure.SampleHash(a) < structure.SampleHash(b)
}

// pairs lists the row of each pair of a number below n in a and one below m in b; nil where some pair is not in exactly
// one row.
func (p *shared) pairs(a, b []int32, n, m int) []int32 {
	key := [4]int{len(a), n, m, int(structure.SampleHash(a) ^ 3*structure.SampleHash(b))}
	for _, f := range p.foundPairs[key] {
		if structure.EqualInts(f.a, a) && structure.EqualInts(f.b, b) {
			return f.table
		}
	}
	table := make([]int32, n*m)
	structure.Fill(table, -1)
	for r := range a {
		if a[r] < 0 || b[r] < 0 || table[int(a[r])*m+int(b[r])] >= 0 {
			table = nil
			break
		}
		table[int(a[r])*m+int(b[r])] = int32(r)
	}
	p.foundPairs[key] = append(p.foundPairs[key], foundPairs{a, b, table})
	return table
}

type foundPairs struct{ a, b, table []int32 }

// split takes v, whose chunk has these labels, apart into operands.
func (c *contraction) split(v *val, labels []int) bool {
	if v.typ.Nullable || !v.typ.IsFloat() {
		return false
	}
	if v.uniform() && v.typ.Shape == nil {
		c.scalars = append(c.scalars, factor{v: v})
		return true
	}
	if v.op == vCall && !v.uniform() {
		ops, n, scalars, neg := len(c.ops), len(c.lens), len(c.scalars), c.neg
		if c.splitCall(v, labels) {
			return true
		}
		c.ops, c.lens, c.scalars, c.neg = c.ops[:ops], c.lens[:n], c.scalars[:scalars], neg
	}
	o := &operand{v: v, inner: labels}
	switch {
	case v.op == vConst || len(v.typ.Shape) > 2:
		return false
	case v.op == vGather && v.sp == c.pairs:
		if o.v, o.idx = v.args[0], v.idx; o.idx.Missing || o.idx.Varies() {
			return false
		}
	case !v.uniform() && (v.sp != c.pairs || c.pairs.Dims != nil && v.op != vLayout): // a grid's rows are not listed for it
		return false
	}
	c.ops = append(c.ops, o)
	return true
}

// splitCall is split for a kernel that is linear in its arguments.
func (c *contraction) splitCall(v *val, labels []int) bool {
	a := v.args
	switch v.expr.Def.Name {
	case "neg":
		c.neg = !c.neg
		return c.split(a[0], labels)
	case "cast":
		return c.split(a[0], labels)
	case "mul":
		if s := c.g.evenly(a[0]); s != nil {
			return c.split(s, nil) && c.split(a[1], labels)
		}
		if s := c.g.evenly(a[1]); s != nil {
			return c.split(a[0], labels) && c.split(s, nil)
		}
		if a[0].typ.Shape == nil {
			return c.split(a[0], nil) && c.split(a[1], labels)
		}
		return a[1].typ.Shape == nil && c.split(a[0], labels) && c.split(a[1], nil)
	case "div":
		if !a[1].uniform() || a[1].typ.Shape != nil {
			return false
		}
		c.scalars = append(c.scalars, factor{v: a[1], divide: true})
		return c.split(a[0], labels)
	case "outer":
		return c.split(a[0], labels[:1]) && c.split(a[1], labels[1:])
	case "transpose":
		return len(labels) == 2 && c.split(a[0], []int{labels[1], labels[0]})
	case "dot":
		var over []int
		for _, n := range a[0].typ.Shape {
			over = append(over, c.label(n))
		}
		return len(over) <= 2 && c.split(a[0], over) && c.split(a[1], over)
	case "matmul":
		return c.splitMatmul(a, labels)
	case "einsum":
		return c.splitEinsum(v.expr.Attr.Spec, a, labels)
	}
	return false
}

// splitEinsum takes an einsum of two operands apart, none of which has a label twice.
func (c *contraction) splitEinsum(spec string, a []*val, labels []int) bool {
	in, out, _ := strings.Cut(spec, "->")
	of := strings.Split(in, ",")
	if len(of) != 2 {
		return false
	}
	number := map[byte]int{}
	for i, l := range []byte(out) {
		if _, twice := number[l]; twice {
			return false
		}
		number[l] = labels[i]
	}
	for i, x := range a {
		var inner []int
		for d, l := range []byte(of[i]) {
			if strings.Count(of[i], string(l)) > 1 || len(of[i]) > 2 {
				return false
			}
			if _, ok := number[l]; !ok {
				number[l] = c.label(x.typ.Shape[d])
			}
			inner = append(inner, number[l])
		}
		if !c.split(x, inner) {
			return false
		}
	}
	return true
}

func (c *contraction) splitMatmul(a []*val, labels []int) bool {
	x, y := a[0].typ.Shape, a[1].typ.Shape
	if len(x) > 2 || len(y) > 2 {
		return false
	}
	over := c.label(y[0])
	left, right := []int{over}, []int{over}
	if len(x) == 2 {
		left, labels = []int{labels[0], over}, labels[1:]
	}
	if len(y) == 2 {
		right = []int{over, labels[0]}
	}
	return c.split(a[0], left) && c.split(a[1], right)
}

// merge multiplies scalars into operands that are read in the same rows.
func (c *contraction) merge() (err error) {
	for i := 0; i < len(c.ops); i++ {
		for k := i + 1; k < len(c.ops); {
			x, y := c.ops[i], c.ops[k]
			if x.idx != y.idx || x.v.sp != y.v.sp {
				k++
				continue
			}
			if len(x.inner) > 0 && len(y.inner) > 0 {
				k++
				continue
			}
			if len(y.inner) > 0 {
				x.inner = y.inner
			}
			if x.v, err = c.g.call(kernels.Lookup("mul"), kernels.Attr{}, x.v, y.v); err != nil {
				return err
			}
			c.ops = slices.Delete(c.ops, k, k+1)
		}
	}
	return nil
}

// matrices are the two operands and the result with the labels that they share.
type matrices struct {
	*contraction
	out     []int // labels of the result, in the order in which it is stored
	proj    *structure.Projection
	m, k, n []int // of the first operand and the result, of both operands, of the second and the result
	batch   []int // of all three
}

// matrices sorts the labels; ok is false where the sum is no product of two matrices.
func (c *contraction) matrices(dims []int, result *structure.Projection, out []int) (m *matrices, ok bool) {
	m = &matrices{contraction: c, proj: result, out: slices.Concat(result.Dims, out)}
	x, y := c.ops[0].labels(), c.ops[1].labels()
	for _, l := range m.out {
		inX, inY := slices.Contains(x, l), slices.Contains(y, l)
		switch {
		case c.lens[l] == 1:
		case inX && !inY:
			m.m = append(m.m, l)
		case inY && !inX:
			m.n = append(m.n, l)
		case inX && inY:
			m.batch = append(m.batch, l)
		default:
			return nil, false
		}
	}
	for _, l := range x {
		if slices.Contains(m.out, l) || c.lens[l] == 1 {
			continue
		}
		if m.k = append(m.k, l); !slices.Contains(y, l) {
			return nil, false
		}
	}
	for _, l := range slices.Concat(y, dims) {
		if c.lens[l] > 1 && !slices.Contains(m.out, l) && !slices.Contains(m.k, l) {
			return nil, false
		}
	}
	return m, true
}

func (o *operand) labels() []int {
	if o.proj == nil {
		return o.inner
	}
	return slices.Concat(o.proj.Dims, o.inner)
}

func (m *matrices) size(labels []int) int {
	n := 1
	for _, l := range labels {
		n *= m.lens[l]
	}
	return n
}

// legs are the directions in which a column is stored that is read by p and whose chunks have the labels inner.
func (m *matrices) legs(p *structure.Projection, inner []int) map[int]leg {
	out := map[int]leg{}
	step := 1
	for i := len(inner) - 1; i >= 0; i-- {
		out[inner[i]] = leg{label: inner[i], n: m.lens[inner[i]], inner: true, stride: step}
		step *= m.lens[inner[i]]
	}
	if p == nil {
		return out
	}
	step = 1
	for i := len(p.Dims) - 1; i >= 0; i-- {
		out[p.Dims[i]] = leg{label: p.Dims[i], n: m.lens[p.Dims[i]], stride: step}
		step *= m.lens[p.Dims[i]]
	}
	return out
}

// layout is that of a column whose rows and chunks have these labels, as a matrix whose rows and columns have those.
func (m *matrices) layout(stored, size int, p *structure.Projection, inner, rows, cols []int) *layout {
	legs := m.legs(p, inner)
	pick := func(labels []int) (out []leg) {
		for _, l := range labels {
			out = append(out, legs[l])
		}
		return out
	}
	var table []int32
	if p != nil {
		table = p.Table
	}
	return m.g.shared.layout(stored, size, table, pick(rows), pick(cols))
}

func (m *matrices) operandLayout(o *operand, rows, cols []int) *layout {
	return m.layout(o.v.sp.N, o.v.typ.Size(), o.proj, o.inner, rows, cols)
}

// copies is what it costs to bring o into a layout, as a chunk of this shape: numbers that are copied at each step.
func (m *matrices) copies(o *operand, l *layout, shape []int) float64 {
	stored := o.v.op == vLayout && o.v.back
	if m.g.find(denseKey(o.v, l, shape)) != nil || stored && o.v.lay == l {
		return 0
	}
	cost := readCost * float64(l.rows*l.cols) // nobody else reads it so
	if !o.v.vary {
		return cost
	}
	if shape != nil && o.v.op != vLeaf { // a matrix for all rows is there as a whole
		cost += float64(l.rows * l.cols)
	}
	if l.view || stored && o.v.lay.order == l.order {
		return cost
	}
	copied := float64(l.rows * l.cols)
	if l.run < 8 { // number by number
		copied *= 3
	}
	if stored { // it is put into its rows first
		copied *= 2
	}
	return cost + copied
}
