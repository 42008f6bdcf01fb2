package structure

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// The structure of a step consists mostly of joins and groups on integers. Their keys are looked up without being
// copied, in lanes of rows that workers share. Results do not depend on the number of workers.

// lanes runs f over the rows 0…n-1, lane by lane.
func (st *Stage) lanes(n int, f func(lo, hi int)) error {
	return cpu.Apportion(st.Ctx, st.env.Workers, (n+st.env.Tune.LaneRows-1)/st.env.Tune.LaneRows, func(_, lane int) error {
		f(lane*st.env.Tune.LaneRows, min((lane+1)*st.env.Tune.LaneRows, n))
		return nil
	})
}

// Probe is a column of keys to look up: row i is row At[i] of Vector, or row i where At is nil.
type Probe struct {
	Vector *column.Column
	At     []int32
	Index  *Index // whose At it is; nil: none. At is nil while the index's rows are not listed
}

// listed lists the rows of all columns' indexes.
func listed(cols []Probe) []Probe {
	out := slices.Clone(cols)
	for i := range out {
		if c := &out[i]; c.Index != nil && c.At == nil {
			c.Index.List()
			c.At = c.Index.At
		}
	}
	return out
}

func (c Probe) vector() *column.Column {
	if c.At == nil {
		return c.Vector
	}
	return column.Gather(c.Vector, c.At)
}

// narrow reduces a look-up of n rows that all read their keys through one index: it returns the index's rows as outer,
// and the columns behind it, which have fewer rows.
func narrow(cols []Probe, n int) (outer []int32, inner []Probe, rows int) {
	if len(cols) == 0 || cols[0].At == nil && cols[0].Index == nil {
		return nil, nil, 0
	}
	inner = make([]Probe, len(cols))
	stored := true
	for i, c := range cols {
		stored = stored && len(c.At) > 0 && &c.At[0] == &cols[0].At[0] && 2*c.Vector.Len() <= n
		inner[i] = Probe{Vector: c.Vector}
	}
	if o := commonIndex(cols); o != nil && 2*o.Src.N <= n && !(stored && cols[0].Vector.Len() <= o.Src.N) {
		for i, c := range cols {
			if c.Index != o {
				inner[i] = Probe{c.Vector, c.Index.inner.At, c.Index.inner}
			}
		}
		return o.At, inner, o.Src.N
	}
	if stored {
		return cols[0].At, inner, cols[0].Vector.Len()
	}
	return nil, nil, 0
}

// commonIndex is the index through which all columns are read first; some may be read through it alone. nil: there is
// none.
func commonIndex(cols []Probe) *Index {
	var o *Index
	for _, c := range cols {
		if o == nil && c.Index != nil {
			o = c.Index.outer
		}
	}
	if o == nil || o.At == nil || o.Missing {
		return nil
	}
	for _, c := range cols {
		if c.Index == nil || c.Index != o && (c.Index.outer != o || c.Index.inner.At == nil) {
			return nil
		}
	}
	return o
}

// LookUp finds the numbers of n keys (see encoder.probe) and reports whether some key is missing. Where many rows read
// few keys through an index, each of the few is looked up once.
func (st *Stage) LookUp(t *Lookup, cols []Probe, n int) (p []int32, lost bool, err error) {
	if outer, inner, rows := narrow(cols, n); outer != nil {
		q, lost, err := st.LookUp(t, inner, rows)
		if err != nil || !lost && !(t.unique && t.rows != nil) && IsIdentity(q) { // nothing writes to outer
			return outer, lost, err
		}
		p = st.Arrays.Ints(n)
		return p, lost, st.lanes(n, func(lo, hi int) { cpu.Through(p[lo:hi], outer[lo:hi], q) })
	}
	cols = listed(cols)
	plain := len(cols) > 0
	for c, l := range t.Enc.levels {
		plain = plain && l.dict == nil && !l.asFloat && cols[c].Vector.Kind() == column.I64
	}
	if !plain {
		v := make([]*column.Column, len(cols))
		for c := range cols {
			v[c] = cols[c].vector()
		}
		p = t.Enc.probe(AllRows(v, n))
		return p, slices.Contains(p, -1), nil
	}
	p = st.Arrays.Ints(n)
	missed := make([]bool, (n+st.env.Tune.LaneRows-1)/st.env.Tune.LaneRows)
	err = st.lanes(n, func(lo, hi int) {
		miss, first := false, 0
		if l := &t.Enc.levels[0]; l.direct() && cols[0].Vector.Valid() == nil {
			c := cols[0].rows(lo, hi)
			miss, first = l.table.runs[0].places(p[lo:hi], c.Vector.I64(), c.At), 1
		} else {
			clear(p[lo:hi])
		}
		for c := first; c < len(t.Enc.levels); c++ {
			miss = t.Enc.levels[c].probeInts(p[lo:hi], cols[c].rows(lo, hi)) // of the last level: it has all misses
		}
		missed[lo/st.env.Tune.LaneRows] = miss
	})
	return p, slices.Contains(missed, true), err
}

// rows is the column restricted to rows lo to hi.
func (c Probe) rows(lo, hi int) Probe {
	if c.At != nil {
		return Probe{Vector: c.Vector, At: c.At[lo:hi]}
	}
	v := c.Vector.Rows(lo, hi)
	return Probe{Vector: &v}
}

// probeInts replaces the numbers p of the keys so far by those with one more column, and reports whether a key is
// missing.
func (l *level) probeInts(p []int32, c Probe) bool {
	x, t := c.Vector.I64(), l.table
	if c.Vector.Valid() == nil && t.runs != nil {
		return t.findAll(p, x, c.At)
	}
	for i, q := range p {
		r := i
		if c.At != nil {
			r = int(c.At[i])
		}
		switch {
		case q < 0:
		case c.Vector.IsNull(r):
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

// direct reports whether the keys of the first column are consecutive, so that their numbers follow from the keys.
func (l *level) direct() bool { return len(l.table.runs) == 1 && l.table.same }

// places finds the places of keys in one run, -1 for keys outside.
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

// findAll is find for every key, in a table of runs: code i is x[at[i]], or x[i] where at is nil.
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
