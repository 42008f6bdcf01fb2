package executor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// space is a set of rows: those of a relation, or of a group of relations with the same rows in order.
type space struct {
	id, n int
	vary  bool // rebuilt each step
}

// index maps the rows of dst to rows of src.
type index struct {
	id       int
	dst, src *space
	at       []int32 // nil: row r is row r
	missing  bool    // some at[r] is -1: the value there is zero
}

func (x *index) vary() bool { return x.dst.vary || x.src.vary }

// vop is what a val is.
type vop uint8

const (
	vLeaf   vop = iota // stored data
	vConst             // a constant
	vCall              // a kernel applied to args, row by row
	vGather            // args[0] read through idx
	vAgg               // args[0] reduced over grp
	vConcat            // args one below the other
)

// val is a column over a space. A val in a space of one row may be used in every space. Vals are
// hash-consed: the same computation is the same val.
type val struct {
	id    int
	op    vop
	sp    *space
	typ   kernels.Type
	vary  bool // may change from step to step
	args  []*val
	expr  *kernels.Expr // vCall: the kernel over columns 0:i, or constants
	konst kernels.Value
	idx   *index
	fn    ra.AggFn
	grp   *groups
	from  []*space // vConcat: the spaces of args
	name  string   // vLeaf: for plans

	asked, fails bool // canFail, once it has been asked

	data *data // vLeaf: the data; else the buffer once it is materialised
	done bool  // computed once and kept: it holds its values

	structural bool // computed for the structure
}

func (v *val) uniform() bool { return v.sp.n == 1 }

// groups tells how the rows of in are grouped into those of out.
type groups struct {
	id      int
	in, out *space
	code    []int32 // the group of each row; nil: all are in the one group
	perm    []int32 // rows of in sorted by group, nil: they are
	start   []int32 // rows start[g] to start[g+1] of that order are group g
	order   *index  // perm as an index, nil: the identity
	empty   []int   // groups without rows, once known
	most    int     // rows of the largest group, once known
}

// graph holds vals. A step's graph extends the run's.
type graph struct {
	parent *graph
	wide   bool // real is computed as double precision
	seen   map[string]*val
	moved  map[*val]*val // see near
	comp   map[[2]int]*index
	ids    *int
	unit   *space
	at     map[string][]*index  // indexes by a hash of their content
	codes  map[string][]*groups // groups by a hash of their codes
	sort   func(codes []int32, count int) (start, order []int32)
}

func newGraph(wide bool, ids *int) *graph {
	g := &graph{sort: sortByCode, wide: wide, seen: map[string]*val{}, moved: map[*val]*val{}, comp: map[[2]int]*index{}, ids: ids,
		at: map[string][]*index{}, codes: map[string][]*groups{}}
	g.unit = g.space(1, false)
	return g
}

// child returns a graph for one step's vals.
func (g *graph) child() *graph {
	return &graph{sort: g.sort, parent: g, wide: g.wide, seen: map[string]*val{}, moved: map[*val]*val{}, comp: map[[2]int]*index{}, ids: g.ids, unit: g.unit,
		at: map[string][]*index{}, codes: map[string][]*groups{}}
}

func (g *graph) id() int { *g.ids++; return *g.ids }

func (g *graph) space(n int, vary bool) *space { return &space{g.id(), n, vary} }

// index makes an index; the identity of a space is nil, and equal ones are one.
func (g *graph) index(dst, src *space, at []int32) *index {
	if at == nil && dst == src {
		return nil
	}
	key := fmt.Sprintf("%d %d %x", dst.id, src.id, hashInts(at))
	for p := g; p != nil; p = p.parent {
		for _, x := range p.at[key] {
			if slices.Equal(x.at, at) {
				return x
			}
		}
	}
	x := &index{id: g.id(), dst: dst, src: src, at: at, missing: slices.Contains(at, -1)}
	g.at[key] = append(g.at[key], x)
	return x
}

// hashInts hashes four interleaved streams, whose multiplications do not wait for each other.
func hashInts(at []int32) uint64 {
	const k = 0x9E3779B97F4A7C15
	n := len(at)
	a, b, c, d := uint64(n), uint64(1), uint64(2), uint64(3)
	for ; len(at) >= 4; at = at[4:] {
		a = (a ^ uint64(uint32(at[0]))) * k
		b = (b ^ uint64(uint32(at[1]))) * k
		c = (c ^ uint64(uint32(at[2]))) * k
		d = (d ^ uint64(uint32(at[3]))) * k
		a, b, c, d = a^a>>29, b^b>>29, c^c>>29, d^d>>29
	}
	for _, x := range at {
		a = (a ^ uint64(uint32(x))) * k
	}
	return tensor.Mix(tensor.Mix(tensor.Mix(a)^b)^c) ^ d
}

// groups makes the groups of the rows of in by code: out row code[r] gets row r. Equal ones are one.
func (g *graph) groups(in, out *space, code []int32) *groups {
	key := fmt.Sprintf("%d %d %x", in.id, out.id, hashInts(code))
	for p := g; p != nil; p = p.parent {
		for _, x := range p.codes[key] {
			if slices.Equal(x.code, code) {
				return x
			}
		}
	}
	x := &groups{id: g.id(), in: in, out: out, code: code}
	x.start, x.perm = g.sort(code, out.n)
	if x.perm != nil {
		x.order = &index{id: g.id(), dst: in, src: in, at: x.perm} // equal ones are of equal groups, nearly always
	}
	g.codes[key] = append(g.codes[key], x)
	return x
}

func (g *graph) intern(key string, make func() *val) *val {
	if v := g.find(key); v != nil {
		return v
	}
	v := make()
	v.id = g.id()
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

// leaf makes a val of stored data; each call makes another.
func (g *graph) leaf(name string, t kernels.Type, sp *space, d *data, vary bool) *val {
	t.Nullable = d.valid != nil
	return &val{id: g.id(), op: vLeaf, name: name, sp: sp, typ: g.kindType(t), data: d, vary: vary || sp.vary, done: true}
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
	var key strings.Builder
	fmt.Fprintf(&key, "c%s %v %d", d.Name, at, sp.id)
	exprs := make([]*kernels.Expr, len(args))
	for i, a := range args {
		fmt.Fprintf(&key, " %d", a.id)
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
	vary := d.PerStep || sp.vary
	for _, a := range args {
		vary = vary || a.vary
	}
	return g.intern(key.String(), func() *val {
		return &val{op: vCall, sp: sp, typ: e.Type, args: args, expr: e, vary: vary}
	}), nil
}

// worthLifting reports whether a kernel is better applied before its arguments are read through idx: to
// fewer rows, or to as many where that saves reading several columns.
func worthLifting(d *kernels.Def, idx *index, args []*val) bool {
	if d.Name == "transpose" {
		return false // products read a matrix either way
	}
	if idx.src.n > idx.dst.n || idx.src.n*2 <= idx.dst.n {
		return idx.src.n <= idx.dst.n
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
func commonSpace(g *graph, args []*val) (*space, error) {
	sp := g.unit
	for _, a := range args {
		if a.uniform() {
			if sp.n == 1 && a.op != vConst {
				sp = a.sp
			}
			continue
		}
		if sp.n != 1 && sp != a.sp {
			return nil, internal("a kernel over two spaces, of %d and %d rows", sp.n, a.sp.n)
		}
		sp = a.sp
	}
	return sp, nil
}

// sharedIndex is the index through which all arguments are read that are not uniform, nil if there is none.
func sharedIndex(args []*val) *index {
	var idx *index
	for _, a := range args {
		switch {
		case a.uniform():
		case a.op != vGather || a.idx.missing || idx != nil && idx != a.idx:
			return nil
		default:
			idx = a.idx
		}
	}
	return idx
}

// gather reads v through an index (nil: the identity). Calls over more rows than are read move behind it.
func (g *graph) gather(v *val, idx *index) (*val, error) {
	if idx == nil || v.op == vConst || v.uniform() && !idx.missing {
		return v, nil
	}
	if v.sp != idx.src {
		return nil, internal("a column of %d rows read through an index into %d", v.sp.n, idx.src.n)
	}
	if v.op == vGather {
		return g.gather(v.args[0], g.compose(idx, v.idx))
	}
	if v.op == vCall && !idx.missing && (idx.dst.n < idx.src.n || kindOf(v.typ) == str || turns(v)) {
		args := make([]*val, len(v.args))
		for i, a := range v.args {
			var err error
			if args[i], err = g.gather(a, idx); err != nil {
				return nil, err
			}
		}
		return g.call(v.expr.Def, v.expr.Attr, args...)
	}
	return g.intern(fmt.Sprintf("g%d %d", v.id, idx.id), func() *val {
		return &val{op: vGather, sp: idx.dst, typ: v.typ, args: []*val{v}, idx: idx, vary: v.vary || idx.vary()}
	}), nil
}

// turns reports whether v is a transposed matrix.
func turns(v *val) bool {
	return v.op == vCall && v.expr.Def.Name == "transpose" && len(v.typ.Shape) == 2
}

// compose is the index that reads through a, then b.
func (g *graph) compose(a, b *index) *index {
	key := [2]int{a.id, b.id}
	for p := g; p != nil; p = p.parent {
		if c := p.comp[key]; c != nil {
			return c
		}
	}
	at := b.at
	switch {
	case a.at == nil:
	case b.at == nil:
		at = a.at
	default:
		at = make([]int32, len(a.at))
		for i, r := range a.at {
			if at[i] = -1; r >= 0 {
				at[i] = b.at[r]
			}
		}
	}
	if a.dst == b.src && isIdentity(at) {
		at = nil
	}
	c := g.index(a.dst, b.src, at)
	g.comp[key] = c
	return c
}

// agg reduces v over groups; v is over grp.in or uniform.
func (g *graph) agg(fn ra.AggFn, v *val, t kernels.Type, grp *groups) *val {
	t = g.kindType(t)
	return g.intern(aggKey(fn, v, t, grp), func() *val {
		return &val{op: vAgg, sp: grp.out, typ: t, args: []*val{v}, fn: fn, grp: grp, vary: v.vary || grp.out.vary || grp.in.vary}
	})
}

func aggKey(fn ra.AggFn, v *val, t kernels.Type, grp *groups) string {
	return fmt.Sprintf("a%v %v %d %d", fn, t, v.id, grp.id)
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

// whole is the one group of all rows of a space.
func (g *graph) whole(in, out *space) *groups {
	key := fmt.Sprintf("all %d %d", in.id, out.id)
	for p := g; p != nil; p = p.parent {
		if x := p.codes[key]; x != nil {
			return x[0]
		}
	}
	x := &groups{id: g.id(), in: in, out: out, start: []int32{0, int32(in.n)}}
	g.codes[key] = []*groups{x}
	return x
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
func (g *graph) concat(t kernels.Type, sp *space, args []*val, from []*space) *val {
	key, vary := fmt.Sprintf("u%v %d", t, sp.id), sp.vary
	for i, a := range args {
		key += fmt.Sprintf(" %d:%d", a.id, from[i].n)
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
