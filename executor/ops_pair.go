package executor

import "github.com/relgrad/relgrad/executor/tuning"

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

// largeIndexed reports whether v are matrices that are read through an index, too large to be copied for each row.
func largeIndexed(v *val, t *tuning.Sizes) bool {
	return v.op == vGather && len(v.typ.Shape) == 2 && v.typ.Size() >= t.InPlaceMatrix && !v.uniform()
}
