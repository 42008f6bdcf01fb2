package executor

import (
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// emitSoftmax compiles softmax and its logarithm over the last axis. Softmax of quotients by one number (attention's
// scores) divides in the loop itself.
func emitSoftmax(c *compiler, v *val, mask int) (int, error) {
	last := v.typ.Shape[len(v.typ.Shape)-1]
	if v.expr.Def.Name == "softmax" {
		args, err := c.emitQuotient(v, v.args[0], mask)
		if err != nil {
			return 0, err
		}
		return c.strict(opSoftmax, kindOf(v.typ), v, args, -1, last), nil
	}
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	return c.strict(opLogSoftmax, kindOf(v.typ), v, args, -1, last), nil
}

// emitQuotient emits x, an argument of v, or where it is a quotient by one number for all rows, what is divided and
// that number.
func (c *compiler) emitQuotient(v, x *val, mask int) ([]int, error) {
	xs := []*val{x}
	if called(x, "div") && oneNumber(x) {
		xs = x.args
	}
	args := make([]int, len(xs))
	for i, x := range xs {
		a, err := c.emit(x, mask)
		if err != nil {
			return nil, err
		}
		args[i] = c.convert(a, kindOf(v.typ))
	}
	return args, nil
}

// called reports whether v is a call of a kernel that is not in memory.
func called(v *val, name string) bool {
	return v.op == vCall && v.data == nil && v.expr.Def.Name == name
}

// oneNumber reports whether both arguments of v are as many as it is, or the second is one number for all rows.
func oneNumber(v *val) bool {
	return kindOf(v.args[0].typ) == kindOf(v.typ) && v.args[0].typ.Shape.Equal(v.typ.Shape) &&
		v.args[1].typ.Shape == nil &&
		v.args[1].typ.IsFloat() &&
		v.args[1].uniform()
}

// divisor is what argument i says is divided by, 1 where there is none.
func divisor[T float](b *block, o *op, i int) T {
	if i == len(o.args) {
		return 1
	}
	return of[T](b.arg(o, i))[0]
}

func runSoftmax[T float](b *block, o *op) error {
	last, n := o.aux.(int), b.rows(o)*b.out(o).size
	cpu.Softmax(n/last, last, of[T](b.arg(o, 0))[:n], divisor[T](b, o, 1), of[T](b.out(o))[:n])
	return nil
}

func runLogSoftmax[T float](b *block, o *op) error {
	last, n := o.aux.(int), b.rows(o)*b.out(o).size
	x, out, top, l := of[T](b.arg(o, 0)), of[T](b.out(o)), make([]float64, n/last), make([]float64, n/last)
	cpu.LogSumExp(n/last, last, x[:n], top, l)
	for i := range n {
		out[i] = T((float64(x[i]) - top[i/last]) - l[i/last])
	}
	return nil
}

// emitLogSoftmaxSlope compiles g - p·Σ g for p = softmax(x).
func emitLogSoftmaxSlope(c *compiler, v *val, mask int) (int, error) {
	args, err := c.floatArgs(v, mask)
	if err != nil {
		return 0, err
	}
	if c.t.cells[args[0]].uniform != c.t.cells[args[1]].uniform {
		return c.reference(v, mask)
	}
	return c.strict(opLogSoftmaxSlope, kindOf(v.typ), v, args, -1, v.typ.Shape[len(v.typ.Shape)-1]), nil
}

func runLogSoftmaxSlope[T float](b *block, o *op) error {
	last, n := o.aux.(int), b.rows(o)*b.out(o).size
	x, g, out := of[T](b.arg(o, 0)), of[T](b.arg(o, 1)), of[T](b.out(o))
	cpu.Softmax(n/last, last, x[:n], 1, out[:n])
	for lo := 0; lo < n; lo += last {
		p, g := out[lo:lo+last], g[lo:lo+last]
		m, rest, others := 0, 0.0, 0.0
		for i := range p {
			if p[i] > p[m] {
				m = i
			}
		}
		for i := range p {
			if i != m {
				rest, others = rest+float64(p[i]), others+float64(g[i])
			}
		}
		all, top := T(others+float64(g[m])), p[m]
		for i := range p {
			p[i] = g[i] - p[i]*all
		}
		p[m] = T(float64(g[m])*rest - float64(top)*others)
	}
	return nil
}

// ofSoftmax writes y · softmax_center(x, g), what softmax passes on of the gradient of its result y = softmax(x), over
// y alone: x need not stay until then. See softmaxGrad, whose loop keeps the digits.
func (g *graph) ofSoftmax(d *kernels.Def, args []*val) (*val, error) {
	if d.Name != "mul" {
		return nil, nil
	}
	for i, c := range args {
		y := args[1-i]
		if !called(c, "softmax_center") || !alike(y, c) || !alike(c, c.args[1]) {
			continue
		}
		s, err := g.call(kernels.Lookup("softmax"), kernels.Attr{}, c.args[0])
		if s != y || err != nil {
			return nil, err
		}
		last := tensor.Shape(slices.Clone(y.typ.Shape))
		last[len(last)-1] = 1
		v := c.args[1]
		for _, step := range []struct {
			name string
			at   kernels.Attr
		}{{"mul", kernels.Attr{}}, {"sum_to", kernels.Attr{Shape: last}}, {"sub", kernels.Attr{}}} {
			with := map[string][]*val{"mul": {v, y}, "sum_to": {v}, "sub": {c.args[1], v}}[step.name]
			if v, err = g.call(kernels.Lookup(step.name), step.at, with...); err != nil {
				return nil, err
			}
		}
		return g.call(d, kernels.Attr{}, y, v)
	}
	return nil, nil
}

// softmaxGrad gives y and g where v is y (g - Σ y g) with sums over the last axis, which nothing else of the tree has
// computed: what softmax passes on of the gradient of its result y.
func softmaxGrad(v *val) (y, g *val) {
	if v.op != vCall || v.expr.Def.Name != "mul" || v.typ.Shape == nil {
		return nil, nil
	}
	for i, d := range v.args {
		y := v.args[1-i]
		if !called(d, "sub") || !called(d.args[1], "sum_to") || !called(d.args[1].args[0], "mul") {
			continue
		}
		g, sum := d.args[0], d.args[1]
		last := len(v.typ.Shape) - 1
		if p := sum.args[0].args; !(p[0] == y && p[1] == g || p[0] == g && p[1] == y) ||
			sum.typ.Size()*v.typ.Shape[last] != v.typ.Size() ||
			len(sum.typ.Shape) != last+1 ||
			sum.typ.Shape[last] != 1 {
			continue
		}
		if alike(v, y) && alike(v, g) && alike(v, d) && alike(v, sum.args[0]) && kindOf(sum.typ) == kindOf(v.typ) {
			return y, g
		}
	}
	return nil, nil
}

// alike reports whether v and x are chunks of one shape and kind.
func alike(v, x *val) bool {
	return x.typ.Shape.Equal(v.typ.Shape) && kindOf(x.typ) == kindOf(v.typ)
}

// emitSoftmaxGrad compiles v as softmaxGrad, or as a quotient of that by one number for all rows; -1 where it is
// neither.
func (c *compiler) emitSoftmaxGrad(v *val, mask int) (int, error) {
	by := []*val(nil)
	p := v
	if v.expr.Def.Name == "div" && oneNumber(v) && called(v.args[0], "mul") {
		p, by = v.args[0], v.args[1:]
	}
	y, g := softmaxGrad(p)
	if y == nil {
		return -1, nil
	}
	var args []int
	for _, x := range append([]*val{y, g}, by...) {
		a, err := c.emit(x, mask)
		if err != nil {
			return 0, err
		}
		args = append(args, c.convert(a, kindOf(v.typ)))
	}
	last := v.typ.Shape[len(v.typ.Shape)-1]
	if c.t.cells[args[0]].uniform != c.t.cells[args[1]].uniform {
		return c.strict(opSoftmaxGradOfOne, kindOf(v.typ), v, args, -1, last), nil
	}
	return c.strict(opSoftmaxGrad, kindOf(v.typ), v, args, -1, last), nil
}

// runSoftmaxGradOfOne is runSoftmaxGrad where y or g is one chunk for all rows.
func runSoftmaxGradOfOne[T float](b *block, o *op) error {
	last, size, out := o.aux.(int), b.out(o).size, of[T](b.out(o))
	for r := range b.rows(o) {
		var chunk [2][]T
		for i := range chunk {
			x, at := of[T](b.arg(o, i)), r*size
			if b.t.cells[o.args[i]].uniform {
				at = 0
			}
			chunk[i] = x[at : at+size]
		}
		cpu.SoftmaxGrad(size/last, last, chunk[0], chunk[1], divisor[T](b, o, 2), out[r*size:(r+1)*size])
	}
	return nil
}

func runSoftmaxGrad[T float](b *block, o *op) error {
	last, n := o.aux.(int), b.rows(o)*b.out(o).size
	cpu.SoftmaxGrad(n/last, last, of[T](b.arg(o, 0))[:n], of[T](b.arg(o, 1))[:n], divisor[T](b, o, 2), of[T](b.out(o))[:n])
	return nil
}
