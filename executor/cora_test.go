package executor_test

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// coraViews is the model of surface/gcn_cora_model.sql.
var coraViews = map[string]string{
	"xw": "SELECT f.node, sum(dropout(f.value, 0.5) * w0.v) AS v FROM feature f JOIN w0 USING (feature) GROUP BY " +
		"f.node",
	"hidden": "SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h FROM adj a JOIN xw ON xw.node = a.src GROUP BY a.dst",
	"logits": "SELECT a.dst AS node, sum(a.weight * matmul(dropout(h.h, 0.5), w1.v)) AS z FROM adj a JOIN hidden h ON " +
		"h.node = a.src CROSS JOIN w1 GROUP BY a.dst",
	"loss": "SELECT avg(cross_entropy(z, label)) + 5e-4 * 0.5 * (SELECT sum(sqnorm(v)) FROM w0) AS loss " +
		"FROM logits NATURAL JOIN node WHERE split = 'train'",
}

// cora reads the graph as the script's tables hold it: real values, weights by Glorot's rule.
func cora(t testing.TB) *memdb.DB {
	dir := filepath.Join(need.Data(t), "cora")
	db := memdb.New()
	load := func(table, file string, key int, cols string) {
		rows := need.CSV(t, filepath.Join(dir, file))
		var out []memdb.Column
		for i, c := range strings.Fields(cols) {
			kind := map[byte]kernels.Kind{'i': kernels.Int, 't': kernels.Text, 'r': kernels.Float32}[c[0]]
			v := column.New(kernels.Type{Kind: kind}, len(rows))
			for r, row := range rows {
				switch kind {
				case kernels.Int:
					v.I64()[r], _ = strconv.ParseInt(row[i], 10, 64)
				case kernels.Text:
					v.Texts()[r] = row[i]
				default:
					x, _ := strconv.ParseFloat(row[i], 32)
					v.F32()[r] = float32(x)
				}
			}
			out = append(out, memdb.Column{Name: c[2:], Data: v})
		}
		db.Create(table, key, out...)
	}
	load("node", "nodes.csv.gz", 1, "i:node i:label t:split")
	load("adj", "adj_norm.csv.gz", 2, "i:src i:dst r:weight")
	load("feature", "features.csv.gz", 2, "i:node i:feature r:value")
	normalize(db.Data["feature"])
	glorot := func(name string, rows, in, out int, shape ...int) {
		id := column.New(kernels.Type{Kind: kernels.Int}, rows)
		v := column.New(kernels.Type{Kind: kernels.Float32, Shape: shape}, rows)
		for i := range v.F32() {
			v.F32()[i] = float32((2*tensor.Uniform(1, tensor.HashKey(int64(in)), i) - 1) * 0.06)
		}
		for i := range id.I64() {
			id.I64()[i] = int64(i)
		}
		db.Create(
			name,
			1,
			memdb.Column{Name: map[string]string{"w0": "feature", "w1": "id"}[name], Data: id},
			memdb.Column{Name: "v", Data: v},
		)
	}
	glorot("w0", 1433, 1433, 16, 16)
	glorot("w1", 1, 16, 7, 16, 7)
	for name, sql := range coraViews {
		if err := db.AddView(name, sql); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func normalize(feature []*column.Column) {
	sum := map[int64]float32{}
	for i, n := range feature[0].I64() {
		sum[n] += feature[2].F32()[i]
	}
	for i, n := range feature[0].I64() {
		feature[2].F32()[i] /= sum[n]
	}
}

func coraPlan(t testing.TB, db *memdb.DB) *ra.Plan {
	res, err := gradtest.Optimize(context.Background(), db, "loss", []string{"w0", "w1"}, optimizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Plan
}

// TestCora compares single with double precision, and prints the plan with -v.
func TestCora(t *testing.T) {
	t.Parallel()
	db, ctx := cora(t), context.Background()
	plan := coraPlan(t, db)
	env := kernels.Env{Seed: 1, Step: 3}
	var loss []float64
	for _, wide := range []bool{false, true} {
		p, err := executor.CompileOn(ctx, plan, db, executor.Options{Force64: wide})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.Run(ctx, env); err != nil {
			t.Fatal(err)
		}
		x, null, err := p.Scalar(0)
		if err != nil || null {
			t.Fatal(null, err)
		}
		loss = append(loss, x)
		if !wide {
			t.Log("\n" + plan.Format() + p.Explain())
		}
	}
	if d := loss[0] - loss[1]; d > 1e-6 || d < -1e-6 {
		t.Errorf("loss %v in single, %v in double precision", loss[0], loss[1])
	}
}

// BenchmarkCora is one training step: forward and both gradients, with new dropout masks.
func BenchmarkCora(b *testing.B) {
	db, ctx := cora(b), context.Background()
	plan := coraPlan(b, db)
	for _, workers := range []int{1, 2} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			p, err := executor.CompileOn(ctx, plan, db, executor.Options{Workers: workers, Many: workers > 1})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			step := int64(0)
			for b.Loop() {
				step++
				if err := p.Run(ctx, kernels.Env{Step: step}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
