package structure

import (
	"slices"

	"github.com/relgrad/relgrad/column"
)

// Where a join reads rows of another site, the sites tell each other which keys they have: those of one are looked up
// among those of the other. NULL equals nothing.

// NewLookup makes the table of key columns. asFloat tells which are compared as floats.
func NewLookup(cols []*column.Column, rows int, asFloat []bool) *Lookup {
	return tableOf(AllRows(cols, rows), strict(cols), asFloat, func(n int) []int32 { return make([]int32, n) })
}

// strict tells of key columns that NULL equals nothing.
func strict(cols []*column.Column) []bool { return make([]bool, len(cols)) }

// Distinct are key columns without repeated keys and NULLs, in order of first appearance.
func Distinct(cols []*column.Column, rows int, asFloat []bool) []*column.Column {
	e := NewEncoder(AllRows(cols, rows), strict(cols), asFloat)
	first, seen := make([]int32, 0, e.Count), int32(0)
	for r, code := range e.Code {
		if code == seen { // codes are given in this order
			first, seen = append(first, int32(r)), seen+1
		}
	}
	out := make([]*column.Column, len(cols))
	for i, c := range cols {
		out[i] = column.Gather(c, first)
	}
	return out
}

// Having lists the rows that have one of the keys, in order.
func (t *Lookup) Having(keys []*column.Column, a *Arrays) []int32 {
	codes, n := t.Enc.probe(AllRows(keys, keys[0].Len())), 0
	for _, k := range codes {
		if k >= 0 {
			n += int(t.start[k+1] - t.start[k])
		}
	}
	out := a.Ints(n)[:0]
	for _, k := range codes {
		if k < 0 {
			continue
		}
		for i := t.start[k]; i < t.start[k+1]; i++ {
			if t.rows == nil {
				out = append(out, i)
			} else {
				out = append(out, t.rows[i])
			}
		}
	}
	slices.Sort(out)
	return out
}
