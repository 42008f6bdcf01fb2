package executor

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// The structure of a step is mostly joins and groups on integers. Their keys are looked up without a copy as codes, in
// lanes of rows that workers share; what is found does not depend on who looks.

// lanes runs f over the rows 0…n-1, lane by lane.
func (st *stage) lanes(n int, f func(lo, hi int)) error {
	return parallel(st.ctx, st.p.opt.Workers, (n+laneRows-1)/laneRows, func(_, lane int) error {
		f(lane*laneRows, min((lane+1)*laneRows, n))
		return nil
	})
}

// probeCol is a column that is looked up: row i is row at[i] of v, or row i where at is nil.
type probeCol struct {
	v  *ra.Vector
	at []int32
}

// through is a structural column to look up. Integers that are read through an index, of no more rows, are left where
// they are.
func (st *stage) through(n *ra.Node, i int) (probeCol, error) {
	if t := n.Cols[i].Type; t.Kind == kernels.Int && t.Shape == nil {
		v, err := st.col(true, n, i)
		if err != nil {
			return probeCol{}, err
		}
		if v.op == vGather && v.idx.at != nil && !v.idx.missing && v.idx.src.n <= v.idx.dst.n && v.args[0].op == vLeaf && v.args[0].data.i64 != nil {
			return probeCol{v.args[0].data.shared(n.Cols[i].Type), v.idx.at}, nil
		}
	}
	v, err := st.vec(n, i)
	return probeCol{v: v}, err
}

func (c probeCol) vector() *ra.Vector {
	if c.at == nil {
		return c.v
	}
	return gatherVector(c.v, c.at)
}

// probe looks up n keys: see encoder.probe.
func (st *stage) probe(e *encoder, cols []probeCol, n int) ([]int32, error) {
	plain := true
	for c, l := range e.levels {
		plain = plain && l.dict == nil && !l.asFloat && cols[c].v.Ints != nil
	}
	if !plain {
		v := make([]*ra.Vector, len(cols))
		for c := range cols {
			v[c] = cols[c].vector()
		}
		return e.probe(allRows(v, n)), nil
	}
	p := make([]int32, n)
	return p, st.lanes(n, func(lo, hi int) {
		for c := range e.levels {
			e.levels[c].probeInts(p, cols[c], lo, hi)
		}
	})
}

func (l *level) probeInts(p []int32, c probeCol, lo, hi int) {
	x, t := c.v.Ints, l.table
	if c.v.Valid == nil && c.at == nil && t.dense != nil {
		for i, k := range x[lo:hi] {
			if q := &p[lo+i]; *q >= 0 {
				if d := uint64(k) - t.lo; d < uint64(len(t.dense)) {
					*q = t.dense[d]
				} else {
					*q = -1
				}
			}
		}
		return
	}
	if c.v.Valid == nil && t.dense != nil {
		for i, r := range c.at[lo:hi] {
			if q := &p[lo+i]; *q >= 0 {
				if d := uint64(x[r]) - t.lo; d < uint64(len(t.dense)) {
					*q = t.dense[d]
				} else {
					*q = -1
				}
			}
		}
		return
	}
	for i := lo; i < hi; i++ {
		r := i
		if c.at != nil {
			r = int(c.at[i])
		}
		switch {
		case p[i] < 0:
		case c.v.IsNull(r):
			id, ok := l.null[p[i]]
			if p[i] = -1; ok && l.nullSafe {
				p[i] = id
			}
		default:
			p[i] = t.find(p[i], uint64(x[r]))
		}
	}
}

// denseCodes numbers the rows of integer keys in the order of the keys, which need no table where the product of their
// spans is small; ok is false where it is not, or a key is NULL.
func (st *stage) denseCodes(keys []probeCol, rows int) (code []int32, count int, ok bool, err error) {
	lo, span, total := make([]int64, len(keys)), make([]uint64, len(keys)), uint64(1)
	for c, k := range keys {
		v := k.v
		if v.Ints == nil || v.Valid != nil || v.N == 0 || rows == 0 || v.Type.Shape != nil {
			return nil, 0, false, nil
		}
		least, most, err := st.extremes(v.Ints)
		if err != nil {
			return nil, 0, false, err
		}
		lo[c], span[c] = least, uint64(most)-uint64(least)+1
		if limit := min(4*uint64(rows)+1024, 1<<30); span[c] == 0 || span[c] > limit || total*span[c] > limit {
			return nil, 0, false, nil
		}
		total *= span[c]
	}
	code, rank := make([]int32, rows), make([]int32, total)
	if err := st.lanes(rows, func(from, to int) {
		for c, v := range keys {
			by, least, x, code := int32(span[c]), lo[c], v.v.Ints, code[from:to]
			if v.at == nil {
				for r, k := range x[from:to] {
					code[r] = code[r]*by + int32(k-least)
				}
				continue
			}
			for r, at := range v.at[from:to] {
				code[r] = code[r]*by + int32(x[at]-least)
			}
		}
	}); err != nil {
		return nil, 0, false, err
	}
	for _, k := range code {
		rank[k] = 1
	}
	for k, there := range rank {
		rank[k] = int32(count)
		count += int(there)
	}
	return code, count, true, st.lanes(rows, func(from, to int) {
		for r, k := range code[from:to] {
			code[from+r] = rank[k]
		}
	})
}

// extremes are the least and the largest of some numbers.
func (st *stage) extremes(x []int64) (least, most int64, err error) {
	n := (len(x) + laneRows - 1) / laneRows
	lo, hi := make([]int64, n), make([]int64, n)
	err = st.lanes(len(x), func(from, to int) {
		a, b := x[from], x[from]
		for _, k := range x[from:to] {
			a, b = min(a, k), max(b, k)
		}
		lo[from/laneRows], hi[from/laneRows] = a, b
	})
	return slices.Min(lo), slices.Max(hi), err
}

// sortLanes is sortByCode by lanes of rows: each counts its codes, and so knows where its rows go. No code is negative.
func sortLanes(ctx context.Context, workers int, codes []int32, count int) (start, order []int32) {
	lanes := (len(codes) + laneRows - 1) / laneRows
	if lanes < 2 || lanes*count > len(codes) {
		return sortByCode(codes, count)
	}
	next := make([][]int32, lanes) // counts, then places, by lane and code
	part := func(lane int) []int32 { return codes[lane*laneRows : min((lane+1)*laneRows, len(codes))] }
	run := func(f func(lane int)) {
		err := parallel(context.WithoutCancel(ctx), workers, lanes, func(_, lane int) error { f(lane); return nil })
		if err != nil {
			panic(err)
		}
	}
	run(func(lane int) {
		next[lane] = make([]int32, count)
		for _, c := range part(lane) {
			next[lane][c]++
		}
	})
	start = make([]int32, count+1)
	at := int32(0)
	for c := range count {
		start[c] = at
		for lane := range lanes {
			next[lane][c], at = at, at+next[lane][c]
		}
	}
	start[count] = at
	if slices.IsSorted(codes) {
		return start, nil
	}
	order = make([]int32, len(codes))
	run(func(lane int) {
		to := next[lane]
		for i, c := range part(lane) {
			order[to[c]] = int32(lane*laneRows + i)
			to[c]++
		}
	})
	return start, order
}
