package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/ra"
)

// addingOf returns the form of a sum over large groups: of scalars times chunks, of outer products, or of matrix
// products; nil for other aggregates. order is the order in which the rows come: that of the groups, or nil for their
// own.
func addingOf(l *Lowerer, v *values.Val, order *structure.Index) *device.Adding {
	arg := v.Args[0]
	if v.Fn != ra.Sum && v.Fn != ra.GradSum || !v.Type.IsFloat() || arg.Type.Nullable || arg.Type.Size() == 1 {
		return nil
	}
	many := v.Groups.In.N >= l.Tune.GroupRows*v.Groups.Out.N
	if many || v.Type.Size() >= l.Tune.PassChunk {
		if terms, ok := outersOf(l, nil, arg, nil); ok {
			return outerSumOf(v, terms)
		}
	}
	if !many {
		return nil
	}
	scalars, core := values.Factors(l.g, arg)
	if len(scalars) == 0 || core.Uniform() {
		return nil
	}
	if !l.mat[core] || core.Data != nil {
		if a := sumInPlace(l.g, v, order, scalars, core); a != nil {
			return a
		}
	}
	if core.Op == values.OpCall && core.Data == nil {
		return nil
	}
	return weightedSum(v, scalars, core)
}

var _ = registerForm(Form{
	Name: "adder",
	Match: func(l *Lowerer, v *values.Val) (any, error) {
		if v.Op != values.OpAgg {
			return nil, nil
		}
		if a := addingOf(l, v, nil); a != nil { // rows that are put in order take memory
			return a, nil
		}
		return nil, nil
	},
	Cost: func(l *Lowerer, v *values.Val, found any) float64 {
		if from := len(found.(*device.Adding).Also); from > 0 { // sums a group at a time, as SpMM does
			n := float64(v.Groups.In.N * v.Type.Size() * from)
			return rate{0.25, 0.12}.of(n, n*float64(column.KindOf(v.Type).Bytes()))
		}
		return l.treeCost(v) / 2 // rows are summed as they are made, not stored
	},
	emit: func(l *Lowerer, v *values.Val, _ any) ([]*device.Instr, error) {
		in, err := addedInstr(l, v, addingOf(l, v, v.Groups.Order))
		return []*device.Instr{in}, err
	},
})

// addedInstr makes the instruction of such a sum.
func addedInstr(l *Lowerer, v *values.Val, a *device.Adding) (*device.Instr, error) {
	c := newCompiler(l.g, v.Groups.Order)
	if err := emitSum(c, v, a); err != nil {
		return nil, err
	}
	c.finish(v.Groups.In.N)
	in := &device.Instr{V: v, How: a.How, Rows: v.Groups.In.N, T: c.t, Grp: v.Groups, Sum: a}
	l.finish(in)
	if a.Flops > 0 {
		in.Flops += float64(in.Rows) * a.Flops
		in.Cut(l.Tune)
	}
	return in, nil
}

// emitSum compiles the factors, then the vals, in the kind of the sum.
func emitSum(c *compiler, v *values.Val, a *device.Adding) error {
	for _, x := range a.Vals {
		r, err := c.emit(x, -1)
		if err != nil {
			return err
		}
		c.t.Result = append(c.t.Result, c.convert(r, column.KindOf(v.Type)))
	}
	c.t.Also, c.sums = append(c.t.Also, a.Also...), append(c.sums, a)
	c.t.Gathers = append(c.t.Gathers, a.Index...)
	if len(a.Also) == 0 {
		c.t.Most = device.Chain // bounds the rows of a sum in single precision
	}
	return nil
}

// nearby marks which columns the tree reads besides its sums.
func nearby(c *compiler) {
	read := map[*values.Val]int{}
	for _, v := range c.t.Also {
		read[v]++
	}
	for _, o := range c.t.Ops {
		read[o.V]++
	}
	for _, a := range c.sums {
		for _, v := range a.Also {
			read[v]--
		}
	}
	for _, a := range c.sums {
		for i := range a.Near {
			a.Near[i] = read[a.Also[i]] > 0
		}
	}
}

func factorVals(scalars []values.Factor) []*values.Val {
	return lists.Map(scalars, func(f values.Factor) *values.Val { return f.V })
}

// weightedSum adds chunks with weights without computing the products.
func weightedSum(v *values.Val, scalars []values.Factor, chunk *values.Val) *device.Adding {
	return &device.Adding{How: v.Fn.String() + " weighted", Vals: append(factorVals(scalars), chunk), Scalars: scalars}
}

// sumInPlace adds weighted chunks, or differences of two, that are read where they lie, through their indexes; nil
// where they are not in memory.
func sumInPlace(g *values.Graph, v *values.Val, order *structure.Index, scalars []values.Factor,
	chunk *values.Val) *device.Adding {
	from := sources(chunk)
	if from == nil {
		return nil
	}
	a := &device.Adding{How: v.Fn.String() + " in place", Vals: factorVals(scalars), Near: make([]bool, len(from))}
	for i, x := range from {
		if x.V.Data.Kind() != column.KindOf(v.Type) {
			return nil
		}
		from[i] = inOrder(x, g, order)
		a.Also = append(a.Also, x.V)
		if from[i].Idx != nil {
			a.Index = append(a.Index, x.V)
		}
	}
	a.Scalars, a.From = scalars, from
	return a
}

// outersOf splits v, times scalars, into a sum of outer products.
func outersOf(l *Lowerer, terms []device.OuterTerm, v *values.Val, scalars []values.Factor) ([]device.OuterTerm, bool) {
	more, core := values.Factors(l.g, v)
	scalars = append(scalars[:len(scalars):len(scalars)], more...)
	if core.Op != values.OpCall || core.Data != nil || len(terms) > 0 && l.mat[core] {
		return nil, false
	}
	x, y := core.Args[0], core.Args[len(core.Args)-1]
	t := device.OuterTerm{Scalars: scalars, X: x, Y: y, Each: 1}
	switch core.Expr.Def.Name {
	case "add":
		if x.Type.Size() != core.Type.Size() || y.Type.Size() != core.Type.Size() {
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
		if t.X, turned = values.Untransposed(x); !turned || len(x.Type.Shape) != 2 || len(y.Type.Shape) != 2 {
			return nil, false
		}
		t.Each = t.X.Type.Shape[0]
	default:
		return nil, false
	}
	return append(terms, t), !t.X.Uniform() && !t.Y.Uniform()
}

// outerSumOf sums outer products over rows as products of matrices, one for each term.
func outerSumOf(v *values.Val, terms []device.OuterTerm) *device.Adding {
	a := &device.Adding{How: v.Fn.String() + " GEMM", Terms: terms}
	for _, t := range terms {
		a.Vals = append(append(a.Vals, factorVals(t.Scalars)...), t.X, t.Y)
		a.Flops += 2 * float64(t.X.Type.Size()*t.Y.Type.Size()/t.Each)
	}
	return a
}
