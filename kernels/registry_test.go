package kernels

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"
)

// sampleValues draws values for a sample's arguments.
func sampleValues(d *Def, s Sample, rng *rand.Rand) []Value {
	lo, hi := d.Lo, d.Hi
	if lo == 0 && hi == 0 {
		lo, hi = -2, 2
	}
	out, ints := make([]Value, len(s.Types)), s.Ints
	for i, t := range s.Types {
		v := Value{Type: t}
		switch {
		case t.Kind == Text:
			v.T = "ab"
		case t.Kind == Int && t.Shape != nil:
			v.Ints = []int64{2, 3}
		case !t.IsFloat():
			if v.I = 1; len(ints) > 0 {
				v.I, ints = ints[0], ints[1:]
			}
		default:
			f := make([]float64, t.Size())
			for j := range f {
				f[j] = lo + (hi-lo)*rng.Float64()
			}
			v = floats(t, f)
		}
		out[i] = v
	}
	return out
}

// point is an assignment of values to columns; input 0 holds the arguments, input 1 the upstream gradient,
// input 2 the second-order direction.
type point map[Col]Value

func (p point) eval(t testing.TB, e *Expr) Value {
	t.Helper()
	v, err := e.Eval(&Env{Seed: 1, Step: 2}, func(c Col) Value { return p[c] })
	if err != nil {
		t.Fatalf("%v: %v", e, err)
	}
	return v
}

func randomLike(t Type, rng *rand.Rand) Value {
	f := make([]float64, t.Size())
	for i := range f {
		f[i] = rng.NormFloat64()
	}
	return floats(t, f)
}

// inner is Σ a·b of two float expressions of one shape.
func inner(a, b *Expr) *Expr {
	if a.Type.Shape == nil {
		return Build("mul", a, b)
	}
	return Build("dot", a, b)
}

// checkGradient compares the VJP of e, seen by the upstream gradient g, with a central difference along a
// random direction: <VJP(g), u> = d/dh <g, e(x + h·u)>. It returns the gradient's inner product with fixed
// directions as an expression, for the second order.
func checkGradient(t testing.TB, e, g *Expr, p point, rng *rand.Rand, input int) (*Expr, error) {
	wrt := func(Col) bool { return true }
	cs, err := VJP(e, g, wrt)
	if err != nil {
		return nil, err
	}
	const h = 1e-5
	analytic, lo, hi := 0.0, point{}, point{}
	for c, v := range p {
		lo[c], hi[c] = v, v
	}
	var scalar *Expr
	for i, c := range cs {
		x := p[c.Col]
		if c.Grad.Type.Kind != x.Type.Kind || !c.Grad.Type.Shape.Equal(x.Type.Shape) {
			return nil, fmt.Errorf("gradient of %v is %v, not %v", c.Col, c.Grad.Type, x.Type)
		}
		u := randomLike(x.Type, rng)
		dir := Col{Input: input, ID: ColumnID(i)}
		p[dir] = u
		part := inner(c.Grad, Column(dir, x.Type))
		v := p.eval(t, part)
		analytic += v.X
		if scalar == nil {
			scalar = part
		} else {
			scalar = Add(scalar, part)
		}
		lo[c.Col], hi[c.Col] = step(x, u, -h), step(x, u, h)
	}
	loss := inner(e, g)
	a, b := lo.eval(t, loss), hi.eval(t, loss)
	// numeric: only e's arguments moved, not g
	numeric := (b.X - a.X) / (2 * h)
	if d := math.Abs(analytic - numeric); !(d <= 1e-8*math.Max(1, math.Abs(numeric))) {
		return nil, fmt.Errorf("gradient along a direction: analytic %v, numeric %v", analytic, numeric)
	}
	return scalar, nil
}

func step(x, u Value, h float64) Value {
	f := append([]float64(nil), x.Floats()...)
	for i, d := range u.Floats() {
		f[i] += h * d
	}
	return floats(x.Type, f)
}

// checkDef checks first and second derivatives of one sample.
func checkDef(t testing.TB, d *Def, s Sample, rng *rand.Rand) error {
	e, err := d.call(s)
	if err != nil {
		return err
	}
	if !e.Type.IsFloat() {
		return nil
	}
	p := point{}
	for i, v := range sampleValues(d, s, rng) {
		p[Col{ID: ColumnID(i + 1)}] = v
	}
	gt := Type{Kind: e.Type.Kind, Shape: e.Type.Shape}
	up := Col{Input: 1, ID: 1}
	p[up] = randomLike(gt, rng)
	scalar, err := checkGradient(t, e, Column(up, gt), p, rng, 2)
	if err != nil || scalar == nil {
		return err
	}
	if _, err = checkGradient(t, scalar, Num(1), p, rng, 3); err != nil {
		return fmt.Errorf("second order: %w", err)
	}
	return nil
}

func withKind(s Sample, k Kind) Sample {
	types := append([]Type(nil), s.Types...)
	for i := range types {
		if types[i].IsFloat() {
			types[i].Kind = k
		}
	}
	s.Types = types
	return s
}

func TestDerivatives(t *testing.T) {
	for _, d := range All() {
		if d.VJP == nil && !d.IsMacro() {
			if !d.Zero && d.NoGrad == "" {
				t.Errorf("%s has no derivative, is not piecewise constant and gives no reason", d.Name)
			}
			continue
		}
		if d.Zero {
			t.Errorf("%s has a derivative and is called piecewise constant", d.Name)
		}
		for i, s := range d.Calls() {
			for _, v := range []Sample{s, withKind(s, Float32), withKind(s, Float64)} {
				if d.Name == "decimal" && v.Types[0].Kind == Float32 {
					continue // 15 digits are those of double precision, which it takes alone
				}
				rng := rand.New(rand.NewSource(int64(i)))
				if err := checkDef(t, d, v, rng); err != nil {
					t.Errorf("%s %v %v: %v", d.Name, v.Types, v.Attr, err)
				}
			}
		}
	}
}

// A wrong derivative must be found, at first and at second order.
func TestWrongDerivativeIsCaught(t *testing.T) {
	good := Lookup("tanh")
	for name, vjp := range map[string]func(e, g *Expr) []*Expr{
		"factor":    func(e, g *Expr) []*Expr { return []*Expr{Mul(Num(1.00001), good.VJP(e, g)[0])} },
		"sign":      func(e, g *Expr) []*Expr { return []*Expr{Neg(good.VJP(e, g)[0])} },
		"transpose": func(e, g *Expr) []*Expr { return []*Expr{Mul(g, Num(1))} },
	} {
		bad := *good
		bad.VJP = vjp
		for _, s := range bad.Calls() {
			if !s.Types[0].IsFloat() {
				continue
			}
			if err := checkDef(t, &bad, s, rand.New(rand.NewSource(1))); err == nil {
				t.Errorf("%s on %v: not caught", name, s.Types)
			}
		}
	}
	bad := *Lookup("matmul")
	bad.VJP = func(e, g *Expr) []*Expr { return []*Expr{Build("matmul", g, e.Args[1]), Build("matmul", e.Args[0], g)} }
	sq := Type{Kind: Float64, Shape: []int{3, 3}}
	if checkDef(t, &bad, Sample{Types: []Type{sq, sq}}, rand.New(rand.NewSource(1))) == nil {
		t.Error("matmul without transposes: not caught")
	}
}

func TestRegistry(t *testing.T) {
	for _, d := range All() {
		if d.Doc == "" || !strings.HasSuffix(d.Doc, ".") || d.Kink != "" && !strings.HasSuffix(d.Kink, ".") {
			t.Errorf("%s: doc and kink must be sentences: %q %q", d.Name, d.Doc, d.Kink)
		}
		if d.NonStrict && d.Null == "" {
			t.Errorf("%s sees NULLs and does not say what it does with them", d.Name)
		}
		ways := 0
		for _, has := range []bool{d.Elem != nil || d.Ints != nil, d.Eval != nil, d.Lazy != nil} {
			if has {
				ways++
			}
		}
		if want := map[bool]int{true: 0, false: 1}[d.IsMacro()]; ways != want {
			t.Errorf("%s has %d ways to compute it", d.Name, ways)
		}
		if len(d.Calls()) == 0 {
			t.Errorf("%s has no samples", d.Name)
		}
		if d.MinArgs > 0 && d.Args == "" {
			t.Errorf("%s does not name its arguments", d.Name)
		}
		for _, s := range d.Calls() {
			checkShapes(t, d, s)
			checkNulls(t, d, s)
		}
	}
}

// checkShapes compares what the shape rule and the reference code say.
func checkShapes(t *testing.T, d *Def, s Sample) {
	e, err := d.call(s)
	if err != nil {
		t.Errorf("%s %v: %v", d.Name, s.Types, err)
		return
	}
	p := point{}
	types := make([]Type, len(s.Types))
	for i, v := range sampleValues(d, s, rand.New(rand.NewSource(1))) {
		p[Col{ID: ColumnID(i + 1)}] = v
		types[i] = v.Type
	}
	v := p.eval(t, e)
	if v.Null || !v.Type.Is(e.Type) || v.Type.IsChunk() && len(v.F) != e.Type.Size() {
		t.Errorf("%s %v: value %v of type %v, want %v", d.Name, s.Types, v, v.Type, e.Type)
	}
	if w := e.Def.Flops(types[:min(len(types), len(e.Args))], e.Attr, e.Type); !d.IsMacro() &&
		(!(w >= 0) || math.IsInf(w, 0)) {
		t.Errorf("%s %v: %v operations", d.Name, s.Types, w)
	}
}

// checkNulls makes each argument NULL in turn.
func checkNulls(t *testing.T, d *Def, s Sample) {
	for i := range s.Types {
		n := s
		n.Types = append([]Type(nil), s.Types...)
		n.Types[i].Nullable = true
		e, err := d.call(n)
		if err != nil {
			t.Errorf("%s %v: %v", d.Name, n.Types, err)
			continue
		}
		p := point{}
		for j, v := range sampleValues(d, n, rand.New(rand.NewSource(1))) {
			v.Null = i == j
			p[Col{ID: ColumnID(j + 1)}] = v
		}
		if d.IsMacro() && n.Types[i].Kind == Int {
			continue // static
		}
		v := p.eval(t, e)
		if v.Null && !e.Type.Nullable || !d.NonStrict && !v.Null || !v.Type.Is(e.Type) {
			t.Errorf("%s %v with argument %d NULL: %v of type %v, nullable %v", d.Name, n.Types, i+1, v, v.Type, e.Type.Nullable)
		}
	}
}

// TestCallsCover asks the sample calls for what kernels must be tested with: ranks 1 to 4, both types and a
// single element, where the kernel takes them.
func TestCallsCover(t *testing.T) {
	// highest rank
	most := map[string]int{"argmax": 1, "argmin": 1, "cross_entropy": 1, "cross_entropy_slope": 1, "outer": 1, "diag": 2}
	for _, d := range All() {
		ranks, kinds, single := map[int]bool{}, map[Kind]bool{}, false
		for _, s := range d.Calls() {
			for _, a := range s.Types {
				if a.IsChunk() {
					ranks[len(a.Shape)], kinds[a.Kind] = true, true
					single = single || a.Size() == 1
				}
			}
		}
		if len(ranks) == 0 {
			continue
		}
		top := 4
		if n := most[d.Name]; n > 0 {
			top = n
		}
		first := 1
		if d.Name == "transpose" {
			first = 2
		}
		for r := first; r <= top; r++ {
			if !ranks[r] {
				t.Errorf("%s: no sample of rank %d", d.Name, r)
			}
		}
		if !kinds[Float32] || !kinds[Float64] || !single {
			t.Errorf("%s: samples of types %v, single element %v", d.Name, kinds, single)
		}
	}
}

// TestLinear checks what Def.Linear claims: f(a+b) = f(a)+f(b) and f(0) = 0 in each argument listed, with the others
// held.
func TestLinear(t *testing.T) {
	rng := rand.New(rand.NewSource(11))
	for _, d := range All() {
		for _, i := range d.Linear {
			tried := 0
			for _, s := range d.Calls() {
				if i >= len(s.Types) || !s.Types[i].IsFloat() {
					continue
				}
				tried++
				at := func(x Value, others []Value) []float64 {
					args := append([]Value(nil), others...)
					args[i] = x
					exprs := make([]*Expr, len(args))
					for j := range args {
						exprs[j] = Const(args[j])
					}
					e, err := Call(d, s.Attr, exprs...)
					if err != nil {
						t.Fatal(err)
					}
					v := point{}.eval(t, e)
					return v.Floats()
				}
				args := sampleValues(d, s, rng)
				a, b := randomLike(s.Types[i], rng), randomLike(s.Types[i], rng)
				fa, fb, fab := at(a, args), at(b, args), at(step(a, b, 1), args)
				for k := range fab {
					if diff := math.Abs(fab[k] - fa[k] - fb[k]); diff > 1e-5*(1+math.Abs(fab[k])) {
						t.Errorf("%s is not linear in argument %d: %v, not %v", d.Name, i, fab[k], fa[k]+fb[k])
						break
					}
				}
				for _, x := range at(step(a, a, -1), args) {
					if x != 0 {
						t.Errorf("%s of 0 in argument %d is %v", d.Name, i, x)
						break
					}
				}
			}
			if tried == 0 {
				t.Errorf("%s has no sample for argument %d, in which it claims to be linear", d.Name, i)
			}
		}
	}
}
