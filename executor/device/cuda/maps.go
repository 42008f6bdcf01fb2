package cuda

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
)

// launch is a kernel with its words.
type launch struct {
	text   string // its body
	name   string // in the module's text
	module *module
	blocks int
	words  []uint64
	patch  map[string]int // words that are known when all kernels are: by what they are
	at     uint64         // where the words lie
	fails  bool           // it may find an error
}

// plan decides which cells are stored, and what order they are computed in. results are the cells that the kernel
// reads; again says of which it reads a number several times.
func (b *builder) plan(results []int, again func(i int) bool) {
	seen := map[int]bool{}
	var visit func(cell int)
	need := func(cell int, repeats bool) {
		visit(cell)
		o := b.ops[cell]
		if _, ok := b.stored[cell]; ok {
			return
		}
		uniform := b.t.Cells[cell].Uniform
		if lane[o.Code] || repeats && !b.trivial(cell) || uniform && !b.trivial(cell) {
			b.place(cell)
		}
	}
	visit = func(cell int) {
		if seen[cell] {
			return
		}
		seen[cell] = true
		o := b.ops[cell]
		if o == nil {
			panic(elsewhere{fmt.Sprintf("cell %d has no operation", cell)})
		}
		for i, a := range o.Args {
			if o.Code == device.OpLanes {
				visit(a)
				b.place(a)
			}
			need(a, heavy(b, a) || b.repeats(o, i))
		}
		if o.Mask >= 0 {
			need(o.Mask, false)
		}
	}
	for i, r := range results {
		need(r, again(i))
	}
}

// heavy reports whether a number of a cell is made of many.
func heavy(b *builder, cell int) bool {
	c := b.ops[cell].Code
	return sums[c] != nil || c == device.OpReference
}

// repeats reports whether an operation reads a number of argument i several times.
func (b *builder) repeats(o *device.Op, i int) bool {
	switch {
	case lane[o.Code], o.Code == device.OpReference:
		return true
	case o.Code == device.OpPair, o.Code == device.OpSumAll, o.Code == device.OpReduce:
		return false
	case sums[o.Code] != nil:
		return true
	}
	return b.t.Cells[o.Args[i]].Size < b.t.Cells[o.Out].Size
}

// trivial reports whether a cell is only read.
func (b *builder) trivial(cell int) bool {
	switch o := b.ops[cell]; o.Code {
	case device.OpConst, device.OpLoad:
		return true
	case device.OpConvert, device.OpSubscript, device.OpPermute:
		return b.trivial(o.Args[0])
	}
	return false
}

// once is the answer of a kernel that reads each number once.
func once(int) bool { return false }

// output is where a result is stored: its rows begin at row off of a column.
type output struct {
	cell int
	col  *column.Column
	off  int
}

// rowsOf maps the kernel's rows to those of the tree's space.
type rowsOf func(b *builder, i string) string

// mapKernel stores results of a tree, row by row: n rows.
func mapKernel(c *code, t *device.Tree, outs []output, n int, rows rowsOf) *launch {
	b := newBuilder(c, t)
	var cells []int
	for _, o := range outs {
		cells = append(cells, o.cell)
	}
	b.plan(cells, once)
	s := newBody(nil)
	count := b.count(n)
	size := outs[0].col.Size()
	store := func(s *body, p point) {
		var values, valids []string
		for _, o := range outs {
			typ := ctype(o.col.Kind())
			valid := b.valid(s, o.cell, p)
			x := fmt.Sprintf("(%s) %s", typ, paren(b.number(s, o.cell, p)))
			if valid != "1" {
				x = fmt.Sprintf("%s ? %s : (%s) 0", valid, x, typ)
			}
			v := b.fresh("out")
			s.add("%s %s = %s;", typ, v, x)
			values, valids = append(values, v), append(valids, valid)
		}
		for i, o := range outs {
			to := b.target(o.col.Bytes(), ctype(o.col.Kind()))
			row := p.row
			if o.off > 0 {
				row = fmt.Sprintf("(%s + %s)", p.row, b.count(o.off))
			}
			s.add("%s[%s] = %s;", to, at(row, size, p.idx), values[i])
			if o.col.Valid() != nil {
				flag := b.target(o.col.Valid(), "unsigned char")
				if size > 1 {
					s.add("if (%s == 0)", p.idx)
				}
				s.add("%s[%s] = %s;", flag, row, valids[i])
			}
		}
	}
	blocks := 0
	if len(b.each) == 0 {
		b.memory(s)
		s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s * %d; "+
			"e += (long long) gridDim.x * blockDim.x)", count, size), func(s *body) {
			p := point{slot: "e", row: "e", idx: "0"}
			if size > 1 {
				s.add("long long i = e / %d;", size)
				s.add("int j = (int) (e - i * %d);", size)
				p = point{"i", "i", "j"}
			}
			p.row = rows(b, p.row)
			store(s, p)
		})
		blocks = c.blocks(n*size, threads)
	} else {
		b.memory(s)
		tile := b.tile()
		b.tiles(s, "0", count, "blockIdx.x", "gridDim.x", func(s *body, slots string, row func(slot string) string) {
			s.block(fmt.Sprintf("for (int e = threadIdx.x; e < %s * %d; e += blockDim.x)", slots, size), func(s *body) {
				p := point{slot: "e", idx: "0"}
				if size > 1 {
					s.add("int q = e / %d;", size)
					s.add("int j = e - q * %d;", size)
					p = point{slot: "q", idx: "j"}
				}
				p.row = row(p.slot)
				store(s, p)
			})
		}, rows)
		blocks = c.blocks(n, tile)
	}
	return b.finish(s, blocks)
}

// paren puts an expression that is more than a name in parentheses.
func paren(x string) string {
	if simple(x) {
		return x
	}
	return "(" + x + ")"
}

// tiles goes through rows from on in tiles, the first of which is first of so many: it computes the stored cells of
// each, then what f adds.
func (b *builder) tiles(s *body, from, to, first, step string,
	f func(s *body, slots string, row func(slot string) string), rows rowsOf) {
	tile := b.tile()
	head := fmt.Sprintf("for (long long t0 = %s + (long long) %s * %d; t0 < %s; t0 += (long long) %s * %[3]d)", from,
		first, tile, to, step)
	s.block(head, func(s *body) {
		s.add("int slots = (int) (%s - t0 < %d ? %[1]s - t0 : %[2]d);", to, tile)
		row := func(slot string) string { return rows(b, "(t0 + "+slot+")") }
		for _, cell := range b.each {
			b.fill(s, cell, "slots", row)
		}
		f(s, "slots", row)
		s.add("__syncthreads();")
	})
}

// own are the rows of a kernel that are those of the space.
func own(_ *builder, i string) string { return i }

// finish makes the launch.
func (b *builder) finish(s *body, blocks int) *launch {
	l := &launch{blocks: max(blocks, 1), words: b.words, patch: map[string]int{}, fails: b.fails}
	for _, w := range []string{"scratch", "partials"} {
		if i, ok := b.named[w]; ok {
			l.patch[w] = i
		}
	}
	l.text = "\t" + strings.Join(append(b.heads, s.lines...), "\n\t") + "\n"
	return l
}
