package structure

import (
	"fmt"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// Lookup is the table of one side of a join: the rows of each key.
type Lookup struct {
	Enc    *encoder
	start  []int32
	rows   []int32 // rows in the order of the keys; nil: row i is row i
	unique bool    // no two rows have the same key
}

// matches tells the partners of each combo in a slot: rows[start[code]:start[code+1]].
type matches struct {
	*Lookup
	code  []int32 // per combo; -1: no partner
	lost  bool    // some combo has no partner
	pairs int64
	lane  []int64 // per lane: the pairs of all lanes before it
}

func (m *matches) row(i int32) int32 {
	if m.rows == nil {
		return i
	}
	return m.rows[i]
}

func (m *matches) each(c int, f func(c, r int32)) {
	if k := m.code[c]; k >= 0 {
		for i := m.start[k]; i < m.start[k+1]; i++ {
			f(int32(c), m.row(i))
		}
	}
}

func (j *joiner) match(s int, conds []ra.Equi) (*matches, error) {
	build := keyCols{rows: j.kept[s], n: j.size(s)}
	safe := make([]bool, len(conds))
	probe, cols := make([]*column.Column, len(conds)), make([]Probe, len(conds))
	id := ""
	for i, q := range conds {
		b, err := j.vec(q.R)
		if err != nil {
			return nil, err
		}
		p, err := j.probed(q.L)
		if err != nil {
			return nil, err
		}
		build.cols = append(build.cols, b)
		cols[i], probe[i], safe[i] = p, p.Vector, q.NullSafe
		id += fmt.Sprintf("%d %v %v,", j.n.Inputs[s].Index(q.R.ID), q.NullSafe, p.Vector.Type().IsFloat())
	}
	t := j.lookup(s, id, build, safe, Mixed(build.cols, probe))
	code, lost, err := j.st.LookUp(t, cols, j.count)
	if err != nil {
		return nil, err
	}
	m := &matches{Lookup: t, code: code, lost: lost}
	if t.unique {
		return m, nil
	}
	m.lane = make([]int64, (len(code)+j.st.env.Tune.LaneRows-1)/j.st.env.Tune.LaneRows)
	j.st.env.Crew().Cut(len(code), j.st.env.Tune.LaneRows, func(lane, lo, hi int) {
		for _, k := range code[lo:hi] {
			if k >= 0 {
				m.lane[lane] += int64(t.start[k+1] - t.start[k])
			}
		}
	})
	for i, n := range m.lane {
		m.lane[i], m.pairs = m.pairs, m.pairs+n
	}
	return m, nil
}

// expand lists all pairs of a combo and a row.
func (j *joiner) expand(m *matches) (combo, row []int32) {
	combo, row = j.st.Arrays.Ints(int(m.pairs)), j.st.Arrays.Ints(int(m.pairs))
	j.st.env.Crew().Cut(len(m.code), j.st.env.Tune.LaneRows, func(lane, first, last int) {
		at := int(m.lane[lane])
		for c, k := range m.code[first:last] {
			if k < 0 {
				continue
			}
			lo, hi := m.start[k], m.start[k+1]
			to := at + int(hi-lo)
			Fill(combo[at:to], int32(first+c))
			if m.rows != nil {
				copy(row[at:to], m.rows[lo:hi])
			} else {
				ascend(row[at:to], lo)
			}
			at = to
		}
	})
	return combo, row
}

// partners returns the row that each combo meets (at most one), and the combos that meet one: nil where all do. It
// overwrites the codes.
func (j *joiner) partners(m *matches) (row, combo []int32) {
	row = m.code
	if m.rows != nil {
		j.st.env.Crew().each(len(row), func(lo, hi int) { cpu.Through(row[lo:hi], row[lo:hi], m.rows) })
	}
	if !m.lost {
		return row, nil
	}
	combo = j.st.Arrays.Ints(len(row))[:0]
	for c, r := range row {
		if r >= 0 {
			row[len(combo)] = r
			combo = append(combo, int32(c))
		}
	}
	return row[:len(combo)], combo
}

// met is the result of partners, kept for joins that ask again.
type met struct{ row, combo []int32 }

// metKey identifies the partners of slot s under the conditions. ok is false where the combos are not the rows of one
// relation.
func (j *joiner) metKey(s int, conds []ra.Equi) (key string, ok bool, err error) {
	if j.kept[s] != nil {
		return "", false, nil
	}
	key = fmt.Sprintf("%p %d", j.in[s], j.count)
	for _, q := range conds {
		in := j.n.Inputs[q.L.Input]
		if !j.all[q.L.Input] {
			return "", false, nil
		}
		x, err := j.st.from.Name(in, in.Index(q.L.ID))
		if err != nil {
			return "", false, err
		}
		key += fmt.Sprintf(" %d %d %v", j.n.Inputs[s].Index(q.R.ID), x.ID, q.NullSafe)
	}
	return key, true, nil
}

// probed is a column of a joined slot, with one row for each combo.
func (j *joiner) probed(c kernels.Col) (Probe, error) {
	if in := j.n.Inputs[c.Input]; j.all[c.Input] {
		return j.st.from.Probe(in, in.Index(c.ID))
	}
	v, err := j.vec(c)
	at := j.at[c.Input]
	if at == nil {
		at = []int32{}
	}
	return Probe{Vector: v, At: at}, err
}

// lookup makes the table of slot s. It reuses the one that an earlier join or step made of the same columns, if the
// relation does not change between steps.
func (j *joiner) lookup(s int, id string, build keyCols, safe, asFloat []bool) *Lookup {
	keep := j.lasting(s)
	if t := j.in[s].lookups[id]; t != nil && keep {
		return t
	}
	t := tableOf(build, safe, asFloat, func(n int) []int32 { return j.lists(keep, n) })
	if keep {
		if j.in[s].lookups == nil {
			j.in[s].lookups = map[string]*Lookup{}
		}
		j.in[s].lookups[id] = t
	}
	return t
}

// tableOf makes the table of keys. lists allocates its rows.
func tableOf(build keyCols, safe, asFloat []bool, lists func(n int) []int32) *Lookup {
	t := &Lookup{Enc: NewEncoder(build, safe, asFloat)}
	start, order := sortByCode(t.Enc.Code, t.Enc.Count)
	t.start, t.unique = start, int(start[t.Enc.Count]) == t.Enc.Count
	if order != nil || build.rows != nil || int(start[t.Enc.Count]) != build.n {
		t.rows = lists(int(start[t.Enc.Count]))
		for i := range t.rows {
			r := int32(i)
			if order != nil {
				r = order[i]
			}
			t.rows[i] = int32(build.row(int(r)))
		}
	}
	t.Enc.Code = nil
	return t
}

// lists allocates the rows of a table, for the run if keep is set.
func (j *joiner) lists(keep bool, n int) []int32 {
	st := j.st
	for keep && st.parent != nil {
		st = st.parent
	}
	return st.Arrays.Ints(n)
}

// lasting reports whether the keys of slot s in the conditions stay the same for the whole run.
func (j *joiner) lasting(s int) bool {
	return j.kept[s] == nil && !j.st.env.Flow.Structure[j.n.Inputs[s]] && !j.st.own[j.n.Inputs[s]] && !j.varying(s)
}

// varying reports whether a key of slot s in the conditions changes between steps though its rows stay.
func (j *joiner) varying(s int) bool {
	in := j.n.Inputs[s]
	for _, q := range j.equis {
		for _, c := range []kernels.Col{q.L, q.R} {
			if c.Input == s && j.st.env.Flow.Column[ColumnOf{in, in.Index(c.ID)}] {
				return true
			}
		}
	}
	return false
}

// ForgetKeys frees the relation's keys and the tables in which they are looked up.
func (r *Relation) ForgetKeys() {
	r.Vectors, r.lookups = map[int]*column.Column{}, map[string]*Lookup{}
}

// LookupBytes is the size of the tables in which the relation's keys are looked up.
func (r *Relation) LookupBytes() (n int64) {
	for _, l := range r.lookups {
		n += int64(4*len(l.start)) + l.Enc.bytes()
	}
	return n
}

func (e *encoder) bytes() (n int64) {
	for _, l := range e.levels {
		n += int64(4*len(l.table.dense) + len(l.table.runs)*int(unsafe.Sizeof(run{})) +
			len(l.table.slots)*int(unsafe.Sizeof(pair{})))
	}
	return n
}
