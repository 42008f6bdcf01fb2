package executor

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Param is a parameter's column in the program's memory: rows × size numbers, with the buffers of its optimizer. The
// next Run reads what is written there. Rows that are NULL are not valid and must stay so.
type Param struct {
	Rows, Size int
	Valid      []byte // 0: the row is NULL; nil: no row is
	table      *tableData
	col        int
	home       home // nil: detached
	data       *column.Column
	leaf       *values.Val
	state      []*column.Column
	halfway    error // why nobody may read it: see Program.stop
}

// home is where a parameter's columns lie: a device, or several sites.
type home interface {
	Fetch(c *column.Column) error
	Store(c *column.Column) error
}

// Detached is a parameter that no program computes, with so many buffers.
func Detached(t kernels.Type, rows, buffers int) *Param {
	q := &Param{Rows: rows, Size: t.Size()}
	for range buffers {
		d := column.OnHeap(column.KindOf(t), rows, t.Size(), false)
		q.state = append(q.state, &d)
	}
	return q
}

// Values are the column's numbers as they are now, until the next Run or Step.
func (q *Param) Values() (*column.Column, error) { return q.data, q.fetch(q.data) }

// State are the optimizer's buffers as they are now, until the next Run or Step.
func (q *Param) State() ([]*column.Column, error) {
	state := q.buffers()
	return state, q.fetch(state...)
}

// buffers are the optimizer's buffers, with what they were when they were read last.
func (q *Param) buffers() []*column.Column {
	if o, ok := q.home.(*owners); ok {
		o.collect(q)
	}
	return q.state
}

func (q *Param) fetch(cols ...*column.Column) error {
	if q.halfway != nil || q.home == nil {
		return q.halfway
	}
	for _, c := range cols {
		if err := q.home.Fetch(c); err != nil {
			return err
		}
	}
	return nil
}

// SetState has the buffers be what fill makes of them.
func (q *Param) SetState(fill func(state []*column.Column) error) error {
	state, err := q.State()
	if err != nil {
		return err
	}
	if err := fill(state); err != nil || q.home == nil {
		return err
	}
	for _, c := range state {
		if err := q.home.Store(c); err != nil {
			return err
		}
	}
	return nil
}

// Set changes one number of the column.
func (q *Param) Set(element int, x float64) error {
	d, err := q.Values()
	if err != nil {
		return err
	}
	d.SetFloat(element, x)
	return q.home.Store(d)
}

// SetValues has the column be what fill makes of its numbers. NULLs stay.
func (q *Param) SetValues(fill func(values *column.Column)) error {
	d, err := q.Values()
	if err != nil {
		return err
	}
	fill(d)
	return q.home.Store(d)
}

// Copy takes over another program's values of the column, and its state where both have one.
func (q *Param) Copy(from *Param) error {
	if err := q.take(q.data, from, from.data); err != nil {
		return err
	}
	for i := range min(len(q.buffers()), len(from.buffers())) {
		if err := q.take(q.state[i], from, from.state[i]); err != nil {
			return err
		}
	}
	return nil
}

// take copies a column of another program, whose device may be another.
func (q *Param) take(to *column.Column, other *Param, from *column.Column) error {
	if err := other.fetch(from); err != nil {
		return err
	}
	if err := q.fetch(to); err != nil { // its NULLs stay
		return err
	}
	to.Fill(from)
	return q.home.Store(to)
}

// Null reports whether a row is NULL.
func (q *Param) Null(row int) bool { return q.Valid != nil && q.Valid[row] == 0 }

// free lets go of the memory.
func (q *Param) free() {
	q.data.Free()
	for _, d := range q.state {
		d.Free()
	}
}

// param returns the buffer of a table's column. The first call makes it from v.
func (m *holdings) param(t *tableData, col int, v *column.Column) (*Param, error) {
	for _, q := range m.params {
		if q.table == t && q.col == col {
			return q, nil
		}
	}
	k := column.KindOf(v.Type())
	if m.opt.Force64 {
		k = column.F64
	}
	d := t.own[col]
	if d != nil && d.Len() == v.Len() {
		delete(t.own, col)
		if column.SameMemory(d, v) { // a copy may have taken the column's place
			m.ledger.columns -= int64(len(v.Bytes()))
		}
		switch { // whether there are NULLs is decided by the rows, not by the type
		case v.Valid() == nil:
			d.SetValid(nil)
		case d.Valid() == nil:
			d.SetValid(make([]byte, v.Len()))
		}
	} else { // v was not read into d
		var err error
		if d, err = device.NewColumn(m.device, k, v.Len(), v.Size(), v.Valid() != nil); err != nil {
			return nil, err
		}
	}
	q := &Param{Rows: v.Len(), Size: d.Size(), table: t, col: col, home: m.device, data: d}
	m.params = append(m.params, q)
	return q, q.fill(v)
}

// becomes reports whether v, a column that has been read, lies in the memory of a parameter, so that training changes
// it.
func (m *holdings) becomes(t *tableData, col int, v *column.Column) bool {
	return t.own[col] != nil && column.SameMemory(t.own[col], v) || slices.ContainsFunc(m.params,
		func(q *Param) bool { return q.table == t && q.col == col && column.SameMemory(q.data, v) })
}

// fill has the column be v, with its NULLs.
func (q *Param) fill(v *column.Column) error {
	if err := q.fetch(v); err != nil { // it may lie in the column's own memory
		return err
	}
	q.data.Fill(v)
	if q.data.Valid() != nil {
		q.Valid = make([]byte, q.Rows)
	}
	for i := range q.Valid {
		if !v.IsNull(i) {
			q.Valid[i] = 1
		}
	}
	copy(q.data.Valid(), q.Valid)
	return q.home.Store(q.data)
}

// live returns the live buffer of a parameter's column, nil where the plan does not read it.
func (p *site) live(t *ra.Table, col int) *Param {
	for _, q := range p.params {
		if tableKey(q.table.t) == tableKey(t) && q.col == col {
			return q
		}
	}
	return nil
}

func (p *site) grad(i, col int) *column.Column {
	if !p.ran {
		return nil
	}
	if d := p.roots[i][col].V.Data; d.Kind() == column.F32 || d.Kind() == column.F64 {
		return d
	}
	return nil
}

// match is Match at one site.
func (p *site) match(i int, t *ra.Table, key []int) (rows []int32, err error) {
	defer guard(&err)
	st := p.run
	if p.steps {
		st = p.step
	}
	n := p.plan.Roots[i].Node
	var scan *ra.Node
	ra.Walk(func(m *ra.Node) {
		if m.Op == ra.Scan && tableKey(m.Table) == tableKey(t) {
			scan = m
		}
	}, p.plan.Nodes()...)
	if scan == nil || st == nil || len(scan.Key) != len(key) {
		return nil, internal("root %s is not keyed like %s", p.plan.Roots[i].Name, t.Name)
	}
	ids := lists.Map(key, func(at int) ra.ColumnID { return p.plan.Roots[i].Cols[at] })
	keys, safe, err := st.Vectors(scan, scan.Key)
	if err != nil {
		return nil, err
	}
	cols, probe := make([]structure.Probe, len(ids)), make([]*column.Column, len(ids))
	for k, id := range ids {
		if cols[k], err = st.Probe(n, n.Index(id)); err != nil {
			return nil, err
		}
		probe[k] = cols[k].Vector
	}
	from, err := st.Relation(scan)
	if err != nil {
		return nil, err
	}
	to, err := st.Relation(n)
	if err != nil {
		return nil, err
	}
	x := p.finders[p.table(t)]
	if x == nil {
		x = &structure.Lookup{
			Enc: structure.NewEncoder(structure.AllRows(keys, from.Space.N), safe, structure.Mixed(keys, probe)),
		} // an identity occurs once, so its number is its row
		if x.Enc.Code = nil; x.Enc.Count != from.Space.N && len(key) > 0 {
			return nil, internal("%d rows of %s have %d keys", from.Space.N, t.Name, x.Enc.Count)
		}
		if !p.flow.Structure[scan] {
			p.finders[p.table(t)] = x
		}
	}
	rows, _, err = st.LookUp(x, cols, to.Space.N)
	return rows, err
}

// reload reads a parameter's column from the source again. The table must have the same keys as before.
func (p *site) reload(ctx context.Context, t *ra.Table, col int) (err error) {
	defer guard(&err)
	q := p.live(t, col)
	if q == nil {
		return internal("%s.%s is no parameter of the plan", t.Name, t.Cols[col].Name)
	}
	p.ctx = ctx
	st := p.run
	cols, err := p.src.Read(ctx, t, append(append([]int{}, t.Key...), col))
	if err != nil {
		return err
	}
	v := cols[len(t.Key)]
	changed := sqlerr.New(sqlerr.ObjectNotPrereqState, "the keys of %s have changed during the run", t.Name)
	r := st.tables[q.table]
	switch {
	case r == nil || v.Len() != q.Rows:
		return changed
	case v.Size() != q.Size:
		return sqlerr.New(sqlerr.ObjectNotPrereqState, "the shape of %s.%s has changed during the run", t.Name,
			t.Cols[col].Name)
	case (v.Valid() != nil) != (q.Valid != nil):
		return sqlerr.New(sqlerr.ObjectNotPrereqState, "%s.%s has other NULLs than when the run began", t.Name,
			t.Cols[col].Name)
	}
	old, safe := make([]*column.Column, len(t.Key)), make([]bool, len(t.Key))
	for k, c := range t.Key {
		safe[k] = true
		old[k] = r.Data[q.table.at[c]]
	}
	now, before := structure.AllRows(cols[:len(t.Key)], v.Len()), structure.AllRows(old, v.Len())
	code, at, count := structure.Encode(now, before, safe)
	if len(t.Key) > 0 && count != v.Len() {
		return changed
	}
	row := make([]int32, count)
	for i, c := range code {
		row[c] = int32(i)
	}
	for i, c := range at {
		if c < 0 {
			return changed
		}
		at[i] = row[c]
	}
	v = column.Gather(v, at)
	return q.fill(v)
}
