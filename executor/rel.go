package executor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

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

// Stage holds the structure of the run, or of one step on top of it.
type Stage struct {
	env    *Env
	parent *Stage
	ctx    context.Context
	ix     *indexer
	unit   *space // of one row
	from   Columns
	rels   map[*ra.Node]*rel
	spaces map[int]*space
	met    map[string]met // what joins have found
	mem    *pool          // of arrays that last for the stage
}

// Env is what the stages of a program share.
type Env struct {
	Workers int
	Budget  Budget
	Flow    *flow
	Tune    *Tuning
	ids     int
	zeros   []int32 // the rows of a relation of one row, in joins
	steps   pool    // of the arrays of a step
}

func newEnv(workers int, b Budget, f *flow, t *Tuning) *Env {
	e := &Env{Workers: workers, Budget: b, Flow: f, Tune: t}
	e.steps.budget, e.steps.narrow.least, e.steps.wide.least = b, t.LaneRows/16, t.LaneRows/16
	return e
}

// id is a number that nothing else of the program has.
func (e *Env) id() int { e.ids++; return e.ids }

// crew are the workers of structure.
func (e *Env) crew() crew { return crew{e.Workers, e.Tune.LaneRows} }

// Budget says where the arrays of structure lie.
type Budget interface {
	// inFile reports whether an array of so many bytes goes to a file.
	inFile(bytes int64) bool
	// spill makes a buffer in a file.
	spill(bytes int) (*tensor.Buffer, error)
	// lasts notes an array that lasts for the run, and the file that it lies in; nil: in memory.
	lasts(bytes int64, file *tensor.Buffer)
	// holds refuses so many bytes of arrays where they cannot be held.
	holds(bytes int64) error
}

// Columns are those of relations, which structure looks at: joins and groups read their keys.
type Columns interface {
	// stored is the relation that a Scan or an Opaque reads.
	stored(n *ra.Node) (*rel, error)
	// vec is column i of n.
	vec(n *ra.Node, i int) (*ra.Vector, error)
	// through is column i of n to be looked up: whole numbers that are read through an index are left where they are.
	through(n *ra.Node, i int) (probeCol, error)
	// name tells columns apart: those of one name are equal.
	name(n *ra.Node, i int) (columnName, error)
	// filter compiles a predicate over rows of the inputs of a join.
	filter(n *ra.Node, inputs []*rel, p *kernels.Expr) (*filter, error)
}

// columnName names what is computed alike.
type columnName struct {
	id       int
	nullable bool
}

func newRunStage(ctx context.Context, e *Env, from Columns) *Stage {
	st := makeStage(ctx, e, from)
	st.mem = &pool{budget: e.Budget, lasts: true}
	st.ix = newIndexer(nil, e, st.mem)
	st.unit = st.ix.space(1, false)
	return st
}

// step makes the stage of a step on top of the run's.
func (st *Stage) step(ctx context.Context, from Columns) *Stage {
	s := makeStage(ctx, st.env, from)
	s.parent, s.mem, s.unit = st, &st.env.steps, st.unit
	s.ix = newIndexer(st.ix, st.env, s.mem)
	return s
}

// forget forgets what joins have found and which indexes there are: equal ones that are made later are others.
func (st *Stage) forget() {
	st.met = map[string]met{}
	st.ix.forget()
}

func makeStage(ctx context.Context, e *Env, from Columns) *Stage {
	return &Stage{env: e, ctx: ctx, from: from, rels: map[*ra.Node]*rel{}, spaces: map[int]*space{}, met: map[string]met{}}
}

// rel returns the structure of a node, building it where neither this stage nor the run's has it.
func (st *Stage) rel(n *ra.Node) (*rel, error) {
	for s := st; s != nil; s = s.parent {
		if r := s.rels[n]; r != nil {
			return r, nil
		}
	}
	if st.parent != nil && !st.env.Flow.structure[n] { // does not change between steps
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
func (st *Stage) space(n int) *space {
	if n == 1 && st.parent == nil {
		return st.unit
	}
	if st.spaces[n] == nil {
		st.spaces[n] = st.ix.space(n, st.parent != nil)
	}
	return st.spaces[n]
}

func (st *Stage) build(n *ra.Node, inputs []*rel) (*rel, error) {
	switch n.Op {
	case ra.Scan, ra.Opaque:
		return st.from.stored(n)
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
	return nil, malformed("%v has no executor", n.Op)
}

// aggregate groups the input's rows. Groups of one row each, in order, leave the space as it is.
func (st *Stage) aggregate(n *ra.Node, in *rel) (*rel, error) {
	rows := in.sp.n
	if len(n.Group) == 0 {
		out := st.unit
		if st.parent != nil {
			out = st.space(1)
		}
		return &rel{sp: out, grp: st.ix.whole(in.sp, out)}, nil
	}
	if in.sp.dims != nil {
		if r := st.gridGroups(n, in); r != nil {
			return r, nil
		}
	}
	keys := make([]probeCol, len(n.Group))
	for i, id := range n.Group {
		var err error
		if keys[i], err = st.from.through(n.Inputs[0], n.Inputs[0].Index(id)); err != nil {
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

func (st *Stage) grouped(in *space, code []int32, count int, t *tally) *rel {
	g := st.ix.tallied(in, st.space(count), code, t, st.parent != nil)
	first := st.mem.ints(count)
	if copy(first, g.start); g.perm != nil {
		st.env.crew().each(count, func(lo, hi int) { cpu.Through(first[lo:hi], first[lo:hi], g.perm) })
	}
	return &rel{sp: g.out, grp: g, idx: []*index{st.ix.index(g.out, in, first)}}
}

// vectors returns columns of a node, by id, and as many trues.
func (st *Stage) vectors(n *ra.Node, ids []ra.ColumnID) ([]*ra.Vector, []bool, error) {
	out, safe := make([]*ra.Vector, len(ids)), make([]bool, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = st.from.vec(n, n.Index(id)); err != nil {
			return nil, nil, err
		}
		safe[i] = true
	}
	return out, safe, nil
}

// add finds the union of the inputs' keys and where each input has them.
func (st *Stage) add(n *ra.Node, inputs []*rel) (*rel, error) {
	all := keyCols{}
	safe := make([]bool, len(n.Key))
	for k := range n.Key {
		safe[k] = true
		parts := make([]*ra.Vector, len(n.Inputs))
		for i, in := range n.Inputs {
			var err error
			if parts[i], err = st.from.vec(in, k); err != nil {
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
func (st *Stage) invert(r *rel, i int, in *space, code []int32, count int) {
	inv, identity := st.mem.ints(count), count == len(code)
	fill(inv, -1)
	for j, c := range code {
		if inv[c] >= 0 { // several rows of one key: sum them
			r.dup[i] = st.ix.groups(in, r.sp, slices.Clone(code), st.parent != nil)
			return
		}
		inv[c] = int32(j)
		identity = identity && int(c) == j
	}
	if identity {
		r.idx[i] = st.ix.index(r.sp, in, nil)
		return
	}
	r.idx[i] = st.ix.add(&index{dst: r.sp, src: in, at: inv, missing: len(code) < count, step: st.parent != nil})
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
