package executor

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// unusual are the numbers at which a kernel may differ from its reference code.
var unusual = []float64{0, math.Copysign(0, -1), 1, -2.5, 1e300, -1e-300, math.NaN(), math.Inf(1), math.Inf(-1)}

// argumentsOf are the columns of a table that a kernel's arguments can be, from the first on: 1 for numbers, 4 for
// chunks of numbers; 0: neither.
func argumentsOf(d *kernels.Def) int {
	if d.IsMacro() || noCudaKernel[d.Name] != "" {
		return 0
	}
	dims := [2]int{}
	types := d.Calls()[0].Types
	for _, x := range types {
		if x.IsFloat() && len(x.Shape) < 2 {
			dims[len(x.Shape)]++
		}
	}
	switch n := len(types); {
	case n == 0 || n > 3:
		return 0
	case dims[0] == n:
		return 1
	case dims[1] == n:
		return 4
	}
	return 0
}

// unusualTable has a key, three columns of numbers, and three of chunks.
func unusualTable() []*column.Column {
	n, rng := len(unusual)*len(unusual), rand.New(rand.NewSource(4))
	key := column.New(tInt, n)
	out := []*column.Column{key}
	for range 3 {
		out = append(out, column.New(kernels.Type{Kind: kernels.Float64}, n))
	}
	for range 3 {
		out = append(out, column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{3}}, n))
	}
	for r := range n {
		key.I64()[r] = int64(r)
		for i, at := range []int{r, r / len(unusual), r / 2} { // all pairs of the first two
			out[1+i].F64()[r] = unusual[at%len(unusual)]
			for j := range 3 {
				out[4+i].F64()[3*r+j] = []float64{unusual[rng.Intn(len(unusual))], float64(j)}[rng.Intn(2)]
			}
		}
	}
	return out
}

// TestNotNumbers compares kernels of real numbers and of chunks with their reference code at NaN, infinities, zeros of
// both signs, and numbers near the ends of their range.
func TestNotNumbers(t *testing.T) {
	t.Parallel()
	src, b, plan, cols := &memory{}, ra.NewBuilder(), &ra.Plan{}, unusualTable()
	scan := b.Scan(src.add("t", 1, cols...), func(int) bool { return true })
	for _, d := range kernels.All() {
		first := argumentsOf(d)
		if first == 0 {
			continue
		}
		var args []*kernels.Expr
		for i := range d.Calls()[0].Types {
			args = append(args, scan.Var(0, scan.Cols[first+i].ID))
		}
		e, err := kernels.Call(d, d.Calls()[0].Attr, args...)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		if e.Type.Kind == kernels.Float64 { // the reference code computes in double precision
			out := []ra.OutCol{{Name: "key", X: scan.Var(0, scan.Cols[0].ID)}, {Name: "y", X: e}}
			plan.Roots = append(plan.Roots, all(b.Join([]*ra.Node{scan}, nil, nil, out), d.Name))
		}
	}
	if len(plan.Roots) < 70 {
		t.Errorf("%d kernels, expected at least 70", len(plan.Roots))
	}
	runsThere(t, "all", plan, src, kernels.Env{})
	want, err := oracle(plan, src, kernels.Env{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := runPlan(t, plan, src, Options{Workers: 2}, kernels.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for i, root := range plan.Roots {
		wrong := func(r int) bool { return !sameValue(got[i][1].Value(r), want[i][r][1], 1e-10) }
		if r := slices.IndexFunc(cols[0].I64(), func(r int64) bool { return wrong(int(r)) }); r >= 0 {
			t.Errorf("%s is %v, not %v in row %d: %v %v %v, %v %v %v", root.Name, got[i][1].Value(r), want[i][r][1], r,
				cols[1].Value(r), cols[2].Value(r), cols[3].Value(r), cols[4].Value(r), cols[5].Value(r), cols[6].Value(r))
		}
	}
}
