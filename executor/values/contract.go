package values

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra/einsum"
)

// A sum over a grid of products of two columns is a product of matrices, however the columns are cut into chunks: an
// einsum whose labels are the keys of the grid and the axes within chunks. (TRA's Tile and Concat, Yuan et al. 2021.
// EinDecomp chooses chunkings for a whole query; here each product gets the cheapest by itself.)

// From so many multiplications of one pair of chunks on, multiplying pair by pair is as fast: for a grid whose rows are
// not listed, and for listed rows, whose data would have to be copied.
const (
	pairWork  = 1 << 22
	chunkWork = 1 << 17
)

// Contraction is a sum over a grid of products of the columns that Ops read. Its labels are the dims of the grid, then
// the axes within chunks.
type Contraction struct {
	einsum.Product[*Val]
	G     *Graph
	Pairs *structure.Space
	Ops   []*operand
}

// operand is a column, the labels of its chunk's axes, and the grid rows in which it is read.
type operand struct {
	V     *Val
	Idx   *structure.Index // nil: grid row r reads row r
	Inner []int
	proj  *structure.Projection // the dims of the grid that its rows depend on; nil: the same value in all rows
}

// gridProduct computes a sum over a grid as a product of matrices. grp groups the grid's rows; nil: they are not
// summed. The result is nil if v is no such sum.
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
		grp == nil && c.Pairs.Dims != nil && len(m.batch) > 0 { // the aggregate over the common keys will try again
		return nil, nil
	}
	return m.compute(v, t, grp)
}

// directions splits v into operands and finds the dims of the grid and those of the result. out gets the labels of v's
// chunk. dims is nil if v cannot be computed as a product of matrices, or should not.
func (c *Contraction) directions(v *Val, grp *structure.Groups, out *[]int) (dims []int,
	result *structure.Projection, err error) {
	const most = 6 // dims
	grid := c.Pairs.Dims
	if len(grid) > most {
		return nil, nil, nil
	}
	c.Lens = make([]int, max(len(grid), 2), most+8)
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

// project notes on which dims of a grid each operand depends. It returns false if one is read in another way.
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

// direct reports whether all rows of a listed space are summed to one, and no operand is read through an index.
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

// foundGrid finds a grid in listed rows: they must be all pairs of the keys of two sides. The query says by which keys
// rows are read and grouped; the data say whether each pair is there exactly once.
func (c *Contraction) foundGrid(grp *structure.Groups) (dims []int, result *structure.Projection, err error) {
	if c.direct(grp) {
		rows := &structure.Projection{Dims: []int{0}}
		c.along(func(int) *structure.Projection { return rows })
		c.Lens[0] = c.Pairs.N
		return []int{0}, &structure.Projection{}, nil
	}
	f := c.keySides(grp)
	if f == nil || len(f.sides) != 2 || f.sides[0].n*f.sides[1].n != c.Pairs.N {
		return nil, nil, nil
	}
	f.sort()
	a, b := f.sides[0], f.sides[1]
	table := c.G.Shared.Pairs(a.at, b.at, a.n, b.n)
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
	c.Lens[0], c.Lens[1] = a.n, b.n
	c.along(func(i int) *structure.Projection { return side(f.of[i]) })
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

// along notes the dims on which each operand depends that is not the same for all rows.
func (c *Contraction) along(of func(i int) *structure.Projection) {
	for i, o := range c.Ops {
		if !o.V.Uniform() {
			o.proj = of(i)
		}
	}
}

// keySide is a set of key labels, and for each row the number of its key, of n keys.
type keySide struct {
	labels []int
	at     []int32
	n      int
}

// keySides are the different sides by whose keys rows are read and grouped.
type keySides struct {
	sides []keySide
	of    []int // per operand its side; -1: it is read row by row, or the same for all rows
	to    int   // the side of the groups; -1: none
}

// keySides finds the sides by the labels that the query gives to keys. It returns nil if an operand is read through an
// index that is not listed, or if two sides have the same labels but different keys in some row.
func (c *Contraction) keySides(grp *structure.Groups) *keySides {
	f := &keySides{of: make([]int, len(c.Ops)), to: -1}
	var idx []*structure.Index
	for _, o := range c.Ops {
		if o.Idx != nil {
			idx = append(idx, o.Idx)
		}
	}
	if c.G.rows == nil || len(idx) == 0 || slices.ContainsFunc(idx, func(x *structure.Index) bool { return x.At == nil }) {
		return nil
	}
	labels, ok := c.G.rows.Of(c.Pairs, idx)
	for i, o := range c.Ops {
		if f.of[i] = -1; o.Idx != nil && ok {
			f.of[i], ok = f.add(keySide{labels[0], o.Idx.At, o.Idx.Src.N})
			labels = labels[1:]
		}
	}
	if grp != nil && grp.Codes != nil && ok {
		f.to, ok = f.add(keySide{c.G.rows.Groups(), grp.Codes, grp.Out.N})
	}
	if !ok {
		return nil
	}
	return f
}

// add returns the number of a side, which is new or known. ok is false if the known one has other keys in some row.
func (f *keySides) add(s keySide) (number int, ok bool) {
	s.labels = slices.Sorted(slices.Values(s.labels))
	number = slices.IndexFunc(f.sides, func(x keySide) bool { return slices.Equal(x.labels, s.labels) })
	if number < 0 {
		f.sides = append(f.sides, s)
		return len(f.sides) - 1, true
	}
	x := f.sides[number]
	return number, x.n == s.n && structure.EqualInts(x.at, s.at)
}

// sort puts the two sides in an order that does not depend on the caller, so that equal sums find the same matrix.
func (f *keySides) sort() {
	if !before(f.sides[1].at, f.sides[0].at) {
		return
	}
	slices.Reverse(f.sides)
	for i, k := range f.of {
		if k >= 0 {
			f.of[i] = 1 - k
		}
	}
	if f.to >= 0 {
		f.to = 1 - f.to
	}
}

// before orders two sides' numbers: the one that changes less often from row to row comes first.
func before(a, b []int32) bool {
	if x, y := a[1] == a[0], b[1] == b[0]; x != y {
		return x
	}
	return slices.Compare(a, b) < 0
}

// Pairs lists the row of each pair (a's number below n, b's below m), at index a·m + b. It is nil if some pair has no
// row or several.
func (p *Shared) Pairs(a, b []int32, n, m int) []int32 {
	for _, f := range p.foundPairs {
		if f.n == n && f.m == m && structure.EqualInts(f.a, a) && structure.EqualInts(f.b, b) {
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
	p.foundPairs = append(p.foundPairs, foundPairs{a, b, n, m, table})
	return table
}

// foundPairs is a result of Pairs, kept for the next call.
type foundPairs struct {
	a, b  []int32
	n, m  int
	table []int32
}

// Split splits v, whose chunk's axes have these labels, into operands. It returns false if v is no product.
func (c *Contraction) Split(v *Val, labels []int) bool {
	if !c.Product.Split(terms{c}, v, labels) {
		return false
	}
	for _, o := range c.Operands {
		x := &operand{V: o.V, Inner: o.Inner}
		if x.V.Op == OpGather && x.V.Space == c.Pairs {
			x.V, x.Idx = x.V.Args[0], x.V.Index
		}
		c.Ops = append(c.Ops, x)
	}
	return true
}

// terms shows vals over the rows of a contraction to package einsum.
type terms struct{ *Contraction }

func (t terms) Type(v *Val) kernels.Type { return v.Type }

func (t terms) Uniform(v *Val) bool { return v.Uniform() }

// Call does not open a val that is the same for all rows.
func (t terms) Call(v *Val) (d *kernels.Def, at kernels.Attr, args []*Val) {
	if v.Op != OpCall || v.Uniform() {
		return nil, at, nil
	}
	return v.Expr.Def, v.Expr.Attr, v.Args
}

// Opens reports whether a kernel may be split into operands: not if it sums over a chunk or multiplies two chunks
// element by element.
func (t terms) Opens(s kernels.Spec) bool {
	switch len(s.In) {
	case 1:
		return len(s.In[0]) == len(s.Out)
	case 2:
		return s.Out == "" || s.In[0] != s.Out || s.In[1] != s.Out
	}
	return false
}

func (t terms) Even(v *Val) (number *Val, ok bool) {
	number = t.G.evenly(v)
	return number, number != nil
}

func (t terms) Operand(v *Val, divide bool) bool {
	switch {
	case divide || v.Op == OpConst || len(v.Type.Shape) > 2:
		return false
	case v.Op == OpGather && v.Space == t.Pairs:
		return !v.Index.Missing && !v.Index.Varies()
	}
	// a grid's rows are not listed: only a layout can be read without computing them all
	return v.Uniform() || v.Space == t.Pairs && (t.Pairs.Dims == nil || v.Op == OpLayout)
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

// matrices are a product's labels, sorted by what they are in a product of two matrices.
type matrices struct {
	*Contraction
	out     []int // labels of the result in storage order
	proj    *structure.Projection
	m, k, n []int // labels of the first operand and the result; of both operands; of the second and the result
	batch   []int // labels of both operands and the result
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

// legs returns how a column is stored along each of its labels. Projection p says the labels of its rows, inner those
// of its chunks.
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

// layout is how a stored column becomes a matrix. Projection p and inner are the labels of the column's rows and
// chunks; rows and cols those of the matrix.
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

// copies is the cost of bringing o into a layout, as chunks of this shape: how many numbers are copied at each step.
func (m *matrices) copies(o *operand, l *Layout, shape []int) float64 {
	stored := o.V.Op == OpLayout && o.V.Layout.Back
	if m.G.find(denseKey(o.V, l, shape)) != nil || stored && o.V.Layout.Layout == l {
		return 0
	}
	cost := readCost * float64(l.Rows*l.Cols) // nobody else reads it in this layout
	if !o.V.Vary {
		return cost
	}
	if shape != nil && o.V.Op != OpLeaf { // it must be computed as a whole, for all rows
		cost += float64(l.Rows * l.Cols)
	}
	if l.View || stored && o.V.Layout.order == l.order {
		return cost
	}
	copied := float64(l.Rows * l.Cols)
	if l.Run < 8 { // number by number
		copied *= 3
	}
	if stored { // it is first copied to its stored rows
		copied *= 2
	}
	return cost + copied
}
