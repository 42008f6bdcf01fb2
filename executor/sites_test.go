package executor

import (
	"context"
	"errors"
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

// summed is the plan of sum(w.x * v.y) by group over a join, at so many sites, with exchanges.
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
		out, err := p.Result(0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := oracle(plan, src, kernels.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sameRows(vectorRows(out), want[0], 1e-12); err != nil {
			t.Errorf("%s: the run after it: %v", c.name, err)
		}
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
