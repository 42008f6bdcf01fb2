package executor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

const maxRows = 1<<31 - 1

// rel is the structure of one node.
type rel struct {
	sp  *space
	idx []*index // Select, Join, SemiJoin, AntiJoin, Add (input rows by output row; nil entry: the identity)
	grp *groups  // Aggregate
	// layers, of a join that is a grid, tell which columns of its inputs hold which keys.
	layers []*layer
	dup    []*groups
	vecs   map[int]*ra.Vector
	data   []*ra.Vector       // Scan, Opaque
	look   map[string]*lookup // tables for joins, by columns
	// fixed tells whether columns tell the rows apart, by columns.
	fixed map[string]bool
	// pruned: release has taken how the rows were found; only vecs tell of them.
	pruned bool
}

// stage holds the structure and the vals of the run, or of one step on top of it.
type stage struct {
	p      *Program
	parent *stage
	ctx    context.Context
	main   *graph // values
	wide   *graph // what structure reads, in double precision
	rels   map[*ra.Node]*rel
	cols   map[colKey]*val
	tables map[*tableData]*rel
	leaves map[scanKey]*val
	spaces map[int]*space
	keys   map[string][]*val // leaves of keys, by a hash of their content
	exprs  map[exprsOf]map[*kernels.Expr]*val
	met    map[string]met // what joins have found
	mem    *pool          // of arrays that last for the stage
}

type colKey struct {
	wide bool
	n    *ra.Node
	col  int
}

func newStage(ctx context.Context, p *Program, parent *stage) *stage {
	st := &stage{p: p, parent: parent, ctx: ctx, rels: map[*ra.Node]*rel{}, cols: map[colKey]*val{}, tables: map[*tableData]*rel{}, leaves: map[scanKey]*val{},
		spaces: map[int]*space{}, keys: map[string][]*val{}, exprs: map[exprsOf]map[*kernels.Expr]*val{}, met: map[string]met{}}
	if parent != nil {
		st.mem = &p.pool
		x := newIndexer(parent.main.indexer, &p.ids, crew(p.opt.Workers), st.mem)
		st.main, st.wide = parent.main.child(x), parent.wide.child(x)
		return st
	}
	st.mem = &pool{of: p, lasts: true}
	x := newIndexer(nil, &p.ids, crew(p.opt.Workers), st.mem)
	st.main, st.wide = newGraph(p.opt.Force64, x), newGraph(true, x)
	st.wide.unit = st.main.unit
	st.main.p, st.wide.p, st.main.rows, st.wide.rows = p, p, st.space, st.space
	st.tables = p.scans
	return st
}

// rel returns the structure of a node, building it where neither this stage nor the run's has it.
func (st *stage) rel(n *ra.Node) (*rel, error) {
	for s := st; s != nil; s = s.parent {
		if r := s.rels[n]; r != nil {
			return r, nil
		}
	}
	if st.parent != nil && !st.p.flow.structure[n] { // does not change between steps
		return st.parent.rel(n)
	}
	if err := st.ctx.Err(); err != nil {
		return nil, err
	}
	inputs := make([]*rel, len(n.Inputs))
	for i, in := range n.Inputs {
		var err error
		if inputs[i], err = st.rel(in); err != nil {
			return nil, err
		}
	}
	r, err := st.build(n, inputs)
	if err != nil {
		return nil, err
	}
	if r.vecs == nil {
		r.vecs = map[int]*ra.Vector{}
	}
	st.rels[n] = r
	return r, nil
}

// space is the space of n rows. Relations of as many rows share it: what tells their rows apart are the
// indexes, and an index that maps every row to itself is none.
func (st *stage) space(n int) *space {
	if n == 1 && st.parent == nil {
		return st.main.unit
	}
	if st.spaces[n] == nil {
		st.spaces[n] = st.main.space(n, st.parent != nil)
	}
	return st.spaces[n]
}

func (st *stage) build(n *ra.Node, inputs []*rel) (*rel, error) {
	switch n.Op {
	case ra.Scan:
		return st.scan(n)
	case ra.Opaque:
		return st.opaque(n)
	case ra.Select, ra.Join:
		return st.join(n, inputs)
	case ra.SemiJoin, ra.AntiJoin:
		return st.semi(n, inputs)
	case ra.Aggregate:
		return st.aggregate(n, inputs[0])
	case ra.Union:
		total := 0
		for _, in := range inputs {
			total += in.sp.n
		}
		if total > maxRows {
			return nil, tooManyRows("a union")
		}
		return &rel{sp: st.space(total)}, nil
	case ra.Add:
		return st.add(n, inputs)
	}
	return nil, internal("%v has no executor", n.Op)
}

// scan shares one space among all scans of a table.
func (st *stage) scan(n *ra.Node) (*rel, error) {
	t := st.p.table(n.Table)
	if r := st.tables[t]; r != nil {
		return &rel{sp: r.sp, data: r.data}, nil // another scan may number the columns otherwise
	}
	cols, err := st.p.read(st, t)
	if err != nil {
		return nil, err
	}
	if len(cols) != len(t.cols) {
		return nil, internal("the source returned %d columns of %s for %d", len(cols), n.Table.Name, len(t.cols))
	}
	r := &rel{data: cols}
	rows := int(n.Table.Rows)
	if len(cols) > 0 {
		rows = cols[0].N
	}
	r.sp = st.space(rows)
	st.tables[t] = r
	return &rel{sp: r.sp, data: r.data}, nil
}

func (st *stage) opaque(n *ra.Node) (*rel, error) {
	cols, err := st.p.src.Opaque(st.ctx, n, &st.p.env)
	if err != nil {
		return nil, err
	}
	if len(cols) != len(n.Cols)-1 || len(cols) == 0 {
		return nil, internal("the source returned %d columns of %s for %d", len(cols), n.Label, len(n.Cols)-1)
	}
	number := ra.NewVector(kernels.Type{Kind: kernels.Int}, cols[0].N)
	for i := range number.Ints {
		number.Ints[i] = int64(i)
	}
	return &rel{sp: st.space(cols[0].N), data: append(cols[:len(cols):len(cols)], number)}, nil
}

// aggregate groups the input's rows. Groups of one row each, in order, leave the space as it is.
func (st *stage) aggregate(n *ra.Node, in *rel) (*rel, error) {
	rows := in.sp.n
	if len(n.Group) == 0 {
		out := st.main.unit
		if st.parent != nil {
			out = st.space(1)
		}
		return &rel{sp: out, grp: st.main.whole(in.sp, out)}, nil
	}
	if in.sp.dims != nil {
		if r := st.gridGroups(n, in); r != nil {
			return r, nil
		}
	}
	keys := make([]probeCol, len(n.Group))
	for i, id := range n.Group {
		var err error
		if keys[i], err = st.through(n.Inputs[0], n.Inputs[0].Index(id)); err != nil {
			return nil, err
		}
	}
	raw, span, err := st.groupCodes(keys, rows)
	if err != nil {
		return nil, err
	}
	r, err := st.groupedBy(in.sp, raw, span)
	if k := keys[0].idx; err == nil && r.grp != nil && k != nil && len(raw) > 0 && len(k.at) == len(raw) && &raw[0] == &k.at[0] {
		if r.grp.by != k {
			r.grp.by, r.grp.rows = k, nil
		}
	}
	return r, err
}

// sortGroups renumbers groups in the order of their keys, so that relations grouped by the same keys have
// the same rows in the same order.
func sortGroups(keys []*ra.Vector, code []int32, count int) {
	first := make([]int32, count)
	for r := len(code) - 1; r >= 0; r-- {
		first[code[r]] = int32(r)
	}
	compare := func(a, b int32) int { return compareRows(keys, int(first[a]), int(first[b])) }
	order := make([]int32, count)
	for g := range order {
		order[g] = int32(g)
	}
	if slices.IsSortedFunc(order, compare) {
		return
	}
	slices.SortFunc(order, compare)
	rank := make([]int32, count)
	for i, g := range order {
		rank[g] = int32(i)
	}
	for r, g := range code {
		code[r] = rank[g]
	}
}

// compareRows orders two rows by key columns, NULL first; chunks by their elements.
func compareRows(keys []*ra.Vector, a, b int) int {
	for _, v := range keys {
		if x, y := v.IsNull(a), v.IsNull(b); x || y {
			if x != y {
				return map[bool]int{true: -1, false: 1}[x]
			}
			continue
		}
		c, n := 0, v.Type.Size()
		switch {
		case v.Ints != nil:
			c = cmp.Compare(v.Ints[a], v.Ints[b])
		case v.Texts != nil:
			c = strings.Compare(v.Texts[a], v.Texts[b])
		case v.F64 != nil:
			c = slices.Compare(v.F64[a*n:(a+1)*n], v.F64[b*n:(b+1)*n])
		default:
			c = slices.Compare(v.F32[a*n:(a+1)*n], v.F32[b*n:(b+1)*n])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (st *stage) grouped(in *space, code []int32, count int, t *tally) *rel {
	g := st.main.tallied(in, st.space(count), code, t, st.parent != nil)
	first := st.mem.ints(count)
	if copy(first, g.start); g.perm != nil {
		crew(st.p.opt.Workers).each(count, func(lo, hi int) { cpu.Through(first[lo:hi], first[lo:hi], g.perm) })
	}
	return &rel{sp: g.out, grp: g, idx: []*index{st.main.index(g.out, in, first)}}
}

// vectors returns columns of a node, by id, and as many trues.
func (st *stage) vectors(n *ra.Node, ids []ra.ColumnID) ([]*ra.Vector, []bool, error) {
	out, safe := make([]*ra.Vector, len(ids)), make([]bool, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = st.vec(n, n.Index(id)); err != nil {
			return nil, nil, err
		}
		safe[i] = true
	}
	return out, safe, nil
}

// add finds the union of the inputs' keys and where each input has them.
func (st *stage) add(n *ra.Node, inputs []*rel) (*rel, error) {
	all := keyCols{}
	safe := make([]bool, len(n.Key))
	for k := range n.Key {
		safe[k] = true
		parts := make([]*ra.Vector, len(n.Inputs))
		for i, in := range n.Inputs {
			var err error
			if parts[i], err = st.vec(in, k); err != nil {
				return nil, err
			}
		}
		all.cols = append(all.cols, concatVectors(parts, st.mem.scratch()))
	}
	for _, in := range inputs {
		all.n += in.sp.n
	}
	code, count, err := st.numbers(all, safe)
	if err != nil {
		return nil, err
	}
	r := &rel{idx: make([]*index, len(inputs)), dup: make([]*groups, len(inputs))}
	if count == inputs[0].sp.n && isIdentity(code[:count]) { // the first input has all keys, each once
		r.sp = inputs[0].sp
	} else {
		r.sp = st.space(count)
	}
	at := 0
	for i, in := range inputs {
		st.invert(r, i, in.sp, code[at:at+in.sp.n], count)
		at += in.sp.n
	}
	return r, nil
}

func isIdentity(at []int32) bool {
	for i, r := range at {
		if int(r) != i {
			return false
		}
	}
	return true
}

// invert notes for input i of an Add, whose row j is output row code[j], where each output row comes from.
func (st *stage) invert(r *rel, i int, in *space, code []int32, count int) {
	inv, identity := st.mem.ints(count), count == len(code)
	fill(inv, -1)
	for j, c := range code {
		if inv[c] >= 0 { // several rows of one key: sum them
			r.dup[i] = st.main.groups(in, r.sp, slices.Clone(code), st.parent != nil)
			return
		}
		inv[c] = int32(j)
		identity = identity && int(c) == j
	}
	if identity {
		r.idx[i] = st.main.index(r.sp, in, nil)
		return
	}
	r.idx[i] = st.main.add(&index{dst: r.sp, src: in, at: inv, missing: len(code) < count, step: st.parent != nil})
}

// concatVectors puts columns of one kind one below the other, in memory of a step or on the heap.
func concatVectors(parts []*ra.Vector, mem *pool) *ra.Vector {
	out := &ra.Vector{Type: parts[0].Type}
	nulls := false
	for _, v := range parts {
		out.N += v.N
		nulls = nulls || v.Valid != nil
	}
	if parts[0].Ints != nil {
		out.Ints = mem.longs(out.N)[:0] // to grow it would take twice as much
	}
	for _, v := range parts {
		out.Ints = append(out.Ints, v.Ints...)
		out.F32 = append(out.F32, v.F32...)
		out.F64 = append(out.F64, v.F64...)
		out.Texts = append(out.Texts, v.Texts...)
		for i := 0; nulls && i < v.N; i++ {
			out.Valid = append(out.Valid, !v.IsNull(i))
		}
	}
	return out
}
