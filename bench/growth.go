package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/train"
)

// Axis is a workload measured at several sizes.
type Axis struct {
	Name, What string
	Workload   *Workload
	Sizes      []Size                 // from the fewest rows to the most
	Rows       string                 // the name of what Count counts
	Count      func(v Values) float64 // of a size
	// Numbers counts what setup reads where rows become larger, not more; nil: there are more rows.
	Numbers   func(v Values) float64
	Unit      string                      // unit of the work that bounds a step: "B" or "flop"
	Limit     string                      // the name of the limit
	Amount    func(executor.Work) float64 // the work of a step
	yardstick func(v Values, c relgrad.Compilation) (*yardstick, error)
}

// Size is one size of an axis.
type Size struct {
	Name   string
	Values Values
}

// allowed is the factor by which the fraction of the limit may fall below the axis's best, and by which the processors'
// time for a row before the first step, relative to the limit's, may exceed that of the smallest size.
const allowed = 1.3

// Axes are all axes, in the order of reports.
var Axes = []*Axis{
	{Name: "rows", What: "logistic regression, 100 features, 125,000 rows and so many times as many",
		Workload: &Workload{Name: "growth_rows", Load: "logreg", Script: "logreg", Data: logregData,
			Size: []Number{{"n", 125000, 0, 500}, {"features", 100, 0, 10}}},
		Sizes: multiples(Values{"n": 125000}, 1, 2, 4, 8, 16, 32), Rows: "rows", Count: func(v Values) float64 {
			return v["n"]
		},
		Unit: "B", Limit: "a sum over as much memory as the program holds", Amount: func(w executor.Work) float64 {
			return w.Bytes
		},
		yardstick: func(_ Values, c relgrad.Compilation) (*yardstick, error) { return reading(float64(c.Program.Holds())) }},
	{Name: "chunks", What: "dense NNMF 4096², rank 128, in square blocks",
		Workload: &Workload{Name: "growth_chunks", Load: "nnmf", Script: "nnmf", Data: nnmfData,
			Size: []Number{{"n", 4096, 0, 64}, {"rank", 128, 0, 4}, {"block", 1024, 0, 32}}},
		Sizes: named("%g²", "block", 1024, 512, 256, 128, 64, 32), Rows: "blocks", Count: func(v Values) float64 {
			return v["n"] / v["block"] * v["n"] / v["block"]
		},
		Numbers: func(v Values) float64 { return v["n"] * v["n"] },
		Unit:    "flop", Limit: "products of whole matrices of the same shapes", Amount: func(w executor.Work) float64 {
			return w.Flops
		},
		yardstick: func(v Values, _ relgrad.Compilation) (*yardstick, error) {
			n, k := int(v["n"]), int(v["rank"])
			return multiplying([]shape{{n, n, k}, {n, k, n}, {k, n, n}})
		}},
	{Name: "parameters", What: "MLP, batch 512, 1024 → hidden → 1000, by the width of the hidden layer",
		Workload: &Workload{Name: "growth_parameters", Load: "mlp", Script: "mlp", Data: mlpData,
			Vars: []Number{{"batch", 512, 0, 512}},
			Size: []Number{{"n", 5120, 0, 1024}, {"in", 1024, 0, 20}, {"hidden", 256, 0, 8}, {"classes", 1000, 0, 10}}},
		Sizes: named("%g", "hidden", 256, 512, 1024, 2048, 4096, 8192), Rows: "parameters", Count: func(v Values) float64 {
			return (v["in"]+1)*v["hidden"] + (v["hidden"]+1)*v["classes"]
		},
		Numbers: func(v Values) float64 { return v["n"]*v["in"] + (v["in"]+1)*v["hidden"] + (v["hidden"]+1)*v["classes"] },
		Unit:    "flop", Limit: "products of whole matrices of the same shapes", Amount: func(w executor.Work) float64 {
			return w.Flops
		},
		yardstick: func(v Values, _ relgrad.Compilation) (*yardstick, error) {
			b, in, hidden, classes := int(v["batch"]), int(v["in"]), int(v["hidden"]), int(v["classes"])
			return multiplying([]shape{{b, hidden, in}, {b, classes, hidden}, {hidden, classes, b},
				{b, hidden, classes}, {in, hidden, b}})
		}},
	{Name: "edges",
		What: "full-graph GCN, 16→32→32, on graphs of 169,343 nodes and 2.5M entries, and so many times as large",
		Workload: &Workload{Name: "growth_edges", Load: "gcn", Script: "gcn", Data: gcnData,
			Vars: []Number{{"dropout", 0.5, 0, 0.5}, {"lr", 0.01, 0.01, 0.01}},
			Size: []Number{{"nodes", 169343, 0, 500}, {"edges", 1166243, 0, 2000}, {"in", 16, 0, 4}, {"hidden", 32, 0, 8},
				{"classes", 32, 0, 8}}},
		Sizes: multiples(Values{"nodes": 169343, "edges": 1166243}, 1, 2, 4, 8, 16, 24), Rows: "entries",
		Count: func(v Values) float64 { return 2*v["edges"] + v["nodes"] },
		Unit:  "B", Limit: "sums of weighted, uniformly random rows of tables of the same sizes", Amount: gathered,
		yardstick: func(_ Values, c relgrad.Compilation) (*yardstick, error) { return gathering(c.Program.Work().Gathers) }},
}

// multiples are the first size times each of the factors.
func multiples(first Values, factors ...float64) (all []Size) {
	for _, f := range factors {
		v := Values{}
		for name, x := range first {
			v[name] = f * x
		}
		all = append(all, Size{"×" + number(f), v})
	}
	return all
}

// named are sizes given by one number of the workload.
func named(format, name string, sizes ...float64) (all []Size) {
	for _, s := range sizes {
		all = append(all, Size{fmt.Sprintf(format, s), Values{name: s}})
	}
	return all
}

// work is what the setup's time is divided by: rows, or numbers where the axis counts those.
func (a *Axis) work(v Values) float64 {
	if a.Numbers != nil {
		return a.Numbers(v)
	}
	return a.Count(v)
}

// gathered is the bytes of the rows that a step reads at places given by columns.
func gathered(w executor.Work) (bytes float64) {
	for _, g := range w.Gathers {
		bytes += float64(g.Rows) * float64(g.Width)
	}
	return bytes
}

// Point is an axis at one size. Times are in seconds; of several setups it has the shortest.
type Point struct {
	Size
	Count    float64 // number of rows
	Work     float64 // of the setup: rows or, where rows become larger, numbers
	Prepared float64 // to make and load the data; little where both existed
	Planning, Reading, Structure,
	First float64 // the first step, including what is computed once
	Setup  float64 // processors' time of planning, reading and structure
	Memory int64   // bytes held by the program
	Peak   int64   // peak bytes of this process
	Amount float64 // the work of a step
	Steps  []float64
	Bound  float64   // work of one run of the yardstick
	Limits []float64 // times of the yardstick's runs
}

// Step is the median step.
func (p *Point) Step() float64 { return Median(p.Steps) }

// Once is the time of the first step beyond a usual one.
func (p *Point) Once() float64 { return max(p.First-p.Step(), 0) }

// Rate is the work of a step per second.
func (p *Point) Rate() float64 { return p.Amount / p.Step() }

// Limit is the yardstick's rate.
func (p *Point) Limit() float64 { return p.Bound / Median(p.Limits) }

// Fraction is the share of the limit that steps reach: the median over steps, each compared with the yardstick's run
// after it.
func (p *Point) Fraction() float64 {
	var all []float64
	for i, s := range p.Steps {
		all = append(all, p.Amount/s/(p.Bound/p.Limits[i]))
	}
	return Median(all)
}

// PerRow is the processors' time before the first step for each row, or for each stored number where rows become
// larger.
func (p *Point) PerRow() float64 { return p.Setup / p.Work }

// A size is set up rounds times, but none begins after roundSeconds seconds. A run has at least leastSteps steps.
const (
	rounds       = 3
	roundSeconds = 20.0
	leastSteps   = 7
)

// bigData is the bytes from which a size's data are removed after it has been measured.
const bigData = 1 << 30

// Grow measures an axis at one size: it trains by the workload's script in this process, with the yardstick after
// each step.
func (r *Runner) Grow(ctx context.Context, a *Axis, size Size, seconds float64) (p *Point, err error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	v := a.Workload.values(Full).with(size.Values)
	begin := time.Now()
	data, err := a.Workload.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	store, err := r.store(ctx, a.Workload, data, v)
	if err != nil {
		return nil, err
	}
	defer giveBack(r, data)
	debug.FreeOSMemory() // frees the memory used for making the data
	p = &Point{Size: size, Count: a.Count(v), Work: a.work(v), Prepared: time.Since(begin).Seconds()}
	resetPeak()
	begin = time.Now()
	for i := 0; i < rounds && time.Since(begin).Seconds() < roundSeconds; i++ {
		round := &round{Axis: a, v: v, p: p, seconds: seconds / rounds}
		if err := round.run(ctx, data, store, r.file("workloads/"+a.Workload.Script+".sql")); err != nil {
			return nil, fmt.Errorf("%s: %w", size.Name, err)
		}
	}
	debug.FreeOSMemory()
	return p, nil
}

// giveBack removes large data.
func giveBack(r *Runner, data string) {
	if n := folderSize(data); n > bigData {
		fmt.Fprintf(r.Log, "%s: %s are removed\n", data, gigabytes(n))
		os.RemoveAll(data)
	}
}

// round is one training at a size, with the yardstick after each step.
type round struct {
	*Axis
	v       Values
	p       *Point
	seconds float64 // of steps, at least
	c       relgrad.Compilation
	begun   float64 // processors' time when planning began
	y       *yardstick
	steps   int
	sum     float64
	last    time.Time
	err     error
}

// run trains until there are enough steps, and then interrupts the training.
func (r *round) run(ctx context.Context, data, store, file string) error {
	vars := map[string]string{"data": data, "epochs": "1000000", "seconds": "100000"}
	for name, x := range r.v {
		vars[name] = number(x)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := false
	err := runScript(ctx, store, file, vars, func(db *relgrad.DB) {
		db.OnCompiling, db.OnCompiled = func() { r.begun = processorTime() }, r.compiled
		db.OnStep = func(train.LossRow, int64) {
			if over = over || r.step(time.Since(r.last).Seconds()); over {
				stop()
			}
			r.last = time.Now()
		}
	})
	if r.y != nil {
		r.y.free()
	}
	if r.err != nil || over {
		return r.err
	}
	return sqlerr.New(sqlerr.Internal, "training has ended after %d steps", r.steps).Wrap(err)
}

// compiled records the times before the first step.
func (r *round) compiled(c relgrad.Compilation) {
	r.c, r.last = c, time.Now()
	least(&r.p.Setup, processorTime()-r.begun)
	least(&r.p.Planning, c.Planning.Seconds())
	least(&r.p.Reading, c.Reading.Seconds())
	least(&r.p.Structure, c.Structure.Seconds())
}

// step records a step, runs the yardstick, and reports whether there are enough steps.
func (r *round) step(took float64) bool {
	if r.y == nil {
		w := r.c.Program.Work()
		least(&r.p.First, took)
		if r.p.Peak == 0 { // without the yardstick's memory
			r.p.Peak = peak()
		}
		r.p.Memory, r.p.Amount = r.c.Program.Holds(), r.Amount(w)
		if r.y, r.err = r.yardstick(r.v, r.c); r.err != nil {
			return true
		}
		if r.p.Bound = r.y.amount; r.p.Bound == 0 || r.p.Amount == 0 {
			r.err = sqlerr.New(sqlerr.Internal, "a step does no such work as the limit is of")
			return true
		}
	} else {
		r.steps, r.sum = r.steps+1, r.sum+took
		r.p.Steps = append(r.p.Steps, took)
	}
	limit := r.y.seconds()
	if r.steps > 0 { // the first run only warms up
		r.p.Limits = append(r.p.Limits, limit)
	}
	return r.steps >= leastSteps && r.sum >= r.seconds
}

// least keeps the smaller of two times, where 0 means none.
func least(to *float64, x float64) {
	if *to == 0 || x < *to {
		*to = x
	}
}

// processorTime is the time that all processors have spent on this process, in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil { // fails only for a wrong argument
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// runScript runs a script on a store ("": a temporary one). with prepares the session.
func runScript(ctx context.Context, store, file string, vars map[string]string, with func(*relgrad.DB)) error {
	return runOn(ctx, store, vars, with, func(r *psql.Runner) error { return r.RunFile(ctx, file) })
}

func runOn(ctx context.Context, store string, vars map[string]string, with func(*relgrad.DB),
	use func(*psql.Runner) error) (err error) {
	db, err := relgrad.Open(store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	with(db)
	var text strings.Builder
	r := psql.NewRunner(script.Embedded(db), psql.Options{Vars: vars, Quiet: true, Stdout: io.Discard, Stderr: &text})
	err = use(r)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, text.String())
	}
	return errors.Join(err, r.Close())
}

// folderSize is the size of the files of a folder.
func folderSize(dir string) (bytes int64) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// resetPeak restarts peak, where the system allows it.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak is the peak memory of this process in bytes, 0 where the system does not tell.
func peak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	return peakOf(status)
}
