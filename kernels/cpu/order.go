package cpu

// Tally adds to count how often each code occurs, and reports whether one is less than the one before it, the first one than last.
// Every code must be below len(count), and not negative: it is not checked.
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

// Place writes the numbers first, first + 1, … of the codes to the places at[code] of order, which count on. Neither codes nor places
// are checked.
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

// Through reads an index through another one: out[i] = b[a[i]], -1 where a[i] is negative. out may be a. What a holds must be
// rows of b: it is not checked.
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
