package executor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// The chunks in which a relation is stored are the user's choice, those in which it is computed are the executor's. A
// layout tells how the numbers of a column, rows × chunk, are those of a matrix: another column with fewer and larger
// chunks.

// leg is a direction in which the numbers of a column run: n of them, over rows or within the chunk.
type leg struct {
	label  int
	n      int
	inner  bool // within the chunk
	stride int  // of the row's number, or within the chunk
}

// layout maps the element c of the matrix's row r to a stored one: element inR[r]+inC[c] of the row number kR[r]+kC[c].
type layout struct {
	key      string
	order    string // the same for layouts that list the same numbers in the same order, in rows of another length
	stored   int    // rows as stored
	size     int    // of a stored chunk
	rows     int    // of the matrix
	cols     int
	kR, kC   []int32
	inR, inC []int32
	table    []int32 // row by number; nil: the number
	legs     [2][]leg
	run      int  // so many neighbours in a row of the matrix are neighbours as stored
	view     bool // both are the same in memory
}

// layout returns the layout of a column whose legs are taken as rows and columns of a matrix.
func (p *shared) layout(stored, size int, table []int32, rows, cols []leg) *layout {
	table = p.table32(table)
	var key strings.Builder
	fmt.Fprintf(&key, "%d×%d", stored, size)
	if table != nil {
		fmt.Fprintf(&key, " %p", &table[0])
	}
	order := key.String()
	for _, side := range [][]leg{rows, cols} {
		key.WriteString(" |")
		for _, l := range side {
			if l.n > 1 {
				text := fmt.Sprintf(" %d,%v,%d", l.n, l.inner, l.stride)
				key.WriteString(text)
				order += text
			}
		}
	}
	if l := p.layouts[key.String()]; l != nil {
		return l
	}
	l := &layout{
		key:    key.String(),
		order:  order,
		stored: stored,
		size:   size,
		table:  table,
		legs:   [2][]leg{rows, cols},
		rows:   elements(rows),
		cols:   elements(cols),
	}
	l.run = l.neighbours(cols)
	l.view = table == nil && l.neighbours(slices.Concat(rows, cols)) == l.rows*l.cols
	p.layouts[l.key] = l
	return l
}

// rowsAndColumns is the layout that takes the numbers of a column, in their order, as a matrix of so many rows and
// columns.
func rowsAndColumns(rows, cols int) *layout {
	return &layout{
		key:   fmt.Sprintf("view %d×%d", rows, cols),
		order: "view",
		rows:  rows,
		cols:  cols,
		run:   cols,
		view:  true,
	}
}

// table32 returns an earlier table with the same numbers, if there is one.
func (p *shared) table32(t []int32) []int32 {
	if t == nil || structure.IsIdentity(t) {
		return nil
	}
	h := structure.SampleHash(t)
	for _, s := range p.rowTables[h] {
		if structure.EqualInts(s, t) {
			return s
		}
	}
	p.rowTables[h] = append(p.rowTables[h], t)
	return t
}

func elements(legs []leg) int {
	n := 1
	for _, l := range legs {
		n *= l.n
	}
	return n
}

// neighbours is how many numbers along the last legs follow each other as stored.
func (l *layout) neighbours(legs []leg) int {
	n := 1
	for i := len(legs) - 1; i >= 0; i-- {
		step := legs[i].stride
		if !legs[i].inner {
			step *= l.size
		}
		switch {
		case legs[i].n == 1:
		case step != n || l.table != nil && !legs[i].inner:
			return n
		default:
			n *= legs[i].n
		}
	}
	return n
}

// list makes the lists that at reads.
func (l *layout) list() {
	if l.kR == nil {
		l.kR, l.inR = legOffsets(l.legs[0])
		l.kC, l.inC = legOffsets(l.legs[1])
	}
}

func legOffsets(legs []leg) (row, in []int32) {
	var size, rowStep, inStep []int
	for _, l := range legs {
		size = append(size, l.n)
		if l.inner {
			rowStep, inStep = append(rowStep, 0), append(inStep, l.stride)
		} else {
			rowStep, inStep = append(rowStep, l.stride), append(inStep, 0)
		}
	}
	row, in = make([]int32, elements(legs)), make([]int32, elements(legs))
	structure.Walk(size, rowStep, func(i, k int) { row[i] = int32(k) })
	structure.Walk(size, inStep, func(i, k int) { in[i] = int32(k) })
	return row, in
}

// measure finds, of a layout made of lists, how long the pieces are that can be copied at once.
func (l *layout) measure() {
	off := func(k, in []int32, i int) int { return int(k[i])*l.size + int(in[i]) }
	step := func(i int) bool { // column i is the one after i-1 as stored
		if l.table != nil {
			return l.kC[i] == l.kC[i-1] && l.inC[i] == l.inC[i-1]+1
		}
		return off(l.kC, l.inC, i) == off(l.kC, l.inC, i-1)+1
	}
	l.run = l.cols
	for i, from := 1, 0; i <= l.cols; i++ {
		if i == l.cols || !step(i) {
			if n := i - from; l.run%n == 0 {
				l.run = n
			} else {
				l.run = 1
			}
			from = i
		}
	}
	l.view = l.table == nil && l.run == l.cols && l.kC[0] == 0 && l.inC[0] == 0
	for r := 0; l.view && r < l.rows; r++ {
		l.view = off(l.kR, l.inR, r) == r*l.cols
	}
}

// at is where the piece of row r that begins with column c is stored.
func (l *layout) at(r, c int) int {
	k := int(l.kR[r]) + int(l.kC[c])
	if l.table != nil {
		k = int(l.table[k])
	}
	return k*l.size + int(l.inR[r]) + int(l.inC[c])
}

// dense reads v as a matrix: its rows in chunks of one row of the matrix, or of shape where that is given.
func (g *graph) dense(v *val, l *layout, shape []int) *val {
	if v.op == vLayout && v.back && v.lay == l && (shape == nil || slices.Equal(shape, v.args[0].typ.Shape)) {
		return v.args[0]
	}
	t := denseType(v, l, shape)
	sp := g.rows(l.rows)
	if v.op == vLayout && v.back && v.lay.order == l.order { // the same matrix in longer or shorter rows
		v, l = v.args[0], rowsAndColumns(l.rows, l.cols)
	}
	if l.view && sp == v.sp && slices.Equal(t.Shape, v.typ.Shape) {
		return v
	}
	return g.intern(fmt.Sprintf("l%d %v %s", v.id, t, l.key), func() *val {
		return &val{op: vLayout, sp: sp, typ: t, args: []*val{v}, lay: l, vary: v.vary}
	})
}

func denseType(v *val, l *layout, shape []int) kernels.Type {
	t := v.typ
	if t.Shape = shape; shape == nil && l.cols > 1 {
		t.Shape = []int{l.cols}
	}
	return t
}

func denseKey(v *val, l *layout, shape []int) string {
	return fmt.Sprintf("l%d %v %s", v.id, denseType(v, l, shape), l.key)
}

// stored puts the numbers of a matrix into the rows and chunks of a space and type.
func (g *graph) stored(v *val, l *layout, sp *structure.Space, t kernels.Type) *val {
	if t.Kind = v.typ.Kind; v.op == vLayout && !v.back && v.lay == l && slices.Equal(v.args[0].typ.Shape, t.Shape) {
		return v.args[0]
	}
	if l.view && sp == v.sp && slices.Equal(t.Shape, v.typ.Shape) {
		return v
	}
	return g.intern(fmt.Sprintf("L%d %v %d %s", v.id, t, sp.ID, l.key), func() *val {
		return &val{op: vLayout, back: true, sp: sp, typ: t, args: []*val{v}, lay: l, vary: v.vary}
	})
}

// isView reports whether v is the memory of its argument.
func (v *val) isView() bool { return v.op == vLayout && v.lay.view }

// base is what has the memory of v: what a view is a view of, what v changes in place, or v.
func (v *val) base() *val {
	for {
		switch {
		case v.isView():
			v = v.args[0]
		case v.over != nil:
			v = v.over
		default:
			return v
		}
	}
}

// viewed is the memory of d as n rows of size elements.
func viewed(d *data, n, size int) data {
	v := *d
	v.n, v.size, v.buf, v.valid = n, size, nil, nil
	return v
}

// elementwise applies an element-wise kernel to columns some of which have been put into rows and chunks from a matrix:
// to the matrix, as a rule larger chunks, so that the copy is not needed. It returns nil where that is not possible.
func (g *graph) elementwise(d *kernels.Def, at kernels.Attr, args []*val) (*val, error) {
	var first *val
	for _, a := range args {
		if a.op == vLayout && a.back {
			first = a
		}
	}
	if first == nil || d.Elem == nil && d.Name != "cast" {
		return nil, nil
	}
	if d.Name == "cast" && at.Kind == kernels.Float32 {
		if v := g.narrow(first.args[0]); v != nil {
			return g.stored(v, first.lay, first.sp, kernels.Type{Kind: kernels.Float32, Shape: first.typ.Shape}), nil
		}
	}
	inner := make([]*val, len(args))
	for i, a := range args {
		if inner[i] = g.inMatrix(a, first); inner[i] == nil {
			return nil, nil
		}
	}
	exprs := make([]*kernels.Expr, len(args))
	for i, a := range args {
		if exprs[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, a.typ); a.op == vConst {
			exprs[i] = kernels.Const(a.konst)
		}
	}
	e, err := kernels.Call(d, at, exprs...)
	if err != nil {
		return nil, err
	}
	want := g.kindType(e.Type)
	if !want.IsFloat() || !slices.Equal(want.Shape, first.typ.Shape) {
		return nil, nil
	}
	for i, a := range inner { // scalars of real times a number are double precision, chunks of real stay real
		if d.Name != "cast" && a.typ.Shape != nil && a.typ.Kind != want.Kind {
			if inner[i], err = g.cast(a, want.Kind); err != nil {
				return nil, err
			}
		}
	}
	v, err := g.call(d, at, inner...)
	if err != nil || v.typ.Kind != want.Kind {
		return nil, err
	}
	return g.stored(v, first.lay, first.sp, want), nil
}

// inMatrix is a, an argument beside first, for the matrix that first has been made of; nil where that is not known.
func (g *graph) inMatrix(a, first *val) *val {
	shape := first.typ.Shape
	switch {
	case a.uniform() && a.typ.Shape == nil:
		return a
	case g.evenly(a) != nil:
		return g.evenly(a)
	case a.sp != first.sp || a.typ.Nullable || !a.typ.IsFloat() || a.uniform():
		return nil
	}
	if r := g.repeated(a, first.lay, shape, first.args[0].typ.Shape); r != nil {
		return r
	}
	if !slices.Equal(a.typ.Shape, shape) {
		return nil
	}
	return g.dense(a, first.lay, first.args[0].typ.Shape)
}

// evenly is the scalar that all elements of a chunk are, which is the same for all rows; nil for another column.
func (g *graph) evenly(v *val) *val {
	switch {
	case v.op != vCall || !v.uniform() || !v.typ.IsFloat() || v.typ.Nullable:
		return nil
	case v.expr.Def.Name == "expand_to" && v.args[0].typ.Shape == nil && v.args[0].typ.IsFloat():
		return v.args[0]
	case v.expr.Def.Elem == nil || v.typ.Shape == nil:
		return nil
	}
	args := slices.Clone(v.args)
	for i, a := range args {
		kind := v.typ.Kind // to which a chunk's kernel converts numbers
		if a.typ.Shape != nil || !a.uniform() {
			if args[i], kind = g.evenly(a), a.typ.Kind; args[i] == nil {
				return nil
			}
		}
		x, err := g.cast(args[i], kind)
		if err != nil {
			return nil
		}
		args[i] = x
	}
	x, err := g.call(v.expr.Def, v.expr.Attr, args...)
	if err == nil {
		x, err = g.cast(x, v.typ.Kind)
	}
	if err != nil {
		return nil
	}
	return x
}

func (g *graph) cast(v *val, k kernels.Kind) (*val, error) {
	if v.typ.Kind == k {
		return v, nil
	}
	return g.call(kernels.Lookup("cast"), kernels.Attr{Kind: k}, v)
}

// exactInReal are kernels whose results on numbers of real are numbers of real, so that no rounding is lost.
var exactInReal = map[string]bool{
	"neg":     true,
	"abs":     true,
	"relu":    true,
	"sign":    true,
	"greater": true,
	"select":  true,
	"maximum": true,
	"minimum": true,
	"mul":     true,
}

// narrow is a chunk of double precision that was made of chunks of real in steps that are exact, in real; nil for
// another.
func (g *graph) narrow(v *val) *val {
	if v.op != vCall || v.typ.Kind != kernels.Float64 || v.typ.Shape == nil {
		return nil
	}
	if name := v.expr.Def.Name; name == "cast" {
		if v.args[0].typ.Kind == kernels.Float32 {
			return v.args[0]
		}
		return nil
	} else if !exactInReal[name] {
		return nil
	}
	args := slices.Clone(v.args)
	for i, a := range args {
		switch x := a.konst; {
		case a.op != vConst:
			if args[i] = g.narrow(a); args[i] == nil || v.expr.Def.Name == "mul" && v.args[1-i].op != vConst {
				return nil
			}
		case x.Null || a.typ.Shape != nil || float64(float32(x.Float())) != x.Float():
			return nil
		case v.expr.Def.Name == "mul": // a power of two, which does not make large numbers infinite
			if f, _ := math.Frexp(x.Float()); math.Abs(f) != 0.5 || math.Abs(x.Float()) > 4 || math.Abs(x.Float()) < 1 {
				return nil
			}
		}
	}
	out, err := g.call(v.expr.Def, v.expr.Attr, args...)
	if err != nil || out.typ.Kind != kernels.Float32 {
		return nil
	}
	return out
}

// sumOfMatrix sums all rows of a column that has been put into rows from a matrix, or of their elements or squares: it
// sums the matrix. It returns nil for another sum.
func (g *graph) sumOfMatrix(v *val, t kernels.Type, grp *structure.Groups) (*val, error) {
	if rest, by := meanOf(v); rest != nil {
		sum, err := g.sumOfMatrix(rest, rest.typ, grp)
		if sum == nil || err != nil {
			return nil, err
		}
		if sum, err = g.call(v.expr.Def, v.expr.Attr, sum, by); err != nil {
			return nil, err
		}
		return g.cast(sum, t.Kind)
	}
	m, name := v, "sum_to"
	if v.op == vCall && len(v.args) == 1 &&
		(v.expr.Def.Name == "sqnorm" || v.expr.Def.Name == "sum_to" && v.typ.Shape == nil) {
		m, name = v.args[0], v.expr.Def.Name
	}
	if m.op != vLayout || !m.back || grp.Out.N != 1 || grp.In != v.sp || m.typ.Size() != 1 && m == v {
		return nil, nil
	}
	inner := m.args[0]
	if inner.typ.Shape != nil || name == "sqnorm" {
		var err error
		if x := squared(inner); x != nil && name == "sum_to" {
			inner, name = x, "sqnorm"
		}
		if inner.typ.Shape == nil {
			name = "square"
		}
		if inner, err = g.call(kernels.Lookup(name), kernels.Attr{}, inner); err != nil {
			return nil, err
		}
	}
	if inner.uniform() {
		return g.cast(inner, t.Kind)
	}
	return g.agg(ra.GradSum, inner, t, g.All(inner.sp, grp.Out)), nil
}

// squared is the chunk whose elements v holds the squares of, nil where it does not.
func squared(v *val) *val {
	if v.op != vCall || v.typ.Shape == nil || v.typ.Kind != kernels.Float64 {
		return nil
	}
	if n := v.expr.Def.Name; n != "square" && !(n == "power" && isTwo(v.args[1])) {
		return nil
	}
	x := v.args[0]
	if x.op == vCall && x.expr.Def.Name == "cast" && x.args[0].typ.IsFloat() {
		x = x.args[0]
	}
	return x
}
