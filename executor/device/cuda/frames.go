package cuda

import (
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/ra"
)

// fan is how many nodes of a level of sums make one of the next (k_fan in prelude.cu).
const fan = 8

// framing is the kernels of sums over frames. Rows in their order are added by eights, these sums again by eights, and
// so on, in a fixed order. The sum of a frame is that of few nodes of each level: none is subtracted.
type framing struct {
	*builder
	c        *code
	t        *task
	w        *device.Windowed
	from     *column.Column
	size     int
	count    bool
	acc      string // type of a sum
	levels   []int  // how many nodes each has
	sums     int    // bytes of all levels
	partials string
}

// windowed sums or counts a column over a frame for each row.
func windowed(c *code, w *device.Windowed, t *task) (out []*launch) {
	if t.Rows == 0 {
		return nil
	}
	x := &framing{c: c, t: t, w: w, from: t.V.Args[0].Data, size: t.V.Type.Size(), count: t.V.Fn == ra.Count,
		acc: "double"}
	if x.count || x.from.Kind() == column.I64 {
		x.acc = "long long"
	}
	from, to, longest := make([]int32, t.Rows), make([]int32, t.Rows), 0
	frames := w.Order.Frames(w.Frame, 0)
	for k := range from {
		lo, hi, _ := frames.At(k)
		from[k], to[k], longest = int32(lo), int32(hi), max(longest, hi-lo)
	}
	nodes := 0
	for n := t.Rows; longest > 2*fan; longest /= fan { // a frame of two nodes of the next level is that of so many
		n = (n + fan - 1) / fan
		x.levels = append(x.levels, n)
		nodes += n
	}
	x.sums = 8 * nodes * x.size
	c.partials = max(c.partials, x.sums+8*nodes)
	for l := range x.levels {
		out = append(out, x.level(l))
	}
	return append(out, x.each(from, to))
}

// begin begins a kernel.
func (x *framing) begin() *body {
	x.builder = newBuilder(x.c, x.t.T)
	x.partials = x.word("partials", 0, "char *")
	return newBody(nil)
}

// threads has a thread for each number of so many rows.
func (x *framing) threads(s *body, rows string, f func(s *body)) {
	s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s * %d; "+
		"e += (long long) gridDim.x * blockDim.x)", rows, x.size), func(s *body) {
		s.add("long long k = e / %d;", x.size)
		s.add("int j = (int) (e - k * %d);", x.size)
		f(s)
	})
}

// tree is the address of a level's sums, or of its counts.
func (x *framing) tree(l int, counts bool) string {
	typ, bytes, before := x.acc, 0, 0
	for _, n := range x.levels[:l] {
		before += n
	}
	if bytes = 8 * before * x.size; counts {
		typ, bytes = "long long", x.sums+8*before
	}
	return fmt.Sprintf("((%s *) (%s + %s))", typ, x.partials, x.builder.count(bytes))
}

// row adds the row at a place to acc and seen.
func (x *framing) row(s *body, place string) {
	row, flags := place, x.flags(x.from)
	if x.w.Order.Rows != nil {
		row = x.let(s, "row", "long long", func() string { return fmt.Sprintf("%s[%s]", x.ints(x.w.Order.Rows), place) })
	}
	add := func(s *body) {
		if !x.count {
			s.add("acc += (%s) %s[%s];", x.acc, x.numbers(x.from), at(row, x.size, "j"))
		}
		s.add("seen++;")
	}
	if flags == "" {
		add(s)
	} else {
		s.block(fmt.Sprintf("if (%s[%s])", flags, row), add)
	}
}

// level sums the nodes of a level, of rows or of those of the level below.
func (x *framing) level(l int) *launch {
	s, below := x.begin(), x.t.Rows
	if l > 0 {
		below = x.levels[l-1]
	}
	end, rows := x.builder.count(below), x.builder.count(x.levels[l])
	x.threads(s, rows, func(s *body) {
		s.add("%s acc = 0;", x.acc)
		s.add("long long seen = 0;")
		s.block(fmt.Sprintf("for (long long i = k * %d; i < (k + 1) * %[1]d && i < %s; i++)", fan, end), func(s *body) {
			if l == 0 {
				x.row(s, "i")
				return
			}
			s.add("acc += %s[i * %d + j];", x.tree(l-1, false), x.size)
			s.add("seen += %s[i];", x.tree(l-1, true))
		})
		s.add("%s[e] = acc;", x.tree(l, false))
		s.add("if (j == 0)")
		s.add("\t%s[k] = seen;", x.tree(l, true))
	})
	return x.finish(s, x.c.blocks(x.levels[l]*x.size, threads))
}

// each makes the result of each row, whose frame goes from a place to before another.
func (x *framing) each(from, to []int32) *launch {
	s, d := x.begin(), x.t.V.Data
	n, levels := x.builder.count(x.t.Rows), x.builder.count(len(x.levels))
	x.threads(s, n, func(s *body) {
		s.add("long long lo = %s[k], hi = %s[k];", x.list(from), x.list(to))
		s.add("%s acc = 0;", x.acc)
		s.add("long long seen = 0;")
		s.add("bool all = %s == 0 || hi - lo <= 2 * k_fan;", levels)
		s.add("long long up = all ? hi : (lo + k_fan - 1) / k_fan * k_fan, down = all ? hi : hi / k_fan * k_fan;")
		s.block("for (long long i = lo; i < hi; i++)", func(s *body) {
			s.add("if (i == up)")
			s.add("\ti = down;")
			s.add("if (i == hi)")
			s.add("\tbreak;")
			x.row(s, "i")
		})
		nodes := x.builder.count(append(x.levels, 0)[0])
		s.block("if (!all)", func(s *body) {
			for _, a := range []struct {
				to, tree, number string
				size             int
			}{{"acc", x.tree(0, false), "j", x.size}, {"seen", x.tree(0, true), "0", 1}} {
				s.add("%s += k_tree(%s, %s, %s, up / k_fan, down / k_fan, %d, %s);", a.to, a.tree, nodes, levels, a.size,
					a.number)
			}
		})
		row := "k"
		if x.w.Order.Rows != nil {
			s.add("long long to = %s[k];", x.ints(x.w.Order.Rows))
			row = "to"
		}
		value := "acc"
		if x.count {
			value = "seen"
		}
		typ := ctype(d.Kind())
		s.add("%s[%s] = (%s) %s;", x.target(d.Bytes(), typ), at(row, x.size, "j"), typ, value)
		if d.Valid() != nil {
			valid := "1"
			if x.t.V.Fn == ra.Sum {
				valid = "seen > 0"
			}
			s.add("if (j == 0)")
			s.add("\t%s[%s] = %s;", x.target(d.Valid(), "unsigned char"), row, valid)
		}
	})
	return x.finish(s, x.c.blocks(x.t.Rows*x.size, threads))
}
