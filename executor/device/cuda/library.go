package cuda

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// largeProduct is from how many operations on a call of cuBLASLt makes products. At the 50 TFLOP/s that were measured
// of large ones (docs/adr/0021) so many take a microsecond, as long as a graph needs for a kernel: below, no kernel
// could save more. That is a guess: no card has told yet where the kernels here become slower than the library.
const largeProduct = 5e7

// partsAtOnce is how many bytes of parts of sums are made before they are added: they are read again at once, so that
// they had better still lie in the processor's second-level cache.
const partsAtOnce = 64 << 20

// call is a launch of cuBLASLt.
type call struct {
	by        *cuda.Multiplier
	x, y, out cuda.Address
	parts     bool // out is counted from where the parts of sums lie
	add       bool // to what lies there
}

func (l *call) run() error { return l.by.Launch(l.x, l.y, l.out, l.add) }

// item is a term of a product as the library sees it: numbers at to at + k of a sum. Of x, y and the result it is told
// how many numbers behind the first one the term's matrices begin.
type item struct {
	x, y, out int
	at, k     int
	part      int // its place among the parts of sums; -1: it is the result
	turn      int // its place among the terms of its piece: the first is written, the others are added
}

// items are the terms of all pieces.
func (x *product) items() (out []item) {
	m, n, k := x.p.M, x.p.N, x.p.K
	stepX, stepY := 1, n // from a number of a sum to the next one
	if x.p.At {
		stepX = m
	}
	if x.p.Bt {
		stepY = 1
	}
	for i, dest := range x.pieces.dest {
		for t := x.pieces.from[i]; t < x.pieces.to[i]; t++ {
			e := item{at: int(x.from[t]), k: int(x.to[t] - x.from[t]), part: -1, turn: int(t - x.pieces.from[i])}
			e.x, e.y = int(x.row[0][t])*m*k+e.at*stepX, int(x.row[1][t])*k*n+e.at*stepY
			if dest < 0 {
				e.part = int(-1 - dest)
			}
			e.out = max(int(dest), e.part) * m * n
			out = append(out, e)
		}
	}
	return out
}

// batch are items whose matrices lie at equal distances, so that one call makes them: the first one, how many there
// are, and the distances.
type batch struct {
	item
	n           int
	dx, dy, out int
}

// batches puts items together. Those of one piece stay in order: all first terms come before all second ones. The
// others may be taken piece by piece, or across pieces the parts at the same place of their sums.
func batches(items []item, across bool) (out []batch) {
	slices.SortStableFunc(items, func(a, b item) int {
		c := cmp.Compare(a.turn, b.turn)
		if across {
			c = cmp.Or(c, cmp.Compare(a.at, b.at))
		}
		return c
	})
	for _, e := range items {
		if len(out) == 0 || !out[len(out)-1].takes(e) {
			out = append(out, batch{item: e, n: 1})
		}
	}
	return out
}

// takes adds an item, if it lies behind the others as they behind each other.
func (b *batch) takes(e item) bool {
	dx, dy, out := e.x-b.x-b.dx*(b.n-1), e.y-b.y-b.dy*(b.n-1), e.out-b.item.out-b.out*(b.n-1)
	switch {
	case e.k != b.k || e.turn != b.turn || (e.part < 0) != (b.part < 0) || dx < 0 || dy < 0 || out <= 0:
		return false
	case b.n == 1:
		b.dx, b.dy, b.out = dx, dy, out
	case dx != b.dx || dy != b.dy || out != b.out:
		return false
	}
	b.n++
	return true
}

// fewest are the batches of items in the order in which they are fewer.
func fewest(items []item) []batch {
	inOrder, across := batches(slices.Clone(items), false), batches(slices.Clone(items), true)
	if len(across) < len(inOrder) {
		return across
	}
	return inOrder
}

// library makes a product by cuBLASLt: launches of that and, where sums are cut or results have no terms, of a kernel
// that adds the parts. It is nil where the kernels here do all.
func (c *code) library(x *product, t *task) (out []*launch) {
	kind := x.v.Data.Kind()
	sums := 0
	for i := range x.from {
		sums += int(x.to[i] - x.from[i])
	}
	work := 2 * float64(x.p.M) * float64(x.p.N) * float64(sums)
	if sums == 0 || work < c.d.LargeProduct || kind != column.F32 && kind != column.F64 || x.x.Kind() != kind ||
		x.y.Kind() != kind || c.d.d.Library() != nil {
		return nil
	}
	items, size := x.items(), x.p.M*x.p.N
	most := min(max(c.d.PartsAtOnce/(size*kind.Bytes()), 1), x.pieces.partials)
	if n := len(fewest(items)); work/float64(n) < c.d.LargeProduct {
		return nil
	}
	for lo := 0; lo == 0 || lo < x.pieces.partials; lo += most {
		w := &window{product: x, lo: lo, hi: min(lo+most, x.pieces.partials), odd: lo/max(most, 1)%2 > 0}
		calls, ok := c.window(w, items)
		if !ok {
			return nil
		}
		out = append(out, calls...)
		if l := w.finish(c, t, most*size*kind.Bytes()); l != nil {
			out = append(out, l)
		}
		if most == 0 {
			break
		}
	}
	return out
}

// window are the parts lo to hi of sums, which lie in memory together. The first one has the results of one part, too.
type window struct {
	*product
	lo, hi int
	odd    bool // it is the second one, the fourth, …
}

// window are the calls for those of the items that are in a window; ok is false where the library has no algorithm for
// one of them.
func (c *code) window(w *window, items []item) (out []*launch, ok bool) {
	var in []item
	for _, e := range items {
		if e.part >= w.lo && e.part < w.hi || e.part < 0 && w.lo == 0 {
			if e.part >= 0 {
				e.out -= w.lo * w.p.M * w.p.N
			}
			in = append(in, e)
		}
	}
	x, y := c.input(w.x.Bytes()), c.input(w.y.Bytes())
	result, found := c.d.find(w.v.Data.Bytes())
	if !found {
		panic(elsewhere{"it writes to the host's memory"})
	}
	for _, b := range fewest(in) {
		l, err := w.call(c.d.d, b, x, y, result)
		if err != nil {
			panic(failed{err})
		}
		if l == nil {
			return nil, false
		}
		out = append(out, &launch{call: l})
	}
	return out, true
}

// call is the launch of a batch; nil where the library has no algorithm for it.
func (w *window) call(d *cuda.Device, b batch, x, y, result cuda.Address) (*call, error) {
	m := cuda.Matrices{Wide: w.v.Data.Kind() == column.F64, XT: w.p.At, YT: w.p.Bt, M: w.p.M, N: w.p.N, K: b.k,
		LdX: w.p.K, LdY: w.p.N, Batch: b.n, X: b.dx, Y: b.dy, Out: b.out}
	if w.p.At {
		m.LdX = w.p.M
	}
	if w.p.Bt {
		m.LdY = w.p.K
	}
	bytes := w.v.Data.Kind().Bytes()
	l := &call{x: x + cuda.Address(b.x*bytes), y: y + cuda.Address(b.y*bytes), out: cuda.Address(b.item.out * bytes),
		parts: b.part >= 0, add: b.turn > 0}
	if !l.parts { // the memory of parts begins at a multiple of 256 bytes
		l.out += result
	}
	var err error
	if l.by, err = d.Multiplier(m, l.x, l.y, l.out); l.by == nil {
		return nil, err
	}
	return l, err
}

// finish is the kernel that adds parts in double precision, in order. A sum that goes on in the next window is kept
// behind the parts, which take so many bytes. The first window writes zeros where there are no terms, and which results
// are there. It is nil where there is nothing to do.
func (w *window) finish(c *code, t *task, bytes int) *launch {
	var dest, first, last, goesOn, there []int32
	for i, g := range w.pieces.group {
		lo, hi := int(w.pieces.first[i]), int(w.pieces.last[i])
		if hi <= w.lo || lo >= w.hi {
			continue
		}
		begun := int32(0)
		if lo < w.lo {
			begun = 1
		}
		if hi > w.hi {
			g = -1
		}
		dest, goesOn = append(dest, g), append(goesOn, begun)
		first, last = append(first, int32(max(lo, w.lo)-w.lo)), append(last, int32(min(hi, w.hi)-w.lo))
	}
	if w.lo == 0 {
		there = make([]int32, len(w.pieces.group)+len(w.pieces.dest)-w.pieces.partials)
		for _, g := range w.pieces.group {
			there[g] = 1
		}
		for i, d := range w.pieces.dest {
			switch {
			case d < 0:
			case w.pieces.from[i] < w.pieces.to[i]:
				there[d] = 1
			default:
				dest, goesOn, first, last = append(dest, d), append(goesOn, 0), append(first, 0), append(last, 0)
			}
		}
	}
	if w.v.Data.Valid() == nil {
		there = nil
	}
	if len(dest) == 0 && len(there) == 0 {
		return nil
	}
	size := w.p.M * w.p.N
	// Two sums may be kept behind the parts: what one window reads is not where it writes.
	kept := [2]int{(bytes + 255) &^ 255, (bytes+255)&^255 + 8*size}
	c.partials = max(c.partials, kept[1]+8*size)
	if w.odd {
		kept[0], kept[1] = kept[1], kept[0]
	}
	b, s, typ := newBuilder(c, t.T), newBody(nil), ctype(w.v.Data.Kind())
	s.add("k_parts<%s>(%s);", typ, strings.Join([]string{b.word("partials", 0, "char *"), b.count(kept[0]),
		b.count(kept[1]), b.target(w.v.Data.Bytes(), typ), b.list(dest), b.list(first), b.list(last), b.list(goesOn),
		b.count(len(dest)), b.count(size)}, ", "))
	if len(there) > 0 {
		valid, list := b.target(w.v.Data.Valid(), "unsigned char"), b.list(there)
		s.add("for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < %s; "+
			"i += (long long) gridDim.x * blockDim.x)", b.count(len(there)))
		s.add("\t%s[i] = %s[i];", valid, list)
	}
	return b.finish(s, c.blocks(max(len(dest)*size, len(there)), threads))
}
