package structure

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
)

// joiner joins the inputs (slots) of a node one by one. A combo is a row of the join so far: one row of each joined
// slot.
type joiner struct {
	st     *Stage
	n      *ra.Node
	in     []*Relation
	kept   [][]int32 // per slot: the rows that conditions on it alone keep; nil: all
	slots  []int     // joined so far
	at     [][]int32 // per slot: its row in each combo; nil before it is joined, and where all is true
	all    []bool    // per slot: combo i has its row i
	count  int
	preds  []*Filter
	equis  []ra.Equi
	unused []bool // which equis are unused
}

func (st *Stage) join(n *ra.Node, inputs []*Relation) (*Relation, error) {
	if r, err := st.grid(n, inputs); r != nil || err != nil {
		return r, err
	}
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
			keep, err := f.Run(nil, j.count, make([]int32, j.count))
			if err != nil {
				return nil, err
			}
			j.count = len(keep)
		}
	}
	for len(j.slots) < len(j.in) {
		if err := st.Ctx.Err(); err != nil {
			return nil, err
		}
		if err := j.add(j.next()); err != nil {
			return nil, err
		}
	}
	return j.finish(), nil
}

func (st *Stage) newJoiner(n *ra.Node, inputs []*Relation) (*joiner, error) {
	j := &joiner{st: st, n: n, in: inputs, kept: make([][]int32, len(inputs)), at: make([][]int32, len(inputs)),
		all: make([]bool, len(inputs)), equis: n.Equi, unused: make([]bool, len(n.Equi))}
	for i := range j.unused {
		j.unused[i] = true
	}
	for _, p := range n.Pred {
		f, err := st.from.Filter(n, inputs, p)
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

// bounded refuses a product that is too large before any of it is made, where it has no conditions.
func (j *joiner) bounded() error {
	if len(j.equis) > 0 || len(j.preds) > 0 {
		return nil
	}
	rows := 1.0
	for s := range j.in {
		rows *= float64(j.size(s))
	}
	if rows > MaxRows {
		return tooManyRows(fmt.Sprintf("a join without conditions of %d relations", len(j.in)))
	}
	return nil
}

// restrict filters the rows of slot s by the conditions that read no other slot. Conditions that read no slot at all go
// with slot 0.
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
		keep := make([]int32, 0, j.in[s].Space.N)
		b, p, _ := Encode(AllRows([]*column.Column{l}, l.Len()), AllRows([]*column.Column{r}, r.Len()), []bool{c.NullSafe})
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
		keep, err := f.Run(at, j.size(s), j.st.Arrays.Ints(j.size(s)))
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

// intersect returns the rows that are in both ascending lists; nil stands for all rows.
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
		return j.in[s].Space.N
	}
	return len(j.kept[s])
}

func (j *joiner) vec(c kernels.Col) (*column.Column, error) {
	in := j.n.Inputs[c.Input]
	return j.st.from.Vector(in, in.Index(c.ID))
}

func (j *joiner) joined(s int) bool { return slices.Contains(j.slots, s) }

// add joins slot s.
func (j *joiner) add(s int) error {
	if len(j.slots) == 0 {
		j.slots, j.count = append(j.slots, s), j.size(s)
		j.at[s], j.all[s] = j.kept[s], j.kept[s] == nil
		return nil
	}
	preds := j.ready(s)
	conds := j.conditions(s)
	if len(conds)+len(preds) == 0 {
		return j.cross(s)
	}
	if same, err := j.itself(s, conds); err != nil || same && len(preds) == 0 {
		j.joinedTo(s, nil)
		j.all[s], j.count = true, j.in[s].Space.N
		return err
	}
	combo, row, same, err := j.meet(s, conds, preds)
	if err != nil {
		return err
	}
	if !same && !(len(combo) == j.count && IsIdentity(combo)) {
		j.keep(combo)
	}
	j.joinedTo(s, row)
	return j.st.Ctx.Err()
}

// meet finds the combos and the rows of slot s that match; same: every combo matches exactly one row.
func (j *joiner) meet(s int, conds []ra.Equi, preds []*Filter) (combo, row []int32, same bool, err error) {
	key, named, err := j.metKey(s, conds)
	if err != nil {
		return nil, nil, false, err
	}
	if found, ok := j.st.met[key]; named && len(preds) == 0 && ok {
		return found.combo, found.row, found.combo == nil, nil
	}
	m, err := j.match(s, conds)
	switch {
	case err != nil:
		return nil, nil, false, err
	case len(preds) > 0:
		combo, row, err = j.filtered(s, m, preds)
		return combo, row, false, err
	case m.unique:
		if row, combo = j.partners(m); named {
			j.st.met[key] = met{row, combo}
		}
		return combo, row, combo == nil, nil
	}
	if err := j.mayHold(m.pairs); err != nil {
		return nil, nil, false, err
	}
	combo, row = j.expand(m)
	return combo, row, false, nil
}

// itself reports whether the conditions join row i of slot s with combo i: they compare equal columns, which tell the
// rows apart. A gradient meets its own relation so.
func (j *joiner) itself(s int, conds []ra.Equi) (bool, error) {
	if j.kept[s] != nil || !j.declared(s, conds) {
		return false, nil
	}
	for _, q := range conds {
		l, r := j.n.Inputs[q.L.Input], j.n.Inputs[s]
		if !j.all[q.L.Input] || j.in[q.L.Input].Space != j.in[s].Space {
			return false, nil
		}
		x, err := j.st.from.Name(l, l.Index(q.L.ID))
		if err != nil {
			return false, err
		}
		y, err := j.st.from.Name(r, r.Index(q.R.ID))
		if err != nil || x != y || x.Nullable && !q.NullSafe {
			return false, err
		}
	}
	return true, nil
}

// joinedTo records the rows of slot s as joined.
func (j *joiner) joinedTo(s int, row []int32) {
	j.slots, j.count = append(j.slots, s), len(row)
	j.at[s] = row
}

// keep leaves only the given combos.
func (j *joiner) keep(combo []int32) {
	for _, t := range j.slots {
		j.at[t] = j.pick(t, combo)
		j.all[t] = false
	}
}

// mayHold refuses a join of too many pairs.
func (j *joiner) mayHold(pairs int64) error {
	if pairs > MaxRows {
		return tooManyRows("a join")
	}
	return j.st.env.Budget.MayHold(pairs * 4 * int64(len(j.slots)+1))
}

// cross joins slot s without a condition: every combo with every row.
func (j *joiner) cross(s int) error {
	each := j.size(s)
	if each == 1 {
		row := int32(0)
		if j.kept[s] != nil {
			row = j.kept[s][0]
		}
		j.joinedTo(s, j.st.same(row, j.count))
		return nil
	}
	pairs := int64(each) * int64(j.count)
	if err := j.mayHold(pairs); err != nil {
		return err
	}
	combo, row := j.st.Arrays.Ints(int(pairs)), j.st.Arrays.Ints(int(pairs))
	kept := j.kept[s]
	if err := j.st.lanes(len(row), func(lo, hi int) {
		if cpu.Cross(lo, each, combo[lo:hi], row[lo:hi]); kept != nil {
			cpu.Through(row[lo:hi], row[lo:hi], kept)
		}
	}); err != nil {
		return err
	}
	j.keep(combo)
	j.joinedTo(s, row)
	return nil
}

// ascend writes from, from+1, …
func ascend(out []int32, from int32) {
	for i := range out {
		out[i] = from + int32(i)
	}
}

// same is a list of n times the same row.
func (st *Stage) same(row int32, n int) []int32 {
	if row != 0 {
		out := st.Arrays.Ints(n)
		Fill(out, row)
		return out
	}
	if len(st.env.zeros) < n {
		st.env.zeros = make([]int32, n)
	}
	return st.env.zeros[:n:n]
}

// pick returns the row of slot t in each of the combos.
func (j *joiner) pick(t int, combo []int32) []int32 {
	if j.all[t] {
		return combo
	}
	out := j.st.Arrays.Ints(len(combo))
	j.st.env.Crew().each(len(combo), func(lo, hi int) { cpu.Through(out[lo:hi], combo[lo:hi], j.at[t]) })
	return out
}

// ready lists the predicates whose slots are all joined once s is.
func (j *joiner) ready(s int) []*Filter {
	var out []*Filter
	for _, f := range j.preds {
		if !f.done && f.reads(append(j.slots[:len(j.slots):len(j.slots)], s)...) {
			f.done = true
			out = append(out, f)
		}
	}
	return out
}

// pairBlock is how many pairs are made before predicates filter them.
const pairBlock = 1 << 16

// filtered makes the pairs block by block and keeps those on which all predicates hold.
func (j *joiner) filtered(s int, m *matches, preds []*Filter) (combo, row []int32, err error) {
	var bc, br []int32
	buf := make([]int32, pairBlock)
	flush := func() {
		if err == nil {
			err = j.st.Ctx.Err()
		}
		for _, f := range preds {
			if err != nil {
				return
			}
			at := make([][]int32, len(j.in))
			for _, t := range j.slots {
				if f.Slots[t] {
					at[t] = j.pick(t, bc)
				}
			}
			at[s] = br
			var keep []int32
			if keep, err = f.Run(at, len(bc), buf); err != nil {
				return
			}
			for i, k := range keep {
				bc[i], br[i] = bc[k], br[k]
			}
			bc, br = bc[:len(keep)], br[:len(keep)]
		}
		combo, row = append(combo, bc...), append(row, br...)
		bc, br = bc[:0], br[:0]
		if len(combo) > MaxRows {
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

// finish chooses the space of the result: that of a slot all of whose rows occur once and in order, else a new one.
func (j *joiner) finish() *Relation {
	r := &Relation{Indexes: make([]*Index, len(j.in))}
	for s := range j.in {
		if j.all[s] || j.count == j.in[s].Space.N && IsIdentity(j.at[s]) {
			j.all[s], j.at[s] = true, nil
			if r.Space == nil {
				r.Space = j.in[s].Space
			}
		}
	}
	if r.Space == nil {
		r.Space = j.st.Space(j.count)
	}
	for s := range j.in {
		at := j.at[s]
		if at == nil && !j.all[s] {
			at = []int32{}
		}
		r.Indexes[s] = j.st.Indexer.Index(r.Space, j.in[s].Space, at)
	}
	return r
}

// semi keeps the rows of slot 0 that have a partner in slot 1 (SemiJoin), or that have none.
func (st *Stage) semi(n *ra.Node, inputs []*Relation) (*Relation, error) {
	j, err := st.newJoiner(n, inputs)
	if err != nil {
		return nil, err
	}
	if j.fewPartners() {
		return j.rowsOfPartners()
	}
	hit := make([]bool, inputs[0].Space.N)
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
	at := st.Arrays.Ints(len(hit))[:0]
	for i, h := range hit {
		if h == (n.Op == ra.SemiJoin) {
			at = append(at, int32(i))
		}
	}
	return j.chosen(at), nil
}
