package structure

// Filter is a predicate over candidate rows of a join: tuples of rows of the inputs.
type Filter struct {
	Slots []bool // inputs of the join that it reads
	// Run writes the positions of the candidates on which the predicate holds to keep, which has room for n, and
	// returns them. at[s] are the candidates' rows of slot s; nil: row i for candidate i.
	Run  func(at [][]int32, n int, keep []int32) ([]int32, error)
	done bool
}

// reads reports whether the filter reads none but these slots.
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
