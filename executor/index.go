package executor

import (
	"bytes"
	"slices"

	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// index maps the rows of dst to rows of src.
type index struct {
	id       int
	dst, src *space
	at       []int32 // nil: row r is row r
	missing  bool    // some at[r] is -1: the value there is zero
	step     bool    // made for a step, maybe between relations that do not change

	proj *projection // of a grid's rows; at is then nil until somebody needs the rows (realise)

	outer, inner *index // what it is composed of: outer is read first, inner through it; nil where it is not

	late *indexer // at is nil until somebody needs the rows (list), which belong there
	of   *groups  // whose order it is
}

func (x *index) vary() bool { return x.step || x.dst.vary || x.src.vary }

// groups tells how the rows of in are grouped into those of out.
type groups struct {
	id      int
	in, out *space
	code    []int32     // the group of each row; nil: all are in the one group
	perm    []int32     // rows of in sorted by group, nil: they are
	start   []int32     // rows start[g] to start[g+1] of that order are group g
	order   *index      // perm as an index, nil: the identity
	empty   []int       // groups without rows, once known
	most    int         // rows of the largest group, 0: not known
	runs    *runs       // once known
	by      *index      // rows of one group have one row there, nil where none is known
	rows    []int32     // held, once known
	proj    *projection // of a grid's rows; code and start are then nil until somebody needs the rows (realise)
	step    bool        // made for a step, maybe of relations that do not change
}

func (x *groups) vary() bool { return x.step || x.in.vary || x.out.vary }

// indexer holds the indexes and groups of the run, or of a step on top of it. Equal ones are one.
type indexer struct {
	parent *indexer
	env    *Env
	at     map[indexKey][]*index
	codes  map[indexKey][]*groups
	wholes map[[2]int]*groups
	comp   map[[2]int]*index
	lates  map[[2]int]*index
	mem    *pool // of its arrays; nil: Go's heap
}

// indexKey is what equal indexes, or groups, have in common.
type indexKey struct {
	from, to, n int
	hash        uint64
}

func newIndexer(parent *indexer, e *Env, mem *pool) *indexer {
	x := &indexer{parent: parent, env: e, mem: mem}
	x.forget()
	return x
}

// forget forgets all indexes and groups.
func (x *indexer) forget() {
	x.at, x.codes, x.wholes = map[indexKey][]*index{}, map[indexKey][]*groups{}, map[[2]int]*groups{}
	x.comp, x.lates = map[[2]int]*index{}, map[[2]int]*index{}
}

func (x *indexer) id() int { return x.env.id() }

func (x *indexer) space(n int, vary bool) *space { return &space{id: x.id(), n: n, vary: vary} }

// home is where something is kept that changes between steps or does not.
func (x *indexer) home(vary bool) *indexer {
	for !vary && x.parent != nil {
		x = x.parent
	}
	return x
}

// index makes an index without gaps; the identity of a space is nil. What a step makes changes with the step.
func (x *indexer) index(dst, src *space, at []int32) *index {
	return x.add(&index{dst: dst, src: src, at: at, step: x.parent != nil})
}

// add returns an index that is equal to n: an earlier one, or n with a number of its own.
func (x *indexer) add(n *index) *index {
	if n.at == nil && n.dst == n.src {
		return nil
	}
	key := indexKey{n.dst.id, n.src.id, len(n.at), sample(n.at)}
	for p := x; p != nil; p = p.parent {
		for _, y := range p.at[key] {
			if equalInts(y.at, n.at) {
				return y
			}
		}
	}
	n.id = x.id()
	h := x.home(n.vary())
	h.at[key] = append(h.at[key], n)
	return n
}

// sample hashes some of the numbers: equal lists have equal samples, and few others have.
func sample[T int32 | int64](at []T) uint64 {
	h := uint64(len(at))
	for i, step := 0, len(at)/64+1; i < len(at); i += step {
		h = tensor.Mix(h ^ uint64(at[i]))
	}
	return h
}

func equalInts[T int32 | int64](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || bytes.Equal(tensor.AsBytes(a), tensor.AsBytes(b)))
}

// groups makes the groups of the rows of in by code: out row code[r] gets row r. vary tells whether the codes change
// between steps.
func (x *indexer) groups(in, out *space, code []int32, vary bool) *groups {
	return x.tallied(in, out, code, nil, vary)
}

// tallied is groups, where the codes have been counted already.
func (x *indexer) tallied(in, out *space, code []int32, t *tally, vary bool) *groups {
	key := indexKey{in.id, out.id, len(code), sample(code)}
	for p := x; p != nil; p = p.parent {
		for _, y := range p.codes[key] {
			if equalInts(y.code, code) {
				return y
			}
		}
	}
	y := &groups{id: x.id(), in: in, out: out, code: code, step: vary}
	h := x.home(y.vary())
	if t == nil {
		t = h.env.crew().tally(code, out.n, x.mem)
	}
	y.start, y.perm = h.env.crew().sort(code, t, h.mem)
	y.most = t.most
	if y.perm != nil {
		y.order = &index{id: x.id(), dst: in, src: in, at: y.perm, step: vary, of: y} // equal ones are of equal groups, nearly always
	}
	h.codes[key] = append(h.codes[key], y)
	return y
}

// whole is the one group of all rows of a space.
func (x *indexer) whole(in, out *space) *groups {
	key := [2]int{in.id, out.id}
	for p := x; p != nil; p = p.parent {
		if y := p.wholes[key]; y != nil {
			return y
		}
	}
	y := &groups{id: x.id(), in: in, out: out, start: []int32{0, int32(in.n)}}
	x.home(y.vary()).wholes[key] = y
	return y
}

// later is compose for indexes of keys, whose rows are often never read: many rows that read few keys are looked up as those are.
// Those are listed at once.
func (x *indexer) later(a, b *index) *index {
	switch {
	case a == nil: // the identity
		return b
	case b == nil:
		return a
	case a.late != nil:
		return x.later(a.outer, x.later(a.inner, b))
	case b.late != nil && len(a.at) <= len(b.outer.at):
		return x.later(x.later(a, b.outer), b.inner)
	}
	b.list()
	if a.at == nil || b.at == nil || a.missing || b.missing || 2*a.src.n > a.dst.n {
		return x.compose(a, b)
	}
	key := [2]int{a.id, b.id}
	for p := x; p != nil; p = p.parent {
		if c := p.comp[key]; c != nil {
			return c
		}
		if c := p.lates[key]; c != nil {
			return c
		}
	}
	x = x.home(a.vary() || b.vary())
	n := &index{id: x.id(), dst: a.dst, src: b.src, step: a.step || b.step, outer: a, inner: b, late: x}
	x.lates[key] = n
	return n
}

// list lists the rows of an index that were left for later.
func (x *index) list() {
	if x == nil || x.late == nil {
		return
	}
	x.at = x.late.mem.ints(len(x.outer.at))
	x.late.env.crew().each(len(x.at), func(lo, hi int) { cpu.Through(x.at[lo:hi], x.outer.at[lo:hi], x.inner.at) })
	x.late = nil
}

// held lists the row of by that all rows of a group have, 0 for a group without rows.
func (x *groups) held(mem *indexer) []int32 {
	if x.rows != nil {
		return x.rows
	}
	mem = mem.home(x.vary())
	x.rows = mem.mem.ints(x.out.n)
	mem.env.crew().each(x.out.n, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			at := x.start[g]
			if x.rows[g] = 0; at < x.start[g+1] {
				if x.perm != nil {
					at = x.perm[at]
				}
				x.rows[g] = x.by.at[at]
			}
		}
	})
	return x.rows
}

// spread lists for rows in group order what their group has in at.
func (x *groups) spread(at []int32, mem *indexer) []int32 {
	out := mem.mem.ints(x.in.n)
	mem.env.crew().each(x.out.n, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			if from, to := x.start[g], x.start[g+1]; from < to {
				fill(out[from:to], at[x.perm[from]])
			}
		}
	})
	return out
}

// compose is the index that reads through a, then b.
func (x *indexer) compose(a, b *index) *index {
	key := [2]int{a.id, b.id}
	for p := x; p != nil; p = p.parent {
		if c := p.comp[key]; c != nil {
			return c
		}
	}
	a.list()
	b.list()
	x = x.home(a.vary() || b.vary())
	n := &index{dst: a.dst, src: b.src, at: b.at, step: a.step || b.step, missing: a.missing, outer: a, inner: b}
	switch {
	case a.at == nil:
		n.missing = b.missing
	case b.at == nil:
		n.at = a.at
	case a.of != nil && a.of.by == b:
		n.at = a.of.spread(b.at, x)
	default:
		n.at = x.mem.ints(len(a.at))
		x.env.crew().each(len(a.at), func(lo, hi int) { cpu.Through(n.at[lo:hi], a.at[lo:hi], b.at) })
		n.missing = a.missing || b.missing && slices.Contains(n.at, -1)
	}
	if n.dst == n.src && isIdentity(n.at) {
		n.at = nil
	}
	c := x.add(n)
	if c != nil && c.outer == nil {
		c.outer, c.inner = a, b
	}
	x.comp[key] = c
	return c
}
