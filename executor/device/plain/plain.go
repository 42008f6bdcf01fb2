package plain

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Plain is a device that computes every value by its definition, with the kernels' reference code. Tests run on it, so
// that nothing passes between a program and its device but what the interfaces say.
type Plain struct {
	mem  []memory
	port *device.Port // nil: it is the only site
}

func (p *Plain) Join(port *device.Port) { p.port = port }

func (p *Plain) Prepare(list []*device.Instr, _ int) (device.Code, error) {
	return &plainCode{p: p, list: list}, nil
}

func (p *Plain) Held() int64 { return 0 }

func (p *Plain) Close() { p.mem = nil }

type plainCode struct {
	p     *Plain
	list  []*device.Instr
	times [][]time.Duration
	env   *kernels.Env
	err   error                // the first error of an argument
	there map[*values.Val]bool // the vals in memory for the present instruction
}

func (c *plainCode) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	if c.env = env; c.times == nil {
		c.times = make([][]time.Duration, len(c.list))
	}
	c.p.enter()
	defer c.p.leave()
	for i, in := range c.list {
		begin := time.Now()
		if _, parts := in.Form.(*device.Distributed); parts { // the instructions that it replaces are run instead
			continue
		}
		c.there = map[*values.Val]bool{}
		for _, v := range in.T.Loads() {
			c.there[v.Base()] = true
		}
		for _, v := range in.Outs() {
			if err := c.compute(ctx, in, v); err != nil {
				return err
			}
			c.there[v] = true
		}
		if timed {
			c.times[i] = append(c.times[i], time.Since(begin))
		}
	}
	return nil
}

func (c *plainCode) Took(i int) []time.Duration {
	if c.times == nil {
		return nil
	}
	return c.times[i]
}

func (c *plainCode) Close() {}

func (c *plainCode) Needed(i int) bool {
	_, parts := c.list[i].Form.(*device.Distributed)
	return !parts
}

// compute makes the rows of v that the instruction covers.
func (c *plainCode) compute(ctx context.Context, in *device.Instr, v *values.Val) error {
	if is, err := c.train(ctx, in); is {
		return err
	}
	switch v.Op {
	case values.OpExchange:
		return c.p.port.Exchange(ctx, in.Form.(*device.Exchange), v.Data)
	case values.OpAgg:
		return c.reduce(ctx, v)
	case values.OpLayout:
		return c.lay(v)
	case values.OpWindow:
		return c.window(ctx, v)
	case values.OpConcat:
		at := 0
		for i, a := range v.Args {
			for r := range v.From[i].N {
				if at != in.Off || v.From[i].N != in.Rows { // another instruction makes this row
					break
				}
				if err := c.set(ctx, v, at+r, a, r); err != nil {
					return err
				}
			}
			at += v.From[i].N
		}
		return nil
	}
	for r := range v.Data.Len() {
		if err := c.set(ctx, v, r, v, r); err != nil {
			return err
		}
	}
	return nil
}

// set rounds row from of x to the type of v's column and writes it to row r.
func (c *plainCode) set(ctx context.Context, v *values.Val, r int, x *values.Val, from int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	y, err := c.row(x, from, v, map[*values.Val]kernels.Value{})
	if err == nil && !v.Data.Put(r, y) {
		err = sqlerr.Broken("executor", "row %d of v%d is NULL though its type %v is not nullable", r, v.ID, v.Type)
	}
	return err
}

// row computes row r of v. Vals in memory are read, except making, the one that is being computed. memo holds rows of
// other vals that are computed already.
func (c *plainCode) row(v *values.Val, r int, making *values.Val,
	memo map[*values.Val]kernels.Value) (x kernels.Value, err error) {
	if v.Uniform() {
		r = 0
	}
	switch {
	case v.Done || c.there[v.Base()] && v != making:
		return v.Data.ValueAs(r, v.Type), nil
	case v.Op == values.OpConst:
		return c.rounded(v, v.Value), nil
	case v.Op == values.OpGather:
		return c.through(v, r, making)
	case v.Op != values.OpCall:
		return x, sqlerr.Broken("executor", "v%d of kind %d is not computed before it is read", v.ID, v.Op)
	}
	if x, ok := memo[v]; ok {
		return x, nil
	}
	args := make([]kernels.Value, len(v.Args))
	if v.Expr.Def.Lazy == nil {
		for i, a := range v.Args {
			if args[i], err = c.row(a, r, making, memo); err != nil {
				return x, err
			}
		}
	}
	x, err = v.Expr.Eval(c.env, func(col kernels.Col) kernels.Value {
		i := int(col.ID)
		if v.Expr.Def.Lazy == nil {
			return args[i]
		}
		y, err := c.row(v.Args[i], r, making, memo)
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

// through is row r of v, which reads its argument through an index; zero if the index has no row there.
func (c *plainCode) through(v *values.Val, r int, making *values.Val) (kernels.Value, error) {
	v.Index.List()
	at := r
	if v.Index.At != nil {
		at = int(v.Index.At[r])
	}
	if at < 0 {
		one := column.OnHeap(column.KindOf(v.Type), 1, v.Type.Size(), false)
		return one.ValueAs(0, v.Type), nil
	}
	return c.row(v.Args[0], at, making, map[*values.Val]kernels.Value{})
}

// rounded is x rounded to the type of v's column.
func (c *plainCode) rounded(v *values.Val, x kernels.Value) kernels.Value {
	one := column.OnHeap(column.KindOf(v.Type), 1, v.Type.Size(), true)
	one.Put(0, x)
	return one.ValueAs(0, v.Type)
}

// lay computes v, a layout, element by element.
func (c *plainCode) lay(v *values.Val) error {
	l, from := v.Layout, v.Args[0].Data
	l.List()
	for r := range l.Rows {
		for i := range l.Cols {
			piece := i / l.Run * l.Run
			at, row := l.At(r, piece)+i-piece, r*l.Cols+i
			if v.Layout.Back {
				at, row = row, at
			}
			v.Data.SetFloat(row, from.Float(at))
		}
	}
	return nil
}

// reduce makes the groups of v from its rows, one after the other.
func (c *plainCode) reduce(ctx context.Context, v *values.Val) error {
	groups := make([]group, v.Groups.Out.N)
	for r := range v.Groups.In.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := c.row(v.Args[0], r, v, map[*values.Val]kernels.Value{})
		if err != nil {
			return err
		}
		if !x.Null {
			groups[groupOf(v.Groups, r)].add(v.Fn, x)
		}
	}
	for g := range groups {
		if !v.Data.Put(g, groups[g].result(v)) {
			return sqlerr.Broken("executor", "group %d of v%d is NULL though its type %v is not nullable", g, v.ID, v.Type)
		}
	}
	return nil
}

// window makes each row of v from the rows of its frame, one after the other.
func (c *plainCode) window(ctx context.Context, v *values.Val) error {
	if v.Fn == ra.Rank {
		return c.ranks(ctx, v)
	}
	frames := v.Order.Frames(v.Frame, 0)
	counts := func(int, int) bool { return true }
	if v.Among != nil {
		var err error
		if counts, err = c.attaining(ctx, v); err != nil {
			return err
		}
	}
	for k := range v.Space.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		lo, hi, _ := frames.At(k)
		sum := group{}
		for at := lo; at < hi; at++ {
			if !counts(k, at) {
				continue
			}
			x, err := c.row(v.Args[0], v.Order.Row(at), v, map[*values.Val]kernels.Value{})
			if err != nil {
				return err
			}
			if !x.Null {
				sum.add(v.Fn, x)
			}
		}
		if r := v.Order.Row(k); !v.Data.Put(r, sum.result(v)) {
			return sqlerr.Broken("executor", "row %d of v%d is NULL though its type %v is not nullable", r, v.ID, v.Type)
		}
	}
	return nil
}

// ranks counts for each row those of its partition that precede it by value or, with its value, by place.
func (c *plainCode) ranks(ctx context.Context, v *values.Val) error {
	x := make([]kernels.Value, v.Space.N)
	for k := range x {
		var err error
		if x[k], err = c.row(v.Args[0], v.Order.Row(k), v, map[*values.Val]kernels.Value{}); err != nil {
			return err
		}
	}
	frames := v.Order.Frames(v.Frame, 0)
	for k := range x {
		if err := ctx.Err(); err != nil {
			return err
		}
		lo, hi, _ := frames.At(k)
		rank := kernels.IntValue(0)
		for at := lo; at < hi && !x[k].Null; at++ {
			if order := kernels.Compare(x[at], x[k]); !x[at].Null && (order < 0 || order == 0 && at < k) {
				rank.I++
			}
		}
		if rank.Type = v.Type; x[k].Null {
			rank = kernels.NullOf(v.Type)
		}
		if r := v.Order.Row(k); !v.Data.Put(r, rank) {
			return sqlerr.Broken("executor", "row %d of v%d is NULL though its type %v is not nullable", r, v.ID, v.Type)
		}
	}
	return nil
}

// attaining tells whether the row at one place counts for that at another in whose frame it is, where only rows do that
// attain an extreme.
func (c *plainCode) attaining(ctx context.Context, v *values.Val) (func(place, other int) bool, error) {
	x, extreme := make([]kernels.Value, v.Space.N), make([]*kernels.Value, v.Space.N)
	for k := range x {
		var err error
		if x[k], err = c.row(v.Args[1], v.Order.Row(k), v, map[*values.Val]kernels.Value{}); err != nil {
			return nil, err
		}
	}
	of := v.Frame
	if v.Among.Back {
		of = of.Mirrored()
	}
	frames := v.Order.Frames(of, 0)
	for k := range extreme {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lo, hi, _ := frames.At(k)
		for at := lo; at < hi; at++ {
			if x[at].Null {
				continue
			}
			if e := extreme[k]; e == nil || (kernels.Compare(x[at], *e) > 0) == (v.Among.Fn == ra.Max) {
				extreme[k] = &x[at]
			}
		}
	}
	equal := func(top *kernels.Value, x kernels.Value) bool {
		return top != nil && !x.Null && kernels.Compare(*top, x) == 0
	}
	return func(place, other int) bool {
		if v.Among.Back {
			return equal(extreme[other], x[place])
		}
		return equal(extreme[place], x[other])
	}, nil
}

func groupOf(x *structure.Groups, r int) int {
	if x.Codes == nil {
		return 0
	}
	return int(x.Codes[r])
}

// group accumulates the rows of a group.
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
			switch order := device.CompareFloats(y, g.f[i]); {
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

// result is the group's value. The sum of no rows is NULL, but zero in a gradient.
func (g *group) result(v *values.Val) kernels.Value {
	x := kernels.Value{Type: v.Type}
	switch {
	case v.Fn == ra.Count:
		x.I = g.rows
	case g.rows == 0 && v.Type.Nullable && v.Fn != ra.GradSum:
		return kernels.NullOf(v.Type)
	case v.Type.IsFloat() && g.f == nil:
		x.F = make([]float64, v.Type.Size())
	case v.Type.IsFloat() && v.Type.Shape == nil:
		x.X = g.f[0]
	case v.Type.IsFloat():
		x.F = g.f
	case v.Type.Kind == kernels.Text:
		x.T = g.t
	default:
		x.I = g.i
	}
	return x
}
