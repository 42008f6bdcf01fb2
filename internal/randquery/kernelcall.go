package randquery

import (
	"fmt"
	"math"
	"math/rand"
	"sync"

	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/kernels"
)

// callable is one sample of a kernel that SQL may call.
type callable struct {
	def *kernels.Def
	s   kernels.Sample
	out kernels.Type
	mag float64 // of results on the sampled domain
}

// catalogue lists the samples of all kernels with a numeric result, by kernel. Others are drawn where their kind
// is: dropout by gen.dropout, which needs a declared key, functions of texts by gen.text.
var catalogue = sync.OnceValue(func() [][]callable {
	var out [][]callable
	for _, d := range kernels.All() {
		if d.Internal || d.Name == "dropout" {
			continue
		}
		var list []callable
		for _, s := range d.Calls() {
			if c, ok := newCallable(d, s); ok {
				list = append(list, c)
			}
		}
		if list != nil {
			out = append(out, list)
		}
	}
	return out
})

// newCallable evaluates a sample a few times to see its type and size.
func newCallable(d *kernels.Def, s kernels.Sample) (callable, bool) {
	c := callable{def: d, s: s}
	r := rand.New(rand.NewSource(1))
	for range 5 {
		args, ints := make([]*kernels.Expr, len(s.Types)), s.Ints
		for i, t := range s.Types {
			v := kernels.Value{Type: t}
			switch {
			case t.Kind == kernels.Bool:
				return c, false
			case t.Kind == kernels.Text:
				v.T = "ab"
			case t.Kind == kernels.Int && t.Shape != nil:
				v = d.Array(s).Const
			case t.Kind == kernels.Int:
				if v.I = 1; len(ints) > 0 {
					v.I, ints = ints[0], ints[1:]
				}
			default:
				f := make([]float64, t.Size())
				for j := range f {
					f[j] = domain(d, r.Float64())
				}
				if v.X = f[0]; t.Shape != nil {
					v.X, v.F = 0, f
				}
			}
			args[i] = kernels.Const(v)
		}
		e, err := call(d, s.Attr, args)
		if err != nil || !(e.Type.IsFloat() || e.Type.Kind == kernels.Int && e.Type.Shape == nil) {
			return c, false
		}
		v, err := e.Eval(&kernels.Env{Seed: 1, Step: 2, Epoch: 2}, nil)
		if err != nil || v.Null {
			return c, false
		}
		c.out = e.Type
		for _, x := range v.Floats() {
			c.mag = max(c.mag, math.Abs(x))
		}
	}
	c.mag = 1.5*c.mag + 0.5
	return c, true
}

func call(d *kernels.Def, at kernels.Attr, args []*kernels.Expr) (*kernels.Expr, error) {
	if d.IsMacro() {
		return d.Apply(args...)
	}
	return kernels.Call(d, at, args...)
}

// domain maps a number of [0,1] into the domain on which the kernel is sampled.
func domain(d *kernels.Def, u float64) float64 {
	if d.Lo == 0 && d.Hi == 0 {
		return 4*u - 2
	}
	return d.Lo + (d.Hi-d.Lo)*u
}

// kernelExpr draws a call of any kernel of the registry; the result may be of any shape, or an integer.
func kernelExpr(g *gen, s *scope, depth int) expr {
	for {
		list := catalogue()[g.r.Intn(len(catalogue()))]
		if e, ok := kernelCall(g, s, list[g.r.Intn(len(list))], depth); ok {
			return e
		}
	}
}

// kernelCall writes one call as SQL, static arguments included.
func kernelCall(g *gen, s *scope, c callable, depth int) (expr, bool) {
	d, types, ints := c.def, c.s.Types, c.s.Ints
	out := expr{kind: kernels.Float64, shape: c.out.Shape, mag: c.mag, draws: true}
	if c.out.Kind == kernels.Int {
		out.kind = kernels.Int
	}
	var args []string
	for _, name := range kernelsql.Names(d) {
		if kernelsql.Static(d, c.s, name) != "" || len(args) == len(types) {
			continue
		}
		t, n := types[len(args)], int64(1)
		if !t.IsFloat() && t.Kind != kernels.Text && t.Shape == nil && len(ints) > 0 {
			n, ints = ints[0], ints[1:]
		}
		a, ok := argumentExpr(g, s, c, name, t, n, depth)
		if !ok {
			return out, false
		}
		args = append(args, a.sql)
		out.dep, out.null, out.draws = out.dep || a.dep, out.null || a.null, out.draws && a.draws
	}
	if d.Name == "stop_gradient" && out.dep { // central differences see through it
		return out, false
	}
	if (d.Name == "matmul" || d.Name == "einsum") && c.out.Shape == nil {
		g.use(vectorProduct)
	}
	g.use("kernel:" + d.Name)
	out.sql, _ = kernelsql.Call(d, c.s, args)
	return out, true
}

// argumentExpr draws one argument of a call: floats inside the kernel's domain, integers as the sample has them.
func argumentExpr(g *gen, s *scope, c callable, name string, t kernels.Type, n int64, depth int) (expr, bool) {
	d := c.def
	switch {
	case t.Kind == kernels.Text:
		e, ok := g.text(s)
		return e, ok
	case t.Kind == kernels.Int && t.Shape != nil && name == "shape":
		return expr{sql: d.Array(c.s).Const.String(), draws: true}, true
	case t.Kind == kernels.Int && t.Shape != nil:
		i := g.integer(s, 0)
		return expr{sql: fmt.Sprintf("ARRAY[COALESCE(%s, 5), %d]", i.sql, g.r.Intn(9))}, true
	case t.Kind == kernels.Int && name == "label":
		i := g.integer(s, 1)
		return expr{sql: fmt.Sprintf("abs(%s) %% %d", i.sql, n+1), null: i.null}, true
	case t.Kind == kernels.Int && d.Elem != nil && d.Lo == 0 && d.Hi == 0:
		i := g.integer(s, 0)
		return expr{sql: fmt.Sprintf("(%s %% 3)", i.sql), null: i.null}, true
	case t.Kind == kernels.Int:
		return expr{sql: fmt.Sprint(n), draws: true}, true
	}
	if d.Name == "stop_gradient" {
		if is := s.ofKind(kernels.Int); len(is) > 0 {
			i := g.choose(is)
			return expr{sql: fmt.Sprintf("(%s * %s)", i.sql, constantExpr(g, t.Shape).sql), null: i.null}, true
		}
		return constantExpr(g, t.Shape), true
	}
	e := arrayExpr(g, s, t.Shape, depth)
	switch {
	case d.Lo == 0 && d.Hi == 0:
		return tame(g, e, 2.5), true
	case d.Lo > 0 && g.one(3):
		e = tame(g, e, 2)
		e.sql, e.bare = fmt.Sprintf("(square(%s) + %g)", e.sql, max(d.Lo, 0.3)), false
		return e, d.Hi >= 2
	}
	e.sql, e.bare = fmt.Sprintf("(%g + %g * sigmoid(%s))", d.Lo, d.Hi-d.Lo, e.sql), false
	return e, true
}

// vectorProduct counts matmul of two vectors, and einsum without labels in the result: a scalar in a loss, but an array
// to the SQL function's declaration.
const vectorProduct = "matmul of vectors"

// Kernels lists the kernels that SQL may call; Generate draws all of them.
func Kernels() []string {
	var out []string
	for _, d := range kernels.All() {
		if !d.Internal {
			out = append(out, d.Name)
		}
	}
	return out
}
