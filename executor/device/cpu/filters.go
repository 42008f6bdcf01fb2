package cpu

import (
	"context"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
)

// filter is a tree that computes a condition over candidate rows of a join.
type filter struct {
	m   *Machine
	env *kernels.Env
	idx []*structure.Index
	t   *device.Tree
}

// NewFilter makes a filter from a tree with one condition. idx are the indexes through which it reads columns, one per
// slot (input of the join); Run sets them. A nil index: no column of the slot is read.
func (m *Machine) NewFilter(t *device.Tree, idx []*structure.Index, env *kernels.Env) *filter {
	return &filter{m: m, env: env, idx: idx, t: t}
}

// Run writes the positions of those of the n candidates for which the condition holds to keep, which has room for n,
// and returns them. at[s] are the candidates' rows of slot s; nil: candidate i has row i.
func (f *filter) Run(ctx context.Context, at [][]int32, n int, keep []int32) ([]int32, error) {
	for s, x := range f.idx {
		if x != nil {
			x.At = at[s]
		}
	}
	m := f.m
	if err := m.reserve(f.t.Bytes); err != nil {
		return nil, err
	}
	blocks := make([]*block, m.workers)
	lane := (m.tune.LaneRows + f.t.Rows - 1) / f.t.Rows * f.t.Rows
	kept := make([]int, (n+lane-1)/lane)
	if err := m.crew.Parallel(ctx, m.workers, len(kept), func(w, i int) error {
		if blocks[w] == nil {
			blocks[w] = newBlock(f.t, f.env, m.scratch[w])
			if err := blocks[w].start(); err != nil {
				return err
			}
		}
		var err error
		kept[i], err = f.lane(ctx, blocks[w], i*lane, min((i+1)*lane, n), keep[i*lane:])
		return err
	}); err != nil {
		return nil, err
	}
	total := 0
	for i, k := range kept {
		total += copy(keep[total:], keep[i*lane:][:k])
	}
	return keep[:total], nil
}

// lane filters the positions from lo to hi and returns how many it keeps.
func (f *filter) lane(ctx context.Context, b *block, lo, hi int, keep []int32) (kept int, err error) {
	for ; lo < hi; lo += f.t.Rows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n := min(f.t.Rows, hi-lo)
		if err := b.eval(lo, n); err != nil {
			return 0, err
		}
		d, uniform := b.result(0)
		for r := range n {
			k := r
			if uniform {
				k = 0
			}
			if d.I64()[k] != 0 && (d.Valid() == nil || d.Valid()[k] != 0) {
				keep[kept] = int32(lo + r)
				kept++
			}
		}
	}
	return kept, nil
}
