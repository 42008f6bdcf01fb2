package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/tensor"
)

// scriptLoss is a script with the loss and parameters that it trains.
type scriptLoss struct {
	file   string // below examples or the surface folder
	data   bool
	loss   string
	params []string
	before string // statements that make the loss smaller or fill its batch, before it is looked at
}

var exampleLosses = []scriptLoss{
	{"gcn/karate.sql", false, "loss", []string{"w0", "w1"}, ""},
	{"gcn/cora.sql", true, "loss", []string{"w0", "w1"}, ""},
	{"nnmf/lowrank.sql", false, "loss", []string{"w", "h"}, ""},
	{"nnmf/movies.sql", true, "loss", []string{"taste", "trait"}, ""},
	{"logreg/breast_cancer.sql", true, "loss", []string{"model"}, ""},
	{"gcn/sampled.sql", true, "sampled_loss", []string{"w0", "w1"}, fewNeighbours},
	{"nnmf/genes.sql", true, "loss", []string{"w", "h"}, ""},
	{"mlp/digits.sql", true, "loss", []string{"layer1", "layer2"}, ""},
	{"attention/attention.sql", false, "loss", []string{"wq", "wk", "wv", "wo"}, ""},
	{"attention/language_model.sql", false, "loss", []string{"embedding", "head", "dense"},
		"DELETE FROM block WHERE b >= 8"},
	{"kge/transe.sql", true, "loss", []string{"entity", "relation"}, fewTriples},
	{"kge/transr.sql", true, "loss", []string{"entity", "relation"}, fewTriples},
}

// fewNeighbours leaves a small graph: SQLite runs the semi-joins of the SQL text as nested loops.
const fewNeighbours = "DELETE FROM neighbour WHERE dst > 20; DELETE FROM feature WHERE node > 200"

// fewTriples takes the place of a mini-batch, which a loss has in training only.
const fewTriples = "DELETE FROM triple WHERE (h + t) % 200 <> 0"

// oneBatch makes what before_step would.
const oneBatch = `INSERT INTO batch SELECT row_number() OVER (ORDER BY h, r, t), h, r, t, (h + t) % 2034, t ` +
	`FROM train_triple WHERE (h + t) % 200 = 0`

var surfaceLosses = []scriptLoss{
	{"gcn_karate.sql", false, "loss", []string{"w0", "w1"}, ""},
	{"gcn_cora.sql", true, "loss", []string{"w0", "w1"}, ""},
	{"nnmf_lowrank.sql", false, "loss", []string{"w", "h"}, ""},
	{"nnmf_movies.sql", true, "loss", []string{"taste", "trait"}, ""},
	{"logreg_breast_cancer.sql", true, "loss", []string{"model"}, ""},
	{"matrix_product.sql", false, "product_loss", []string{"a", "b"}, ""},
	{"matrix_product.sql", false, "chain_loss", []string{"a", "b", "c", "d", "e"}, ""},
	{"matrix_product.sql", false, "chain_loss2", []string{"a", "d"}, ""},
	{"attention.sql", false, "loss", []string{"wq", "wk", "wv", "wo"}, ""},
	{"mlp_digits.sql", true, "loss", []string{"layer1", "layer2"}, ""},
	{"kge_transe.sql", true, "loss", []string{"entity", "relation"}, oneBatch},
	{"kge_transe_view.sql", true, "loss", []string{"entity", "relation"},
		"DELETE FROM train_triple WHERE (h + t) % 20 <> 0"},
	{"kge_transr.sql", true, "loss", []string{"entity", "relation", "projection"}, oneBatch},
}

// eachLoss runs every script up to its first train or DO and calls f.
func eachLoss(t *testing.T, f func(t *testing.T, db *relgrad.DB, l scriptLoss)) {
	visit := func(dir, kind string, list []scriptLoss) {
		for _, l := range list {
			t.Run(kind+"/"+strings.TrimSuffix(l.file, ".sql")+"/"+l.loss, func(t *testing.T) {
				s := source{script: filepath.Join(dir, l.file), vars: variables{"seed": "1"}}
				if l.data {
					s.vars["data"] = need.Data(t)
				}
				db, err := s.openScript(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if l.before != "" {
					for _, stmt := range strings.Split(l.before, ";") {
						if _, err := db.Run(context.Background(), stmt); err != nil {
							t.Fatal(err)
						}
					}
				}
				f(t, db, l)
			})
		}
	}
	visit(filepath.Join(need.Root(), "examples"), "examples", exampleLosses)
	t.Run("surface", func(t *testing.T) { visit(need.Surface(t), "surface", surfaceLosses) })
}

// TestGradientsOfScripts checks 100 elements of every parameter of every script against central differences.
func TestGradientsOfScripts(t *testing.T) {
	eachLoss(t, func(t *testing.T, db *relgrad.DB, l scriptLoss) {
		step := int64(1)
		for _, p := range l.params {
			rows, err := db.Check(context.Background(), l.loss, p, relgrad.CheckOptions{Samples: 100, Step: &step, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				t.Errorf("%s: no element was checked", p)
			}
			for _, r := range rows {
				if !r.OK {
					t.Errorf("%s.%s %s element %d: analytic %.12g, numeric %.12g, error %.3g", p, r.Column, r.Key, r.Element,
						r.Analytic, r.Numeric, r.Error)
				}
			}
		}
	})
}

// TestSQLOfScripts runs the gradient's SQL text by itself on the store and compares its rows with gradient()'s.
// The draws of the text are those of seed 0 and step 0.
func TestSQLOfScripts(t *testing.T) {
	eachLoss(t, func(t *testing.T, db *relgrad.DB, l scriptLoss) {
		ctx, step := context.Background(), int64(0)
		text, err := db.Explain(ctx, l.loss, l.params, "sql")
		if err != nil {
			t.Fatal(err)
		}
		parts := store.SplitNative(text)
		if len(parts) != 1+len(l.params) {
			t.Fatalf("%d statements for a loss and %d gradients", len(parts), len(l.params))
		}
		for i, p := range l.params {
			want, err := db.Gradient(ctx, l.loss, p, &step, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := db.QueryNative(ctx, parts[i+1])
			if err != nil {
				t.Fatal(err)
			}
			compareRows(t, p, relgrad.ResultOf(want), got)
		}
	})
}

// compareRows compares results as sets of rows, real to 1e-5 of the largest value, keys exactly.
func compareRows(t *testing.T, what string, want, got *catalog.Result) {
	t.Helper()
	largest := 0.0
	index := func(r *catalog.Result, cols []catalog.ResultCol) map[string][]float64 {
		out := map[string][]float64{}
		for _, row := range r.Rows {
			k, vals := "", []float64{}
			for _, c := range cols {
				for j, name := range r.Cols {
					if name.Name != c.Name {
						continue
					}
					switch v := row[j].(type) {
					case float64:
						vals = append(vals, v)
					case *tensor.Tensor:
						vals = append(vals, v.Data...)
					default:
						k += "|" + strings.TrimSpace(tensorText(v))
					}
				}
			}
			for _, x := range vals {
				largest = math.Max(largest, math.Abs(x))
			}
			out[k] = vals
		}
		return out
	}
	a, b := index(want, want.Cols), index(got, want.Cols)
	if len(a) != len(b) || len(a) != len(want.Rows) {
		t.Fatalf("%s: gradient() has %d rows, the SQL text %d", what, len(a), len(b))
	}
	for k, x := range a {
		y, ok := b[k]
		if !ok || len(x) != len(y) {
			t.Fatalf("%s: row %s: gradient() has %d values, the SQL text %d", what, k, len(x), len(y))
		}
		for i := range x {
			if math.Abs(x[i]-y[i]) > 1e-5*largest {
				t.Fatalf("%s: row %s value %d: gradient() %g, SQL text %g", what, k, i, x[i], y[i])
			}
		}
	}
}

func tensorText(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return x
	case bool:
		if x {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(v)
}

// TestExplainStages: every stage of the Cora loss shows what it is for.
func TestExplainStages(t *testing.T) {
	s := source{script: filepath.Join(need.Root(), "examples", "gcn", "cora.sql"),
		vars: variables{"data": need.Data(t), "seed": "1"}}
	db, err := s.openScript(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for stage, words := range map[string][]string{
		"ra":       {"loss:", "Aggregate", "Join", "Scan w0", "cross_entropy"},
		"grad":     {"w0:", "w1:", "gradsum", "cross_entropy_slope"},
		"opt":      {"rules fired:", "EliminateAggregateOnKey", "EliminateSelfJoin", "ReduceBySemiJoin", "SemiJoin"},
		"physical": {"structure:", "once per run:", "each step:", "SpMM"},
		"sql":      {"WITH", "relgrad_matmul", "-- the gradient with respect to w0"},
		"chunks:4": {"4 kernel calls", "join", "left out", "rows are chosen"},
		"sites:4":  {"4 sites;", "min-sum elimination", "BCAST -> replicated: ", "partial(", "by(", "SHUF("},
	} {
		text, err := db.Explain(context.Background(), "loss", []string{"w0", "w1"}, stage)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("stage %s does not show %q", stage, w)
			}
		}
	}
}
