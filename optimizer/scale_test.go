package optimizer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
)

// shapes of large losses over the tables x (t, id, v), w (one, w) and p1, p2, … (id, x), by their size.
var shapes = map[string]func(db *memdb.DB, n int) (loss string, params []string){
	"recurrence": func(db *memdb.DB, n int) (string, []string) {
		return chain(db, n, "tanh(h.h * w.w + x.v)", "h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w",
			"SELECT avg(h * h) FROM h%d"), []string{"w"}
	},
	"recurrence, each step in the loss": func(db *memdb.DB, n int) (string, []string) {
		chain(db, n, "tanh(h.h * w.w + x.v)", "h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w",
			"SELECT avg(h * h) FROM h%d")
		return "SELECT " + terms(n, " + ", "(SELECT avg(h * h) FROM h%d)"), []string{"w"}
	},
	"recurrence, a union of all steps": func(db *memdb.DB, n int) (string, []string) {
		chain(db, n, "tanh(h.h * w.w + x.v)", "h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w",
			"SELECT avg(h * h) FROM h%d")
		return "SELECT avg(h * h) FROM (" + terms(n, " UNION ALL ", "SELECT h FROM h%d") + ") q", []string{"w"}
	},
	"a view read twice": func(db *memdb.DB, n int) (string, []string) {
		return chain(db, n, "tanh(h.h * w.w + g.h)",
			"h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w JOIN h%[1]d g ON g.id = x.id",
			"SELECT avg(h * h) FROM h%d"), []string{"w"}
	},
	"a view read twice, a row beside": func(db *memdb.DB, n int) (string, []string) {
		return chain(db, n, "tanh(h.h * w.w + g.h)",
			"h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w JOIN h%[1]d g ON g.id = x.id + 1",
			"SELECT avg(h * h) FROM h%d"), []string{"w"}
	},
	"a view and its mean": func(db *memdb.DB, n int) (string, []string) {
		return chain(db, n, "tanh(h.h * w.w + g.h)",
			"h%d h JOIN x ON x.id = h.id AND x.t = %d CROSS JOIN w CROSS JOIN (SELECT avg(h) AS h FROM h%[1]d) g",
			"SELECT avg(h * h) FROM h%d"), []string{"w"}
	},
	"layers": func(db *memdb.DB, n int) (string, []string) {
		var params []string
		loss := chain(db, n, "tanh(h.h * w.w + x.v)", "h%d h JOIN x ON x.id = h.id AND x.t = 0 CROSS JOIN w%d w",
			"SELECT avg(h * h) FROM h%d")
		for i := range n {
			params = append(params, fmt.Sprint("w", i+1))
			db.Create(params[i], 1, memdb.Column{Name: "one", Data: ints(1)}, memdb.Column{Name: "w", Data: floats(0.5)})
		}
		return loss, params
	},
	"sub-queries": func(_ *memdb.DB, n int) (string, []string) {
		return "SELECT " + terms(n, " + ", "(SELECT sum(x.v * w.w) FROM x CROSS JOIN w WHERE x.t <> %d)"), []string{"w"}
	},
	"parameters": func(db *memdb.DB, n int) (string, []string) {
		var params []string
		for i := range n {
			params = append(params, fmt.Sprint("p", i+1))
			db.Create(params[i], 1, memdb.Column{Name: "id", Data: ints(1, 2)}, memdb.Column{Name: "x", Data: floats(0.5, 0.25)})
		}
		return "SELECT " + terms(n, " + ", "(SELECT sum(x * x) FROM p%d)"), params
	},
	"a union": func(_ *memdb.DB, n int) (string, []string) {
		return "SELECT sum(q * q) FROM (" + terms(n, " UNION ALL ", "SELECT w * 2 AS q FROM w WHERE one <> %d") +
			") t", []string{"w"}
	},
	"conditions on groups": func(_ *memdb.DB, n int) (string, []string) {
		return "SELECT sum(g.s) FROM (SELECT x.t, sum(x.v * w.w) AS s FROM x CROSS JOIN w GROUP BY x.t) g WHERE " +
			terms(n, " AND ", "g.t <> %d"), []string{"w"}
	},
	"conditions": func(_ *memdb.DB, n int) (string, []string) {
		return "SELECT sum(x.v * w.w) FROM x CROSS JOIN w WHERE " + terms(n, " AND ", "x.t <> %d"), []string{"w"}
	},
}

// chain makes views h1 … hn, each over the one before.
func chain(db *memdb.DB, n int, step, from, loss string) string {
	must(db.AddView("h0", "SELECT id, v AS h FROM x WHERE t = 0"))
	for t := 1; t <= n; t++ {
		must(db.AddView(fmt.Sprint("h", t), "SELECT x.id, "+step+" AS h FROM "+fmt.Sprintf(from, t-1, t)))
	}
	return fmt.Sprintf(loss, n)
}

func terms(n int, sep, term string) string {
	t := make([]string, n)
	for i := range t {
		t[i] = fmt.Sprintf(term, i+1)
	}
	return strings.Join(t, sep)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func ints(v ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, v)
}

func floats(v ...float64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Float64}, v)
}

// large plans a loss of one of the shapes.
func large(ctx context.Context, shape string, n int, opt optimizer.Options) (*optimizer.Result, error) {
	db := memdb.New()
	db.Create("x", 2, memdb.Column{Name: "t", Data: ints(0, 1, 2)}, memdb.Column{Name: "id", Data: ints(1, 1, 1)},
		memdb.Column{Name: "v", Data: floats(1, 2, 3)})
	db.Create("w", 1, memdb.Column{Name: "one", Data: ints(1)}, memdb.Column{Name: "w", Data: floats(0.5)})
	loss, params := shapes[shape](db, n)
	return gradtest.Optimize(ctx, db, loss, params, opt)
}

// TestPlanningIsLinear: a loss of twice the size has twice as many nodes and columns, before and after it is optimized,
// and rules look at twice as many nodes.
func TestPlanningIsLinear(t *testing.T) {
	for shape := range shapes {
		var nodes, tried, fired, cols, bound [2]int
		for i, n := range []int{40, 80} {
			res, err := large(context.Background(), shape, n, optimizer.Options{Tried: &tried[i]})
			if err != nil {
				t.Fatalf("%s: %v", shape, err)
			}
			ra.Walk(func(n *ra.Node) { nodes[i], cols[i] = nodes[i]+1, cols[i]+len(n.Cols) }, res.Plan.Nodes()...)
			ra.Walk(func(n *ra.Node) { bound[i] += len(n.Cols) }, res.Grad.Nodes()...)
			for _, k := range res.Fired {
				fired[i] += k
			}
		}
		t.Logf("%s: nodes %d, columns %d, of %d before, rules tried %d, fired %d", shape, nodes, cols, bound, tried, fired)
		for what, k := range map[string][2]int{"nodes": nodes, "columns": cols, "columns before": bound, "rules tried": tried,
			"rules fired": fired} {
			if float64(k[1]) > 2.2*float64(k[0]) {
				t.Errorf("%s: %s grow from %d to %d", shape, what, k[0], k[1])
			}
		}
	}
}

// TestThousandsArePlanned: a loss with five times as many sub-queries, parameters or conditions takes hardly more than
// five times the memory. Memory measures the work in the same way on every machine.
func TestThousandsArePlanned(t *testing.T) {
	bytes := func(shape string, n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := large(context.Background(), shape, n, optimizer.Options{}); err != nil {
			t.Fatalf("%s: %v", shape, err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, shape := range []string{"sub-queries", "parameters", "a union", "conditions", "conditions on groups"} {
		few, many := bytes(shape, 200), bytes(shape, 1000)
		t.Logf("%s: %.0f MB, %.0f MB", shape, few/1e6, many/1e6)
		if many > 10*few {
			t.Errorf("%s: planning 200 takes %.0f MB, 1,000 take %.0f MB", shape, few/1e6, many/1e6)
		}
	}
}

// TestLargePlansAreTheSame: the facts that are kept about a large plan while it changes stay true, and no rule is left
// that would fire.
func TestLargePlansAreTheSame(t *testing.T) {
	need.Time(t)
	for shape := range shapes {
		if _, err := large(context.Background(), shape, 34, optimizer.Options{Verify: true}); err != nil {
			t.Errorf("%s: %v", shape, err)
		}
	}
}

// TestPlanningIsCancelled: planning stops at the next node.
func TestPlanningIsCancelled(t *testing.T) {
	for shape := range shapes {
		ctx, cancel := context.WithCancel(context.Background())
		after := 0
		opt := optimizer.Options{Trace: func(string, *ra.Plan) {
			cancel()
			after++
		}}
		if _, err := large(ctx, shape, 64, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", shape, err)
		}
		if after > 19 { // each rule may still look once at the present node
			t.Errorf("%s: %d rules fired after it was cancelled", shape, after)
		}
	}
}

// BenchmarkLarge plans losses of the shapes.
func BenchmarkLarge(b *testing.B) {
	for shape := range shapes {
		for _, n := range []int{50, 200} {
			b.Run(fmt.Sprintf("%s/n=%d", strings.ReplaceAll(shape, " ", "-"), n), func(b *testing.B) {
				for b.Loop() {
					if _, err := large(context.Background(), shape, n, optimizer.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
