package executor

import (
	"math"
	"math/rand"
	"os"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// argument makes a column of n rows for a sample's argument.
func argument(rng *rand.Rand, d *kernels.Def, t kernels.Type, n int, i int64, nulls bool) *column.Column {
	v := column.New(t, n)
	lo, hi := d.Lo, d.Hi
	if lo == 0 && hi == 0 {
		lo, hi = -2, 2
	}
	for r := range v.I64() {
		v.I64()[r] = i
	}
	for r := range v.F64() {
		v.F64()[r] = lo + (hi-lo)*rng.Float64()
	}
	for r := range v.F32() {
		v.F32()[r] = float32(lo + (hi-lo)*rng.Float64())
	}
	for r := range v.Texts() {
		v.Texts()[r] = []string{"1", "2", "10"}[rng.Intn(3)]
	}
	for r := 0; nulls && r < n; r++ {
		if rng.Intn(4) == 0 {
			v.SetNull(r)
		}
	}
	return v
}

// TestKernels compares every kernel with its reference code: arguments that vary by row, that are the same for
// all rows, with and without NULLs.
func TestKernels(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(1))
	for i, d := range kernels.All() {
		if d.IsMacro() {
			continue
		}
		calls, modes := d.Calls(), []int{0, 1, 2, 4, 7}
		if *onDevice == "plain" { // which computes all of them alike
			calls = calls[:1]
		}
		if *onDevice == "cuda" { // each is a kernel to be compiled
			if calls, modes = calls[:min(len(calls), 2)], []int{0, 7}; os.Getenv("RELGRAD_CUDA_TEXTS") == "" {
				calls, modes = calls[:1], []int{7 * (i % 2)}
			}
		}
		for _, s := range calls {
			for _, mode := range modes {
				testKernel(t, rng, d, s, mode)
			}
		}
	}
}

func testKernel(t *testing.T, rng *rand.Rand, d *kernels.Def, s kernels.Sample, mode int) {
	t.Helper()
	const n = 40
	src, b := &memory{}, ra.NewBuilder()
	key := column.New(tInt, n)
	for i := range key.I64() {
		key.I64()[i] = int64(i)
	}
	cols := [2][]*column.Column{{key}, {ints(1)}}
	type place struct{ slot, col int }
	where, given := make([]place, len(s.Types)), s.Ints
	for i, ty := range s.Types {
		value := int64(1)
		if ty.Kind == kernels.Int || ty.Kind == kernels.Bool {
			if len(given) > 0 && ty.Shape == nil {
				value, given = given[0], given[1:]
			}
		}
		slot, rows := 0, n
		if mode&(1<<i) != 0 && i < 2 {
			slot, rows = 1, 1
		}
		ty.Nullable = false
		where[i] = place{slot, len(cols[slot])}
		if ty.Shape == nil || ty.Kind != kernels.Int {
			cols[slot] = append(cols[slot], argument(rng, d, ty, rows, value, mode&4 != 0))
		}
	}
	var scans []*ra.Node
	for i, name := range []string{"many", "one"} {
		scans = append(scans, b.Scan(src.add(name, 1, cols[i]...), func(int) bool { return true }))
	}
	args := make([]*kernels.Expr, len(s.Types))
	for i, ty := range s.Types {
		if ty.Shape != nil && ty.Kind == kernels.Int {
			args[i] = kernels.IntArray(2, 3)
			continue
		}
		args[i] = scans[where[i].slot].Var(where[i].slot, scans[where[i].slot].Cols[where[i].col].ID)
	}
	e, err := kernels.Call(d, s.Attr, args...)
	if err != nil {
		t.Fatalf("%s%v: %v", d.Name, s.Types, err)
	}
	if e.Type.Shape != nil && e.Type.Kind == kernels.Int { // an array of integers stands in draws only
		e = kernels.BuildAttr("random_uniform", kernels.Attr{Shape: []int{2}}, integer(1), e)
	}
	join := b.Join(scans, nil, nil, []ra.OutCol{{Name: "y", X: e}})
	env := kernels.Env{Seed: 3, Step: 2}
	plan := &ra.Plan{Roots: []ra.Root{all(join, d.Name)}}
	want, err := oracle(plan, src, env)
	if err != nil {
		t.Fatalf("%s%v: oracle: %v", d.Name, s.Types, err)
	}
	runsThere(t, d.Name, plan, src, env)
	if err := agree(t, nil, plan, src, env, want, 2e-5); err != nil {
		t.Errorf("%s%v, mode %d: %v", d.Name, s.Types, mode, err)
	}
}

// TestDecimals: numbers at ties between decimals and beside them, of all magnitudes, have the oracle's digits.
func TestDecimals(t *testing.T) {
	t.Parallel()
	const n = 4000
	for _, least := range []int{-20, -60} { // a graphics processor leaves some of the second to the host
		rng, src, b := rand.New(rand.NewSource(6)), &memory{}, ra.NewBuilder()
		key, x := column.New(tInt, n), column.New(kernels.Type{Kind: kernels.Float64}, n)
		for r := range n {
			key.I64()[r] = int64(r)
			digits := float64(1e14+rng.Int63n(9e14)) + []float64{0, 0.5, 0.5, 0.25}[rng.Intn(4)]
			x.F64()[r] = digits * math.Pow(10, float64(least+rng.Intn(40)))
			switch rng.Intn(6) {
			case 0:
				x.F64()[r] = math.Nextafter(x.F64()[r], 0)
			case 1:
				x.F64()[r] = -digits
			case 2:
				x.F64()[r] = math.Trunc(digits/1e3) / 100
			}
		}
		x.F64()[0], x.F64()[1], x.F64()[2], x.F64()[3] = math.Inf(-1), math.NaN(), 0, math.Nextafter(10, 0)
		scan := b.Scan(src.add("many", 1, key, x), func(int) bool { return true })
		e := kernels.Build("decimal", scan.Var(0, scan.Cols[1].ID))
		rounded := b.Join([]*ra.Node{scan}, nil, nil, []ra.OutCol{{Name: "y", X: e}})
		plan := &ra.Plan{Roots: []ra.Root{all(rounded, "decimal")}}
		want, err := oracle(plan, src, kernels.Env{})
		if err != nil {
			t.Fatal(err)
		}
		runsThere(t, "decimal", plan, src, kernels.Env{})
		if err := agree(t, nil, plan, src, kernels.Env{}, want, 0); err != nil {
			t.Errorf("from 1e%d on: %v", least, err)
		}
	}
}
