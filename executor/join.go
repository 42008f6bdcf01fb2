package executor

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// joiner joins the inputs of a node one by one: combos of rows so far, a column of rows per joined slot.
type joiner struct {
	st     *stage
	n      *ra.Node
	in     []*rel
	kept   [][]int32 // per slot: the rows that its own conditions keep, nil: all
	slots  []int     // joined so far
	at     [][]int32 // per slot: its row in each combo, nil before it is joined (or: row i, when all is true)
	all    []bool    // per slot: at is the identity and left out
	count  int
	preds  []*filter
	equis  []ra.Equi
	unused []bool // equis not yet used
}

func (st *stage) join(n *ra.Node, inputs []*rel) (*rel, error) {
	j, err := st.newJoiner(n, inputs)
	if err != nil {
		return nil, err
	}
	if err := j.bounded(); err != nil {
		return nil, err
	}
	if len(j.in) == 0 { // a SELECT without FROM has one row
		j.count = 1
		for _, f := range j.preds {
			keep, err := f.run(nil, j.count)
			if err != nil {
				return nil, err
			}
			j.count = len(keep)
		}
	}
	for len(j.slots) < len(j.in) {
		if err := j.add(j.next()); err != nil {
			return nil, err
		}
	}
	return j.finish(), nil
}

func (st *stage) newJoiner(n *ra.Node, inputs []*rel) (*joiner, error) {
	j := &joiner{st: st, n: n, in: inputs, kept: make([][]int32, len(inputs)), at: make([][]int32, len(inputs)),
		all: make([]bool, len(inputs)), equis: n.Equi, unused: make([]bool, len(n.Equi))}
	for i := range j.unused {
		j.unused[i] = true
	}
	for _, p := range n.Pred {
		f, err := st.newFilter(n, inputs, p)
		if err != nil {
			return nil, err
		}
		j.preds = append(j.preds, f)
	}
	for s := range inputs {
		if err := j.restrict(s); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// bounded refuses a product without any condition that is too large, before a part of it is made.
func (j *joiner) bounded() error {
	if len(j.equis) > 0 || len(j.preds) > 0 {
		return nil
	}
	rows := 1.0
	for s := range j.in {
		rows *= float64(j.size(s))
	}
	if rows > maxRows {
		return tooManyRows(fmt.Sprintf("a join without conditions of %d relations", len(j.in)))
	}
	return nil
}

// restrict applies to the rows of slot s the conditions that read no other slot (those that read none at
// all: with slot 0).
func (j *joiner) restrict(s int) error {
	for q, c := range j.equis {
		if c.L.Input != s || c.R.Input != s {
			continue
		}
		l, err := j.vec(c.L)
		if err != nil {
			return err
		}
		r, err := j.vec(c.R)
		if err != nil {
			return err
		}
		j.unused[q] = false
		keep := make([]int32, 0, j.in[s].sp.n)
		b, p, _ := encode(allRows([]*ra.Vector{l}, l.N), allRows([]*ra.Vector{r}, r.N), []bool{c.NullSafe})
		for i := range b {
			if b[i] >= 0 && b[i] == p[i] {
				keep = append(keep, int32(i))
			}
		}
		j.kept[s] = intersect(j.kept[s], keep)
	}
	for _, f := range j.preds {
		if f.done || !f.reads(s, s) {
			continue
		}
		f.done = true
		at := make([][]int32, len(j.in))
		at[s] = j.kept[s]
		keep, err := f.run(at, j.size(s))
		if err != nil {
			return err
		}
		if j.kept[s] == nil {
			j.kept[s] = keep
			continue
		}
		for i, k := range keep {
			keep[i] = j.kept[s][k]
		}
		j.kept[s] = keep
	}
	return nil
}

// intersect keeps the rows that are in both ascending lists; a nil list holds all.
func intersect(a, b []int32) []int32 {
	if a == nil {
		return b
	}
	out, i := []int32{}, 0
	for _, r := range a {
		for i < len(b) && b[i] < r {
			i++
		}
		if i < len(b) && b[i] == r {
			out = append(out, r)
		}
	}
	return out
}

func (j *joiner) size(s int) int {
	if j.kept[s] == nil {
		return j.in[s].sp.n
	}
	return len(j.kept[s])
}

func (j *joiner) vec(c kernels.Col) (*ra.Vector, error) {
	in := j.n.Inputs[c.Input]
	return j.st.vec(in, in.Index(c.ID))
}

func (j *joiner) joined(s int) bool {
	for _, t := range j.slots {
		if t == s {
			return true
		}
	}
	return false
}

// add joins slot s.
func (j *joiner) add(s int) error {
	if len(j.slots) == 0 {
		j.slots, j.count = append(j.slots, s), j.size(s)
		j.at[s], j.all[s] = j.kept[s], j.kept[s] == nil
		return nil
	}
	m, err := j.match(s, j.conditions(s))
	if err != nil {
		return err
	}
	preds := j.ready(s)
	var combo, row []int32
	same := false // every combo stays, once
	if len(preds) == 0 && m.unique {
		if row, combo, err = j.partners(m); err != nil {
			return err
		}
		same = combo == nil
	} else if len(preds) == 0 {
		if m.pairs > maxRows {
			return tooManyRows("a join")
		}
		if err := j.st.p.fits(m.pairs * 4 * int64(len(j.slots)+1)); err != nil {
			return err
		}
		combo, row = m.expand(j.count)
	} else if combo, row, err = j.filtered(s, m, preds); err != nil {
		return err
	}
	if !same && !(len(combo) == j.count && isIdentity(combo)) {
		for _, t := range j.slots {
			j.at[t] = j.pick(t, combo)
			j.all[t] = false
		}
	}
	j.slots, j.count = append(j.slots, s), len(row)
	j.at[s] = row
	return j.st.ctx.Err()
}

// partners are the rows that the combos meet, one each at most, and the combos that meet one: nil where all do.
func (j *joiner) partners(m *matches) (row, combo []int32, err error) {
	row = m.code
	if m.rows != nil {
		if err := j.st.lanes(len(row), func(lo, hi int) {
			for i, k := range row[lo:hi] {
				if k >= 0 {
					row[lo+i] = m.rows[k]
				}
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	if !slices.Contains(row, -1) {
		return row, nil, nil
	}
	combo = make([]int32, 0, len(row))
	for c, r := range row {
		if r >= 0 {
			row[len(combo)] = r
			combo = append(combo, int32(c))
		}
	}
	return row[:len(combo)], combo, nil
}

// pick is the rows of slot t in the given combos.
func (j *joiner) pick(t int, combo []int32) []int32 {
	if j.all[t] {
		return append([]int32{}, combo...)
	}
	out := make([]int32, len(combo))
	for i, c := range combo {
		out[i] = j.at[t][c]
	}
	return out
}

// matches tells the partners of each combo in a slot: rows[start[code]:start[code+1]].
type matches struct {
	*lookup
	code  []int32 // per combo, -1: none
	pairs int64
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

// expand lists all pairs of a combo and a row.
func (m *matches) expand(count int) (combo, row []int32) {
	combo, row = make([]int32, m.pairs), make([]int32, m.pairs)
	at := 0
	for c, k := range m.code[:count] {
		if k < 0 {
			continue
		}
		lo, hi := m.start[k], m.start[k+1]
		to := at + int(hi-lo)
		for i := range combo[at:to] {
			combo[at+i] = int32(c)
		}
		if m.rows != nil {
			copy(row[at:to], m.rows[lo:hi])
		} else {
			for i := range row[at:to] {
				row[at+i] = lo + int32(i)
			}
		}
		at = to
	}
	return combo, row
}

func (j *joiner) match(s int, conds []ra.Equi) (*matches, error) {
	build := keyCols{rows: j.kept[s], n: j.size(s)}
	safe := make([]bool, len(conds))
	probe, cols := make([]*ra.Vector, len(conds)), make([]probeCol, len(conds))
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
		cols[i], probe[i], safe[i] = p, p.v, q.NullSafe
		id += fmt.Sprintf("%d %v %v,", j.n.Inputs[s].Index(q.R.ID), q.NullSafe, p.v.Type.IsFloat())
	}
	t := j.lookup(s, id, build, safe, mixed(build.cols, probe))
	code, err := j.st.probe(t.enc, cols, j.count)
	if err != nil {
		return nil, err
	}
	m := &matches{lookup: t, code: code}
	if t.unique {
		return m, nil
	}
	for _, k := range m.code {
		if k >= 0 {
			m.pairs += int64(t.start[k+1] - t.start[k])
		}
	}
	return m, nil
}

// probed is a column of a joined slot, one row for each combo.
func (j *joiner) probed(c kernels.Col) (probeCol, error) {
	if in := j.n.Inputs[c.Input]; j.all[c.Input] {
		return j.st.through(in, in.Index(c.ID))
	}
	v, err := j.vec(c)
	at := j.at[c.Input]
	if at == nil {
		at = []int32{}
	}
	return probeCol{v, at}, err
}

// lookup is what one side of a join is looked up in: the rows of each key.
type lookup struct {
	enc    *encoder
	start  []int32
	rows   []int32 // by start; nil: row i is row i
	unique bool    // no key has two rows
}

// lookup makes the table of slot s, or takes the one that an earlier join or step made of the same columns of
// a relation that does not change between steps.
func (j *joiner) lookup(s int, id string, build keyCols, safe, asFloat []bool) *lookup {
	keep := j.lasting(s)
	if t := j.in[s].look[id]; t != nil && keep {
		return t
	}
	t := &lookup{enc: newEncoder(build, safe, asFloat)}
	start, order := sortByCode(t.enc.code, t.enc.count)
	t.start, t.unique = start, int(start[t.enc.count]) == t.enc.count
	if order != nil || build.rows != nil || int(start[t.enc.count]) != build.n {
		t.rows = make([]int32, start[t.enc.count])
		for i := range t.rows {
			r := int32(i)
			if order != nil {
				r = order[i]
			}
			t.rows[i] = int32(build.row(int(r)))
		}
	}
	if t.enc.code = nil; keep {
		if j.in[s].look == nil {
			j.in[s].look = map[string]*lookup{}
		}
		j.in[s].look[id] = t
	}
	return t
}

// lasting reports whether what is found out about the columns of slot s in the conditions holds for the whole run.
func (j *joiner) lasting(s int) bool {
	return j.kept[s] == nil && !j.st.p.flow.structure[j.n.Inputs[s]] && !j.varying(s)
}

// varying reports whether a column of slot s in the conditions changes between steps though its rows do not.
func (j *joiner) varying(s int) bool {
	in := j.n.Inputs[s]
	for _, q := range j.equis {
		for _, c := range []kernels.Col{q.L, q.R} {
			if c.Input == s && j.st.p.flow.column[colKey{n: in, col: in.Index(c.ID)}] {
				return true
			}
		}
	}
	return false
}

// gatherVector picks rows.
func gatherVector(v *ra.Vector, at []int32) *ra.Vector {
	out := ra.NewVector(v.Type, len(at))
	size := v.Type.Size()
	for i, r := range at {
		switch {
		case v.Ints != nil:
			out.Ints[i] = v.Ints[r]
		case v.F64 != nil:
			copy(out.F64[i*size:(i+1)*size], v.F64[int(r)*size:])
		case v.F32 != nil:
			copy(out.F32[i*size:(i+1)*size], v.F32[int(r)*size:])
		case v.Texts != nil:
			out.Texts[i] = v.Texts[r]
		}
	}
	if v.Valid != nil {
		out.Valid = make([]bool, len(at))
		for i, r := range at {
			out.Valid[i] = v.Valid[r]
		}
	}
	return out
}

// ready lists the predicates that can be checked once slot s is joined.
func (j *joiner) ready(s int) []*filter {
	var out []*filter
	for _, f := range j.preds {
		if !f.done && f.reads(append(j.slots[:len(j.slots):len(j.slots)], s)...) {
			f.done = true
			out = append(out, f)
		}
	}
	return out
}

// pairBlock bounds the pairs that are held before predicates thin them out.
const pairBlock = 1 << 16

// filtered makes the pairs block by block and keeps those on which all predicates hold.
func (j *joiner) filtered(s int, m *matches, preds []*filter) (combo, row []int32, err error) {
	var bc, br []int32
	flush := func() {
		if err == nil {
			err = j.st.ctx.Err()
		}
		for _, f := range preds {
			if err != nil {
				return
			}
			at := make([][]int32, len(j.in))
			for _, t := range j.slots {
				if f.slot[t] {
					at[t] = j.pick(t, bc)
				}
			}
			at[s] = br
			var keep []int32
			if keep, err = f.run(at, len(bc)); err != nil {
				return
			}
			for i, k := range keep {
				bc[i], br[i] = bc[k], br[k]
			}
			bc, br = bc[:len(keep)], br[:len(keep)]
		}
		combo, row = append(combo, bc...), append(row, br...)
		bc, br = bc[:0], br[:0]
		if len(combo) > maxRows {
			err = tooManyRows("a join")
		}
	}
	for c := 0; c < j.count && err == nil; c++ {
		m.each(c, func(c, r int32) {
			if bc, br = append(bc, c), append(br, r); len(bc) == pairBlock && err == nil {
				flush()
			}
		})
	}
	if err == nil {
		flush()
	}
	return combo, row, err
}

// finish names the space of the result: that of a slot whose rows all occur once and in order, else a new one.
func (j *joiner) finish() *rel {
	r := &rel{idx: make([]*index, len(j.in))}
	for s := range j.in {
		if j.all[s] || j.count == j.in[s].sp.n && isIdentity(j.at[s]) {
			j.all[s], j.at[s] = true, nil
			if r.sp == nil {
				r.sp = j.in[s].sp
			}
		}
	}
	if r.sp == nil {
		r.sp = j.st.space(j.count)
	}
	for s := range j.in {
		at := j.at[s]
		if at == nil && !j.all[s] {
			at = []int32{}
		}
		r.idx[s] = j.st.main.index(r.sp, j.in[s].sp, at)
	}
	return r
}

// semi keeps the rows of slot 0 that have (SemiJoin) or lack a partner in slot 1.
func (st *stage) semi(n *ra.Node, inputs []*rel) (*rel, error) {
	j, err := st.newJoiner(n, inputs)
	if err != nil {
		return nil, err
	}
	hit := make([]bool, inputs[0].sp.n)
	if err := j.add(0); err != nil {
		return nil, err
	}
	m, err := j.match(1, j.conditions(1))
	if err != nil {
		return nil, err
	}
	mark := func(c int32) {
		if j.kept[0] != nil {
			c = j.kept[0][c]
		}
		hit[c] = true
	}
	if preds := j.ready(1); len(preds) > 0 {
		combo, _, err := j.filtered(1, m, preds)
		if err != nil {
			return nil, err
		}
		for _, c := range combo {
			mark(c)
		}
	} else {
		for c, k := range m.code {
			if k >= 0 && m.start[k+1] > m.start[k] {
				mark(int32(c))
			}
		}
	}
	at := make([]int32, 0, len(hit))
	for i, h := range hit {
		if h == (n.Op == ra.SemiJoin) {
			at = append(at, int32(i))
		}
	}
	if len(at) == len(hit) {
		return &rel{sp: inputs[0].sp, idx: []*index{nil}}, nil
	}
	sp := st.space(len(at))
	return &rel{sp: sp, idx: []*index{st.main.index(sp, inputs[0].sp, at)}}, nil
}

func tooMuch(bytes, budget int64) error {
	return sqlerr.New(sqlerr.OutOfMemory, "the plan needs %d bytes more than the memory budget of %d", bytes, budget).
		WithHint("Read fewer rows or smaller chunks: the budget is three quarters of the memory that this process may have.")
}
