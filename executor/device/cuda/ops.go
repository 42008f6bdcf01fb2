package cuda

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/lists"
)

// number is a number of a cell: an expression, before which s has gained what it needs.
func (b *builder) number(s *body, cell int, p point) string {
	c := b.t.Cells[cell]
	if c.Uniform {
		p.slot, p.row = "0", "0"
	}
	if c.Size == 1 {
		p.idx = "0"
	}
	if _, ok := b.stored[cell]; ok {
		return fmt.Sprintf("s%d[%s]", cell, at(p.slot, c.Size, p.idx))
	}
	return b.let(s, fmt.Sprintf("%d %s %s", cell, p.row, p.idx), ctype(c.Kind),
		func() string { return b.compute(s, b.ops[cell], p) })
}

// valid tells whether a cell is not NULL in a row; "1" where none is.
func (b *builder) valid(s *body, cell int, p point) string {
	c := b.t.Cells[cell]
	if c.Uniform {
		p.slot, p.row = "0", "0"
	}
	if !c.Nullable {
		return "1"
	}
	if _, ok := b.stored[cell]; ok {
		return fmt.Sprintf("v%d[%s]", cell, p.slot)
	}
	p.idx = "0"
	return b.let(s, fmt.Sprintf("valid %d %s", cell, p.row), "int", func() string { return b.validOf(s, b.ops[cell], p) })
}

// argument is a number of argument i of an operation.
func (b *builder) argument(s *body, o *device.Op, i int, p point) string {
	return b.number(s, o.Args[i], p)
}

// active is the condition under which a row of an operation that can fail counts.
func (b *builder) active(s *body, o *device.Op, p point) string {
	cond := b.validOf(s, o, p)
	if o.Mask >= 0 {
		cond = both(cond, b.number(s, o.Mask, p)+" != 0")
	}
	return cond
}

func both(x, y string) string {
	switch {
	case x == "1":
		return y
	case y == "1":
		return x
	}
	return x + " && " + y
}

// check has the kernel fail where a condition holds in a row that counts.
func (b *builder) check(s *body, o *device.Op, p point, wrong string) {
	b.fails = true
	s.add("if (%s)", both(b.active(s, o, p), "("+wrong+")"))
	s.add("\tk_fail(%s, %d);", b.word("failure", uint64(b.c.failure), "unsigned long long *"), 0)
}

// numbers are the operations whose numbers are computed one by one: how a number of the result is computed.
var numbers map[device.Opcode]func(b *builder, s *body, o *device.Op, p point) string

func init() {
	numbers = map[device.Opcode]func(b *builder, s *body, o *device.Op, p point) string{
		device.OpConst: constant, device.OpLoad: load, device.OpConvert: convert,
		device.OpUnary: element, device.OpBinary: element, device.OpSelect: element, device.OpElem: element,
		device.OpBroadcast: element, device.OpInts: integer, device.OpToInt: toInt, device.OpCompare: compare,
		device.OpTruth: func(b *builder, s *body, o *device.Op, p point) string {
			return fmt.Sprintf("(long long) (%s == 1)", b.truth(s, o, p))
		},
		device.OpIsNull: func(b *builder, s *body, o *device.Op, p point) string {
			return fmt.Sprintf("(long long) (!!(%s) != %t)", b.valid(s, o.Args[0], p), o.Aux.(bool))
		},
		device.OpChoose: func(b *builder, s *body, o *device.Op, p point) string {
			return b.choose(s, o, func(i int) string {
				return fmt.Sprintf("(%s ? %s : 0)", b.valid(s, o.Args[i], p), b.argument(s, o, i, p))
			}, p)
		},
		device.OpExtreme: func(b *builder, s *body, o *device.Op, p point) string {
			best, _ := b.extreme(s, o, p)
			return best
		},
		device.OpPermute: permute, device.OpIntArray: intArray, device.OpOuter: outer, device.OpOneHot: oneHot,
		device.OpSubscript: func(b *builder, s *body, o *device.Op, p point) string {
			return b.argument(s, o, 0, point{p.slot, p.row, fmt.Sprint(o.Aux.(int))})
		},
		device.OpReference: reference, device.OpMinusLabel: minusLabel, device.OpUniform: uniform,
		device.OpRandomInt: randomInt,
		device.OpDropMask:  dropMask, device.OpRowKey: rowKey,
	}
}

// compute is a number of an operation's result.
func (b *builder) compute(s *body, o *device.Op, p point) string {
	if f := numbers[o.Code]; f != nil {
		return f(b, s, o, p)
	}
	if f := sums[o.Code]; f != nil {
		return f(b, s, o, p)
	}
	panic(elsewhere{fmt.Sprintf("%s has no kernel", o.Name)})
}

func convert(b *builder, s *body, o *device.Op, p point) string {
	return fmt.Sprintf("(%s) %s", ctype(b.t.Cells[o.Out].Kind), b.argument(s, o, 0, p))
}

func toInt(b *builder, s *body, o *device.Op, p point) string {
	x := b.argument(s, o, 0, p)
	b.check(s, o, p, fmt.Sprintf("!(%s >= -0x1p62 && %[1]s < 0x1p62)", x))
	return fmt.Sprintf("(%s >= -0x1p62 && %[1]s < 0x1p62 ? (long long) rint(%[1]s) : 0)", x)
}

func compare(b *builder, s *body, o *device.Op, p point) string {
	if o.Kind == column.Str {
		panic(elsewhere{"it compares texts"})
	}
	holds := o.Aux.([3]int64)
	return fmt.Sprintf("(long long) (%d >> (k_compare(%s, %s) + 1) & 1)", holds[0]|holds[1]<<1|holds[2]<<2,
		b.argument(s, o, 0, p), b.argument(s, o, 1, p))
}

func permute(b *builder, s *body, o *device.Op, p point) string {
	at := o.Aux.([]int32)
	from := b.let(s, fmt.Sprintf("from %d %s", o.Out, p.idx), "int",
		func() string { return fmt.Sprintf("%s[%s]", b.list(at), p.idx) })
	if !slices.Contains(at, -1) {
		return b.argument(s, o, 0, point{p.slot, p.row, from})
	}
	there := b.let(s, fmt.Sprintf("from %d %s or 0", o.Out, p.idx), "int",
		func() string { return fmt.Sprintf("%s < 0 ? 0 : %[1]s", from) })
	return fmt.Sprintf("%s < 0 ? 0 : %s", from, b.argument(s, o, 0, point{p.slot, p.row, there}))
}

func intArray(b *builder, s *body, o *device.Op, p point) string {
	out := "0"
	for i := range o.Args {
		out = fmt.Sprintf("%s == %d ? %s : %s", p.idx, i, b.argument(s, o, i, p), out)
	}
	return "(" + out + ")"
}

func outer(b *builder, s *body, o *device.Op, p point) string {
	n := o.Aux.(device.Product).N
	x := b.argument(s, o, 0, point{p.slot, p.row, over(p.idx, n)})
	return fmt.Sprintf("%s * %s", x, b.argument(s, o, 1, point{p.slot, p.row, rest(p.idx, n)}))
}

// outside is the condition that a label is none of so many.
func outside(label string, n int) string { return fmt.Sprintf("%s < 0 || %[1]s >= %d", label, n) }

func oneHot(b *builder, s *body, o *device.Op, p point) string {
	l, c := b.argument(s, o, 0, p), b.t.Cells[o.Out]
	b.check(s, o, p, outside(l, c.Size))
	return fmt.Sprintf("(%s) (%s == %s)", ctype(c.Kind), l, p.idx)
}

func minusLabel(b *builder, s *body, o *device.Op, p point) string {
	l := b.argument(s, o, 1, p)
	b.check(s, o, p, outside(l, b.t.Cells[o.Out].Size))
	return fmt.Sprintf("%s - (%s == %s)", b.argument(s, o, 0, p), l, p.idx)
}

// over and rest are the quotient and the remainder of an index.
func over(idx string, n int) string {
	switch {
	case n == 1:
		return idx
	case idx == "0":
		return "0"
	}
	return fmt.Sprintf("((%s) / %d)", idx, n)
}

func rest(idx string, n int) string {
	switch {
	case n == 1, idx == "0":
		return "0"
	}
	return fmt.Sprintf("((%s) %% %d)", idx, n)
}

// validOf tells whether an operation's result is not NULL.
func (b *builder) validOf(s *body, o *device.Op, p point) string {
	if !b.t.Cells[o.Out].Nullable {
		return "1"
	}
	switch o.Code {
	case device.OpConst:
		if o.V.Value.Null {
			return "0"
		}
		return "1"
	case device.OpLoad:
		return b.loadValid(s, o, p)
	case device.OpTruth:
		return fmt.Sprintf("(%s != 2)", b.truth(s, o, p))
	case device.OpChoose:
		return b.choose(s, o, func(i int) string { return b.valid(s, o.Args[i], p) }, p)
	case device.OpExtreme:
		_, has := b.extreme(s, o, p)
		return has
	}
	out := "1"
	for _, a := range o.Args {
		out = both(out, b.valid(s, a, p))
	}
	if o.Code == device.OpReference && o.Name == "subscript" {
		_, inside := elementOf(b, s, o, o.V.Args[0].Type.Shape, p)
		out = both(out, inside)
	}
	if strings.Contains(out, "&&") {
		out = "(" + out + ")"
	}
	return out
}

func constant(b *builder, _ *body, o *device.Op, p point) string {
	c := b.t.Cells[o.Out]
	x := column.OnHeap(c.Kind, 1, c.Size, true)
	x.Put(0, o.V.Value)
	switch {
	case c.Size > 1:
		return fmt.Sprintf("%s[%s]", b.pointer(b.c.keep(x.Bytes()), ctype(c.Kind)), p.idx)
	case c.Kind == column.I64:
		if x.I64()[0] == math.MinInt64 { // which no literal can be
			return "(-0x7fffffffffffffffll - 1)"
		}
		return fmt.Sprintf("%dll", x.I64()[0])
	}
	return literal(x.Float(0), c.Kind)
}

// list is the address of a list of numbers that no table holds.
func (b *builder) list(x []int32) string { return b.pointer(b.c.keep(bytesOf(x)), "int") }

// through is the row that an index reads; -1 where there is none.
func (b *builder) through(s *body, x *structure.Index, row string) string {
	if x == nil || x.At == nil {
		return row
	}
	if row == "0" {
		row = "0ll"
	}
	p := b.ints(x.At)
	if at, ok := b.vec.through(x, p, row); ok {
		return b.let(s, p+" at "+row, "long long", func() string { return at })
	}
	return b.let(s, p+" at "+row, "long long", func() string { return fmt.Sprintf("%s[%s]", p, row) })
}

func load(b *builder, s *body, o *device.Op, p point) string {
	if o.File != nil {
		panic(elsewhere{"it reads a column that lies in a file"})
	}
	return b.read(s, o.V.Data, o.Idx, p)
}

// read is a number of a column that is read through an index; nil: row by row.
func (b *builder) read(s *body, c *column.Column, x *structure.Index, p point) string {
	from, row := b.numbers(c), b.through(s, x, p.row)
	missing := x != nil && x.At != nil && x.Missing
	if value, ok := b.vec.number(c, from, row, missing, p.idx); ok {
		return value
	}
	value := fmt.Sprintf("%s[%s]", from, at(row, c.Size(), p.idx))
	if missing {
		return fmt.Sprintf("(%s < 0 ? 0 : %s)", row, value)
	}
	return value
}

func (b *builder) loadValid(s *body, o *device.Op, p point) string {
	flags := b.flags(o.V.Data)
	if flags == "" {
		return "1"
	}
	row := b.through(s, o.Idx, p.row)
	if o.Idx != nil && o.Idx.At != nil && o.Idx.Missing {
		return fmt.Sprintf("(%s < 0 || %s[%[1]s])", row, flags)
	}
	return fmt.Sprintf("%s[%s]", flags, row)
}

// element is a number of an element-wise kernel.
func element(b *builder, s *body, o *device.Op, p point) string {
	e := o.Aux.(*device.Elem)
	name := e.Loop
	if name == "" {
		name = o.Name
	}
	var args []string
	for i := range o.Args {
		x := p
		switch size := b.t.Cells[o.Args[i]].Size; {
		case o.Code == device.OpElem && e.At[i] != nil:
			x.idx = fmt.Sprintf("%s[%s]", b.list(e.At[i]), p.idx)
			if size == 1 {
				x.idx = "0"
			}
		case o.Code == device.OpBroadcast:
			switch e.Sides[i] {
			case device.Column:
				x.idx = over(p.idx, e.N)
			case device.Line:
				x.idx = rest(p.idx, e.N)
			case device.Single:
				x.idx = "0"
			}
		}
		args = append(args, b.argument(s, o, i, x))
	}
	typ := ctype(b.t.Cells[o.Out].Kind)
	if name == device.Ratio {
		return fmt.Sprintf("k_ratio<%s>(%s)", typ, strings.Join(args, ", "))
	}
	f := elements[name]
	if f == nil {
		panic(elsewhere{fmt.Sprintf("%s has no kernel", name)})
	}
	if name == "decimal" {
		b.check(s, o, p, fmt.Sprintf("!k_has_decimal(%s)", args[0])) // the processors round others
	}
	if device.Unary[name] || device.Binary[name] || name == "select" {
		return f(lists.Map(args, func(x string) string { return fmt.Sprintf("(%s) %s", typ, x) }))
	}
	return fmt.Sprintf("(%s) (%s)", typ, f(lists.Map(args, func(x string) string { return "(double) " + x })))
}

// integer is the result of arithmetic of bigint.
func integer(b *builder, s *body, o *device.Op, p point) string {
	var x []string
	for i := range o.Args {
		x = append(x, b.argument(s, o, i, p))
	}
	unsigned := func(op string) string {
		return b.let(s, fmt.Sprintf("int %d %s", o.Out, p.row), "long long", func() string {
			return fmt.Sprintf("(long long) ((unsigned long long) %s %s (unsigned long long) %s)", x[0], op, x[1])
		})
	}
	switch o.Name {
	case "add":
		sum := unsigned("+")
		b.check(s, o, p, fmt.Sprintf("((%s ^ %[3]s) & (%[2]s ^ %[3]s)) < 0", x[0], x[1], sum))
		return sum
	case "sub":
		diff := unsigned("-")
		b.check(s, o, p, fmt.Sprintf("((%s ^ %s) & (%[1]s ^ %[3]s)) < 0", x[0], x[1], diff))
		return diff
	case "mul":
		product := unsigned("*")
		large := fmt.Sprintf("%s != (int) %[1]s || %s != (int) %[2]s", x[0], x[1])
		b.check(s, o, p, large) // the host looks whether it overflows
		return product
	case "neg":
		b.check(s, o, p, fmt.Sprintf("%s == (-0x7fffffffffffffffll - 1)", x[0]))
		return fmt.Sprintf("(long long) (0 - (unsigned long long) %s)", x[0])
	case "abs":
		b.check(s, o, p, fmt.Sprintf("%s == (-0x7fffffffffffffffll - 1)", x[0]))
		return fmt.Sprintf("(%s < 0 ? (long long) (0 - (unsigned long long) %[1]s) : %[1]s)", x[0])
	case "div":
		never := fmt.Sprintf("(%s == 0 || %[1]s == -1 && %s == (-0x7fffffffffffffffll - 1))", x[1], x[0])
		b.check(s, o, p, never)
		return fmt.Sprintf("(%s ? 0 : %s / %s)", never, x[0], x[1])
	case "mod":
		b.check(s, o, p, x[1]+" == 0")
		return fmt.Sprintf("(%s == 0 || %[1]s == -1 ? 0 : %s %% %[1]s)", x[1], x[0])
	}
	panic(elsewhere{fmt.Sprintf("%s of bigint has no kernel", o.Name)})
}

// truth is 0 for false, 1 for true, 2 for NULL.
func (b *builder) truth(s *body, o *device.Op, p point) string {
	p.idx = "0"
	return b.let(s, fmt.Sprintf("truth %d %s", o.Out, p.row), "int", func() string {
		t, table := o.Aux.(*device.Truths), 0
		for i := range 3 {
			for j := range 3 {
				table |= int(t.Table[i][j]) << (2 * (3*i + j))
			}
		}
		tri := func(i int) string { return b.tri(s, o, i, p) }
		if len(o.Args) == 1 {
			return fmt.Sprintf("(%#x >> (6 * %s) & 3)", table, tri(0))
		}
		return fmt.Sprintf("(%#x >> (2 * (3 * %s + %s)) & 3)", table, tri(0), tri(1))
	})
}

// tri is an argument as 0, 1 or 2.
func (b *builder) tri(s *body, o *device.Op, i int, p point) string {
	x, valid := b.argument(s, o, i, p), b.valid(s, o.Args[i], p)
	if valid == "1" {
		return fmt.Sprintf("(%s != 0)", x)
	}
	return fmt.Sprintf("(%s ? %s != 0 : 2)", valid, x)
}

// choose is what of says of the argument that an OpChoose takes.
func (b *builder) choose(s *body, o *device.Op, of func(i int) string, p point) string {
	conds := o.Aux.(int)
	if conds > 0 {
		out := of(len(o.Args) - 1)
		for i := conds - 1; i >= 0; i-- {
			out = fmt.Sprintf("(%s == 1 ? %s : %s)", b.tri(s, o, i, point{p.slot, p.row, "0"}), of(conds+i), out)
		}
		return out
	}
	out := of(0)
	for i := len(o.Args) - 1; i >= 0; i-- {
		out = fmt.Sprintf("(%s ? %s : %s)", b.valid(s, o.Args[i], p), of(i), out)
	}
	return out
}

// extreme is the greatest or least argument that is not NULL, and whether there is one.
func (b *builder) extreme(s *body, o *device.Op, p point) (best, has string) {
	key := fmt.Sprintf("extreme %d %s", o.Out, p.row)
	for at := s; at != nil; at = at.up {
		if v, ok := at.vars[key]; ok {
			return v, at.vars["has "+key]
		}
	}
	sign, typ := o.Aux.(int), ctype(b.t.Cells[o.Out].Kind)
	kind := "double"
	if typ == "long long" {
		kind = typ
	}
	best, has = b.fresh("best"), b.fresh("has")
	s.add("%s %s = 0;", typ, best)
	s.add("int %s = 0;", has)
	for i := range o.Args {
		x := b.argument(s, o, i, p)
		valid := b.valid(s, o.Args[i], p)
		s.add("if (%s && (!%s || %d * k_compare((%s) %s, (%[4]s) %[6]s) > 0))", valid, has, sign, kind, x, best)
		s.add("\t%s = %s, %s = 1;", best, x, has)
	}
	s.vars[key], s.vars["has "+key] = best, has
	return best, has
}
