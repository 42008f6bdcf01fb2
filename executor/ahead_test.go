package executor

import (
	"math"
	"testing"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// TestAhead: of two steps the second begins before the first has ended. It changes nothing where the first one's loss
// is not finite; then steps go on with what has been mended.
func TestAhead(t *testing.T) {
	t.Parallel()
	src, w, plan := weighted(t)
	ctx := t.Context()
	p, err := CompileOn(ctx, plan, src, Options{Workers: 2, Many: true})
	if err != nil {
		t.Fatal(err)
	}
	defer closeDevices(p)
	defer p.Close()
	of := func(input int) *kernels.Expr {
		return kernels.Column(kernels.Col{Input: input}, kernels.Type{Kind: kernels.Float64})
	}
	change := kernels.Mul(of(ra.StepNumber), of(ra.StepGradient))
	rule := device.Rule{New: []*kernels.Expr{kernels.Sub(of(ra.StepValue), change)}}
	param := p.Param(w, 1)
	training, err := p.Train([]Trained{{Rule: rule, Param: param, Root: 1, Col: 1, Key: []int{0}}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, chains := p.sites[0].device.(device.Chaining); training.Ahead() != chains {
		t.Fatalf("steps begin ahead: %v; lists run behind each other: %v", training.Ahead(), chains)
	}
	if !training.Ahead() {
		return
	}
	begin := func(step int64, rate float64) {
		t.Helper()
		if err := training.Begin(ctx, kernels.Env{Step: step}, []float64{rate}); err != nil {
			t.Fatal(err)
		}
	}
	end := func(want float64) {
		t.Helper()
		if x, null, err := training.End(ctx); err != nil || null || math.Abs(x-want) > 1e-12 && x != want {
			t.Fatalf("loss %v (%v, %v), not %v", x, null, err, want)
		}
	}
	values := func(want ...float64) {
		t.Helper()
		x, err := param.Values()
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range want {
			if math.Abs(x.Float(i)-y) > 1e-12*max(1, math.Abs(y)) {
				t.Fatalf("row %d came to %v, not %v", i, x.Float(i), y)
			}
		}
	}
	// the gradients are 0, 6 and 4, the values 0.5, 2 and -1
	begin(1, 0.1)
	for step := int64(2); step < 6; step++ {
		begin(step, 0.1)
		end(8 - 5.2*float64(step-2))
	}
	end(8 - 5.2*4)
	values(0.5, -1, -3)
	begin(6, 4e307)
	begin(7, 1)
	end(8 - 5.2*5)
	begin(8, -1e308)
	end(math.Inf(-1)) // of step 7
	if training.Flying() != 0 {
		t.Errorf("%d steps are left behind one whose loss is infinite", training.Flying())
	}
	if x, err := param.Values(); err != nil || !math.IsInf(x.Float(1), -1) || x.Float(2) != -1.6e308 {
		t.Fatalf("columns have changed by a loss that is infinite: %v, %v", x.F64(), err)
	}
	for i, x := range []float64{1, 2} {
		if err := param.Set(1+i, x); err != nil {
			t.Fatal(err)
		}
	}
	begin(9, 0.5)
	begin(10, 0.5)
	end(14)
	end(-12)
	values(0.5, -5, -2)

	// a run whose loss is infinite is left; the device's next program changes its parameters
	if err := param.Set(1, math.Inf(1)); err != nil {
		t.Fatal(err)
	}
	begin(11, 0.5)
	training.p.Close()
	q, err := Compile(ctx, plan, src, Options{Workers: 2, Many: true, Devices: []device.Device{p.sites[0].device}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	param = q.Param(w, 1)
	training, err = q.Train([]Trained{{Rule: rule, Param: param, Root: 1, Col: 1, Key: []int{0}}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	begin(1, 0.1)
	end(8)
	values(0.5, 1.4, -1.4)
}
