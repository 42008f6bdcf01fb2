package cpu

// Tally adds to count how often each code occurs. It reports whether some code is less than the one before it; last is
// the code before the first. Codes must not be negative and must be below len(count), which is not checked.
func Tally(codes []int32, last int32, count []int32) (falls bool) {
	if native {
		return cTally(codes, last, count)
	}
	for _, k := range codes {
		count[k]++
		falls = falls || k < last
		last = k
	}
	return falls
}

// Offsets turns counts into places. count has, for each of several pieces of the rows, span counts of the codes below
// span; each is replaced by the place at which the piece's rows with that code begin in the order of the codes. The
// rows of group g begin at start[g], and the last ones end at start[groups]; most is the rows of the largest group.
// start has room for span + 1 numbers. With rank, which has room for span, codes that do not occur are no groups:
// rank[k] is the group of code k, or -1, and each list of places is by group.
func Offsets(span int, count, start, rank []int32) (groups, most int) {
	if span == 0 {
		start[0] = 0
		return 0, 0
	}
	pieces := len(count) / span
	_ = start[span]
	if rank != nil {
		_ = rank[span-1]
	}
	if native {
		return cOffsets(span, pieces, count, start, rank)
	}
	at := int32(0)
	for k := range span {
		start[groups] = at
		for p := 0; p < len(count); p += span {
			n := count[p+k]
			count[p+groups] = at
			at += n
		}
		rows := at - start[groups]
		most = max(most, int(rows))
		switch {
		case rank == nil:
		case rows == 0:
			rank[k] = -1
			continue
		default:
			rank[k] = int32(groups)
		}
		groups++
	}
	start[groups] = at
	return groups, most
}

// Cross writes the rows from lo on of a product of two relations, of which the second has each rows: first and second
// are the row of either relation.
func Cross(lo, each int, first, second []int32) {
	if len(first) == 0 {
		return
	}
	_ = second[len(first)-1]
	if native {
		cCross(lo, each, first, second)
		return
	}
	c, r := lo/each, lo%each
	for i := range first {
		first[i], second[i] = int32(c), int32(r)
		if r++; r == each {
			c, r = c+1, 0
		}
	}
}

// Place writes the numbers first, first + 1, … of the codes to order, each at the place at[code], which then advances.
// Neither codes nor places are checked.
func Place(codes []int32, first int, at, order []int32) {
	if native {
		cPlace(codes, first, at, order)
		return
	}
	for i, k := range codes {
		order[at[k]] = int32(first + i)
		at[k]++
	}
}

// Places finds the places of numbers x among low, low + 1, …, which are count numbers with places from first on: p[i]
// is the place of x[i], or -1 where x[i] is none of them. It reports whether there is such an x[i].
func Places(p []int32, x []int64, low int64, count uint64, first int32) (miss bool) {
	if len(p) == 0 {
		return false
	}
	_ = x[len(p)-1]
	if native {
		return cPlaces(p, x, low, count, first)
	}
	for i, k := range x[:len(p)] {
		d := uint64(k) - uint64(low)
		if p[i] = first + int32(d); d >= count {
			p[i], miss = -1, true
		}
	}
	return miss
}

// Through composes two indexes: out[i] = b[a[i]], or -1 where a[i] is negative. out may be a. What a holds must be rows
// of b, which is not checked.
func Through(out, a, b []int32) {
	if len(a) == 0 {
		return
	}
	_ = out[len(a)-1]
	if native {
		cThrough(out, a, b)
		return
	}
	for i, r := range a {
		if out[i] = -1; r >= 0 {
			out[i] = b[r]
		}
	}
}
