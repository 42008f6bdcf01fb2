package executor_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/memdb"
)

// matrixModel makes random views over square matrices of numbers or of blocks.
type matrixModel struct {
	t     testing.TB
	rng   *rand.Rand
	db    *memdb.DB
	block int // numbers along a block's side, 1: the matrix is of scalars
	rels  []string
	text  []string
	made  map[string][]string // the words of each view
}

// reads reports whether a view reads a table, perhaps through others.
func (m *matrixModel) reads(view, table string) bool {
	return slices.ContainsFunc(m.made[view], func(w string) bool { return w == table || w != view && m.reads(w, table) })
}

func (m *matrixModel) pick(of ...string) string { return of[m.rng.Intn(len(of))] }

// rel is a table or one of the last views.
func (m *matrixModel) rel() string { return m.rels[max(0, m.rng.Intn(len(m.rels)+3)-3)] }

func (m *matrixModel) view(name, format string, args ...any) string {
	m.t.Helper()
	text := fmt.Sprintf(format, args...)
	m.text, m.made[name] = append(m.text, name+": "+text), strings.Fields(text)
	views(m.t, m.db, name, text)
	return name
}

func (m *matrixModel) turned(e string) string {
	if m.block == 1 {
		return e
	}
	return "transpose(" + e + ")"
}

func (m *matrixModel) times(a, b string) string {
	if m.block == 1 {
		return a + " * " + b
	}
	return "matmul(" + a + ", " + b + ")"
}

func (m *matrixModel) sum(e string) string {
	if m.block == 1 {
		return e
	}
	return "sum_elements(" + e + ")"
}

// table creates a matrix of n × n blocks: its rows in any order, one of them missing sometimes.
func (m *matrixModel) table(name string, n int) {
	at := m.rng.Perm(n * n)
	if m.rng.Intn(2) == 0 {
		for i := range at {
			at[i] = i
		}
	}
	if m.rng.Intn(7) == 0 {
		at = at[1:]
	}
	first, second := "r", "c"
	if m.rng.Intn(3) == 0 {
		first, second = second, first
	}
	shape := []int{m.block, m.block}
	if m.block == 1 {
		shape = nil
	}
	v := reals(m.rng, len(at), shape...)
	for i := range v.F32() {
		v.F32()[i] *= 5
	}
	m.db.Create(
		name,
		2,
		memdb.Column{Name: first, Data: ints(len(at), func(i int) int64 { return int64(at[i] / n) })},
		memdb.Column{
			Name: second,
			Data: ints(len(at), func(i int) int64 { return int64(at[i] % n) }),
		},
		memdb.Column{Name: "v", Data: v},
	)
	m.rels = append(m.rels, name)
}

// step adds a view: a product, also of transposes; an element-wise expression, also of a transpose; sums along an axis,
// read back along either; a product that is joined with itself under permuted keys.
func (m *matrixModel) step(i int) {
	a, b, name := m.rel(), m.rel(), fmt.Sprintf("v%d", i)
	g, on := m.pick("r", "c"), m.pick("r", "c")
	switch m.rng.Intn(9) {
	case 0:
		m.view(
			name,
			"SELECT x.r, y.c, sum(%s) AS v FROM %s x JOIN %s y ON x.c = y.r GROUP BY x.r, y.c",
			m.times("x.v", "y.v"),
			a,
			b,
		)
	case 1:
		m.view(
			name,
			"SELECT x.r, y.r AS c, sum(%s) AS v FROM %s x JOIN %s y ON x.c = y.c GROUP BY x.r, y.r",
			m.times("x.v", m.turned("y.v")),
			a,
			b,
		)
	case 2:
		m.view(
			name,
			"SELECT y.c AS r, x.c AS c, sum(%s) AS v FROM %s x JOIN %s y ON x.r = y.r GROUP BY y.c, x.c",
			m.times(m.turned("y.v"), "x.v"),
			a,
			b,
		)
	case 3:
		m.view(
			name,
			"SELECT x.r, x.c, x.v %s y.v AS v FROM %s x JOIN %s y ON x.r = y.r AND x.c = y.c",
			m.pick("+", "-", "*"),
			a,
			b,
		)
	case 4:
		m.view(
			name,
			"SELECT x.r, x.c, x.v %s %s AS v FROM %s x JOIN %s y ON x.r = y.c AND x.c = y.r",
			m.pick("+", "-", "*"),
			m.turned("y.v"),
			a,
			b,
		)
	case 5:
		m.view(name, "SELECT r, c, %s(v) AS v FROM %s", m.pick("tanh", "sigmoid"), a)
	case 6:
		s := m.view("s"+name, "SELECT %s AS g, sum(%s) AS s FROM %s GROUP BY %s", g, m.sum("v * v"), b, g)
		m.view(name, "SELECT x.r, x.c, x.v * (1 / (1 + s.s)) AS v FROM %s x JOIN %s s ON x.%s = s.g", a, s, on)
	case 7:
		p := m.view(
			"p"+name,
			"SELECT x.r, x.c AS k, y.c, %s AS v FROM %s x JOIN %s y ON x.c = y.r",
			m.times("x.v", "y.v"),
			a,
			b,
		)
		keys := []string{"r", "k", "c"}
		m.rng.Shuffle(3, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		m.view(
			name,
			"SELECT x.r, y.%s AS c, sum(x.v * y.v) / 4 AS v FROM %s x JOIN %s y ON x.r = y.%s AND x.k = y.%s AND x.c = y.%s "+
				"GROUP BY x.r, y.%s",
			on,
			p,
			p,
			keys[0],
			keys[1],
			keys[2],
			on,
		)
	default:
		s := m.view("s"+name, "SELECT %s AS g, sum(v) / 3 AS s FROM %s GROUP BY %s", g, b, g)
		m.view(name, "SELECT x.r, x.c, x.v %s s.s AS v FROM %s x JOIN %s s ON x.%s = s.g", m.pick("+", "*"), a, s, on)
	}
	m.rels = append(m.rels, name)
}

// TestRandomMatrices compares losses of random products, transposes and sums of matrices, and their gradients, with the
// oracle's.
func TestRandomMatrices(t *testing.T) {
	t.Parallel()
	tune := tuning.Default()
	executor.SmallGrids(tune)
	executor.SmallProducts(tune)
	for seed := range int64(60) {
		m := &matrixModel{t: t, rng: rand.New(rand.NewSource(seed)), db: memdb.New(), made: map[string][]string{}}
		m.block = []int{1, 1, 2, 3}[m.rng.Intn(4)]
		n := 2 + m.rng.Intn(4)
		params := []string{"m0", "m1"}
		for _, name := range params {
			m.table(name, n)
		}
		for i := range 2 + m.rng.Intn(4) {
			m.step(i)
		}
		last, other := m.rels[len(m.rels)-1], m.rel()
		switch m.rng.Intn(3) {
		case 0:
			m.view("loss", "SELECT sum(%s) AS loss FROM %s", m.sum("v * v"), last)
		case 1:
			m.view("loss", "SELECT avg(%s) AS loss FROM %s", m.sum("tanh(v)"), last)
		default:
			m.view(
				"loss",
				"SELECT sum(%s) AS loss FROM %s x JOIN %s y ON x.r = y.c AND x.c = y.r",
				m.sum("x.v * y.v"),
				last,
				other,
			)
		}
		read := slices.DeleteFunc(params, func(p string) bool { return !m.reads("loss", p) })
		besideOracle(
			t,
			fmt.Sprintf("seed %d:\n%s\n", seed, strings.Join(m.text, "\n")),
			m.db,
			read,
			executor.Options{Tuning: tune, Force64: true, Workers: 2},
			1e-8,
		)
		if t.Failed() {
			return
		}
	}
}
