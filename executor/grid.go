package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// A join of relations that hold each combination of their keys once is a grid: its rows are all combinations of the keys of
// both, and nothing needs to list them. Sums over it are products of matrices (contract.go). Where somebody else reads
// its rows, they are made after all (realise).

// space is a set of rows: those of a relation, or of a group of relations with the same rows in order.
type space struct {
	id, n  int
	vary   bool  // rebuilt each step
	dims   []dim // of a grid (grid.go); nil for other spaces
	listed bool  // somebody has needed the rows of the grid
}

// dim is a direction of a grid: its keys, distinct and ascending.
type dim struct {
	n    int
	keys *ra.Vector
}

// projection maps the rows of a grid to rows of another space, by some of the coordinates.
type projection struct {
	dims  []int   // of the grid, the slowest first
	table []int32 // by the coordinates in these dims; nil: their row-major number
	// back is set in the opposite direction, of a space whose rows are some of the grid's: coordinates that dims lack are 0.
	back bool
}

// layer is an input of a join that may be a grid: columns of its key, and the dims of the grid that they become.
type layer struct {
	cols  []ra.ColumnID
	axes  []dim
	table []int32 // row by coordinates in the axes; nil: row-major
	at    []int   // dims of the grid
}

// grid returns the structure of a join whose inputs are full products of their keys, nil for another join: their keys are
// looked at, the pairs are not made.
func (st *Stage) grid(n *ra.Node, inputs []*rel) (*rel, error) {
	if st.parent != nil || n.Op != ra.Join || len(inputs) < 2 || len(n.Pred) > 0 || len(n.Equi) == 0 {
		return nil, nil
	}
	layers := make([]*layer, len(inputs))
	rows := 1.0
	for _, in := range inputs {
		rows *= float64(in.sp.n)
	}
	if rows < float64(st.env.Tune.GridPairs) {
		return nil, nil
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			if in := n.Inputs[c.Input]; q.L.Input == q.R.Input || st.env.Flow.column[nodeCol{in, in.Index(c.ID)}] {
				return nil, nil
			}
		}
	}
	order := make([]int, len(inputs)) // small ones first: large ones then need not be looked at, mostly
	for s := range order {
		order[s] = s
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(inputs[a].sp.n, inputs[b].sp.n) })
	for _, s := range order {
		if !divides(n, layers, s, inputs[s].sp.n) {
			return nil, nil
		}
		var err error
		if layers[s], err = st.layer(n, s, inputs[s]); layers[s] == nil || err != nil {
			return nil, err
		}
	}
	dims, ok := meetDims(n, layers)
	if !ok {
		return nil, nil
	}
	return st.gridOf(dims, layers, inputs), nil
}

// divides reports whether input s can have all combinations of the keys that it shares with layers that are known.
func divides(n *ra.Node, layers []*layer, s, rows int) bool {
	known := map[ra.ColumnID]int{}
	for _, q := range n.Equi {
		if q.L.Input != s {
			q.L, q.R = q.R, q.L
		}
		if l := layers[q.R.Input]; q.L.Input == s && l != nil {
			if k := slices.Index(l.cols, q.R.ID); k >= 0 {
				known[q.L.ID] = l.axes[k].n
			}
		}
	}
	for _, d := range known {
		if rows%d != 0 {
			return false
		}
		rows /= d
	}
	return rows > 0
}

// gridOf makes the grid, or takes that of an input which has all dims.
func (st *Stage) gridOf(dims []dim, layers []*layer, inputs []*rel) *rel {
	r := &rel{idx: make([]*index, len(inputs)), layers: layers}
	size, most := 1, 0
	for _, d := range dims {
		if size > maxGrid/d.n {
			return nil
		}
		size *= d.n
	}
	for s, in := range inputs {
		if in.sp.dims != nil && in.sp.n == size && slices.IsSorted(layers[s].at) {
			r.sp = in.sp
		}
		if in.sp.dims == nil {
			most = max(most, in.sp.n)
		}
	}
	if r.sp == nil {
		if size < st.env.Tune.GridPairs || size < 2*most {
			return nil
		}
		r.sp = &space{id: st.env.id(), n: size, dims: dims}
	}
	for s, in := range inputs {
		if in.sp != r.sp || !slices.IsSorted(layers[s].at) { // the same grid may be there twice, once turned
			r.idx[s] = &index{id: st.env.id(), dst: r.sp, src: in.sp, proj: &projection{dims: layers[s].at, table: layers[s].table}}
		}
	}
	return r
}

// maxGrid bounds the rows of a grid: more would not be counted exactly.
const maxGrid = 1 << 52

// layer takes input s apart into the columns of its key; nil where its rows are not all combinations of these.
func (st *Stage) layer(n *ra.Node, s int, in *rel) (*layer, error) {
	node := n.Inputs[s]
	l := &layer{}
	want := func(id ra.ColumnID) {
		if !slices.Contains(l.cols, id) {
			l.cols = append(l.cols, id)
		}
	}
	if in.sp.dims != nil {
		return st.layerOfGrid(n, s, in)
	}
	key := node.Unique
	if len(key) == 0 {
		key = node.Key
	}
	for _, id := range key {
		want(id)
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			if c.Input == s {
				want(c.ID)
			}
		}
	}
	if in.sp.n < 2 || len(l.cols) == 0 || len(l.cols) > 6 {
		return nil, nil
	}
	code, count := make([]int32, in.sp.n), 1
	for _, id := range l.cols {
		v, err := st.from.vec(node, node.Index(id))
		if err != nil || v.Valid != nil || v.Type.Shape != nil || st.env.Flow.column[nodeCol{node, node.Index(id)}] {
			return nil, err
		}
		c, d, err := st.axis(v)
		if err != nil || d.n == 0 || count > in.sp.n/d.n {
			return nil, err
		}
		for i, k := range c {
			code[i] = code[i]*int32(d.n) + k
		}
		count *= d.n
		l.axes = append(l.axes, d)
	}
	if count != in.sp.n {
		return nil, nil
	}
	if isIdentity(code) {
		return l, nil
	}
	l.table = make([]int32, count)
	fill(l.table, -1)
	for r, c := range code {
		if l.table[c] >= 0 {
			return nil, nil // a bag
		}
		l.table[c] = int32(r)
	}
	return l, nil
}

// axis numbers the distinct keys of a column in ascending order.
func (st *Stage) axis(v *ra.Vector) ([]int32, dim, error) {
	raw, span, err := st.groupCodes([]probeCol{{v: v}}, v.N)
	if err != nil {
		return nil, dim{}, err
	}
	rank := make([]int32, span)
	fill(rank, -1)
	first := make([]int32, span)
	for r := len(raw) - 1; r >= 0; r-- {
		rank[raw[r]], first[raw[r]] = 0, int32(r)
	}
	var rows []int32
	for k := range rank {
		if rank[k] == 0 {
			rank[k] = int32(len(rows))
			rows = append(rows, first[k])
		}
	}
	code := make([]int32, len(raw))
	cpu.Through(code, raw, rank)
	return code, dim{len(rows), gatherVector(v, rows)}, nil
}

// layerOfGrid takes an input apart that is a grid itself.
func (st *Stage) layerOfGrid(n *ra.Node, s int, in *rel) (*layer, error) {
	l := &layer{cols: make([]ra.ColumnID, len(in.sp.dims)), axes: in.sp.dims}
	for d := range l.cols {
		l.cols[d] = -1
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			if c.Input != s {
				continue
			}
			d := st.dimOf(n.Inputs[s], c.ID)
			if d < 0 || l.cols[d] >= 0 && l.cols[d] != c.ID {
				return nil, nil
			}
			l.cols[d] = c.ID
		}
	}
	return l, nil
}

// dimOf is the dim of a grid that a column of it holds the keys of, -1 for another column.
func (st *Stage) dimOf(n *ra.Node, id ra.ColumnID) int {
	r, err := st.rel(n)
	if err != nil || r.sp.dims == nil || n.Op != ra.Select && n.Op != ra.Join {
		return -1
	}
	e := n.Out[n.Index(id)]
	if !e.IsCol {
		return -1
	}
	in := n.Inputs[e.Col.Input]
	from, err := st.rel(in)
	if err != nil {
		return -1
	}
	if from.sp.dims != nil {
		d := st.dimOf(in, e.Col.ID)
		if idx := r.idx[e.Col.Input]; d >= 0 && idx != nil {
			d = idx.proj.dims[d]
		}
		return d
	}
	if r.layers == nil {
		return -1
	}
	l := r.layers[e.Col.Input]
	if k := slices.Index(l.cols, e.Col.ID); k >= 0 {
		return l.at[k]
	}
	return -1
}

// meetDims numbers the dims of the join: those of the inputs, equal ones once. It fails where a condition compares columns
// with other keys.
func meetDims(n *ra.Node, layers []*layer) (dims []dim, ok bool) {
	// A grid among the inputs gives its dims their numbers, so that it can stand for the join.
	order := make([]int, len(layers))
	for s := range order {
		order[s] = s
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(layers[b].axes) - len(layers[a].axes) })
	for i, s := range order {
		l := layers[s]
		l.at = make([]int, len(l.axes))
		for k := range l.axes {
			l.at[k] = -1
			for _, q := range n.Equi {
				if q.L.Input != s {
					q.L, q.R = q.R, q.L
				}
				if q.L.Input != s || q.L.ID != l.cols[k] || !slices.Contains(order[:i], q.R.Input) {
					continue
				}
				o := layers[q.R.Input]
				c := slices.Index(o.cols, q.R.ID)
				if c < 0 || l.at[k] >= 0 && l.at[k] != o.at[c] || !sameKeys(l.axes[k], o.axes[c]) {
					return nil, false
				}
				l.at[k] = o.at[c]
			}
			if l.at[k] < 0 {
				l.at[k] = len(dims)
				dims = append(dims, l.axes[k])
			} else if slices.Contains(l.at[:k], l.at[k]) {
				return nil, false // a diagonal
			}
		}
	}
	return dims, true
}

func sameKeys(a, b dim) bool {
	if a.keys == b.keys {
		return true
	}
	if a.n != b.n || a.keys.Type.Kind != b.keys.Type.Kind {
		return false
	}
	return slices.Equal(a.keys.Ints, b.keys.Ints) && slices.Equal(a.keys.Texts, b.keys.Texts) &&
		slices.Equal(a.keys.F64, b.keys.F64) && slices.Equal(a.keys.F32, b.keys.F32)
}

// gridGroups groups a grid by some of its dims; nil where the keys are others.
func (st *Stage) gridGroups(n *ra.Node, in *rel) *rel {
	var at []int
	count := 1
	for _, id := range n.Group {
		d := st.dimOf(n.Inputs[0], id)
		if d < 0 || slices.Contains(at, d) || count > maxRows/in.sp.dims[d].n {
			return nil
		}
		at = append(at, d)
		count *= in.sp.dims[d].n
	}
	if count == in.sp.n {
		return nil
	}
	out := st.space(count)
	grp := &groups{id: st.env.id(), in: in.sp, out: out, proj: &projection{dims: at}}
	return &rel{sp: out, grp: grp, idx: []*index{{id: st.env.id(), dst: out, src: in.sp, proj: &projection{dims: at, back: true}}}}
}

// walk calls f for each row of a grid of these sizes, or of some of its dims, with the number that the coordinates have by
// the strides.
func walk(sizes, strides []int, f func(row, number int)) {
	at, number, rows := make([]int, len(sizes)), 0, 1
	for _, n := range sizes {
		rows *= n
	}
	for row := range rows {
		f(row, number)
		for d := len(sizes) - 1; d >= 0; d-- {
			at[d]++
			number += strides[d]
			if at[d] < sizes[d] {
				break
			}
			number -= at[d] * strides[d]
			at[d] = 0
		}
	}
}

// strides gives each dim of a grid its part in the number that p makes of coordinates, before the table.
func (p *projection) strides(dims []dim) []int {
	out, step := make([]int, len(dims)), 1
	for k := len(p.dims) - 1; k >= 0; k-- {
		out[p.dims[k]] = step
		step *= dims[p.dims[k]].n
	}
	return out
}

func sizes(dims []dim) []int {
	out := make([]int, len(dims))
	for i, d := range dims {
		out[i] = d.n
	}
	return out
}

// realise lists the rows of an index into or out of a grid, which is then one like any other.
func (x *index) realise(e *Env) error {
	x.list()
	if x == nil || x.proj == nil || x.at != nil {
		return nil
	}
	grid, strides := x.dst.dims, []int(nil)
	if x.proj.back {
		full := &projection{}
		for d := range x.src.dims {
			full.dims = append(full.dims, d)
		}
		all := full.strides(x.src.dims)
		grid = nil
		for _, d := range x.proj.dims {
			grid, strides = append(grid, x.src.dims[d]), append(strides, all[d])
		}
	} else {
		strides = x.proj.strides(grid)
	}
	if err := mayList(e, max(x.dst.n, x.src.n)); err != nil {
		return err
	}
	x.dst.listed, x.src.listed = x.dst.dims != nil, x.src.dims != nil
	at := make([]int32, x.dst.n)
	walk(sizes(grid), strides, func(row, number int) {
		if at[row] = int32(number); x.proj.table != nil {
			at[row] = x.proj.table[number]
		}
	})
	x.at = at
	return nil
}

func mayList(e *Env, rows int) error {
	if rows > maxRows {
		return tooManyRows("a join")
	}
	return e.Budget.holds(4 * int64(rows))
}

// realise lists the groups of a grid's rows.
func (x *groups) realise(e *Env) error {
	if x == nil || x.proj == nil || x.start != nil {
		return nil
	}
	if err := mayList(e, x.in.n); err != nil {
		return err
	}
	x.in.listed = true
	x.code = make([]int32, x.in.n)
	walk(sizes(x.in.dims), x.proj.strides(x.in.dims), func(row, number int) { x.code[row] = int32(number) })
	c := e.crew()
	x.start, x.perm = c.sort(x.code, c.tally(x.code, x.out.n, nil), nil)
	if x.perm != nil {
		x.order = &index{id: e.id(), dst: x.in, src: x.in, at: x.perm}
	}
	return nil
}

// virtual reports whether the index is a grid's, whose rows are not listed.
func (x *index) virtual() bool { return x != nil && x.proj != nil && x.at == nil }

// from lists, for rows x of a grid, what b maps them to.
func (x *index) from(b *index) []int32 {
	var grid []dim
	var step []int
	all := b.proj.strides(x.src.dims)
	for _, d := range x.proj.dims {
		grid, step = append(grid, x.src.dims[d]), append(step, all[d])
	}
	at := make([]int32, x.dst.n)
	walk(sizes(grid), step, func(row, number int) {
		if at[row] = int32(number); b.proj.table != nil {
			at[row] = b.proj.table[number]
		}
	})
	return at
}

// gridText says of a node in plans that its rows are those of a grid which nobody has listed.
func (st *Stage) gridText(n *ra.Node) string {
	for s := st; s != nil; s = s.parent {
		if r := s.rels[n]; r != nil && r.sp.dims != nil && !r.sp.listed {
			return fmt.Sprintf(", a grid of %s, not listed", strings.ReplaceAll(strings.Trim(fmt.Sprint(sizes(r.sp.dims)), "[]"), " ", " × "))
		}
	}
	return ""
}
