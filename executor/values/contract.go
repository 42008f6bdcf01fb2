package values

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

// Contraction is a sum of products of the columns that ops read, over a grid.
type Contraction struct {
	G       *Graph
	Pairs   *structure.Space
	Lens    []int // of the labels: the dims of the grid, then the directions within chunks
	Ops     []*operand
	Scalars []Factor // the same for all rows
	Neg     bool
}

// operand is a column, its labels in the chunk, and the rows of the grid that it is read in.
type operand struct {
	V     *Val
	Idx   *structure.Index // nil: row r in row r
	Inner []int
	proj  *structure.Projection // of the grid; nil: the same in all rows
}

func (c *Contraction) Label(n int) int { c.Lens = append(c.Lens, n); return len(c.Lens) - 1 }

// gridProduct computes a sum over a grid, whose rows grp groups (nil: the rows are not summed), as a product of
// matrices; nil for another sum.
func gridProduct(g *Graph, v *Val, t kernels.Type, grp *structure.Groups) (*Val, error) {
	if g.Shared == nil || g.Wide && !g.Shared.double || g.Parent != nil || !v.Type.IsFloat() || v.Type.Nullable ||
		t.Nullable || len(v.Type.Shape) > 2 || v.Uniform() {
		return nil, nil
	}
	c := &Contraction{G: g, Pairs: v.Space}
	if v.Space.Varies || grp != nil && (grp.Varies() || grp.In != v.Space) {
		return nil, nil
	}
	var out []int
	for range v.Type.Shape {
		out = append(out, -1)
	}
	dims, sum, err := c.directions(v, grp, &out)
	if dims == nil || err != nil {
		return nil, err
	}
	m, ok := c.matrices(dims, sum, out)
	if !ok ||
		grp == nil && c.Pairs.Dims != nil && len(m.batch) > 0 { // whoever sums over the keys in common will ask again
		return nil, nil
	}
	return m.compute(v, t, grp)
}

// directions splits v into operands and finds the grid: its dims and those of the result. out gets the labels of v's
// chunk.
func (c *Contraction) directions(v *Val, grp *structure.Groups, out *[]int) (dims []int,
	result *structure.Projection, err error) {
	const most = 6 // dims
	grid := c.Pairs.Dims
	c.Lens = make([]int, max(len(grid), 2), most+8)
	if len(grid) > most {
		return nil, nil, nil
	}
	for i, n := range v.Type.Shape {
		(*out)[i] = c.Label(n)
	}
	if !c.Split(v, *out) {
		return nil, nil, nil
	}
	if err := c.merge(); len(c.Ops) != 2 || err != nil {
		return nil, nil, err
	}
	each := 1.0
	for _, n := range c.Lens[max(len(grid), 2):] {
		each *= float64(n)
	}
	if float64(c.Pairs.N)*each < float64(c.G.Env.Tune.GridWork) || each >= pairWork && grid != nil ||
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
		c.Lens[d], dims = grid[d].N, append(dims, d)
	}
	switch result = (&structure.Projection{}); {
	case grp == nil && c.Pairs.N > structure.MaxRows:
		return nil, nil, nil
	case grp == nil:
		result.Dims = dims
	case grp.Projection != nil:
		result = grp.Projection
	}
	if !c.project(dims) {
		return nil, nil, nil
	}
	return dims, result, nil
}

// project notes which directions of a grid the operands lie along; false where one is read in another way.
func (c *Contraction) project(dims []int) bool {
	for _, o := range c.Ops {
		switch {
		case o.Idx != nil && (o.Idx.Projection == nil || o.Idx.Projection.Back):
			return false
		case o.Idx != nil:
			o.proj = o.Idx.Projection
		case !o.V.Uniform():
			o.proj = &structure.Projection{Dims: dims}
		}
	}
	return true
}

// direct reports whether rows that are there are summed, all of them, and are read through nothing.
func (c *Contraction) direct(grp *structure.Groups) bool {
	if c.Pairs.Dims != nil || grp == nil || grp.Out.N != 1 || grp.Order != nil {
		return false
	}
	for _, o := range c.Ops {
		if o.Idx != nil || o.V.Uniform() {
			return false
		}
	}
	return true
}

// foundGrid finds the grid of rows that are there: all pairs of two things that the rows are read through or grouped
// by.
func (c *Contraction) foundGrid(grp *structure.Groups) (dims []int, result *structure.Projection, err error) {
	if c.direct(grp) {
		rows := &structure.Projection{Dims: []int{0}}
		c.along(func(int) *structure.Projection { return rows })
		c.Lens[0] = c.Pairs.N
		return []int{0}, &structure.Projection{}, nil
	}
	f := c.foundSides(grp)
	if f == nil || len(f.by) != 2 || f.size[0]*f.size[1] != c.Pairs.N {
		return nil, nil, nil
	}
	f.sort()
	table := c.G.Shared.Pairs(f.by[0], f.by[1], f.size[0], f.size[1])
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
	copy(c.Lens, f.size)
	c.along(func(i int) *structure.Projection { return side(f.at[i]) })
	switch {
	case grp == nil:
		result = whole
	case f.to >= 0:
		result = side(f.to)
	case grp.Out.N == 1:
		result = &structure.Projection{}
	default:
		return nil, nil, nil
	}
	return []int{0, 1}, result, nil
}

// along notes which directions the operands lie along that are not the same for all rows.
func (c *Contraction) along(of func(i int) *structure.Projection) {
	for i, o := range c.Ops {
		if !o.V.Uniform() {
			o.proj = of(i)
		}
	}
}

// foundSides are the different things that rows are read through or grouped by.
type foundSides struct {
	by   [][]int32
	size []int
	at   []int // of each operand: which; -1: none
	to   int   // of the groups
}

// find is the number of such a thing.
func (f *foundSides) find(at []int32, n int) int {
	for i, x := range f.by {
		if n == f.size[i] && structure.EqualInts(x, at) {
			return i
		}
	}
	f.by, f.size = append(f.by, at), append(f.size, n)
	return len(f.by) - 1
}

// foundSides finds them; nil where an operand is read through an index that is not listed.
func (c *Contraction) foundSides(grp *structure.Groups) *foundSides {
	f := &foundSides{at: make([]int, len(c.Ops)), to: -1}
	for i, o := range c.Ops {
		if f.at[i] = -1; o.Idx != nil && o.Idx.At != nil {
			f.at[i] = f.find(o.Idx.At, o.Idx.Src.N)
		} else if o.Idx != nil {
			return nil
		}
	}
	if grp != nil && grp.Codes != nil {
		f.to = f.find(grp.Codes, grp.Out.N)
	}
	return f
}

// sort puts the two sides in one order, whoever asks, so that all find the same matrix.
func (f *foundSides) sort() {
	if !before(f.by[1], f.by[0]) {
		return
	}
	slices.Reverse(f.by)
	slices.Reverse(f.size)
	for i, k := range f.at {
		if k >= 0 {
			f.at[i] = 1 - k
		}
	}
	if f.to >= 0 {
		f.to = 1 - f.to
	}
}

// before orders two columns of numbers: one that changes less often from row to row comes first.
func before(a, b []int32) bool {
	x, y := a[1] == a[0], b[1] == b[0]
	if x != y {
		return x
	}
	return structure.SampleHash(a) < structure.SampleHash(b)
}

// Pairs lists the row of each pair of a number below n in a and one below m in b; nil where some pair is not in exactly
// one row.
func (p *Shared) Pairs(a, b []int32, n, m int) []int32 {
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

// Split takes v, whose chunk has these labels, apart into operands.
func (c *Contraction) Split(v *Val, labels []int) bool {
	if v.Type.Nullable || !v.Type.IsFloat() {
		return false
	}
	if v.Uniform() && v.Type.Shape == nil {
		c.Scalars = append(c.Scalars, Factor{V: v})
		return true
	}
	if v.Op == OpCall && !v.Uniform() {
		ops, n, scalars, neg := len(c.Ops), len(c.Lens), len(c.Scalars), c.Neg
		if c.splitCall(v, labels) {
			return true
		}
		c.Ops, c.Lens, c.Scalars, c.Neg = c.Ops[:ops], c.Lens[:n], c.Scalars[:scalars], neg
	}
	o := &operand{V: v, Inner: labels}
	switch {
	case v.Op == OpConst || len(v.Type.Shape) > 2:
		return false
	case v.Op == OpGather && v.Space == c.Pairs:
		if o.V, o.Idx = v.Args[0], v.Index; o.Idx.Missing || o.Idx.Varies() {
			return false
		}
	// a grid's rows are not listed for it
	case !v.Uniform() && (v.Space != c.Pairs || c.Pairs.Dims != nil && v.Op != OpLayout):
		return false
	}
	c.Ops = append(c.Ops, o)
	return true
}

// splitCall is split for a kernel that is linear in its arguments.
func (c *Contraction) splitCall(v *Val, labels []int) bool {
	a := v.Args
	switch v.Expr.Def.Name {
	case "neg":
		c.Neg = !c.Neg
		return c.Split(a[0], labels)
	case "cast":
		return c.Split(a[0], labels)
	case "mul":
		if s := c.G.evenly(a[0]); s != nil {
			return c.Split(s, nil) && c.Split(a[1], labels)
		}
		if s := c.G.evenly(a[1]); s != nil {
			return c.Split(a[0], labels) && c.Split(s, nil)
		}
		if a[0].Type.Shape == nil {
			return c.Split(a[0], nil) && c.Split(a[1], labels)
		}
		return a[1].Type.Shape == nil && c.Split(a[0], labels) && c.Split(a[1], nil)
	case "div":
		if !a[1].Uniform() || a[1].Type.Shape != nil {
			return false
		}
		c.Scalars = append(c.Scalars, Factor{V: a[1], Divide: true})
		return c.Split(a[0], labels)
	case "outer":
		return c.Split(a[0], labels[:1]) && c.Split(a[1], labels[1:])
	case "transpose":
		return len(labels) == 2 && c.Split(a[0], []int{labels[1], labels[0]})
	case "dot":
		var over []int
		for _, n := range a[0].Type.Shape {
			over = append(over, c.Label(n))
		}
		return len(over) <= 2 && c.Split(a[0], over) && c.Split(a[1], over)
	case "matmul":
		return c.splitMatmul(a, labels)
	case "einsum":
		return c.splitEinsum(v.Expr.Attr.Spec, a, labels)
	}
	return false
}

// splitEinsum takes an einsum of two operands apart, none of which has a label twice.
func (c *Contraction) splitEinsum(spec string, a []*Val, labels []int) bool {
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
				number[l] = c.Label(x.Type.Shape[d])
			}
			inner = append(inner, number[l])
		}
		if !c.Split(x, inner) {
			return false
		}
	}
	return true
}

func (c *Contraction) splitMatmul(a []*Val, labels []int) bool {
	x, y := a[0].Type.Shape, a[1].Type.Shape
	if len(x) > 2 || len(y) > 2 {
		return false
	}
	over := c.Label(y[0])
	left, right := []int{over}, []int{over}
	if len(x) == 2 {
		left, labels = []int{labels[0], over}, labels[1:]
	}
	if len(y) == 2 {
		right = []int{over, labels[0]}
	}
	return c.Split(a[0], left) && c.Split(a[1], right)
}

// merge multiplies scalars into operands that are read in the same rows.
func (c *Contraction) merge() (err error) {
	for i := 0; i < len(c.Ops); i++ {
		for k := i + 1; k < len(c.Ops); {
			x, y := c.Ops[i], c.Ops[k]
			if x.Idx != y.Idx || x.V.Space != y.V.Space {
				k++
				continue
			}
			if len(x.Inner) > 0 && len(y.Inner) > 0 {
				k++
				continue
			}
			if len(y.Inner) > 0 {
				x.Inner = y.Inner
			}
			if x.V, err = c.G.Call(kernels.Lookup("mul"), kernels.Attr{}, x.V, y.V); err != nil {
				return err
			}
			c.Ops = slices.Delete(c.Ops, k, k+1)
		}
	}
	return nil
}

// matrices are the two operands and the result with the labels that they share.
type matrices struct {
	*Contraction
	out     []int // labels of the result, in the order in which it is stored
	proj    *structure.Projection
	m, k, n []int // of the first operand and the result, of both operands, of the second and the result
	batch   []int // of all three
}

// matrices sorts the labels; ok is false where the sum is no product of two matrices.
func (c *Contraction) matrices(dims []int, result *structure.Projection, out []int) (m *matrices, ok bool) {
	m = &matrices{Contraction: c, proj: result, out: slices.Concat(result.Dims, out)}
	x, y := c.Ops[0].labels(), c.Ops[1].labels()
	for _, l := range m.out {
		inX, inY := slices.Contains(x, l), slices.Contains(y, l)
		switch {
		case c.Lens[l] == 1:
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
		if slices.Contains(m.out, l) || c.Lens[l] == 1 {
			continue
		}
		if m.k = append(m.k, l); !slices.Contains(y, l) {
			return nil, false
		}
	}
	for _, l := range slices.Concat(y, dims) {
		if c.Lens[l] > 1 && !slices.Contains(m.out, l) && !slices.Contains(m.k, l) {
			return nil, false
		}
	}
	return m, true
}

func (o *operand) labels() []int {
	if o.proj == nil {
		return o.Inner
	}
	return slices.Concat(o.proj.Dims, o.Inner)
}

func (m *matrices) size(labels []int) int {
	n := 1
	for _, l := range labels {
		n *= m.Lens[l]
	}
	return n
}

// legs are the directions in which a column is stored that is read by p and whose chunks have the labels inner.
func (m *matrices) legs(p *structure.Projection, inner []int) map[int]leg {
	out := map[int]leg{}
	step := 1
	for i := len(inner) - 1; i >= 0; i-- {
		out[inner[i]] = leg{label: inner[i], n: m.Lens[inner[i]], inner: true, stride: step}
		step *= m.Lens[inner[i]]
	}
	if p == nil {
		return out
	}
	step = 1
	for i := len(p.Dims) - 1; i >= 0; i-- {
		out[p.Dims[i]] = leg{label: p.Dims[i], n: m.Lens[p.Dims[i]], stride: step}
		step *= m.Lens[p.Dims[i]]
	}
	return out
}

// layout is that of a column whose rows and chunks have these labels, as a matrix whose rows and columns have those.
func (m *matrices) layout(stored, size int, p *structure.Projection, inner, rows, cols []int) *Layout {
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
	return m.G.Shared.layout(stored, size, table, pick(rows), pick(cols))
}

func (m *matrices) operandLayout(o *operand, rows, cols []int) *Layout {
	return m.layout(o.V.Space.N, o.V.Type.Size(), o.proj, o.Inner, rows, cols)
}

// copies is what it costs to bring o into a layout, as a chunk of this shape: numbers that are copied at each step.
func (m *matrices) copies(o *operand, l *Layout, shape []int) float64 {
	stored := o.V.Op == OpLayout && o.V.Back
	if m.G.find(denseKey(o.V, l, shape)) != nil || stored && o.V.Layout == l {
		return 0
	}
	cost := readCost * float64(l.Rows*l.Cols) // nobody else reads it so
	if !o.V.Vary {
		return cost
	}
	if shape != nil && o.V.Op != OpLeaf { // a matrix for all rows is there as a whole
		cost += float64(l.Rows * l.Cols)
	}
	if l.View || stored && o.V.Layout.order == l.order {
		return cost
	}
	copied := float64(l.Rows * l.Cols)
	if l.Run < 8 { // number by number
		copied *= 3
	}
	if stored { // it is put into its rows first
		copied *= 2
	}
	return cost + copied
}
