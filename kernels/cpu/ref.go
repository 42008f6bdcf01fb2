package cpu

import (
	"math"

	"github.com/relgrad/relgrad/tensor"
)

// Float is an element type.
type Float interface{ float32 | float64 }

// Op is an element-wise operation.
type Op int

// Binary operations.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Maximum
	Minimum
	Greater  // 1 where a > b, else 0
	EqMask   // 1 where a = b, else 0
	Ratio    // a / b, 0 where b = 0
	BCESlope // sigmoid(a) - b, with all its digits where b is 0 or 1
)

// Unary operations.
const (
	Neg Op = iota
	Abs
	Square
	Sqrt
	Relu // x where x > 0 or NaN, else 0
	Sign
	Exp
	Ln
	Tanh
	Sigmoid
	Softplus
	Silu
	Sech2        // 1 / cosh²
	SigmoidSlope // the derivative of Sigmoid
	Gauss        // e^(-a²)
	NormalPDF    // e^(-a²/2) / √2π
)

func refBinary[T Float](op Op, rows, size int, a []T, ar, ae int, b []T, br, be int, out []T) {
	for r := range rows {
		x, y, o := a[r*ar:], b[r*br:], out[r*size:(r+1)*size]
		switch op {
		case Add:
			for i := range o {
				o[i] = x[i*ae] + y[i*be]
			}
		case Sub:
			for i := range o {
				o[i] = x[i*ae] - y[i*be]
			}
		case Mul:
			for i := range o {
				o[i] = x[i*ae] * y[i*be]
			}
		case Div:
			for i := range o {
				o[i] = x[i*ae] / y[i*be]
			}
		default:
			for i := range o {
				o[i] = compareOp(op, x[i*ae], y[i*be])
			}
		}
	}
}

func compareOp[T Float](op Op, x, y T) T {
	switch {
	case op == Maximum && (x > y || x != x), op == Minimum && (x < y || x != x):
		return x
	case op == Maximum || op == Minimum:
		return y
	case op == Ratio && y != 0:
		return x / y
	case op == BCESlope:
		return T(bceSlope(float64(x), float64(y)))
	case op == Greater && x > y, op == EqMask && x == y:
		return 1
	}
	return 0
}

func refUnary[T Float](op Op, a, out []T) {
	for i, x := range a {
		out[i] = unaryOp(op, x)
	}
}

func unaryOp[T Float](op Op, x T) T {
	switch op {
	case Neg:
		return -x
	case Abs:
		return T(math.Abs(float64(x)))
	case Square:
		return x * x
	case Sqrt:
		return T(math.Sqrt(float64(x)))
	case Relu:
		if x <= 0 {
			return 0
		}
		return x
	case Sign:
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	}
	return transcendental[T](op, float64(x))
}

// transcendental computes the operations that are computed in double precision.
func transcendental[T Float](op Op, y float64) T {
	switch op {
	case Exp:
		return T(math.Exp(y))
	case Ln:
		if y > 0 && y < 0x1p-1022 { // Go's logarithm of denormals is wrong on some processors
			return T(math.Log(y*0x1p54) - 54*math.Ln2)
		}
		return T(math.Log(y))
	case Tanh:
		return T(math.Tanh(y))
	case Sigmoid:
		return T(sigmoid(y))
	case Softplus:
		return T(math.Max(y, 0) + math.Log1p(math.Exp(-math.Abs(y))))
	case Sech2:
		return T(4 * slope(2*y))
	case SigmoidSlope:
		return T(slope(y))
	case Gauss:
		return T(bell(y, 1))
	case NormalPDF:
		return T(bell(y, 0.5) / math.Sqrt(2*math.Pi))
	}
	return T(y * sigmoid(y))
}

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func slope(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	return e / (1 + e) / (1 + e)
}

// bell is e^(-c·x²) with the square in two parts.
func bell(x, c float64) float64 {
	x = math.Min(math.Abs(x), 64)
	hi := math.Float64frombits(math.Float64bits(x) &^ (1<<27 - 1))
	return math.Exp(-c*hi*hi) * math.Exp(-c*(x-hi)*(x+hi))
}

func bceSlope(z, y float64) float64 {
	e := math.Exp(-math.Abs(z))
	if z < 0 {
		return ((1-y)*e - y) / (1 + e)
	}
	return (1 - y - y*e) / (1 + e)
}

func refSelect[T Float](rows, size int, m []T, mr, me int, a []T, ar, ae int, b []T, br, be int, out []T) {
	for r := range rows {
		mask, x, y, o := m[r*mr:], a[r*ar:], b[r*br:], out[r*size:(r+1)*size]
		for i := range o {
			if mask[i*me] != 0 {
				o[i] = x[i*ae]
			} else {
				o[i] = y[i*be]
			}
		}
	}
}

func refTranspose[T Float](rows, cols int, x []T, ldx int, out []T, ldo int) {
	for r := range rows {
		for c, v := range x[r*ldx:][:cols] {
			out[c*ldo+r] = v
		}
	}
}

func refDot[T Float](rows, size int, a []T, ar int, b []T, br int, out []float64) {
	for r := range rows {
		s := 0.0
		for i, x := range a[r*ar : r*ar+size] {
			s += float64(x) * float64(b[r*br+i])
		}
		out[r] = s
	}
}

func refAddRows[T Float](rows, size int, a []T, acc []float64) {
	for r := range rows {
		for i, x := range a[r*size : (r+1)*size] {
			acc[i] += float64(x)
		}
	}
}

func refGather[T Float](size int, x []T, at []int32, out []T) {
	for i, r := range at {
		dst := out[i*size : (i+1)*size]
		if r < 0 {
			clear(dst)
			continue
		}
		copy(dst, x[int(r)*size:])
	}
}

// refSpMM accumulates single precision as the C form does: in T over at most 256 rows at a time.
func refSpMM[T Float](groups int, start []int32, base int, w []T, x, y Rows[T], size int, out []T) {
	acc, part := make([]float64, size), make([]T, size)
	x.Step, y.Step = size, size
	for g := range groups {
		clear(acc)
		for lo, hi := int(start[g]), int(start[g+1]); lo < hi; lo += 256 {
			clear(part)
			for e := lo; e < min(lo+256, hi); e++ {
				f := T(1)
				if w != nil {
					f = w[e-base]
				}
				for i, v := range x.row(e, base, size) {
					switch {
					case y.Held:
						v -= y.X[int(y.At[g])*size+i]
					case y.X != nil:
						v -= y.row(e, base, size)[i]
					}
					part[i] += f * v
				}
			}
			for i, v := range part {
				acc[i] += float64(v)
			}
		}
		for i, v := range acc {
			out[g*size+i] = T(v)
		}
	}
}

func refPairs[T Float](rows, size int, diff bool, a, b Rows[T], out []float64) {
	for r := range rows {
		s := 0.0
		for i, x := range a.row(r, 0, size) {
			y := b.row(r, 0, size)[i]
			if diff {
				s += float64(x-y) * float64(x-y)
			} else {
				s += float64(x) * float64(y)
			}
		}
		out[r] = s
	}
}

func refSoftmax[T Float](rows, size int, x []T, by T, out []T) {
	a := make([]T, size)
	for r := range rows {
		o := out[r*size : (r+1)*size]
		for i, v := range x[r*size : (r+1)*size] {
			a[i] = v / by
		}
		m, s := maxOf(a), 0.0
		for i, v := range a {
			e := math.Exp(float64(v) - m)
			o[i] = T(e)
			s += e
		}
		for i := range o {
			o[i] = T(float64(o[i]) / s)
		}
	}
}

func refSoftmaxGrad[T Float](rows, size int, y, g []T, by T, out []T) {
	for lo := 0; lo < rows*size; lo += size {
		less, s := T(0), 0.0 // if one number outweighs the row, g is taken relative to that of this number
		for i := lo; i < lo+size; i++ {
			if y[i] > 0.5 {
				less = g[i]
				break
			}
		}
		for i := lo; i < lo+size; i++ {
			out[i] = g[i] - less
			s += float64(y[i]) * float64(out[i])
		}
		for i := lo; i < lo+size; i++ {
			out[i] = y[i] * (out[i] - T(s)) / by
		}
	}
}

func maxOf[T Float](x []T) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = math.Max(m, float64(v))
	}
	return m
}

func refLogSumExp[T Float](rows, size int, x []T, top, out []float64) {
	for r := range rows {
		a := x[r*size : (r+1)*size]
		m := maxOf(a)
		if top[r], out[r] = m, 0; math.IsInf(m, 0) {
			continue
		}
		first, s := true, 0.0
		for _, v := range a {
			if first && float64(v) == m {
				first = false
				continue
			}
			s += math.Exp(float64(v) - m)
		}
		out[r] = math.Log1p(s)
	}
}

func refDropMask[T Float](rows, size int, seed int64, key []uint64, p float64, out []T) {
	keep, limit := T(1/(1-p)), tensor.Threshold(p)
	for r := range rows {
		var block [4]uint32
		for i := range size {
			if i%4 == 0 {
				block = tensor.Block(seed, key[r], i/4)
			}
			out[r*size+i] = 0
			if block[i%4] >= limit {
				out[r*size+i] = keep
			}
		}
	}
}

func refUniform(rows, size int, seed int64, key []uint64, out []float64) {
	for r := range rows {
		for i := range size {
			out[r*size+i] = tensor.Uniform(seed, key[r], i)
		}
	}
}

func refBelow(n int64, u []float64, out []int64) {
	for r, x := range u {
		out[r] = min(int64(float64(n)*x), n-1)
	}
}

func refMix(key []uint64, x []int64) {
	for r, h := range key {
		key[r] = tensor.Mix(h ^ uint64(x[r]))
	}
}

func refProducts[T Float](rows, m, k, n int, a []T, ar int, b []T, br int, out []T, or int) {
	for r := range rows {
		for i := range m {
			dst := out[r*or+i*n : r*or+(i+1)*n]
			clear(dst)
			for p := range k {
				x := a[r*ar+i*k+p]
				for j, y := range b[r*br+p*n : r*br+(p+1)*n] {
					dst[j] += x * y
				}
			}
		}
	}
}
