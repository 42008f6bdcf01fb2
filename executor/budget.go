package executor

import (
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// The budget. What a program needs is counted from exact numbers of rows. Where that is more than the budget, columns
// of tables and vals move from memory to files that the system pages (tensor.NewSpill). Instructions then stream
// through them in blocks of rows. A window bounds how much of these files is resident at once. See
// docs/adr/0016-memory-budget.md.

const (
	windowShare    = 8 // of the budget goes to resident pages of files
	columnShare    = 4 // of the budget goes to columns of tables
	structureShare = 4 // of the budget goes to arrays of the structure
)

// Spilled tells how much of a program lies in files.
type Spilled struct {
	Needs   int64 // bytes that the plan would take in memory
	Budget  int64
	Columns int    // columns of tables, index arrays and intermediate results that lie in files
	Bytes   int64  // their size
	Dir     string // the folder of the files
}

// ledger counts what a program holds, in bytes.
type ledger struct {
	columns  int64            // columns of tables in memory
	queried  int64            // rows of queries that the source has run, in its memory, which all sites share
	disk     []*tensor.Buffer // columns of tables in files
	listed   []string         // names of these columns, for plans
	arrays   int64            // arrays of the structure in memory, garbage included
	filed    []*tensor.Buffer // arrays of the structure in files
	made     []int64          // sizes of the run's arrays in the order of making; negative: it cannot lie in a file
	vals     []string         // names of the vals in files, of the last schedule
	needs    int64            // bytes that the plan would take in memory
	released func()           // removes the limit of Go's heap; nil: there is none
	told     bool             // Options.Spills has been called
}

// holdings are the data that a program holds in memory and in files, with its budget.
type holdings struct {
	opt       Options
	tune      *tuning.Sizes
	src       ra.Source
	device    device.Device
	tables    map[string]*tableData
	params    []*Param
	owned     []*values.Val // computed once; Close frees their data
	arena     arena         // memory of the schedule's vals
	spare     arena         // memory of structural vals while they are computed
	ledger    ledger
	stages    *structure.Env // shared by the run's stage and the steps' stages
	run, step *stage
}

func (m *holdings) window() int64 { return m.opt.Memory / windowShare }

// spills reports whether some data of the program lie in files.
func (m *holdings) spills() bool {
	_, step := m.stages.Steps.Bytes()
	return len(m.ledger.disk)+len(m.ledger.filed)+len(m.ledger.vals) > 0 || step > 0
}

// forget frees the arrays of the structure.
func (l *ledger) forget() {
	for _, b := range l.filed {
		b.Free()
	}
	l.filed, l.made, l.arrays, l.vals = nil, nil, 0, nil
}

// InFile reports whether an array of the structure goes to a file, because the structure has used up its share of the
// budget.
func (m *holdings) InFile(bytes int64) bool {
	return m.opt.Memory > 0 && bytes >= m.tune.SpillBytes && m.arrays()+bytes > m.opt.Memory/structureShare
}

// Lasts notes an array of the run's structure.
func (m *holdings) Lasts(bytes int64, file *tensor.Buffer) {
	m.ledger.made = append(m.ledger.made, bytes)
	if file != nil {
		m.ledger.filed = append(m.ledger.filed, file)
	} else {
		m.ledger.arrays += bytes
	}
}

// arrays counts the bytes of the structure's arrays in memory.
func (m *holdings) arrays() int64 {
	step, _ := m.stages.Steps.Bytes()
	return m.ledger.arrays + step
}

// lastingData allocates a column of the structure, on Go's heap or in a file.
func (m *holdings) lastingData(d *column.Column, nullable bool) error {
	bytes := column.Bytes(d.Kind(), d.Len(), d.Size(), nullable)
	m.ledger.made = append(m.ledger.made, spillable(d.Kind(), bytes))
	if d.Kind() == column.Str || !m.InFile(int64(bytes)) {
		*d = column.OnHeap(d.Kind(), d.Len(), d.Size(), nullable)
		m.ledger.arrays += int64(bytes)
		return nil
	}
	b, err := m.Spill(bytes)
	if err != nil {
		return err
	}
	m.ledger.filed = append(m.ledger.filed, b)
	*d = column.Place(b, 0, d.Kind(), d.Len(), d.Size(), nullable)
	return nil
}

// spillable is a size as an entry of ledger.made: negative where the column cannot lie in a file.
func spillable(k column.Kind, bytes int) int64 {
	if k == column.Str {
		return int64(-bytes)
	}
	return int64(bytes)
}

// Spill makes a buffer in a file.
func (m *holdings) Spill(bytes int) (*tensor.Buffer, error) {
	if m.opt.MaySpill != nil {
		if err := m.opt.MaySpill(int64(bytes)); err != nil {
			return nil, err
		}
	}
	b, err := tensor.NewSpill(m.opt.SpillDir, bytes, m.window())
	switch {
	case err == nil:
		m.limitHeap()
		return b, nil
	case errors.Is(err, errors.ErrUnsupported):
		return nil, sqlerr.New(sqlerr.OutOfMemory,
			"the plan needs more than the memory budget of %s, and spilling to files exists on Linux only",
			values.Size(float64(m.opt.Memory))).
			Wrap(err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return nil, sqlerr.New(sqlerr.DiskFull, "no room to spill %s to %s", values.Size(float64(bytes)), m.opt.SpillDir).
			WithDetail("The memory budget is %s.", values.Size(float64(m.opt.Memory))).
			WithHint("Free space there, or raise the budget: --memory, or SET relgrad.memory.").
			Wrap(err)
	}
	return nil, sqlerr.New(sqlerr.IO, "could not spill %s to %s", values.Size(float64(bytes)), m.opt.SpillDir).
		WithDetail("%v.", err).
		WithHint("Files lie in the store's folder. A larger budget needs none: --memory, or SET relgrad.memory.").
		Wrap(err)
}

// stored is a stored column that the plan reads.
type stored struct {
	t     *tableData
	i     int
	bytes int64
}

// columnsByBytes lists the columns of numbers, the largest first.
func (m *holdings) columnsByBytes() []stored {
	var out []stored
	for _, t := range m.tables {
		for i, c := range t.cols {
			typ := kernels.Type{Kind: kernels.Int}
			if c != ra.RowID {
				typ = t.t.Cols[c].Type
			}
			if b := t.t.Rows * int64(typ.Size()*column.KindOf(typ).Bytes()); b > 0 {
				out = append(out, stored{t, i, b})
			}
		}
	}
	slices.SortFunc(out, func(a, b stored) int {
		switch {
		case a.bytes != b.bytes:
			return int(max(-1, min(1, b.bytes-a.bytes)))
		case a.t != b.t && tableKey(a.t.t) < tableKey(b.t.t):
			return -1
		case a.t != b.t:
			return 1
		}
		return a.i - b.i
	})
	return out
}

// inMemory splits columns, the largest first, under a budget: the largest go to files until the rest fits into the
// columns' share. It returns the first column that stays in memory and the bytes of all that stay.
func (m *holdings) inMemory(cols []stored, budget int64) (first int, bytes int64) {
	for _, c := range cols {
		bytes += c.bytes
	}
	for first < len(cols) && bytes > budget/columnShare && cols[first].bytes >= m.tune.SpillBytes {
		bytes -= cols[first].bytes
		first++
	}
	return first, bytes
}

// chooseColumns marks the columns that will be read into files.
func (m *holdings) chooseColumns() {
	if m.opt.Memory <= 0 {
		return
	}
	cols := m.columnsByBytes()
	first, _ := m.inMemory(cols, m.opt.Memory)
	for _, c := range cols[:first] {
		if c.t.spill == nil {
			c.t.spill = map[int]bool{}
		}
		c.t.spill[c.i] = true
	}
	if first > 0 {
		m.limitHeap()
	}
}

// read reads a table. Marked columns go to files.
func (m *holdings) read(st *stage, t *tableData) ([]*column.Column, error) {
	var failed error
	room := func(i int, typ kernels.Type, rows int) *column.Column {
		if failed != nil || !t.spill[i] && !m.own(t, i) {
			return nil
		}
		v, err := m.roomFor(t, i, typ, rows)
		if err != nil {
			failed = err
		}
		return v
	}
	var cols []*column.Column
	var err error
	if src, ok := m.src.(ra.Roomy); ok {
		cols, err = src.ReadInto(st.Ctx, t.t, t.cols, room)
	} else {
		cols, err = m.src.Read(st.Ctx, t.t, t.cols)
	}
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	cols = slices.Clone(cols) // the list may be the source's own
	for i, v := range cols {
		// the source did not use this memory, or it was too small
		if d := t.own[t.cols[i]]; d != nil && !column.SameMemory(d, v) {
			d.Free()
			delete(t.own, t.cols[i])
		} else if d != nil {
			if err := m.device.Store(d); err != nil {
				return nil, err
			}
		}
		if b := v.Bytes(); t.spill[i] && len(b) > 0 {
			if cols[i], err = m.moveOut(v); err != nil {
				return nil, err
			}
			name := "row id"
			if t.cols[i] >= 0 {
				name = t.t.Cols[t.cols[i]].Name
			}
			m.ledger.listed = append(m.ledger.listed, t.t.Name+"."+name+", "+values.Size(float64(len(b))))
			continue
		}
		m.ledger.columns += vectorBytes(v)
	}
	return cols, nil
}

// own reports whether column i of a table becomes a parameter as it is read, so that it is read into the parameter's
// memory.
func (m *holdings) own(t *tableData, i int) bool {
	has := slices.ContainsFunc(m.params, func(q *Param) bool { return q.table == t && q.col == t.cols[i] })
	return t.dep[t.cols[i]] && !has && !m.opt.Force64
}

// roomFor makes an empty vector with capacity for so many rows of a column, in a file or in a parameter's memory.
func (m *holdings) roomFor(t *tableData, i int, typ kernels.Type, rows int) (*column.Column, error) {
	if t.spill[i] {
		return m.roomOn(typ, rows)
	}
	nullable := t.t.Cols[t.cols[i]].Type.Nullable
	d, err := device.NewColumn(m.device, column.KindOf(typ), rows, typ.Size(), nullable)
	if err != nil {
		return nil, err
	}
	t.own[t.cols[i]].Free()
	t.own[t.cols[i]] = d
	return d.Room(typ), nil
}

// roomOn makes an empty vector with capacity for so many rows, in a file.
func (m *holdings) roomOn(t kernels.Type, rows int) (*column.Column, error) {
	k, n := column.KindOf(t), rows*t.Size()
	b, err := m.Spill(n * k.Bytes())
	if err != nil {
		return nil, err
	}
	m.ledger.disk = append(m.ledger.disk, b)
	d := column.Place(b, 0, k, rows, t.Size(), false)
	return d.Room(t), nil
}

// moveOut copies a column to a file.
func (m *holdings) moveOut(v *column.Column) (*column.Column, error) {
	if m.bufferOf(unsafe.Pointer(unsafe.SliceData(v.Bytes()))) != nil {
		return v, nil
	}
	to, err := m.roomOn(v.Type(), v.Len())
	if err != nil {
		return nil, err
	}
	rows := max(1<<16/max(v.Size(), 1), 1)
	for lo := 0; lo < v.Len(); lo += rows {
		piece := v.Rows(lo, min(lo+rows, v.Len()))
		to.Append(&piece)
		tensor.Trim()
	}
	return to, nil
}

func vectorBytes(v *column.Column) int64 {
	n := len(v.Bytes()) + len(v.Valid())
	for _, s := range v.Texts() {
		n += len(s) + int(unsafe.Sizeof(s))
	}
	return int64(n)
}

// held counts the bytes in memory of this program and of others under the same budget, without a schedule's vals and
// scratch.
func (m *holdings) held() int64 {
	n := m.opt.Taken + m.opt.Batch + m.ledger.queried + m.ledger.columns + m.structureBytes()
	for _, v := range m.owned {
		if !v.Structural && v.Data != nil && v.Data.Buffer() != nil && !v.Data.Buffer().Spilled() {
			n += int64(len(v.Data.Buffer().Bytes()))
		}
	}
	for _, q := range m.params {
		n += int64(len(q.data.Buffer().Bytes())) * int64(1+m.opt.Beside)
	}
	return n
}

// structureBytes counts the arrays of the structure in memory and the joins' tables of keys.
func (m *holdings) structureBytes() int64 {
	n := m.arrays()
	for _, st := range []*stage{m.run, m.step} {
		if st == nil {
			continue
		}
		for _, r := range st.Rels {
			n += r.LookupBytes()
		}
	}
	return n
}

// bufferOf returns the program's file in which an array lies, nil where it lies in memory.
func (m *holdings) bufferOf(at unsafe.Pointer) *tensor.Buffer {
	for _, list := range [][]*tensor.Buffer{m.ledger.disk, m.ledger.filed} {
		for _, b := range list {
			if lo := uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes()))); uintptr(at) >= lo &&
				uintptr(at) < lo+uintptr(len(b.Bytes())) {
				return b
			}
		}
	}
	return nil
}

// residentColumns bounds how much of a column in a file may be resident, beyond the window, where its rows are read in
// random order.
func residentColumns(budget int64) int64 { return 2 * (budget / windowShare) }

// beyond is by how much such a column exceeds residentColumns. Its rows are read where they are mapped: the system
// loads sixteen pages at a time, faster than they can be released.
func beyond(gathered, budget int64) int64 { return max(0, gathered-residentColumns(budget)) }

// tried is an attempt of choose: what the vals need in memory, and the largest column in a file that is read in random
// order. Both are bytes.
type tried struct{ need, gathered int64 }

// works reports whether a plan fits into a budget. fixed counts what is neither a column, nor an array of the
// structure, nor a val. It decides as choose does, by the attempts that choose has made.
func (m *holdings) works(cols []stored, budget, fixed int64, vals []tried) bool {
	first, kept := m.inMemory(cols, budget)
	arrays, filed := m.arraysWithin(budget)
	left := budget - fixed - kept - arrays
	for i, v := range vals {
		need := v.need
		if i > 0 || first > 0 || filed {
			need += budget/windowShare + beyond(v.gathered, budget)
		}
		if need <= left {
			return true
		}
	}
	return false
}

// arraysWithin counts the structure's arrays in memory under a budget, and tells whether some lie in files (see
// InFile).
func (m *holdings) arraysWithin(budget int64) (bytes int64, filed bool) {
	for _, b := range append(m.ledger.made[:len(m.ledger.made):len(m.ledger.made)], m.stages.Steps.Sizes()...) {
		if b >= m.tune.SpillBytes && bytes+b > budget/structureShare {
			filed = true
		} else {
			bytes += max(b, -b)
		}
	}
	return bytes, filed
}

// smallest is the least budget above the present one that works, in whole megabytes. A smaller one may work too: it
// would move to files a column that this one keeps in memory.
func (m *holdings) smallest(fixed int64, vals []tried) int64 {
	const mega = 1 << 20
	cols := m.columnsByBytes()
	works := func(budget int64) bool { return m.works(cols, budget*mega, fixed, vals) }
	fails := m.opt.Memory / mega
	least := fails + 1
	for !works(least) {
		fails, least = least, least+max(least/64, 1)
	}
	for least-fails > 1 {
		if mid := (fails + least) / 2; works(mid) {
			least = mid
		} else {
			fails = mid
		}
	}
	return least * mega
}

// tooLittle is the error of a budget that the plan does not fit into even where it spills. fixed is as in works.
func (m *holdings) tooLittle(fixed int64, vals []tried) error {
	least := m.smallest(fixed, vals)
	if n := int64(m.opt.sites); n > 1 {
		return sqlerr.New(sqlerr.OutOfMemory,
			"a site needs %s of memory even where it spills, and the budget of each of %d sites is %s",
			values.Size(float64(least)), n, values.Size(float64(m.opt.Memory))).
			WithHint("Set --memory, or relgrad.memory, to at least %dMB; or read fewer rows or smaller chunks.", n*least>>20)
	}
	return sqlerr.New(sqlerr.OutOfMemory, "the plan needs %s of memory even where it spills, and the budget is %s",
		values.Size(float64(least)), values.Size(float64(m.opt.Memory))).
		WithHint("Set --memory, or relgrad.memory, to at least %dMB; or read fewer rows or smaller chunks.", least>>20)
}

// heaps are the limits that programs have set for Go's heap. The least one holds.
var heaps struct {
	sync.Mutex
	limits map[*ledger]int64
	before int64 // the limit before the first program set one
}

// limitHeap makes Go collect garbage before the heap exceeds what the budget leaves to it. Collecting is cheap: the
// garbage is mostly arrays of numbers, in which the collector looks for no pointers.
func (m *holdings) limitHeap() {
	limit := m.opt.Memory - m.window() - m.opt.Taken
	for _, b := range []*tensor.Buffer{m.arena.mem, m.spare.mem} {
		limit -= int64(len(b.Bytes()))
	}
	for _, v := range m.owned {
		if v.Data != nil && !v.Data.Buffer().Spilled() {
			limit -= int64(len(v.Data.Buffer().Bytes()))
		}
	}
	for _, q := range m.params {
		limit -= int64(len(q.data.Buffer().Bytes())) * int64(1+len(q.state))
	}
	setHeapLimit(&m.ledger, max(limit, m.opt.Memory/windowShare)*int64(max(m.opt.sites, 1))) // all sites share the heap
	if m.ledger.released == nil {
		m.ledger.released = func() { setHeapLimit(&m.ledger, 0) }
	}
}

// setHeapLimit sets the limit of a program (0: none) and applies the least limit of all programs.
func setHeapLimit(of *ledger, limit int64) {
	heaps.Lock()
	defer heaps.Unlock()
	if len(heaps.limits) == 0 {
		heaps.limits, heaps.before = map[*ledger]int64{}, debug.SetMemoryLimit(-1)
	}
	if delete(heaps.limits, of); limit > 0 {
		heaps.limits[of] = limit
	}
	least := heaps.before
	for _, l := range heaps.limits {
		least = min(least, l)
	}
	debug.SetMemoryLimit(least)
}
