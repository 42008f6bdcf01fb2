package structure

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels/cpu"
)

// groupCodes gives each row a code below span, in the order of the keys. Where many rows read few keys through an
// index, only the few keys are coded.
func (st *Stage) groupCodes(keys []Probe, rows int) (raw []int32, span int, err error) {
	if outer, inner, n := narrow(keys, rows); outer != nil {
		few, span, err := st.groupCodes(inner, n)
		if err != nil || IsIdentity(few) {
			return outer, span, err
		}
		raw = st.Arrays.Ints(rows)
		return raw, span, st.lanes(rows, func(lo, hi int) { cpu.Through(raw[lo:hi], outer[lo:hi], few) })
	}
	keys = listed(keys)
	if ascends(keys, rows) {
		raw = st.Arrays.Ints(rows)
		ascend(raw, 0)
		return raw, rows, nil
	}
	raw, span, ok, err := st.rawCodes(keys, rows)
	if ok || err != nil {
		return raw, span, err
	}
	if len(keys) > 1 { // often one key tells the others, as a row's identity tells what it refers to
		raw, span, ok, err = st.rawCodes(keys[:1], rows)
		if err != nil || ok && tells(raw, span, keys[1:]) {
			return raw, span, err
		}
	}
	cols, safe := make([]*column.Column, len(keys)), make([]bool, len(keys))
	for i, k := range keys {
		cols[i], safe[i] = k.vector(), true
	}
	raw, _, span = Encode(AllRows(cols, rows), keyCols{}, safe)
	sortGroups(cols, raw, span)
	return raw, span, nil
}

// tells reports whether rows of one code have the same integers.
func tells(code []int32, span int, keys []Probe) bool {
	first := make([]int32, span) // row + 1
	for r, c := range code {
		if first[c] == 0 {
			first[c] = int32(r) + 1
		}
	}
	for _, k := range keys {
		if k.Vector.Kind() != column.I64 || k.Vector.Valid() != nil || k.Vector.Type().Shape != nil {
			return false
		}
		x := k.Vector.I64()
		at := func(r int) int64 {
			if k.At != nil {
				r = int(k.At[r])
			}
			return x[r]
		}
		for r, c := range code {
			if at(r) != at(int(first[c])-1) {
				return false
			}
		}
	}
	return true
}

// ascends reports whether the first key ascends strictly: it then tells all rows apart, in their order.
func ascends(keys []Probe, rows int) bool {
	if len(keys) < 2 { // a single key is coded as fast
		return false
	}
	k := keys[0]
	if k.Vector.Kind() != column.I64 || k.Vector.Valid() != nil || k.Vector.Type().Shape != nil {
		return false
	}
	for i := 1; i < rows; i++ {
		a, b := i-1, i
		if k.At != nil {
			a, b = int(k.At[a]), int(k.At[b])
		}
		if k.Vector.I64()[a] >= k.Vector.I64()[b] {
			return false
		}
	}
	return true
}

// numbers numbers distinct keys 0, 1, … in order of first appearance.
func (st *Stage) numbers(keys keyCols, safe []bool) (code []int32, count int, err error) {
	if keys.n == 0 {
		return nil, 0, nil
	}
	cols := make([]Probe, len(keys.cols))
	for i, v := range keys.cols {
		cols[i].Vector = v
	}
	raw, span, ok, err := st.rawCodes(cols, keys.n)
	if err != nil {
		return nil, 0, err
	}
	if !ok {
		code, _, count = Encode(keys, keyCols{}, safe)
		return code, count, nil
	}
	number := st.Arrays.Scratch().Ints(span) // 0: not met yet
	clear(number)
	for i, k := range raw {
		if number[k] == 0 {
			count++
			number[k] = int32(count)
		}
		raw[i] = number[k] - 1
	}
	return raw, count, nil
}

// groupedBy groups rows by codes that ascend with the keys; codes may be unused. Groups of one row each leave the space
// as it is.
func (st *Stage) groupedBy(in *Space, raw []int32, span int) (*Relation, error) {
	t := st.env.Crew().tally(raw, span, st.Arrays)
	rank, count := t.compact(st.Arrays)
	if count == in.N {
		return &Relation{Space: in}, nil
	}
	code := raw
	if count < span {
		code = st.Arrays.Ints(in.N)
		if err := st.lanes(in.N, func(lo, hi int) { cpu.Through(code[lo:hi], raw[lo:hi], rank) }); err != nil {
			return nil, err
		}
	}
	return st.grouped(in, code, count, t), nil
}

// fewCodes is a number of codes up to which counting is faster than looking up even few keys.
const fewCodes = 1 << 15

// rawCodes gives the rows codes below span from integer keys, in the order of the keys. A key that is the row number of
// its relation needs no new codes: the index by which it is read holds them. ok is false where a key may be NULL or the
// product of the keys' spans is large.
func (st *Stage) rawCodes(keys []Probe, rows int) (code []int32, span int, ok bool, err error) {
	if len(keys) == 0 {
		return nil, 0, false, nil
	}
	least, by, total := make([]int64, len(keys)), make([]uint64, len(keys)), uint64(1)
	keys = slices.Clone(keys)
	for c, k := range keys {
		if k.At != nil && k.Vector.Len() > rows { // only the rows that are read decide the span
			k = Probe{Vector: column.Gather(k.Vector, k.At)}
			keys[c] = k
		}
		v := k.Vector
		if v.Kind() != column.I64 || v.Valid() != nil || v.Len() == 0 || rows == 0 || v.Type().Shape != nil {
			return nil, 0, false, nil
		}
		r, err := st.extremes(v.I64())
		if err != nil {
			return nil, 0, false, err
		}
		least[c], by[c] = r.least, uint64(r.most)-uint64(r.least)+1
		if limit := min(max(4*uint64(rows), fewCodes), 1<<30); by[c] == 0 || by[c] > limit || total*by[c] > limit {
			return nil, 0, false, nil
		}
		total *= by[c]
		if len(keys) == 1 && k.At != nil && r.counts {
			return k.At, int(total), true, nil
		}
	}
	code = st.Arrays.Ints(rows)
	return code, int(total), true, st.lanes(rows, func(lo, hi int) {
		for c, v := range keys {
			codeInts(code[lo:hi], v, lo, least[c], int32(by[c]), c == 0)
		}
	})
}

// codeInts appends one more key to the codes: it multiplies them by the key's span and adds the key. first starts with
// this key.
func codeInts(code []int32, v Probe, lo int, least int64, by int32, first bool) {
	x := v.Vector.I64()
	switch {
	case first && v.At == nil:
		for r, k := range x[lo : lo+len(code)] {
			code[r] = int32(k - least)
		}
	case first:
		for r, at := range v.At[lo : lo+len(code)] {
			code[r] = int32(x[at] - least)
		}
	case v.At == nil:
		for r, k := range x[lo : lo+len(code)] {
			code[r] = code[r]*by + int32(k-least)
		}
	default:
		for r, at := range v.At[lo : lo+len(code)] {
			code[r] = code[r]*by + int32(x[at]-least)
		}
	}
}

// span64 is the range of some numbers; counts: they are least, least+1, …
type span64 struct {
	least, most int64
	counts      bool
}

func (st *Stage) extremes(x []int64) (span64, error) {
	part := make([]span64, (len(x)+st.env.Tune.LaneRows-1)/st.env.Tune.LaneRows)
	err := st.lanes(len(x), func(lo, hi int) {
		a, b, first, counts := x[lo], x[lo], x[0], true
		for i, k := range x[lo:hi] {
			a, b = min(a, k), max(b, k)
			counts = counts && k == first+int64(lo+i)
		}
		part[lo/st.env.Tune.LaneRows] = span64{a, b, counts}
	})
	all := part[0]
	for _, s := range part[1:] {
		all = span64{min(all.least, s.least), max(all.most, s.most), all.counts && s.counts}
	}
	return all, err
}
