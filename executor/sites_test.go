package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// failing is a device that does something else instead of an instruction, once.
type failing struct {
	*cpu.Machine
	at      func(in *device.Instr) bool // which instruction
	instead func(ctx context.Context) error
	done    bool
}

type failingCode struct {
	device.Code
	d    *failing
	rest []*device.Instr
}

func (d *failing) Prepare(list []*device.Instr, scratch int) (device.Code, error) {
	at := slices.IndexFunc(list, d.at)
	if at < 0 {
		return d.Machine.Prepare(list, scratch)
	}
	first, err := d.Machine.Prepare(list[:at], scratch)
	return &failingCode{first, d, list[at:]}, err
}

func (c *failingCode) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	if err := c.Code.Run(ctx, env, timed); err != nil {
		return err
	}
	if !c.d.done {
		c.d.done = true
		if err := c.d.instead(ctx); err != nil {
			return err
		}
	}
	rest, err := c.d.Machine.Prepare(c.rest, 1<<20)
	if err != nil {
		return err
	}
	return rest.Run(ctx, env, timed)
}

// summed is the plan of sum(w.x) by group, at so many sites, with exchanges.
func summed(t *testing.T, sites int) (*memory, *ra.Plan, *physical.Plan) {
	t.Helper()
	src, b := &memory{}, ra.NewBuilder()
	keys, group, x := column.New(tInt, 60), column.New(tInt, 60), column.New(kernels.Type{Kind: kernels.Float64}, 60)
	for i := range 60 {
		keys.I64()[i], group.I64()[i], x.F64()[i] = int64(i), int64(i%7), float64(i)
	}
	s := b.Scan(src.add("w", 1, keys, group, x), func(col int) bool { return col == 2 })
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
	out, err := p.Result(0)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oracle(plan, src, kernels.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameRows(vectorRows(out), want[0], tol); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestOneSiteFails: an error, a panic, memory that runs out and a cancel at one site, while the others wait for it in
// an exchange, end the run at all of them with one error. Nothing is left running, and the next run is right.
func TestOneSiteFails(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	for _, c := range []struct {
		name, want string
		instead    func(context.Context) error
	}{
		{"error", "no such thing", func(context.Context) error {
			return sqlerr.New(sqlerr.DivisionByZero, "no such thing")
		}},
		{"panic", "internal error: planted", func(context.Context) error { panic("planted") }},
		{"memory", "out of memory", func(context.Context) error {
			return column.OutOfMemory(errors.New("mmap: cannot allocate memory"))
		}},
		{"says it was cancelled", "context canceled", func(context.Context) error { return context.Canceled }},
		{"cancel", "context canceled", func(ctx context.Context) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}},
	} {
		src, plan, placed := summed(t, 4)
		before := runtime.NumGoroutine()
		opt := Options{Workers: 4}
		for s := range 4 {
			m := cpu.NewMachine(1, tuning.Default())
			if opt.Devices = append(opt.Devices, m); s == 2 {
				opt.Devices[s] = &failing{Machine: m, instead: c.instead, at: func(in *device.Instr) bool {
					_, exchange := in.Form.(*device.Exchange)
					return exchange
				}}
			}
		}
		p, err := CompileSites(context.Background(), placed, src, opt)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx, kernels.Env{}) }()
		select {
		case err = <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the other sites wait for ever", c.name)
		}
		if !opt.Devices[2].(*failing).done {
			t.Fatalf("%s: nothing has failed", c.name)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
		if _, err := p.Result(0); err == nil {
			t.Errorf("%s: a run that has failed has a result", c.name)
		}
		if err := p.Run(context.Background(), kernels.Env{}); err != nil {
			t.Errorf("%s: the run after it: %v", c.name, err)
		}
		likeOracle(t, c.name+": the run after it", p, plan, src, 1e-12)
		p.Close()
		for _, d := range opt.Devices {
			d.Close()
		}
		for wait := time.Now(); runtime.NumGoroutine() > before && time.Since(wait) < 5*time.Second; {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%s: %d goroutines more than before", c.name, n-before)
		}
	}
}

// TestPartsHaveTheirSite: rows that arrive at a site have an identity, those of sums that are not added up yet, too.
func TestPartsHaveTheirSite(t *testing.T) {
	src, plan, _ := summed(t, 3)
	found, err := physical.Choose(context.Background(), plan, physical.Sites{N: 3}) // sums where the rows lie, first
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
	src, plan, _ := summed(t, 1)
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

// late is a device that fails when it has run its first list.
type late struct {
	*cpu.Machine
	failed bool
}

type lateCode struct {
	device.Code
	d *late
}

func (d *late) Prepare(list []*device.Instr, scratch int) (device.Code, error) {
	code, err := d.Machine.Prepare(list, scratch)
	return &lateCode{code, d}, err
}

func (c *lateCode) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	if err := c.Code.Run(ctx, env, timed); err != nil || c.d.failed {
		return err
	}
	c.d.failed = true
	time.Sleep(20 * time.Millisecond) // the others are over
	return sqlerr.New(sqlerr.IO, "too late")
}

// TestOneSiteFailsLate: where a site fails that the others have not waited for, they have computed what is computed
// once, and it has not: the next run begins anew at all of them.
func TestOneSiteFailsLate(t *testing.T) {
	src, b := &memory{}, ra.NewBuilder()
	keys, x := column.New(tInt, 20), column.New(kernels.Type{Kind: kernels.Float64}, 20)
	for i := range 20 {
		keys.I64()[i], x.F64()[i] = int64(i), float64(i)
	}
	plan := &ra.Plan{Roots: []ra.Root{all(b.Scan(src.add("w", 1, keys, x), nil), "r")}}
	placed, err := physical.Compile(plan, physical.Sites{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{}
	for s := range 3 {
		m := cpu.NewMachine(1, tuning.Default())
		defer m.Close()
		if opt.Devices = append(opt.Devices, m); s == 2 {
			opt.Devices[s] = &late{Machine: m}
		}
	}
	p, err := CompileSites(context.Background(), placed, src, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := p.Run(ctx, kernels.Env{}); err == nil || !strings.Contains(err.Error(), "too late") {
		t.Fatalf("the run in which a site fails gives %v", err)
	}
	if err := p.Run(ctx, kernels.Env{}); err != nil {
		t.Fatalf("the run after it: %v", err)
	}
	out, err := p.Result(0)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oracle(plan, src, kernels.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameRows(vectorRows(out), want[0], 0); err != nil {
		t.Error(err)
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
