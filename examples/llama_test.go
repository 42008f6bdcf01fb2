package examples

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// Sizes of distributed/llama.sql: positions, attributes, numbers of a head, hidden units, and blocks of each.
const (
	llamaN, llamaA, llamaD, llamaF, llamaP = 32, 64, 16, 128, 4
)

// llamaTable is a table of distributed/llama.sql. A key is the number of a block, or tells matrices apart.
type llamaTable struct {
	keys        string
	block, size []int           // of one block; of all blocks together
	at          func([]int) int // where an element lies in the whole, by the keys and its places in the block
}

var (
	hidden = llamaTable{"b, s, a", []int{llamaN / llamaP, llamaA / llamaP}, []int{2, llamaN, llamaA}, func(k []int) int {
		return (k[0]*llamaN+k[1]*llamaN/llamaP+k[3])*llamaA + k[2]*llamaA/llamaP + k[4]
	}}
	norm = llamaTable{"a", []int{llamaA / llamaP}, []int{llamaA}, func(k []int) int { return k[0]*llamaA/llamaP + k[1] }}
	up   = llamaTable{"a, f", []int{llamaA / llamaP, llamaF / llamaP}, []int{llamaA, llamaF}, func(k []int) int {
		return (k[0]*llamaA/llamaP+k[2])*llamaF + k[1]*llamaF/llamaP + k[3]
	}}
	head = []int{llamaA / llamaP, llamaD}
)

var llamaTables = map[string]llamaTable{
	"x": hidden, "target": hidden, "output": hidden, "norm1": norm, "norm2": norm, "wgate": up, "wup": up,
	"wq": {"a, h", head, []int{4, llamaA, llamaD}, ofHead},
	"wk": {"a, g", head, []int{2, llamaA, llamaD}, ofHead},
	"wv": {"a, g", head, []int{2, llamaA, llamaD}, ofHead},
	"wo": {"h, a", []int{llamaD, llamaA / llamaP}, []int{4, llamaD, llamaA}, func(k []int) int {
		return (k[0]*llamaD+k[2])*llamaA + k[1]*llamaA/llamaP + k[3]
	}},
	"wdown": {"f, a", []int{llamaF / llamaP, llamaA / llamaP}, []int{llamaF, llamaA}, func(k []int) int {
		return (k[0]*llamaF/llamaP+k[2])*llamaA + k[1]*llamaA/llamaP + k[3]
	}},
}

func ofHead(k []int) int { return (k[1]*llamaA+k[0]*llamaA/llamaP+k[2])*llamaD + k[3] }

// TestLlama compares the output of distributed/llama.sql, at one site and at three, with the same block of a network
// computed here without blocks, in double precision, and its gradients with central differences of that.
func TestLlama(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a model")
	}
	for _, sites := range []string{"1", "3"} {
		t.Run(sites, func(t *testing.T) {
			values, gradients := readLlama(t, sites)
			out, loss := llama(values)
			for i, want := range out {
				if got := values["output"][i]; !(math.Abs(got-want) < 1e-5) {
					t.Fatalf("element %d of the output is %g, not %g", i, got, want)
				}
			}
			t.Logf("the loss is %g", loss)
			for _, name := range slices.Sorted(maps.Keys(gradients)) {
				w, g := values[name], gradients[name]
				for i := 0; i < len(w); i += len(w)/7 + 1 {
					const h = 1e-4
					was := w[i]
					w[i] = was + h
					_, up := llama(values)
					w[i] = was - h
					_, down := llama(values)
					w[i] = was
					if want := (up - down) / (2 * h); !(math.Abs(g[i]-want) < 1e-6+1e-4*math.Abs(want)) {
						t.Errorf("element %d of the gradient of %s is %g, not %g", i, name, g[i], want)
					}
				}
			}
		})
	}
}

// readLlama runs the script and returns the elements of its tables and of their gradients.
func readLlama(t *testing.T, sites string) (values, gradients map[string][]float64) {
	t.Helper()
	script := scriptFile(t, "\\i "+filepath.Join(need.Root(), "examples/distributed/llama.sql")+"\n"+llamaElements())
	_, text, found := strings.Cut(relgrad(t, "-q", "--format", "csv", "--sites", sites, script), "name,k1,k2,k3,i,j,v,g\n")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if !found || err != nil {
		t.Fatal(err)
	}
	values, gradients = map[string][]float64{}, map[string][]float64{}
	for name, table := range llamaTables {
		size := 1
		for _, n := range table.size {
			size *= n
		}
		values[name], gradients[name] = make([]float64, size), make([]float64, size)
	}
	for _, row := range rows {
		table := llamaTables[row[0]]
		var k []int
		for _, cell := range append(slices.Clone(row[1:2+strings.Count(table.keys, ",")]), row[4:6]...) {
			k = append(k, int(number(t, cell)))
		}
		values[row[0]][table.at(k)], gradients[row[0]][table.at(k)] = number(t, row[6]), number(t, row[7])
	}
	delete(gradients, "target")
	delete(gradients, "output")
	return values, gradients
}

// llamaElements is a query of all elements of all tables.
func llamaElements() string {
	var parts []string
	for name, table := range llamaTables {
		from, gradient, element := fmt.Sprintf("%[1]s t JOIN %[1]s_grad g USING (%[2]s)", name, table.keys), "g", "[i][j]"
		if name == "target" || name == "output" {
			from, gradient = name+" t", "t"
		}
		block := append(slices.Clone(table.block), 1)
		if len(table.block) == 1 {
			element = "[i]"
		}
		keys := strings.Split(table.keys+", 0, 0", ", ")
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS name, %s AS k1, %s AS k2, %s AS k3, i - 1 AS i, j - 1 AS j, "+
			"t.v%s AS v, %s.v%s AS g FROM %s, generate_series(1, %d) AS r(i), generate_series(1, %d) AS c(j)", name,
			keys[0], keys[1], keys[2], element, gradient, element, from, block[0], block[1]))
	}
	return strings.Join(parts, " UNION ALL ") + ";\n"
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// llama is the block without blocks: its output and the loss.
func llama(w map[string][]float64) ([]float64, float64) {
	out := make([]float64, 0, 2*llamaN*llamaA)
	for b := range 2 {
		x := w["x"][b*llamaN*llamaA:][:llamaN*llamaA]
		attended := slices.Clone(x)
		in := rmsNorm(x, w["norm1"])
		for h := range 4 {
			head := func(name string, h int) []float64 {
				return product(in, w[name][h*llamaA*llamaD:][:llamaA*llamaD], llamaA, llamaD)
			}
			o := causalAttention(rotated(head("wq", h)), rotated(head("wk", h/2)), head("wv", h/2))
			for i, v := range product(o, w["wo"][h*llamaD*llamaA:][:llamaD*llamaA], llamaD, llamaA) {
				attended[i] += v
			}
		}
		in = rmsNorm(attended, w["norm2"])
		gate, up := product(in, w["wgate"], llamaA, llamaF), product(in, w["wup"], llamaA, llamaF)
		for i, z := range gate {
			up[i] *= z / (1 + math.Exp(-z))
		}
		for i, v := range product(up, w["wdown"], llamaF, llamaA) {
			out = append(out, attended[i]+v)
		}
	}
	loss := 0.0
	for i, v := range out {
		loss += (v - w["target"][i]) * (v - w["target"][i]) / float64(len(out))
	}
	return out, loss
}

// product multiplies a matrix of any number of rows and of n columns by one of n rows and m columns.
func product(a, b []float64, n, m int) []float64 {
	out := make([]float64, len(a)/n*m)
	for i := range len(a) / n {
		for j := range n {
			for k := range m {
				out[i*m+k] += a[i*n+j] * b[j*m+k]
			}
		}
	}
	return out
}

func rmsNorm(x, weight []float64) []float64 {
	out := make([]float64, len(x))
	for s := 0; s < len(x); s += llamaA {
		squares := 0.0
		for _, v := range x[s : s+llamaA] {
			squares += v * v
		}
		for a, v := range x[s : s+llamaA] {
			out[s+a] = v / math.Sqrt(squares/llamaA+1e-5) * weight[a]
		}
	}
	return out
}

// rotated turns each pair (i, i + D/2) of a position.
func rotated(x []float64) []float64 {
	out := make([]float64, len(x))
	for s := range llamaN {
		for i := range llamaD / 2 {
			sin, cos := math.Sincos(float64(s) * math.Pow(10000, -2*float64(i)/llamaD))
			a, b := x[s*llamaD+i], x[s*llamaD+i+llamaD/2]
			out[s*llamaD+i], out[s*llamaD+i+llamaD/2] = a*cos-b*sin, b*cos+a*sin
		}
	}
	return out
}

func causalAttention(q, k, v []float64) []float64 {
	out := make([]float64, len(q))
	for s := range llamaN {
		weights, total := make([]float64, s+1), 0.0
		for t := range weights {
			for i := range llamaD {
				weights[t] += q[s*llamaD+i] * k[t*llamaD+i] / math.Sqrt(llamaD)
			}
			weights[t] = math.Exp(weights[t])
			total += weights[t]
		}
		for t, p := range weights {
			for i := range llamaD {
				out[s*llamaD+i] += p / total * v[t*llamaD+i]
			}
		}
	}
	return out
}
