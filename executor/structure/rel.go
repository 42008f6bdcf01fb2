package structure

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/einsum"
	"github.com/relgrad/relgrad/tensor"
)

// Relation is the structure of one node.
type Relation struct {
	Space   *Space
	Indexes []*Index // Select, Join, SemiJoin, AntiJoin, Add (input rows by output row); nil entry: identity
	Groups  *Groups  // Aggregate
	Order   *Order   // Window
	// layers, of a join that is a grid, tell which columns of its inputs hold the keys of which dims.
	layers  []*layer
	Repeats []*Groups
	Vectors map[int]*column.Column
	Data    []*column.Column   // of a Scan or Opaque
	lookups map[string]*Lookup // tables for joins, by their columns
	// fixed remembers, by columns, whether they tell the rows apart.
	fixed map[string]bool
	// Pruned: the program has freed the indexes; of its columns only those in Vectors and Data are left.
	Pruned bool
}

// Stage holds the structure of the run, or of a step on top of the run's.
type Stage struct {
	env     *Env
	parent  *Stage
	Ctx     context.Context
	Indexer *Indexer
	Unit    *Space // of one row
	from    Columns
	Rels    map[*ra.Node]*Relation
	spaces  map[int]*Space
	met     map[string]met // what joins have found, by metKey
	orders  map[string]*Order
	Arrays  *Arrays           // memory for arrays that last as long as the stage
	varies  bool              // it is a step's, or a level's of a step
	own     map[*ra.Node]bool // of a level of a Recursion: the nodes that it computes
}

// Env is shared by the stages of a program.
type Env struct {
	Workers int
	Budget  Budget
	Flow    *Flow
	Sums    *einsum.Finder // the labelled forms of the plan
	Tune    *tuning.Sizes
	ids     int
	zeros   []int32 // a list of zeros: the rows of a relation of one row in joins
	Steps   Arrays  // memory for the steps' arrays
}

func NewEnv(workers int, b Budget, f *Flow, t *tuning.Sizes) *Env {
	e := &Env{Workers: workers, Budget: b, Flow: f, Sums: einsum.NewFinder(), Tune: t}
	e.Steps.budget, e.Steps.narrow.least, e.Steps.wide.least = b, t.LaneRows/16, t.LaneRows/16
	return e
}

// NewID returns a number that nothing else in the program has.
func (e *Env) NewID() int { e.ids++; return e.ids }

// Crew are the workers of structure.
func (e *Env) Crew() crew { return crew{e.Workers, e.Tune.LaneRows} }

// Budget decides where the arrays of structure lie.
type Budget interface {
	// InFile reports whether an array of so many bytes goes to a file.
	InFile(bytes int64) bool
	// Spill makes a buffer in a file.
	Spill(bytes int) (*tensor.Buffer, error)
	// Lasts notes an array of the run's structure and the file in which it lies; nil: it lies in memory.
	Lasts(bytes int64, file *tensor.Buffer)
	// MayHold refuses arrays of so many bytes where the budget does not hold them.
	MayHold(bytes int64) error
}

// Columns gives structure the columns whose keys joins and groups read.
type Columns interface {
	// Stored is the relation that a Scan or an Opaque reads, a Self stands for, or a Recursion makes. That has Vectors.
	Stored(n *ra.Node) (*Relation, error)
	// Vector is column i of n.
	Vector(n *ra.Node, i int) (*column.Column, error)
	// Probe is column i of n for look-ups: integers that are read through an index are not copied.
	Probe(n *ra.Node, i int) (Probe, error)
	// Name identifies a column: columns of one name are equal.
	Name(n *ra.Node, i int) (ColumnName, error)
	// Filter compiles a predicate over the inputs of a join.
	Filter(n *ra.Node, inputs []*Relation, p *kernels.Expr) (*Filter, error)
}

// ColumnName is the same for columns that are computed in the same way.
type ColumnName struct {
	ID       int
	Nullable bool
}

func NewStage(ctx context.Context, e *Env, from Columns) *Stage {
	st := makeStage(ctx, e, from)
	st.Arrays = &Arrays{budget: e.Budget, lasts: true}
	st.Indexer = NewIndexer(nil, e, st.Arrays)
	st.Unit = st.Indexer.Space(1, false)
	return st
}

// Step makes the stage of a step on top of the run's.
func (st *Stage) Step(ctx context.Context, from Columns) *Stage {
	s := makeStage(ctx, st.env, from)
	s.parent, s.Arrays, s.Unit, s.varies = st, &st.env.Steps, st.Unit, true
	s.Indexer = NewIndexer(st.Indexer, st.env, s.Arrays)
	return s
}

// Level makes the stage of a level of a Recursion of st: of the nodes own it has a structure of its own. It shares
// spaces and indexes with st.
func (st *Stage) Level(from Columns, own map[*ra.Node]bool) *Stage {
	s := makeStage(st.Ctx, st.env, from)
	s.parent, s.Arrays, s.Unit, s.varies, s.own = st, st.Arrays, st.Unit, st.varies, own
	s.Indexer, s.spaces = st.Indexer, st.spaces
	return s
}

// Varies reports whether what the stage builds may change between steps.
func (st *Stage) Varies() bool { return st.varies }

// Above reports whether the stage below has the structure of n.
func (st *Stage) Above(n *ra.Node) bool {
	if st.own != nil {
		return !st.own[n]
	}
	return st.parent != nil && !st.env.Flow.Structure[n]
}

// Reads is the index by which rows of dst read rows of src; -1: none.
func (st *Stage) Reads(dst, src *Space, at []int32) *Index {
	n := &Index{Dst: dst, Src: src, At: at, Missing: slices.Contains(at, -1), step: st.varies}
	if dst == src && IsIdentity(at) {
		n.At = nil
	}
	return st.Indexer.add(n)
}

// Forget forgets the indexes and what joins have found. Indexes made later are not those made before, even if equal.
func (st *Stage) Forget() {
	st.met, st.orders = map[string]met{}, map[string]*Order{}
	st.Indexer.forget()
}

func makeStage(ctx context.Context, e *Env, from Columns) *Stage {
	return &Stage{env: e, Ctx: ctx, from: from, Rels: map[*ra.Node]*Relation{}, spaces: map[int]*Space{},
		met: map[string]met{}, orders: map[string]*Order{}}
}

// Relation returns the structure of a node, building it where neither this stage nor the run's has it.
func (st *Stage) Relation(n *ra.Node) (*Relation, error) {
	for s := st; s != nil; s = s.parent {
		if r := s.Rels[n]; r != nil {
			return r, nil
		}
	}
	if st.Above(n) { // the run has it: it does not change between steps
		return st.parent.Relation(n)
	}
	if err := st.Ctx.Err(); err != nil {
		return nil, err
	}
	if n.Op == ra.Recursion { // its step has a structure for each level
		r, err := st.from.Stored(n)
		if err == nil {
			st.Rels[n] = r
		}
		return r, err
	}
	inputs := make([]*Relation, len(n.Inputs))
	for i, in := range n.Inputs {
		var err error
		if inputs[i], err = st.Relation(in); err != nil {
			return nil, err
		}
	}
	r, err := st.build(n, inputs)
	if err != nil {
		return nil, err
	}
	if r.Vectors == nil {
		r.Vectors = map[int]*column.Column{}
	}
	st.Rels[n] = r
	return r, nil
}

// Space is the space of n rows. Relations of the same number of rows share it: their rows are told apart by the
// indexes, and an index that maps every row to itself is none.
func (st *Stage) Space(n int) *Space {
	if n == 1 && !st.varies {
		return st.Unit
	}
	if st.spaces[n] == nil {
		st.spaces[n] = st.Indexer.Space(n, st.varies)
	}
	return st.spaces[n]
}

func (st *Stage) build(n *ra.Node, inputs []*Relation) (*Relation, error) {
	switch n.Op {
	case ra.Scan, ra.Opaque, ra.Self:
		return st.from.Stored(n)
	case ra.Select, ra.Join:
		return st.join(n, inputs)
	case ra.SemiJoin, ra.AntiJoin:
		return st.semi(n, inputs)
	case ra.Aggregate:
		return st.aggregate(n, inputs[0])
	case ra.Window:
		return windowed(st, n, inputs[0])
	case ra.Union:
		total := 0
		for _, in := range inputs {
			total += in.Space.N
		}
		if total > MaxRows {
			return nil, tooManyRows("a union")
		}
		return &Relation{Space: st.Space(total)}, nil
	case ra.Add:
		return st.add(n, inputs)
	}
	return nil, internal("%v has no executor", n.Op)
}

// aggregate groups the input's rows. Groups of one row each, in order, leave the space as it is.
func (st *Stage) aggregate(n *ra.Node, in *Relation) (*Relation, error) {
	rows := in.Space.N
	if len(n.Group) == 0 {
		out := st.Unit
		if st.varies {
			out = st.Space(1)
		}
		return &Relation{Space: out, Groups: st.Indexer.All(in.Space, out)}, nil
	}
	if in.Space.Dims != nil {
		if r := st.gridGroups(n, in); r != nil {
			return r, nil
		}
	}
	keys := make([]Probe, len(n.Group))
	for i, id := range n.Group {
		var err error
		if keys[i], err = st.from.Probe(n.Inputs[0], n.Inputs[0].Index(id)); err != nil {
			return nil, err
		}
	}
	raw, span, err := st.groupCodes(keys, rows)
	if err != nil {
		return nil, err
	}
	r, err := st.groupedBy(in.Space, raw, span)
	if k := keys[0].Index; err == nil && r.Groups != nil && k != nil && len(raw) > 0 && len(k.At) == len(raw) &&
		&raw[0] == &k.At[0] {
		if r.Groups.By != k {
			r.Groups.By, r.Groups.rows = k, nil
		}
	}
	return r, err
}

// sortGroups renumbers groups in the order of their keys, so that relations grouped by the same keys have the same rows
// in the same order.
func sortGroups(keys []*column.Column, code []int32, count int) {
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

// InOrder lists n rows in the order of key columns.
func InOrder(keys []*column.Column, n int) []int32 {
	order := make([]int32, n)
	for r := range order {
		order[r] = int32(r)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return compareRows(keys, int(a), int(b)) })
	return order
}

// compareRows orders two rows by key columns, NULL first; chunks by their elements.
func compareRows(keys []*column.Column, a, b int) int {
	for _, v := range keys {
		if x, y := v.IsNull(a), v.IsNull(b); x || y {
			if x != y {
				return map[bool]int{true: -1, false: 1}[x]
			}
			continue
		}
		c, n := 0, v.Size()
		switch {
		case v.Kind() == column.I64:
			c = cmp.Compare(v.I64()[a], v.I64()[b])
		case v.Kind() == column.Str:
			c = strings.Compare(v.Texts()[a], v.Texts()[b])
		case v.Kind() == column.F64:
			c = slices.Compare(v.F64()[a*n:(a+1)*n], v.F64()[b*n:(b+1)*n])
		default:
			c = slices.Compare(v.F32()[a*n:(a+1)*n], v.F32()[b*n:(b+1)*n])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (st *Stage) grouped(in *Space, code []int32, count int, t *tally) *Relation {
	g := st.Indexer.tallied(in, st.Space(count), code, t, st.varies)
	first := st.Arrays.Ints(count)
	if copy(first, g.Start); g.Perm != nil {
		st.env.Crew().each(count, func(lo, hi int) { cpu.Through(first[lo:hi], first[lo:hi], g.Perm) })
	}
	return &Relation{Space: g.Out, Groups: g, Indexes: []*Index{st.Indexer.Index(g.Out, in, first)}}
}

// Vectors returns columns of a node by id, and as many trues.
func (st *Stage) Vectors(n *ra.Node, ids []ra.ColumnID) ([]*column.Column, []bool, error) {
	out, safe := make([]*column.Column, len(ids)), make([]bool, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = st.from.Vector(n, n.Index(id)); err != nil {
			return nil, nil, err
		}
		safe[i] = true
	}
	return out, safe, nil
}

// add finds the keys of all inputs, and which row of each input has which key.
func (st *Stage) add(n *ra.Node, inputs []*Relation) (*Relation, error) {
	all := keyCols{}
	safe := make([]bool, len(n.Key))
	for k := range n.Key {
		safe[k] = true
		parts := make([]*column.Column, len(n.Inputs))
		for i, in := range n.Inputs {
			var err error
			if parts[i], err = st.from.Vector(in, k); err != nil {
				return nil, err
			}
		}
		all.cols = append(all.cols, ConcatVectors(parts, st.Arrays.Scratch()))
	}
	for _, in := range inputs {
		all.n += in.Space.N
	}
	code, count, err := st.numbers(all, safe)
	if err != nil {
		return nil, err
	}
	r := &Relation{Indexes: make([]*Index, len(inputs)), Repeats: make([]*Groups, len(inputs))}
	if count == inputs[0].Space.N && IsIdentity(code[:count]) { // the first input has all keys, each once
		r.Space = inputs[0].Space
	} else {
		r.Space = st.Space(count)
	}
	at := 0
	for i, in := range inputs {
		st.invert(r, i, in.Space, code[at:at+in.Space.N], count)
		at += in.Space.N
	}
	return r, nil
}

func IsIdentity(at []int32) bool {
	for i, r := range at {
		if int(r) != i {
			return false
		}
	}
	return true
}

// invert records which row of input i each output row reads, given that input row j has key code[j].
func (st *Stage) invert(r *Relation, i int, in *Space, code []int32, count int) {
	inv, identity := st.Arrays.Ints(count), count == len(code)
	Fill(inv, -1)
	for j, c := range code {
		if inv[c] >= 0 { // several rows have the same key: they are summed
			r.Repeats[i] = st.Indexer.Groups(in, r.Space, slices.Clone(code), st.varies)
			return
		}
		inv[c] = int32(j)
		identity = identity && int(c) == j
	}
	if identity {
		r.Indexes[i] = st.Indexer.Index(r.Space, in, nil)
		return
	}
	r.Indexes[i] = st.Indexer.add(&Index{Dst: r.Space, Src: in, At: inv, Missing: len(code) < count,
		step: st.varies})
}

// ConcatVectors puts columns of one kind below each other, in memory of mem or on the heap.
func ConcatVectors(parts []*column.Column, mem *Arrays) *column.Column {
	out, n := column.Planned(parts[0].Kind(), 0, parts[0].Size()).As(parts[0].Type()), 0
	for _, v := range parts {
		n += v.Len()
	}
	if out.Kind() == column.I64 {
		out = column.Of(out.Type(), mem.Longs(n)[:0]) // growing it would take twice the memory
	}
	for _, v := range parts {
		out.Append(v)
	}
	return out
}
