package eindecomp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// page has the comparisons with the papers' tables.
const page = "bench/papers.md"

// times are the floats of the given plans over those of the least one, in two digits.
func (c *Case) times(t *testing.T) (out []string) {
	t.Helper()
	a, err := c.Solve(t.Context(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range a.Given {
		out = append(out, fmt.Sprintf("%s %.2f", g.Label, float64(g.Total)/float64(a.Optimal)))
	}
	return out
}

// cut is a plan in which each vertex has parts of one label, or of two.
func (d *Description) cut(label string, by func(op string) map[string]int64) GivenPlan {
	out := GivenPlan{Label: label, Plan: map[string]map[string]int64{}}
	for _, op := range d.Ops {
		parts := map[string]int64{}
		for _, l := range slices.Concat(op.InLabels...) {
			parts[l] = max(1, by(op.Name)[l])
		}
		out.Plan[op.Name] = parts
	}
	return out
}

// TestPaperChain: EinDecomp, section 9.2, experiment 1: the chain (A × B) + (C × (D × E)) of squares, and as skewed as
// there. SQRT cuts each result into √p × √p. Of squares both were as fast on GPUs, of skewed matrices EinDecomp's plan
// was twice as fast. What is least does not depend on the scale.
func TestPaperChain(t *testing.T) {
	for _, k := range []struct {
		name string
		j, m int64 // the sizes of j and l, and of m
	}{{"squares", 10240, 10240}, {"skewed", 1024, 102400}} {
		for _, p := range []int64{4, 16} {
			b := newBuilder(map[string]int64{"i": 10240, "j": k.j, "k": 10240, "l": k.j, "m": k.m})
			b.lines(`A[i,j]
				B[j,k]
				C[i,l]
				D[l,m]
				E[m,k]
				AB = A[i,j] B[j,k] -> i,k
				DE = D[l,m] E[m,k] -> l,k
				CDE = C[i,l] DE[l,k] -> i,k
				S = AB[i,k] CDE[i,k] -> i,k`, "")
			root := map[int64]int64{4: 2, 16: 4}[p]
			sqrt := b.cut("SQRT", func(op string) map[string]int64 {
				if op == "DE" {
					return map[string]int64{"l": root, "k": root}
				}
				return map[string]int64{"i": root, "k": root}
			})
			c := &Case{P: p, Graph: b.Description, Given: []GivenPlan{sqrt}}
			need.Row(t, page, "1: chain, "+k.name, fmt.Sprint(p, " parts"), strings.Join(c.times(t), ", "))
		}
	}
}

// TestPaperLLaMA: EinDecomp, section 9.2, experiment 3: a block of LLaMA of 7 billion parameters reads texts.
// "sequence" cuts the positions; "attention" the heads, where there are any; Megatron also the hidden units of the
// network, and the positions elsewhere, since each vertex has as many kernel calls. EinDecomp's plan was fastest, and
// sequence was always faster than Megatron.
func TestPaperLLaMA(t *testing.T) {
	for _, k := range []struct {
		what, cells string
		sizes       [][3]int64 // texts, positions, parts
	}{
		{"4,096 positions, 8 parts", "1, 2, 4, 8 texts", [][3]int64{{1, 4096, 8}, {2, 4096, 8}, {4, 4096, 8}, {8, 4096, 8}}},
		{"1,024 positions, 8 texts", "2, 4, 8 parts", [][3]int64{{8, 1024, 2}, {8, 1024, 4}, {8, 1024, 8}}},
		{"4,096 positions, 4 texts", "2, 4, 8 parts", [][3]int64{{4, 4096, 2}, {4, 4096, 4}, {4, 4096, 8}}},
	} {
		of := map[string][]string{}
		for _, size := range k.sizes {
			graph, p := llama(1), size[2]
			graph.Sizes["b"], graph.Sizes["s"], graph.Sizes["t"], graph.Sizes["f"] = size[0], size[1], size[1], 11008
			by := func(heads, units string) func(op string) map[string]int64 {
				return func(op string) map[string]int64 {
					switch name, _, _ := strings.Cut(op, "_"); {
					case slices.Contains([]string{"q", "k", "v", "T1", "T2", "c", "e", "s", "y", "o", "p"}, name):
						return map[string]int64{heads: p}
					case slices.Contains([]string{"gt", "up", "gs", "dn"}, name):
						return map[string]int64{units: p}
					}
					return map[string]int64{"s": p}
				}
			}
			c := &Case{P: p, Graph: *graph, Given: []GivenPlan{graph.cut("sequence", by("s", "s")),
				graph.cut("attention", by("h", "s")), graph.cut("Megatron", by("h", "f"))}}
			for _, text := range c.times(t) {
				name, times, _ := strings.Cut(text, " ")
				of[name] = append(of[name], times)
			}
		}
		row := []string{"3: LLaMA 7B, " + k.what, k.cells}
		var all []string
		for _, name := range []string{"sequence", "attention", "Megatron"} {
			all = append(all, name+" "+strings.Join(of[name], ", "))
		}
		need.Row(t, page, append(row, strings.Join(all, "; "))...)
	}
}
