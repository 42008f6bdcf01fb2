package gradtest

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

const side = 56

// chunked stores a side × side matrix in c × c chunks (c = 1: as scalars) under a name.
func chunked(db *memdb.DB, name string, m []float64, c int) {
	n := side / c
	t := kernels.Type{Kind: kernels.Float64, Shape: []int{c, c}}
	if c == 1 {
		t.Shape = nil
	}
	i, j, v := column.New(kernels.Type{Kind: kernels.Int}, n*n),
		column.New(kernels.Type{Kind: kernels.Int}, n*n), column.New(t, n*n)
	for r := range n * n {
		i.I64()[r], j.I64()[r] = int64(r/n), int64(r%n)
		for e := range c * c {
			v.F64()[r*c*c+e] = m[(r/n*c+e/c)*side+r%n*c+e%c]
		}
	}
	db.Create(name, 2, memdb.Column{Name: "i", Data: i}, memdb.Column{Name: "j", Data: j},
		memdb.Column{Name: "v", Data: v})
}

// product runs the loss of a chunked product and returns it with the gradient of a, as a plain matrix.
func product(t *testing.T, a, b []float64, c, workers int) (float64, []float64) {
	t.Helper()
	db, ctx := memdb.New(), context.Background()
	chunked(db, "a", a, c)
	chunked(db, "b", b, c)
	inner, outer := "sum(matmul(a.v, b.v))", "sum(sqnorm(v))"
	if c == 1 {
		inner, outer = "sum(a.v * b.v)", "sum(v ^ 2)"
	}
	loss := fmt.Sprintf("SELECT %s FROM (SELECT a.i, b.j, %s AS v FROM a JOIN b ON b.i = a.j GROUP BY a.i, b.j) p", outer,
		inner)
	x, grads, err := Run(ctx, db, loss, []string{"a", "b"}, executor.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	cols := grads[0]
	g := make([]float64, side*side)
	for r := range cols[0].Len() {
		for e := range c * c {
			g[(int(cols[0].I64()[r])*c+e/c)*side+int(cols[1].I64()[r])*c+e%c] = cols[2].F64()[r*c*c+e]
		}
	}
	return x, g
}

// TestChunking: one chunk, 7 × 7, 8 × 8 and scalars give the same loss and gradients; 1 and 2 workers agree
// bit for bit.
func TestChunking(t *testing.T) {
	r := rand.New(rand.NewSource(56))
	a, b := make([]float64, side*side), make([]float64, side*side)
	for i := range a {
		a[i], b[i] = r.NormFloat64(), r.NormFloat64()
	}
	want, grad := product(t, a, b, side, 1)
	largest := 0.0
	for _, x := range grad {
		largest = math.Max(largest, math.Abs(x))
	}
	for _, c := range []int{side, 7, 8, 1} {
		x, g := product(t, a, b, c, 1)
		if math.Abs(x-want) > 1e-12*want {
			t.Errorf("chunks of %d: loss %.17g, one chunk %.17g", c, x, want)
		}
		for i := range g {
			if math.Abs(g[i]-grad[i]) > 1e-12*largest {
				t.Errorf("chunks of %d: gradient element %d is %.17g, one chunk %.17g", c, i, g[i], grad[i])
				break
			}
		}
		for _, workers := range []int{2, 7} {
			if y, h := product(t, a, b, c, workers); y != x || !reflect.DeepEqual(g, h) {
				t.Errorf("chunks of %d: %d workers give another result than 1", c, workers)
			}
		}
	}
}
