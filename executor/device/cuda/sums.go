package cuda

import (
	"fmt"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/ra"
)

// partRows is how many rows are summed in one piece at most. It is the same on every device, and so are the sums.
const partRows = 1024

// parts are the pieces of an aggregate: rows from to to, in group order, go to row dest of the result or, where a group
// has several pieces, to place -1-dest of the partial sums.
type parts struct {
	from, to, dest     []int32
	group, first, last []int32 // groups of several pieces: their partial sums
	partials           int
}

func partsOf(g *structure.Groups, rows int) *parts {
	p := &parts{}
	for i := range g.Out.N {
		from, to := int32(0), int32(rows)
		if g.Start != nil {
			from, to = g.Start[i], g.Start[i+1]
		}
		if to-from <= partRows {
			p.add(from, to, int32(i))
			continue
		}
		p.group, p.first = append(p.group, int32(i)), append(p.first, int32(p.partials))
		for ; from < to; from += partRows {
			p.add(from, min(from+partRows, to), int32(-1-p.partials))
			p.partials++
		}
		p.last = append(p.last, int32(p.partials))
	}
	return p
}

func (p *parts) add(from, to, dest int32) {
	p.from, p.to, p.dest = append(p.from, from), append(p.to, to), append(p.dest, dest)
}

// summing is the kernel of an aggregate.
type summing struct {
	*builder
	v        *values.Val
	sum      *device.Adding // nil: result is added
	base     int            // the first result
	size     int
	acc      string // type of an accumulator
	nullable bool   // rows may be NULL
	count    bool
	extreme  int // 1 for the greatest, -1 for the least, 0: a sum
	partials string
}

// sumKernels computes an aggregate of results of a tree. perm are the rows in group order; nil: they are in that order.
func sumKernels(c *code, t *device.Tree, v *values.Val, sum *device.Adding, base, rows int, perm []int32) []*launch {
	x := &summing{builder: newBuilder(c, t), v: v, sum: sum, base: base, size: v.Type.Size(), acc: "double"}
	switch v.Fn {
	case ra.Count:
		x.count = true
		x.acc = "long long"
	case ra.Max:
		x.extreme = 1
	case ra.Min:
		x.extreme = -1
	}
	result := t.Result[base]
	if x.count {
		x.size = 1
	}
	if sum == nil {
		x.nullable = t.Cells[result].Nullable
		if k := t.Cells[result].Kind; k == column.I64 {
			x.acc = "long long"
		} else if k == column.Str && !x.count {
			panic(elsewhere{"it aggregates texts"})
		}
	}
	p := partsOf(v.Groups, rows)
	x.plan(x.results(), func(i int) bool { return sum != nil && x.size > 1 })
	s := newBody(nil)
	if p.partials > 0 {
		x.partials = x.word("partials", 0, "char *")
		c.partials = max(c.partials, p.partials*(x.size+1)*8)
	}
	from, to, dest := x.list(p.from), x.list(p.to), x.list(p.dest)
	row := func(b *builder, i string) string {
		if perm == nil {
			return i
		}
		return fmt.Sprintf("(long long) %s[%s]", b.ints(perm), i)
	}
	blocks := 0
	if n := len(p.from); len(x.each) == 0 && (x.size >= 32 || rows <= 32*n) {
		x.memory(s)
		x.flat(s, x.rows_(n), from, to, dest, row, p.partials)
		blocks = c.blocks(n*x.size, threads)
	} else {
		x.blockwise(s, x.rows_(n), from, to, dest, row, p.partials)
		blocks = c.blocks(n, 1)
	}
	out := []*launch{x.finish(s, blocks)}
	if p.partials > 0 {
		out = append(out, x.combine(c, p))
	}
	return out
}

func (x *summing) rows_(n int) string { return x.builder.count(n) }

// results are the cells that are read.
func (x *summing) results() []int {
	n := 1
	if x.sum != nil {
		n = len(x.sum.Vals)
	}
	return x.t.Result[x.base : x.base+n]
}

// value is what number j of a row adds, and the condition under which the row counts.
func (x *summing) value(s *body, p point) (value, valid string) {
	if x.sum == nil {
		valid = x.valid(s, x.t.Result[x.base], p)
		if x.count {
			return "0", valid
		}
		return x.number(s, x.t.Result[x.base], p), valid
	}
	at := x.base
	scaled := func(scalars []values.Factor, term string) string {
		for _, f := range scalars {
			op := "*"
			if f.Divide {
				op = "/"
			}
			term = fmt.Sprintf("%s %s (double) %s", term, op, paren(x.number(s, x.t.Result[at], point{p.slot, p.row, "0"})))
			at++
		}
		return term
	}
	switch a := x.sum; {
	case a.Terms != nil:
		total := ""
		for i, t := range a.Terms {
			width := t.Y.Type.Size() / t.Each
			i0, j0 := over(p.idx, width), rest(p.idx, width)
			by := scaled(t.Scalars, "1.0")
			cx, cy := x.t.Result[at], x.t.Result[at+1]
			at += 2
			long := t.X.Type.Size() / t.Each
			term := x.builder.sum(s, t.Each, func(s *body, k string) string {
				return times(x.number(s, cx, point{p.slot, p.row, fmt.Sprintf("%s * %d + %s", k, long, i0)}),
					x.number(s, cy, point{p.slot, p.row, fmt.Sprintf("%s * %d + %s", k, width, j0)}))
			})
			if i > 0 {
				total += " + "
			}
			total += fmt.Sprintf("%s * (%s)", term, by)
		}
		return "(" + total + ")", "1"
	case len(a.From) > 0:
		chunk := make([]string, len(a.From))
		for i, f := range a.From {
			chunk[i] = "(double) " + x.read(s, f.V.Data, f.Idx, p)
		}
		term := chunk[0]
		if len(chunk) == 2 {
			term = fmt.Sprintf("(%s - %s)", chunk[0], chunk[1])
		}
		return scaled(a.Scalars, term), "1"
	}
	n := len(x.sum.Scalars)
	return scaled(x.sum.Scalars, "(double) "+paren(x.number(s, x.t.Result[x.base+n], p))), "1"
}

// step adds a row to an accumulator.
func (x *summing) step(s *body, acc, seen string, p point) {
	value, valid := x.value(s, p)
	add := func(s *body) {
		switch {
		case x.count:
		case x.extreme != 0:
			v := x.fresh("value")
			s.add("%s %s = %s;", x.acc, v, value)
			s.add("if (!%s || %d * k_compare(%s, %s) > 0)", seen, x.extreme, v, acc)
			s.add("\t%s = %s;", acc, v)
		default:
			s.add("%s += (%s) %s;", acc, x.acc, paren(value))
		}
		s.add("%s++;", seen)
	}
	if valid == "1" {
		add(s)
		return
	}
	s.block(fmt.Sprintf("if (%s)", valid), add)
}

// write stores a piece's sum of number j.
func (x *summing) write(s *body, dest, j, acc, seen string, partials int) {
	if partials == 0 {
		x.result(s, dest, j, acc, seen)
		return
	}
	s.block(fmt.Sprintf("if (%s >= 0)", dest), func(s *body) { x.result(s, dest, j, acc, seen) })
	s.block("else", func(s *body) {
		s.add("((%s *) %s)[%s] = %s;", x.acc, x.partials, at("(-1ll - "+dest+")", x.size, j), acc)
		first(s, j)
		s.add("((long long *) (%s + %s))[-1ll - %s] = %s;", x.partials, x.builder.count(partials*x.size*8), dest, seen)
	})
}

// result stores a group's value.
func (x *summing) result(s *body, group, j, acc, seen string) {
	d := x.v.Data
	typ := ctype(d.Kind())
	if x.count {
		acc = seen
	}
	to := x.target(d.Bytes(), typ)
	s.add("%s[%s] = (%s) %s;", to, at(group, x.size, j), typ, acc)
	if d.Valid() == nil {
		return
	}
	valid := "1"
	if x.v.Fn != ra.GradSum && !x.count {
		valid = seen + " > 0"
	}
	first(s, j)
	s.add("%s[%s] = %s;", x.target(d.Valid(), "unsigned char"), group, valid)
}

// flat has a thread for each number of each piece, or for four.
func (x *summing) flat(s *body, n, from, to, dest string, row rowsOf, partials int) {
	fours := x.size > 1 && x.size%four == 0 && plain(x.builder, x.results()) && (x.sum == nil || x.sum.Terms == nil)
	each := 1
	if fours {
		each = four
	}
	s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s * %d; "+
		"e += (long long) gridDim.x * blockDim.x)", n, x.size/each), func(s *body) {
		s.add("long long part = e / %d;", x.size/each)
		s.add("long long dest = %s[part];", dest)
		rows := fmt.Sprintf("for (long long i = %s[part]; i < %s[part]; i++)", from, to)
		numbered := func(s *body) string {
			return x.let(s, "row", "long long", func() string { return row(x.builder, "i") })
		}
		if fours {
			s.add("int j0 = (int) (e - part * %d) * %d;", x.size/four, four)
			s.add("k_four<%s> acc = {};", x.acc)
			s.add("k_four<long long> seen = {};")
			v := newVector(x.builder, x.size)
			s.block(rows, func(s *body) {
				r := numbered(s)
				v.known[r] = true
				v.turns(s, func(s *body) {
					x.step(s, fmt.Sprintf("acc.x[%s]", v.turn), fmt.Sprintf("seen.x[%s]", v.turn), point{r, r, "j"})
				})
			})
			v.turns(s, func(s *body) {
				x.write(s, "dest", "j", fmt.Sprintf("acc.x[%s]", v.turn), fmt.Sprintf("seen.x[%s]", v.turn), partials)
			})
			return
		}
		j := "0"
		if x.size > 1 {
			s.add("int j = (int) (e - part * %d);", x.size)
			j = "j"
		}
		s.add("%s acc = 0;", x.acc)
		s.add("long long seen = 0;")
		s.block(rows, func(s *body) {
			r := numbered(s)
			x.step(s, "acc", "seen", point{r, r, j})
		})
		x.write(s, "dest", j, "acc", "seen", partials)
	})
}

// blockwise has a block for each piece. Where a row has fewer numbers than the block has threads, several threads share
// the rows of a number, each in turn.
func (x *summing) blockwise(s *body, n, from, to, dest string, row rowsOf, partials int) {
	wide := x.size > threads
	slots := 1
	if wide {
		x.bytes[0] = (x.bytes[0]+15)&^15 + x.size*8
	} else {
		slots = threads / x.size
	}
	accs := x.bytes[0] - x.size*8
	if x.memory(s); wide {
		s.add("%s *sums = (%[1]s *) ((char *) memory + %[2]d);", x.acc, accs)
	} else {
		s.add("__shared__ %s sums[%d];", x.acc, threads)
		s.add("__shared__ long long counts[%d];", threads)
	}
	s.block(fmt.Sprintf("for (long long part = blockIdx.x; part < %s; part += gridDim.x)", n), func(s *body) {
		s.add("long long dest = %s[part];", dest)
		s.add("%s acc = 0;", x.acc)
		s.add("long long seen = 0;")
		s.add("long long begin = %s[part], end = %s[part];", from, to)
		if wide {
			s.add("for (int j = threadIdx.x; j < %d; j += blockDim.x)", x.size)
			s.add("\tsums[j] = 0;")
		}
		x.tiles(s, "begin", "end", "0", "1", func(s *body, n string, row func(slot string) string) {
			if wide {
				s.add("long long before = seen;")
				s.block(fmt.Sprintf("for (int j = threadIdx.x; j < %d; j += blockDim.x)", x.size), func(s *body) {
					s.add("acc = sums[j];")
					s.add("seen = before;")
					s.block(fmt.Sprintf("for (int q = 0; q < %s; q++)", n), func(s *body) {
						x.step(s, "acc", "seen", point{"q", row("q"), "j"})
					})
					s.add("sums[j] = acc;")
				})
				return
			}
			s.block(fmt.Sprintf("if (threadIdx.x < %d)", slots*x.size), func(s *body) {
				j := "0"
				if x.size > 1 {
					s.add("int j = threadIdx.x %% %d;", x.size)
					j = "j"
				}
				s.block(fmt.Sprintf("for (int q = threadIdx.x / %d; q < %s; q += %d)", x.size, n, slots), func(s *body) {
					x.step(s, "acc", "seen", point{"q", row("q"), j})
				})
			})
		}, row)
		if wide {
			s.block(fmt.Sprintf("for (int j = threadIdx.x; j < %d; j += blockDim.x)", x.size), func(s *body) {
				x.write(s, "dest", "j", "sums[j]", "seen", partials)
			})
			s.add("__syncthreads();")
			return
		}
		s.add("sums[threadIdx.x] = acc;")
		s.add("counts[threadIdx.x] = seen;")
		s.add("__syncthreads();")
		s.block(fmt.Sprintf("if (threadIdx.x < %d)", x.size), func(s *body) {
			s.block(fmt.Sprintf("for (int k = 1; k < %d; k++)", slots), func(s *body) {
				x.join(s, fmt.Sprintf("sums[k * %d + threadIdx.x]", x.size), fmt.Sprintf("counts[k * %d + threadIdx.x]", x.size))
			})
			j := "0"
			if x.size > 1 {
				j = "threadIdx.x"
			}
			x.write(s, "dest", j, "acc", "seen", partials)
		})
		s.add("__syncthreads();")
	})
}

// join adds a part with its count to acc and seen.
func (x *summing) join(s *body, part, count string) {
	switch {
	case x.count:
	case x.extreme != 0:
		s.add("if (%s && (!seen || %d * k_compare(%s, acc) > 0))", count, x.extreme, part)
		s.add("\tacc = %s;", part)
	default:
		s.add("acc += %s;", part)
	}
	s.add("seen += %s;", count)
}

// combine adds the partial sums of groups of several pieces, in order.
func (x *summing) combine(c *code, p *parts) *launch {
	y := &summing{builder: newBuilder(c, &device.Tree{}), v: x.v, size: x.size, acc: x.acc, count: x.count,
		extreme: x.extreme}
	y.partials = y.word("partials", 0, "char *")
	n, group, first, last := y.builder.count(len(p.group)), y.list(p.group), y.list(p.first), y.list(p.last)
	counts := y.builder.count(p.partials * y.size * 8)
	s := newBody(nil)
	s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s * %d; "+
		"e += (long long) gridDim.x * blockDim.x)", n, y.size), func(s *body) {
		s.add("long long i = e / %d;", y.size)
		s.add("int j = (int) (e - i * %d);", y.size)
		s.add("%s acc = 0;", y.acc)
		s.add("long long seen = 0;")
		s.block(fmt.Sprintf("for (long long k = %s[i]; k < %s[i]; k++)", first, last), func(s *body) {
			y.join(s, fmt.Sprintf("((%s *) %s)[k * %d + j]", y.acc, y.partials, y.size),
				fmt.Sprintf("((long long *) (%s + %s))[k]", y.partials, counts))
		})
		s.add("long long dest = %s[i];", group)
		y.result(s, "dest", "j", "acc", "seen")
	})
	return y.finish(s, c.blocks(len(p.group)*y.size, threads))
}
