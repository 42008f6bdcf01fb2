package cuda

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/kernels/cuda"
)

// launch is a kernel with its words, or a call of cuBLASLt.
type launch struct {
	call   *call        // nil: it is a kernel
	text   string       // its body
	kernel *cuda.Kernel // once it is compiled
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
	// A cell may be stored for a reader that is met when another stored cell, which reads it too, has been met.
	for _, list := range [][]int{b.once, b.each} {
		slices.SortFunc(list, func(x, y int) int { return cmp.Compare(b.order[x], b.order[y]) })
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

// mapping is the kernel that stores results of a tree, row by row.
type mapping struct {
	*builder
	outs  []output
	size  int // numbers of a row
	count string
	rows  rowsOf
}

// mapKernel makes that kernel, for n rows. Nil rows are those of the tree's space. first adds what stands before all.
func mapKernel(c *code, t *device.Tree, outs []output, n int, rows rowsOf, first func(b *builder, s *body)) *launch {
	m := &mapping{builder: newBuilder(c, t), outs: outs, size: outs[0].col.Size(), rows: rows}
	if rows == nil {
		m.rows = func(_ *builder, i string) string { return i }
	}
	var cells []int
	for _, o := range outs {
		cells = append(cells, o.cell)
	}
	m.plan(cells, once)
	s := newBody(nil)
	if first != nil {
		first(m.builder, s)
	}
	m.count = m.builder.count(n)
	m.memory(s)
	switch {
	case len(m.each) > 0:
		m.inTiles(s)
		return m.finish(s, c.blocks(n, m.tile()))
	case plain(m.builder, cells) && m.together(rows == nil):
		m.inFours(s)
		return m.finish(s, c.blocks(n*m.size, four*threads))
	}
	m.each1(s, "0")
	return m.finish(s, c.blocks(n*m.size, threads))
}

// together reports whether outputs can be written four numbers at a time. all says that the rows follow one another.
func (m *mapping) together(all bool) bool {
	if m.size > 1 && m.size%four != 0 || m.size == 1 && !all {
		return false
	}
	for _, o := range m.outs {
		if !m.c.aligned(o.col.Bytes(), o.off*m.size*o.col.Kind().Bytes()) {
			return false
		}
	}
	return true
}

// inTiles computes a tile of rows after the other.
func (m *mapping) inTiles(s *body) {
	m.tiles(s, "0", m.count, "blockIdx.x", "gridDim.x", func(s *body, slots string, row func(slot string) string) {
		s.block(fmt.Sprintf("for (int e = threadIdx.x; e < %s * %d; e += blockDim.x)", slots, m.size), func(s *body) {
			p := point{slot: "e", idx: "0"}
			if m.size > 1 {
				s.add("int q = e / %d;", m.size)
				s.add("int j = e - q * %d;", m.size)
				p = point{slot: "q", idx: "j"}
			}
			p.row = row(p.slot)
			m.store(s, p, m.write)
		})
	}, m.rows)
}

// each1 has a thread for each number, from one on.
func (m *mapping) each1(s *body, from string) {
	s.block(fmt.Sprintf("for (long long e = %s + (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s * %d; "+
		"e += (long long) gridDim.x * blockDim.x)", from, m.count, m.size), func(s *body) {
		p := point{slot: "e", row: "e", idx: "0"}
		if m.size > 1 {
			s.add("long long i = e / %d;", m.size)
			s.add("int j = (int) (e - i * %d);", m.size)
			p = point{"i", "i", "j"}
		}
		p.row = m.rows(m.builder, p.row)
		m.store(s, p, m.write)
	})
}

// inFours has a thread for four numbers.
func (m *mapping) inFours(s *body) {
	v := newVector(m.builder, m.size)
	s.block(fmt.Sprintf("for (long long e = (long long) blockIdx.x * blockDim.x + threadIdx.x; e < %s * %d / %d; "+
		"e += (long long) gridDim.x * blockDim.x)", m.count, m.size, four), func(s *body) {
		p := point{"i", "i", "0"}
		first := "i0"
		if v.rows {
			s.add("long long i0 = e * %d;", four)
		} else {
			s.add("long long i = e * %d / %d;", four, m.size)
			s.add("int j0 = (int) (e * %d - i * %d);", four, m.size)
			p.row, p.idx = m.rows(m.builder, "i"), "j"
			row := m.let(s, "row", "long long", func() string { return p.row })
			p.row, first, v.known[row] = row, row, true
		}
		var all []string
		for _, o := range m.outs {
			v := m.fresh("all")
			s.add("k_four<%s> %s;", ctype(o.col.Kind()), v)
			all = append(all, v)
		}
		v.turns(s, func(s *body) {
			m.store(s, p, func(s *body, i int, p point, value, valid string) {
				s.add("%s.x[%s] = %s;", all[i], v.turn, value)
				m.flag(s, i, p, valid)
			})
		})
		for i, o := range m.outs {
			s.add("k_store(%s + %s, %s);", m.target(o.col.Bytes(), ctype(o.col.Kind())),
				at(m.behind(o, first), m.size, v.first), all[i])
		}
	})
	if v.rows {
		m.each1(s, fmt.Sprintf("%s / %d * %[2]d", m.count, four))
	}
}

// store computes a number of all outputs, before write writes any: an output may be what another one reads.
func (m *mapping) store(s *body, p point, write func(s *body, i int, p point, value, valid string)) {
	var values, valids []string
	for _, o := range m.outs {
		typ := ctype(o.col.Kind())
		valid := m.valid(s, o.cell, p)
		x := fmt.Sprintf("(%s) %s", typ, paren(m.number(s, o.cell, p)))
		if valid != "1" {
			x = fmt.Sprintf("%s ? %s : (%s) 0", valid, x, typ)
		}
		v := m.fresh("out")
		s.add("%s %s = %s;", typ, v, x)
		values, valids = append(values, v), append(valids, valid)
	}
	for i := range m.outs {
		write(s, i, p, values[i], valids[i])
	}
}

// write writes a number of an output.
func (m *mapping) write(s *body, i int, p point, value, valid string) {
	o := m.outs[i]
	s.add("%s[%s] = %s;", m.target(o.col.Bytes(), ctype(o.col.Kind())), at(m.behind(o, p.row), m.size, p.idx), value)
	m.flag(s, i, p, valid)
}

// flag writes whether a row of an output is not NULL.
func (m *mapping) flag(s *body, i int, p point, valid string) {
	o := m.outs[i]
	if o.col.Valid() == nil {
		return
	}
	to := m.target(o.col.Valid(), "unsigned char")
	first(s, p.idx)
	s.add("%s[%s] = %s;", to, m.behind(o, p.row), valid)
}

// behind is where a row of an output lies.
func (m *mapping) behind(o output, row string) string {
	if o.off > 0 {
		return fmt.Sprintf("(%s + %s)", row, m.builder.count(o.off))
	}
	return row
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
			s.add("__syncthreads();")
		}
		f(s, "slots", row)
		s.add("__syncthreads();")
	})
}

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
