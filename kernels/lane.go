package kernels

import "math"

// A lane is what a kernel maps by itself: the elements of the last axis. The functions here keep their digits where one
// element outweighs the others, and where squares leave the range of numbers: sums leave the largest element out, and
// are taken of scaled ones.

// evalLanes applies f to every lane of the arguments' last axis; out has as many elements, or one.
func evalLanes(f func(x [][]float64, out []float64)) func(*Env, []Value, Attr, Type) (Value, error) {
	return func(_ *Env, a []Value, _ Attr, out Type) (Value, error) {
		s := a[0].Type.Shape
		n, res, lane := s[len(s)-1], make([]float64, out.Size()), make([][]float64, len(a))
		for i, lanes := 0, s.Size()/n; i < lanes; i++ {
			for k := range a {
				lane[k] = a[k].F[i*n : (i+1)*n]
			}
			f(lane, res[i*len(res)/lanes:(i+1)*len(res)/lanes])
		}
		return Value{Type: out, F: res}, nil
	}
}

// inferLanes is the rule of kernels of chunks of one shape; with one the last axis is kept with length 1.
func inferLanes(name string, one bool) func([]Type, Attr) (Type, error) {
	return func(a []Type, _ Attr) (Type, error) {
		out := a[0]
		for _, t := range a {
			if !t.IsChunk() || !t.Shape.Equal(a[0].Shape) {
				return Type{}, wrongType(name, a)
			}
			out.Kind = floatKind(out, t)
		}
		if one {
			out.Shape = keptShape(out.Shape, len(out.Shape)-1)
		}
		return out, nil
	}
}

// largestAt is where the largest element is; the first NaN counts as that.
func largestAt(x []float64) int {
	m := 0
	for i, v := range x {
		if v != v {
			return i
		}
		if v > x[m] {
			m = i
		}
	}
	return m
}

// logSumExpParts gives ln Σ eˣ as the largest element and what the others add to it.
func logSumExpParts(x []float64) (m, more float64) {
	at, s := largestAt(x), 0.0
	if m = x[at]; math.IsInf(m, 0) || m != m {
		return m, 0
	}
	for i, v := range x {
		if i != at {
			s += math.Exp(v - m)
		}
	}
	return m, math.Log1p(s)
}

func logSumExp(x []float64) float64 {
	m, more := logSumExpParts(x)
	return m + more
}

func softmax(x, out []float64) {
	m, s := maxOf(x), 0.0
	for i, v := range x {
		out[i] = math.Exp(v - m)
		s += out[i]
	}
	for i := range out {
		out[i] /= s
	}
}

// softmaxCenter is g - Σ softmax(x)·g: without the largest element m, whose g the others' are taken from.
func softmaxCenter(x, g, out []float64) {
	softmax(x, out)
	m, s := largestAt(x), 0.0
	for i, p := range out {
		s += p * (g[i] - g[m])
	}
	for i := range out {
		out[i] = (g[i] - g[m]) - s
	}
}

// logSoftmaxSlope is g - softmax(x)·Σ g.
func logSoftmaxSlope(x, g, out []float64) {
	softmax(x, out)
	m, rest, others := largestAt(x), 0.0, 0.0
	for i, p := range out {
		if i != m {
			rest, others = rest+p, others+g[i]
		}
	}
	for i, p := range out {
		if i == m {
			out[i] = g[m]*rest - p*others
		} else {
			out[i] = g[i] - p*(others+g[m])
		}
	}
}

// crossEntropySlope is softmax(z) with 1 taken from that of the label.
func crossEntropySlope(z []float64, label int64, out []float64) {
	softmax(z, out)
	out[label] = 0
	out[label] = -sum(out)
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func sumSquares(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return s
}

// scaleOf is a power of two, 1 for usual numbers, with which squares stay in range.
func scaleOf(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = math.Max(m, math.Abs(v))
	}
	switch {
	case m > 1e150:
		return 0x1p-540
	case m < 1e-140:
		return 0x1p540
	}
	return 1
}

// length is the Euclidean norm.
func length(x []float64) float64 {
	scale := scaleOf(x)
	if scale == 1 {
		return math.Sqrt(sumSquares(x))
	}
	s := 0.0
	for _, v := range x {
		s += v * scale * (v * scale)
	}
	return math.Sqrt(s) / scale
}

// unit is x divided by its length, and the length: 0 where that is.
func unit(x, out []float64) float64 {
	scale := scaleOf(x)
	for i, v := range x {
		out[i] = v * scale
	}
	n := math.Sqrt(sumSquares(out))
	for i := range out {
		if n == 0 {
			out[i] = 0
		} else {
			out[i] /= n
		}
	}
	return n / scale
}

// unitSlope is (g - y·Σ y·g) / |x| with y = x / |x|: of g less the multiple of y that is 0 where y is largest.
func unitSlope(x, g, out []float64) {
	y := out
	n := unit(x, y)
	if n == 0 {
		return
	}
	m := 0
	for i, v := range y {
		if math.Abs(v) > math.Abs(y[m]) || v != v {
			m = i
		}
	}
	r, s := g[m]/y[m], 0.0
	for i, v := range y {
		if i != m {
			s += v * (g[i] - v*r)
		}
	}
	for i, v := range y {
		h := g[i] - v*r
		if i == m {
			h = 0
		}
		out[i] = (h - v*s) / n
	}
}

// layerNormEps is added to the variance, as ML frameworks do by default.
const layerNormEps = 1e-5

// centered is x less its mean, scaled, with its scale and the standard deviation of layer_norm, scaled too.
func centered(x, out []float64) (scale, sd float64) {
	n, mean := float64(len(x)), 0.0
	for _, v := range x {
		mean += v / n
	}
	rest := 0.0
	for _, v := range x {
		rest += (v - mean) / n
	}
	for i, v := range x {
		out[i] = v - mean - rest
	}
	if scale = math.Min(1, scaleOf(out)); scale < 1 {
		for i := range out {
			out[i] *= scale
		}
	}
	return scale, math.Sqrt(sumSquares(out)/n + layerNormEps*scale*scale)
}

// layerNormSlope is (g - mean(g) - y·mean(y·g)) / sd for y = layer_norm(x). Of g less a line in y through two of its
// elements, far apart, what is orthogonal to 1 and to y is the same, and of the part along y only eps / (variance +
// eps) is left.
func layerNormSlope(x, g, out []float64) {
	scale, sd := centered(x, out)
	n, c := float64(len(x)), length(out)
	if c == 0 {
		mean := sum(g) / n
		for i := range out {
			out[i] = (g[i] - mean) / sd * scale
		}
		return
	}
	y, m, k := make([]float64, len(x)), 0, 0
	for i := range out {
		if y[i] = out[i] / c; math.Abs(y[i]) > math.Abs(y[m]) {
			m = i
		}
	}
	for i := range y {
		if math.Abs(y[i]-y[m]) > math.Abs(y[k]-y[m]) {
			k = i
		}
	}
	slope, mean, along, left := (g[m]-g[k])/(y[m]-y[k]), 0.0, 0.0, 0.0
	for i := range y {
		along += y[i] * (g[i] - g[m])
		h := (g[i] - g[m]) - slope*(y[i]-y[m])
		if i == k || i == m {
			h = 0
		}
		out[i] = h
		mean, left = mean+h/n, left+h*y[i]
	}
	along *= layerNormEps * scale * scale / (sd * sd)
	for i := range y {
		out[i] = (out[i] - mean - y[i]*left + y[i]*along) / sd * scale
	}
}
