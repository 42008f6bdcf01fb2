package executor

// fastInts are the kernels of bigint with a loop of their own: out[r] of x[r*sx] and y[r*sy]. It returns false where a
// row needs the reference code, which knows the errors.
var fastInts = map[string]func(out, x, y []int64, sx, sy int) bool{
	"add": addInts,
	"sub": subInts,
	"mul": mulInts,
	"mod": modInts,
}

func addInts(out, x, y []int64, sx, sy int) bool {
	over := int64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		s := a + b
		over |= (a ^ s) & (b ^ s) // its sign: both have another than the sum
		out[r] = s
	}
	return over >= 0
}

func subInts(out, x, y []int64, sx, sy int) bool {
	over := int64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		s := a - b
		over |= (a ^ b) & (a ^ s)
		out[r] = s
	}
	return over >= 0
}

func mulInts(out, x, y []int64, sx, sy int) bool {
	large := uint64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		large |= uint64(a+1<<31) | uint64(b+1<<31)
		out[r] = a * b
	}
	return large>>32 == 0 // all of them within 32 bits
}

func modInts(out, x, y []int64, sx, sy int) bool {
	for r := range out {
		b := y[r*sy]
		if b <= 0 {
			return false
		}
		out[r] = x[r*sx] % b
	}
	return true
}

// emitExtreme compiles GREATEST and LEAST of numbers, row by row: NULLs are skipped, NaN is above all numbers.
func emitExtreme(c *compiler, v *val, mask int) (int, error) {
	k := kindOf(v.typ)
	if k == str {
		return c.reference(v, mask)
	}
	args, err := c.emitArgs(v, mask)
	if err != nil {
		return 0, err
	}
	for i := range args {
		if k != i64 {
			args[i] = c.convert(args[i], k)
		}
	}
	sign := 1
	if v.expr.Def.Name == "least" {
		sign = -1
	}
	o := &op{code: opExtreme, kind: k, name: v.expr.Def.Name, args: args, mask: -1, v: v, aux: sign}
	o.out = c.cell(v.typ, c.allUniform(args))
	return c.add(o), nil
}

func runExtreme(b *block, o *op) error {
	sign := o.aux.(int)
	switch o.kind {
	case f32:
		extreme(
			b,
			o,
			func(d *data) []float32 { return d.f32 },
			func(x, y float32) bool { return sign*compareFloats(float64(x), float64(y)) > 0 },
		)
	case f64:
		extreme(
			b,
			o,
			func(d *data) []float64 { return d.f64 },
			func(x, y float64) bool { return sign*compareFloats(x, y) > 0 },
		)
	default:
		extreme(
			b,
			o,
			func(d *data) []int64 { return d.i64 },
			func(x, y int64) bool { return x != y && (x > y) == (sign > 0) },
		)
	}
	return nil
}

// extreme gives each row the first argument that no other one is better than.
func extreme[T any](b *block, o *op, of func(*data) []T, better func(x, y T) bool) {
	out, n := b.out(o), b.rows(o)
	y := of(out)
	has := out.valid
	if has == nil {
		has = make([]byte, n)
	}
	clear(has[:n])
	clear(y[:n])
	for i := range o.args {
		a, step := b.arg(o, i), b.step(o, i)
		x := of(a)
		for r := range n {
			if a.valid != nil && a.valid[r*step] == 0 {
				continue
			}
			if has[r] == 0 || better(x[r*step], y[r]) {
				y[r], has[r] = x[r*step], 1
			}
		}
	}
}
