package gradtest

import (
	"context"
	"math"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
)

func readColumn(t *testing.T, rows [][]string, col int, k kernels.Kind) *column.Column {
	t.Helper()
	v := column.New(kernels.Type{Kind: k}, len(rows))
	for i, r := range rows {
		var err error
		switch k {
		case kernels.Int:
			v.I64()[i], err = strconv.ParseInt(r[col], 10, 64)
		case kernels.Text:
			v.Texts()[i] = r[col]
		default:
			v.F64()[i], err = strconv.ParseFloat(r[col], 64)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// formula fills a row of the published check's weights: ((7919a + 104729b + 31ab + 13) mod 1009 − 504.3)/s.
func formula(a, b int, s float64) float64 {
	return (float64((7919*a+104729*b+31*a*b+13)%1009) - 504.3) / s
}

// coraDB holds Cora in double precision with the check's weights; features are divided by their row sum.
func coraDB(t *testing.T) *memdb.DB {
	dir := filepath.Join(need.Data(t), "cora")
	db := memdb.New()
	nodes, adj, feat := need.CSV(t, filepath.Join(dir, "nodes.csv.gz")),
		need.CSV(t, filepath.Join(dir, "adj_norm.csv.gz")), need.CSV(t, filepath.Join(dir, "features.csv.gz"))
	db.Create("node", 1, memdb.Column{Name: "node", Data: readColumn(t, nodes, 0, kernels.Int)},
		memdb.Column{Name: "label", Data: readColumn(t, nodes, 1, kernels.Int)},
		memdb.Column{Name: "split", Data: readColumn(t, nodes, 2, kernels.Text)})
	db.Create("adj", 2, memdb.Column{Name: "src", Data: readColumn(t, adj, 0, kernels.Int)},
		memdb.Column{Name: "dst", Data: readColumn(t, adj, 1, kernels.Int)},
		memdb.Column{Name: "weight", Data: readColumn(t, adj, 2, kernels.Float64)})
	node, value := readColumn(t, feat, 0, kernels.Int), readColumn(t, feat, 2, kernels.Float64)
	sum := map[int64]float64{}
	for i, n := range node.I64() {
		sum[n] += value.F64()[i]
	}
	for i, n := range node.I64() {
		value.F64()[i] /= sum[n]
	}
	db.Create("feature", 2, memdb.Column{Name: "node", Data: node},
		memdb.Column{Name: "feature", Data: readColumn(t, feat, 1, kernels.Int)}, memdb.Column{Name: "value", Data: value})
	ids, w0 := column.New(kernels.Type{Kind: kernels.Int}, 1433),
		column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{16}}, 1433)
	for a := range 1433 {
		ids.I64()[a] = int64(a)
		for b := range 16 {
			w0.F64()[a*16+b] = formula(a, b, 1000)
		}
	}
	db.Create("w0", 1, memdb.Column{Name: "feature", Data: ids}, memdb.Column{Name: "v", Data: w0})
	w1 := column.New(kernels.Type{Kind: kernels.Float64, Shape: []int{16, 7}}, 1)
	for a := range 16 {
		for b := range 7 {
			w1.F64()[a*7+b] = formula(a, b, 500)
		}
	}
	db.Create("w1", 1, memdb.Column{Name: "id", Data: ints(1)}, memdb.Column{Name: "v", Data: w1})
	for name, sql := range map[string]string{
		"xw": "SELECT f.node, sum(f.value * w0.v) AS v FROM feature f JOIN w0 USING (feature) GROUP BY f.node",
		"hidden": "SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h FROM adj a JOIN xw ON xw.node = a.src " +
			"GROUP BY a.dst",
		"logits": "SELECT a.dst AS node, sum(a.weight * matmul(h.h, w1.v)) AS z FROM adj a " +
			"JOIN hidden h ON h.node = a.src CROSS JOIN w1 GROUP BY a.dst",
		"loss": "SELECT avg(cross_entropy(z, label)) AS loss FROM logits NATURAL JOIN node WHERE split = 'train'",
	} {
		if err := db.AddView(name, sql); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func relative(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := math.Abs(got-want) / math.Abs(want); !(d <= 1e-12) {
		t.Errorf("%s is %.17g, published %.17g: off by %g", what, got, want, d)
	}
}

// TestCoraCheckNumbers compares loss and gradient norms with the published figures, by every plan.
func TestCoraCheckNumbers(t *testing.T) {
	db, ctx := coraDB(t), context.Background()
	for _, disable := range [][]string{nil, ruleNames()} {
		res, err := Optimize(ctx, db, "loss", []string{"w0", "w1"}, optimizer.Options{Disable: disable})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		p, err := executor.Compile(ctx, res.Plan, db, executor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		structure := time.Since(start)
		start = time.Now()
		const steps = 10
		for range steps {
			if err := p.Run(ctx, kernels.Env{}); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("rules off %v: structure %v, step %v", len(disable), structure, time.Since(start)/steps)
		loss, _, err := p.Scalar(0)
		if err != nil {
			t.Fatal(err)
		}
		relative(t, "loss", loss, 1.949002714844385)
		for i, want := range []float64{0.029493697837361346, 0.011422649564992306} {
			cols, err := p.Result(1 + i)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, x := range cols[1].F64() {
				sum += x * x
			}
			relative(t, "norm of the gradient of w"+strconv.Itoa(i), math.Sqrt(sum), want)
		}
	}
}
