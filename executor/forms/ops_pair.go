package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
)

// emitDot compiles dot, mse, sqnorm and norm of chunks, in double precision. Chunks read through an index, and
// differences of such, are not copied first.
func emitDot(c *compiler, v *values.Val, mask int) (int, error) {
	p, vals := &device.Pairing{Size: v.Args[0].Type.Size(), Diff: v.Expr.Def.Name == "mse"}, v.Args
	if len(vals) == 1 {
		vals = []*values.Val{vals[0], vals[0]}
		if d := vals[0]; d.Op == values.OpCall && d.Data == nil && d.Expr.Def.Name == "sub" &&
			d.Args[0].Type.Size() == p.Size &&
			d.Args[1].Type.Size() == p.Size &&
			(indexed(c, d.Args[0]) || indexed(c, d.Args[1])) {
			vals, p.Diff = d.Args, true
		}
	}
	k, same := column.KindOf(vals[0].Type), column.KindOf(vals[0].Type) == column.KindOf(vals[1].Type)
	args, place := []int{}, map[*values.Val]int{}
	for i, x := range vals {
		if same && indexed(c, x) {
			s, _ := readable(x)
			if p.From[i] = s; c.order != nil {
				p.From[i].Idx = c.g.Compose(c.order, s.Idx)
			}
			c.t.Also = append(c.t.Also, s.V)
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
			if c.t.Cells[r].Kind != column.F32 {
				k = column.F64
			}
		}
		p.Cell[i] = at
	}
	for i := range args {
		args[i] = c.convert(args[i], k)
	}
	uniform := p.From[0].V == nil && p.From[1].V == nil && c.allUniform(args)
	return c.add(&device.Op{Code: device.OpPair, Kind: k, Name: v.Expr.Def.Name, Out: c.cell(v.Type, uniform), Args: args,
		Mask: -1, V: v, Aux: p}), nil
}

// indexed reports whether v is best read in place: it is read through an index from chunks in memory, of the kind that
// they have there.
func indexed(c *compiler, v *values.Val) bool {
	s, ok := readable(v)
	return ok && s.Idx != nil && v.Type.Size() >= 8 && s.V.Data.Kind() == column.KindOf(v.Type)
}

// turnedBy finds the vector and the matrix of a product with a transposed matrix; nil for others.
func turnedBy(c *compiler, v *values.Val) (vector *values.Val, t *device.Turned) {
	if v.Op != values.OpCall || v.Expr.Def.Name != "matmul" || len(v.Type.Shape) != 1 {
		return nil, nil
	}
	t = &device.Turned{P: dims(v.Args[0], v.Args[1]), Left: len(v.Args[0].Type.Shape) == 2}
	vector, matrix := v.Args[0], v.Args[1]
	if t.Left {
		vector, matrix = matrix, vector
		matrix, t.P.At = values.Untransposed(matrix)
	} else {
		matrix, t.P.Bt = values.Untransposed(matrix)
	}
	if !largeIndexed(matrix, c.t.Tune) || !indexed(c, matrix) || vector.Uniform() || vector.Type.Kind != v.Type.Kind ||
		matrix.Type.Kind != v.Type.Kind {
		return nil, nil
	}
	t.From, _ = readable(matrix)
	if c.order != nil {
		t.From.Idx = c.g.Compose(c.order, t.From.Idx)
	}
	return vector, t
}

// largeIndexed reports whether v are matrices read through an index that are too large to be copied for each row.
func largeIndexed(v *values.Val, t *tuning.Sizes) bool {
	return v.Op == values.OpGather && len(v.Type.Shape) == 2 && v.Type.Size() >= t.InPlaceMatrix && !v.Uniform()
}
