package structure

import (
	"math"
	"strings"
	"unsafe"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
)

// keyCols are the columns of a composite key, and the rows that count (nil: all).
type keyCols struct {
	cols []*column.Column
	rows []int32
	n    int // number of rows that count
}

func AllRows(cols []*column.Column, n int) keyCols { return keyCols{cols: cols, n: n} }

func (k *keyCols) row(i int) int {
	if k.rows == nil {
		return i
	}
	return int(k.rows[i])
}

// Encode numbers the distinct keys of build 0, 1, … in order of first appearance. It returns the number of each row of
// build and of probe, and how many numbers there are. A row's number is -1 where a key column is NULL and not
// null-safe, and in probe also where build lacks the key.
func Encode(build, probe keyCols, nullSafe []bool) (b, p []int32, count int) {
	e := NewEncoder(build, nullSafe, Mixed(build.cols, probe.cols))
	return e.Code, e.probe(probe), e.Count
}

// Mixed tells which columns are a float on one side and an integer on the other.
func Mixed(build, probe []*column.Column) []bool {
	m := make([]bool, len(build))
	for c := range m {
		m[c] = probe != nil && build[c].Type().IsFloat() != probe[c].Type().IsFloat()
	}
	return m
}

// encoder numbers the keys of build once, and then finds the numbers of any probe.
type encoder struct {
	levels []level // one for each key column
	Code   []int32 // of the rows of build
	Count  int
}

// level maps the number of a key's first columns, and the code of the next column, to the number of both.
type level struct {
	table             *pairTable
	null              map[int32]int32
	dict              map[string]uint64
	asFloat, nullSafe bool
}

func NewEncoder(build keyCols, nullSafe, asFloat []bool) *encoder {
	e := &encoder{Code: make([]int32, build.n), Count: 1}
	for c, v := range build.cols {
		l := level{asFloat: asFloat[c], nullSafe: nullSafe[c], null: map[int32]int32{}}
		if v.Type().Kind == kernels.Text || v.Type().Shape != nil {
			l.dict = map[string]uint64{}
		}
		e.Count = l.build(e.Code, l.codes(build, v, true), e.Count)
		e.levels = append(e.levels, l)
	}
	return e
}

func (e *encoder) probe(k keyCols) []int32 {
	p := make([]int32, k.n)
	if k.n == 0 {
		return p
	}
	for c := range e.levels {
		e.levels[c].probe(p, e.levels[c].codes(k, k.cols[c], false))
	}
	return p
}

// coded is a key column as 64-bit codes: equal values have equal codes. null marks NULLs; nil: there are none.
type coded struct {
	x    []uint64
	null []bool
}

// codes encodes a key column. Texts and chunks get codes from the level's dictionary, which grows only while build is
// encoded.
func (l *level) codes(k keyCols, v *column.Column, grow bool) coded {
	if l.dict != nil {
		return dictCodes(k, v, l.dict, grow)
	}
	return scalarCodes(k, v, l.asFloat)
}

func scalarCodes(k keyCols, v *column.Column, asFloat bool) coded {
	c := coded{x: make([]uint64, k.n)}
	if v.Valid() != nil {
		c.null = make([]bool, k.n)
	}
	for i := range c.x {
		r := k.row(i)
		if c.null != nil && v.IsNull(r) {
			c.null[i] = true
			continue
		}
		switch {
		case v.Kind() == column.F64:
			c.x[i] = floatCode(v.F64()[r])
		case v.Kind() == column.F32:
			c.x[i] = floatCode(float64(v.F32()[r]))
		case asFloat:
			c.x[i] = floatCode(float64(v.I64()[r]))
		default:
			c.x[i] = uint64(v.I64()[r])
		}
	}
	return c
}

// floatCode makes -0 equal 0 and all NaNs equal.
func floatCode(x float64) uint64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(x)
}

// dictCodes encodes texts and chunks by a dictionary.
func dictCodes(k keyCols, v *column.Column, dict map[string]uint64, grow bool) coded {
	c := coded{x: make([]uint64, k.n)}
	if v.Valid() != nil {
		c.null = make([]bool, k.n)
	}
	size := v.Size()
	elems := make([]uint64, size)
	for i := range c.x {
		r := k.row(i)
		if v.IsNull(r) {
			c.null[i] = true
			continue
		}
		var s string
		if v.Kind() == column.Str {
			s = v.Texts()[r]
		} else {
			for j := range elems {
				if v.Kind() == column.F64 {
					elems[j] = floatCode(v.F64()[r*size+j])
				} else {
					elems[j] = floatCode(float64(v.F32()[r*size+j]))
				}
			}
			s = unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(elems))), 8*size)
		}
		id, ok := dict[s]
		switch {
		case !ok && grow:
			id = uint64(len(dict))
			dict[strings.Clone(s)] = id
		case !ok:
			id = math.MaxUint64 // no row of build has it
		}
		c.x[i] = id
	}
	return c
}

// build refines the numbers in b, which are below count, by one more column.
func (l *level) build(b []int32, x coded, count int) int {
	l.table = newPairTable(b, x, count)
	next := int32(0)
	for i := range b {
		if b[i] < 0 {
			continue
		}
		if x.null != nil && x.null[i] {
			if !l.nullSafe {
				b[i] = -1
				continue
			}
			id, ok := l.null[b[i]]
			if !ok {
				id = next
				l.null[b[i]] = id
				next++
			}
			b[i] = id
			continue
		}
		slot := l.table.slot(b[i], x.x[i])
		if *slot < 0 {
			*slot = next
			next++
		}
		b[i] = *slot
	}
	if l.table.dense != nil && IsIdentity(l.table.dense) {
		l.table.same = true
	}
	return int(next)
}

func (l *level) probe(p []int32, x coded) {
	for i := range p {
		switch {
		case p[i] < 0:
		case x.null != nil && x.null[i]:
			id, ok := l.null[p[i]]
			if p[i] = -1; ok && l.nullSafe {
				p[i] = id
			}
		default:
			p[i] = l.table.find(p[i], x.x[i])
		}
	}
}

// pairTable maps (number so far, code) to a new number. Where the codes that follow each number are dense it is an
// array, else a hash table with open addressing.
type pairTable struct {
	runs  []run   // by number so far; nil: a hash table
	dense []int32 // new number by place
	same  bool    // dense[i] is i
	slots []pair
	mask  uint64
}

// run is a range of codes that follow one number so far: lo, lo+1, …, n of them. Their places begin at at.
type run struct {
	lo uint64
	n  uint32
	at int32
}

// pair is an entry of the hash table. A look-up mostly reads one cache line.
type pair struct {
	code     uint64
	prev, id int32 // id -1: the entry is free
}

// newPairTable makes an empty table for these rows. The numbers so far are below count.
func newPairTable(prev []int32, c coded, count int) *pairTable {
	if runs, places := findRuns(prev, c, count); runs != nil {
		t := &pairTable{runs: runs, dense: make([]int32, places)}
		Fill(t.dense, -1)
		return t
	}
	size := 16
	for size < 2*len(prev) {
		size *= 2
	}
	t := &pairTable{slots: make([]pair, size), mask: uint64(size - 1)}
	for i := range t.slots {
		t.slots[i].id = -1
	}
	return t
}

// findRuns finds the run of codes of each number so far, nil where the runs need many more places than there are rows.
func findRuns(prev []int32, c coded, count int) (runs []run, places uint64) {
	most, limit := make([]uint64, count), uint64(4*len(prev)+1024)
	runs = make([]run, count)
	for i, p := range prev {
		if p < 0 || c.null != nil && c.null[i] {
			continue
		}
		r, x := &runs[p], c.x[i]
		if r.n == 0 {
			r.n, r.lo, most[p] = 1, x, x
		}
		if int64(x) < int64(r.lo) {
			r.lo = x
		}
		if int64(x) > int64(most[p]) {
			most[p] = x
		}
	}
	for p := range runs {
		r := &runs[p]
		if r.n == 0 {
			continue
		}
		n := most[p] - r.lo
		if n >= limit || places+n+1 > min(limit, 1<<31-1) {
			return nil, 0
		}
		r.n, r.at = uint32(n+1), int32(places)
		places += n + 1
	}
	return runs, places
}

func Fill(s []int32, x int32) {
	for i := range s {
		s[i] = x
	}
}

// slot returns the entry of a key of build, in which -1 stands for a key that is new.
func (t *pairTable) slot(prev int32, x uint64) *int32 {
	if t.runs != nil {
		r := &t.runs[prev]
		return &t.dense[int(r.at)+int(x-r.lo)]
	}
	for h := t.hash(prev, x); ; h = (h + 1) & t.mask {
		p := &t.slots[h]
		if p.id < 0 {
			p.prev, p.code = prev, x
			return &p.id
		}
		if p.prev == prev && p.code == x {
			return &p.id
		}
	}
}

// find returns the number of a key, -1 where there is none.
func (t *pairTable) find(prev int32, x uint64) int32 {
	if t.runs == nil {
		return t.findPair(prev, x)
	}
	r := &t.runs[prev]
	d := x - r.lo
	if d >= uint64(r.n) {
		return -1
	}
	if at := r.at + int32(d); t.same {
		return at
	} else {
		return t.dense[at]
	}
}

func (t *pairTable) findPair(prev int32, x uint64) int32 {
	for h := t.hash(prev, x); ; h = (h + 1) & t.mask {
		p := &t.slots[h]
		if p.id < 0 {
			return -1
		}
		if p.prev == prev && p.code == x {
			return p.id
		}
	}
}

func (t *pairTable) hash(prev int32, x uint64) uint64 {
	h := (x ^ uint64(prev)<<40 ^ uint64(prev)) * 0x9E3779B97F4A7C15
	h = (h ^ h>>32) * 0xD6E8FEB86659FD93
	return (h ^ h>>29) & t.mask
}

// sortByCode lists the positions of codes 0…count-1 in order, stably: those of code c are order[start[c]:start[c+1]].
// Negative codes are left out. order is nil where it is the identity.
func sortByCode(codes []int32, count int) (start, order []int32) {
	start = make([]int32, count+1)
	sorted, last := true, int32(0)
	for _, c := range codes {
		if c < last {
			sorted = false
		}
		if c >= 0 {
			start[c+1]++
			last = c
		}
	}
	for c := range count {
		start[c+1] += start[c]
	}
	if sorted {
		return start, nil
	}
	next := append([]int32(nil), start[:count]...)
	order = make([]int32, start[count])
	for i, c := range codes {
		if c >= 0 {
			order[next[c]] = int32(i)
			next[c]++
		}
	}
	return start, order
}
