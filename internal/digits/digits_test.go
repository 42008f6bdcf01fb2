package digits

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/device/cuda"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/cudamock"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/pgrun"
	"github.com/relgrad/relgrad/internal/sqlrun"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
)

// reference computes by the kernels' reference code.
func reference(c *Case) ([][][]float64, error) {
	var out [][][]float64
	for _, row := range c.Rows {
		var list [][]float64
		for _, e := range c.Exprs {
			v, err := e.Eval(&kernels.Env{}, func(col kernels.Col) kernels.Value { return row[col.ID-1] })
			if err != nil {
				return nil, err
			}
			list = append(list, v.Floats())
		}
		out = append(out, list)
	}
	return out, nil
}

// execute computes by the executor: by its loops, in C where they are, or on a device.
func execute(on ...device.Device) Engine {
	return func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
		p, err := executor.Compile(ctx, plan, db, executor.Options{Workers: 2, Env: *env, Devices: on})
		if err != nil {
			return nil, err
		}
		defer p.Close()
		if err := p.Run(ctx, *env); err != nil {
			return nil, err
		}
		cols, err := p.Result(0)
		if err != nil {
			return nil, err
		}
		rows := make([]interp.Row, cols[0].Len())
		for i := range rows {
			for _, v := range cols {
				rows[i] = append(rows[i], v.Value(i))
			}
		}
		return [][]interp.Row{rows}, nil
	}
}

// check reports every expression of every kernel that is over its bound.
func check(t *testing.T, run Runner, slack float64, kinds ...kernels.Kind) {
	t.Helper()
	for i, name := range Kernels() {
		if testing.Short() && i%8 > 0 { // computing the truth takes long
			continue
		}
		t.Run(name, func(t *testing.T) {
			wrong, worst, err := Check(name, kinds, slack, run)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wrong {
				t.Error(w)
			}
			t.Logf("%.2f", worst)
		})
	}
}

func TestReference(t *testing.T) { check(t, reference, 1, kernels.Float64) }

func TestExecutor(t *testing.T) { check(t, On(execute()), 1, kernels.Float64, kernels.Float32) }

// TestGraphics computes by the kernels of a graphics processor, on a double of it.
func TestGraphics(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	cudamock.Rerun(t, "^TestOnGraphics$", []string{"RELGRAD_MOCK_FLAGS=-O0"})
}

func TestOnGraphics(t *testing.T) {
	if !cudamock.Inside() {
		t.Skip("runs in TestGraphics")
	}
	d, err := cuda.Open(0, cpu.NewMachine(1, tuning.Default()))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	check(t, On(execute(d)), 1, kernels.Float64, kernels.Float32)
}

func TestSQLite(t *testing.T) {
	e, err := sqlrun.New()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	check(t, On(e.Run), 1, kernels.Float64)
}

func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	check(t, On(pgrun.New(t).Run), 1, kernels.Float64)
}

// TestPortable has a wider bound: PL/pgSQL has no fused product, and Kahan's corrections round once more.
func TestPortable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	check(t, On(pgrun.NewPortable(t).Run), 4, kernels.Float64)
}
