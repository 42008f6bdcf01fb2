package physical

import (
	"cmp"
	"math"
	"slices"
)

// eliminated is the table that is left of tables when the best choice of v is taken. Tables are added one variable
// after the other: when all variables of a table but v are chosen, the costs of v's choices there are added to the sum,
// once for all choices of the variables that come after. Choices of v that cost no less than another one everywhere
// are left out.
func eliminated(sizes []int, of []*table, v int) *table {
	out := &table{vars: without(of, v)}
	out.cost = make([]int64, spanned(sizes, out.vars, math.MaxInt))
	f := &fold{out: out, at: make([]int, len(of))}
	n := f.turn(sizes, of, v)
	f.order(sizes, of, n)
	sum := make([]int64, n)
	for i, t := range of {
		if len(t.vars) == 1 {
			plus(sum, sum, f.tables[i])
		}
	}
	if f.choose(0, 0, sum); len(out.vars) == 0 {
		out.cost[0] = slices.Min(sum)
	}
	return out
}

// fold is the elimination of a variable in progress.
type fold struct {
	out    *table
	tables [][]int64 // with the choices of the variable last
	at     []int     // of each table: where those are that belong to what is chosen
	levels []level
}

// level is a variable that is chosen.
type level struct {
	size  int
	steps []int // of each table: the distance of its choices
	step  int   // in the table that is left
	adds  []int // the tables that wait for it
	sum   []int64
}

// turn puts the choices of v last, without those that need not be tried, and returns how many these are.
func (f *fold) turn(sizes []int, of []*table, v int) int {
	choices := make([][]int64, sizes[v])
	for _, t := range of {
		after := t.step(sizes, v)
		for i := 0; i < len(t.cost); i += after {
			c := i / after % len(choices)
			choices[c] = append(choices[c], t.cost[i:i+after]...)
		}
	}
	if len(f.out.cost) > len(choices) {
		choices = undominated(choices)
	}
	begin, n := 0, len(choices)
	for _, t := range of {
		rows := len(t.cost) / sizes[v]
		turned := make([]int64, rows*n)
		for c, cost := range choices {
			for r, x := range cost[begin : begin+rows] {
				turned[r*n+c] = x
			}
		}
		f.tables, begin = append(f.tables, turned), begin+rows
	}
	return n
}

// undominated are the choices that are cheaper than each other one somewhere; of equal ones the first.
func undominated(choices [][]int64) (out [][]int64) {
	gone := make([]bool, len(choices))
	for c, cost := range choices {
		for o, other := range choices {
			if gone[c] = o != c && !gone[o] && nowhereCheaper(cost, other); gone[c] {
				break
			}
		}
		if !gone[c] {
			out = append(out, cost)
		}
	}
	return out
}

// nowhereCheaper reports whether no cost is below another one.
func nowhereCheaper(cost, other []int64) bool {
	for i, x := range other {
		if cost[i] < x {
			return false
		}
	}
	return true
}

// order orders the other variables: those that are in few tables come last, so that little is added for each cell.
func (f *fold) order(sizes []int, of []*table, n int) {
	in := map[int]int{}
	for _, t := range of {
		for _, u := range t.vars {
			in[u]++
		}
	}
	vars := slices.Clone(f.out.vars)
	slices.SortStableFunc(vars, func(a, b int) int {
		return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(sizes[a], sizes[b]))
	})
	f.levels = make([]level, len(vars))
	for k, u := range vars {
		f.levels[k] = level{size: sizes[u], step: f.out.step(sizes, u), steps: make([]int, len(of)), sum: make([]int64, n)}
	}
	for i, t := range of {
		last, step := -1, n
		for k := len(t.vars) - 1; k >= 0; k-- {
			if at := slices.Index(vars, t.vars[k]); at >= 0 { // it is another one than v
				f.levels[at].steps[i], last = step, max(last, at)
				step *= sizes[t.vars[k]]
			}
		}
		if last >= 0 {
			f.levels[last].adds = append(f.levels[last].adds, i)
		}
	}
}

// choose tries all choices of the variables from level k on. sum holds, for each choice of the eliminated variable,
// what those before cost; cell is where the result is.
func (f *fold) choose(k, cell int, sum []int64) {
	if k == len(f.levels) {
		return
	}
	l, n := &f.levels[k], len(sum)
	for range l.size {
		costs := sum
		for j, i := range l.adds {
			if row := f.tables[i][f.at[i] : f.at[i]+n]; k == len(f.levels)-1 && j == len(l.adds)-1 {
				f.out.cost[cell] = leastSum(costs, row)
			} else {
				plus(l.sum, costs, row)
				costs = l.sum
			}
		}
		f.choose(k+1, cell, costs)
		cell += l.step
		for i, step := range l.steps {
			f.at[i] += step
		}
	}
	for i, step := range l.steps {
		f.at[i] -= l.size * step
	}
}

// plus adds costs.
func plus(to, a, b []int64) {
	a, b = a[:len(to)], b[:len(to)]
	for i := range to {
		to[i] = min(a[i]+b[i], impossible)
	}
}

// leastSum is the least of sums of costs.
func leastSum(a, b []int64) int64 {
	least := int64(impossible)
	b = b[:len(a)]
	for i, x := range a {
		least = min(least, x+b[i])
	}
	return least
}
