package values

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// productForm is one way to compute a product of matrices.
type productForm struct {
	by   byte    // the labels that become rows: m, n, k, or b for the batch
	x, y *Layout // of the operands
	out  *Layout
	turn bool // the matrix of all rows, or the result of 'k', is transposed; of 'b', the second operand's matrices
	also bool // of 'b': the first operand's matrices are transposed
	// the chunk's shape of an operand that is one matrix for all rows or, in a batch, one per row; else nil
	shapeX, shapeY []int
	costs          float64
}

// Costs of a form, in numbers that are copied.
const (
	productCost = 1.0 / 75 // of one multiplication, if there are too few rows to share among workers
	fewRows     = 128
	readCost    = 0.25 // of reading a number again
)

// forms lists the ways to compute a product. rows and size are the result's rows and its numbers per row, inner the
// labels of its chunk.
func (m *matrices) forms(rows, size int, inner []int) []*productForm {
	x, y := m.Ops[0], m.Ops[1]
	orders := [][]int{m.k}
	var other []int // the order of k in which the second operand stores it
	for _, l := range y.labels() {
		if slices.Contains(m.k, l) {
			other = append(other, l)
		}
	}
	if !slices.Equal(other, m.k) {
		orders = append(orders, other)
	}
	to := func(by, cols []int) *Layout { return m.layout(rows, size, m.proj, inner, by, cols) }
	if len(m.batch) > 0 {
		return m.batches(orders, to)
	}
	var out []*productForm
	add := func(f *productForm, n, wide []int) {
		f.costs += m.copies(x, f.x, f.shapeX) + m.copies(y, f.y, f.shapeY) + float64(m.size(wide))
		if !f.out.View {
			f.costs += float64(f.out.Rows * f.out.Cols)
		}
		if m.size(n) < fewRows && !m.large(n, f) {
			f.costs += productCost * float64(m.size(m.m)*m.size(m.k)*m.size(m.n))
		}
		out = append(out, f)
	}
	for _, k := range orders {
		for _, turn := range []bool{false, true} {
			pair := func(a, b []int) []int {
				if turn {
					a, b = b, a
				}
				return slices.Concat(a, b)
			}
			if m.size(m.k) <= m.G.Env.Tune.LongSum || m.size(m.n) == 1 {
				add(&productForm{by: 'm', x: m.operandLayout(x, m.m, k), y: m.operandLayout(y, nil, pair(k, m.n)),
					out: to(m.m, m.n), turn: turn, shapeY: m.shape(m.n, turn)}, m.m, m.n)
			}
			if m.size(m.k) <= m.G.Env.Tune.LongSum || m.size(m.m) == 1 {
				add(&productForm{by: 'n', x: m.operandLayout(x, nil, pair(k, m.m)), y: m.operandLayout(y, m.n, k),
					out: to(m.n, m.m), turn: turn, shapeX: m.shape(m.m, turn)}, m.n, m.m)
			}
			add(&productForm{by: 'k', x: m.operandLayout(x, k, m.m), y: m.operandLayout(y, k, m.n), out: to(nil, pair(m.m, m.n)),
				turn: turn, costs: float64(m.size(m.m)*m.size(m.n)) * (8 + float64(m.size(k))/64)}, k, m.n)
		}
	}
	return out
}

// batches lists the forms of a product for each row.
func (m *matrices) batches(orders [][]int, to func(by, cols []int) *Layout) (out []*productForm) {
	x, y := m.Ops[0], m.Ops[1]
	turned := func(a, b []int, turn bool) []int {
		if turn {
			a, b = b, a
		}
		return slices.Concat(a, b)
	}
	for _, k := range orders {
		for i := range 4 {
			f := &productForm{by: 'b', turn: i&1 > 0, also: i&2 > 0, out: to(m.batch, slices.Concat(m.m, m.n))}
			f.x, f.shapeX = m.operandLayout(x, m.batch, turned(m.m, k, f.also)), m.shape(m.m, !f.also)
			f.y, f.shapeY = m.operandLayout(y, m.batch, turned(k, m.n, f.turn)), m.shape(m.n, f.turn)
			if f.costs = m.copies(x, f.x, nil) + m.copies(y, f.y, nil); !f.out.View {
				f.costs += float64(f.out.Rows * f.out.Cols)
			}
			out = append(out, f)
		}
	}
	return out
}

// multiplyEach computes a batch: it multiplies the matrices of each row.
func (m *matrices) multiplyEach(f *productForm) (*Val, error) {
	x, y := m.G.dense(m.Ops[0].V, f.x, f.shapeX), m.G.dense(m.Ops[1].V, f.y, f.shapeY)
	var err error
	if f.also && len(x.Type.Shape) == 2 {
		if x, err = m.G.Call(kernels.Lookup("transpose"), kernels.Attr{}, x); err != nil {
			return nil, err
		}
	}
	if f.turn && len(y.Type.Shape) == 2 {
		if y, err = m.G.Call(kernels.Lookup("transpose"), kernels.Attr{}, y); err != nil {
			return nil, err
		}
	}
	k, mm, n := m.size(m.k) > 1, m.size(m.m) > 1, m.size(m.n) > 1
	name := "matmul"
	switch {
	case !k && mm && n:
		name = "outer"
	case !k:
		name = "mul"
	case !mm && !n:
		name = "dot"
	}
	z, err := m.G.Call(kernels.Lookup(name), kernels.Attr{}, x, y)
	if err != nil {
		return nil, err
	}
	return m.G.Cast(z, x.Type.Kind)
}

// large reports whether workers share the columns of the product too (forms/gemm.go).
func (m *matrices) large(rows []int, f *productForm) bool {
	matrix := f.y
	if f.by == 'n' {
		matrix = f.x
	}
	return f.by != 'k' && matrix.Rows*matrix.Cols >= m.G.Env.Tune.LargeMatrix &&
		float64(2*m.size(rows)*matrix.Cols) >= m.G.Env.Tune.LargeFlops
}

// compute chooses the cheapest form and makes the val. It is nil if that is the sum as the query has it.
func (m *matrices) compute(v *Val, t kernels.Type, grp *structure.Groups) (*Val, error) {
	for _, o := range m.Ops {
		var err error
		if o.V, err = m.G.Cast(o.V, v.Type.Kind); err != nil {
			return nil, err
		}
	}
	to := v.Space
	if grp != nil {
		to = grp.Out
	}
	var best *productForm
	for _, f := range m.forms(to.N, t.Size(), m.out[len(m.proj.Dims):]) {
		if best == nil || f.costs < best.costs {
			best = f
		}
	}
	if m.Pairs.Dims == nil && m.Pairs.N == m.Lens[0] && best.by == 'k' { // the sum as it stands
		return nil, nil
	}
	z, err := m.multiply(best)
	if err != nil {
		return nil, err
	}
	if z, err = m.scale(z, t.Kind); err != nil {
		return nil, err
	}
	if z.Name = fmt.Sprintf("grid product %d×%d×%d", m.size(m.m), m.size(m.k), m.size(m.n)); len(m.batch) > 0 {
		z.Name = fmt.Sprintf("%d grid products %d×%d×%d", m.size(m.batch), m.size(m.m), m.size(m.k), m.size(m.n))
	}
	return m.G.stored(z, best.out, to, t), nil
}

// multiply makes the product in a form.
func (m *matrices) multiply(f *productForm) (*Val, error) {
	switch f.by {
	case 'm':
		return m.byRows(m.G.dense(m.Ops[0].V, f.x, nil), m.G.dense(m.Ops[1].V, f.y, f.shapeY), f.turn)
	case 'n':
		return m.byRows(m.G.dense(m.Ops[1].V, f.y, nil), m.G.dense(m.Ops[0].V, f.x, f.shapeX), f.turn)
	}
	if f.by == 'b' {
		return m.multiplyEach(f)
	}
	x, y := m.G.dense(m.Ops[0].V, f.x, nil), m.G.dense(m.Ops[1].V, f.y, nil)
	name := "mul"
	switch {
	case x.Type.Shape != nil && y.Type.Shape != nil:
		if name = "outer"; f.turn {
			x, y = y, x
		}
	case x.Type.Shape != nil:
		x, y = y, x
	}
	o, err := m.G.Call(kernels.Lookup(name), kernels.Attr{}, x, y)
	if err != nil || o.Uniform() {
		return o, err
	}
	return m.G.Agg(ra.GradSum, o, o.Type, m.G.All(o.Space, m.G.Unit)), nil
}

// shape is the shape of a matrix of k × n numbers, transposed if turned; nil if it is a vector or a number.
func (m *matrices) shape(n []int, turned bool) []int {
	k, w := m.size(m.k), m.size(n)
	switch {
	case k == 1 || w == 1:
		return nil
	case turned:
		return []int{w, k}
	}
	return []int{k, w}
}

// byRows multiplies each row of x by a matrix y, which is transposed first if turned.
func (m *matrices) byRows(x, y *Val, turned bool) (*Val, error) {
	call := func(name string, args ...*Val) (*Val, error) {
		return m.G.Call(kernels.Lookup(name), kernels.Attr{}, args...)
	}
	switch {
	case m.size(m.k) == 1:
		return call("mul", x, y)
	case len(y.Type.Shape) < 2:
		d, err := call("dot", x, y)
		if err != nil {
			return nil, err
		}
		return m.G.Cast(d, x.Type.Kind)
	case turned:
		var err error
		if y, err = call("transpose", y); err != nil {
			return nil, err
		}
	}
	return call("matmul", x, y)
}

// scale applies the scalars and the sign that are the same for all rows.
func (m *matrices) scale(z *Val, k kernels.Kind) (*Val, error) {
	var err error
	for _, f := range m.Scalars {
		name, args := "mul", []*Val{f.V, z}
		if f.Divide {
			name, args = "div", []*Val{z, f.V}
		}
		if z, err = m.G.Call(kernels.Lookup(name), kernels.Attr{}, args...); err != nil {
			return nil, err
		}
	}
	if m.Neg {
		if z, err = m.G.Call(kernels.Lookup("neg"), kernels.Attr{}, z); err != nil {
			return nil, err
		}
	}
	return m.G.Cast(z, k)
}
