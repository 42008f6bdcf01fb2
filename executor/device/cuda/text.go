package cuda

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
)

// threads is the size of a block of threads.
const threads = 128

// elsewhere says why the device has no kernel for an instruction.
type elsewhere struct{ why string }

// builder writes the kernel of a tree, and the words that it is launched with.
type builder struct {
	c      *code
	t      *device.Tree
	ops    map[int]*device.Op // by the cell that they compute
	order  map[int]int        // of these operations, arguments first
	words  []uint64
	heads  []string       // what the words are
	named  map[string]int // words by what they are
	stored map[int]stored
	once   []int // stored cells that are uniform, arguments first
	each   []int // others
	bytes  [2]int
	vec    *vector
	n      int  // of names that have been given
	fails  bool // the kernel may find an error
}

// stored is where a cell lies in the memory of a block: behind off bytes, of the first tile's or of the uniform part.
type stored struct{ off, valid int }

// point is a number of a row: slot is the row's place in the tile, row its number in the tree's space.
type point struct{ slot, row, idx string }

// body is the statements of a scope.
type body struct {
	up    *body
	lines []string
	vars  map[string]string
}

func newBody(up *body) *body { return &body{up: up, vars: map[string]string{}} }

func (s *body) add(format string, a ...any) { s.lines = append(s.lines, fmt.Sprintf(format, a...)) }

// block adds a statement with a scope of its own.
func (s *body) block(head string, f func(s *body)) {
	in := newBody(s)
	f(in)
	s.lines = append(s.lines, head+" {")
	for _, l := range in.lines {
		s.lines = append(s.lines, "\t"+l)
	}
	s.lines = append(s.lines, "}")
}

// let declares a variable for what the key says, once in a scope, and returns its name.
func (b *builder) let(s *body, key, typ string, value func() string) string {
	for at := s; at != nil; at = at.up {
		if v, ok := at.vars[key]; ok {
			return v
		}
	}
	x := value()
	if simple(x) {
		s.vars[key] = x
		return x
	}
	b.n++
	v := fmt.Sprintf("x%d", b.n)
	s.add("%s %s = %s;", typ, v, x)
	s.vars[key] = v
	return v
}

// simple reports whether an expression is a name or a number.
func simple(x string) bool {
	return !strings.ContainsAny(x, " ([?+*")
}

// fresh is a new name.
func (b *builder) fresh(of string) string {
	b.n++
	return fmt.Sprintf("%s%d", of, b.n)
}

// ctype is the type of a number in the language of kernels.
func ctype(k column.Kind) string {
	if k == column.Str {
		panic(elsewhere{"it computes texts"})
	}
	return [...]string{"double", "float", "long long"}[k]
}

// word is the name of a word; declare says how a kernel reads it, in terms of a[number].
func (b *builder) word(key string, value uint64, declare string) string {
	if i, ok := b.named[key]; ok {
		return fmt.Sprintf("w%d", i)
	}
	i := len(b.words)
	b.named[key], b.words = i, append(b.words, value)
	cast := strings.TrimSuffix(declare, " __restrict__")
	if !strings.Contains(cast, "*") {
		cast = strings.TrimPrefix(cast, "const ")
	}
	b.heads = append(b.heads, fmt.Sprintf("%s w%d = (%s) a[%d];", declare, i, cast, i))
	return fmt.Sprintf("w%d", i)
}

// count is a number of rows.
func (b *builder) count(n int) string {
	return b.word(fmt.Sprint("count ", len(b.words)), uint64(n), "const long long")
}

// pointer is the address of a part of the host's memory on the device.
func (b *builder) pointer(x []byte, typ string) string {
	if len(x) == 0 {
		return b.word("nothing "+typ, 0, "const "+typ+" *__restrict__")
	}
	key := fmt.Sprintf("%p %d %s", unsafe.SliceData(x), len(x), typ)
	return b.word(key, uint64(b.c.input(x)), "const "+typ+" *__restrict__")
}

// target is the address of a part of the device's memory that the kernel writes.
func (b *builder) target(x []byte, typ string) string {
	if len(x) == 0 {
		return b.word("nothing to write "+typ, 0, typ+" *")
	}
	at, ok := b.c.d.find(x)
	if !ok {
		panic(elsewhere{"it writes to the host's memory"})
	}
	return b.word(fmt.Sprintf("to %p %d %s", unsafe.SliceData(x), len(x), typ), uint64(at), typ+" *")
}

// ints is the address of a list on the device.
func (b *builder) ints(x []int32) string {
	return b.pointer(bytesOf(x), "int")
}

func bytesOf[T any](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}

// numbers is the address of a column's numbers, valid that of its flags: "" where nothing is NULL.
func (b *builder) numbers(c *column.Column) string {
	return b.pointer(c.Bytes(), ctype(c.Kind()))
}

func (b *builder) flags(c *column.Column) string {
	if c.Valid() == nil {
		return ""
	}
	return b.pointer(c.Valid(), "unsigned char")
}

// literal writes a number.
func literal(x float64, k column.Kind) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("(%s) __longlong_as_double(%#xll)", ctype(k), math.Float64bits(x))
	}
	return fmt.Sprintf("(%s) %s", ctype(k), hexFloat(x))
}

// hexFloat writes a number exactly, as C++ reads it.
func hexFloat(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%x", x)
}

// newBuilder is the builder of a kernel over a tree.
func newBuilder(c *code, t *device.Tree) *builder {
	b := &builder{c: c, t: t, ops: map[int]*device.Op{}, order: map[int]int{}, named: map[string]int{},
		stored: map[int]stored{}}
	for i, o := range slices.Concat(t.Head, t.Ops) {
		b.ops[o.Out], b.order[o.Out] = o, i
	}
	return b
}

// small is the memory of a block that is taken of its shared memory.
const small = 40 << 10

// tile is how many rows a tile has: as many as fit with their stored cells.
func (b *builder) tile() int {
	if b.bytes[1] == 0 {
		return threads
	}
	return min(max((small-b.bytes[0])/b.bytes[1], 1), threads)
}

// place has a cell computed for a tile of rows before what reads it.
func (b *builder) place(cell int) {
	if _, ok := b.stored[cell]; ok {
		return
	}
	c := b.t.Cells[cell]
	part := 1
	if c.Uniform {
		part = 0
		b.once = append(b.once, cell)
	} else {
		b.each = append(b.each, cell)
	}
	at := stored{off: b.bytes[part], valid: -1}
	b.bytes[part] += (c.Size*c.Kind.Bytes() + 15) &^ 15
	if c.Nullable {
		at.valid = b.bytes[part]
		b.bytes[part] += 16
	}
	b.stored[cell] = at
}

// memory declares the memory of stored cells, and computes the uniform ones.
func (b *builder) memory(s *body) {
	rows := b.tile()
	total := b.bytes[0] + rows*b.bytes[1]
	switch {
	case total == 0:
		return
	case total <= small:
		s.add("__shared__ double memory[%d];", (total+7)/8)
	default:
		b.c.scratch = max(b.c.scratch, total)
		s.add("double *memory = (double *) (%s + (long long) blockIdx.x * %d);", b.word("scratch", 0, "char *"), total)
	}
	for _, cell := range slices.Concat(b.once, b.each) {
		c, at := b.t.Cells[cell], b.stored[cell]
		off, valid := at.off, at.valid
		if !c.Uniform {
			off, valid = b.bytes[0]+rows*off, b.bytes[0]+rows*valid
		}
		s.add("%s *s%d = (%[1]s *) ((char *) memory + %[3]d);", ctype(c.Kind), cell, off)
		if at.valid >= 0 {
			s.add("unsigned char *v%d = (unsigned char *) memory + %d;", cell, valid)
		}
	}
	for i, cell := range b.once {
		b.fill(s, cell, "1", func(string) string { return "0" })
		// the first thread computes single numbers: it has those before it
		if i+1 == len(b.once) || b.t.Cells[cell].Size > 1 || b.t.Cells[b.once[i+1]].Size > 1 {
			s.add("__syncthreads();")
		}
	}
}

// fill computes a stored cell for so many slots of the tile, whose rows row tells.
func (b *builder) fill(s *body, cell int, slots string, row func(slot string) string) {
	o, size := b.ops[cell], b.t.Cells[cell].Size
	lanes := size
	if lane[o.Code] {
		lanes = size / laneOf(b.t, o)
	}
	s.block(fmt.Sprintf("for (int e = threadIdx.x; e < %s * %d; e += blockDim.x)", slots, lanes), func(s *body) {
		p := point{slot: "0", row: "0", idx: "e"}
		switch {
		case b.t.Cells[cell].Uniform:
		case lanes == 1:
			p.slot, p.idx = "e", "0"
			p.row = row(p.slot)
		default:
			p.slot, p.idx = b.let(s, "q", "int", func() string { return fmt.Sprintf("e / %d", lanes) }),
				b.let(s, "j", "int", func() string { return fmt.Sprintf("e - e / %d * %[1]d", lanes) })
			p.row = row(p.slot)
		}
		if lane[o.Code] {
			b.lane(s, o, p)
		} else {
			s.add("s%d[%s] = %s;", cell, at(p.slot, size, p.idx), b.compute(s, o, p))
		}
		if v := b.validOf(s, o, p); b.t.Cells[cell].Nullable {
			first(s, p.idx)
			s.add("v%d[%s] = %s;", cell, p.slot, v)
		}
	})
}

// first has only the thread of a row's first number do what follows: two threads may not write one place.
func first(s *body, idx string) {
	if idx != "0" {
		s.add("if (%s == 0)", idx)
	}
}

// at is the index of a number of a row.
func at(row string, size int, idx string) string {
	switch {
	case size == 1:
		return row
	case row == "0":
		return idx
	}
	return fmt.Sprintf("%s * %d + %s", row, size, idx)
}
