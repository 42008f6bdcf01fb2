package executor

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/relgrad/relgrad/tensor"
)

// arena is the memory of a schedule's vals: what stays in memory, and what lies in a file.
type arena struct{ mem, disk *tensor.Buffer }

func (a *arena) free() {
	a.mem.Free()
	a.disk.Free()
	a.mem, a.disk = nil, nil
}

// item is a val that needs memory from one instruction to another.
type item struct {
	extent
	v        *val
	own      bool // it outlives the schedule
	gathered bool // some instruction reads its rows through an index
	spilled  bool
}

// place gives the vals their memory: the kept ones each a buffer, the others a part of the arena, which grows where it
// is too small. Vals that do not fit into the budget lie in files. Those of the structure alone are not refused: the
// schedule of the values says what the whole plan needs.
func (p *Program) place(s *schedule, roots []root, a *arena, structural bool) error {
	items, stored := s.items(roots)
	tmp := int64(max(s.tmp, p.onceTmp)*s.busy(p.opt.Workers)) + s.partials()
	if err := p.choose(items, stored, len(s.steps), tmp, structural); err != nil {
		return err
	}
	var in, out []*extent
	for _, x := range items {
		switch {
		case x.own:
			if err := p.keep(x); err != nil {
				return err
			}
		case x.spilled:
			out = append(out, &x.extent)
		default:
			in = append(in, &x.extent)
		}
	}
	s.bytes = int64(planMemory(in))
	if err := a.grow(p, int(s.bytes), planMemory(out)); err != nil {
		return err
	}
	for _, x := range items {
		if d := x.v.data; !x.own && x.spilled {
			*d = place(a.disk, x.off, d.kind, d.n, d.size, x.v.typ.Nullable)
		} else if !x.own {
			*d = place(a.mem, x.off, d.kind, d.n, d.size, x.v.typ.Nullable)
		}
	}
	for _, v := range s.views {
		*v.data = viewed(v.base().data, v.data.n, v.data.size)
	}
	s.placed = true
	if p.onceTmp = max(p.onceTmp, s.onceTmp()); !structural {
		p.tell(items)
	}
	return nil
}

// busy is how many workers' scratch is used: an instruction of few lanes leaves the others alone.
func (s *schedule) busy(workers int) (most int) {
	for _, ins := range [][]*instr{s.once, s.steps} {
		for _, in := range ins {
			n := workers
			if _, pass := in.form.(*fused); pass || in.form == nil {
				n = min(n, in.lanes())
			}
			most = max(most, n)
		}
	}
	return most
}

// onceTmp is the scratch of what is computed once.
func (s *schedule) onceTmp() int {
	if len(s.once) == 0 {
		return 0
	}
	return s.tmp
}

// items lists the vals that need memory, with the instructions from and to which they do, and the stored columns that
// are read through an index.
func (s *schedule) items(roots []root) (out []*item, stored []*val) {
	at := map[*val]*item{}
	add := func(v *val, own bool) {
		x := &item{
			v:      v,
			own:    own,
			extent: extent{bytes: need(v.data.kind, v.data.n, v.data.size, v.typ.Nullable), from: len(s.steps), to: -1},
		}
		if own {
			x.from, x.to = 0, len(s.steps)
		}
		at[v] = x
		out = append(out, x)
	}
	for _, v := range s.kept {
		add(v, true)
	}
	for _, v := range s.temps {
		add(v, false)
	}
	for _, ins := range [][]*instr{s.once, s.steps} {
		for _, in := range ins {
			in.gathers(func(v *val) {
				if x := at[v.base()]; x != nil {
					x.gathered = true
				} else {
					stored = append(stored, v)
				}
			})
		}
	}
	for i, in := range s.steps {
		for _, v := range in.outs() {
			x := at[v.base()]
			x.from, x.to = min(x.from, i), max(x.to, i)
		}
		for _, v := range in.t.loads() {
			if x := at[v.base()]; x != nil && !x.own {
				x.to = i
			}
		}
	}
	for _, r := range roots {
		if x := at[r.v.base()]; x != nil {
			x.to = len(s.steps)
		}
	}
	return out, stored
}

// partials is an upper bound of the partial sums of the largest instruction, and of those that instructions keep, in
// bytes.
func (s *schedule) partials() int64 {
	most, kept := int64(0), int64(0)
	for _, ins := range [][]*instr{s.once, s.steps} {
		for _, in := range ins {
			n := 0
			switch f := in.form.(type) {
			case *fused:
				for _, m := range f.members {
					switch {
					case m.runs != nil:
						n += 2 * 8 * m.v.typ.Size() * in.lanes()
					case m.v.op == vAgg:
						n += m.v.partials()
					}
				}
			case *spmmBlocks: // they keep theirs
				kept += int64(8 * in.grp.Out.N * in.v.typ.Size())
			case nil:
				if in.grp != nil && in.rows > 0 {
					n = 2 * 8 * in.v.typ.Size() * in.lanes()
				}
			}
			most = max(most, int64(n))
		}
	}
	return most + kept
}

// choose marks the vals that lie in files: as few as let the rest fit into the budget. Where the most is in memory at
// once one goes: before others one whose rows are only read in their order, and the largest.
func (p *Program) choose(items []*item, stored []*val, steps int, tmp int64, structural bool) error {
	if p.opt.Memory <= 0 {
		return nil
	}
	if structural {
		for _, x := range items {
			if x.own {
				p.led.made = append(p.led.made, spillable(x.v.data.kind, x.bytes))
			}
			if x.spilled = x.own && x.v.data.kind != str && p.InFile(int64(x.bytes)); x.own && !x.spilled {
				p.led.arrays += int64(x.bytes)
			}
		}
	}
	held := p.held() + tmp
	need := inMemoryOf(items)
	p.led.needs = held + need
	for _, b := range slices.Concat(p.led.disk, p.led.filed) {
		p.led.needs += int64(len(b.Bytes()))
	}
	_, step := p.stages.Steps.Bytes()
	p.led.needs += step
	var vals []tried
	for spills := p.spills(); ; spills = true {
		left := p.opt.Memory - held
		vals = append(vals, tried{need, p.gathered(items, stored)})
		if spills {
			left -= p.window() + beyond(vals[len(vals)-1].gathered, p.opt.Memory)
		}
		if need <= left {
			return nil
		}
		x := largestAtPeak(items, steps, p.tune.SpillBytes)
		if x == nil && structural {
			return nil
		}
		if x == nil {
			return p.tooLittle(held-p.led.columns-p.arrays(), vals)
		}
		x.spilled = true
		need = inMemoryOf(items)
	}
}

// gathered is the size of the largest column in a file whose rows are read through an index.
func (p *Program) gathered(items []*item, stored []*val) (most int64) {
	for _, x := range items {
		if x.spilled && x.gathered {
			most = max(most, int64(x.bytes))
		}
	}
	for _, v := range stored {
		d := v.data
		if b := d.bytes(); len(b) > 0 && (d.buf.Spilled() || p.bufferOf(unsafe.Pointer(unsafe.SliceData(b))) != nil) {
			most = max(most, int64(len(b)))
		}
	}
	return most
}

// inMemoryOf is the memory of the items that do not lie in files.
func inMemoryOf(items []*item) int64 {
	n := 0
	var ext []*extent
	for _, x := range items {
		switch {
		case x.spilled:
		case x.own:
			n += x.bytes
		default:
			ext = append(ext, &x.extent)
		}
	}
	return int64(n + planMemory(ext))
}

// largestAtPeak is the next item to spill, nil where all that are left are small.
func largestAtPeak(items []*item, steps int, least int64) *item {
	live := make([]int, steps+2)
	var open []*item
	for _, x := range items {
		if x.spilled {
			continue
		}
		if x.from <= x.to {
			live[x.from] += x.bytes
			live[x.to+1] -= x.bytes
		}
		if int64(x.bytes) >= least && x.v.data.kind != str {
			open = append(open, x)
		}
	}
	peak, most, now := 0, 0, 0
	for i, d := range live {
		if now += d; now > most {
			peak, most = i, now
		}
	}
	if there := slices.DeleteFunc(slices.Clone(open), func(x *item) bool { return x.from > peak || x.to < peak }); len(
		there,
	) > 0 {
		open = there
	}
	if len(open) == 0 {
		return nil
	}
	return slices.MaxFunc(open, func(a, b *item) int {
		switch {
		case a.gathered != b.gathered && b.gathered:
			return 1
		case a.gathered != b.gathered:
			return -1
		case a.bytes != b.bytes:
			return a.bytes - b.bytes
		}
		return b.v.id - a.v.id
	})
}

// keep gives a val that outlives the schedule its buffer.
func (p *Program) keep(x *item) error {
	d := x.v.data
	if !x.spilled {
		own, err := newData(d.kind, d.n, d.size, x.v.typ.Nullable)
		if err == nil {
			*d = *own
		}
		return err
	}
	b, err := p.Spill(x.bytes)
	if err != nil {
		return err
	}
	*d = place(b, 0, d.kind, d.n, d.size, x.v.typ.Nullable)
	d.buf = b
	return nil
}

// grow makes the arena large enough, and a large one so in whole huge pages: the next batch, which has a few groups
// more, then finds room, too, where new memory would have to be cleared page by page as it is first written.
func (a *arena) grow(p *Program, mem, disk int) error {
	if len(a.mem.Bytes()) < max(mem, 1) {
		a.mem.Free()
		a.mem = nil
		b, err := tensor.NewBuffer(tensor.WholePages(mem))
		if err != nil {
			return outOfMemory(err)
		}
		a.mem = b
	}
	if len(a.disk.Bytes()) < disk {
		a.disk.Free()
		a.disk = nil
		b, err := p.Spill(disk)
		if err != nil {
			return err
		}
		a.disk = b
	}
	return nil
}

// tell notes what lies in files, and says it once.
func (p *Program) tell(items []*item) {
	p.led.vals = nil
	for _, x := range items {
		if x.spilled {
			p.led.vals = append(p.led.vals, fmt.Sprintf("v%d, %s", x.v.id, size(float64(x.bytes))))
		}
	}
	if !p.spills() {
		return
	}
	p.limitHeap()
	if !p.led.told && p.opt.Spills != nil {
		p.opt.Spills(p.Spilled())
	}
	p.led.told = true
}

// Spilled says what of the program lies in files.
func (p *Program) Spilled() Spilled {
	s := Spilled{
		Needs:   p.led.needs,
		Budget:  p.opt.Memory,
		Columns: len(p.led.listed) + len(p.led.filed) + p.stages.Steps.Files() + len(p.led.vals),
		Dir:     p.opt.SpillDir,
	}
	_, s.Bytes = p.stages.Steps.Bytes()
	for _, b := range slices.Concat(p.led.disk, p.led.filed) {
		s.Bytes += int64(len(b.Bytes()))
	}
	for _, v := range p.owned {
		if v.data != nil && v.data.buf.Spilled() {
			s.Bytes += int64(len(v.data.buf.Bytes()))
		}
	}
	for _, a := range []arena{p.arena, p.spare} {
		s.Bytes += int64(len(a.disk.Bytes()))
	}
	return s
}

// MayHold refuses to take so many bytes for structure where they do not fit into the budget.
func (p *Program) MayHold(bytes int64) error {
	if bytes += p.held(); p.opt.Memory > 0 && bytes > p.opt.Memory {
		return p.tooLittle(bytes-p.led.columns-p.arrays(), []tried{{}})
	}
	return nil
}
