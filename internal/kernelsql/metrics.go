package kernelsql

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Metric is a query of a metric and what it gives: a number, NaN for NULL, or an error with SQLSTATE 22023.
type Metric struct {
	SQL  string
	Want float64
	Err  string
}

// Metrics are queries whose results stand here or are computed by definition: over all pairs of rows, or over all
// orders of rows with one score.
func Metrics() []Metric {
	const (
		labels = " FROM (VALUES (1, 1), (0, 1), (1, 0), (0, 0), (1, 1), (NULL, 1), (1, NULL)) v(p, y)"
		texts  = " FROM (VALUES ('a', 'a'), ('b', 'a'), (NULL, 'b')) v(p, y)"
		// The numbers are those of the examples in scikit-learn's manual, of roc_auc_score and ndcg_score.
		scores    = " FROM (VALUES (0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1), (NULL, 0), (0.9, NULL)) v(p, y)"
		relevance = " FROM (VALUES (0.1, 10), (0.2, 0), (0.3, 0), (4, 1), (70, 5)) v(p, y)"
		tied      = " FROM (VALUES (1, 10), (0, 0), (0, 0), (0, 1), (1, 5)) v(p, y)"
	)
	nan := math.NaN()
	out := []Metric{
		{SQL: "accuracy(p, y)" + labels, Want: 0.6}, {SQL: "accuracy(p = 1, y)" + labels, Want: 0.6},
		{SQL: "accuracy(p = 1, y = 1)" + labels, Want: 0.6}, {SQL: "accuracy(p, y)" + texts, Want: 0.5},
		{SQL: "accuracy(p / 2.0, y / 2.0)" + labels, Want: 0.6}, {SQL: "accuracy(p::text, y::text)" + labels, Want: 0.6},
		{SQL: "accuracy(1, 1) WHERE false", Want: nan}, {SQL: "accuracy(p, y) FILTER (WHERE y = 0)" + labels, Want: 0.5},
		{SQL: "rmse(p, y)" + labels, Want: math.Sqrt(0.4)}, {SQL: "rmse(p::real, y::numeric)" + labels, Want: math.Sqrt(0.4)},
		{SQL: "rmse(1, 1) WHERE false", Want: nan},
		{SQL: "f1(p, y)" + labels, Want: 4.0 / 6}, {SQL: "f1(p > 0.5, y)" + labels, Want: 4.0 / 6},
		{SQL: "f1(p > 0.5, y > 0.5)" + labels, Want: 4.0 / 6}, {SQL: "f1(0, 0)", Want: 0}, {SQL: "f1(0, 1)", Want: 0},
		{SQL: "f1(1, 1) WHERE false", Want: nan},
		{SQL: "auc(p, y)" + scores, Want: 0.75}, {SQL: "auc(p, y = 1)" + scores, Want: 0.75},
		{SQL: "auc(p, y)" + labels, Want: (2 + 0.5*3) / 6}, {SQL: "auc(0.3, 1)", Want: nan},
		{SQL: "auc(1, 1) WHERE false", Want: nan}, {SQL: "auc('Infinity'::double precision * p, y)" + labels +
			" WHERE p > 0", Want: 0.5},
		{SQL: "log_loss(p, y)" + scores, Want: -(math.Log(0.9) + math.Log(0.6) + math.Log(0.35) + math.Log(0.8)) / 4},
		{SQL: "log_loss(p, y = 1)" + scores, Want: -(math.Log(0.9) + math.Log(0.6) + math.Log(0.35) + math.Log(0.8)) / 4},
		{SQL: "log_loss(0, 1)", Want: 52 * math.Ln2}, {SQL: "log_loss(1, 0)", Want: 52 * math.Ln2},
		{SQL: "log_loss(1, 1)", Want: 0x1p-52}, {SQL: "log_loss(1, 1) WHERE false", Want: nan},
		{SQL: "ndcg(p, y)" + relevance, Want: 0.6956940443813076}, {SQL: "ndcg(p, y, 1)" + tied, Want: 0.75},
		{SQL: "ndcg(p, y, 100)" + relevance, Want: 0.6956940443813076}, {SQL: "ndcg(1, 0)", Want: 0},
		{SQL: "ndcg(1, 2)", Want: 1}, {SQL: "ndcg(1, 1) WHERE false", Want: nan},
		{SQL: "accuracy(true, 2)", Err: "accuracy: the label 2 is neither 0 nor 1"},
		{SQL: "f1(0.5, 1)", Err: "f1: the label 0.5 is neither 0 nor 1"},
		{SQL: "f1(1, -1)", Err: "f1: the label -1 is neither 0 nor 1"},
		{SQL: "auc(1, 2)", Err: "auc: the label 2 is neither 0 nor 1"},
		{SQL: "log_loss(0.5, 0.5)", Err: "log_loss: the label 0.5 is neither 0 nor 1"},
		{SQL: "log_loss(1.5, 1)", Err: "log_loss: the probability 1.5 is not in 0 to 1"},
		{SQL: "log_loss(-0.5, 1)", Err: "log_loss: the probability -0.5 is not in 0 to 1"},
		{SQL: "ndcg(1, -1)", Err: "ndcg: the relevance -1 is not a finite number of at least 0"},
		{SQL: "ndcg(1, 'Infinity'::double precision)",
			Err: "ndcg: the relevance Infinity is not a finite number of at least 0"},
		{SQL: "ndcg(1, 1, 0)", Err: "ndcg: k is 0, not at least 1"},
		{SQL: "ndcg(1, 1, k) FROM generate_series(3, 4) k", Err: "ndcg: k is 3 and 4 in one group"},
	}
	r := rand.New(rand.NewPCG(7, 11))
	for range 12 {
		out = append(out, drawn(r)...)
	}
	return out
}

// drawn are metrics of a few rows with equal scores among them.
func drawn(r *rand.Rand) []Metric {
	n, k := 3+r.IntN(5), 1+r.IntN(4)
	p, y, rows := make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		p[i], y[i] = float64(r.IntN(4))/4, float64(r.IntN(4))
		rows[i] = fmt.Sprintf("(%v::double precision, %v::double precision)", p[i], y[i])
	}
	from := " FROM (VALUES " + strings.Join(rows, ", ") + ") v(p, y)"
	wins, pairs := 0.0, 0.0
	for i := range n {
		for j := range n {
			if y[i] > 1 && y[j] <= 1 {
				pairs++
				switch {
				case p[i] > p[j]:
					wins++
				case p[i] == p[j]:
					wins += 0.5
				}
			}
		}
	}
	best := slices.Clone(y)
	slices.Sort(best)
	slices.Reverse(best)
	ideal := func(k int) float64 {
		if best[0] == 0 {
			return 1
		}
		return gainOf(best, k)
	}
	return []Metric{{SQL: "auc(p, y > 1)" + from, Want: wins / pairs},
		{SQL: "ndcg(p, y)" + from, Want: meanGain(p, y, n) / ideal(n)},
		{SQL: fmt.Sprintf("ndcg(p, y, %d)", k) + from, Want: meanGain(p, y, k) / ideal(k)}}
}

// meanGain is the mean gain over all orders of the rows in which scores do not rise.
func meanGain(p, y []float64, k int) float64 {
	sum, orders := 0.0, 0.0
	var place func(at []int)
	place = func(at []int) {
		if len(at) == len(p) {
			gains := make([]float64, len(at))
			for i, row := range at {
				gains[i] = y[row]
			}
			sum, orders = sum+gainOf(gains, k), orders+1
			return
		}
		top := math.Inf(-1)
		for i := range p {
			if !slices.Contains(at, i) {
				top = max(top, p[i])
			}
		}
		for i := range p {
			if !slices.Contains(at, i) && p[i] == top {
				place(append(slices.Clone(at), i))
			}
		}
	}
	place(nil)
	return sum / orders
}

func gainOf(y []float64, k int) (sum float64) {
	for i := range min(k, len(y)) {
		sum += y[i] / math.Log2(float64(i)+2)
	}
	return sum
}
