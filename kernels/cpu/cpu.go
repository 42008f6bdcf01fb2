package cpu

import (
	"math"
	"unsafe"
)

// single reports whether T is float32.
func single[T Float]() bool {
	var t T
	return unsafe.Sizeof(t) == 4
}

// Binary computes out[r*size+i] = a[r*ar+i*ae] op b[r*br+i*be] for all rows r and i < size. The strides
// ae and be are 0 or 1; ar and br are the elements from row to row, 0 for one row used by all.
func Binary[T Float](op Op, rows, size int, a []T, ar, ae int, b []T, br, be int, out []T) {
	if rows*size == 0 {
		return
	}
	need(a, rows, size, ar, ae)
	need(b, rows, size, br, be)
	_ = out[rows*size-1]
	if flat(size, ar, ae) && flat(size, br, be) {
		rows, size = 1, rows*size
	}
	if !native {
		refBinary(op, rows, size, a, ar, ae, b, br, be, out)
		return
	}
	cBinary(op, rows, size, a, ar, ae, b, br, be, out)
}

// flat reports whether an operand's rows follow each other, or are all one number, so that all rows can be read as one.
func flat(size, row, elem int) bool { return elem == 1 && row == size || elem == 0 && row == 0 }

// need panics where a strided operand is too short.
func need[T Float](a []T, rows, size, row, elem int) { _ = a[(rows-1)*row+(size-1)*elem] }

// Unary computes out[i] = op(a[i]).
func Unary[T Float](op Op, a, out []T) {
	if len(a) == 0 {
		return
	}
	_ = out[len(a)-1]
	if !native || !cUnary(op, a, out) {
		refUnary(op, a, out)
	}
}

// Select computes out = a where m is not 0, else b, with strides as in Binary.
func Select[T Float](rows, size int, m []T, mr, me int, a []T, ar, ae int, b []T, br, be int, out []T) {
	if rows*size == 0 {
		return
	}
	need(m, rows, size, mr, me)
	need(a, rows, size, ar, ae)
	need(b, rows, size, br, be)
	_ = out[rows*size-1]
	if flat(size, mr, me) && flat(size, ar, ae) && flat(size, br, be) {
		rows, size = 1, rows*size
	}
	if !native {
		refSelect(rows, size, m, mr, me, a, ar, ae, b, br, be, out)
		return
	}
	cSelect(rows, size, m, mr, me, a, ar, ae, b, br, be, out)
}

// Transpose writes the transpose of a matrix with so many rows and columns. Its rows begin ldx numbers apart, those of
// out ldo numbers apart.
func Transpose[T Float](rows, cols int, x []T, ldx int, out []T, ldo int) {
	if rows*cols == 0 {
		return
	}
	_, _ = x[(rows-1)*ldx+cols-1], out[(cols-1)*ldo+rows-1]
	if !native {
		refTranspose(rows, cols, x, ldx, out, ldo)
		return
	}
	cTranspose(rows, cols, x, ldx, out, ldo)
}

// Dot computes out[r] = Σ a[r*ar+i]·b[r*br+i] over i < size, in double precision.
func Dot[T Float](rows, size int, a []T, ar int, b []T, br int, out []float64) {
	if rows == 0 || size == 0 {
		clear(out[:rows])
		return
	}
	need(a, rows, size, ar, 1)
	need(b, rows, size, br, 1)
	_ = out[rows-1]
	if !native {
		refDot(rows, size, a, ar, b, br, out)
		return
	}
	cDot(rows, size, a, ar, b, br, out)
}

// Widen copies numbers to double precision.
func Widen(x []float32, out []float64) {
	out = out[:len(x)]
	if native && len(x) > 0 {
		cWiden(x, out)
		return
	}
	for i, v := range x {
		out[i] = float64(v)
	}
}

// Narrow copies numbers to single precision, each rounded to the nearest.
func Narrow(x []float64, out []float32) {
	out = out[:len(x)]
	if native && len(x) > 0 {
		cNarrow(x, out)
		return
	}
	for i, v := range x {
		out[i] = float32(v)
	}
}

// AddRows adds rows of a to acc: acc[i] += a[r*size+i], in double precision.
func AddRows[T Float](rows, size int, a []T, acc []float64) {
	if rows*size == 0 {
		return
	}
	_, _ = a[rows*size-1], acc[size-1]
	if !native {
		refAddRows(rows, size, a, acc)
		return
	}
	cAddRows(rows, size, a, acc)
}

// Rows are rows of a matrix: row r is the one at At[r], which is not checked, or begins at r*Step where At is nil. Near
// says that they have just been read; it changes no result. Held, only for SpMM's second rows, says that At has one row
// for each group.
type Rows[T Float] struct {
	X          []T
	At         []int32
	Step       int
	Near, Held bool

	distant bool // they are not near, however few they are
}

// nearBytes is how many bytes of rows are in the second-level cache after a while.
const nearBytes = 1 << 19

// far is 1 if prefetching the rows pays.
func (x Rows[T]) far() int {
	bytes := 8 * len(x.X)
	if single[T]() {
		bytes /= 2
	}
	if !x.distant && (x.Near || bytes <= nearBytes) {
		return 0
	}
	return 1
}

// row is row r of rows whose indexes begin at base.
func (x Rows[T]) row(r, base, size int) []T {
	if x.At != nil {
		return x.X[int(x.At[r-base])*size:][:size]
	}
	return x.X[r*x.Step:][:size]
}

// Pairs computes out[r] = Σ a·b over the elements of rows r of a and b, or Σ (a-b)² where diff, in double precision.
func Pairs[T Float](rows, size int, diff bool, a, b Rows[T], out []float64) {
	if rows == 0 || size == 0 {
		clear(out[:rows])
		return
	}
	for _, x := range []Rows[T]{a, b} {
		if x.At != nil {
			_ = x.At[rows-1]
		} else {
			need(x.X, rows, size, x.Step, 1)
		}
	}
	_ = out[rows-1]
	if !native {
		refPairs(rows, size, diff, a, b, out)
		return
	}
	cPairs(rows, size, diff, a, b, out)
}

// Length is √Σ a² of row r of a, or √Σ (a-b)² where diff, of numbers whose squares leave the range.
func Length[T Float](r, size int, diff bool, a, b Rows[T]) float64 {
	x := make([]float64, size)
	y, m := b.row(r, 0, size), 0.0
	for i, v := range a.row(r, 0, size) {
		if x[i] = float64(v); diff {
			x[i] -= float64(y[i])
		}
		m = max(m, math.Abs(x[i]))
	}
	scale, s := 1.0, 0.0
	switch {
	case m > 1e150:
		scale = 0x1p-540
	case m < 1e-140:
		scale = 0x1p540
	}
	for _, v := range x {
		s += v * scale * (v * scale)
	}
	return math.Sqrt(s) / scale
}

// SpMM sums weighted rows into groups: out[g*size…] = Σ w[e]·x[at[e]*size…] over the edges e from start[g]
// to start[g+1], or Σ w[e]·(x[at[e]*size…] - y[yt[e]*size…]) where y has rows. The slices w, at and yt begin at edge
// base. Nil w is all ones; nil at is e itself. Every at[e] must be a row of x: it is not checked. Sums of float32 run
// in single precision over at most 256 rows, then in double.
func SpMM[T Float](groups int, start []int32, base int, w []T, x, y Rows[T], size int, out []T) {
	if groups == 0 || size == 0 {
		return
	}
	_, _ = start[groups], out[groups*size-1]
	if last := int(start[groups]); last > int(start[0]) {
		if w != nil {
			_ = w[last-base-1]
		}
		for _, r := range []Rows[T]{x, y} {
			switch {
			case r.Held:
				_ = r.At[groups-1]
			case r.At != nil:
				_ = r.At[last-base-1]
			case r.X != nil:
				_ = r.X[last*size-1]
			}
		}
	}
	if !native {
		refSpMM(groups, start, base, w, x, y, size, out)
		return
	}
	cSpMM(groups, start, base, w, x, y, size, out)
}

// AddAt adds row at[i] of x to row to[i] of sum, one after the other. The rows are not checked.
func AddAt[T Float](to, at []int32, size int, x, sum []T) {
	if len(to) == 0 || size == 0 {
		return
	}
	_ = at[len(to)-1]
	if native {
		cAddAt(to, at, size, x, sum)
		return
	}
	for i, r := range to {
		row := sum[int(r)*size:][:size]
		for j, y := range x[int(at[i])*size:][:size] {
			row[j] += y
		}
	}
}

// Gather copies rows of size elements: row r of out is row at[r] of x, which is not checked, or zero where at[r] is
// negative.
func Gather[T Float](size int, x []T, at []int32, out []T) {
	if len(at)*size == 0 {
		return
	}
	_ = out[len(at)*size-1]
	if !native || len(x) == 0 {
		refGather(size, x, at, out)
		return
	}
	cGather(size, x, at, out)
}

// Softmax computes out = eᶻ / Σ eᶻ for z = x / by, over rows of size elements, without overflow.
func Softmax[T Float](rows, size int, x []T, by T, out []T) {
	if rows*size == 0 {
		return
	}
	_, _ = x[rows*size-1], out[rows*size-1]
	if !native {
		refSoftmax(rows, size, x, by, out)
		return
	}
	cSoftmax(rows, size, x, by, out)
}

// SoftmaxGrad computes out = y (g - Σ y g) / by, where Σ y is 1, over rows of size elements: the gradient that Softmax
// passes on, given the gradient g of its result y.
func SoftmaxGrad[T Float](rows, size int, y, g []T, by T, out []T) {
	if rows*size == 0 {
		return
	}
	_, _, _ = y[rows*size-1], g[rows*size-1], out[rows*size-1]
	if !native {
		refSoftmaxGrad(rows, size, y, g, by, out)
		return
	}
	cSoftmaxGrad(rows, size, y, g, by, out)
}

// LogSumExp computes ln Σ eˣ over row r in two parts, in double precision: the largest number, top[r], and what the
// others add to it, out[r].
func LogSumExp[T Float](rows, size int, x []T, top, out []float64) {
	if rows*size == 0 {
		return
	}
	_, _, _ = x[rows*size-1], top[rows-1], out[rows-1]
	if !native {
		refLogSumExp(rows, size, x, top, out)
		return
	}
	cLogSumExp(rows, size, x, top, out)
}

// DropMask writes the mask of dropout for rows of size elements: element i of row r is 0 where
// tensor.Dropped(seed, key[r], i, p), else 1/(1-p).
func DropMask[T Float](rows, size int, seed int64, key []uint64, p float64, out []T) {
	if rows*size == 0 {
		return
	}
	_, _ = key[rows-1], out[rows*size-1]
	if !native {
		refDropMask(rows, size, seed, key, p, out)
		return
	}
	cDropMask(rows, size, seed, key, p, out)
}

// Uniform writes draws in [0,1) for rows of size elements: element i of row r is draw i of the stream (seed, key[r]).
// See tensor.Uniform.
func Uniform(rows, size int, seed int64, key []uint64, out []float64) {
	if rows*size == 0 {
		return
	}
	_, _ = key[rows-1], out[rows*size-1]
	if !native {
		refUniform(rows, size, seed, key, out)
		return
	}
	cUniform(rows, size, seed, key, out)
}

// Below converts draws in [0,1) to numbers from 0 to n-1: out[r] = min(⌊n·u[r]⌋, n-1).
func Below(n int64, u []float64, out []int64) {
	if len(u) == 0 {
		return
	}
	_ = out[len(u)-1]
	if !native {
		refBelow(n, u, out)
		return
	}
	cBelow(n, u, out)
}

// Mix adds one more part to the hash of each row's key: key[r] = tensor.Mix(key[r] ^ x[r]), as tensor.HashKey hashes
// the parts of a key.
func Mix(key []uint64, x []int64) {
	if len(key) == 0 {
		return
	}
	_ = x[len(key)-1]
	if !native {
		refMix(key, x)
		return
	}
	cMix(key, x)
}

// Products multiplies small matrices row by row: out[r*or…] (m×n) = a[r*ar…] (m×k) · b[r*br…] (k×n).
func Products[T Float](rows, m, k, n int, a []T, ar int, b []T, br int, out []T, or int) {
	if rows*m*n == 0 {
		return
	}
	_, _ = a[(rows-1)*ar+m*k-1], b[(rows-1)*br+k*n-1]
	_ = out[(rows-1)*or+m*n-1]
	if !native {
		refProducts(rows, m, k, n, a, ar, b, br, out, or)
		return
	}
	cProducts(rows, m, k, n, a, ar, b, br, out, or)
}
