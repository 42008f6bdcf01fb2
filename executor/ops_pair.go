package executor

import (
	"math"

	"github.com/relgrad/relgrad/kernels/cpu"
)

// pairing is how dot, mse, sqnorm and norm read their operands: the elements of a times those of b, or the squares of a - b.
type pairing struct {
	size int
	diff bool
	from [2]source // a column that is read in place, through its index; v is nil for an operand that is a cell
	cell [2]int    // the operation's argument that it is
}

// emitDot compiles dot, mse, sqnorm and norm: double precision from chunks. Chunks that are read through an index, and differences of
// such, are not copied first.
func emitDot(c *compiler, v *val, mask int) (int, error) {
	p, vals := &pairing{size: v.args[0].typ.Size(), diff: v.expr.Def.Name == "mse"}, v.args
	if len(vals) == 1 {
		vals = []*val{vals[0], vals[0]}
		if d := vals[0]; d.op == vCall && d.data == nil && d.expr.Def.Name == "sub" && d.args[0].typ.Size() == p.size && d.args[1].typ.Size() == p.size &&
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
				p.from[i].idx = c.g.compose(c.order, s.idx)
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
	return c.add(&op{name: v.expr.Def.Name, out: c.cell(v.typ, uniform), args: args, mask: -1, v: v, aux: p, run: pick(k, runPair[float32], runPair[float64])}), nil
}

// indexed reports whether v is read best in place: chunks of a column in memory, of the kind that it has there, by an index.
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
		case s.idx == nil || s.idx.at == nil: // none: the order of the rows is the inverse of the index
			rows[i] = cpu.Rows[T]{X: of[T](s.v.data)[b.lo*p.size:], Step: p.size}
		default:
			rows[i] = cpu.Rows[T]{X: of[T](s.v.data), At: s.idx.at[b.lo : b.lo+n]}
		}
	}
	cpu.Pairs(n, p.size, p.diff, rows[0], rows[1], out[:n])
	switch o.name {
	case "norm":
		for i, x := range out[:n] {
			out[i] = math.Sqrt(x)
		}
	case "mse":
		for i := range out[:n] {
			out[i] /= float64(p.size)
		}
	}
	return nil
}
