package structure

import (
	"bytes"
	"slices"

	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/tensor"
)

// Index maps the rows of dst to rows of src.
type Index struct {
	ID       int
	Dst, Src *Space
	At       []int32 // by row of Dst; nil: row r reads row r
	Missing  bool    // some At[r] is -1: zero is read there
	step     bool    // made for a step, even if both relations stay the same

	Projection *Projection // of a grid: At is nil until Realise lists the rows

	outer, inner *Index // of a composed index: outer is read first, then inner; else nil

	Late *Indexer // not nil: At is nil until List lists the rows in this Indexer's memory
	of   *Groups  // whose order it is
}

func (x *Index) Varies() bool { return x.step || x.Dst.Varies || x.Src.Varies }

// Groups tells how the rows of in are grouped into those of out.
type Groups struct {
	ID         int
	In, Out    *Space
	Codes      []int32     // the group of each row; nil: all rows are in one group
	Perm       []int32     // rows of In sorted by group; nil: they are sorted as they are
	Start      []int32     // group g is rows Start[g] to Start[g+1] of that order
	Order      *Index      // Perm as an index; nil: the identity
	empty      []int       // groups without rows; nil: not known yet
	Most       int         // rows of the largest group, 0: not known
	runs       *Runs       // see RunsOfGroups; nil: not known yet
	By         *Index      // maps all rows of a group to the same row; nil: no such index is known
	rows       []int32     // see SharedRows; nil: not known yet
	Projection *Projection // of a grid: Codes and Start are nil until Realise lists the rows
	step       bool        // made for a step, even if both relations stay the same
}

func (x *Groups) Varies() bool { return x.step || x.In.Varies || x.Out.Varies }

// Indexer makes and holds the indexes and groups of the run, or of a step on top of it. Equal ones are made once.
type Indexer struct {
	parent      *Indexer
	Env         *Env
	at          map[indexKey][]*Index
	codes       map[indexKey][]*Groups
	wholes      map[[2]int]*Groups
	comp, lates map[[2]int]*Index
	Arrays      *Arrays // memory for the indexes; nil: Go's heap
}

// indexKey is equal for equal indexes, or groups.
type indexKey struct {
	from, to, n int
	hash        uint64
}

func NewIndexer(parent *Indexer, e *Env, mem *Arrays) *Indexer {
	x := &Indexer{parent: parent, Env: e, Arrays: mem}
	x.forget()
	return x
}

// forget forgets all indexes and groups.
func (x *Indexer) forget() {
	x.at, x.codes, x.wholes = map[indexKey][]*Index{}, map[indexKey][]*Groups{}, map[[2]int]*Groups{}
	x.comp, x.lates = map[[2]int]*Index{}, map[[2]int]*Index{}
}

func (x *Indexer) NewID() int { return x.Env.NewID() }

func (x *Indexer) Space(n int, vary bool) *Space { return &Space{ID: x.NewID(), N: n, Varies: vary} }

// home is the Indexer that keeps what varies between steps, or what does not.
func (x *Indexer) home(vary bool) *Indexer {
	for !vary && x.parent != nil {
		x = x.parent
	}
	return x
}

// Index makes an index without gaps; the identity of a space is nil. One made for a step counts as varying.
func (x *Indexer) Index(dst, src *Space, at []int32) *Index {
	return x.add(&Index{Dst: dst, Src: src, At: at, step: x.parent != nil})
}

// add returns the index equal to n that exists already, or n with an id.
func (x *Indexer) add(n *Index) *Index {
	if n.At == nil && n.Dst == n.Src {
		return nil
	}
	key := indexKey{n.Dst.ID, n.Src.ID, len(n.At), SampleHash(n.At)}
	for p := x; p != nil; p = p.parent {
		for _, y := range p.at[key] {
			if EqualInts(y.At, n.At) {
				return y
			}
		}
	}
	n.ID = x.NewID()
	h := x.home(n.Varies())
	h.at[key] = append(h.at[key], n)
	return n
}

// SampleHash hashes a sample of the numbers. Equal lists have equal hashes.
func SampleHash[T int32 | int64](at []T) uint64 {
	h := uint64(len(at))
	for i, step := 0, len(at)/64+1; i < len(at); i += step {
		h = tensor.Mix(h ^ uint64(at[i]))
	}
	return h
}

func EqualInts[T int32 | int64](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || bytes.Equal(tensor.AsBytes(a), tensor.AsBytes(b)))
}

// Groups groups the rows of in by code: row r belongs to row code[r] of out. vary tells whether the codes change
// between steps.
func (x *Indexer) Groups(in, out *Space, code []int32, vary bool) *Groups {
	return x.tallied(in, out, code, nil, vary)
}

// tallied is Groups with the codes counted already.
func (x *Indexer) tallied(in, out *Space, code []int32, t *tally, vary bool) *Groups {
	key := indexKey{in.ID, out.ID, len(code), SampleHash(code)}
	for p := x; p != nil; p = p.parent {
		for _, y := range p.codes[key] {
			if EqualInts(y.Codes, code) {
				return y
			}
		}
	}
	y := &Groups{ID: x.NewID(), In: in, Out: out, Codes: code, step: vary}
	h := x.home(y.Varies())
	if t == nil {
		t = h.Env.Crew().tally(code, out.N, x.Arrays)
	}
	y.Start, y.Perm = h.Env.Crew().sort(code, t, h.Arrays)
	y.Most = t.most
	if y.Perm != nil {
		y.Order = &Index{
			ID:   x.NewID(),
			Dst:  in,
			Src:  in,
			At:   y.Perm,
			step: vary,
			of:   y,
		} // equal ones are of equal groups, nearly always
	}
	h.codes[key] = append(h.codes[key], y)
	return y
}

// All is the one group of all rows of a space.
func (x *Indexer) All(in, out *Space) *Groups {
	key := [2]int{in.ID, out.ID}
	for p := x; p != nil; p = p.parent {
		if y := p.wholes[key]; y != nil {
			return y
		}
	}
	y := &Groups{ID: x.NewID(), In: in, Out: out, Start: []int32{0, int32(in.N)}}
	x.home(y.Varies()).wholes[key] = y
	return y
}

// Later is Compose for indexes of keys. It leaves the rows to List where many rows read few keys: a look-up then works
// on the few keys, and the rows are often never needed.
func (x *Indexer) Later(a, b *Index) *Index {
	switch {
	case a == nil: // nil is the identity
		return b
	case b == nil:
		return a
	case a.Late != nil:
		return x.Later(a.outer, x.Later(a.inner, b))
	case b.Late != nil && len(a.At) <= len(b.outer.At):
		return x.Later(x.Later(a, b.outer), b.inner)
	}
	b.List()
	if a.At == nil || b.At == nil || a.Missing || b.Missing || 2*a.Src.N > a.Dst.N {
		return x.Compose(a, b)
	}
	key := [2]int{a.ID, b.ID}
	for p := x; p != nil; p = p.parent {
		if c := p.comp[key]; c != nil {
			return c
		}
		if c := p.lates[key]; c != nil {
			return c
		}
	}
	x = x.home(a.Varies() || b.Varies())
	n := &Index{ID: x.NewID(), Dst: a.Dst, Src: b.Src, step: a.step || b.step, outer: a, inner: b, Late: x}
	x.lates[key] = n
	return n
}

// List lists the rows of an index that Later made.
func (x *Index) List() {
	if x == nil || x.Late == nil {
		return
	}
	x.At = x.Late.Arrays.Ints(len(x.outer.At))
	x.Late.Env.Crew().each(len(x.At), func(lo, hi int) { cpu.Through(x.At[lo:hi], x.outer.At[lo:hi], x.inner.At) })
	x.Late = nil
}

// SharedRows lists, for each group, the row to which By maps all rows of the group; 0 for a group without rows.
func (x *Groups) SharedRows(mem *Indexer) []int32 {
	if x.rows != nil {
		return x.rows
	}
	mem = mem.home(x.Varies())
	x.rows = mem.Arrays.Ints(x.Out.N)
	mem.Env.Crew().each(x.Out.N, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			at := x.Start[g]
			if x.rows[g] = 0; at < x.Start[g+1] {
				if x.Perm != nil {
					at = x.Perm[at]
				}
				x.rows[g] = x.By.At[at]
			}
		}
	})
	return x.rows
}

// spread lists, for the rows in group order, the value of at that all rows of their group share.
func (x *Groups) spread(at []int32, mem *Indexer) []int32 {
	out := mem.Arrays.Ints(x.In.N)
	mem.Env.Crew().each(x.Out.N, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			if from, to := x.Start[g], x.Start[g+1]; from < to {
				Fill(out[from:to], at[x.Perm[from]])
			}
		}
	})
	return out
}

// known is the index that reads through a, then b, if somebody has read so.
func (x *Indexer) known(a, b *Index) (c *Index, ok bool) {
	switch {
	case a == nil:
		return b, true
	case b == nil:
		return a, true
	}
	for p := x; p != nil && !ok; p = p.parent {
		c, ok = p.comp[[2]int{a.ID, b.ID}]
	}
	return c, ok
}

// Compose makes the index that reads through a, then through b.
func (x *Indexer) Compose(a, b *Index) *Index {
	key := [2]int{a.ID, b.ID}
	for p := x; p != nil; p = p.parent {
		if c := p.comp[key]; c != nil {
			return c
		}
	}
	a.List()
	b.List()
	x = x.home(a.Varies() || b.Varies())
	n := &Index{Dst: a.Dst, Src: b.Src, At: b.At, step: a.step || b.step, Missing: a.Missing, outer: a, inner: b}
	switch {
	case a.At == nil:
		n.Missing = b.Missing
	case b.At == nil:
		n.At = a.At
	case a.of != nil && a.of.By == b:
		n.At = a.of.spread(b.At, x)
	default:
		n.At = x.Arrays.Ints(len(a.At))
		x.Env.Crew().each(len(a.At), func(lo, hi int) { cpu.Through(n.At[lo:hi], a.At[lo:hi], b.At) })
		n.Missing = a.Missing || b.Missing && slices.Contains(n.At, -1)
	}
	if n.Dst == n.Src && IsIdentity(n.At) {
		n.At = nil
	}
	c := x.add(n)
	if c != nil && c.outer == nil {
		c.outer, c.inner = a, b
	}
	x.comp[key] = c
	return c
}
