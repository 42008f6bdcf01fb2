package structure

// Filter is a predicate over candidate rows of a join: tuples of rows of the inputs.
type Filter struct {
	Slots []bool // which slots it reads
	// run returns the positions of the n candidates on which the predicate holds, in keep, which holds n. at[s] are the
	// candidates' rows of slot s, nil for the row of the position.
	Run  func(at [][]int32, n int, keep []int32) ([]int32, error)
	done bool
}

// reads reports whether the filter reads no other slots than these.
func (f *Filter) reads(slots ...int) bool {
	for s, r := range f.Slots {
		if !r {
			continue
		}
		ok := false
		for _, t := range slots {
			ok = ok || s == t
		}
		if !ok {
			return false
		}
	}
	return true
}
