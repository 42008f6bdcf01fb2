package cuda

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
)

// four is how many numbers a thread computes where they lie one behind the other: it reads and writes 16 bytes at a
// time.
const four = 4

// vector is a thread's loop over four numbers of a row, or over four rows of one number. Numbers that lie one behind
// the other are read before the loop, in scope.
type vector struct {
	b     *builder
	scope *body
	rows  bool            // the loop is over rows; else over numbers of rows of size numbers
	first string          // the first of the four
	name  string          // what counts them
	turn  string          // which of the four it is
	size  int             // numbers of a row
	known map[string]bool // rows that are the same in all four turns
}

// fallible are the operations whose kernels may find an error.
var fallible = map[device.Opcode]bool{device.OpInts: true, device.OpToInt: true, device.OpOneHot: true,
	device.OpMinusLabel: true}

// plain reports whether numbers of results are computed without loops, where four at once would need too many
// registers, and without errors, which keep the compiler from reading them at once.
func plain(b *builder, results []int) bool {
	seen, each := map[int]bool{}, false
	var visit func(cell int) bool
	visit = func(cell int) bool {
		if _, ok := b.stored[cell]; ok || seen[cell] {
			return true
		}
		seen[cell] = true
		o := b.ops[cell]
		if heavy(b, cell) || fallible[o.Code] || o.Name == "decimal" {
			return false
		}
		return !slices.ContainsFunc(o.Args, func(a int) bool { return !visit(a) })
	}
	for _, r := range results {
		if !visit(r) {
			return false
		}
		each = each || !b.t.Cells[r].Uniform
	}
	return each
}

// newVector makes the loop for rows of so many numbers.
func newVector(b *builder, size int) *vector {
	v := &vector{b: b, rows: size == 1, first: "j0", name: "j", size: size, known: map[string]bool{}}
	if v.rows {
		v.first, v.name = "i0", "i"
	}
	return v
}

// turns adds the loop, whose turns f writes.
func (v *vector) turns(s *body, f func(s *body)) {
	v.scope, v.turn = s, v.b.fresh("turn")
	v.b.vec = v
	s.block(fmt.Sprintf("_Pragma(\"unroll\") for (int %s = 0; %[1]s < %d; %[1]s++)", v.turn, four), func(s *body) {
		typ := "int"
		if v.rows {
			typ = "long long"
		}
		s.add("%s %s = %s + %s;", typ, v.name, v.first, v.turn)
		f(s)
	})
	v.b.vec = nil
}

// aligned reports whether 16 bytes of the device's memory may be read or written at once, off bytes behind where x
// lies.
func (c *code) aligned(x []byte, off int) bool {
	at, ok := c.d.find(x)
	switch {
	case len(x) == 0:
		return false
	case !ok:
		at = c.input(x)
	}
	return (uint64(at)+uint64(off))%16 == 0
}

// number is a number of a column that is read with its three neighbours, before the loop; ok is false where they do not
// lie one behind the other, or there is no loop.
func (v *vector) number(c *column.Column, from, row string, missing bool, idx string) (x string, ok bool) {
	switch {
	case v == nil || !v.b.c.aligned(c.Bytes(), 0):
		return "", false
	case v.rows:
		ok = c.Size() == 1 && row == v.name
		row, idx = v.first, "0"
	default:
		ok = c.Size() == v.size && v.size > 1 && idx == v.name && v.known[row]
		idx = v.first
	}
	if !ok {
		return "", false
	}
	typ, place := ctype(c.Kind()), at(row, c.Size(), idx)
	all := v.b.let(v.scope, "four of "+from+" at "+place, "k_four<"+typ+">", func() string {
		load := fmt.Sprintf("k_load(%s + %s)", from, place)
		if missing {
			return fmt.Sprintf("%s < 0 ? k_four<%s>() : %s", row, typ, load)
		}
		return load
	})
	return fmt.Sprintf("%s.x[%s]", all, v.turn), true
}

// through is the row that an index with numbers p reads, known before the loop or read with its three neighbours; ok is
// false where it is neither.
func (v *vector) through(x *structure.Index, p, row string) (at string, ok bool) {
	switch {
	case v == nil:
		return "", false
	case !v.rows && v.known[row]:
		at = v.b.let(v.scope, p+" at "+row, "long long", func() string { return fmt.Sprintf("%s[%s]", p, row) })
		v.known[at] = true
		return at, true
	case v.rows && row == v.name && v.b.c.aligned(bytesOf(x.At), 0):
		all := v.b.let(v.scope, "four of "+p, "k_four<int>",
			func() string { return fmt.Sprintf("k_load(%s + %s)", p, v.first) })
		return fmt.Sprintf("%s.x[%s]", all, v.turn), true
	}
	return "", false
}
