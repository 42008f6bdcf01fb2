package executor

import (
	"fmt"
	"math"
	"strconv"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// vop is what a val is.
type vop uint8

const (
	vLeaf   vop = iota // stored data
	vConst             // a constant
	vCall              // a kernel applied to args, row by row
	vGather            // args[0] read through idx
	vAgg               // args[0] reduced over grp
	vConcat            // args one below the other
	vLayout            // args[0] in another chunking
)

// val is a column over a space. A val in a space of one row may be used in every space. Vals are
// hash-consed: the same computation is the same val.
type val struct {
	id    int
	op    vop
	sp    *structure.Space
	typ   kernels.Type
	vary  bool // may change from step to step
	args  []*val
	expr  *kernels.Expr // vCall: the kernel over columns 0:i, or constants
	konst kernels.Value
	idx   *structure.Index
	fn    ra.AggFn
	grp   *structure.Groups
	from  []*structure.Space // vConcat: the spaces of args
	lay   *layout            // vLayout
	back  bool               // vLayout: from the matrix to how it is stored
	over  *val               // whose memory it takes over, changed in place
	name  string             // vLeaf: for plans
	note  string             // for plans: what it stands for

	asked, fails bool // canFail, once it has been asked

	data *data // vLeaf: the data; else the buffer once it is materialised
	done bool  // computed once and kept: it holds its values

	structural bool // computed for the structure
}

func (v *val) uniform() bool { return v.sp.N == 1 }

// graph holds vals. A step's graph extends the run's.
type graph struct {
	*structure.Indexer
	parent *graph
	wide   bool // real is computed as double precision
	seen   map[string]*val
	moved  map[*val]*val // see near
	unit   *structure.Space
	shared *shared                      // nil: what is read through indexes of a grid cannot be made
	rows   func(n int) *structure.Space // the space of n rows
}

func newGraph(wide bool, x *structure.Indexer, unit *structure.Space) *graph {
	return &graph{Indexer: x, wide: wide, seen: map[string]*val{}, moved: map[*val]*val{}, unit: unit}
}

// child returns a graph for one step's vals.
func (g *graph) child(x *structure.Indexer) *graph {
	return &graph{
		Indexer: x,
		parent:  g,
		wide:    g.wide,
		seen:    map[string]*val{},
		moved:   map[*val]*val{},
		unit:    g.unit,
		shared:  g.shared,
		rows:    g.rows,
	}
}

// intern returns the val of a key, made on first use. A val that does not change between steps belongs to the run's
// graph, also where a step is the first to need it: later steps find it.
func (g *graph) intern(key string, make func() *val) *val {
	if v := g.find(key); v != nil {
		return v
	}
	v := make()
	v.id = g.NewID()
	for !v.vary && g.parent != nil {
		g = g.parent
	}
	g.seen[key] = v
	return v
}

// kindType is the type that the graph computes with.
func (g *graph) kindType(t kernels.Type) kernels.Type {
	if g.wide && t.Kind == kernels.Float32 {
		t.Kind = kernels.Float64
	}
	return t
}

// leaf makes a val of stored data; each call makes another. A step's graph holds data of the step.
func (g *graph) leaf(name string, t kernels.Type, sp *structure.Space, d *data, vary bool) *val {
	t.Nullable = d.valid != nil
	return &val{
		id:   g.NewID(),
		op:   vLeaf,
		name: name,
		sp:   sp,
		typ:  g.kindType(t),
		data: d,
		vary: vary || sp.Varies || g.parent != nil,
		done: true,
	}
}

func (g *graph) constant(c kernels.Value) *val {
	c.Type = g.kindType(c.Type)
	c.Type.Nullable = c.Null
	key := fmt.Sprintf("k%v %v %d %x %q %v %s", c.Type, c.Null, c.I, math.Float64bits(c.X), c.T, c.Ints, hashFloats(c.F))
	return g.intern(key, func() *val { return &val{op: vConst, sp: g.unit, typ: c.Type, konst: c} })
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

// call applies a kernel to columns. Where all its arguments are read through one index from a space with no
// more rows, it is applied there instead and the result read through the index.
func (g *graph) call(d *kernels.Def, at kernels.Attr, args ...*val) (*val, error) {
	if d.Name == "transpose" && turns(args[0]) {
		return args[0].args[0], nil
	}
	if d.Name == "is_not_null" && !args[0].typ.Nullable {
		return g.constant(kernels.BoolValue(true)), nil
	}
	if v := chosen(d, args); v != nil {
		return v, nil
	}
	if v, err := g.ofSoftmax(d, args); v != nil || err != nil {
		return v, err
	}
	if v, err := g.elementwise(d, at, args); v != nil || err != nil {
		return v, err
	}
	sp, err := commonSpace(g, args)
	if err != nil {
		return nil, err
	}
	if idx := sharedIndex(args); idx != nil && worthLifting(d, idx, args) && total(d, at, args) {
		inner := make([]*val, len(args))
		for i, a := range args {
			inner[i] = a
			if a.op == vGather && !a.uniform() {
				inner[i] = a.args[0]
			}
		}
		v, err := g.call(d, at, inner...)
		if err != nil {
			return nil, err
		}
		return g.gather(v, idx)
	}
	key := callKey(d, at, sp, args)
	product := d.Name == "dot" || d.Name == "matmul"
	if v := g.find(key); v != nil && !product {
		return v, nil
	}
	exprs := make([]*kernels.Expr, len(args))
	for i, a := range args {
		exprs[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, a.typ)
		if a.op == vConst {
			exprs[i] = kernels.Const(a.konst)
		}
	}
	e, err := kernels.Call(d, at, exprs...)
	if err != nil {
		return nil, err
	}
	e.Type = g.kindType(e.Type)
	vary := d.PerStep || sp.Varies
	for _, a := range args {
		vary = vary || a.vary
	}
	v := g.intern(key, func() *val {
		return &val{op: vCall, sp: sp, typ: e.Type, args: args, expr: e, vary: vary}
	})
	if product {
		if w, err := g.product(v, v.typ, nil); w != nil || err != nil {
			return w, err
		}
	}
	return v, nil
}

// callKey tells calls apart. A plan of a step has hundreds, so that they are not printed.
func callKey(d *kernels.Def, at kernels.Attr, sp *structure.Space, args []*val) string {
	key := append(make([]byte, 0, 96), 'c')
	key = append(append(key, d.Name...), ' ')
	if !at.IsZero() {
		key = fmt.Append(key, at)
	}
	key = strconv.AppendInt(append(key, ' '), int64(sp.ID), 10)
	for _, a := range args {
		key = strconv.AppendInt(append(key, ' '), int64(a.id), 10)
	}
	return string(key)
}

// chosen is the argument of a CASE or COALESCE that is known to be its value; nil where none is, or it has another
// type.
func chosen(d *kernels.Def, args []*val) *val {
	values := args
	switch {
	case d.Name == "case" && args[0].op == vConst && args[0].konst.True():
		values = nil
		for i := 1; i+1 < len(args); i += 2 {
			values = append(values, args[i])
		}
		values = append(values, args[len(args)-1])
	case d.Name != "coalesce" || args[0].typ.Nullable:
		return nil
	}
	v := values[0]
	for _, a := range values[1:] {
		if a.typ.Kind != v.typ.Kind || !a.typ.Shape.Equal(v.typ.Shape) {
			return nil
		}
	}
	return v
}

// worthLifting reports whether a kernel is better applied before its arguments are read through idx: to
// fewer rows, or to as many where that saves reading several columns.
func worthLifting(d *kernels.Def, idx *structure.Index, args []*val) bool {
	if d.Name == "transpose" {
		return false // products read a matrix either way
	}
	if idx.Src.N > idx.Dst.N || idx.Src.N*2 <= idx.Dst.N {
		return idx.Src.N <= idx.Dst.N
	}
	t := make([]kernels.Type, len(args))
	columns, size := 0, 1
	for i, a := range args {
		if t[i] = a.typ; !a.uniform() {
			columns++
		}
		size = max(size, a.typ.Size())
	}
	return columns > 1 || d.Flops == nil || d.Flops(t, kernels.Attr{}, t[0]) > 4*float64(size)
}

// commonSpace is the space of a call: that of its arguments that are not uniform.
func commonSpace(g *graph, args []*val) (*structure.Space, error) {
	sp := g.unit
	for _, a := range args {
		if a.uniform() {
			if sp.N == 1 && a.op != vConst {
				sp = a.sp
			}
			continue
		}
		if sp.N != 1 && sp != a.sp {
			return nil, sqlerr.Broken("executor", "a kernel over two spaces, of %d and %d rows", sp.N, a.sp.N)
		}
		sp = a.sp
	}
	return sp, nil
}

// sharedIndex is the index through which all arguments are read that are not uniform, nil if there is none.
func sharedIndex(args []*val) *structure.Index {
	var idx *structure.Index
	for _, a := range args {
		switch {
		case a.uniform():
		case a.op != vGather || a.idx.Missing || idx != nil && idx != a.idx:
			return nil
		default:
			idx = a.idx
		}
	}
	return idx
}

// gather reads v through an index (nil: the identity). Calls over more rows than are read move behind it.
func (g *graph) gather(v *val, idx *structure.Index) (*val, error) {
	if idx == nil || v.op == vConst || v.uniform() && !idx.Missing {
		return v, nil
	}
	if v.sp != idx.Src {
		return nil, sqlerr.Broken("executor", "a column of %d rows read through an index into %d", v.sp.N, idx.Src.N)
	}
	if v.op == vGather {
		both, err := g.through(idx, v.idx)
		if err != nil {
			return nil, err
		}
		return g.gather(v.args[0], both)
	}
	if v.op == vCall && !idx.Missing && (idx.Dst.N < idx.Src.N || kindOf(v.typ) == str || turns(v)) {
		args := make([]*val, len(v.args))
		for i, a := range v.args {
			var err error
			if args[i], err = g.gather(a, idx); err != nil {
				return nil, err
			}
		}
		return g.call(v.expr.Def, v.expr.Attr, args...)
	}
	return g.intern("g"+strconv.Itoa(v.id)+" "+strconv.Itoa(idx.ID), func() *val {
		return &val{op: vGather, sp: idx.Dst, typ: v.typ, args: []*val{v}, idx: idx, vary: v.vary || idx.Varies()}
	}), nil
}

// through is the index that reads through a, then b.
func (g *graph) through(a, b *structure.Index) (*structure.Index, error) {
	if !a.Virtual() && !b.Virtual() {
		if g.wide && g.shared != nil && !g.shared.double {
			return g.Later(a, b), nil
		}
		return g.Compose(a, b), nil
	}
	if g.shared == nil {
		return nil, sqlerr.Broken("executor", "rows of a grid outside a program")
	}
	if a.Virtual() && b.Virtual() && !b.Projection.Back {
		if a.Projection.Back {
			return g.Index(a.Dst, b.Src, a.From(b)), nil
		}
		n := &structure.Index{
			ID:         g.NewID(),
			Dst:        a.Dst,
			Src:        b.Src,
			Projection: &structure.Projection{Table: b.Projection.Table},
		}
		for _, d := range b.Projection.Dims {
			n.Projection.Dims = append(n.Projection.Dims, a.Projection.Dims[d])
		}
		return n, nil
	}
	for _, x := range []*structure.Index{a, b} {
		if err := x.Realise(g.shared.env); err != nil {
			return nil, err
		}
	}
	return g.Compose(a, b), nil
}

// realise lists what v's rows are read through, down to what is in memory.
func (v *val) realise(env *structure.Env) error {
	if err := v.idx.Realise(env); err != nil {
		return err
	}
	return v.grp.Realise(env)
}

// turns reports whether v is a transposed matrix.
func turns(v *val) bool {
	return v.op == vCall && v.expr.Def.Name == "transpose" && len(v.typ.Shape) == 2
}

// agg reduces v over groups; v is over grp.in or uniform.
func (g *graph) agg(fn ra.AggFn, v *val, t kernels.Type, grp *structure.Groups) *val {
	t = g.kindType(t)
	return g.intern(aggKey(fn, v, t, grp), func() *val {
		w := &val{op: vAgg, sp: grp.Out, typ: t, args: []*val{v}, fn: fn, grp: grp, vary: v.vary || grp.Varies()}
		w.typ.Nullable = t.Nullable && !w.filled()
		return w
	})
}

func aggKey(fn ra.AggFn, v *val, t kernels.Type, grp *structure.Groups) string {
	return fmt.Sprintf("a%v %v %d %d", fn, t, v.id, grp.ID)
}

// filled reports whether v is a sum of rows that are there whatever the step, and hold no NULL: it is not NULL either.
func (v *val) filled() bool {
	return v.op == vAgg && (v.fn == ra.Sum || v.fn == ra.GradSum) && !v.args[0].typ.Nullable && !v.grp.Varies() &&
		v.grp.Out.N == 1 && v.grp.In.N > 0
}

// find returns an interned val, nil where there is none.
func (g *graph) find(key string) *val {
	for p := g; p != nil; p = p.parent {
		if v := p.seen[key]; v != nil {
			return v
		}
	}
	return nil
}

func (v *val) argTypes() []kernels.Type { return typesOf(v.args) }

func typesOf(vals []*val) []kernels.Type {
	t := make([]kernels.Type, len(vals))
	for i, a := range vals {
		t[i] = a.typ
	}
	return t
}

// concat puts columns one below the other; from are their spaces.
func (g *graph) concat(t kernels.Type, sp *structure.Space, args []*val, from []*structure.Space) *val {
	key, vary := fmt.Sprintf("u%v %d", t, sp.ID), sp.Varies
	for i, a := range args {
		key += fmt.Sprintf(" %d:%d", a.id, from[i].N)
		vary = vary || a.vary
	}
	return g.intern(key, func() *val {
		return &val{op: vConcat, sp: sp, typ: g.kindType(t), args: args, from: from, vary: vary}
	})
}

// isNumber reports whether v is a constant other than NULL.
func isNumber(v *val) bool { return v.op == vConst && !v.konst.Null }

// total reports whether a call cannot fail, whatever the values: then it may run on rows that the query does not ask
// for.
func total(d *kernels.Def, at kernels.Attr, args []*val) bool {
	switch d.Name {
	case "random_int":
		return isNumber(args[0]) && args[0].konst.I > 0
	case "div", "mod":
		if b := args[1]; isNumber(b) && b.typ.Kind == kernels.Int && b.konst.I > 0 {
			return true
		}
	}
	return d.Total(at, typesOf(args))
}
