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
	"github.com/relgrad/relgrad/tensor"
)

// failing is a device that does something else instead of an instruction, once: the one after left others of its kind.
type failing struct {
	*cpu.Machine
	port    *device.Port
	kind    func(in *device.Instr) bool
	left    int // below 0: nothing fails
	instead func(ctx context.Context, d *failing, in *device.Instr) error
	seen    int // of this kind
}

type failingCode struct {
	device.Code // nothing, for the sake of the other methods
	d           *failing
	list        []*device.Instr
	scratch     int
}

func (d *failing) Join(p *device.Port) {
	d.port = p
	d.Machine.Join(p)
}

func (d *failing) Prepare(list []*device.Instr, scratch int) (device.Code, error) {
	if !slices.ContainsFunc(list, d.kind) {
		return d.Machine.Prepare(list, scratch)
	}
	none, err := d.Machine.Prepare(nil, scratch)
	return &failingCode{none, d, list, scratch}, err
}

// Run runs the instructions before the one that fails, then what is done instead, or all.
func (c *failingCode) Run(ctx context.Context, env *kernels.Env, timed bool) error {
	from := 0
	for i, in := range c.list {
		if !c.d.kind(in) {
			continue
		}
		c.d.seen++
		if c.d.left--; c.d.left != -1 {
			continue
		}
		if err := c.run(ctx, env, c.list[:i]); err != nil {
			return err
		}
		if err := c.d.instead(ctx, c.d, in); err != nil {
			return err
		}
		from = i + 1
	}
	return c.run(ctx, env, c.list[from:])
}

func (c *failingCode) run(ctx context.Context, env *kernels.Env, list []*device.Instr) error {
	code, err := c.d.Machine.Prepare(list, c.scratch)
	if err != nil {
		return err
	}
	return code.Run(ctx, env, false)
}

func isExchange(in *device.Instr) bool {
	_, ok := in.Form.(*device.Exchange)
	return ok
}

func isUpdate(in *device.Instr) bool {
	_, ok := in.Form.(*device.Update)
	return ok
}

// sitesOf4 is a model whose data and parameter lie at four sites, one of which fails.
type sitesOf4 struct {
	*Program
	training *Training
	param    *Param
	devices  []device.Device
	bad      *failing
}

// trainedAt4 compiles a model: loss, gradient, and a step of momentum. Its second site fails, once that is asked for.
func trainedAt4(t *testing.T) *sitesOf4 {
	t.Helper()
	src, b := &memory{}, ra.NewBuilder()
	key, v := column.New(tInt, 40), column.New(kernels.Type{Kind: kernels.Float64}, 40)
	id, k, x := column.New(tInt, 90), column.New(tInt, 90), column.New(kernels.Type{Kind: kernels.Float64}, 90)
	for i := range 40 {
		key.I64()[i], v.F64()[i] = int64(i), float64(i%9)/4
	}
	for i := range 90 {
		id.I64()[i], k.I64()[i], x.F64()[i] = int64(i), int64(7*i%40), float64(i%11)/8
	}
	w := src.add("w", 1, key, v)
	ws, ds := b.Scan(w, func(c int) bool { return c == 1 }), b.Scan(src.add("data", 1, id, k, x), nil)
	j := b.Join([]*ra.Node{ds, ws},
		[]ra.Equi{{L: kernels.Col{ID: ds.Cols[1].ID}, R: kernels.Col{Input: 1, ID: ws.Cols[0].ID}}}, nil,
		[]ra.OutCol{{Name: "y", X: kernels.Mul(ds.Var(0, ds.Cols[2].ID), ws.Var(1, ws.Cols[1].ID))},
			{Name: "k", X: ws.Var(1, ws.Cols[0].ID)}})
	loss, err := b.Aggregate(j, nil, []ra.AggCol{{Name: "loss", Agg: ra.Agg{Fn: ra.Sum, Arg: j.Cols[0].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	grad, err := b.Aggregate(j, []ra.ColumnID{j.Cols[1].ID},
		[]ra.AggCol{{Name: "g", Agg: ra.Agg{Fn: ra.GradSum, Arg: j.Cols[0].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	placed, err := physical.Compile(&ra.Plan{Roots: []ra.Root{all(loss, "loss"), all(grad, "w")}}, physical.Sites{N: 4,
		Result: func(i int, of *ra.Node) (physical.Placement, bool) {
			if i == 0 {
				return physical.Placement{}, false
			}
			return physical.Spread(physical.Function{}, of.Cols[0].ID), true
		}})
	if err != nil {
		t.Fatal(err)
	}
	m := &sitesOf4{bad: &failing{Machine: cpu.NewMachine(1, tuning.Default()), kind: isExchange, left: -1}}
	for s := range 4 {
		m.devices = append(m.devices, cpu.NewMachine(1, tuning.Default()))
		if s == 1 {
			m.devices[s] = m.bad
		}
	}
	opt := Options{Devices: m.devices, Many: true}
	if m.Program, err = CompileSites(context.Background(), placed, src, opt); err != nil {
		t.Fatal(err)
	}
	number := func(input int) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: input}, kernels.Type{Kind: kernels.Float64})
	}
	sum := kernels.Add(number(ra.StepBuffer), number(ra.StepGradient))
	down := kernels.Sub(number(ra.StepValue), kernels.Mul(number(ra.StepNumber), sum))
	rule := device.Rule{New: []*kernels.Expr{sum, down}}
	m.param = m.Param(w, 1)
	if m.training, err = m.Train([]Trained{{Rule: rule, Param: m.param, Root: 1, Col: 1, Key: []int{0}, Buffers: 1}}, 2,
		1); err != nil {
		t.Fatal(err)
	}
	return m
}

// close ends the program and looks for what it has left.
func (m *sitesOf4) close(t *testing.T, what string, goroutines int, buffers int64) {
	t.Helper()
	m.Close()
	for _, d := range m.devices {
		d.Close()
	}
	leftBehind(t, what, goroutines, buffers)
}

// leftBehind tells what there is more of than before.
func leftBehind(t *testing.T, what string, goroutines int, buffers int64) {
	t.Helper()
	for wait := time.Now(); runtime.NumGoroutine() > goroutines && time.Since(wait) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%s: %d goroutines more than before", what, n-goroutines)
	}
	if n, _ := tensor.LiveBuffers(); n != buffers {
		t.Errorf("%s: %d buffers are left", what, n-buffers)
	}
}

// step computes loss and gradients, then changes the parameter. A step that has not ended in a while never does.
func (m *sitesOf4) step(ctx context.Context) (loss float64, err error) {
	ended := make(chan error, 1)
	go func() {
		err := m.Run(ctx, kernels.Env{})
		if err == nil {
			if loss, _, err = m.Scalar(0); err == nil {
				err = m.training.Step(ctx, []float64{0.1})
			}
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		return loss, err
	case <-time.After(20 * time.Second):
		panic("the other sites wait for ever")
	}
}

// numbers are the parameter and the state of its optimizer.
func (m *sitesOf4) numbers(t *testing.T) []float64 {
	t.Helper()
	v, err := m.param.Values()
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(v.F64())
	state, err := m.param.State()
	if err != nil {
		t.Fatal(err)
	}
	return append(out, state[0].F64()...)
}

// undisturbed are the losses and numbers of the first steps, and how many exchanges each site has run in all of them.
func undisturbed(t *testing.T, steps int) (losses []float64, numbers [][]float64, exchanges int) {
	t.Helper()
	m := trainedAt4(t)
	defer m.close(t, "a run that nothing disturbs", 1<<20, 0)
	numbers = append(numbers, m.numbers(t))
	for range steps {
		loss, err := m.step(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		losses, numbers = append(losses, loss), append(numbers, m.numbers(t))
	}
	return losses, numbers, m.bad.seen
}

// planted is what happens at one site, and the error that the run ends with.
var planted = []struct {
	name, code, says string
	do               func(ctx context.Context, cancel func(), d *failing, in *device.Instr) error
}{
	{"an error", sqlerr.DivisionByZero, "no such thing", func(context.Context, func(), *failing, *device.Instr) error {
		return sqlerr.New(sqlerr.DivisionByZero, "no such thing")
	}},
	{"a panic", sqlerr.Internal, "internal error: planted", func(context.Context, func(), *failing, *device.Instr) error {
		panic("planted")
	}},
	{"no memory", sqlerr.OutOfMemory, "out of memory", func(context.Context, func(), *failing, *device.Instr) error {
		return column.OutOfMemory(errors.New("mmap: cannot allocate memory"))
	}},
	{"says it was cancelled", sqlerr.Internal, "context canceled",
		func(context.Context, func(), *failing, *device.Instr) error { return context.Canceled }},
	{"cancelled before", "", "context canceled", func(ctx context.Context, cancel func(), _ *failing,
		_ *device.Instr) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}},
	{"cancelled while it waits", "", "context canceled", func(ctx context.Context, cancel func(), d *failing,
		in *device.Instr) error {
		cancel()
		return d.port.Exchange(ctx, in.Form.(*device.Exchange), in.V.Data)
	}},
	{"half way through its copy", sqlerr.Internal, "out of range", halfCopied},
	{"once it has copied", sqlerr.Internal, "internal error: planted", func(ctx context.Context, _ func(), d *failing,
		in *device.Instr) error {
		if err := d.port.Exchange(ctx, in.Form.(*device.Exchange), in.V.Data); err != nil {
			return err
		}
		panic("planted")
	}},
}

// halfCopied takes part in an exchange and panics between two rows that it copies, or where none come behind it.
func halfCopied(ctx context.Context, _ func(), d *failing, in *device.Instr) error {
	x := *in.Form.(*device.Exchange).Exchange
	x.Parts = slices.Clone(x.Parts)
	for i, part := range x.Parts {
		if part.N > 1 {
			rows := slices.Clone(part.Rows)
			for r := len(rows); r < part.N; r++ {
				rows = append(rows, int32(r))
			}
			rows[part.N/2] = 1 << 30
			x.Parts[i].Rows = rows
			break
		}
	}
	if err := d.port.Exchange(ctx, &device.Exchange{Exchange: &x}, in.V.Data); err != nil {
		return err
	}
	panic("out of range, had a row come")
}

// TestOneSiteFails: whatever happens to one site in the middle of an exchange, while the others wait for it or read its
// rows, the run ends at all of them with one error. No parameter has changed, nothing is left running, and the steps
// after it are those of a program that nothing has disturbed, bit for bit. Each exchange of the first two steps is
// disturbed, at which also runs what is computed once.
func TestOneSiteFails(t *testing.T) {
	losses, numbers, exchanges := undisturbed(t, 2)
	if exchanges < 5 {
		t.Fatalf("the model has %d exchanges in two steps, expected at least 5", exchanges)
	}
	buffers, _ := tensor.LiveBuffers()
	for _, c := range planted {
		for at := range exchanges {
			name, goroutines := fmt.Sprintf("%s in exchange %d", c.name, at), runtime.NumGoroutine()
			m := trainedAt4(t)
			ctx, cancel := context.WithCancel(context.Background())
			m.bad.left = at
			m.bad.instead = func(ctx context.Context, d *failing, in *device.Instr) error { return c.do(ctx, cancel, d, in) }
			step, err := 0, error(nil)
			for ; err == nil && step < 3; step++ {
				_, err = m.step(ctx)
			}
			step-- // as many have ended
			cancel()
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") ||
				sqlerr.Code(err) != c.code && c.code != "" {
				t.Fatalf("%s: %v (%s), expected %q", name, err, sqlerr.Code(err), c.says)
			}
			if _, err := m.Result(0); err == nil {
				t.Errorf("%s: a run that has failed has a result", name)
			}
			for ; step < 2; step++ {
				if got := m.numbers(t); !slices.Equal(got, numbers[step]) {
					t.Errorf("%s: parameter and state are %v after %d steps, not %v", name, got, step, numbers[step])
				}
				if loss, err := m.step(context.Background()); err != nil || loss != losses[step] {
					t.Fatalf("%s: loss %v, %v in step %d after it, not %v", name, loss, err, step, losses[step])
				}
			}
			if got := m.numbers(t); !slices.Equal(got, numbers[2]) {
				t.Errorf("%s: in the end parameter and state are %v, not %v", name, got, numbers[2])
			}
			m.close(t, name, goroutines, buffers)
		}
	}
}

// TestOneSiteFailsInStep: where a site fails while all change their parts of a parameter, some have changed and others
// have not: nobody may read them, and the program does not go on.
func TestOneSiteFailsInStep(t *testing.T) {
	buffers, _ := tensor.LiveBuffers()
	for _, c := range planted[:4] {
		for _, late := range []bool{false, true} {
			name, goroutines := fmt.Sprintf("%s, late: %v", c.name, late), runtime.NumGoroutine()
			m, ctx := trainedAt4(t), context.Background()
			if _, err := m.step(ctx); err != nil {
				t.Fatal(err)
			}
			m.bad.kind, m.bad.left = isUpdate, 0
			for _, s := range m.sites {
				s.training.of = nil // has its instructions prepared again
			}
			m.bad.instead = func(ctx context.Context, d *failing, in *device.Instr) error {
				if late {
					time.Sleep(5 * time.Millisecond) // the others have changed theirs
				}
				return c.do(ctx, nil, d, in)
			}
			if _, err := m.step(ctx); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%s: %v, expected %q", name, err, c.says)
			}
			for what, f := range map[string]func() error{
				"run":   func() error { return m.Run(ctx, kernels.Env{}) },
				"step":  func() error { return m.training.Step(ctx, []float64{0.1}) },
				"value": func() error { _, err := m.param.Values(); return err },
				"state": func() error { _, err := m.param.State(); return err },
				"set":   func() error { return m.param.Set(0, 1) },
				"copy":  func() error { return Detached(kernels.Type{Kind: kernels.Float64}, 40, 1).Copy(m.param) },
				"part": func() error {
					_, err := m.sites[0].params[0].Values()
					return err
				},
			} {
				if err := f(); sqlerr.Code(err) != sqlerr.ObjectNotPrereqState {
					t.Errorf("%s: %s behind it: %v", name, what, err)
				}
			}
			m.close(t, name, goroutines, buffers)
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
