package structure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// A join of relations each of which holds every combination of its keys once is a grid: its rows are all combinations
// of the keys of both, and nothing needs to list them. Sums over it become products of matrices (values/contract.go).
// Realise lists the rows for anything else that reads them.

// Space is a set of rows in order. Relations with the same rows share it.
type Space struct {
	ID, N  int
	Varies bool  // rebuilt each step
	Dims   []Dim // the dims of a grid; nil for other spaces
	listed bool  // the rows of the grid have been listed
}

// Dim is a dimension of a grid: its keys, distinct and ascending.
type Dim struct {
	N    int
	keys *column.Column
}

// Projection maps each row of a grid to a row of another space, by some of the row's coordinates.
type Projection struct {
	Dims  []int   // the grid's dims that it reads, the slowest first
	Table []int32 // row by coordinates in these dims; nil: the row-major number of the coordinates
	// Back reverses the direction: each row of the other space is mapped to the row of the grid with these coordinates
	// and 0 in all dims that Dims lacks.
	Back bool
}

// layer is an input of a join that may be a grid: its key columns, and the dims of the grid that they become.
type layer struct {
	cols  []ra.ColumnID
	axes  []Dim
	table []int32 // row by coordinates in the axes; nil: their row-major number
	at    []int   // the dim of the grid for each axis
}

// grid returns the structure of a join whose inputs hold all combinations of their keys, nil for any other join. It
// reads the keys but makes no pairs.
func (st *Stage) grid(n *ra.Node, inputs []*Relation) (*Relation, error) {
	if st.parent != nil || n.Op != ra.Join || len(inputs) < 2 || len(n.Pred) > 0 || len(n.Equi) == 0 {
		return nil, nil
	}
	layers := make([]*layer, len(inputs))
	rows := 1.0
	for _, in := range inputs {
		rows *= float64(in.Space.N)
	}
	if rows < float64(st.env.Tune.GridPairs) {
		return nil, nil
	}
	for _, q := range n.Equi {
		for _, c := range []kernels.Col{q.L, q.R} {
			if in := n.Inputs[c.Input]; q.L.Input == q.R.Input || st.env.Flow.Column[ColumnOf{in, in.Index(c.ID)}] {
				return nil, nil
			}
		}
	}
	order := make([]int, len(inputs)) // small inputs first: they mostly rule a grid out before a large one is read
	for s := range order {
		order[s] = s
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(inputs[a].Space.N, inputs[b].Space.N) })
	for _, s := range order {
		if !divides(n, layers, s, inputs[s].Space.N) {
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

// divides reports whether input s may hold all combinations of its keys, as far as the keys that it shares with known
// layers tell.
func divides(n *ra.Node, layers []*layer, s, rows int) bool {
	known := map[ra.ColumnID]int{}
	for _, q := range n.Equi {
		if q.L.Input != s {
			q.L, q.R = q.R, q.L
		}
		if l := layers[q.R.Input]; q.L.Input == s && l != nil {
			if k := slices.Index(l.cols, q.R.ID); k >= 0 {
				known[q.L.ID] = l.axes[k].N
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

// gridOf makes the relation of the grid. It takes the space of an input that has all dims already.
func (st *Stage) gridOf(dims []Dim, layers []*layer, inputs []*Relation) *Relation {
	r := &Relation{Indexes: make([]*Index, len(inputs)), layers: layers}
	size, most := 1, 0
	for _, d := range dims {
		if size > maxGrid/d.N {
			return nil
		}
		size *= d.N
	}
	for s, in := range inputs {
		if in.Space.Dims != nil && in.Space.N == size && slices.IsSorted(layers[s].at) {
			r.Space = in.Space
		}
		if in.Space.Dims == nil {
			most = max(most, in.Space.N)
		}
	}
	if r.Space == nil {
		if size < st.env.Tune.GridPairs || size < 2*most {
			return nil
		}
		r.Space = &Space{ID: st.env.NewID(), N: size, Dims: dims}
	}
	for s, in := range inputs {
		if in.Space != r.Space || !slices.IsSorted(layers[s].at) { // one grid may be joined with its transpose
			r.Indexes[s] = &Index{ID: st.env.NewID(), Dst: r.Space, Src: in.Space,
				Projection: &Projection{Dims: layers[s].at, Table: layers[s].table}}
		}
	}
	return r
}

// maxGrid bounds the rows of a grid: float64 counts no more exactly.
const maxGrid = 1 << 52

// layer splits input s into the columns of its key; nil where its rows are not all combinations of these.
func (st *Stage) layer(n *ra.Node, s int, in *Relation) (*layer, error) {
	if in.Space.Dims != nil {
		return st.layerOfGrid(n, s, in)
	}
	node, l := n.Inputs[s], &layer{cols: layerColumns(n, s)}
	if in.Space.N < 2 || len(l.cols) == 0 || len(l.cols) > 6 {
		return nil, nil
	}
	code, count := make([]int32, in.Space.N), 1
	for _, id := range l.cols {
		v, err := st.from.Vector(node, node.Index(id))
		if err != nil || v.Valid() != nil || v.Type().Shape != nil || st.env.Flow.Column[ColumnOf{node, node.Index(id)}] {
			return nil, err
		}
		c, d, err := st.axis(v)
		if err != nil || d.N == 0 || count > in.Space.N/d.N {
			return nil, err
		}
		for i, k := range c {
			code[i] = code[i]*int32(d.N) + k
		}
		count *= d.N
		l.axes = append(l.axes, d)
	}
	if count != in.Space.N {
		return nil, nil
	}
	if IsIdentity(code) {
		return l, nil
	}
	l.table = make([]int32, count)
	Fill(l.table, -1)
	for r, c := range code {
		if l.table[c] >= 0 {
			return nil, nil // some combination occurs twice
		}
		l.table[c] = int32(r)
	}
	return l, nil
}

// layerColumns are the columns that tell the rows of input s apart, or join them.
func layerColumns(n *ra.Node, s int) (cols []ra.ColumnID) {
	want := func(id ra.ColumnID) {
		if !slices.Contains(cols, id) {
			cols = append(cols, id)
		}
	}
	key := n.Inputs[s].Unique
	if len(key) == 0 {
		key = n.Inputs[s].Key
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
	return cols
}

// axis numbers the distinct keys of a column in ascending order.
func (st *Stage) axis(v *column.Column) ([]int32, Dim, error) {
	raw, span, err := st.groupCodes([]Probe{{Vector: v}}, v.Len())
	if err != nil {
		return nil, Dim{}, err
	}
	rank := make([]int32, span)
	Fill(rank, -1)
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
	return code, Dim{len(rows), column.Gather(v, rows)}, nil
}

// layerOfGrid splits an input that is a grid itself.
func (st *Stage) layerOfGrid(n *ra.Node, s int, in *Relation) (*layer, error) {
	l := &layer{cols: make([]ra.ColumnID, len(in.Space.Dims)), axes: in.Space.Dims}
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

// dimOf is the dim of a grid whose keys the column holds, -1 if there is none.
func (st *Stage) dimOf(n *ra.Node, id ra.ColumnID) int {
	r, err := st.Relation(n)
	if err != nil || r.Space.Dims == nil || n.Op != ra.Select && n.Op != ra.Join {
		return -1
	}
	e := n.Out[n.Index(id)]
	if !e.IsCol {
		return -1
	}
	in := n.Inputs[e.Col.Input]
	from, err := st.Relation(in)
	if err != nil {
		return -1
	}
	if from.Space.Dims != nil {
		d := st.dimOf(in, e.Col.ID)
		if idx := r.Indexes[e.Col.Input]; d >= 0 && idx != nil {
			d = idx.Projection.Dims[d]
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

// meetDims numbers the dims of the join, equal dims of several inputs once. ok is false where a condition compares
// columns with different keys.
func meetDims(n *ra.Node, layers []*layer) (dims []Dim, ok bool) {
	// A grid among the inputs numbers the dims first, so that its space can be that of the join.
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
				return nil, false // an input joined with itself along a diagonal
			}
		}
	}
	return dims, true
}

func sameKeys(a, b Dim) bool {
	if a.keys == b.keys {
		return true
	}
	if a.N != b.N || a.keys.Type().Kind != b.keys.Type().Kind {
		return false
	}
	return column.Equal(a.keys, b.keys)
}

// gridGroups groups a grid by some of its dims; nil where the keys are not dims.
func (st *Stage) gridGroups(n *ra.Node, in *Relation) *Relation {
	var at []int
	count := 1
	for _, id := range n.Group {
		d := st.dimOf(n.Inputs[0], id)
		if d < 0 || slices.Contains(at, d) || count > MaxRows/in.Space.Dims[d].N {
			return nil
		}
		at = append(at, d)
		count *= in.Space.Dims[d].N
	}
	if count == in.Space.N {
		return nil
	}
	out := st.Space(count)
	grp := &Groups{ID: st.env.NewID(), In: in.Space, Out: out, Projection: &Projection{Dims: at}}
	return &Relation{Space: out, Groups: grp,
		Indexes: []*Index{{ID: st.env.NewID(), Dst: out, Src: in.Space, Projection: &Projection{Dims: at, Back: true}}}}
}

// Walk calls f for each row of a grid of these sizes: row is its row-major number, number the sum of its coordinates
// times the strides.
func Walk(sizes, strides []int, f func(row, number int)) {
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

// strides returns the stride of each dim of a grid in the number by which p looks up its table.
func (p *Projection) strides(dims []Dim) []int {
	out, step := make([]int, len(dims)), 1
	for k := len(p.Dims) - 1; k >= 0; k-- {
		out[p.Dims[k]] = step
		step *= dims[p.Dims[k]].N
	}
	return out
}

func sizes(dims []Dim) []int { return lists.Map(dims, func(d Dim) int { return d.N }) }

// Realise lists the rows of a grid's index, which is then like any other.
func (x *Index) Realise(e *Env) error {
	x.List()
	if x == nil || x.Projection == nil || x.At != nil {
		return nil
	}
	grid, strides := x.Dst.Dims, []int(nil)
	if x.Projection.Back {
		full := &Projection{}
		for d := range x.Src.Dims {
			full.Dims = append(full.Dims, d)
		}
		all := full.strides(x.Src.Dims)
		grid = nil
		for _, d := range x.Projection.Dims {
			grid, strides = append(grid, x.Src.Dims[d]), append(strides, all[d])
		}
	} else {
		strides = x.Projection.strides(grid)
	}
	if err := mayList(e, max(x.Dst.N, x.Src.N)); err != nil {
		return err
	}
	x.Dst.listed, x.Src.listed = x.Dst.Dims != nil, x.Src.Dims != nil
	at := make([]int32, x.Dst.N)
	Walk(sizes(grid), strides, func(row, number int) {
		if at[row] = int32(number); x.Projection.Table != nil {
			at[row] = x.Projection.Table[number]
		}
	})
	x.At = at
	return nil
}

func mayList(e *Env, rows int) error {
	if rows > MaxRows {
		return tooManyRows("a join")
	}
	return e.Budget.MayHold(4 * int64(rows))
}

// Realise lists the groups of a grid's rows.
func (x *Groups) Realise(e *Env) error {
	if x == nil || x.Projection == nil || x.Start != nil {
		return nil
	}
	if err := mayList(e, x.In.N); err != nil {
		return err
	}
	x.In.listed = true
	x.Codes = make([]int32, x.In.N)
	Walk(sizes(x.In.Dims), x.Projection.strides(x.In.Dims), func(row, number int) { x.Codes[row] = int32(number) })
	c := e.Crew()
	x.Start, x.Perm = c.sort(x.Codes, c.tally(x.Codes, x.Out.N, nil), nil)
	if x.Perm != nil {
		x.Order = &Index{ID: e.NewID(), Dst: x.In, Src: x.In, At: x.Perm}
	}
	return nil
}

// Virtual reports whether the index is that of a grid whose rows are not listed.
func (x *Index) Virtual() bool { return x != nil && x.Projection != nil && x.At == nil }

// From lists the row to which b maps each grid row that x reads.
func (x *Index) From(b *Index) []int32 {
	var grid []Dim
	var step []int
	all := b.Projection.strides(x.Src.Dims)
	for _, d := range x.Projection.Dims {
		grid, step = append(grid, x.Src.Dims[d]), append(step, all[d])
	}
	at := make([]int32, x.Dst.N)
	Walk(sizes(grid), step, func(row, number int) {
		if at[row] = int32(number); b.Projection.Table != nil {
			at[row] = b.Projection.Table[number]
		}
	})
	return at
}

// GridText says in plans that the rows of a node are a grid that has not been listed.
func (st *Stage) GridText(n *ra.Node) string {
	for s := st; s != nil; s = s.parent {
		if r := s.Rels[n]; r != nil && r.Space.Dims != nil && !r.Space.listed {
			return fmt.Sprintf(", a grid of %s, not listed",
				strings.ReplaceAll(strings.Trim(fmt.Sprint(sizes(r.Space.Dims)), "[]"), " ", " × "))
		}
	}
	return ""
}
