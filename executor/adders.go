package executor

import (
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/ra"
)

// addingOf returns the form for sums over large groups of scalars times chunks, of outer products and of matrix products;
// nil for other aggregates. The rows come in an order: that of the groups, or nil where they come as they stand.
func addingOf(l *lowerer, v *val, order *structure.Index) *adding {
	arg := v.args[0]
	if v.fn != ra.Sum && v.fn != ra.GradSum || !v.typ.IsFloat() || arg.typ.Nullable || arg.typ.Size() == 1 {
		return nil
	}
	many := v.grp.In.N >= l.tune.GroupRows*v.grp.Out.N
	if many || v.typ.Size() >= l.tune.PassChunk {
		if terms, ok := outersOf(l, nil, arg, nil); ok {
			return outerSumOf(v, terms)
		}
	}
	if !many {
		return nil
	}
	scalars, core := l.g.factors(arg)
	if len(scalars) == 0 || core.uniform() {
		return nil
	}
	if !l.mat[core] || core.data != nil {
		if a := l.g.sumInPlace(v, order, scalars, core); a != nil {
			return a
		}
	}
	if core.op == vCall && core.data == nil {
		return nil
	}
	return weightedSum(v, scalars, core)
}

var _ = registerForm(form{
	name: "adder",
	match: func(l *lowerer, v *val) (any, error) {
		if v.op != vAgg {
			return nil, nil
		}
		if a := addingOf(l, v, v.grp.Order); a != nil {
			return a, nil
		}
		return nil, nil
	},
	cost: func(l *lowerer, v *val, found any) float64 {
		if from := len(found.(*adding).also); from > 0 { // as SpMM does, a group at a time
			n := float64(v.grp.In.N * v.typ.Size() * from)
			return rate{0.25, 0.12}.of(n, n*float64(kindOf(v.typ).bytes()))
		}
		return l.treeCost(v) / 2 // rows are summed as they are made, and not stored
	},
	emit: func(l *lowerer, v *val, found any) ([]*instr, error) {
		in, err := addedInstr(l, v, found.(*adding))
		return []*instr{in}, err
	},
})

// addedInstr makes the instruction of such a sum.
func addedInstr(l *lowerer, v *val, a *adding) (*instr, error) {
	c := newCompiler(l.g, v.grp.Order)
	if err := c.emitSum(v, a); err != nil {
		return nil, err
	}
	c.finish()
	in := &instr{v: v, how: a.how, rows: v.grp.In.N, t: c.t, grp: v.grp, sum: a}
	l.finish(in)
	if a.flops > 0 {
		in.flops += float64(in.rows) * a.flops
		in.cut(l.tune)
	}
	return in, nil
}

// emitSum compiles the factors, then the vals, in the sum's kind.
func (c *compiler) emitSum(v *val, a *adding) error {
	for _, x := range a.vals {
		r, err := c.emit(x, -1)
		if err != nil {
			return err
		}
		c.t.result = append(c.t.result, c.convert(r, kindOf(v.typ)))
	}
	c.t.also, c.sums = append(c.t.also, a.also...), append(c.sums, a)
	c.t.gathers = append(c.t.gathers, a.index...)
	if len(a.also) == 0 {
		c.t.most = chain // sums in single precision run over no more rows
	}
	return nil
}

// nearby notes what the tree reads besides its sums.
func (c *compiler) nearby() {
	read := map[*val]int{}
	for _, v := range c.t.also {
		read[v]++
	}
	for _, o := range c.t.ops {
		read[o.v]++
	}
	for _, a := range c.sums {
		for _, v := range a.also {
			read[v]--
		}
	}
	for _, a := range c.sums {
		for i := range a.near {
			a.near[i] = read[a.also[i]] > 0
		}
	}
}

func factorVals(scalars []factor) []*val {
	out := make([]*val, len(scalars))
	for i, f := range scalars {
		out[i] = f.v
	}
	return out
}

// weightedSum adds weighted chunks without making the products.
func weightedSum(v *val, scalars []factor, chunk *val) *adding {
	return &adding{how: v.fn.String() + " weighted", vals: append(factorVals(scalars), chunk), scalars: scalars}
}

// sumInPlace adds weighted chunks, or differences of two, that are read where they are, through their indexes; nil
// where they are in memory nowhere.
func (g *graph) sumInPlace(v *val, order *structure.Index, scalars []factor, chunk *val) *adding {
	from := sources(chunk)
	if from == nil {
		return nil
	}
	a := &adding{how: v.fn.String() + " in place", vals: factorVals(scalars), near: make([]bool, len(from))}
	for i, x := range from {
		if x.v.data.kind != kindOf(v.typ) {
			return nil
		}
		from[i] = x.in(g, order)
		a.also = append(a.also, x.v)
		if from[i].idx != nil {
			a.index = append(a.index, x.v)
		}
	}
	a.scalars, a.from = scalars, from
	return a
}

// outersOf splits v, times scalars, into a sum of such terms.
func outersOf(l *lowerer, terms []outerTerm, v *val, scalars []factor) ([]outerTerm, bool) {
	more, core := l.g.factors(v)
	scalars = append(scalars[:len(scalars):len(scalars)], more...)
	if core.op != vCall || core.data != nil || len(terms) > 0 && l.mat[core] {
		return nil, false
	}
	x, y := core.args[0], core.args[len(core.args)-1]
	t := outerTerm{scalars: scalars, x: x, y: y, each: 1}
	switch core.expr.Def.Name {
	case "add":
		if x.typ.Size() != core.typ.Size() || y.typ.Size() != core.typ.Size() {
			return nil, false
		}
		terms, ok := outersOf(l, terms, x, scalars)
		if !ok {
			return nil, false
		}
		return outersOf(l, terms, y, scalars)
	case "outer":
	case "matmul":
		turned := false
		if t.x, turned = untransposed(x); !turned || len(x.typ.Shape) != 2 || len(y.typ.Shape) != 2 {
			return nil, false
		}
		t.each = t.x.typ.Shape[0]
	default:
		return nil, false
	}
	return append(terms, t), !t.x.uniform() && !t.y.uniform()
}

// outerSumOf sums outer products over rows as products of matrices, one of the rows for each term.
func outerSumOf(v *val, terms []outerTerm) *adding {
	a := &adding{how: v.fn.String() + " GEMM", terms: terms}
	for _, t := range terms {
		a.vals = append(append(a.vals, factorVals(t.scalars)...), t.x, t.y)
		a.flops += 2 * float64(t.x.typ.Size()*t.y.typ.Size()/t.each)
	}
	return a
}
