package executor

import "sort"

// runs are the rows of one group that follow each other.
type runs struct {
	n int
	// Rows start[i] to start[i+1] are the group[i], or i where group is nil. They are nil where a group has several runs.
	start, group []int32
}

// inRuns reports whether the rows of each group follow each other, and are worth a call: least rows a group, on average.
func (x *groups) inRuns(least int) bool {
	return x.code != nil && x.out.n > 1 && x.in.n >= least*x.out.n && (x.order == nil || x.alike().start != nil)
}

func (x *groups) alike() *runs {
	if x.runs != nil {
		return x.runs
	}
	r := &runs{n: 1}
	if x.code == nil { // or not yet
		return r
	}
	x.runs = r
	if r.n = x.out.n - len(x.without()); x.order == nil {
		r.start = x.start
		return r
	}
	groups := r.n
	r.n, r.start, r.group = 0, make([]int32, 0, groups+1), make([]int32, 0, groups)
	for i, g := range x.code {
		if i > 0 && g == x.code[i-1] {
			continue
		}
		if r.n++; r.n <= groups {
			r.start, r.group = append(r.start, int32(i)), append(r.group, g)
		}
	}
	if r.start = append(r.start, int32(x.in.n)); r.n > groups {
		r.start, r.group = nil, nil
	}
	return r
}

// without lists the groups without rows.
func (x *groups) without() []int {
	if x.empty == nil {
		x.empty = []int{}
		for g := range x.out.n {
			if x.start[g] == x.start[g+1] {
				x.empty = append(x.empty, g)
			}
		}
	}
	return x.empty
}

// largest is the number of rows of the largest group.
func (x *groups) largest() int {
	if x.most == 0 {
		for g := range x.out.n {
			x.most = max(x.most, int(x.start[g+1]-x.start[g]))
		}
	}
	return x.most
}

// cut makes lanes of whole groups with at least so many rows, or groups.
func (x *groups) cut(rows int) [][2]int {
	const most = 256
	rows = max(rows, (x.in.n+x.out.n)/most)
	var out [][2]int
	for lo := 0; lo < x.out.n; {
		hi := lo + 1 + sort.Search(x.out.n-lo-1, func(g int) bool { return int(x.start[lo+g+1]-x.start[lo])+g+1 >= rows })
		out = append(out, [2]int{lo, hi})
		lo = hi
	}
	return out
}

// rowsBy lists the group of the rows that have each of n numbers; nil where the groups are others.
func (x *groups) rowsBy(at []int32, n int) []int32 {
	if x.out.n != n {
		return nil
	}
	row, met := make([]int32, n), make([]bool, n)
	fill(row, -1)
	for r, a := range at {
		g := int32(0)
		if x.code != nil {
			g = x.code[r]
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

func (x *groups) hasEmpty() bool {
	if x.proj != nil {
		return false
	}
	for g := range x.out.n {
		if x.start[g] == x.start[g+1] {
			return true
		}
	}
	return false
}
