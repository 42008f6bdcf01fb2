package cpu

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/tensor"
)

// specials are the arguments that rounding tests forget.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1e-30, -1e-30, 1e-40, 88.5, -88.5, 100, -100,
	700, -745, 1000, -1000,
	math.Inf(1), math.Inf(-1), math.NaN(), 0.624, 0.626, math.Sqrt2 / 2, 3}

func random[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64() * 3)
		if rng.Intn(6) == 0 {
			x[i] = T(specials[rng.Intn(len(specials))])
		}
	}
	return x
}

// near compares within some units in the last place of T.
func near[T Float](x, y T, ulps float64) bool {
	a, b := float64(x), float64(y)
	if math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.IsNaN(a) && math.IsNaN(b) || a == b
	}
	eps, tiny := 1.2e-7, 1e-41 // below the normal range digits are lost
	if !single[T]() {
		eps, tiny = 2.3e-16, 1e-320
	}
	return math.Abs(a-b) <= ulps*(eps*math.Max(math.Abs(a), math.Abs(b))+tiny)
}

func same[T Float](t *testing.T, what string, got, want []T, ulps float64) {
	t.Helper()
	for i := range want {
		if !near(got[i], want[i], ulps) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func wide[T Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func testAll[T Float](t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, size := range []int{1, 2, 7, 16, 33, 40, 129, 300} {
		rows := 1 + rng.Intn(9)
		a, b, m := random[T](rng, rows*size), random[T](rng, rows*size), random[T](rng, rows*size)
		got, want := make([]T, rows*size), make([]T, rows*size)
		for op := Add; op <= Ratio; op++ {
			for _, s := range [][4]int{{size, 1, size, 1}, {size, 1, 1, 0}, {1, 0, size, 1}, {0, 1, size, 1},
				{size, 1, 0, 0}, {0, 0, 0, 0}} {
				Binary(op, rows, size, a, s[0], s[1], b, s[2], s[3], got)
				refBinary(op, rows, size, a, s[0], s[1], b, s[2], s[3], want)
				same(t, fmt.Sprintf("binary %d, strides %v", op, s), got, want, 1)
			}
		}
		for op := Neg; op <= NormalPDF; op++ {
			Unary(op, a, got)
			refUnary(op, a, want)
			same(t, fmt.Sprintf("unary %d of %v", op, a), got, want, 4)
		}
		for _, s := range [][6]int{{size, 1, size, 1, size, 1}, {size, 1, size, 1, 0, 0},
			{1, 0, size, 1, size, 1}, {size, 1, 0, 0, 1, 0},
			{size, 1, 0, 0, size, 1}, {1, 0, 0, 0, size, 1}, {1, 0, size, 1, 0, 0}} {
			Select(rows, size, m, s[0], s[1], a, s[2], s[3], b, s[4], s[5], got)
			refSelect(rows, size, m, s[0], s[1], a, s[2], s[3], b, s[4], s[5], want)
			same(t, "select", got, want, 0)
		}
		testReductions[T](t, rng, rows, size)
	}
}

func finite[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func testReductions[T Float](t *testing.T, rng *rand.Rand, rows, size int) {
	a, b := finite[T](rng, rows*size), finite[T](rng, rows*size)
	x, y := make([]float64, rows), make([]float64, rows)
	tol := 1e-5
	if !single[T]() {
		tol = 1e-13
	}
	check := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= tol*math.Max(1, math.Abs(want[i]))*math.Sqrt(float64(size))) {
				t.Fatalf("%s of %d: %v, want %v", what, size, got[i], want[i])
			}
		}
	}
	Dot(rows, size, a, size, b, 0, x)
	refDot(rows, size, a, size, b, 0, y)
	check("dot", x, y)
	at := make([]int32, rows)
	for i := range at {
		at[i] = int32(rng.Intn(rows))
	}
	for mode := range 16 {
		i, j, one := Rows[T]{X: a, At: at}, Rows[T]{X: b, At: at}, 0
		if mode&8 != 0 { // rows that many meet
			i.At = slices.Sorted(slices.Values(at))
		}
		if mode&1 != 0 {
			i = Rows[T]{X: a, Step: size}
		}
		if mode&2 != 0 {
			j, one = Rows[T]{X: b}, 1
		}
		Pairs(rows, size, mode&4 != 0, i, j, x)
		refPairs(rows, size, mode&4 != 0, i, j, y)
		check(fmt.Sprintf("pairs %d %d", mode, one), x, y)
	}
	top, topWant := make([]float64, rows), make([]float64, rows)
	LogSumExp(rows, size, a, top, x)
	refLogSumExp(rows, size, a, topWant, y)
	check("logsumexp", x, y)
	check("largest", top, topWant)
	p, q := make([]float64, size), make([]float64, size)
	AddRows(rows, size, a, p)
	refAddRows(rows, size, a, q)
	check("sum", p, q)
	if size%3 == 0 {
		k := size / 3
		c, d := make([]T, rows*9), make([]T, rows*9)
		Products(rows, 3, k, 3, a, size, b, 0, c, 9)
		refProducts(rows, 3, k, 3, a, size, b, 0, d, 9)
		same(t, "products", c, d, 1e4)
	}
	s, want := make([]T, rows*size), make([]T, rows*size)
	for _, by := range []T{1, 8, 0.25, 3, -2} {
		Softmax(rows, size, a, by, s)
		refSoftmax(rows, size, a, by, want)
		same(t, fmt.Sprintf("softmax of quotients by %v", by), s, want, 16)
		SoftmaxGrad(rows, size, a, b, by, s)
		refSoftmaxGrad(rows, size, a, b, by, want)
		check(fmt.Sprintf("gradient of softmax of quotients by %v", by), wide(s), wide(want))
	}
	testPairs[T](t, rng, size, tol)
	testAddAt[T](t, rng, size)
	testSpMM[T](t, rng, rows, size, check)
	testGather[T](t, rng, rows, size)
}

// testPairs: pairs of as many rows as fill no list of places, one, and several, the last of them by a few. Rows stand
// for themselves, are read through an index, in runs and in any order, or are one for all.
func testPairs[T Float](t *testing.T, rng *rand.Rand, size int, tol float64) {
	const stored = 11
	x := finite[T](rng, 140*size)
	for _, rows := range []int{1, 8, 9, 63, 64, 65, 71, 72, 73, 130} {
		runs, any := make([]int32, rows), make([]int32, rows)
		for r := range runs {
			runs[r], any[r] = int32(r/7%stored), int32(rng.Intn(stored))
		}
		forms := []Rows[T]{{X: x[: rows*size : rows*size], Step: size}, {X: x[size : 2*size : 2*size]},
			{X: x[: stored*size : stored*size], At: runs}, {X: x[: stored*size : stored*size], At: any}}
		for i, a := range forms {
			for j, b := range forms {
				for _, diff := range []bool{false, true} {
					got, want := make([]float64, rows+1), make([]float64, rows)
					got[rows] = 7
					Pairs(rows, size, diff, a, b, got[:rows])
					refPairs(rows, size, diff, a, b, want)
					for r := range want {
						if d := math.Abs(got[r] - want[r]); !(d <= tol*float64(8+size)) {
							t.Fatalf("pair %d of %d rows of %d, forms %d and %d, difference %t: %v, not %v", r, rows, size, i,
								j, diff, got[r], want[r])
						}
					}
					if got[rows] != 7 {
						t.Fatalf("more than %d pairs of rows are written", rows)
					}
				}
			}
		}
	}
}

// TestConvert: the conversions of Go, also of what neither holds exactly.
func TestConvert(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	wide := []float64{0, math.Copysign(0, -1), 1e300, -1e300, 1e-50, 1e-40, math.Inf(1), math.Inf(-1),
		math.NaN(), 16777217, 0.1}
	for range 90 {
		wide = append(wide, rng.NormFloat64()*math.Exp(90*rng.NormFloat64()))
	}
	for n := range wide {
		narrow, back := make([]float32, n+1), make([]float64, n+1)
		narrow[n], back[n] = 7, 7
		Narrow(wide[:n], narrow)
		Widen(narrow[:n], back)
		for i := range n {
			if want := float32(wide[i]); math.Float32bits(narrow[i]) != math.Float32bits(want) && want == want ||
				math.Float64bits(back[i]) != math.Float64bits(float64(want)) && want == want ||
				(want != want) != (back[i] != back[i]) {
				t.Fatalf("%v becomes %v and %v", wide[i], narrow[i], back[i])
			}
		}
		if narrow[n] != 7 || back[n] != 7 {
			t.Fatalf("more than %d numbers are converted", n)
		}
	}
}

// testGather copies rows in any order, some again and again, some missing, and the sign of a zero with them.
func testGather[T Float](t *testing.T, rng *rand.Rand, rows, size int) {
	x, at := finite[T](rng, rows*size), make([]int32, 2*rows+5)
	if len(x) > 0 {
		x[0] = T(math.Copysign(0, -1))
	}
	for i := range at {
		at[i] = int32(rng.Intn(rows+1) - 1)
		if i%3 == 2 {
			at[i] = at[i-1]
		}
	}
	got, want := finite[T](rng, len(at)*size+1), make([]T, len(at)*size)
	beyond := got[len(want)]
	Gather(size, x, at, got)
	refGather(size, x, at, want)
	for i := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("gather of %d × %d: element %d is %v, not %v", rows, size, i, got[i], want[i])
		}
	}
	if got[len(want)] != beyond {
		t.Fatalf("gather of %d × %d writes beyond its rows", rows, size)
	}
}

// testAddAt compares with sums of the same order: the bits are the same.
func testAddAt[T Float](t *testing.T, rng *rand.Rand, size int) {
	const rows, n = 9, 60 // several for each row
	x, got, to, at := finite[T](rng, rows*size), finite[T](rng, rows*size), make([]int32, n), make([]int32, n)
	want := slices.Clone(got)
	for i := range to {
		to[i], at[i] = int32(rng.Intn(rows)), int32(rng.Intn(rows))
		for j := range size {
			want[int(to[i])*size+j] += x[int(at[i])*size+j]
		}
	}
	if AddAt(to, at, size, x, got); !slices.Equal(got, want) {
		t.Errorf("rows of %d added: %v, want %v", size, got, want)
	}
}

func testSpMM[T Float](t *testing.T, rng *rand.Rand, rows, size int, check func(string, []float64, []float64)) {
	start := []int32{0, 0, 3, 5, 605, 606}
	n := int(start[5])
	at, held, nearly, w, x := make([]int32, n), make([]int32, n), make([]int32, n), finite[T](rng, n),
		finite[T](rng, max(rows, n)*size)
	for i := range at {
		at[i] = int32(rng.Intn(rows))
	}
	for g := range 5 { // one row for all edges of a group; nearly: but for an edge of the third and one amid the fourth
		for e := start[g]; e < start[g+1]; e++ {
			held[e], nearly[e] = int32(g*7%rows), int32(g*7%rows)
		}
	}
	nearly[4], nearly[300] = int32(rows-1), int32(rows-1)
	got, want := make([]T, 5*size), make([]T, 5*size)
	each := make([]int32, 5) // held, by group
	for g := range each {
		each[g] = int32(g * 7 % rows)
	}
	for mode := range 72 {
		far := mode/32%2 == 0
		i, f, y := Rows[T]{X: x, At: at, distant: far}, w, Rows[T]{X: x[:rows*size], At: at[:n:n], distant: far}
		if mode&1 != 0 {
			i.At = nil
		}
		if mode&2 != 0 {
			f = nil
		}
		switch mode/4%8 + mode/64*8 {
		case 8, 9:
			y.At, y.Held = each, true
		case 1:
			y.X = nil
		case 2:
			y = Rows[T]{X: x}
		case 3:
			y.At = make([]int32, n)
		case 4:
			y.At = held
		case 5:
			i.At = held
		case 6:
			i.At, y.X = held, nil
		case 7:
			i.At, y.At = nearly, nearly
			y.X = x[size : rows*size+size]
		}
		SpMM(5, start, 0, f, i, y, size, got)
		refSpMM(5, start, 0, f, i, y, size, want)
		if i.At != nil && f != nil { // from the middle on
			i.At, f = i.At[3:], f[3:]
			if y.Held {
				y.At = y.At[2:]
			} else if y.At != nil {
				y.At = y.At[3:]
			}
			SpMM(3, start[2:], 3, f, i, y, size, got[2*size:])
		}
		a, b := make([]float64, len(got)), make([]float64, len(got))
		for k := range got {
			a[k], b[k] = float64(got[k])/25, float64(want[k])/25
		}
		check("spmm", a, b)
	}
}

func TestAgainstReference(t *testing.T) {
	defer limit(9)
	for level := range 3 {
		if limit(level) == level {
			t.Log("loops:", Name())
			testAll[float32](t)
			testAll[float64](t)
		}
	}
}

// TestDropMask compares with the definition of the draws.
func TestDropMask(t *testing.T) {
	defer limit(9)
	for level := range 3 {
		if limit(level) == level {
			testDropMask(t)
		}
	}
}

func testDropMask(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 5, 16, 40, 77, 256, 301} {
		for _, p := range []float64{0, 1e-12, 0.3, 0.5, 0.999, 1 - 1e-12} {
			rows := 73
			key := make([]uint64, rows)
			for r := range key {
				key[r] = tensor.HashKey(int64(r))
			}
			mixed, parts := make([]uint64, rows), make([]int64, rows)
			for r := range parts {
				mixed[r], parts[r] = tensor.HashKey(), int64(r)
			}
			if Mix(mixed, parts); !slices.Equal(mixed, key) {
				t.Fatalf("keys %x, want %x", mixed, key)
			}
			out := make([]float64, rows*size)
			DropMask(rows, size, -5, key, p, out)
			draws := make([]float64, rows*size)
			Uniform(rows, size, -5, key, draws)
			for i, u := range draws {
				if want := tensor.Uniform(-5, key[i/size], i%size); u != want {
					t.Fatalf("size %d, draw %d: %v, want %v", size, i, u, want)
				}
			}
			for _, n := range []int64{1, 7, 14541, 1<<53 + 1, math.MaxInt64} {
				below, want := make([]int64, len(draws)), make([]int64, len(draws))
				Below(n, draws, below)
				if refBelow(n, draws, want); !slices.Equal(below, want) {
					t.Fatalf("numbers below %d: %v, want %v", n, below, want)
				}
			}
			single, ref := make([]float32, rows*size+1), make([]float64, rows*size)
			single[rows*size] = -1
			DropMask(rows, size, -5, key, p, single)
			refDropMask(rows, size, -5, key, p, ref)
			for i := range out {
				want := 0.0
				if !tensor.Dropped(-5, key[i/size], i%size, p) {
					want = 1 / (1 - p)
				}
				if out[i] != want || single[i] != float32(want) || ref[i] != want {
					t.Fatalf("size %d, p %v, element %d: %v, %v and %v, want %v", size, p, i, out[i], single[i], ref[i], want)
				}
			}
			if single[rows*size] != -1 {
				t.Fatalf("size %d, p %v: written behind the last element", size, p)
			}
		}
	}
}

func BenchmarkSpMM(b *testing.B) {
	const nodes, edges = 20000, 300000
	rng := rand.New(rand.NewSource(1))
	start, at, w := make([]int32, nodes+1), make([]int32, edges), finite[float32](rng, edges)
	for i := range at {
		at[i] = int32(rng.Intn(nodes))
	}
	for g := range start {
		start[g] = int32(g * edges / nodes)
	}
	for _, size := range []int{7, 16, 40, 128, 256} {
		x, out := finite[float32](rng, nodes*size), make([]float32, nodes*size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				SpMM(nodes, start, 0, w, Rows[float32]{X: x, At: at}, Rows[float32]{}, size, out)
			}
			b.ReportMetric(float64(edges*size*4)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}

func BenchmarkElementwise(b *testing.B) {
	rng := rand.New(rand.NewSource(1))
	x, y, out := finite[float32](rng, 4096), finite[float32](rng, 4096), make([]float32, 4096)
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			Binary(Add, 1, 4096, x, 0, 1, y, 0, 1, out)
		}
	})
	for name, op := range map[string]Op{"exp": Exp, "tanh": Tanh, "sigmoid": Sigmoid, "relu": Relu} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Unary(op, x, out)
			}
		})
	}
}

// BenchmarkDropMask draws 16,384 elements in rows of each size.
func BenchmarkDropMask(b *testing.B) {
	const n = 16384
	key, out := make([]uint64, n), make([]float32, n)
	for r := range key {
		key[r] = tensor.HashKey(int64(r))
	}
	for _, size := range []int{1, 2, 3, 7, 16, 50, 256, n} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rows := n / size
			for b.Loop() {
				DropMask(rows, size, 1, key, 0.5, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows*size), "ns/element")
		})
	}
}

// TestUpdates compares the updates of training with the same in double precision, over lengths that end anywhere in a
// vector.
func TestUpdates(t *testing.T) {
	defer limit(9)
	for level := range 3 {
		if limit(level) == level {
			testUpdates[float32](t, 1e-5)
			testUpdates[float64](t, 1e-12)
		}
	}
}

func testUpdates[T Float](t *testing.T, tol float64) {
	rng := rand.New(rand.NewSource(5))
	for _, n := range []int{0, 1, 7, 64, 65, 200} {
		g, m, s, p := finite[T](rng, n), finite[T](rng, n), finite[T](rng, n), finite[T](rng, n)
		for i := range s {
			s[i] *= s[i]
		}
		if n > 3 { // 0/0 leaves the element
			g[3], m[3], s[3] = 0, 0, 0
		}
		a := Adam[T]{Rate: 0.01, Correct: 1.5, Beta1: 0.9, Beta2: 0.99, Scale: 0.5}
		q, m2, s2 := slices.Clone(p), slices.Clone(m), slices.Clone(s)
		a.Update(g, m2, s2, q)
		r := slices.Clone(p)
		SGD(0.1, 0.25, 0.5, g, r)
		for i := range p {
			d := 0.5 * float64(g[i])
			wantM, wantS := 0.9*float64(m[i])+0.1*d, 0.99*float64(s[i])+0.01*d*d
			want := float64(p[i])
			if wantM != 0 {
				want -= 0.01 * wantM / math.Sqrt(wantS*1.5)
			}
			for _, x := range [][2]float64{{float64(m2[i]), wantM}, {float64(s2[i]), wantS}, {float64(q[i]), want},
				{float64(r[i]), float64(p[i]) - 0.1*(d+0.25*float64(p[i]))}} {
				if !(math.Abs(x[0]-x[1]) <= tol*(1+math.Abs(x[1]))) {
					t.Fatalf("element %d of %d: %v", i, n, x)
				}
			}
		}
		if !Finite(p) {
			t.Fatalf("%v is not finite", p)
		}
		for i := range p {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				q := slices.Clone(p)
				if q[i] = T(bad); Finite(q) {
					t.Fatalf("%v at %d of %d counts as finite", bad, i, n)
				}
			}
		}
	}
}

func BenchmarkSoftmax(b *testing.B) {
	for _, size := range []int{7, 32, 40, 1000} {
		rows := 1 << 14 / size
		x, out := make([]float32, rows*size), make([]float32, rows*size)
		top, sums := make([]float64, rows), make([]float64, rows)
		for i := range x {
			x[i] = float32(i%17) / 4
		}
		b.Run(fmt.Sprintf("softmax of %d", size), func(b *testing.B) {
			for b.Loop() {
				Softmax(rows, size, x, 1, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
		b.Run(fmt.Sprintf("log-sum-exp of %d", size), func(b *testing.B) {
			for b.Loop() {
				LogSumExp(rows, size, x, top, sums)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
