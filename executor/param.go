package executor

import (
	"context"
	"slices"

	"github.com/relgrad/relgrad/column"
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
	data       *column.Column
	leaf       *values.Val
	state      []*column.Column
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

// Values are the column's numbers as they are now.
func (q *Param) Values() *column.Column { return q.data }

// State are the optimizer's buffers as they are now.
func (q *Param) State() []*column.Column { return q.state }

// Copy takes over another program's values of the column, and its state where both have one.
func (q *Param) Copy(from *Param) {
	q.data.Fill(from.data)
	for i := range min(len(q.state), len(from.state)) {
		q.state[i].Fill(from.state[i])
	}
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
		if d, err = column.Allocate(k, v.Len(), v.Size(), v.Valid() != nil); err != nil {
			return nil, err
		}
		d.Fill(v)
	}
	q := &Param{Rows: v.Len(), Size: d.Size(), Valid: d.Valid(), table: t, col: col, data: d}
	q.validate(v)
	m.params = append(m.params, q)
	return q, nil
}

// becomes reports whether v, a column that has been read, lies in the memory of a parameter, so that training changes
// it.
func (m *holdings) becomes(t *tableData, col int, v *column.Column) bool {
	return t.own[col] != nil && column.SameMemory(t.own[col], v) || slices.ContainsFunc(m.params,
		func(q *Param) bool { return q.table == t && q.col == col && column.SameMemory(q.data, v) })
}

func (q *Param) validate(v *column.Column) {
	for i := range q.Valid {
		q.Valid[i] = 1
		if v.IsNull(i) {
			q.Valid[i] = 0
		}
	}
}

// Param returns the live buffer of a parameter's column, nil where the plan does not read it.
func (p *Program) Param(t *ra.Table, col int) *Param {
	for _, q := range p.params {
		if tableKey(q.table.t) == tableKey(t) && q.col == col {
			return q
		}
	}
	return nil
}

// Grad returns column col of root i, a gradient, as of the last Run: rows × size. It is nil for a column that is no
// float.
func (p *Program) Grad(i, col int) *column.Column {
	if !p.ran {
		return nil
	}
	if d := p.roots[i][col].V.Data; d.Kind() == column.F32 || d.Kind() == column.F64 {
		return d
	}
	return nil
}

// Match returns, for each row of root i, its row in t's Param buffers, -1 where t has no such row. key holds, for each
// column of t's identity, its position among the root's columns. The rows are valid until the next Run and must not be
// changed.
func (p *Program) Match(i int, t *ra.Table, key []int) (rows []int32, err error) {
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

// Train has the program change columns at each Step, by rules of so many numbers that change from step to step; a clip
// above 0 bounds the norm of all gradients. The buffers of optimizers are zero.
func (p *Program) Train(cols []Trained, clip float64, numbers int) (t *Training, err error) {
	t = &Training{p: p, cols: cols, clip: clip}
	if t.numbers.Double, err = column.Allocate(column.F64, numbers+1, 1, false); err != nil {
		return nil, err
	}
	p.training.free()
	p.training = t
	if t.numbers.Single, err = column.Allocate(column.F32, numbers+1, 1, false); err != nil {
		return nil, err
	}
	for _, c := range cols {
		for _, d := range c.Param.state {
			d.Free()
		}
		c.Param.state = nil
		for range c.Buffers {
			d, err := column.Allocate(c.Param.data.Kind(), c.Param.Rows, c.Param.Size, false)
			if err != nil {
				return nil, err
			}
			c.Param.state = append(c.Param.state, d)
		}
	}
	return t, nil
}

// Reload reads a parameter's column from the source again. The table must have the same keys as before.
func (p *Program) Reload(ctx context.Context, t *ra.Table, col int) (err error) {
	defer guard(&err)
	q := p.Param(t, col)
	if q == nil {
		return internal("%s.%s is no parameter of the plan", t.Name, t.Cols[col].Name)
	}
	p.enter(ctx)
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
	q.data.Fill(v)
	q.validate(v)
	return nil
}
