package executor_test

import (
	"context"
	"math"
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

// TestHub: sums of weighted rows read them in place although a group has thousands, where these are a small part of
// all. Loss and gradient are those of loops over float64, for any number of workers.
func TestHub(t *testing.T) {
	t.Parallel()
	const nodes, entries, hub, width = 2000, 130_000, 4000, 8
	rng := rand.New(rand.NewSource(7))
	dst, src := make([]int64, entries), make([]int64, entries)
	for i := range dst {
		dst[i], src[i] = 1+rng.Int63n(nodes-1), 1+rng.Int63n(nodes-1)
		if i < hub {
			dst[i] = 0
		} else if i < 2*hub {
			src[i] = 0
		}
	}
	weight, v := reals(rng, entries), reals(rng, nodes, width)
	db := memdb.New()
	db.Create(
		"adj",
		1,
		memdb.Column{Name: "id", Data: ints(entries, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "dst", Data: ints(entries, func(i int) int64 { return dst[i] })},
		memdb.Column{
			Name: "src",
			Data: ints(entries, func(i int) int64 { return src[i] }),
		},
		memdb.Column{Name: "weight", Data: weight},
	)
	db.Create(
		"w",
		1,
		memdb.Column{Name: "id", Data: ints(nodes, func(i int) int64 { return int64(i) })},
		memdb.Column{Name: "v", Data: v},
	)
	views(
		t,
		db,
		"h",
		"SELECT a.dst, sum(a.weight * w.v) AS v FROM adj a JOIN w ON w.id = a.src GROUP BY a.dst",
		"loss",
		"SELECT sum(sqnorm(v)) AS loss FROM h",
	)

	h, grad, loss := make([]float64, nodes*width), make([]float64, nodes*width), 0.0
	for e := range dst {
		for k := range int64(width) {
			h[dst[e]*width+k] += float64(weight.F32()[e]) * float64(v.F32()[src[e]*width+k])
		}
	}
	for e := range dst {
		for k := range int64(width) {
			grad[src[e]*width+k] += 2 * float64(weight.F32()[e]) * h[dst[e]*width+k]
		}
	}
	for _, x := range h {
		loss += x * x
	}
	var before []float32
	for _, workers := range []int{1, 3} {
		_, p := compile(t, db, []string{"w"}, executor.Options{Workers: workers})
		if err := p.Run(context.Background(), kernels.Env{}); err != nil {
			t.Fatal(err)
		}
		gathers := p.Work().Gathers
		if len(gathers) != 2 ||
			gathers[0] != (executor.Gather{Rows: entries, Groups: nodes, Table: nodes, Width: 4 * width}) ||
			gathers[1].Rows != entries {
			t.Errorf("%+v in\n%s", gathers, p.Explain())
		}
		if x, _, err := p.Scalar(0); err != nil || math.Abs(x-loss) > 1e-5*loss {
			t.Errorf("the loss is %v, not %v (%v)", x, loss, err)
		}
		rows, err := p.Result(1)
		if err != nil {
			t.Fatal(err)
		}
		got := rows[len(rows)-1].F32()
		for i, x := range got {
			if math.Abs(float64(x)-grad[i]) > 1e-4 {
				t.Fatalf("element %d of the gradient is %v, not %v", i, x, grad[i])
			}
			if before != nil && before[i] != x {
				t.Fatalf("element %d of the gradient is %v with %d workers, %v with one", i, x, workers, before[i])
			}
		}
		before = append(before, got...)
	}
}
