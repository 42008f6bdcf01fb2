package bench

import (
	"context"
	"math"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// matrix is a dense matrix of float64; a vector has one row.
type matrix struct {
	rows, cols int
	v          []float64
}

func (a matrix) at(i, j int) float64 { return a.v[i*a.cols+j] }

func (a matrix) row(i int) matrix { return matrix{1, a.cols, a.v[i*a.cols : (i+1)*a.cols]} }

// build makes a matrix of f(i, j).
func build(rows, cols int, f func(i, j int) float64) matrix {
	a := matrix{rows, cols, make([]float64, rows*cols)}
	for i := range a.v {
		a.v[i] = f(i/cols, i%cols)
	}
	return a
}

func (a matrix) times(b matrix) matrix {
	return build(a.rows, b.cols, func(i, j int) (s float64) {
		for k := range a.cols {
			s += a.at(i, k) * b.at(k, j)
		}
		return s
	})
}

func (a matrix) plus(b matrix, factor float64) matrix { // b: as large, or a row for all rows
	return build(a.rows, a.cols, func(i, j int) float64 { return a.at(i, j) + factor*b.at(i%b.rows, j) })
}

func (a matrix) transposed() matrix {
	return build(a.cols, a.rows, func(i, j int) float64 { return a.at(j, i) })
}

func (a matrix) relu() matrix {
	return build(a.rows, a.cols, func(i, j int) float64 { return max(a.at(i, j), 0) })
}

// softmax is that of each row.
func (a matrix) softmax() matrix {
	return build(a.rows, a.cols, func(i, j int) float64 { return math.Exp(a.at(i, j) - a.row(i).logSum()) })
}

func (a matrix) logSum() float64 {
	s := 0.0
	for _, x := range a.v {
		s += math.Exp(x)
	}
	return math.Log(s)
}

func (a matrix) squares() (s float64) {
	for _, x := range a.v {
		s += x * x
	}
	return s
}

// kept are a dataset's tables.
type kept struct{ *dataset }

func (k kept) column(table, name string) Column {
	for _, c := range k.dataset.kept[table] {
		if c.Name == name {
			return c
		}
	}
	panic(table + "." + name)
}

func (k kept) ints(table, name string) []int32 { return k.column(table, name).Data.([]int32) }

// chunks are the chunks of a column as matrices; numbers are matrices of one element.
func (k kept) chunks(table, name string) (all []matrix) {
	c := k.column(table, name)
	shape := append([]int{c.Shape[0]}, 1, 1)
	copy(shape[3-len(c.Shape[1:]):], c.Shape[1:])
	data := c.Data.([]float32)
	for i := range shape[0] {
		n := shape[1] * shape[2]
		all = append(all, build(shape[1], shape[2], func(r, q int) float64 { return float64(data[i*n+r*shape[2]+q]) }))
	}
	return all
}

// whole is a column as one matrix.
func (k kept) whole(table, name string) matrix {
	c := k.column(table, name)
	rows, cols := 1, c.Shape[len(c.Shape)-1]
	if len(c.Shape) > 1 {
		rows = len(c.Data.([]float32)) / cols
	}
	return build(rows, cols, func(i, j int) float64 { return float64(c.Data.([]float32)[i*cols+j]) })
}

// dense puts the blocks of a table together.
func (k kept) dense(table string) matrix {
	i, j, v := k.ints(table, "i"), k.ints(table, "j"), k.chunks(table, "v")
	n, side, wide := len(v)-1, v[0].rows, v[0].cols
	return build((int(i[n])+1)*side, (int(j[n])+1)*wide, func(r, c int) float64 {
		return v[r/side*(int(j[n])+1)+c/wide].at(r%side, c%wide)
	})
}

// crossEntropy is the mean over rows of logits, of those that mean takes.
func crossEntropy(z matrix, label []int32, take func(i int) bool) float64 {
	sum, n := 0.0, 0.0
	for i := range z.rows {
		if take(i) {
			sum, n = sum+z.row(i).logSum()-z.at(i, int(label[i])), n+1
		}
	}
	return sum / n
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// references are the losses of the initial parameters, without dropout, as loops over float64.
var references = map[string]func(k kept) float64{
	"gcn": func(k kept) float64 {
		x := k.whole("node", "x")
		dst, src, weight := k.ints("adj", "dst"), k.ints("adj", "src"), k.whole("adj", "weight")
		spread := func(h matrix) matrix {
			out := build(h.rows, h.cols, func(i, j int) float64 { return 0 })
			for e := range dst {
				for j := range h.cols {
					out.v[int(dst[e])*h.cols+j] += weight.v[e] * h.at(int(src[e]), j)
				}
			}
			return out
		}
		h := spread(x.times(k.whole("layer1", "w"))).plus(k.whole("layer1", "b"), 1).relu()
		z := spread(h.times(k.whole("layer2", "w"))).plus(k.whole("layer2", "b"), 1)
		return crossEntropy(z, k.ints("node", "label"), func(i int) bool {
			return k.column("node", "train").Data.([]bool)[i]
		})
	},
	"nnmf": func(k kept) (loss float64) {
		i, j, w, h := k.ints("a", "i"), k.ints("a", "j"), k.chunks("w", "v"), k.chunks("h", "v")
		for n, a := range k.chunks("a", "v") {
			loss += a.plus(w[i[n]].times(h[j[n]]), -1).squares()
		}
		return loss
	},
	"ratings": func(k kept) (loss float64) {
		u, i, r, taste, trait := k.ints("rating", "usr"), k.ints("rating", "item"), k.whole("rating", "rating"),
			k.whole("taste", "v"), k.whole("trait", "v")
		for n := range u {
			loss += math.Pow(r.v[n]-taste.row(int(u[n])).times(trait.row(int(i[n])).transposed()).v[0], 2)
		}
		return loss / float64(len(u))
	},
	"lstm": func(k kept) float64 {
		x, y := k.whole("token", "x"), k.whole("goal", "y")
		units, length, loss := y.cols, x.rows/y.rows, 0.0
		for s := range y.rows {
			h, c := make([]float64, units), make([]float64, units)
			for t := range length {
				gate := func(name string, j int) float64 {
					w, u, z := k.whole("cell", "w"+name), k.whole("cell", "u"+name), k.whole("cell", "b"+name).v[j]
					for i := range units {
						z += x.at(s*length+t, i)*w.at(i, j) + h[i]*u.at(i, j)
					}
					return z
				}
				next := make([]float64, units)
				for j := range units {
					c[j] = sigmoid(gate("f", j))*c[j] + sigmoid(gate("i", j))*math.Tanh(gate("g", j))
					next[j] = sigmoid(gate("o", j)) * math.Tanh(c[j])
				}
				h = next
			}
			for j := range units {
				loss += (h[j] - y.at(s, j)) * (h[j] - y.at(s, j))
			}
		}
		return loss / float64(y.rows)
	},
	"logreg": func(kept) float64 { return math.Log(2) }, // of weights 0
	"running": func(k kept) (loss float64) { // of steps of length 0
		y := k.whole("walk", "y")
		return y.squares() / float64(len(y.v))
	},
	"mlp": func(k kept) float64 {
		h := k.whole("image", "x").times(k.whole("layer1", "w")).plus(k.whole("layer1", "b"), 1).relu()
		return crossEntropy(h.times(k.whole("layer2", "w")).plus(k.whole("layer2", "b"), 1),
			k.ints("image", "label"), func(int) bool {
				return true
			})
	},
	"transe": translations,
	"transr": translations,
	"attention": func(k kept) float64 {
		x, y, out := k.whole("sequence", "x"), k.whole("sequence", "y"), matrix{}
		wq, wk, wv, wo := k.chunks("head", "wq"), k.chunks("head", "wk"), k.chunks("head", "wv"), k.chunks("head", "wo")
		for n := range wq {
			scores := x.times(wq[n]).times(x.times(wk[n]).transposed())
			scale := 1 / math.Sqrt(float64(wq[n].cols))
			p := build(scores.rows, scores.cols, func(i, j int) float64 { return scale * scores.at(i, j) }).softmax()
			if o := p.times(x.times(wv[n])).times(wo[n]); n == 0 {
				out = o
			} else {
				out = out.plus(o, 1)
			}
		}
		return out.plus(y, -1).squares() / float64(len(y.v))
	},
	"product": func(k kept) float64 { return k.dense("a").times(k.dense("b")).squares() },
	"chain":   chain, "chain_skewed": chain,
}

func chain(k kept) float64 {
	return k.dense("a").times(k.dense("b")).plus(k.dense("c").times(k.dense("d").times(k.dense("e"))), 1).squares()
}

// translations is the loss of TransE, or where relations have matrices that of TransR.
func translations(k kept) (loss float64) {
	h, r, t, other := k.ints("triple", "h"), k.ints("triple", "r"), k.ints("triple", "t"), k.ints("wrong", "other")
	entity, relation := k.whole("entity", "v"), k.whole("relation", "v")
	seen := func(e, r int32) matrix { return entity.row(int(e)) }
	if k.size["space"] > 0 {
		m := k.chunks("relation", "m")
		seen = func(e, r int32) matrix { return entity.row(int(e)).times(m[r]) }
	}
	negatives := len(other) / len(h)
	for i := range h {
		q := seen(h[i], r[i]).plus(relation.row(int(r[i])), 1)
		d := math.Sqrt(q.plus(seen(t[i], r[i]), -1).squares())
		for _, o := range other[i*negatives : (i+1)*negatives] {
			loss += max(1+d-math.Sqrt(q.plus(seen(o, r[i]), -1).squares()), 0)
		}
	}
	return loss / float64(len(other))
}

// TestReferences compares the first loss with that of loops over float64, on little data, without dropout and draws.
func TestReferences(t *testing.T) {
	need.Time(t)
	plain := Values{"dropout": 0, "drawn": 1, "n": 64, "triples": 100, "batch": 100}
	for _, w := range Workloads {
		reference := references[w.Name]
		if reference == nil {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			v := w.values(small)
			if w.Name == "mlp" || w.Load == "kge" || w.Name == "gcn" {
				v = v.with(plain)
			}
			d := &dataset{dir: t.TempDir(), size: map[string]int{}, kept: map[string][]Column{}}
			for _, n := range w.Size {
				d.size[n.Name] = int(v[n.Name])
			}
			w.Data(d)
			run, err := runner(t).Ours(context.Background(), w, v, Limit{Steps: 3, Seconds: 60})
			if err != nil || d.err != nil {
				t.Fatal(err, d.err)
			}
			if want := reference(kept{d}); math.Abs(run.Loss[0]-want) > 1e-5*math.Abs(want) {
				t.Errorf("the first loss is %g, not %g", run.Loss[0], want)
			}
		})
	}
}
