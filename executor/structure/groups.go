package structure

import "sort"

// Runs are the maximal stretches of rows of one group. There are N.
type Runs struct {
	N int
	// Run i is the rows Start[i] to Start[i+1] and belongs to Group[i], or to group i where Group is nil. Both are nil
	// where a group has several runs.
	Start, Group []int32
}

// InRuns reports whether the rows of each group follow each other, and a group has at least so many rows on average.
func (x *Groups) InRuns(least int) bool {
	return x.Codes != nil && x.Out.N > 1 && x.In.N >= least*x.Out.N && (x.Order == nil || x.RunsOfGroups().Start != nil)
}

func (x *Groups) RunsOfGroups() *Runs {
	if x.runs != nil {
		return x.runs
	}
	r := &Runs{N: 1}
	if x.Codes == nil { // or the groups are not listed yet
		return r
	}
	x.runs = r
	if r.N = x.Out.N - len(x.Without()); x.Order == nil {
		r.Start = x.Start
		return r
	}
	groups := r.N
	r.N, r.Start, r.Group = 0, make([]int32, 0, groups+1), make([]int32, 0, groups)
	for i, g := range x.Codes {
		if i > 0 && g == x.Codes[i-1] {
			continue
		}
		if r.N++; r.N <= groups {
			r.Start, r.Group = append(r.Start, int32(i)), append(r.Group, g)
		}
	}
	if r.Start = append(r.Start, int32(x.In.N)); r.N > groups {
		r.Start, r.Group = nil, nil
	}
	return r
}

// Without lists the groups without rows.
func (x *Groups) Without() []int {
	if x.empty == nil {
		x.empty = []int{}
		for g := range x.Out.N {
			if x.Start[g] == x.Start[g+1] {
				x.empty = append(x.empty, g)
			}
		}
	}
	return x.empty
}

// Largest is the number of rows of the largest group.
func (x *Groups) Largest() int {
	if x.Most == 0 {
		for g := range x.Out.N {
			x.Most = max(x.Most, int(x.Start[g+1]-x.Start[g]))
		}
	}
	return x.Most
}

// Cut makes lanes of whole groups, each with at least so many rows and groups together.
func (x *Groups) Cut(rows int) [][2]int {
	const most = 256
	rows = max(rows, (x.In.N+x.Out.N)/most)
	var out [][2]int
	for lo := 0; lo < x.Out.N; {
		hi := lo + 1 + sort.Search(x.Out.N-lo-1, func(g int) bool { return int(x.Start[lo+g+1]-x.Start[lo])+g+1 >= rows })
		out = append(out, [2]int{lo, hi})
		lo = hi
	}
	return out
}

// RowsBy lists, for each of the numbers 0…n-1, the group of the rows that at gives that number; nil where numbers and
// groups are not one to one.
func (x *Groups) RowsBy(at []int32, n int) []int32 {
	if x.Out.N != n {
		return nil
	}
	row, met := make([]int32, n), make([]bool, n)
	Fill(row, -1)
	for r, a := range at {
		g := int32(0)
		if x.Codes != nil {
			g = x.Codes[r]
		}
		switch {
		case row[a] == g:
		case row[a] >= 0 || met[g]:
			return nil
		default:
			row[a], met[g] = g, true
		}
	}
	return row
}

func (x *Groups) HasEmpty() bool {
	if x.Projection != nil {
		return false
	}
	for g := range x.Out.N {
		if x.Start[g] == x.Start[g+1] {
			return true
		}
	}
	return false
}
