package executor

import (
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/ra"
)

// releaseBytes is the size from which freed memory is given back to the system at once.
const releaseBytes = 32 << 20

// release frees what no instruction reads any more: arrays of the structure and columns of tables. It is called before
// the first run, and again after the instructions that run once. The columns that name the rows of results stay. Should
// the structure be built again, the tables are read again. Giving memory back to the system costs time, so a program
// that runs once or twice keeps everything.
func (p *site) release(ranOnce bool) {
	switch {
	case !p.opt.Many || p.steps || p.timed || p.released > 1 || p.released == 1 && !ranOnce:
		return
	case p.released == 0:
		p.releaseStructure()
	}
	p.released++
	bytes := int64(0)
	if ranOnce {
		var b strings.Builder
		p.explainOnce(&b)
		p.once, p.ranOnce, p.onceText, p.released = nil, 0, b.String(), 2
		bytes = p.freeUnread(p.reads())
	}
	if bytes+p.releaseColumns() >= releaseBytes {
		debug.FreeOSMemory()
	}
}

// freeUnread frees what no later instruction reads, such as rows that were exchanged to be added up once, and returns
// its bytes in memory.
func (m *holdings) freeUnread(used map[*values.Val]bool) (bytes int64) {
	m.owned = slices.DeleteFunc(m.owned, func(v *values.Val) bool {
		v.Args, v.Groups, v.Index, v.Order = nil, nil, nil, nil
		over := !used[v]
		if over {
			if b := v.Data.Buffer(); !b.Spilled() {
				bytes += int64(len(b.Bytes()))
			}
			v.Data.Free()
		}
		return over
	})
	return bytes
}

// name computes the columns that name the rows of results, which the structure is needed for. Columns that depend on
// parameters name none: each run has its own.
func (p *site) name() error {
	if !p.releases() {
		return nil
	}
	for _, r := range p.plan.Roots {
		for _, id := range slices.Concat(r.Cols, r.Node.Key) {
			c := r.Node.Col(id)
			if i := r.Node.Index(id); !c.Type.IsFloat() && !c.Dep || slices.Contains(r.Node.Key, id) {
				if _, err := p.run.Vector(r.Node, i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// releases reports whether the structure is freed before the next run.
func (p *site) releases() bool { return p.opt.Many && !p.steps && !p.timed && p.released == 0 }

// releaseStructure frees the indexes by which rows and vals were found.
func (p *site) releaseStructure() {
	named := map[*ra.Node]bool{}
	for _, r := range p.plan.Roots {
		named[r.Node] = true
	}
	st := p.run
	for n, r := range st.Rels {
		kept := &structure.Relation{Space: r.Space, Data: r.Data, Vectors: r.Vectors}
		if !named[n] && !(n.Op == ra.Scan && p.trained(p.table(n.Table))) {
			kept.Vectors = map[int]*column.Column{}
		}
		kept.Pruned = n.Op != ra.Scan || !p.trained(p.table(n.Table))
		st.Rels[n] = kept
	}
	for _, d := range st.leaving {
		d.needs, d.now = nil, nil
	}
	st.cols, st.keys = map[colKey]*values.Val{}, map[string][]*values.Val{}
	for _, g := range []*values.Graph{st.main, st.wide} {
		g.Seen, g.Moved = map[string]*values.Val{}, map[*values.Val]*values.Val{}
	}
	st.Forget()
	p.shared.Forget()
	p.spare.free()
	p.once, p.ranOnce = slices.DeleteFunc(p.once, func(in *device.Instr) bool { return in.V.Structural }), 0
	used := p.reads()
	p.owned = slices.DeleteFunc(p.owned, func(v *values.Val) bool {
		over := v.Structural && !used[v]
		if over { // who reads it later computes it again
			v.Data.Free()
			v.Done = false
		}
		return over
	})
}

// builder counts, while the run's structure is built, which nodes still need the structure of a node. With the last of
// them the node's tables of keys are freed. It counts nothing where structure changes from step to step.
type builder map[*ra.Node]int

func (p *site) builder() builder {
	b := builder{}
	if p.steps {
		return b
	}
	ra.Walk(func(n *ra.Node) {
		for _, in := range n.Inputs {
			b[in]++
		}
	}, p.plan.Nodes()...)
	for _, r := range p.plan.Roots {
		b[r.Node]++
	}
	return b
}

// built frees the tables of keys that only n still needed.
func (b builder) built(st *stage, n *ra.Node) {
	for _, in := range n.Inputs {
		if b[in]--; b[in] == 0 && st.Rels[in] != nil {
			st.Rels[in].ForgetKeys()
		}
	}
}

// trained reports whether a column of the table is a parameter.
func (p *site) trained(t *tableData) bool {
	return slices.ContainsFunc(p.params, func(q *Param) bool { return q.table == t })
}

// releaseColumns frees the columns that are not read any more and returns their bytes.
func (p *site) releaseColumns() (bytes int64) {
	if p.gone == nil {
		p.gone = map[*tableData]bool{}
	}
	used, st := p.reads(), p.run
	for t, r := range p.scans {
		for i, v := range r.Data {
			keys := []scanKey{{false, t, t.cols[i]}, {true, t, t.cols[i]}}
			chunk := v != nil && v.Type().IsFloat() && v.Size() > 1
			if v == nil || p.becomes(t, t.cols[i], v) || p.trained(t) && !chunk || used[st.leaves[keys[0]]] ||
				used[st.leaves[keys[1]]] {
				continue
			}
			for _, k := range keys {
				if l := st.leaves[k]; l != nil && chunk { // vals that are not read may still point to it
					l.Data = column.Planned(l.Data.Kind(), l.Data.Len(), l.Data.Size())
				}
				delete(st.leaves, k)
			}
			bytes += vectorBytes(v)
			r.Data[i] = nil
			p.gone[t] = true
		}
	}
	p.ledger.columns = max(p.ledger.columns-bytes, 0)
	return bytes
}

// reads lists the vals in memory that are results, or that an instruction reads.
func (p *site) reads() map[*values.Val]bool {
	used := map[*values.Val]bool{}
	for _, in := range append(p.once[:len(p.once):len(p.once)], p.sched.Steps...) {
		for _, v := range in.T.Loads() {
			used[v.Base()] = true
		}
	}
	for _, cols := range p.roots {
		for _, r := range cols {
			used[r.V.Base()] = true
		}
	}
	delete(used, nil)
	return used
}

// rowFile returns where rows of v are read from if v is a large column in a file, nil if they are read where v is
// mapped.
func (m *holdings) rowFile(v *values.Val) *values.RowFile {
	if m.opt.Memory <= 0 || v.Data == nil {
		return nil
	}
	d := v.Data
	all, row := d.Bytes(), d.Size()*d.Kind().Bytes()
	if row < values.LeastRow || d.Valid() != nil || int64(len(all)) <= residentColumns(m.opt.Memory) {
		return nil
	}
	b := m.bufferOf(unsafe.Pointer(unsafe.SliceData(all)))
	if b == nil {
		return nil
	}
	return &values.RowFile{File: b, Off: int(uintptr(unsafe.Pointer(unsafe.SliceData(all))) -
		uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))), Row: row}
}
