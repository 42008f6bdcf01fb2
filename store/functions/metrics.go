package functions

import (
	"math"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/lite"
)

// Metrics of predictions. A row with a NULL is skipped. Booleans are the integers 0 and 1.

func skipped(a []lite.Cell) bool {
	return slices.ContainsFunc(a, func(c lite.Cell) bool { return c.IsNull() })
}

// labelOf reads a label.
func labelOf(c lite.Cell, metric string) (float64, error) {
	y := c.Float()
	if y != 0 && y != 1 {
		return 0, sqlerr.New(sqlerr.InvalidParameter, "%s: the label %s is neither 0 nor 1", metric, numberText(y))
	}
	return y, nil
}

func numberText(x float64) string { return columns.Format(x, "double precision") }

// mean is the state of a metric that is a mean.
type mean struct {
	noInverse
	n, sum float64
}

func (s *mean) add(x float64) { s.n, s.sum = s.n+1, s.sum+x }

// Value is NULL for no rows.
func (s *mean) Value(r lite.Result) error {
	if s.n == 0 {
		return nil
	}
	return giveStatistic(r, s.sum/s.n, false)
}

// accuracy(predicted, actual) takes numbers 0 and 1, or whether both are equal beside a 1.
type accuracy struct{ mean }

// Step adds a row.
func (s *accuracy) Step(a []lite.Cell) error {
	if skipped(a) {
		return nil
	}
	y, err := labelOf(a[1], "accuracy")
	if a[0].Float() == y {
		s.add(1)
	} else {
		s.add(0)
	}
	return err
}

type rootMean struct{ mean }

// Step adds a row.
func (s *rootMean) Step(a []lite.Cell) error {
	if !skipped(a) {
		d := a[0].Float() - a[1].Float()
		s.add(d * d)
	}
	return nil
}

// Value is NULL for no rows.
func (s *rootMean) Value(r lite.Result) error {
	if s.n == 0 {
		return nil
	}
	return giveStatistic(r, math.Sqrt(s.sum/s.n), false)
}

type logLoss struct{ mean }

const leastProbability = 0x1p-52

// Step adds -ln of the probability of what happened.
func (s *logLoss) Step(a []lite.Cell) error {
	if skipped(a) {
		return nil
	}
	p := a[0].Float()
	y, err := labelOf(a[1], "log_loss")
	if err != nil {
		return err
	}
	if !(p >= 0 && p <= 1) {
		return sqlerr.New(sqlerr.InvalidParameter, "log_loss: the probability %s is not in 0 to 1", numberText(p))
	}
	if p = min(max(p, leastProbability), 1-leastProbability); y == 1 {
		s.add(-math.Log(p))
	} else {
		s.add(-math.Log1p(-p))
	}
	return nil
}

type f1 struct {
	noInverse
	rows, hits, ones float64 // hits are rightly predicted to be 1; ones are 1 of either
}

// Step adds a row.
func (s *f1) Step(a []lite.Cell) error {
	if skipped(a) {
		return nil
	}
	p, err := labelOf(a[0], "f1")
	if err != nil {
		return err
	}
	y, err := labelOf(a[1], "f1")
	s.rows, s.hits, s.ones = s.rows+1, s.hits+p*y, s.ones+p+y
	return err
}

// Value is NULL for no rows, 0 where none is 1.
func (s *f1) Value(r lite.Result) error {
	switch {
	case s.ones > 0:
		r.Float(2 * s.hits / s.ones)
	case s.rows > 0:
		r.Float(0)
	}
	return nil
}

// ranked is the state of a metric of an order.
type ranked struct {
	noInverse
	pairs []scored
}

type scored struct{ score, y float64 }

func (s *ranked) add(score, y float64, metric string) error {
	s.pairs = append(s.pairs, scored{score, y})
	if len(s.pairs)*16 > columns.MaxState {
		return sqlerr.New(sqlerr.ProgramLimit, "%s: the rows of one group are larger than %d MiB", metric,
			columns.MaxState>>20)
	}
	return nil
}

// Heavy implements lite.Heavy.
func (s *ranked) Heavy() bool { return len(s.pairs)*16 > longBytes }

// ties calls f with the rows of each score, the greatest first, and how many rows are before them.
func (s *ranked) ties(f func(before int, rows []scored)) {
	slices.SortFunc(s.pairs, func(a, b scored) int { return order(b.score, a.score) })
	for from, to := 0, 0; from < len(s.pairs); from = to {
		for to < len(s.pairs) && s.pairs[to].score == s.pairs[from].score {
			to++
		}
		f(from, s.pairs[from:to])
	}
}

func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func total(rows []scored) (sum float64) {
	for _, r := range rows {
		sum += r.y
	}
	return sum
}

// auc is the share of the pairs of a 1 and a 0 in which the 1 has the greater score; half of those with one score.
type auc struct{ ranked }

// Step adds a row.
func (s *auc) Step(a []lite.Cell) error {
	if skipped(a) {
		return nil
	}
	y, err := labelOf(a[1], "auc")
	if err != nil {
		return err
	}
	return s.add(a[0].Float(), y, "auc")
}

// Value is NULL where all labels are equal.
func (s *auc) Value(r lite.Result) error {
	wins, ones := 0.0, 0.0 // wins counts halves, and all are whole numbers
	s.ties(func(_ int, rows []scored) {
		here := total(rows)
		wins += (float64(len(rows)) - here) * (2*ones + here)
		ones += here
	})
	if zeros := float64(len(s.pairs)) - ones; ones > 0 && zeros > 0 {
		r.Float(wins / (2 * ones * zeros))
	}
	return nil
}

// ndcg is the gain in the order of the scores over the greatest possible one, of the first k places.
type ndcg struct {
	ranked
	k int64 // 0: all
}

// Step adds a row.
func (s *ndcg) Step(a []lite.Cell) error {
	if skipped(a) {
		return nil
	}
	y, k, all := a[1].Float(), a[2].Int(), a[2].Kind() == lite.Text
	if all {
		k = 0
	}
	switch {
	case y < 0 || !finite(y):
		return sqlerr.New(sqlerr.InvalidParameter, "ndcg: the relevance %s is not a finite number of at least 0",
			numberText(y))
	case k < 1 && !all:
		return sqlerr.New(sqlerr.InvalidParameter, "ndcg: k is %d, not at least 1", k)
	case len(s.pairs) > 0 && k != s.k:
		return sqlerr.New(sqlerr.InvalidParameter, "ndcg: k is %d and %d in one group", s.k, k)
	}
	s.k = k
	return s.add(a[0].Float(), y, "ndcg")
}

// Value is 0 where nothing is relevant. Rows of one score have their mean relevance.
func (s *ndcg) Value(r lite.Result) error {
	if len(s.pairs) == 0 {
		return nil
	}
	k := len(s.pairs)
	if s.k > 0 {
		k = int(min(int64(k), s.k))
	}
	discount := func(place int) float64 {
		if place >= k {
			return 0
		}
		return 1 / math.Log2(float64(place)+2)
	}
	gain, best := 0.0, 0.0
	s.ties(func(before int, rows []scored) {
		d := 0.0
		for i := range rows {
			d += discount(before + i)
		}
		gain += total(rows) / float64(len(rows)) * d
	})
	slices.SortFunc(s.pairs, func(a, b scored) int { return order(b.y, a.y) })
	for i := range k {
		best += s.pairs[i].y * discount(i)
	}
	if best > 0 {
		gain /= best
	}
	return giveStatistic(r, gain, false)
}
