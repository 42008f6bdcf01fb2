package executor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// plain is a device that computes every value by its definition, row by row, with the kernels' reference code and
// nothing else. It knows no form of an instruction. Tests run on it, so that the border of a device stays one.
type plain struct{}

func (plain) prepare(list []*instr, _ int) (code, error) { return &plainCode{list: list}, nil }

func (plain) held() int64 { return 0 }

func (plain) close() {}

type plainCode struct {
	list  []*instr
	times [][]time.Duration
	env   *kernels.Env
	err   error // the first one of an argument
}

func (c *plainCode) run(ctx context.Context, env *kernels.Env, timed bool) error {
	if c.env = env; c.times == nil {
		c.times = make([][]time.Duration, len(c.list))
	}
	for i, in := range c.list {
		begin := time.Now()
		if _, parts := in.form.(*distributed); parts { // those that stand in for it are computed
			continue
		}
		for _, v := range in.outs() {
			if err := c.compute(ctx, v); err != nil {
				return err
			}
		}
		if timed {
			c.times[i] = append(c.times[i], time.Since(begin))
		}
	}
	return nil
}

func (c *plainCode) took(i int) []time.Duration {
	if c.times == nil {
		return nil
	}
	return c.times[i]
}

func (c *plainCode) close() {}

func (c *plainCode) needed(i int) bool {
	_, parts := c.list[i].form.(*distributed)
	return !parts
}

// compute makes all rows of v.
func (c *plainCode) compute(ctx context.Context, v *val) error {
	switch v.op {
	case vAgg:
		return c.reduce(ctx, v)
	case vLayout:
		return c.lay(v)
	case vConcat:
		at := 0
		for i, a := range v.args {
			for r := range v.from[i].N {
				if err := c.set(ctx, v, at+r, a, r); err != nil {
					return err
				}
			}
			at += v.from[i].N
		}
		return nil
	}
	for r := range v.data.n {
		if err := c.set(ctx, v, r, v, r); err != nil {
			return err
		}
	}
	return nil
}

// set puts row from of x into row r of v.
func (c *plainCode) set(ctx context.Context, v *val, r int, x *val, from int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	y, err := c.row(x, from, v, map[*val]kernels.Value{})
	if err == nil && !v.data.setValue(r, y) {
		err = sqlerr.Broken("executor", "row %d of v%d is NULL though its type %v is not nullable", r, v.id, v.typ)
	}
	return err
}

// row is row r of v. What is in memory is read, but for the val that is being made; memo holds what the row of another
// space has been computed for already.
func (c *plainCode) row(v *val, r int, making *val, memo map[*val]kernels.Value) (x kernels.Value, err error) {
	if v.uniform() {
		r = 0
	}
	switch {
	case v.data != nil && v != making:
		return v.data.value(r, v.typ), nil
	case v.op == vConst:
		return c.rounded(v, v.konst), nil
	case v.op == vGather:
		return c.through(v, r, making)
	case v.op != vCall:
		return x, sqlerr.Broken("executor", "v%d of kind %d is not computed before it is read", v.id, v.op)
	}
	if x, ok := memo[v]; ok {
		return x, nil
	}
	args := make([]kernels.Value, len(v.args))
	if v.expr.Def.Lazy == nil {
		for i, a := range v.args {
			if args[i], err = c.row(a, r, making, memo); err != nil {
				return x, err
			}
		}
	}
	x, err = v.expr.Eval(c.env, func(col kernels.Col) kernels.Value {
		i := int(col.ID)
		if v.expr.Def.Lazy == nil {
			return args[i]
		}
		y, err := c.row(v.args[i], r, making, memo)
		if err != nil && c.err == nil {
			c.err = err
		}
		return y
	})
	if c.err != nil {
		err, c.err = c.err, nil
	}
	if err != nil {
		return x, err
	}
	x = c.rounded(v, x)
	memo[v] = x
	return x, nil
}

// through is row r of what v reads through an index: zero where it has none.
func (c *plainCode) through(v *val, r int, making *val) (kernels.Value, error) {
	v.idx.List()
	at := r
	if v.idx.At != nil {
		at = int(v.idx.At[r])
	}
	if at < 0 {
		one := onHeap(kindOf(v.typ), 1, v.typ.Size(), false)
		return one.value(0, v.typ), nil
	}
	return c.row(v.args[0], at, making, map[*val]kernels.Value{})
}

// rounded is x as a column of v's type holds it.
func (c *plainCode) rounded(v *val, x kernels.Value) kernels.Value {
	one := onHeap(kindOf(v.typ), 1, v.typ.Size(), true)
	one.setValue(0, x)
	return one.value(0, v.typ)
}

// lay makes v in its other chunking.
func (c *plainCode) lay(v *val) error {
	l, from := v.lay, v.args[0].data
	l.list()
	for r := range l.rows {
		for i := range l.cols {
			piece := i / l.run * l.run
			at, row := l.at(r, piece)+i-piece, r*l.cols+i
			if v.back {
				at, row = row, at
			}
			setNumber(v.data, row, number(from, at))
		}
	}
	return nil
}

func number(d *data, i int) float64 { return d.float(i) }

func setNumber(d *data, i int, x float64) {
	if d.kind == f32 {
		d.f32[i] = float32(x)
		return
	}
	d.f64[i] = x
}

// reduce makes the groups of v from its rows, one after the other.
func (c *plainCode) reduce(ctx context.Context, v *val) error {
	groups := make([]group, v.grp.Out.N)
	for r := range v.grp.In.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := c.row(v.args[0], r, v, map[*val]kernels.Value{})
		if err != nil {
			return err
		}
		if !x.Null {
			groups[groupOf(v.grp, r)].add(v.fn, x)
		}
	}
	for g := range groups {
		if !v.data.setValue(g, groups[g].result(v)) {
			return sqlerr.Broken("executor", "group %d of v%d is NULL though its type %v is not nullable", g, v.id, v.typ)
		}
	}
	return nil
}

func groupOf(x *structure.Groups, r int) int {
	if x.Codes == nil {
		return 0
	}
	return int(x.Codes[r])
}

// group is a group so far.
type group struct {
	rows int64
	f    []float64
	i    int64
	t    string
}

func (g *group) add(fn ra.AggFn, x kernels.Value) {
	g.rows++
	switch first, sums := g.rows == 1, fn == ra.Sum || fn == ra.GradSum; {
	case fn == ra.Count:
	case x.Type.IsFloat() && first:
		g.f = slices.Clone(x.Floats())
	case x.Type.IsFloat():
		for i, y := range x.Floats() {
			switch order := compareFloats(y, g.f[i]); {
			case sums:
				g.f[i] += y
			case fn == ra.Max && order > 0, fn == ra.Min && order < 0:
				g.f[i] = y
			}
		}
	case x.Type.Kind == kernels.Text:
		if order := strings.Compare(x.T, g.t); first || fn == ra.Max && order > 0 || fn == ra.Min && order < 0 {
			g.t = x.T
		}
	case sums:
		g.i += x.I
	default:
		if order := cmp.Compare(x.I, g.i); first || fn == ra.Max && order > 0 || fn == ra.Min && order < 0 {
			g.i = x.I
		}
	}
}

// result is the group's value. A sum of no rows is NULL, but that of a gradient is zero.
func (g *group) result(v *val) kernels.Value {
	x := kernels.Value{Type: v.typ}
	switch {
	case v.fn == ra.Count:
		x.I = g.rows
	case g.rows == 0 && v.typ.Nullable && v.fn != ra.GradSum:
		return kernels.NullOf(v.typ)
	case v.typ.IsFloat() && g.f == nil:
		x.F = make([]float64, v.typ.Size())
	case v.typ.IsFloat() && v.typ.Shape == nil:
		x.X = g.f[0]
	case v.typ.IsFloat():
		x.F = g.f
	case v.typ.Kind == kernels.Text:
		x.T = g.t
	default:
		x.I = g.i
	}
	return x
}
