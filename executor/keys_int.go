package executor

import (
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
