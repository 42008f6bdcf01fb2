package structure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/ra"
)

// Order says in which order the windows over a space meet its rows, and where partitions begin.
type Order struct {
	ID    int
	Space *Space
	Rows  []int32 // the row at each place; nil: the rows lie in this order
	Start []int32 // the place where each partition begins, and where the last ends
	Peers []int32 // the place where each set of equal rows begins, and where the last ends
	step  bool    // made for a step, even if the relation stays the same

	opposite, equals *Order // see Facing; nil: nobody has asked
}

func (o *Order) Varies() bool { return o.step || o.Space.Varies }

// Row is the row at a place.
func (o *Order) Row(place int) int {
	if o.Rows == nil {
		return place
	}
	return int(o.Rows[place])
}

// Longest is the number of rows of the largest partition.
func (o *Order) Longest() (n int) {
	for i, at := range o.Start[1:] {
		n = max(n, int(at-o.Start[i]))
	}
	return n
}

// windowed orders the rows of the input, once for all windows with this order.
func windowed(st *Stage, n *ra.Node, in *Relation) (*Relation, error) {
	if in.Space.N > MaxRows {
		return nil, tooManyRows("a window")
	}
	key, err := orderKey(st, n, in.Space)
	if err != nil {
		return nil, err
	}
	for s := st; s != nil; s = s.parent {
		if o := s.orders[key]; o != nil {
			return &Relation{Space: in.Space, Order: o}, nil
		}
	}
	if err := st.env.Budget.MayHold(int64(in.Space.N) * int64(8*len(n.Arranged())+24)); err != nil {
		return nil, err
	}
	divide, _, err := st.Vectors(n.Inputs[0], n.Over.Partition)
	if err != nil {
		return nil, err
	}
	var digits []digit
	for _, v := range divide {
		digits = append(digits, digitsOf(v, false, true)...)
	}
	parts := len(digits)
	for _, s := range n.Over.Order {
		v, err := st.from.Vector(n.Inputs[0], n.Inputs[0].Index(s.Col))
		if err != nil {
			return nil, err
		}
		digits = append(digits, digitsOf(v, s.Desc, s.NullsFirst)...)
	}
	if err := st.Ctx.Err(); err != nil {
		return nil, err
	}
	o := &Order{ID: st.env.NewID(), Space: in.Space, step: st.varies}
	o.Rows = sorted(st.Arrays, digits, in.Space.N)
	o.Start, o.Peers = o.breaks(st.Arrays, digits[:parts]), o.breaks(st.Arrays, digits)
	st.orders[key] = o
	return &Relation{Space: in.Space, Order: o}, nil
}

// orderKey is equal for windows whose rows have the same order.
func orderKey(st *Stage, n *ra.Node, sp *Space) (string, error) {
	var b strings.Builder
	fmt.Fprint(&b, sp.ID)
	name := func(id ra.ColumnID) error {
		x, err := st.from.Name(n.Inputs[0], n.Inputs[0].Index(id))
		fmt.Fprint(&b, " ", x.ID)
		return err
	}
	for _, id := range n.Over.Partition {
		if err := name(id); err != nil {
			return "", err
		}
	}
	b.WriteString(" by")
	for _, s := range n.Over.Order {
		if err := name(s.Col); err != nil {
			return "", err
		}
		fmt.Fprint(&b, s.Desc, s.NullsFirst)
	}
	return b.String(), nil
}

// digit is a number for each row, by which rows are ordered, before those that follow it.
type digit []uint64

// digitsOf are numbers in the order of a column: whether it is NULL, where some row is, then its value.
func digitsOf(v *column.Column, desc, nullsFirst bool) []digit {
	n := v.Len()
	of := valueDigit(v)
	if desc {
		for r := range of {
			of[r] = ^of[r]
		}
	}
	if v.Valid() == nil {
		return []digit{of}
	}
	null := make(digit, n)
	for r := range null {
		if v.IsNull(r) {
			of[r] = 0
		}
		if v.IsNull(r) != nullsFirst {
			null[r] = 1
		}
	}
	return []digit{null, of}
}

// valueDigit is a number for each row in the order of the values. NaN is above all numbers.
func valueDigit(v *column.Column) digit {
	out := make(digit, v.Len())
	switch v.Kind() {
	case column.I64:
		for r, i := range v.I64() {
			out[r] = uint64(i) ^ 1<<63
		}
	case column.Str:
		texts := v.Texts()
		all := slices.Compact(slices.Sorted(slices.Values(texts)))
		for r, t := range texts {
			at, _ := slices.BinarySearch(all, t)
			out[r] = uint64(at)
		}
	default:
		for r := range out {
			out[r] = floatDigit(v.Float(r))
		}
	}
	return out
}

func floatDigit(x float64) uint64 {
	switch {
	case math.IsNaN(x):
		return math.MaxUint64
	case x == 0: // also -0
		return 1 << 63
	}
	if b := math.Float64bits(x); b>>63 == 0 {
		return b | 1<<63
	} else {
		return ^b
	}
}

// sorted lists the rows in the order of the digits, equal ones as they lie; nil: all lie so.
func sorted(mem *Arrays, digits []digit, rows int) []int32 {
	compare := func(a, b int32) int {
		for _, d := range digits {
			if c := cmp.Compare(d[a], d[b]); c != 0 {
				return c
			}
		}
		return 0
	}
	ordered := true
	for r := 1; r < rows && ordered; r++ {
		ordered = compare(int32(r-1), int32(r)) <= 0
	}
	if ordered {
		return nil
	}
	type item struct { // the first digit is beside the row: most comparisons need no other
		first uint64
		row   int32
	}
	items := make([]item, rows)
	for r := range items {
		items[r] = item{digits[0][r], int32(r)}
	}
	slices.SortFunc(items, func(a, b item) int {
		if c := cmp.Compare(a.first, b.first); c != 0 {
			return c
		}
		return cmp.Or(compare(a.row, b.row), cmp.Compare(a.row, b.row))
	})
	out := mem.Ints(rows)
	for i, x := range items {
		out[i] = x.row
	}
	return out
}

// breaks lists the places where rows differ in some digit from the one before, and the number of rows.
func (o *Order) breaks(mem *Arrays, digits []digit) []int32 {
	n := o.Space.N
	differs := func(place int) bool {
		if place == 0 {
			return true
		}
		a, b := o.Row(place-1), o.Row(place)
		return slices.ContainsFunc(digits, func(d digit) bool { return d[a] != d[b] })
	}
	count := 0
	for i := range n {
		if differs(i) {
			count++
		}
	}
	out := mem.Ints(count + 1)
	at := 0
	for i := range n {
		if differs(i) {
			out[at] = int32(i)
			at++
		}
	}
	out[count] = int32(n)
	return out
}
