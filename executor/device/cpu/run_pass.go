package cpu

import (
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/values"
)

// partials are a lane's sums of an aggregate by group: of all groups that it has met or, if the rows are in group
// order, of those that it has not finished.
type partials struct {
	acc  []*accum
	met  []int
	ends [2]partial
}

// pass is the state of a running pass.
type pass struct {
	*task
	members []*summing
	sums    [][]partials // per lane and member
}

// summing is the state of a member of a pass.
type summing struct {
	*device.Member
	red *reducer // of a sum; nil: the member is stored
	add adder
	all wholeGroups // computes groups that lie wholly in a block
}

var _ = registerState(func(f *device.Fused, t *task) func() error { return newPass(t, f).run })

func newPass(in *task, f *device.Fused) *pass {
	n := len(f.Members)
	p := &pass{task: in, members: make([]*summing, n), sums: make([][]partials, in.Lanes())}
	for i, all := 0, make([]partials, len(p.sums)*n); i < len(p.sums); i++ {
		p.sums[i] = all[i*n : (i+1)*n]
	}
	for i, m := range f.Members {
		if p.members[i] = (&summing{Member: m}); m.V.Op == values.OpAgg {
			x := newReducer(m.V)
			x.mem, x.parts = in.loans, m.Sum.InParts(m.V)
			p.members[i].red = x
			p.members[i].add, p.members[i].all = addersOf(m.Sum, m.V, in.loans)
		}
	}
	return p
}

func (f *pass) run() error {
	m, lanes := f.m, len(f.sums)
	err := m.crew.Apportion(m.ctx, m.workers, lanes, func(w, lane int) error {
		b, err := f.block(w)
		if err != nil {
			return err
		}
		return f.sumLane(b, lane)
	})
	if err != nil {
		return err
	}
	for i, x := range f.members {
		switch {
		case x.red == nil:
			continue
		case x.Runs != nil:
			if err := joinParts(m, x.V, x.red, lanes, func(lane int) *[2]partial { return &f.sums[lane][i].ends }); err != nil {
				return err
			}
			continue
		}
		err := m.crew.Parallel(m.ctx, m.workers, x.V.Groups.Out.N, func(_, g int) error {
			f.merge(i, g)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// merge adds the lanes' sums of group g to the first lane's, in lane order.
func (f *pass) merge(i, g int) {
	x, sum := f.members[i], (*accum)(nil)
	for lane := range f.sums {
		acc := f.sums[lane][i].acc
		switch {
		case acc == nil || acc[g] == nil:
		case sum == nil:
			sum = acc[g]
		default:
			x.red.merge(sum, acc[g])
		}
	}
	if sum == nil {
		sum = &accum{}
		x.red.reset(sum)
	}
	x.red.finish(x.V.Data, g, sum)
}

// of returns the lane's sum of group g.
func (p *partials) of(x *summing, g int) *accum {
	if p.acc == nil {
		p.acc = make([]*accum, x.V.Groups.Out.N)
	}
	if p.acc[g] == nil {
		p.acc[g] = &accum{}
		x.red.reset(p.acc[g])
		p.met = append(p.met, g)
	}
	return p.acc[g]
}

func (f *pass) sumLane(b *block, lane int) error {
	in := f.task
	sums, runs := f.sums[lane], b.runSums(len(f.members))
	first, hi := lane*in.Lane, min((lane+1)*in.Lane, in.Rows)
	for i, x := range f.members {
		if x.Runs != nil {
			runs[i].begin(x.V, x.red, x.add, x.Runs, &sums[i].ends, first, hi)
			if x.V.Data.Valid() == nil {
				runs[i].whole = x.all
			}
		}
		for _, g := range sums[i].met {
			x.red.reset(sums[i].acc[g])
		}
	}
	for lo := first; lo < hi; lo += in.T.Rows {
		n := min(in.T.Rows, hi-lo)
		for _, x := range f.members {
			if x.inPlace(in.T) {
				b.cells[in.T.Result[x.Base]] = x.V.Data.Rows(lo, lo+n)
			}
		}
		if err := b.eval(lo, n); err != nil {
			return err
		}
		for i, x := range f.members {
			b.base = x.Base
			switch {
			case x.Runs != nil:
				runs[i].block(b, lo, n)
			case x.red != nil:
				x.block(b, &sums[i], lo, n)
			case !x.inPlace(in.T):
				d, uniform := b.result(0)
				store(x.V.Data, lo, n, d, uniform)
			}
		}
		b.base = 0
	}
	for i, x := range f.members {
		if x.Runs != nil {
			runs[i].close()
		}
	}
	return nil
}

// inPlace reports whether the rows are computed directly where they are stored.
func (x *summing) inPlace(t *device.Tree) bool {
	return x.red == nil && x.Own && direct(t, t.Result[x.Base], x.V.Data)
}

// block adds the n rows of a block from row lo on, runs of one group at a time.
func (x *summing) block(b *block, p *partials, lo, n int) {
	code := x.V.Groups.Codes
	for at := 0; at < n; {
		g, to := 0, n
		if code != nil && x.V.Groups.Out.N > 1 {
			g = int(code[lo+at])
			for to = at + 1; to < n && int(code[lo+to]) == g; to++ {
			}
		}
		acc := p.of(x, g)
		if x.add != nil {
			x.add(b, acc, at, to)
			acc.seen += int64(to - at)
		} else {
			d, uniform := b.result(0)
			x.red.add(acc, d, uniform, at, to)
		}
		at = to
	}
}
