package executor

import (
	"context"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// machine is the device of the processors: workers with scratch memory.
type machine struct {
	ctx     context.Context
	env     *kernels.Env
	workers int
	scratch []*tensor.Buffer
	tune    *device.Tuning
	sums    tray // of passes
}

// reserve gives every worker at least n bytes.
func (m *machine) reserve(n int) error {
	for len(m.scratch) < m.workers {
		m.scratch = append(m.scratch, nil)
	}
	for i, b := range m.scratch {
		if b != nil && len(b.Bytes()) >= n {
			continue
		}
		b.Free()
		m.scratch[i] = nil
		nb, err := tensor.NewBuffer(n)
		if err != nil {
			return outOfMemory(err)
		}
		m.scratch[i] = nb
	}
	return nil
}

func (m *machine) free() {
	for _, b := range m.scratch {
		b.Free()
	}
	m.scratch = nil
}

// instr computes a val, or some of its rows.
type instr struct {
	v       *val
	how     string // the lowering, for plans
	text    string // what it computes, for plans; "": the val's tree
	rows    int    // rows of the tree's space
	off     int    // store: first row of the result
	t       *tree
	lane    int // rows per lane: a multiple of t.rows
	grp     *structure.Groups
	form    any     // what a form of its own knows: *spmm, *gemm, …; nil: the tree is stored or summed, block by block
	by      int     // rows of each chunk over which a map runs; 0: over the chunks
	besides []*val  // products whose rows such a map makes of its own
	sum     *adding // how rows are added to a sum, nil: those of the result are
	flops   float64
	bytes   float64
	unless  *instr // it runs where this one could not compute the same
}

// adder adds the rows lo to hi of a block, which are in one group, to a float sum.
type adder func(b *block, a *accum, lo, hi int)

// cut cuts the rows into lanes: by their number and the work per row only, never by the number of workers.
func (in *instr) cut(t *device.Tuning) {
	most := 256 // lanes
	if in.grp != nil {
		most = max(8, min(most, 1<<20/in.v.typ.Size())) // each keeps a partial sum
	}
	in.cutInto(most, t)
}

// cutInto cuts the rows into so many lanes at most.
func (in *instr) cutInto(most int, t *device.Tuning) {
	perRow := 1.0
	if in.rows > 0 {
		perRow = max(1, in.flops/float64(in.rows))
	}
	rows := max(int(t.LaneWork/perRow), (in.rows+most-1)/most, 1)
	in.lane = (rows + in.t.rows - 1) / in.t.rows * in.t.rows
}

func (in *instr) lanes() int { return (in.rows + in.lane - 1) / in.lane }

func (in *task) runStore() error {
	return cpu.Apportion(in.m.ctx, in.m.workers, in.lanes(), func(w, lane int) error {
		b, err := in.block(w)
		if err != nil {
			return err
		}
		outs := in.stored()
		for lo, hi := lane*in.lane, min((lane+1)*in.lane, in.rows); lo < hi; lo += in.t.rows {
			n := min(in.t.rows, hi-lo)
			for i := range outs {
				if r := in.t.result[i]; direct(in.t, r, &outs[i]) {
					b.cells[r] = outs[i].rows(in.off+lo, in.off+lo+n)
				}
			}
			if err := b.eval(lo, n); err != nil {
				return err
			}
			for i := range outs {
				if !direct(in.t, in.t.result[i], &outs[i]) {
					d, uniform := b.result(i)
					store(&outs[i], in.off+lo, n, d, uniform)
				}
			}
		}
		return nil
	})
}

// stored is the memory of the results, over the rows.
func (in *instr) stored() (outs []data) {
	for _, v := range append([]*val{in.v}, in.besides...) {
		if out := *v.data; in.by > 0 {
			outs = append(outs, viewed(&out, out.n*in.by, out.size/in.by))
		} else {
			outs = append(outs, out)
		}
	}
	return outs
}

// direct reports whether cell r, a result, can lie in the result's own memory, so that nothing is copied.
// Columns with NULL are copied: their invalid rows are zeroed.
func direct(t *tree, r int, out *data) bool {
	c := t.cells[r]
	return !c.view && !c.uniform && !c.nullable && out.valid == nil && t.rows > 1 && c.kind == out.kind
}

// store copies a block's result to the rows from lo on.
func store(out *data, lo, n int, d *data, uniform bool) {
	if uniform && out.kind == i64 && d.kind == i64 && out.size == 1 && out.valid == nil && d.valid == nil {
		x := d.i64[0]
		for r := range out.i64[lo : lo+n] {
			out.i64[lo+r] = x
		}
		return
	}
	if uniform {
		for r := range n {
			copyRow(out, lo+r, d, 0)
		}
		return
	}
	dst := out.rows(lo, lo+n)
	src := d.rows(0, n)
	copy(dst.f64, src.f64)
	copy(dst.f32, src.f32)
	copy(dst.i64, src.i64)
	copy(dst.str, src.str)
	if dst.valid != nil {
		setValid(dst.valid, src.valid)
		for r, v := range dst.valid {
			if v == 0 {
				dst.zeroRow(r)
			}
		}
	}
}

// partial is the sum of a group's rows in one lane, where the group goes on in the next or began before.
type partial struct {
	g   int // -1: none
	acc accum
}

// runSum reduces rows in group order. A group that lies within a lane is finished there; the first and the
// last group of a lane leave partial sums, which are added afterwards in lane order.
func (in *task) runSum() func() error {
	x, lanes := newReducer(in.v), 0
	x.parts = in.sum.inParts(in.v)
	add, _ := in.sum.adders(in.v, &in.m.sums)
	if in.rows > 0 {
		lanes = in.lanes()
	}
	parts := make([][2]partial, lanes)
	return func() error {
		err := cpu.Apportion(in.m.ctx, in.m.workers, lanes, func(w, lane int) error {
			b, err := in.block(w)
			if err != nil {
				return err
			}
			return in.sumLane(b, x, add, &parts[lane], lane)
		})
		if err != nil {
			return err
		}
		return joinParts(in.m, in.v, x, lanes, func(lane int) *[2]partial { return &parts[lane] })
	}
}

func (in *task) sumLane(b *block, x *reducer, add adder, parts *[2]partial, lane int) error {
	s := &runSum{}
	s.begin(
		in.v,
		x,
		add,
		&structure.Runs{Start: in.v.grp.Start},
		parts,
		lane*in.lane,
		min((lane+1)*in.lane, in.rows),
	)
	for lo := s.first; lo < s.end; lo += in.t.rows {
		n := min(in.t.rows, s.end-lo)
		if err := b.eval(lo, n); err != nil {
			return err
		}
		s.block(b, lo, n)
	}
	s.close()
	return nil
}

// runSum sums the rows first to end of a lane, run by run, of which each is a group. The groups that it begins and ends
// are finished; parts are the sums of the first and the last group where they began before or go on in the next lane.
type runSum struct {
	v          *val
	runs       *structure.Runs
	x          *reducer
	add        adder // nil: the result's rows are added
	whole      wholes
	parts      *[2]partial
	first, end int
	at         int // the run of the next row
	acc        *accum
	begun      bool // the run's sum: runs in whole need no memory of it
}

// begin has s sum the rows first to end.
func (s *runSum) begin(v *val, x *reducer, add adder, r *structure.Runs, parts *[2]partial, first, end int) {
	*s = runSum{
		v:     v,
		runs:  r,
		x:     x,
		add:   add,
		parts: parts,
		first: first,
		end:   end,
		at:    runAt(r.Start, first),
		acc:   &parts[0].acc,
	}
	parts[0].g, parts[1].g = -1, -1
	if int(r.Start[s.at]) == first {
		s.acc = &parts[1].acc
	}
}

// runSums are the block's sums of n members of a pass: those of its last lane have ended.
func (b *block) runSums(n int) []runSum {
	if b.runs == nil {
		b.runs = make([]runSum, n)
	}
	return b.runs
}

// group is the group of the next row.
func (s *runSum) group() int { return s.of(s.at) }

// of is the group of a run.
func (s *runSum) of(run int) int {
	if s.runs.Group == nil {
		return run
	}
	return int(s.runs.Group[run])
}

// inBlock sums the runs from row at on that lie before row end and whose groups follow each other. It returns the row
// behind them.
func (s *runSum) inBlock(b *block, at, end int) int {
	start, to := s.runs.Start, s.at
	for to+1 < len(start) && int(start[to+1]) <= end && (to == s.at || s.of(to) == s.of(to-1)+1) {
		to++
	}
	if to == s.at {
		return at
	}
	s.whole(b, start[s.at:to+1], s.v.data, s.group())
	s.at = to - 1 // the last of them has ended
	return int(start[to])
}

// block adds the n rows of a block from row lo on.
func (s *runSum) block(b *block, lo, n int) {
	start := s.runs.Start
	var d *data
	var uniform bool
	if s.add == nil {
		d, uniform = b.result(0)
	}
	for at := lo; at < lo+n; {
		if s.whole != nil && int(start[s.at]) == at {
			if to := s.inBlock(b, at, lo+n); to > at {
				if at = to; s.next(at) {
					return
				}
				continue
			}
		}
		to := min(int(start[s.at+1]), lo+n)
		if !s.begun {
			s.x.reset(s.acc)
			s.begun = true
		}
		if s.add != nil {
			s.add(b, s.acc, at-lo, to-lo)
			s.acc.seen += int64(to - at)
		} else {
			s.x.add(s.acc, d, uniform, at-lo, to-lo)
		}
		if at = to; at < int(start[s.at+1]) {
			return // the group goes on in the next block
		}
		if int(start[s.at]) >= s.first {
			s.x.finish(s.v.data, s.group(), s.acc)
		} else {
			s.parts[0].g = s.group()
		}
		if s.next(at) {
			return
		}
	}
}

// next goes on with the run that begins at row at; it reports whether there is none.
func (s *runSum) next(at int) bool {
	if at == s.v.grp.In.N {
		return true
	}
	start := s.runs.Start
	for s.at++; start[s.at+1] == start[s.at]; s.at++ {
	}
	s.acc, s.begun = &s.parts[1].acc, false
	return false
}

// close notes the last group where it goes on in the next lane.
func (s *runSum) close() {
	start := s.runs.Start
	if int(start[s.at]) >= s.end || int(start[s.at+1]) <= s.end {
		return
	}
	if s.acc == &s.parts[0].acc {
		s.parts[0].g = s.group()
	} else {
		s.parts[1].g = s.group()
	}
}

// runAt is the run, not empty, that holds row r.
func runAt(start []int32, r int) int {
	lo, hi := 0, len(start)-2
	for lo < hi {
		mid := (lo + hi) / 2
		if int(start[mid+1]) > r {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// joinParts adds the partial sums of each group in lane order and fills the empty groups.
func joinParts(m *machine, v *val, x *reducer, lanes int, parts func(lane int) *[2]partial) error {
	var some []*partial
	var begin []int // of each group among them
	for lane := range lanes {
		ends := parts(lane)
		for i := range ends {
			if p := &ends[i]; p.g >= 0 {
				if len(some) == 0 || some[len(some)-1].g != p.g {
					begin = append(begin, len(some))
				}
				some = append(some, p)
			}
		}
	}
	workers := m.workers
	if len(some)*x.size < sharedSums {
		workers = 1
	}
	err := cpu.Parallel(m.ctx, workers, len(begin), func(_, g int) error {
		end := len(some)
		if g+1 < len(begin) {
			end = begin[g+1]
		}
		sum := some[begin[g]]
		for _, p := range some[begin[g]+1 : end] {
			x.merge(&sum.acc, &p.acc)
		}
		x.finish(v.data, sum.g, &sum.acc)
		return nil
	})
	if err != nil {
		return err
	}
	var none accum
	x.reset(&none)
	for _, g := range v.grp.Without() {
		x.finish(v.data, g, &none)
	}
	return nil
}

// sharedSums is how many numbers of partial sums are worth more workers than one.
const sharedSums = 1 << 15

// accum is a sum, count or extreme so far.
type accum struct {
	f    []float64
	i    int64
	s    string
	seen int64     // valid rows
	part []float32 // where the reducer is in parts: the sum of so many rows that is not in f
	rows int
	held bool // f holds others
}

// reducer is the ⊕ of an aggregate.
type reducer struct {
	fn   ra.AggFn
	size int
	in   kind
	sign int
	// parts tells that accumulators hold single precision, and double precision only where there are too many rows for it.
	parts bool
	mem   *tray // of the accumulators, nil: Go's heap
}

func newReducer(v *val) *reducer {
	x := &reducer{fn: v.fn, size: v.args[0].typ.Size(), in: kindOf(v.args[0].typ), sign: 1}
	if v.fn == ra.Min {
		x.sign = -1
	}
	return x
}

// numbers is how many an accumulator holds.
func (x *reducer) numbers() int {
	if x.in == i64 || x.in == str || x.fn == ra.Count {
		return 0
	}
	return x.size
}

func (x *reducer) reset(a *accum) {
	a.i, a.s, a.seen, a.rows, a.held = 0, "", 0, 0, false
	if x.parts {
		return
	}
	if n := x.numbers(); len(a.f) != n {
		a.f = x.mem.take(n)
	}
	clear(a.f)
}

// add reduces rows lo to hi of a block.
func (x *reducer) add(a *accum, d *data, uniform bool, lo, hi int) {
	if uniform {
		x.addUniform(a, d, hi-lo)
		return
	}
	sums := x.fn == ra.Sum || x.fn == ra.GradSum
	if sums && d.valid == nil {
		a.seen += int64(hi - lo)
		x.addAll(a, d, lo, hi)
		return
	}
	for r := lo; r < hi; r++ {
		if d.valid != nil && d.valid[r] == 0 {
			continue
		}
		if sums {
			x.addAll(a, d, r, r+1)
		} else if x.fn != ra.Count {
			x.extreme(a, d, r)
		}
		a.seen++
	}
}
