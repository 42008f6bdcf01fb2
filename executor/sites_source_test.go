package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// failingSource does something else instead of one of its reads.
type failingSource struct {
	*memory
	left    int // reads before that
	instead func() error
}

func (s *failingSource) next() error {
	s.left--
	if s.left == -1 {
		return s.instead()
	}
	return nil
}

func (s *failingSource) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	if err := s.next(); err != nil {
		return nil, err
	}
	return s.memory.Read(ctx, t, cols)
}

func (s *failingSource) Opaque(ctx context.Context, n *ra.Node, env *kernels.Env) ([]*column.Column, error) {
	if err := s.next(); err != nil {
		return nil, err
	}
	return s.memory.Opaque(ctx, n, env)
}

// drawnAt3 is a plan at three sites, of rows that each step draws.
func drawnAt3(t *testing.T) (src *memory, plan *ra.Plan, placed *physical.Plan) {
	t.Helper()
	src, b := &memory{}, ra.NewBuilder()
	key, v := column.New(tInt, 40), column.New(kernels.Type{Kind: kernels.Float64}, 40)
	for i := range 40 {
		key.I64()[i], v.F64()[i] = int64(i), float64(i%9)/4
	}
	w := b.Scan(src.add("w", 1, key, v), nil)
	src.opaque = func(_ *ra.Node, env *kernels.Env) []*column.Column {
		return []*column.Column{ints(env.Step, env.Step+5, env.Step+11)}
	}
	drawn := b.Opaque(nil, "rows of the step", []ra.Column{{Name: "id", Type: tInt}})
	drawn.PerStep = true
	j := b.Join([]*ra.Node{drawn, w},
		[]ra.Equi{{L: kernels.Col{ID: drawn.Cols[0].ID}, R: kernels.Col{Input: 1, ID: w.Cols[0].ID}}}, nil,
		[]ra.OutCol{{Name: "id", X: w.Var(1, w.Cols[0].ID)}, {Name: "x", X: w.Var(1, w.Cols[1].ID)}})
	sum, err := b.Aggregate(j, []ra.ColumnID{j.Cols[0].ID},
		[]ra.AggCol{{Name: "s", Agg: ra.Agg{Fn: ra.Sum, Arg: j.Cols[1].ID}}})
	if err != nil {
		t.Fatal(err)
	}
	plan = &ra.Plan{Roots: []ra.Root{all(sum, "sum")}}
	if placed, err = physical.Compile(plan, physical.Sites{N: 3}); err != nil {
		t.Fatal(err)
	}
	return src, plan, placed
}

// TestSourceFails: where a read fails while sites build their structure together, of the run or of a step, all end with
// one error. Nothing is left, and a program that had been compiled runs on.
func TestSourceFails(t *testing.T) {
	src, plan, placed := drawnAt3(t)
	buffers, _ := tensor.LiveBuffers()
	for what, instead := range map[string]func(cancel func()) error{
		"the disk is gone": func(func()) error { return errors.New("the disk is gone") },
		"internal error":   func(func()) error { panic("a read panics") },
		"canceled":         func(cancel func()) error { cancel(); return context.Canceled },
	} {
		failed := 0
		for at, ended := 0, false; !ended; at++ {
			name, goroutines := fmt.Sprintf("%s in read %d", what, at), runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			bad := &failingSource{memory: src, left: at, instead: func() error { return instead(cancel) }}
			p, err := CompileSites(ctx, placed, bad, Options{Workers: 3})
			for step := int64(0); err == nil && step < 2; step++ {
				err = p.Run(ctx, kernels.Env{Step: step})
			}
			cancel()
			switch {
			case err != nil && !strings.Contains(err.Error(), what):
				t.Errorf("%s: %v", name, err)
			case err != nil:
				failed++
			default:
				ended = true // that read is none of two steps
			}
			if bad.left = -2; p != nil {
				if err := p.Run(context.Background(), kernels.Env{Step: 7}); err != nil {
					t.Errorf("%s: the run behind it: %v", name, err)
				} else {
					likeOracleAt(t, name, p, plan, src, kernels.Env{Step: 7}, 1e-12)
				}
				p.Close()
			}
			leftBehind(t, name, goroutines, buffers)
		}
		if failed < 3 {
			t.Errorf("%s: %d reads, not those of a table and of two steps", what, failed)
		}
	}
}
