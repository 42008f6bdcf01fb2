package values

import (
	"fmt"
	"math"
	"strconv"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// Op says how a val is computed.
type Op uint8

const (
	OpLeaf     Op = iota // stored data
	OpConst              // a constant
	OpCall               // a kernel applied to args, row by row
	OpGather             // Args[0] read through Index
	OpAgg                // Args[0] reduced over Groups
	OpConcat             // args one below the other
	OpLayout             // args[0] in another chunking
	OpExchange           // rows of args[0] as it is at several sites
	OpWindow             // args[0] aggregated over Frame, in Order; among the extremes of args[1] if there is one
)

// Val is a column over a space. A val in a space of one row may be used in every space. Vals are
// hash-consed: the same computation is the same val.
type Val struct {
	ID     int
	Op     Op
	Space  *structure.Space
	Type   kernels.Type
	Vary   bool // may change from step to step
	Args   []*Val
	Expr   *kernels.Expr // OpCall: the kernel, over columns 0:i (argument i) or constants
	Value  kernels.Value
	Index  *structure.Index
	Fn     ra.AggFn
	Groups *structure.Groups
	From   []*structure.Space // OpConcat: the spaces of args
	Special
	Over *Val   // the val whose memory this one overwrites; nil: none
	Name string // for plans: of a leaf its name, else what it stands for

	fails *bool // the result of CanFail; nil: not known yet

	Data *column.Column // OpLeaf: the data; else the buffer once it is materialised
	Done bool           // it is computed once, and Data holds its values

	Structural bool // only the structure reads it; it is freed with it
}

// Special is what vals of one kind have that few are of.
type Special struct {
	Layout Chunking         // OpLayout
	Moves  *Exchange        // OpExchange
	Order  *structure.Order // OpWindow
	Frame  ra.Frame         // OpWindow
	Among  *ra.Extremes     // OpWindow: which rows of a frame count, by args[1]; nil: all
}

func (v *Val) Uniform() bool { return v.Space.N == 1 }

// Graph holds vals. A step's graph extends the run's, which is its parent.
type Graph struct {
	*structure.Indexer
	Parent *Graph
	Wide   bool // real is computed as double precision
	Seen   map[string]*Val
	Moved  map[*Val]*Val // by val: what keepGuarded made of it
	Unit   *structure.Space
	calls  map[string]*kernels.Expr
	Shared *Shared                      // nil: no val is read through an index of a grid
	Rows   func(n int) *structure.Space // the space of n rows
	rows   *structure.Labelled          // the labels of the rows that vals are made over; nil: not known
}

// Over is g for vals over rows whose labels are known. It shares g's vals.
func (g *Graph) Over(rows *structure.Labelled) *Graph {
	over := *g
	over.rows = rows
	return &over
}

func NewGraph(wide bool, x *structure.Indexer, unit *structure.Space) *Graph {
	return &Graph{Indexer: x, Wide: wide, Seen: map[string]*Val{}, Moved: map[*Val]*Val{}, Unit: unit,
		calls: map[string]*kernels.Expr{}}
}

// Child returns a graph for one step's vals.
func (g *Graph) Child(x *structure.Indexer) *Graph {
	return &Graph{Indexer: x, Parent: g, Wide: g.Wide, Seen: map[string]*Val{}, Moved: map[*Val]*Val{}, Unit: g.Unit,
		Shared: g.Shared, Rows: g.Rows, calls: g.calls}
}

// intern returns the val with this key, and makes it on first use. A val that does not change between steps belongs to
// the run's graph even if a step makes it, so that later steps find it.
func (g *Graph) intern(key string, make func() *Val) *Val {
	if v := g.find(key); v != nil {
		return v
	}
	v := make()
	v.ID = g.NewID()
	for !v.Vary && g.Parent != nil {
		g = g.Parent
	}
	g.Seen[key] = v
	return v
}

// KindType is t with the kind of number that the graph computes with.
func (g *Graph) KindType(t kernels.Type) kernels.Type {
	if g.Wide && t.Kind == kernels.Float32 {
		t.Kind = kernels.Float64
	}
	return t
}

// Leaf makes a new val of stored data. In a step's graph the data are the step's.
func (g *Graph) Leaf(name string, t kernels.Type, sp *structure.Space, d *column.Column, vary bool) *Val {
	t.Nullable = d.Valid() != nil
	return &Val{ID: g.NewID(), Op: OpLeaf, Name: name, Space: sp, Type: g.KindType(t), Data: d,
		Vary: vary || sp.Varies || g.Parent != nil, Done: true}
}

func (g *Graph) Constant(c kernels.Value) *Val {
	c.Type = g.KindType(c.Type)
	c.Type.Nullable = c.Null
	key := fmt.Sprintf("k%v %v %d %x %q %v %s", c.Type, c.Null, c.I, math.Float64bits(c.X), c.T, c.Ints, hashFloats(c.F))
	return g.intern(key, func() *Val { return &Val{Op: OpConst, Space: g.Unit, Type: c.Type, Value: c} })
}

func hashFloats(f []float64) string {
	if len(f) <= 16 {
		return fmt.Sprintf("%x", f)
	}
	a, b := uint64(len(f)), uint64(0x9E3779B97F4A7C15)
	for _, x := range f {
		a = tensor.Mix(a ^ math.Float64bits(x))
		b = tensor.Mix(b + math.Float64bits(x)*3)
	}
	return fmt.Sprintf("#%x,%x", a, b)
}

// Call applies a kernel to columns. If all arguments are read through one index from a space with no more rows, the
// kernel is applied there and its result is read through the index.
func (g *Graph) Call(d *kernels.Def, at kernels.Attr, args ...*Val) (*Val, error) {
	if v, err := g.simpler(d, at, args); v != nil || err != nil {
		return v, err
	}
	sp, err := commonSpace(g, args)
	if err != nil {
		return nil, err
	}
	if idx, inner := sharedIndex(args); idx != nil && (worthLifting(d, idx, args) || g.knows(d, at, idx, inner)) &&
		Total(d, at, args) {
		v, err := g.Call(d, at, inner...)
		if err != nil {
			return nil, err
		}
		alone := concatKey(v.Type, v.Space, []*Val{v}, []*structure.Space{v.Space})
		if kept := g.find(alone); kept != nil { // it lies in memory
			v = kept
		}
		return g.Gather(v, idx)
	}
	key := callKey(d, at, sp, args)
	product := d.Name == "dot" || d.Name == "matmul"
	if v := g.find(key); v != nil && !product {
		return v, nil
	}
	e, err := g.typed(d, at, args)
	if err != nil {
		return nil, err
	}
	vary := d.PerStep || sp.Varies
	for _, a := range args {
		vary = vary || a.Vary
	}
	v := g.intern(key, func() *Val { return &Val{Op: OpCall, Space: sp, Type: e.Type, Args: args, Expr: e, Vary: vary} })
	if product {
		if w, err := gridProduct(g, v, v.Type, nil); w != nil || err != nil {
			return w, err
		}
	}
	return v, nil
}

// typed is the call for arguments of these types. It is made once for calls that differ in nothing else: levels of a
// recursion have thousands of these.
func (g *Graph) typed(d *kernels.Def, at kernels.Attr, args []*Val) (*kernels.Expr, error) {
	key, same := append(append(make([]byte, 0, 96), d.Name...), ' '), true
	if !at.IsZero() {
		key = fmt.Append(key, at)
	}
	for _, a := range args {
		same = same && a.Op != OpConst && a.Type.Of == nil
		key = strconv.AppendInt(append(key, ' '), int64(a.Type.Kind), 10)
		if key = strconv.AppendBool(key, a.Type.Nullable); a.Type.Shape != nil {
			key = append(key, 's')
		}
		for _, n := range a.Type.Shape {
			key = strconv.AppendInt(append(key, ','), int64(n), 10)
		}
	}
	if e := g.calls[string(key)]; e != nil && same {
		return e, nil
	}
	exprs := make([]*kernels.Expr, len(args))
	for i, a := range args {
		exprs[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, a.Type)
		if a.Op == OpConst {
			exprs[i] = kernels.Const(a.Value)
		}
	}
	e, err := kernels.Call(d, at, exprs...)
	if err != nil {
		return nil, err
	}
	if e.Type = g.KindType(e.Type); same {
		g.calls[string(key)] = e
	}
	return e, nil
}

// simpler is an equal but simpler val for a call; nil if there is none.
func (g *Graph) simpler(d *kernels.Def, at kernels.Attr, args []*Val) (*Val, error) {
	if d.Name == "transpose" && Turned(args[0]) {
		return args[0].Args[0], nil
	}
	if d.Name == "is_not_null" && !args[0].Type.Nullable {
		return g.Constant(kernels.BoolValue(true)), nil
	}
	if v := chosen(d, args); v != nil {
		return v, nil
	}
	if d.Name == "nullif" && args[0].Type.Kind != kernels.Text {
		same, err := g.Call(kernels.Lookup("eq"), kernels.Attr{}, args...)
		if err != nil {
			return nil, err
		}
		return g.Call(kernels.Lookup("case"), kernels.Attr{}, same, g.Constant(kernels.NullOf(args[0].Type)), args[0])
	}
	if d.Name == "is_distinct" {
		return g.distinct(args)
	}
	if v, err := ofSoftmax(g, d, args); v != nil || err != nil {
		return v, err
	}
	return g.elementwise(d, at, args)
}

// distinct is IS DISTINCT FROM: whether values differ or, where one is NULL, whether the other is not.
func (g *Graph) distinct(args []*Val) (*Val, error) {
	differ, err := g.Call(kernels.Lookup("ne"), kernels.Attr{}, args...)
	if err != nil || !args[0].Type.Nullable && !args[1].Type.Nullable {
		return differ, err
	}
	null := make([]*Val, len(args))
	for i, a := range args {
		if null[i], err = g.Call(kernels.Lookup("is_null"), kernels.Attr{}, a); err != nil {
			return nil, err
		}
	}
	one, err := g.Call(kernels.Lookup("ne"), kernels.Attr{}, null...)
	if err != nil {
		return nil, err
	}
	return g.Call(kernels.Lookup("coalesce"), kernels.Attr{}, differ, one)
}

// callKey is the key of a call. It is built by hand, which is fast: a plan has hundreds of them.
func callKey(d *kernels.Def, at kernels.Attr, sp *structure.Space, args []*Val) string {
	key := append(make([]byte, 0, 96), 'c')
	key = append(append(key, d.Name...), ' ')
	if !at.IsZero() {
		key = fmt.Append(key, at)
	}
	key = strconv.AppendInt(append(key, ' '), int64(sp.ID), 10)
	for _, a := range args {
		key = strconv.AppendInt(append(key, ' '), int64(a.ID), 10)
	}
	return string(key)
}

// chosen is the argument that a CASE or COALESCE is known to choose; nil if none is known, or if the values' types
// differ.
func chosen(d *kernels.Def, args []*Val) *Val {
	values := args
	switch {
	case d.Name == "case" && args[0].Op == OpConst && args[0].Value.True():
		values = nil
		for i := 1; i+1 < len(args); i += 2 {
			values = append(values, args[i])
		}
		values = append(values, args[len(args)-1])
	case d.Name != "coalesce" || args[0].Type.Nullable:
		return nil
	}
	v := values[0]
	for _, a := range values[1:] {
		if a.Type.Kind != v.Type.Kind || !a.Type.Shape.Equal(v.Type.Shape) {
			return nil
		}
	}
	return v
}

// worthLifting reports whether a kernel is better applied before its arguments are read through idx: it then runs over
// fewer rows, or over as many if that saves reading several columns.
func worthLifting(d *kernels.Def, idx *structure.Index, args []*Val) bool {
	if d.Name == "transpose" {
		return false // a product reads a matrix either way
	}
	if thins(idx) || idx.Src.N*2 <= idx.Dst.N {
		return !thins(idx)
	}
	t := make([]kernels.Type, len(args))
	columns, size := 0, 1
	for i, a := range args {
		if t[i] = a.Type; !a.Uniform() {
			columns, size = columns+1, max(size, a.Type.Size())
		}
	}
	return columns > 1 || d.Flops == nil || d.Flops(t, kernels.Attr{}, t[0]) > 4*float64(size)
}

// thins reports whether an index leaves out rows worth mentioning. The state before each step of a recursion is all
// states but the last ones.
func thins(idx *structure.Index) bool { return idx.Src.N > idx.Dst.N+idx.Dst.N/64 }

// commonSpace is the space of a call: that of its arguments with several rows, else one of one row.
func commonSpace(g *Graph, args []*Val) (*structure.Space, error) {
	sp := g.Unit
	for _, a := range args {
		if a.Uniform() {
			if sp.N == 1 && a.Op != OpConst {
				sp = a.Space
			}
			continue
		}
		if sp.N != 1 && sp != a.Space {
			return nil, sqlerr.Broken("executor", "a kernel over two spaces, of %d and %d rows", sp.N, a.Space.N)
		}
		sp = a.Space
	}
	return sp, nil
}

// knows reports whether a kernel has been applied to the arguments before they are read through idx, to no more rows.
// It is then not applied again: the gradient of a recursion reads what its levels have.
func (g *Graph) knows(d *kernels.Def, at kernels.Attr, idx *structure.Index, inner []*Val) bool {
	if thins(idx) {
		return false
	}
	v := g.find(callKey(d, at, idx.Src, inner))
	return v != nil && !Turned(v) && column.KindOf(v.Type) != column.Str // which Gather reads through their arguments
}

// sharedIndex is the index through which all arguments with several rows are read, and the arguments before they are;
// nil if there is no such index.
func sharedIndex(args []*Val) (idx *structure.Index, inner []*Val) {
	for _, a := range args {
		switch {
		case a.Uniform():
		case a.Op != OpGather || a.Index.Missing || idx != nil && idx != a.Index:
			return nil, nil
		default:
			idx, a = a.Index, a.Args[0]
		}
		inner = append(inner, a)
	}
	return idx, inner
}

// Gather reads v through an index (nil: the identity). If v is a call over more rows than are read, its arguments are
// read instead, and the call is computed for these rows only.
func (g *Graph) Gather(v *Val, idx *structure.Index) (*Val, error) {
	if idx == nil || v.Op == OpConst || v.Uniform() && !idx.Missing {
		return v, nil
	}
	if v.Space != idx.Src {
		return nil, sqlerr.Broken("executor", "a column of %d rows read through an index into %d", v.Space.N, idx.Src.N)
	}
	if v.Op == OpGather {
		both, err := g.through(idx, v.Index)
		if err != nil {
			return nil, err
		}
		return g.Gather(v.Args[0], both)
	}
	if v.Op == OpCall && !idx.Missing && (thins(idx) || column.KindOf(v.Type) == column.Str || Turned(v) ||
		idx.Dst.N < idx.Src.N && !Total(v.Expr.Def, v.Expr.Attr, v.Args)) {
		args := make([]*Val, len(v.Args))
		for i, a := range v.Args {
			var err error
			if args[i], err = g.Gather(a, idx); err != nil {
				return nil, err
			}
		}
		return g.Call(v.Expr.Def, v.Expr.Attr, args...)
	}
	return g.intern("g"+strconv.Itoa(v.ID)+" "+strconv.Itoa(idx.ID), func() *Val {
		return &Val{Op: OpGather, Space: idx.Dst, Type: v.Type, Args: []*Val{v}, Index: idx, Vary: v.Vary || idx.Varies()}
	}), nil
}

// through is the index that reads through a, then through b.
func (g *Graph) through(a, b *structure.Index) (*structure.Index, error) {
	if !a.Virtual() && !b.Virtual() {
		if g.Wide && g.Shared != nil && !g.Shared.double {
			return g.Later(a, b), nil
		}
		return g.Compose(a, b), nil
	}
	if g.Shared == nil {
		return nil, sqlerr.Broken("executor", "rows of a grid outside a program")
	}
	if a.Virtual() && b.Virtual() && !b.Projection.Back {
		if a.Projection.Back {
			return g.Index(a.Dst, b.Src, a.From(b)), nil
		}
		n := &structure.Index{ID: g.NewID(), Dst: a.Dst, Src: b.Src,
			Projection: &structure.Projection{Table: b.Projection.Table}}
		for _, d := range b.Projection.Dims {
			n.Projection.Dims = append(n.Projection.Dims, a.Projection.Dims[d])
		}
		return n, nil
	}
	for _, x := range []*structure.Index{a, b} {
		if err := x.Realise(g.Shared.env); err != nil {
			return nil, err
		}
	}
	return g.Compose(a, b), nil
}

// Realise lists the rows of the index and the groups through which v is read, which may not be in memory yet.
func (v *Val) Realise(env *structure.Env) error {
	if err := v.Index.Realise(env); err != nil {
		return err
	}
	return v.Groups.Realise(env)
}

// Turned reports whether v is a transposed matrix.
func Turned(v *Val) bool {
	return v.Op == OpCall && v.Expr.Def.Name == "transpose" && len(v.Type.Shape) == 2
}

// Agg reduces v over groups; v is over grp.In or uniform.
func (g *Graph) Agg(fn ra.AggFn, v *Val, t kernels.Type, grp *structure.Groups) *Val {
	t = g.KindType(t)
	return g.intern(aggKey(fn, v, t, grp), func() *Val {
		w := &Val{Op: OpAgg, Space: grp.Out, Type: t, Args: []*Val{v}, Fn: fn, Groups: grp, Vary: v.Vary || grp.Varies()}
		w.Type.Nullable = t.Nullable && !w.filled()
		return w
	})
}

func aggKey(fn ra.AggFn, v *Val, t kernels.Type, grp *structure.Groups) string {
	return fmt.Sprintf("a%v %v %d %d", fn, t, v.ID, grp.ID)
}

// filled reports whether v is a sum that always has rows, none of them NULL. Then it is not NULL.
func (v *Val) filled() bool {
	return v.Op == OpAgg && (v.Fn == ra.Sum || v.Fn == ra.GradSum) && !v.Args[0].Type.Nullable && !v.Groups.Varies() &&
		v.Groups.Out.N == 1 && v.Groups.In.N > 0
}

// find returns an interned val, nil where there is none.
func (g *Graph) find(key string) *Val {
	for p := g; p != nil; p = p.Parent {
		if v := p.Seen[key]; v != nil {
			return v
		}
	}
	return nil
}

func (v *Val) argTypes() []kernels.Type { return typesOf(v.Args) }

func typesOf(vals []*Val) []kernels.Type {
	return lists.Map(vals, func(a *Val) kernels.Type { return a.Type })
}

// Concat puts columns one below the other; from are their spaces. A single one is kept in memory.
func (g *Graph) Concat(t kernels.Type, sp *structure.Space, args []*Val, from []*structure.Space) *Val {
	vary := sp.Varies
	for _, a := range args {
		vary = vary || a.Vary
	}
	return g.intern(concatKey(t, sp, args, from), func() *Val {
		return &Val{Op: OpConcat, Space: sp, Type: g.KindType(t), Args: args, From: from, Vary: vary}
	})
}

func concatKey(t kernels.Type, sp *structure.Space, args []*Val, from []*structure.Space) string {
	key := fmt.Sprintf("u%v %d", t, sp.ID)
	for i, a := range args {
		key += fmt.Sprintf(" %d:%d", a.ID, from[i].N)
	}
	return key
}

// isNumber reports whether v is a constant other than NULL.
func isNumber(v *Val) bool { return v.Op == OpConst && !v.Value.Null }

// Total reports whether a call cannot fail, whatever the values. Then it may run on rows that the query does not need.
func Total(d *kernels.Def, at kernels.Attr, args []*Val) bool {
	switch d.Name {
	case "random_int":
		return isNumber(args[0]) && args[0].Value.I > 0
	case "div", "mod":
		if b := args[1]; isNumber(b) && b.Type.Kind == kernels.Int && b.Value.I > 0 {
			return true
		}
	}
	return d.Total(at, typesOf(args))
}

func (g *Graph) Zero(t kernels.Type) *Val { return g.Constant(kernels.ZerosLike(t).Const) }

// Spread copies a uniform val to all rows of a space, for readers of some of its rows. Constants too are then in
// memory.
func (g *Graph) Spread(v *Val, sp *structure.Space) *Val {
	if v.Space == sp && v.Op != OpConst {
		return v
	}
	return g.Concat(v.Type, sp, []*Val{v}, []*structure.Space{sp})
}
