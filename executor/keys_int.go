package executor

import (
	"slices"

	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// The structure of a step is mostly joins and groups on integers. Their keys are looked up without a copy as codes, in
// lanes of rows that workers share; what is found does not depend on who looks.

// lanes runs f over the rows 0…n-1, lane by lane.
func (st *Stage) lanes(n int, f func(lo, hi int)) error {
	return cpu.Apportion(st.ctx, st.env.Workers, (n+st.env.Tune.LaneRows-1)/st.env.Tune.LaneRows, func(_, lane int) error {
		f(lane*st.env.Tune.LaneRows, min((lane+1)*st.env.Tune.LaneRows, n))
		return nil
	})
}

// probeCol is a column that is looked up: row i is row at[i] of v, or row i where at is nil.
type probeCol struct {
	v   *ra.Vector
	at  []int32
	idx *index // that at is of, nil where it is of none; where its rows have not been listed, at is nil
}

// listed has the rows of all columns listed.
func listed(cols []probeCol) []probeCol {
	out := slices.Clone(cols)
	for i := range out {
		if c := &out[i]; c.idx != nil && c.at == nil {
			c.idx.list()
			c.at = c.idx.at
		}
	}
	return out
}

func (c probeCol) vector() *ra.Vector {
	if c.at == nil {
		return c.v
	}
	return gatherVector(c.v, c.at)
}

// narrow finds fewer rows to look up: n rows that all read through outer, whose columns there are returned.
func narrow(cols []probeCol, n int) (outer []int32, inner []probeCol, rows int) {
	if len(cols) == 0 || cols[0].at == nil && cols[0].idx == nil {
		return nil, nil, 0
	}
	inner = make([]probeCol, len(cols))
	stored := true
	for i, c := range cols {
		stored = stored && len(c.at) > 0 && &c.at[0] == &cols[0].at[0] && 2*c.v.N <= n
		inner[i] = probeCol{v: c.v}
	}
	if o := commonIndex(cols); o != nil && 2*o.src.n <= n && !(stored && cols[0].v.N <= o.src.n) {
		for i, c := range cols {
			if c.idx != o {
				inner[i] = probeCol{c.v, c.idx.inner.at, c.idx.inner}
			}
		}
		return o.at, inner, o.src.n
	}
	if stored {
		return cols[0].at, inner, cols[0].v.N
	}
	return nil, nil, 0
}

// commonIndex is the index that all columns are read through first: some of them through nothing else. nil where they share none.
func commonIndex(cols []probeCol) *index {
	var o *index
	for _, c := range cols {
		if o == nil && c.idx != nil {
			o = c.idx.outer
		}
	}
	if o == nil || o.at == nil || o.missing {
		return nil
	}
	for _, c := range cols {
		if c.idx == nil || c.idx != o && (c.idx.outer != o || c.idx.inner.at == nil) {
			return nil
		}
	}
	return o
}

// probe looks up n keys (see encoder.probe) and reports whether some are not there. Many rows of few keys are looked up
// once each.
func (st *Stage) probe(t *lookup, cols []probeCol, n int) (p []int32, lost bool, err error) {
	if outer, inner, rows := narrow(cols, n); outer != nil {
		q, lost, err := st.probe(t, inner, rows)
		if err != nil || !lost && !(t.unique && t.rows != nil) && isIdentity(q) { // nobody writes to the numbers
			return outer, lost, err
		}
		p = st.mem.ints(n)
		return p, lost, st.lanes(n, func(lo, hi int) { cpu.Through(p[lo:hi], outer[lo:hi], q) })
	}
	cols = listed(cols)
	plain := len(cols) > 0
	for c, l := range t.enc.levels {
		plain = plain && l.dict == nil && !l.asFloat && cols[c].v.Ints != nil
	}
	if !plain {
		v := make([]*ra.Vector, len(cols))
		for c := range cols {
			v[c] = cols[c].vector()
		}
		p = t.enc.probe(allRows(v, n))
		return p, slices.Contains(p, -1), nil
	}
	p = st.mem.ints(n)
	missed := make([]bool, (n+st.env.Tune.LaneRows-1)/st.env.Tune.LaneRows)
	err = st.lanes(n, func(lo, hi int) {
		miss, first := false, 0
		if l := &t.enc.levels[0]; l.direct() && cols[0].v.Valid == nil {
			c := cols[0].rows(lo, hi)
			miss, first = l.table.runs[0].places(p[lo:hi], c.v.Ints, c.at), 1
		} else {
			clear(p[lo:hi])
		}
		for c := first; c < len(t.enc.levels); c++ {
			miss = t.enc.levels[c].probeInts(p[lo:hi], cols[c].rows(lo, hi)) // of a key so far that is not there, too
		}
		missed[lo/st.env.Tune.LaneRows] = miss
	})
	return p, slices.Contains(missed, true), err
}

// rows is the column for the rows from lo to hi only.
func (c probeCol) rows(lo, hi int) probeCol {
	if c.at != nil {
		return probeCol{v: c.v, at: c.at[lo:hi]}
	}
	v := &ra.Vector{Type: c.v.Type, N: hi - lo, Ints: c.v.Ints[lo:hi]}
	if c.v.Valid != nil {
		v.Valid = c.v.Valid[lo:hi]
	}
	return probeCol{v: v}
}

// probeInts goes on from the numbers p of the keys so far, and reports whether some key is not there.
func (l *level) probeInts(p []int32, c probeCol) bool {
	x, t := c.v.Ints, l.table
	if c.v.Valid == nil && t.runs != nil {
		return t.findAll(p, x, c.at)
	}
	for i, q := range p {
		r := i
		if c.at != nil {
			r = int(c.at[i])
		}
		switch {
		case q < 0:
		case c.v.IsNull(r):
			id, ok := l.null[q]
			if p[i] = -1; ok && l.nullSafe {
				p[i] = id
			}
		default:
			p[i] = t.find(q, uint64(x[r]))
		}
	}
	return slices.Contains(p, -1)
}

// direct reports whether the numbers of a first column's keys follow from the keys: they are one after the other.
func (l *level) direct() bool { return len(l.table.runs) == 1 && l.table.same }

// places are those of keys in one run, -1 for those that are not there.
func (r run) places(p []int32, x []int64, at []int32) (miss bool) {
	n, low := uint64(r.n), int64(r.lo)
	if at == nil {
		return cpu.Places(p, x, low, n, r.at)
	}
	for i, a := range at[:len(p)] {
		d := uint64(x[a] - low)
		if p[i] = r.at + int32(d); d >= n {
			p[i], miss = -1, true
		}
	}
	return miss
}

// findAll is find for each key in runs: code i is x[at[i]], or x[i] where at is nil.
func (t *pairTable) findAll(p []int32, x []int64, at []int32) (miss bool) {
	for i, q := range p {
		if q < 0 {
			miss = true
			continue
		}
		r := i
		if at != nil {
			r = int(at[i])
		}
		run := &t.runs[q]
		d := uint64(x[r]) - run.lo
		if d >= uint64(run.n) {
			p[i], miss = -1, true
			continue
		}
		k := run.at + int32(d)
		if !t.same {
			k = t.dense[k]
			miss = miss || k < 0
		}
		p[i] = k
	}
	return miss
}
