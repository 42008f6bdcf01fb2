package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
)

// adder adds the rows lo to hi of a block, all of one group, to a float sum.
type adder func(b *block, a *accum, lo, hi int)

// partial is a lane's sum of a group that begins in an earlier lane or ends in a later one.
type partial struct {
	g   int // -1: none
	acc accum
}

// runSum sums rows in group order. A group inside one lane is finished there. The first and the last group of a lane
// leave partial sums, which are then added in lane order.
func (in *task) runSum() func() error {
	x, lanes := newReducer(in.V), 0
	x.parts = in.Sum.InParts(in.V)
	add, _ := addersOf(in.Sum, in.V, in.loans)
	if in.Rows > 0 {
		lanes = in.Lanes()
	}
	parts := make([][2]partial, lanes)
	return func() error {
		err := in.m.crew.Apportion(in.m.ctx, in.m.workers, lanes, func(w, lane int) error {
			b, err := in.block(w)
			if err != nil {
				return err
			}
			return in.sumLane(b, x, add, &parts[lane], lane)
		})
		if err != nil {
			return err
		}
		return joinParts(in.m, in.V, x, lanes, func(lane int) *[2]partial { return &parts[lane] })
	}
}

func (in *task) sumLane(b *block, x *reducer, add adder, parts *[2]partial, lane int) error {
	s := &runSum{}
	s.begin(in.V, x, add, &structure.Runs{Start: in.V.Groups.Start}, parts, lane*in.Lane, min((lane+1)*in.Lane, in.Rows))
	for lo := s.first; lo < s.end; lo += in.T.Rows {
		n := min(in.T.Rows, s.end-lo)
		if err := b.eval(lo, n); err != nil {
			return err
		}
		s.block(b, lo, n)
	}
	s.close()
	return nil
}

// runSum sums the rows of a lane, run by run; each run is a group. It finishes the groups that begin and end in the
// lane. parts are the sums of the first and the last group if they began before or go on.
type runSum struct {
	v          *values.Val
	runs       *structure.Runs
	x          *reducer
	add        adder // nil: the tree's result is added
	whole      wholeGroups
	parts      *[2]partial
	first, end int
	at         int // the run of the next row
	acc        *accum
	begun      bool // the run's sum has begun; runs that are summed as a whole do not need it
}

// begin prepares s for the rows first to end.
func (s *runSum) begin(v *values.Val, x *reducer, add adder, r *structure.Runs, parts *[2]partial, first, end int) {
	*s = runSum{v: v, runs: r, x: x, add: add, parts: parts, first: first, end: end, at: runAt(r.Start, first),
		acc: &parts[0].acc}
	parts[0].g, parts[1].g = -1, -1
	if int(r.Start[s.at]) == first {
		s.acc = &parts[1].acc
	}
}

// group is the group of the present run.
func (s *runSum) group() int { return s.of(s.at) }

// of is the group of a run.
func (s *runSum) of(run int) int {
	if s.runs.Group == nil {
		return run
	}
	return int(s.runs.Group[run])
}

// inBlock sums runs from row at on, as long as they end before row end and their groups are consecutive. It returns the
// first row after them.
func (s *runSum) inBlock(b *block, at, end int) int {
	start, to := s.runs.Start, s.at
	for to+1 < len(start) && int(start[to+1]) <= end && (to == s.at || s.of(to) == s.of(to-1)+1) {
		to++
	}
	if to == s.at {
		return at
	}
	s.whole(b, start[s.at:to+1], s.v.Data, s.group())
	s.at = to - 1 // the last of these runs has ended
	return int(start[to])
}

// block adds the n rows of a block from row lo on.
func (s *runSum) block(b *block, lo, n int) {
	start := s.runs.Start
	var d *column.Column
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
			s.x.finish(s.v.Data, s.group(), s.acc)
		} else {
			s.parts[0].g = s.group()
		}
		if s.next(at) {
			return
		}
	}
}

// next goes to the run that begins at row at. It returns true if no run is left.
func (s *runSum) next(at int) bool {
	if at == s.v.Groups.In.N {
		return true
	}
	start := s.runs.Start
	for s.at++; start[s.at+1] == start[s.at]; s.at++ {
	}
	s.acc, s.begun = &s.parts[1].acc, false
	return false
}

// close keeps the sum of the last group if the group goes on in the next lane.
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

// runAt is the nonempty run that contains row r.
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
func joinParts(m *Machine, v *values.Val, x *reducer, lanes int, parts func(lane int) *[2]partial) error {
	var some []*partial
	var begin []int // by group: its first partial sum
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
	err := m.crew.Parallel(m.ctx, workers, len(begin), func(_, g int) error {
		end := len(some)
		if g+1 < len(begin) {
			end = begin[g+1]
		}
		sum := some[begin[g]]
		for _, p := range some[begin[g]+1 : end] {
			x.merge(&sum.acc, &p.acc)
		}
		x.finish(v.Data, sum.g, &sum.acc)
		return nil
	})
	if err != nil {
		return err
	}
	var none accum
	x.reset(&none)
	for _, g := range v.Groups.Without() {
		x.finish(v.Data, g, &none)
	}
	return nil
}

// sharedSums is the number of numbers in partial sums from which several workers add them.
const sharedSums = 1 << 15
