package values

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// The user chooses the chunks in which a relation is stored, the executor those in which it computes. A layout tells
// how the numbers of a column, rows × chunk, form a matrix: another column with fewer and larger chunks.

// leg is a dimension of a column's numbers: n of them, over rows or within the chunk.
type leg struct {
	label, n int
	inner    bool // within the chunk
	stride   int  // distance in the row's number, or within the chunk
}

// Layout maps element c of row r of the matrix to a stored number: element inR[r]+inC[c] of the row with number
// kR[r]+kC[c].
type Layout struct {
	key              string
	order            string // equal for layouts with the same numbers in the same order, in rows of another length
	stored           int    // rows as stored
	size             int    // of a stored chunk
	Rows             int    // of the matrix
	Cols             int
	kR, kC, inR, inC []int32
	table            []int32 // row by number; nil: the number
	legs             [2][]leg
	Run              int  // how many neighbours in a row of the matrix are neighbours as stored
	View             bool // the matrix and the stored column are the same memory
}

// Chunking is the layout of a column, or of a matrix.
type Chunking struct {
	*Layout
	Back bool // from the matrix to the stored column
}

// laid reports whether v is another val in this chunking.
func (v *Val) laid(l *Layout, back bool) bool {
	return v.Op == OpLayout && v.Layout == Chunking{l, back}
}

// layout returns the layout of a column as a matrix whose rows and columns are these legs.
func (p *Shared) layout(stored, size int, table []int32, rows, cols []leg) *Layout {
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
	l := &Layout{key: key.String(), order: order, stored: stored, size: size, table: table, legs: [2][]leg{rows, cols},
		Rows: elements(rows), Cols: elements(cols)}
	l.Run = l.neighbours(cols)
	l.View = table == nil && l.neighbours(slices.Concat(rows, cols)) == l.Rows*l.Cols
	p.layouts[l.key] = l
	return l
}

// rowsAndColumns is the layout of a column's numbers, in their order, as a matrix of so many rows and columns.
func rowsAndColumns(rows, cols int) *Layout {
	return &Layout{key: fmt.Sprintf("view %d×%d", rows, cols), order: "view", Rows: rows, Cols: cols,
		Run: cols, View: true}
}

// table32 returns an earlier table with the same numbers, or t.
func (p *Shared) table32(t []int32) []int32 {
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

// neighbours is how many numbers along the last legs are neighbours as stored.
func (l *Layout) neighbours(legs []leg) int {
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

// List makes the lists that At reads.
func (l *Layout) List() {
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

// measure finds the length of the pieces that can be copied at once, for a layout given by lists.
func (l *Layout) measure() {
	off := func(k, in []int32, i int) int { return int(k[i])*l.size + int(in[i]) }
	step := func(i int) bool { // column i is stored right after column i-1
		if l.table != nil {
			return l.kC[i] == l.kC[i-1] && l.inC[i] == l.inC[i-1]+1
		}
		return off(l.kC, l.inC, i) == off(l.kC, l.inC, i-1)+1
	}
	l.Run = l.Cols
	for i, from := 1, 0; i <= l.Cols; i++ {
		if i == l.Cols || !step(i) {
			if n := i - from; l.Run%n == 0 {
				l.Run = n
			} else {
				l.Run = 1
			}
			from = i
		}
	}
	l.View = l.table == nil && l.Run == l.Cols && l.kC[0] == 0 && l.inC[0] == 0
	for r := 0; l.View && r < l.Rows; r++ {
		l.View = off(l.kR, l.inR, r) == r*l.Cols
	}
}

// At is the position at which the piece of row r that begins with column c is stored.
func (l *Layout) At(r, c int) int {
	k := int(l.kR[r]) + int(l.kC[c])
	if l.table != nil {
		k = int(l.table[k])
	}
	return k*l.size + int(l.inR[r]) + int(l.inC[c])
}

// dense reads v as a matrix. Its chunks are rows of the matrix, or have the given shape.
func (g *Graph) dense(v *Val, l *Layout, shape []int) *Val {
	if v.laid(l, true) && (shape == nil || slices.Equal(shape, v.Args[0].Type.Shape)) {
		return v.Args[0]
	}
	t := denseType(v, l, shape)
	sp := g.Rows(l.Rows)
	if v.Op == OpLayout && v.Layout.Back && v.Layout.order == l.order { // the same matrix with longer or shorter rows
		v, l = v.Args[0], rowsAndColumns(l.Rows, l.Cols)
	}
	if l.View && sp == v.Space && slices.Equal(t.Shape, v.Type.Shape) {
		return v
	}
	return g.intern(fmt.Sprintf("l%d %v %s", v.ID, t, l.key), func() *Val {
		return &Val{Op: OpLayout, Space: sp, Type: t, Args: []*Val{v},
			Special: Special{Layout: Chunking{l, false}}, Vary: v.Vary}
	})
}

func denseType(v *Val, l *Layout, shape []int) kernels.Type {
	t := v.Type
	if t.Shape = shape; shape == nil && l.Cols > 1 {
		t.Shape = []int{l.Cols}
	}
	return t
}

func denseKey(v *Val, l *Layout, shape []int) string {
	return fmt.Sprintf("l%d %v %s", v.ID, denseType(v, l, shape), l.key)
}

// stored converts a matrix back to the rows and chunks of a space and type.
func (g *Graph) stored(v *Val, l *Layout, sp *structure.Space, t kernels.Type) *Val {
	if t.Kind = v.Type.Kind; v.laid(l, false) && slices.Equal(v.Args[0].Type.Shape, t.Shape) {
		return v.Args[0]
	}
	if l.View && sp == v.Space && slices.Equal(t.Shape, v.Type.Shape) {
		return v
	}
	return g.intern(fmt.Sprintf("L%d %v %d %s", v.ID, t, sp.ID, l.key), func() *Val {
		return &Val{Op: OpLayout, Space: sp, Type: t, Args: []*Val{v},
			Special: Special{Layout: Chunking{l, true}}, Vary: v.Vary}
	})
}

// IsView reports whether v shares the memory of its argument.
func (v *Val) IsView() bool { return v.Op == OpLayout && v.Layout.View }

// Base is the val that owns v's memory: the val of which v is a view or that v overwrites, or v itself.
func (v *Val) Base() *Val {
	for {
		switch {
		case v.IsView():
			v = v.Args[0]
		case v.Over != nil:
			v = v.Over
		default:
			return v
		}
	}
}

// elementwise applies an element-wise kernel where some columns have been converted back from a matrix: it applies it
// to the matrix, whose chunks are mostly larger, so that the conversion is not needed. It returns nil where that is not
// possible.
func (g *Graph) elementwise(d *kernels.Def, at kernels.Attr, args []*Val) (*Val, error) {
	var first *Val
	for _, a := range args {
		if a.Op == OpLayout && a.Layout.Back {
			first = a
		}
	}
	if first == nil || d.Elem == nil && d.Name != "cast" {
		return nil, nil
	}
	if d.Name == "cast" && at.Kind == kernels.Float32 {
		if v := g.narrow(first.Args[0]); v != nil {
			t := kernels.Type{Kind: kernels.Float32, Shape: first.Type.Shape}
			return g.stored(v, first.Layout.Layout, first.Space, t), nil
		}
	}
	inner := make([]*Val, len(args))
	for i, a := range args {
		if inner[i] = g.inMatrix(a, first); inner[i] == nil {
			return nil, nil
		}
	}
	exprs := make([]*kernels.Expr, len(args))
	for i, a := range args {
		if exprs[i] = kernels.Column(kernels.Col{ID: kernels.ColumnID(i)}, a.Type); a.Op == OpConst {
			exprs[i] = kernels.Const(a.Value)
		}
	}
	e, err := kernels.Call(d, at, exprs...)
	if err != nil {
		return nil, err
	}
	want := g.KindType(e.Type)
	if !want.IsFloat() || !slices.Equal(want.Shape, first.Type.Shape) {
		return nil, nil
	}
	for i, a := range inner { // scalar real times a number is double precision, but a chunk of real stays real
		if d.Name != "cast" && a.Type.Shape != nil && a.Type.Kind != want.Kind {
			if inner[i], err = g.Cast(a, want.Kind); err != nil {
				return nil, err
			}
		}
	}
	v, err := g.Call(d, at, inner...)
	if err != nil || v.Type.Kind != want.Kind {
		return nil, err
	}
	return g.stored(v, first.Layout.Layout, first.Space, want), nil
}

// inMatrix converts a, an argument beside first, to the matrix from which first was converted; nil where it cannot.
func (g *Graph) inMatrix(a, first *Val) *Val {
	shape := first.Type.Shape
	switch {
	case a.Uniform() && a.Type.Shape == nil:
		return a
	case g.evenly(a) != nil:
		return g.evenly(a)
	case a.Space != first.Space || a.Type.Nullable || !a.Type.IsFloat() || a.Uniform():
		return nil
	}
	if r := repeated(g, a, first.Layout.Layout, shape, first.Args[0].Type.Shape); r != nil {
		return r
	}
	if !slices.Equal(a.Type.Shape, shape) {
		return nil
	}
	return g.dense(a, first.Layout.Layout, first.Args[0].Type.Shape)
}

// evenly is the scalar that all elements of a chunk equal, the same for all rows; nil for other columns.
func (g *Graph) evenly(v *Val) *Val {
	switch {
	case v.Op != OpCall || !v.Uniform() || !v.Type.IsFloat() || v.Type.Nullable:
		return nil
	case v.Expr.Def.Name == "expand_to" && v.Args[0].Type.Shape == nil && v.Args[0].Type.IsFloat():
		return v.Args[0]
	case v.Expr.Def.Elem == nil || v.Type.Shape == nil:
		return nil
	}
	args := slices.Clone(v.Args)
	for i, a := range args {
		kind := v.Type.Kind // the kind to which a chunk's kernel converts numbers
		if a.Type.Shape != nil || !a.Uniform() {
			if args[i], kind = g.evenly(a), a.Type.Kind; args[i] == nil {
				return nil
			}
		}
		x, err := g.Cast(args[i], kind)
		if err != nil {
			return nil
		}
		args[i] = x
	}
	x, err := g.Call(v.Expr.Def, v.Expr.Attr, args...)
	if err == nil {
		x, err = g.Cast(x, v.Type.Kind)
	}
	if err != nil {
		return nil
	}
	return x
}

func (g *Graph) Cast(v *Val, k kernels.Kind) (*Val, error) {
	if v.Type.Kind == k {
		return v, nil
	}
	return g.Call(kernels.Lookup("cast"), kernels.Attr{Kind: k}, v)
}

// exactInReal are kernels whose results on reals are reals without rounding.
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

// narrow computes in real a chunk of double precision that was made from chunks of real in exact steps; nil for others.
func (g *Graph) narrow(v *Val) *Val {
	if v.Op != OpCall || v.Type.Kind != kernels.Float64 || v.Type.Shape == nil {
		return nil
	}
	if name := v.Expr.Def.Name; name == "cast" {
		if v.Args[0].Type.Kind == kernels.Float32 {
			return v.Args[0]
		}
		return nil
	} else if !exactInReal[name] {
		return nil
	}
	args := slices.Clone(v.Args)
	for i, a := range args {
		switch x := a.Value; {
		case a.Op != OpConst:
			if args[i] = g.narrow(a); args[i] == nil || v.Expr.Def.Name == "mul" && v.Args[1-i].Op != OpConst {
				return nil
			}
		case x.Null || a.Type.Shape != nil || float64(float32(x.Float())) != x.Float():
			return nil
		case v.Expr.Def.Name == "mul": // a power of two that makes no large number infinite
			if f, _ := math.Frexp(x.Float()); math.Abs(f) != 0.5 || math.Abs(x.Float()) > 4 || math.Abs(x.Float()) < 1 {
				return nil
			}
		}
	}
	out, err := g.Call(v.Expr.Def, v.Expr.Attr, args...)
	if err != nil || out.Type.Kind != kernels.Float32 {
		return nil
	}
	return out
}

// sumOfMatrix sums all rows of a column that was converted from a matrix, or their elements or squares, by summing the
// matrix. It returns nil for other sums.
func (g *Graph) sumOfMatrix(v *Val, t kernels.Type, grp *structure.Groups) (*Val, error) {
	if rest, by := meanOf(v); rest != nil {
		sum, err := g.sumOfMatrix(rest, rest.Type, grp)
		if sum == nil || err != nil {
			return nil, err
		}
		if sum, err = g.Call(v.Expr.Def, v.Expr.Attr, sum, by); err != nil {
			return nil, err
		}
		return g.Cast(sum, t.Kind)
	}
	m, name := v, "sum_to"
	if v.Op == OpCall && len(v.Args) == 1 &&
		(v.Expr.Def.Name == "sqnorm" || v.Expr.Def.Name == "sum_to" && v.Type.Shape == nil) {
		m, name = v.Args[0], v.Expr.Def.Name
	}
	if m.Op != OpLayout || !m.Layout.Back || grp.Out.N != 1 || grp.In != v.Space || m.Type.Size() != 1 && m == v {
		return nil, nil
	}
	inner := m.Args[0]
	if inner.Type.Shape != nil || name == "sqnorm" {
		var err error
		if x := squared(inner); x != nil && name == "sum_to" {
			inner, name = x, "sqnorm"
		}
		if inner.Type.Shape == nil {
			name = "square"
		}
		if inner, err = g.Call(kernels.Lookup(name), kernels.Attr{}, inner); err != nil {
			return nil, err
		}
	}
	if inner.Uniform() {
		return g.Cast(inner, t.Kind)
	}
	return g.Agg(ra.GradSum, inner, t, g.All(inner.Space, grp.Out)), nil
}

// squared is the chunk of which v holds the squares of the elements; nil where v is something else.
func squared(v *Val) *Val {
	if v.Op != OpCall || v.Type.Shape == nil || v.Type.Kind != kernels.Float64 {
		return nil
	}
	if n := v.Expr.Def.Name; n != "square" && !(n == "power" && IsTwo(v.Args[1])) {
		return nil
	}
	x := v.Args[0]
	if x.Op == OpCall && x.Expr.Def.Name == "cast" && x.Args[0].Type.IsFloat() {
		x = x.Args[0]
	}
	return x
}
