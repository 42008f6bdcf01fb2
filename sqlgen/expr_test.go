package sqlgen_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

var scalars = []float64{0.5, -1.5, 0, 2, 1, -1, 0.25, math.Inf(1), 1e-300, 3}

// drawColumn draws a column of a type; a nullable one begins with NULL at a place of its own.
func drawColumn(t kernels.Type, at, n int, ints []int64, rng *rand.Rand, d *kernels.Def) *column.Column {
	v := column.New(t, n)
	for i := range n {
		x := kernels.Value{Type: t}
		switch {
		case t.Kind == kernels.Text:
			x.T = []string{"ab", "12", "-3.5", "a%", "true", "O'Neil\n"}[rng.Intn(6)]
			if d.Name == "cast" {
				x.T = "1"
			}
		case t.Kind == kernels.Bool:
			x.I = rng.Int63n(2)
		case t.Kind == kernels.Int:
			if x.I = 1 + rng.Int63n(2); len(ints) > 0 {
				x.I = ints[0]
			}
		case t.Shape == nil:
			x.X = scalars[rng.Intn(len(scalars))]
			if d.Lo >= 1 && i%2 == 0 { // few of these are in its domain
				x.X = d.Lo + rng.Float64()*(d.Hi-d.Lo)
			}
			if t.Kind == kernels.Float32 {
				x.X = float64(float32(x.X))
			}
		default:
			x.F = make([]float64, t.Size())
			for j := range x.F {
				x.F[j] = 0.2 + rng.Float64()
			}
		}
		v.Set(i, x)
	}
	if t.Nullable {
		v.SetNull(at)
	}
	return v
}

// table makes a table with a column for each argument, the key k first, and the expressions that read them.
func table(db *memdb.DB, d *kernels.Def, s kernels.Sample, rng *rand.Rand) (*ra.Table, []*column.Column) {
	const n = 12
	ids := column.New(kernels.Type{Kind: kernels.Int}, n)
	for i := range ids.I64() {
		ids.I64()[i] = int64(i)
	}
	cols, ints := []memdb.Column{{Name: "k", Data: ids}}, s.Ints
	for i, t := range s.Types {
		t.Nullable = true
		var mine []int64
		if !t.IsFloat() && t.Kind != kernels.Text && t.Shape == nil && len(ints) > 0 {
			mine, ints = ints[:1], ints[1:]
		}
		if t.Shape != nil && t.Kind == kernels.Int {
			t = kernels.Type{Kind: kernels.Int} // a constant array in the call
		}
		cols = append(cols, memdb.Column{Name: fmt.Sprintf("a%d", i), Data: drawColumn(t, i, n, mine, rng, d)})
	}
	name := "t_" + d.Name
	return db.Create(name, 1, cols...), db.Data[name]
}

// call makes the sample's call over the columns of scan.
func call(d *kernels.Def, s kernels.Sample, scan *ra.Node) (*kernels.Expr, error) {
	args := make([]*kernels.Expr, len(s.Types))
	for i, t := range s.Types {
		args[i] = scan.Var(0, scan.Cols[i+1].ID)
		if t.Shape != nil && t.Kind == kernels.Int {
			args[i] = kernels.Build("int_array", args[i], kernels.Const(kernels.IntValue(7)))
			if i%2 == 0 {
				args[i] = kernels.IntArray(2, 3)
			}
		}
	}
	return kernels.Call(d, s.Attr, args...)
}

// sameValues compares row by row. Where the oracle's value is an error, or a NaN that the database does not hold, SQL's
// does not count.
func sameValues(t *testing.T, e *target, db *memdb.DB, n *ra.Node, what string) (compared bool) {
	t.Helper()
	ctx := context.Background()
	plan := &ra.Plan{Roots: []ra.Root{{Name: what, Node: n}}}
	for _, c := range n.Cols {
		plan.Roots[0].Cols = append(plan.Roots[0].Cols, c.ID)
	}
	want, err := interp.New(db, env).Eval(ctx, n)
	if err != nil {
		return false
	}
	for _, r := range want {
		for _, v := range r {
			if !e.nan && v.Type.IsFloat() && v.Type.Shape == nil && math.IsNaN(v.X) {
				return false
			}
		}
	}
	tol := 1e-12
	ra.Walk(func(n *ra.Node) {
		for _, c := range n.Cols {
			if (e.rounds || c.Type.IsChunk()) && c.Type.Kind == kernels.Float32 {
				tol = 2e-6 // each kernel's result is rounded
			}
		}
	}, n)
	compare(t, e, db, plan, tol)
	return true
}

// rowwise keeps one row, so that one that is NaN or an error does not hide the others.
func rowwise(b *ra.Builder, scan *ra.Node, row int64, out []ra.OutCol) *ra.Node {
	k := scan.Var(0, scan.Cols[0].ID)
	out = append([]ra.OutCol{{Name: "k", X: k}}, out...)
	return b.Select(scan, []*kernels.Expr{kernels.Build("eq", k, kernels.Const(kernels.IntValue(row)))}, out)
}

func TestKernels(t *testing.T) { runKernels(t, sqlite(t)) }

// Every kernel, and the derivative of every kernel, computes on a database what the oracle computes: over random
// and special values and NULL.
func runKernels(t *testing.T, e *target) {
	for _, d := range kernels.All() {
		if d.IsMacro() {
			continue
		}
		for i, s := range d.Calls() {
			rng := rand.New(rand.NewSource(int64(i)))
			db := memdb.New()
			tab, data := table(db, d, s, rng)
			b := ra.NewBuilder()
			scan := b.Scan(tab, func(int) bool { return true })
			x, err := call(d, s, scan)
			if err != nil {
				continue // a combination that the shape rule refuses
			}
			out := []ra.OutCol{{Name: "y", X: x}}
			if x.Type.IsFloat() {
				cs, err := kernels.VJP(x, kernels.Build("add", kernels.ZerosLike(x.Type), kernels.Num(0.75)),
					func(kernels.Col) bool {
						return true
					})
				if err == nil {
					for j, c := range cs {
						out = append(out, ra.OutCol{Name: fmt.Sprintf("d%d", j), X: c.Grad})
					}
				}
			}
			compared := 0
			for row := range int64(data[0].Len()) {
				if sameValues(t, e, db, rowwise(b, scan, row, out), fmt.Sprintf("%s %v %v row %d", d.Name, s.Types, s.Attr, row)) {
					compared++
				}
			}
			if t.Failed() {
				return
			}
			if compared < data[0].Len()/3 {
				t.Errorf("%s %v %v: only %d of %d rows compared", d.Name, s.Types, s.Attr, compared, data[0].Len())
			}
		}
	}
}
