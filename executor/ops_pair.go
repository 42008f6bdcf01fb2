package executor

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// pairing is how dot, mse, sqnorm and norm read their operands: the elements of a times those of b, or the squares of a
// - b.
type pairing struct {
	size int
	diff bool
	from [2]source // a column that is read in place, through its index; v is nil for an operand that is a cell
	cell [2]int    // the operation's argument that it is
}

// emitDot compiles dot, mse, sqnorm and norm: double precision from chunks. Chunks that are read through an index, and
// differences of such, are not copied first.
func emitDot(c *compiler, v *val, mask int) (int, error) {
	p, vals := &pairing{size: v.args[0].typ.Size(), diff: v.expr.Def.Name == "mse"}, v.args
	if len(vals) == 1 {
		vals = []*val{vals[0], vals[0]}
		if d := vals[0]; d.op == vCall && d.data == nil && d.expr.Def.Name == "sub" && d.args[0].typ.Size() == p.size &&
			d.args[1].typ.Size() == p.size &&
			(c.indexed(d.args[0]) || c.indexed(d.args[1])) {
			vals, p.diff = d.args, true
		}
	}
	k, same := kindOf(vals[0].typ), kindOf(vals[0].typ) == kindOf(vals[1].typ)
	args, place := []int{}, map[*val]int{}
	for i, x := range vals {
		if same && c.indexed(x) {
			s, _ := readable(x)
			if p.from[i] = s; c.order != nil {
				p.from[i].idx = c.g.Compose(c.order, s.idx)
			}
			c.t.also = append(c.t.also, s.v)
			continue
		}
		at, ok := place[x]
		if !ok {
			r, err := c.emit(x, mask)
			if err != nil {
				return 0, err
			}
			at, place[x] = len(args), len(args)
			args = append(args, r)
			if c.t.cells[r].kind != f32 {
				k = f64
			}
		}
		p.cell[i] = at
	}
	for i := range args {
		args[i] = c.convert(args[i], k)
	}
	uniform := p.from[0].v == nil && p.from[1].v == nil && c.allUniform(args)
	return c.add(
		&op{
			code: opPair,
			kind: k,
			name: v.expr.Def.Name,
			out:  c.cell(v.typ, uniform),
			args: args,
			mask: -1,
			v:    v,
			aux:  p,
		},
	), nil
}

// indexed reports whether v is read best in place: chunks of a column in memory, of the kind that it has there, by an
// index.
func (c *compiler) indexed(v *val) bool {
	s, ok := readable(v)
	return ok && s.idx != nil && v.typ.Size() >= 8 && s.v.data.kind == kindOf(v.typ)
}

func runPair[T float](b *block, o *op) error {
	p, n, out := o.aux.(*pairing), b.rows(o), b.out(o).f64
	b.strictValid(o)
	var rows [2]cpu.Rows[T]
	for i, s := range p.from {
		switch {
		case s.v == nil:
			rows[i] = cpu.Rows[T]{X: of[T](b.arg(o, p.cell[i])), Step: b.step(o, p.cell[i])}
		case s.idx == nil || s.idx.At == nil: // none: the order of the rows is the inverse of the index
			rows[i] = cpu.Rows[T]{X: of[T](s.v.data)[b.lo*p.size:], Step: p.size}
		default:
			rows[i] = cpu.Rows[T]{X: of[T](s.v.data), At: s.idx.At[b.lo : b.lo+n]}
		}
	}
	cpu.Pairs(n, p.size, p.diff, rows[0], rows[1], out[:n])
	switch o.name {
	case "norm":
		cpu.Unary(cpu.Sqrt, out[:n], out[:n])
		for r, x := range out[:n] {
			if !(x > 1e-135 && x < 1e150) && kindOf(o.v.args[0].typ) == f64 { // squares of real stay in range
				out[r] = cpu.Length(r, p.size, p.diff, rows[0], rows[1])
			}
		}
	case "mse":
		for i := range out[:n] {
			out[i] /= float64(p.size)
		}
	}
	return nil
}

// turned is how a product of each row's vector with a matrix reads the matrix: in place, through an index. Rows that
// follow each other with one matrix, such as those of one relation, are one product.
type turned struct {
	p    product
	from source
	left bool // the matrix stands before the vector
	cell int  // a cell that it is transposed into
}

// turnedBy finds the vector and the matrix of such a product; nil where v is another one.
func (c *compiler) turnedBy(v *val) (vector *val, t *turned) {
	if v.op != vCall || v.expr.Def.Name != "matmul" || len(v.typ.Shape) != 1 {
		return nil, nil
	}
	t = &turned{p: dims(v.args[0], v.args[1]), left: len(v.args[0].typ.Shape) == 2}
	vector, matrix := v.args[0], v.args[1]
	if t.left {
		vector, matrix = matrix, vector
		matrix, t.p.at = untransposed(matrix)
	} else {
		matrix, t.p.bt = untransposed(matrix)
	}
	if !largeIndexed(matrix, c.t.tune) || !c.indexed(matrix) || vector.uniform() || vector.typ.Kind != v.typ.Kind ||
		matrix.typ.Kind != v.typ.Kind {
		return nil, nil
	}
	t.from, _ = readable(matrix)
	if c.order != nil {
		t.from.idx = c.g.Compose(c.order, t.from.idx)
	}
	return vector, t
}

// second tells how the matrix is stored as the second operand of rows · matrix: how far its rows are apart, and whether
// it is transposed.
func (t *turned) second() (ld int, turn bool) {
	switch {
	case !t.left && !t.p.bt:
		return t.p.n, false
	case t.left && t.p.at:
		return t.p.m, false
	}
	return t.p.k, true
}

// largeIndexed reports whether v are matrices that are read through an index, too large to be copied for each row.
func largeIndexed(v *val, t *device.Tuning) bool {
	return v.op == vGather && len(v.typ.Shape) == 2 && v.typ.Size() >= t.InPlaceMatrix && !v.uniform()
}

// smallMatrix is up to how many numbers a matrix is transposed before it multiplies rows: with larger ones libraries do
// that as well.
const smallMatrix = 1 << 14

func runTurned[T float](b *block, o *op) error {
	t, n := o.aux.(*turned), b.rows(o)
	b.strictValid(o)
	x, out, all := of[T](b.arg(o, 0)), of[T](b.out(o)), of[T](t.from.v.data)
	width, size, k := b.out(o).size, t.p.m*t.p.k*t.p.n, t.p.k
	ld, turn := t.second()
	row := func(r int) int {
		if t.from.idx == nil || t.from.idx.At == nil {
			return b.lo + r
		}
		return int(t.from.idx.At[b.lo+r])
	}
	for r := 0; r < n; {
		at, to := row(r), r+1
		for to < n && row(to) == at {
			to++
		}
		matrix, ld, turn := all[at*size:(at+1)*size], ld, turn
		if turn && to-r >= b.t.tune.RowsTransposed && size <= smallMatrix {
			transposed := of[T](&b.cells[t.cell])
			cpu.Transpose(width, k, matrix, k, transposed, width)
			matrix, ld, turn = transposed, width, false
		}
		blas.Gemm(false, turn, to-r, width, k, x[r*k:to*k], k, matrix, ld, 0, out[r*width:to*width], width)
		r = to
	}
	return nil
}
