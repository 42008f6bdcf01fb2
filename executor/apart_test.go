package executor

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/apart"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// lines joins so many sites by turns in memory.
type lines struct {
	mu   sync.Mutex
	come []*turning
	n    int
	gone error
}

type turning struct {
	number int
	out    [][]byte
	in     chan [][]byte
}

type line struct {
	*lines
	site int
}

// Turn implements device.Turns.
func (l line) Turn(ctx context.Context, number int, out [][]byte) ([][]byte, error) {
	l.mu.Lock()
	if l.come == nil {
		l.come = make([]*turning, l.n)
	}
	own := &turning{number, out, make(chan [][]byte, 1)}
	l.come[l.site] = own
	all := true
	for _, t := range l.come {
		all = all && t != nil
	}
	if all {
		for to, t := range l.come {
			in := make([][]byte, l.n)
			for from, o := range l.come {
				if o.number != number {
					l.gone = errors.New("sites take different turns")
				}
				in[from] = o.out[to]
			}
			t.in <- in
		}
		l.come = nil
	}
	err := l.gone
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case in := <-own.in:
		return in, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var _ apart.Caller = (*apart.Member)(nil)

// runApart is runAtSites with each site in a program of its own, which has no memory in common with the others.
func runApart(t testing.TB, plan *ra.Plan, src ra.Source, opt Options, env kernels.Env,
	sites int) (out [][]*column.Column, err error) {
	t.Helper()
	placed, err := physical.Compile(plan, physical.Sites{N: sites})
	if err != nil {
		return nil, err
	}
	spread, err := newSpread(src, placed)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opt.Env = env
	room, fails, all := &lines{n: sites}, make([]error, sites), sync.WaitGroup{}
	for s := range sites {
		opt := opt
		opt.Devices = devices(1)
		all.Go(func() {
			p, err := CompileApart(ctx, placed, s, &siteSource{spread, s}, line{room, s}, opt)
			var own [][]*column.Column
			if err == nil {
				own, err = runTwice(p, &ra.Plan{Roots: plan.Roots[:min(len(plan.Roots), len(p.sites[0].whole))]}, env)
			}
			if fails[s] = err; err != nil {
				cancel()
			} else if s == 0 {
				out = own
			}
		})
	}
	all.Wait()
	for _, err := range fails {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return out, nil
}
