package executor

import (
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

var plans = flag.Int("plans", 300, "random plans to try")

// Shapes of the random columns.
var (
	tInt  = kernels.Type{Kind: kernels.Int}
	tText = kernels.Type{Kind: kernels.Text}
	tF64  = kernels.Type{Kind: kernels.Float64}
	tF32  = kernels.Type{Kind: kernels.Float32}
	tVec  = kernels.Type{Kind: kernels.Float32, Shape: tensor.Shape{3}}
	tMat  = kernels.Type{Kind: kernels.Float64, Shape: tensor.Shape{3, 3}}
)

// generator makes random plans.
type generator struct {
	ints  [2]int64 // integers are ints[0] + k·ints[1] for small k: dense, sparse, negative
	rng   *rand.Rand
	src   *memory
	b     *ra.Builder
	nodes []*ra.Node
}

func (g *generator) vector(t kernels.Type, n int, nulls bool) *column.Column {
	v := column.New(t, n)
	for i := range v.I64() {
		v.I64()[i] = g.ints[0] + g.ints[1]*int64(g.rng.Intn(6))
	}
	for i := range v.F64() {
		v.F64()[i] = float64(g.rng.Intn(33)-16) / 8
	}
	for i := range v.F32() {
		v.F32()[i] = float32(g.rng.Intn(33)-16) / 8
	}
	for i := range v.Texts() {
		v.Texts()[i] = string(rune('a' + g.rng.Intn(4)))
	}
	for i := 0; nulls && i < n; i++ {
		if g.rng.Intn(5) == 0 {
			v.SetNull(i)
		}
	}
	return v
}

func (g *generator) table(name string) {
	n := []int{0, 1, 5, 12, 30}[g.rng.Intn(5)]
	key, gap := column.New(tInt, n), g.rng.Intn(3) == 0
	for i, r := range g.rng.Perm(n) {
		key.I64()[i] = g.ints[0] + g.ints[1]*int64(r)
		if gap && r > n/2 {
			key.I64()[i] += g.ints[1]
		}
	}
	cols := []*column.Column{key}
	for _, t := range []kernels.Type{tInt, tInt, tText, tF64, tF32, tVec, tMat} {
		cols = append(cols, g.vector(t, n, g.rng.Intn(3) == 0))
	}
	t := g.src.add(name, 1, cols...)
	param := g.rng.Intn(2) == 0
	g.nodes = append(g.nodes, g.b.Scan(t, func(int) bool { return param }))
}

// pick returns a random column of the inputs with the type, or nil.
func (g *generator) pick(in []*ra.Node, ok func(ra.Column) bool) *kernels.Expr {
	var found []*kernels.Expr
	for s, n := range in {
		for _, c := range n.Cols {
			if ok(c) {
				found = append(found, n.Var(s, c.ID))
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[g.rng.Intn(len(found))]
}

func is(t kernels.Type) func(ra.Column) bool {
	return func(c ra.Column) bool { return c.Type.Is(t) }
}

func fixed(t kernels.Type) func(ra.Column) bool {
	return func(c ra.Column) bool { return c.Type.Is(t) && !c.Dep }
}

func num(x float64) *kernels.Expr { return kernels.Num(x) }

func integer(i int64) *kernels.Expr { return kernels.Const(kernels.IntValue(i)) }

func (g *generator) int(in []*ra.Node, depth int, ok func(ra.Column) bool) *kernels.Expr {
	x := g.pick(in, ok)
	if x == nil || depth == 0 {
		if x == nil {
			return integer(2)
		}
		return x
	}
	y := g.int(in, depth-1, ok)
	switch g.rng.Intn(6) {
	case 0:
		return kernels.Build("add", x, y)
	case 1:
		return kernels.Build("mod", x, integer(3))
	case 2: // division that only the guard makes safe
		return kernels.Build("case", kernels.Build("ne", y, integer(0)), kernels.Build("div", x, y), integer(-1))
	case 3:
		return kernels.Build("coalesce", x, y)
	case 4:
		return kernels.BuildAttr("cast", kernels.Attr{Kind: kernels.Int}, kernels.Build("lt", x, y))
	}
	return x
}

func (g *generator) bool(in []*ra.Node, ok func(kernels.Type) func(ra.Column) bool) *kernels.Expr {
	x, y := g.int(in, 1, ok(tInt)), g.int(in, 0, ok(tInt))
	switch g.rng.Intn(8) {
	case 0:
		return kernels.Build("lt", x, y)
	case 1:
		return kernels.Build(
			"and",
			kernels.Build("ne", x, integer(0)),
			kernels.Build("ge", kernels.Build("div", y, x), integer(0)),
		)
	case 2:
		return kernels.Build(
			"or",
			kernels.Build("eq", x, integer(0)),
			kernels.Build("ge", kernels.Build("mod", y, x), integer(1)),
		)
	case 3:
		return kernels.Build("not", kernels.Build("eq", x, y))
	case 4:
		return kernels.Build("is_distinct", x, y)
	case 5:
		if f := g.pick(in, ok(tF64)); f != nil {
			return kernels.Build("gt", f, num(0.25))
		}
	case 6:
		if s := g.pick(in, ok(tText)); s != nil {
			return kernels.Build("le", s, kernels.Const(kernels.TextValue("b")))
		}
	case 7:
		return kernels.Build("is_null", x)
	}
	return kernels.Build("le", x, integer(3))
}

func (g *generator) float(in []*ra.Node, depth int) *kernels.Expr {
	x := g.pick(in, is([]kernels.Type{tF64, tF32}[g.rng.Intn(2)]))
	if x == nil {
		x = num(0.5)
	}
	if depth == 0 {
		return x
	}
	y := g.float(in, depth-1)
	switch g.rng.Intn(12) {
	case 0:
		return kernels.Build("add", x, y)
	case 1:
		return kernels.Build("mul", x, y)
	case 2:
		return kernels.Build("exp", kernels.Build("neg", kernels.Build("square", y)))
	case 3:
		return kernels.Build("case", kernels.Build("gt", y, num(0)), kernels.Build("ln", y), kernels.Build("mul", x, num(0)))
	case 4:
		return kernels.Build("coalesce", x, y)
	case 5:
		return kernels.Build("tanh", y)
	case 6:
		return kernels.Build("dot", g.chunk(in, depth-1), g.chunk(in, 0))
	case 7:
		return kernels.Build("sqnorm", g.chunk(in, depth-1))
	case 8:
		return kernels.Build("case", g.bool(in, is), x, y)
	case 9:
		return kernels.Build("maximum", x, y)
	case 10:
		return kernels.Build(
			"cross_entropy",
			g.chunk(in, depth-1),
			kernels.Build("mod", kernels.Build("abs", g.int(in, 0, is(tInt))), integer(3)),
		)
	}
	return kernels.Build("sigmoid", x)
}

func (g *generator) chunk(in []*ra.Node, depth int) *kernels.Expr {
	x := g.pick(in, is(tVec))
	if x == nil {
		x = kernels.Const(kernels.ChunkValue(kernels.Float32, tVec.Shape, []float64{0.5, -1, 0.25}))
	}
	if depth == 0 {
		return x
	}
	y, s := g.chunk(in, depth-1), g.float(in, depth-1)
	narrow := func(e *kernels.Expr) *kernels.Expr { return kernels.CastTo(kernels.Float32, e) }
	switch g.rng.Intn(11) {
	case 0:
		return kernels.Build("mul", s, y)
	case 1:
		return kernels.Build("add", x, y)
	case 2:
		return kernels.Build("relu", y)
	case 3:
		if m := g.pick(in, is(tMat)); m != nil {
			return narrow(kernels.Build("matmul", y, m))
		}
	case 4:
		if m := g.pick(in, is(tMat)); m != nil {
			return narrow(kernels.Build("matmul", kernels.Transpose(m), y))
		}
	case 5:
		return kernels.Build("softmax", y)
	case 6:
		return kernels.Build("select", kernels.Build("greater", x, num(0)), y, kernels.Build("neg", x))
	case 7:
		mask := kernels.BuildAttr("drop_mask", kernels.Attr{Shape: tVec.Shape, Kind: kernels.Float32, Num: 0.5, Int: 3},
			kernels.Build("row_key", g.int(in, 0, fixed(tInt))))
		return kernels.Build("mul", mask, y)
	case 8:
		return kernels.BuildAttr("expand_to", kernels.Attr{Shape: tVec.Shape, Kind: kernels.Float32}, s)
	case 9:
		return narrow(kernels.BuildAttr("sum_to", kernels.Attr{Shape: tVec.Shape}, kernels.Build("outer", x, y)))
	}
	return kernels.Build("sub", x, y)
}

func (g *generator) outs(in []*ra.Node) []ra.OutCol {
	var out []ra.OutCol
	add := func(e *kernels.Expr) { out = append(out, ra.OutCol{Name: fmt.Sprintf("o%d", len(out)), X: e}) }
	add(g.int(in, 2, fixed(tInt)))
	add(g.int(in, 0, fixed(tInt)))
	if s := g.pick(in, fixed(tText)); s != nil {
		add(s)
	}
	if f := g.pick(in, fixed(tF64)); f != nil {
		add(f)
	}
	add(kernels.CastTo(kernels.Float64, g.float(in, 2)))
	add(kernels.CastTo(kernels.Float32, g.float(in, 1)))
	add(g.chunk(in, 2))
	if m := g.pick(in, is(tMat)); m != nil {
		add(m)
	}
	return out
}

func (g *generator) node() *ra.Node { return g.nodes[g.rng.Intn(len(g.nodes))] }

func (g *generator) equis(in []*ra.Node) []ra.Equi {
	var out []ra.Equi
	for s := 1; s < len(in); s++ {
		for range 1 + g.rng.Intn(2) {
			t := []kernels.Type{tInt, tInt, tText, tF64}[g.rng.Intn(4)]
			l, r := g.pick(in[:s], fixed(t)), g.pick(in[s:s+1], fixed(t))
			if l == nil || r == nil {
				continue
			}
			if g.rng.Intn(10) == 0 { // between columns of one input
				l = g.pick(in[s:s+1], fixed(t))
				l = kernels.Column(kernels.Col{Input: s, ID: l.Col.ID}, l.Type)
			}
			c := r.Col
			c.Input = s
			out = append(out, ra.Equi{L: l.Col, R: c, NullSafe: g.rng.Intn(4) == 0})
		}
	}
	g.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i := range out {
		if g.rng.Intn(2) == 0 {
			out[i].L, out[i].R = out[i].R, out[i].L
		}
	}
	return out
}

func (g *generator) preds(in []*ra.Node) []*kernels.Expr {
	var out []*kernels.Expr
	for range g.rng.Intn(3) {
		out = append(out, g.bool(in, fixed))
	}
	return out
}

func (g *generator) step() (*ra.Node, error) {
	switch g.rng.Intn(9) {
	case 0, 1:
		in := g.node()
		return g.b.Select(in, g.preds([]*ra.Node{in}), g.outs([]*ra.Node{in})), nil
	case 2, 3, 4:
		in := []*ra.Node{g.node(), g.node()}
		if g.rng.Intn(3) == 0 {
			in = append(in, g.node())
		}
		return g.b.Join(in, g.equis(in), g.preds(in), g.outs(in)), nil
	case 5, 6:
		return g.aggregate(g.node(), g.rng.Intn(3))
	case 7:
		in := []*ra.Node{g.node(), g.node()}
		op := ra.SemiJoin
		if g.rng.Intn(2) == 0 {
			op = ra.AntiJoin
		}
		return g.b.Semi(op, in[0], in[1], g.equis(in), g.preds(in)), nil
	}
	if g.rng.Intn(2) == 0 {
		return g.union()
	}
	return g.addition()
}

func (g *generator) aggregate(in *ra.Node, keys int) (*ra.Node, error) {
	var group []ra.ColumnID
	for range keys {
		if c := g.pick([]*ra.Node{in}, fixed([]kernels.Type{tInt, tInt, tText, tF64}[g.rng.Intn(4)])); c != nil {
			group = append(group, c.Col.ID)
		}
	}
	aggs := []ra.AggCol{{Name: "n", Agg: ra.Agg{Fn: ra.CountRows}}}
	for _, c := range in.Cols {
		for fn := ra.Sum; fn <= ra.Max; fn++ {
			ok := fn == ra.Count ||
				c.Type.Kind != kernels.Text && c.Type.Kind != kernels.Bool && (fn <= ra.GradSum || !c.Type.IsChunk()) ||
				c.Type.Kind == kernels.Text && fn > ra.CountRows
			if ok && fn != ra.CountRows && g.rng.Intn(4) == 0 {
				aggs = append(aggs, ra.AggCol{Name: "a", Agg: ra.Agg{Fn: fn, Arg: c.ID}})
			}
		}
	}
	return g.b.Aggregate(in, group, aggs)
}

func (g *generator) union() (*ra.Node, error) {
	var in []*ra.Node
	for range 2 {
		n := []*ra.Node{g.node()}
		in = append(in, g.b.Select(n[0], g.preds(n), []ra.OutCol{{Name: "i", X: g.int(n, 1, fixed(tInt))},
			{Name: "x", X: kernels.CastTo(kernels.Float64, g.float(n, 1))}, {Name: "v", X: g.chunk(n, 1)}}))
	}
	return g.b.Union(in, 3), nil
}

// addition sums two gradient relations keyed by an integer.
func (g *generator) addition() (*ra.Node, error) {
	var in []*ra.Node
	for range 2 {
		n := []*ra.Node{g.node()}
		s := g.b.Select(
			n[0],
			g.preds(n),
			[]ra.OutCol{{Name: "i", X: g.int(n, 0, fixed(tInt))}, {Name: "v", X: g.chunk(n, 1)}},
		)
		a, err := g.b.Aggregate(
			s,
			[]ra.ColumnID{s.Cols[0].ID},
			[]ra.AggCol{{Name: "g", Agg: ra.Agg{Fn: ra.GradSum, Arg: s.Cols[1].ID}}},
		)
		if err != nil {
			return nil, err
		}
		in = append(in, a)
	}
	return g.b.Add(in, 1), nil
}

// TestRandomPlans compares random plans with the oracle.
func TestRandomPlans(t *testing.T) { testPlans(t, nil) }

// TestRandomPlansSmallLanes does so with blocks and lanes of a few rows.
func TestRandomPlansSmallLanes(t *testing.T) {
	t.Parallel()
	Long(t)
	tune := tuning.Default()
	SmallLanes(tune)
	tune.GroupRows, tune.SumProduct, tune.SumPanel, tune.PassRun, tune.PassChunk = 2, 8, 2, 2, 4
	AddRowsInPlace(tune)
	testPlans(t, tune)
}

func testPlans(t *testing.T, tune *tuning.Sizes) {
	rows := 0
	for seed := range *plans {
		g := &generator{rng: rand.New(rand.NewSource(int64(seed))), src: &memory{}, b: ra.NewBuilder()}
		g.ints = [][2]int64{{0, 1}, {0, 1}, {0, 1}, {-3, 1}, {1 << 40, 1}, {-1 << 40, 1 << 33}, {0, 1000003},
			{7, -2}}[g.rng.Intn(8)]
		for i := range 3 {
			g.table(fmt.Sprintf("t%d", i))
		}
		for range 2 + g.rng.Intn(4) {
			n, err := g.step()
			if err != nil {
				t.Fatalf("plan %d: %v", seed, err)
			}
			if g.pairs(n) > 30000 {
				continue
			}
			if err := ra.Validate(n); err != nil {
				t.Fatalf("plan %d: %v", seed, err)
			}
			g.nodes = append(g.nodes, n)
		}
		plan := &ra.Plan{}
		for i, n := range g.nodes[len(g.nodes)-2:] {
			r := ra.Root{Name: fmt.Sprintf("root%d", i), Node: n}
			for _, c := range n.Cols {
				r.Cols = append(r.Cols, c.ID)
			}
			plan.Roots = append(plan.Roots, r)
		}
		rows += g.check(t, tune, seed, plan)
	}
	t.Logf("%d rows compared", rows)
}

// pairs bounds the rows that the oracle visits for n.
func (g *generator) pairs(n *ra.Node) int {
	if n.Table != nil {
		return int(n.Table.Rows)
	}
	rows := 1
	if n.Op == ra.Union {
		rows = 0
	}
	for _, in := range n.Inputs {
		if r := g.pairs(in); n.Op == ra.Union {
			rows += r
		} else {
			rows *= max(r, 1)
		}
	}
	return rows
}

func (g *generator) check(t *testing.T, tune *tuning.Sizes, seed int, plan *ra.Plan) (rows int) {
	env := kernels.Env{Seed: 5, Step: 2}
	want, err := oracle(plan, g.src, env)
	if err != nil {
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Fatalf("plan %d: oracle: %v", seed, err)
		}
		return 0
	}
	for _, w := range want {
		if rows += len(w); len(w) > 3000 {
			return 0
		}
	}
	if err := agree(t, tune, plan, g.src, env, want, 1e-4); err != nil {
		t.Fatalf("plan %d: %v\n%s", seed, err, plan.Format())
	}
	return rows
}
