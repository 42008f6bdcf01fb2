package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// summed is the plan of sum(w.x) by group, at so many sites, with exchanges. The numbers are parameters if trained.
func summed(t *testing.T, sites int, trained bool) (*memory, *ra.Plan, *physical.Plan) {
	t.Helper()
	src, b := &memory{}, ra.NewBuilder()
	keys, group, x := column.New(tInt, 60), column.New(tInt, 60), column.New(kernels.Type{Kind: kernels.Float64}, 60)
	for i := range 60 {
		keys.I64()[i], group.I64()[i], x.F64()[i] = int64(i), int64(i%7), float64(i)
	}
	s := b.Scan(src.add("w", 1, keys, group, x), func(col int) bool { return trained && col == 2 })
	agg, err := b.Aggregate(s, []ra.ColumnID{s.Cols[1].ID},
		[]ra.AggCol{{Name: "n", Agg: ra.Agg{Fn: ra.Sum, Arg: s.Cols[2].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	plan := &ra.Plan{Roots: []ra.Root{all(agg, "r")}}
	placed, err := physical.Compile(plan, physical.Sites{N: sites})
	if err != nil {
		t.Fatal(err)
	}
	return src, plan, placed
}

// likeOracle compares the first result with the oracle's.
func likeOracle(t *testing.T, what string, p *Program, plan *ra.Plan, src *memory, tol float64) {
	t.Helper()
	likeOracleAt(t, what, p, plan, src, kernels.Env{}, tol)
}

func likeOracleAt(t *testing.T, what string, p *Program, plan *ra.Plan, src *memory, env kernels.Env, tol float64) {
	t.Helper()
	out, err := p.Result(0)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oracle(plan, src, env)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameRows(vectorRows(out), want[0], tol); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestPartsHaveTheirSite: rows that arrive at a site have an identity, those of sums that are not added up yet, too.
func TestPartsHaveTheirSite(t *testing.T) {
	src, plan, _ := summed(t, 3, true)
	apart := physical.Costs{Cluster: physical.Cluster{Network: 1e9, Operations: 8e9}} // sums where the rows lie, first
	found, err := physical.Choose(context.Background(), plan, physical.Sites{N: 3}, apart)
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileSites(context.Background(), found.Plan, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	parts := 0
	for _, s := range p.sites {
		for n, l := range s.received {
			if l == nil {
				continue
			}
			keys, _, err := s.run.Vectors(n, n.Key)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for r := range keys[0].Len() {
				key := ""
				for _, k := range keys {
					key += k.Value(r).String() + ","
				}
				if seen[key] {
					t.Errorf("exchange %d brings two rows %s to site %d", l.number, key, s.number)
				}
				seen[key] = true
			}
			if l.node.Place.Partial {
				parts += len(seen)
			}
		}
	}
	if parts <= 7 {
		t.Errorf("%d parts of 7 sums: no sum has two", parts)
	}
}

// TestReplicatedResult: a result that each site has is given once.
func TestReplicatedResult(t *testing.T) {
	src, plan, _ := summed(t, 1, true)
	placed, err := physical.Compile(plan, physical.Sites{N: 3, Result: func(int, *ra.Node) (physical.Placement, bool) {
		return physical.Everywhere(), true
	}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileSites(context.Background(), placed, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(context.Background(), kernels.Env{}); err != nil {
		t.Fatal(err)
	}
	likeOracle(t, "", p, plan, src, 1e-12)
}

// TestStepOfAll: where a gradient is not finite at one site, no site changes a column; and a parameter that is read
// again gets the rows of each key, in whatever order they are now.
func TestStepOfAll(t *testing.T) {
	ctx, src, b := context.Background(), &memory{}, ra.NewBuilder()
	keys, x := column.New(tInt, 30), column.New(kernels.Type{Kind: kernels.Float64}, 30)
	for i := range 30 {
		keys.I64()[i], x.F64()[i] = int64(7*i%31), float64(i)
	}
	w := src.add("w", 1, keys, x)
	s := b.Scan(w, func(col int) bool { return col == 1 })
	g := b.Select(s, nil, []ra.OutCol{{Name: "id", X: s.Var(0, s.Cols[0].ID)},
		{Name: "g", X: kernels.Mul(s.Var(0, s.Cols[1].ID), s.Var(0, s.Cols[1].ID))}})
	placed, err := physical.Compile(&ra.Plan{Roots: []ra.Root{all(g, "w")}}, physical.Sites{N: 4,
		Result: func(_ int, of *ra.Node) (physical.Placement, bool) {
			return physical.Spread(physical.Function{}, of.Cols[0].ID), true
		}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileSites(ctx, placed, src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	number := func(input int) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: input}, kernels.Type{Kind: kernels.Float64})
	}
	rule := device.Rule{New: []*kernels.Expr{kernels.Sub(number(ra.StepValue), number(ra.StepGradient))}}
	param := p.Param(w, 1)
	training, err := p.Train([]Trained{{Rule: rule, Param: param, Root: 0, Col: 1, Key: []int{0}}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	step := func() error {
		t.Helper()
		if err := p.Run(ctx, kernels.Env{}); err != nil {
			t.Fatal(err)
		}
		return training.Step(ctx, []float64{0})
	}
	holds := func(what string, want func(row int) float64) {
		t.Helper()
		got, err := param.Values()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got.F64() {
			if x != want(i) {
				t.Errorf("%s: row %d holds %v, not %v", what, i, x, want(i))
			}
		}
	}
	for bad := range 30 {
		if err := param.Set(bad, 1e200); err != nil {
			t.Fatal(err)
		}
		var e *device.NotFinite
		if err := step(); !errors.As(err, &e) || e.Row != bad {
			t.Errorf("row %d is not finite: %v", bad, err)
		}
		holds("not finite", func(row int) float64 {
			if row == bad {
				return 1e200
			}
			return float64(row)
		})
		if err := param.Set(bad, float64(bad)); err != nil {
			t.Fatal(err)
		}
	}
	if err := step(); err != nil {
		t.Fatal(err)
	}
	holds("a step", func(row int) float64 { return float64(row - row*row) })
	src.perm = map[string][]int32{"w": nil}
	for i := range int32(30) {
		src.perm["w"] = append(src.perm["w"], 11*i%30)
	}
	if err := p.Reload(ctx, w, 1); err != nil {
		t.Fatal(err)
	}
	holds("read again", func(row int) float64 { return float64(row) })
}

// TestNullMoves: a row that is NULL is so at every site, wherever it lies, and others are not, also where a single site
// has it.
func TestNullMoves(t *testing.T) {
	const rows = 8
	for null := range rows {
		for _, c := range []struct {
			kind          kernels.Kind
			param, double bool // double: the source has it in double precision
		}{{kernels.Float64, true, false}, {kernels.Float64, false, false}, {kernels.Float32, true, false},
			{kernels.Float32, false, true}, {kernels.Int, false, false}} {
			src, b := &memory{}, ra.NewBuilder()
			keys, x := column.New(tInt, rows), column.New(kernels.Type{Kind: c.kind}, rows)
			for i := range rows {
				if keys.I64()[i] = int64(i); c.kind == kernels.Int {
					x.I64()[i] = int64(i + 1)
				} else {
					x.SetFloat(i, float64(i+1))
				}
			}
			x.SetNull(null)
			s := b.Scan(src.add("w", 1, keys, x), func(col int) bool { return col == 1 && c.param })
			if c.double {
				y := column.New(kernels.Type{Kind: kernels.Float64}, rows)
				y.Fill(x)
				y.SetValid(x.Valid())
				src.tables["w"][1] = y
			}
			plan := &ra.Plan{Roots: []ra.Root{all(s, "r")}}
			placed, err := physical.Compile(plan, physical.Sites{N: 4})
			if err != nil {
				t.Fatal(err)
			}
			p, err := CompileSites(context.Background(), placed, src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
			likeOracle(t, fmt.Sprintf("%v, row %d is NULL", c.kind, null), p, plan, src, 0)
			p.Close()
		}
	}
}

// TestHeapOfSites: all sites of a process share Go's heap. It may be as large as for one site with the whole budget.
func TestHeapOfSites(t *testing.T) {
	var limits []int64
	for _, sites := range []int{1, 4} {
		m := &holdings{opt: Options{Memory: 1 << 40 / int64(sites), sites: sites}}
		m.limitHeap()
		heaps.Lock()
		limits = append(limits, heaps.limits[&m.ledger])
		heaps.Unlock()
		m.ledger.released()
	}
	if limits[0] != limits[1] {
		t.Errorf("one site lets the heap have %d bytes, four let it have %d", limits[0], limits[1])
	}
}

// TestOnceIsFreed: what is exchanged once, to be added up once, is freed behind that where the program runs many times.
func TestOnceIsFreed(t *testing.T) {
	for _, many := range []bool{false, true} {
		src, plan, placed := summed(t, 4, false)
		p, err := CompileSites(context.Background(), placed, src, Options{Many: many})
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for range 3 {
			if err := p.Run(context.Background(), kernels.Env{}); err != nil {
				t.Fatal(err)
			}
			likeOracle(t, "sums", p, plan, src, 1e-12)
			kept = 0
			for _, s := range p.sites {
				for _, v := range s.owned {
					if v.Op == values.OpExchange {
						kept++
					}
				}
			}
		}
		if many != (kept == 1) { // one is the result
			t.Errorf("many runs %v: %d columns that were exchanged once are kept", many, kept)
		}
		p.Close()
	}
}
