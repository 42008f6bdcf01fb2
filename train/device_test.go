package train

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/device/cuda"
	"github.com/relgrad/relgrad/executor/device/plain"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/kernels"
	graphics "github.com/relgrad/relgrad/kernels/cuda"
)

// devices are all that updates are tried on; noLoops are the processors without the loops that they know by name.
var devices = map[string]func(workers int) device.Device{
	"processors": func(workers int) device.Device { return cpu.NewMachine(workers, tuning.Default()) },
	"plain":      func(int) device.Device { return &plain.Plain{} },
	noLoops:      func(workers int) device.Device { return cpu.NewMachine(workers, tuning.Default()) },
}

func init() {
	if cudamock.Devices() {
		devices["cuda"] = func(workers int) device.Device {
			d, err := cuda.Open(0, cpu.NewMachine(workers, tuning.Default()))
			if err != nil {
				panic(err)
			}
			return d
		}
	}
}

// TestCudaUpdates runs the tests of updates on the graphics processor of the machine, and on a double of one, too.
func TestCudaUpdates(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	const tests = "^(TestUpdates|TestClipNormOfAll|TestClipNorm|TestOptimizers|TestRowsTrained|TestNotFinite)$"
	cudamock.Card(t, graphics.Absent, tests)
	cudamock.Rerun(t, tests, nil)
}

// TestRowsTrained: on every device the rows that are trained change, and no others.
func TestRowsTrained(t *testing.T) {
	for on := range devices {
		for _, trained := range [][]bool{{false, false, true, true, true}, {true, true, false, false, false},
			{true, false, true, true, false}} {
			o := &onDevice{name: on, workers: 2, c: Default()}
			o.c.Optimizer, o.c.LR = "sgd", 1
			x := o.add(trained, []int32{0, 1, 2, 3, 4}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
			if err := o.Update(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			for i, y := range floats(x.value) {
				if want := float64(-1 - i); trained[i/2] && y != want || !trained[i/2] && y != 0 {
					t.Errorf("%s, rows %v: number %d came to %g", on, trained, i, y)
				}
			}
			o.close()
		}
	}
}

// TestNotFinite: on every device a number that is not finite is found in any gradient, with its row, before anything
// changes: the next step is the first one.
func TestNotFinite(t *testing.T) {
	for on := range devices {
		o := &onDevice{name: on, workers: 2, c: Default()}
		o.c.Optimizer, o.c.LR = "momentum", 1
		gradients, rows := [][]float64{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}}, []int32{2, 0, 1}
		a, b := o.add(nil, rows, gradients[0]), o.add(nil, rows, gradients[1])
		for slot, g := range gradients {
			for i, bad := range []float64{1: math.Inf(-1), 2: math.NaN(), 5: math.Inf(1)} {
				if bad == 0 {
					continue
				}
				was := g[i]
				g[i] = bad
				var e *device.NotFinite
				if err := o.Update(t.Context(), 1); !errors.As(err, &e) || e.Slot != slot || e.Row != int(rows[i/2]) {
					t.Errorf("%s: number %d of gradient %d is %g: %v", on, i, slot, bad, err)
				}
				g[i] = was
			}
		}
		if err := o.Update(t.Context(), 1); err != nil {
			t.Error(err)
		}
		for i, x := range [][]float64{floats(a.value), floats(b.value)} {
			for j, y := range x {
				if want := -gradients[i][slices.Index(rows, int32(j/2))*2+j%2]; y != want {
					t.Errorf("%s: number %d of parameter %d came to %g, not %g", on, j, i, y, want)
				}
			}
		}
		o.close()
	}
}

const noLoops = "processors without loops"

// trainedColumn is a column that a test trains, and the gradient that it prescribes: columns, and the row of each row.
type trainedColumn struct {
	*Slot
	t     kernels.Type
	value *column.Column
	state []*column.Column
	grad  func() (*column.Column, []int32)
}

// add is a further column, of pairs of numbers that are zero, with a gradient that the test may change.
func (o *onDevice) add(trained []bool, rows []int32, gradient []float64) *trainedColumn {
	x := &trainedColumn{Slot: &Slot{Size: 2, Trained: trained}, t: kernels.Type{Kind: kernels.Float64, Shape: []int{2}},
		value: numbers(kernels.Float64, 2, make([]float64, len(gradient))...),
		grad:  func() (*column.Column, []int32) { return numbers(kernels.Float64, 2, gradient...), rows }}
	o.columns = append(o.columns, x)
	return x
}

func numbers(k kernels.Kind, size int, x ...float64) *column.Column {
	d := column.OnHeap(column.KindOf(kernels.Type{Kind: k}), len(x)/size, size, false)
	for i, v := range x {
		d.SetFloat(i, v)
	}
	return &d
}

func floats(d *column.Column) (out []float64) {
	for i := range d.Len() * d.Size() {
		out = append(out, d.Float(i))
	}
	return out
}

// onDevice updates columns on a device, the processors where none is named.
type onDevice struct {
	name    string
	workers int
	c       Config
	columns []*trainedColumn
	updates *Updates
	cols    []*forms.Updated
	numbers forms.StepNumbers
	step    *forms.Step
	own     device.Device // the device with memory of its own; nil: it has the host's
	mirrors []mirror
}

// mirror is a column of a test, and where a device with memory of its own has it.
type mirror struct{ host, there *column.Column }

// there is where the device has a column.
func (o *onDevice) there(c *column.Column) (*column.Column, error) {
	if o.own == nil {
		return c, nil
	}
	for _, m := range o.mirrors {
		if m.host == c {
			return m.there, nil
		}
	}
	d, err := device.NewColumn(o.own, c.Kind(), c.Len(), c.Size(), false)
	o.mirrors = append(o.mirrors, mirror{c, d})
	return d, err
}

// store brings what the test has written to the device, fetch what the device has computed to the test.
func (o *onDevice) store() (err error) {
	for _, m := range o.mirrors {
		m.there.Fill(m.host)
		err = errors.Join(err, o.own.Store(m.there))
	}
	return err
}

func (o *onDevice) fetch() (err error) {
	for _, m := range o.mirrors {
		err = errors.Join(err, o.own.Fetch(m.there))
		m.host.Fill(m.there)
	}
	return err
}

// close closes the device.
func (o *onDevice) close() {
	if o.own != nil {
		o.own.Close()
	}
}

// begin makes the instructions, without gradients.
func (o *onDevice) begin() (err error) {
	d := devices[cmp.Or(o.name, "processors")](1)
	if _, host := d.(*cpu.Machine); !host {
		o.own = d
	}
	var slots []*Slot
	var types []kernels.Type
	for _, x := range o.columns {
		slots, types = append(slots, x.Slot), append(types, x.t)
	}
	o.updates = o.c.Updates(slots, types)
	zero := make([]float64, 1+o.updates.Numbers)
	o.numbers.Double, o.numbers.Single = numbers(kernels.Float64, 1, zero...), numbers(kernels.Float32, 1, zero...)
	for i, x := range o.columns {
		for range o.c.StateNames() {
			x.state = append(x.state, numbers(x.t.Kind, x.Size, make([]float64, x.value.Len()*x.Size)...))
		}
		r := o.updates.Rules[i]
		if o.name == noLoops {
			r.Loop.Name = ""
			for j := range r.Then {
				if r.Then[j].New != nil {
					r.Then[j].Loop.Name = ""
				}
			}
		}
		u := &forms.Updated{Rule: r, Type: x.t, Trained: x.Trained}
		if u.Value, err = o.there(x.value); err != nil {
			return err
		}
		for _, s := range x.state {
			d, err := o.there(s)
			if err != nil {
				return err
			}
			u.Buffers = append(u.Buffers, d)
		}
		o.cols = append(o.cols, u)
	}
	return nil
}

// stepNumbers are where the device has the numbers of a step.
func (o *onDevice) stepNumbers() (n forms.StepNumbers, err error) {
	if n.Double, err = o.there(o.numbers.Double); err == nil {
		n.Single, err = o.there(o.numbers.Single)
	}
	return n, err
}

// Update implements Model. Instructions are made once, where they can read the next gradient too.
func (o *onDevice) Update(ctx context.Context, step int64) (err error) {
	if o.updates == nil {
		if err := o.begin(); err != nil {
			return err
		}
	}
	for i, x := range append([]float64{1}, o.updates.At(step)...) {
		o.numbers.Double.SetFloat(i, x)
		o.numbers.Single.SetFloat(i, x)
	}
	bound := o.step != nil
	for i, x := range o.columns {
		g, rows := x.grad()
		if g, err = o.there(g); err != nil {
			return err
		}
		bound = bound && o.step.Rebind(i, g, rows)
		o.cols[i].Gradient, o.cols[i].Rows = g, rows
	}
	if !bound {
		n, err := o.stepNumbers()
		if err != nil {
			return err
		}
		if o.step, err = forms.NewStep(structure.NewEnv(1, nil, nil, tuning.Default()), o.cols,
			device.Clip{Bound: o.updates.Clip}, n, nil); err != nil {
			return err
		}
	}
	d := o.own
	if d == nil {
		d = devices[cmp.Or(o.name, "processors")](o.workers)
		defer d.Close()
	}
	if err := o.store(); err != nil {
		return err
	}
	code, err := d.Prepare(o.step.List, o.step.Scratch)
	if err == nil {
		err = code.Run(ctx, &kernels.Env{}, false)
		code.Close()
	}
	err = errors.Join(err, o.fetch())
	if bad := (*device.NotFinite)(nil); errors.As(err, &bad) {
		bad.Row = int(o.cols[bad.Slot].Rows[bad.Row])
	}
	return err
}
