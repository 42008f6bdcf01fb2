package executor

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/tensor"
)

// arena is the memory of a schedule's vals, and the file of those that do not fit into memory.
type arena struct {
	mem, disk *tensor.Buffer
	flies     bool             // a step that has begun computes in mem
	left      []*tensor.Buffer // of steps that had begun when larger memory was made
}

func (a *arena) free() {
	a.mem.Free()
	a.disk.Free()
	a.mem, a.disk = nil, nil
	a.land()
}

// land frees what was left to a step, which has ended.
func (a *arena) land() {
	for _, b := range a.left {
		b.Free()
	}
	a.left = nil
}

// item is a val that needs memory, from the instruction that makes it to the last one that reads it.
type item struct {
	device.Extent
	v        *values.Val
	own      bool // it outlives the schedule and has a buffer of its own
	gathered bool // some instruction reads its rows through an index
	spilled  bool
}

// busy counts the workers that use scratch: an instruction of few lanes leaves the others idle.
func busy(s *forms.Schedule, workers int) (most int) {
	for _, ins := range [][]*device.Instr{s.Once, s.Steps} {
		for _, in := range ins {
			n := workers
			if _, pass := in.Form.(*device.Fused); pass || in.Form == nil {
				n = min(n, in.Lanes())
			}
			most = max(most, n)
		}
	}
	return most
}

// onceScratch is the scratch of the instructions that run once.
func onceScratch(s *forms.Schedule) int {
	if len(s.Once) == 0 {
		return 0
	}
	return s.Tmp
}

// itemsOf lists the vals that need memory, and the stored columns that are read through an index.
func itemsOf(s *forms.Schedule, roots []forms.Root) (out []*item, stored []*values.Val) {
	at := map[*values.Val]*item{}
	add := func(v *values.Val, own bool) {
		x := &item{v: v, own: own, Extent: device.Extent{Bytes: column.Bytes(v.Data.Kind(), v.Data.Len(), v.Data.Size(),
			v.Type.Nullable), From: len(s.Steps), To: -1}}
		if own {
			x.From, x.To = 0, len(s.Steps)
		}
		at[v] = x
		out = append(out, x)
	}
	for _, v := range s.Kept {
		add(v, true)
	}
	for _, v := range s.Temps {
		add(v, false)
	}
	for _, ins := range [][]*device.Instr{s.Once, s.Steps} {
		for _, in := range ins {
			in.Gathers(func(v *values.Val) {
				if x := at[v.Base()]; x != nil {
					x.gathered = true
				} else {
					stored = append(stored, v)
				}
			})
		}
	}
	for i, in := range s.Steps {
		for _, v := range in.Outs() {
			x := at[v.Base()]
			x.From, x.To = min(x.From, i), max(x.To, i)
		}
		for _, v := range in.T.Loads() {
			if x := at[v.Base()]; x != nil && !x.own {
				x.To = i
			}
		}
	}
	for _, r := range roots {
		if x := at[r.V.Base()]; x != nil {
			x.To = len(s.Steps)
		}
	}
	return out, stored
}

// partialSums bounds the bytes of partial sums: those of the largest instruction, and those that instructions keep from
// run to run.
func partialSums(s *forms.Schedule) int64 {
	most, kept := int64(0), int64(0)
	for _, ins := range [][]*device.Instr{s.Once, s.Steps} {
		for _, in := range ins {
			n := 0
			switch f := in.Form.(type) {
			case *device.Fused:
				for _, m := range f.Members {
					switch {
					case m.Runs != nil:
						n += 2 * 8 * m.V.Type.Size() * in.Lanes()
					case m.V.Op == values.OpAgg:
						n += device.Partials(m.V)
					}
				}
			case *device.Windowed: // keeps the sums of blocks
				kept += int64(f.Carried(in.V.Args[0].Type.Size()))
			case *device.Extremes:
				kept += int64(f.Kept())
			case *device.SpMMBlocks: // keeps its sums from run to run
				kept += int64(8 * in.Grp.Out.N * in.V.Type.Size())
			case nil:
				if in.Grp != nil && in.Rows > 0 {
					n = 2 * 8 * in.V.Type.Size() * in.Lanes()
				}
			}
			most = max(most, int64(n))
		}
	}
	return most + kept
}

// choose marks as few vals as possible to lie in files, so that the rest fits into the budget. While it does not fit,
// one of the vals that are alive at the peak goes: first those whose rows are read only in order, and of these the
// largest.
func (m *holdings) choose(items []*item, stored []*values.Val, steps int, tmp int64, structural bool) error {
	if m.opt.Memory <= 0 {
		return nil
	}
	if structural {
		for _, x := range items {
			if x.own {
				m.ledger.made = append(m.ledger.made, spillable(x.v.Data.Kind(), x.Bytes))
			}
			if x.spilled = x.own && x.v.Data.Kind() != column.Str && m.InFile(int64(x.Bytes)); x.own && !x.spilled {
				m.ledger.arrays += int64(x.Bytes)
			}
		}
	}
	held := m.held() + tmp
	need := inMemoryOf(items)
	m.ledger.needs = held + need
	for _, b := range slices.Concat(m.ledger.disk, m.ledger.filed) {
		m.ledger.needs += int64(len(b.Bytes()))
	}
	_, step := m.stages.Steps.Bytes()
	m.ledger.needs += step
	var vals []tried
	for spills := m.spills(); ; spills = true {
		left := m.opt.Memory - held
		vals = append(vals, tried{need, m.gathered(items, stored)})
		if spills {
			left -= m.window() + beyond(vals[len(vals)-1].gathered, m.opt.Memory)
		}
		if need <= left {
			return nil
		}
		all := atPeak(items, steps, m.tune.SpillBytes, 1)
		if len(all) == 0 && structural {
			return nil
		}
		if len(all) == 0 { // such as the levels of a recursion: many at a time, for there are many
			all = atPeak(items, steps, m.tune.SpillLevel, 64)
		}
		if len(all) == 0 {
			return m.tooLittle(held-m.ledger.columns-m.arrays(), vals)
		}
		for _, x := range all {
			x.spilled = true
		}
		need = inMemoryOf(items)
	}
}

// gathered is the size of the largest column in a file whose rows are read through an index.
func (m *holdings) gathered(items []*item, stored []*values.Val) (most int64) {
	for _, x := range items {
		if x.spilled && x.gathered {
			most = max(most, int64(x.Bytes))
		}
	}
	for _, v := range stored {
		d := v.Data
		if b := d.Bytes(); len(b) > 0 && (d.Buffer().Spilled() || m.bufferOf(unsafe.Pointer(unsafe.SliceData(b))) != nil) {
			most = max(most, int64(len(b)))
		}
	}
	return most
}

// inMemoryOf counts the memory of the items that do not lie in files.
func inMemoryOf(items []*item) int64 {
	n := 0
	var ext []*device.Extent
	for _, x := range items {
		switch {
		case x.spilled:
		case x.own:
			n += x.Bytes
		default:
			ext = append(ext, &x.Extent)
		}
	}
	return int64(n + device.PlanMemory(ext))
}

// atPeak chooses the next items to spill, most at a time; none where the rest are smaller than least.
func atPeak(items []*item, steps int, least int64, most int) []*item {
	live := make([]int, steps+2)
	var open []*item
	for _, x := range items {
		if x.spilled {
			continue
		}
		if x.From <= x.To {
			live[x.From] += x.Bytes
			live[x.To+1] -= x.Bytes
		}
		if int64(x.Bytes) >= least && x.v.Data.Kind() != column.Str {
			open = append(open, x)
		}
	}
	peak, high, now := 0, 0, 0
	for i, d := range live {
		if now += d; now > high {
			peak, high = i, now
		}
	}
	if there := slices.DeleteFunc(slices.Clone(open),
		func(x *item) bool { return x.From > peak || x.To < peak }); len(there) > 0 {
		open = there
	}
	slices.SortFunc(open, func(a, b *item) int {
		switch {
		case a.gathered != b.gathered && b.gathered:
			return -1
		case a.gathered != b.gathered:
			return 1
		case a.Bytes != b.Bytes:
			return b.Bytes - a.Bytes
		}
		return a.v.ID - b.v.ID
	})
	return open[:min(most, len(open))]
}

// keep gives a val that outlives the schedule its buffer.
func (m *holdings) keep(x *item, on device.Device) error {
	d := x.v.Data
	if !x.spilled {
		own, err := device.NewColumn(on, d.Kind(), d.Len(), d.Size(), x.v.Type.Nullable)
		if err == nil {
			*d = *own
		}
		return err
	}
	b, err := m.Spill(x.Bytes)
	if err != nil {
		return err
	}
	*d = column.Over(b, d.Kind(), d.Len(), d.Size(), x.v.Type.Nullable)
	return nil
}

// grow makes the arena large enough. A large arena grows by whole huge pages, so that the next batch, which may have a
// few groups more, still fits: new memory costs time, because the system clears each page when it is first written.
func (a *arena) grow(m *holdings, on device.Device, mem, disk int) error {
	if len(a.mem.Bytes()) < max(mem, 1) {
		if a.flies {
			a.left = append(a.left, a.mem)
		} else {
			a.mem.Free()
		}
		a.mem = nil
		b, err := on.Allocate(tensor.WholePages(mem))
		if err != nil {
			return err
		}
		a.mem = b
	}
	if len(a.disk.Bytes()) < disk {
		a.disk.Free()
		a.disk = nil
		b, err := m.Spill(disk)
		if err != nil {
			return err
		}
		a.disk = b
	}
	return nil
}

// tell notes what lies in files, and reports it to the caller once.
func (m *holdings) tell(items []*item) {
	m.ledger.vals = nil
	for _, x := range items {
		if x.spilled {
			m.ledger.vals = append(m.ledger.vals, fmt.Sprintf("v%d, %s", x.v.ID, values.Size(float64(x.Bytes))))
		}
	}
	if !m.spills() {
		return
	}
	m.limitHeap()
	if !m.ledger.told && m.opt.Spills != nil {
		m.opt.Spills(m.spilled())
	}
	m.ledger.told = true
}

// Spilled tells how much of the program lies in files.
func (p *Program) Spilled() (all Spilled) {
	for _, s := range p.sites {
		own := s.spilled()
		all.Needs, all.Budget, all.Columns = all.Needs+own.Needs, all.Budget+own.Budget, all.Columns+own.Columns
		all.Bytes, all.Dir = all.Bytes+own.Bytes, own.Dir
	}
	return all
}

func (m *holdings) spilled() Spilled {
	s := Spilled{Needs: m.ledger.needs, Budget: m.opt.Memory, Columns: len(m.ledger.listed) + len(m.ledger.filed) +
		m.stages.Steps.Files() + len(m.ledger.vals), Dir: m.opt.SpillDir}
	_, s.Bytes = m.stages.Steps.Bytes()
	for _, b := range slices.Concat(m.ledger.disk, m.ledger.filed) {
		s.Bytes += int64(len(b.Bytes()))
	}
	for _, v := range m.owned {
		if v.Data != nil && v.Data.Buffer().Spilled() {
			s.Bytes += int64(len(v.Data.Buffer().Bytes()))
		}
	}
	for _, a := range []arena{m.arena, m.spare} {
		s.Bytes += int64(len(a.disk.Bytes()))
	}
	return s
}

// MayHold refuses arrays of the structure that do not fit into the budget.
func (m *holdings) MayHold(bytes int64) error {
	if bytes += m.held(); m.opt.Memory > 0 && bytes > m.opt.Memory {
		return m.tooLittle(bytes-m.ledger.columns-m.arrays(), []tried{{}})
	}
	return nil
}
