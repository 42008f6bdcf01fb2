package physical

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
)

// impossible is the cost of what cannot be. Sums of it stay below 2^63.
const impossible = math.MaxInt64 / 1024

// table is a term of a sum to be made least: a cost for each choice of its variables, the last of which changes
// fastest.
type table struct {
	vars []int // ascending
	cost []int64
}

// minSum finds the choice of each variable for which the sum of the tables is least, by eliminating one variable after
// the other: the tables that it is in become one of the others in them, which holds the least sum over its choices
// (Bertelè and Brioschi, Nonserial Dynamic Programming, 1972). Where each table would have more than most cells, a
// variable that is in most tables is fixed; fixed counts such variables. Then the others are tried again and again,
// with other variables fixed to what has been found: so the sum gets less, or stays. Of equal sums the same one is
// found each time.
func minSum(ctx context.Context, sizes []int, terms []*table, most int) (choice []int, least int64, fixed int,
	err error) {
	fewer, terms, kept := reduced(sizes, terms)
	e := &elimination{sizes: fewer, all: sizes, most: most, often: make([]int, len(sizes))}
	defer func() {
		for v := range choice {
			choice[v] = kept[v][choice[v]]
		}
	}()
	if choice, least, fixed, err = e.run(ctx, terms, nil); err != nil || fixed == 0 {
		return choice, least, fixed, err
	}
	for vain := 0; vain < mostVain; vain++ {
		again, sum, _, err := e.run(ctx, terms, choice)
		if err != nil {
			return nil, 0, 0, err
		}
		if sum < least {
			choice, least, vain = again, sum, -1
		}
	}
	return choice, least, fixed, nil
}

// mostVain is how many tries may end with no less than before.
const mostVain = 3

// elimination is a sum that is made least.
type elimination struct {
	sizes  []int
	all    []int // sizes before some choices were left out, by which variables are ordered and fixed
	most   int
	often  []int      // how often each variable has been fixed
	of     [][]*table // by variable: the tables that are left and that it is in
	cells  []int      // by variable: of the table that its elimination would make, most + 1 where it is larger
	choice []int
	least  int64 // of tables that have no variables left
	fold   fold
}

// removed is a variable that has been eliminated from tables.
type removed struct {
	variable int
	tables   []*table
}

// run eliminates all variables. What is fixed is fixed to a choice that is known; nil: to what seems best.
func (e *elimination) run(ctx context.Context, terms []*table, known []int) (choice []int, least int64, fixed int,
	err error) {
	e.of, e.cells = make([][]*table, len(e.sizes)), make([]int, len(e.sizes))
	e.choice, e.least = make([]int, len(e.sizes)), 0
	for _, t := range terms {
		e.add(t)
	}
	left := make([]bool, len(e.sizes))
	for v := range e.sizes {
		e.measure(v)
	}
	var steps []removed
	for range e.sizes { // one is eliminated or fixed each time
		if err := ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		best := -1
		for v, c := range e.cells {
			if !left[v] && c <= e.most && (best < 0 || c < e.cells[best]) {
				best = v
			}
		}
		if best < 0 {
			best = e.busiest(left)
			if left[best], fixed = true, fixed+1; known != nil {
				e.choice[best] = known[best]
			} else {
				e.choice[best] = seeming(e.sizes, e.of[best], best)
			}
			e.often[best]++
			e.replace(e.of[best], func(t *table) *table { return t.with(e.sizes, best, e.choice[best]) })
			continue
		}
		of := e.of[best]
		left[best], steps = true, append(steps, removed{best, of})
		out := e.fold.eliminated(e.sizes, of, best)
		e.replace(of, nil)
		e.add(out)
		for _, v := range out.vars {
			e.measure(v)
		}
	}
	for _, s := range slices.Backward(steps) {
		e.choice[s.variable] = cheapest(e.sizes, s.tables, s.variable, e.choice)
	}
	return e.choice, e.least, fixed, nil
}

// add notes a table.
func (e *elimination) add(t *table) {
	if len(t.vars) == 0 {
		e.least = min(e.least+t.cost[0], impossible)
	}
	for _, v := range t.vars {
		e.of[v] = append(e.of[v], t)
	}
}

// measure counts the cells of the table that would be left without v.
func (e *elimination) measure(v int) { e.cells[v] = spanned(e.all, without(e.of[v], v), e.most) }

// replace takes tables away, or replaces them.
func (e *elimination) replace(of []*table, by func(t *table) *table) {
	gone, touched := map[*table]bool{}, map[int]bool{}
	for _, t := range of {
		gone[t] = true
		for _, v := range t.vars {
			touched[v] = true
		}
	}
	for v := range touched {
		e.of[v] = slices.DeleteFunc(slices.Clone(e.of[v]), func(t *table) bool { return gone[t] })
	}
	if by != nil {
		for _, t := range of {
			e.add(by(t))
		}
	}
	for v := range touched {
		e.measure(v)
	}
}

// busiest is the variable that has been fixed least often, of several the one in most tables.
func (e *elimination) busiest(left []bool) (best int) {
	best = -1
	for v, of := range e.of {
		switch {
		case left[v] || len(of) == 0:
		case best < 0 || e.often[v] < e.often[best], e.often[v] == e.often[best] && len(of) > len(e.of[best]):
			best = v
		}
	}
	return best
}

// seeming is the choice of v for which the least costs of its tables, each for itself, have the least sum.
func seeming(sizes []int, of []*table, v int) (best int) {
	sums := make([]int64, sizes[v])
	for _, t := range of {
		after, least := t.step(sizes, v), slices.Repeat([]int64{impossible}, sizes[v])
		for i := 0; i < len(t.cost); i += after {
			c := i / after % sizes[v]
			least[c] = min(least[c], slices.Min(t.cost[i:i+after]))
		}
		plus(sums, sums, least)
	}
	return slices.Index(sums, slices.Min(sums))
}

// with is the part of a table in which v is c.
func (t *table) with(sizes []int, v, c int) *table {
	at, after := slices.Index(t.vars, v), t.step(sizes, v)
	out := &table{vars: slices.Delete(slices.Clone(t.vars), at, at+1)}
	for i := c * after; i < len(t.cost); i += sizes[v] * after {
		out.cost = append(out.cost, t.cost[i:i+after]...)
	}
	return out
}

// without lists the variables of tables but one.
func without(tables []*table, v int) (out []int) {
	for _, t := range tables {
		out = append(out, t.vars...)
	}
	slices.SortFunc(out, cmp.Compare[int])
	return slices.DeleteFunc(slices.Compact(out), func(u int) bool { return u == v })
}

// spanned is how many cells a table over variables has, or most + 1.
func spanned(sizes, vars []int, most int) int {
	out := 1
	for _, v := range vars {
		if out *= sizes[v]; out > most {
			return most + 1
		}
	}
	return out
}

// step is the distance of a variable's choices in the table; 0: it is not in it.
func (t *table) step(sizes []int, v int) int {
	at := slices.Index(t.vars, v)
	if at < 0 {
		return 0
	}
	return spanned(sizes, t.vars[at+1:], math.MaxInt)
}

// cheapest is the first best choice of v where the other variables of its tables are chosen.
func cheapest(sizes []int, of []*table, v int, choice []int) (best int) {
	cost := int64(math.MaxInt64)
	for c := range sizes[v] {
		choice[v] = c
		sum := int64(0)
		for _, t := range of {
			at := 0
			for _, u := range t.vars {
				at = at*sizes[u] + choice[u]
			}
			sum = min(sum+t.cost[at], impossible)
		}
		if sum < cost {
			best, cost = c, sum
		}
	}
	return best
}

// fold eliminates a variable. It keeps its memory for the next one.
type fold struct {
	out     *table
	tables  [][]int64 // with the choices of the variable last
	at      []int     // of each table: where those are that belong to what is chosen
	levels  []level
	choices []int64
	turned  []int64
	sums    []int64
}

// level is a variable that is chosen.
type level struct {
	size  int
	steps []stride
	step  int   // in the table that is left
	adds  []int // the tables that wait for it
	sum   []int64
}

// stride is the distance of the choices of a variable in a table.
type stride struct{ table, step int }

// eliminated is the table that is left of tables when the best choice of v is taken. Tables are added one variable
// after the other: when all variables of a table but v are chosen, the costs of v's choices there are added to the sum,
// once for all choices of the variables that come after. Choices of v that cost no less than another one everywhere
// are left out.
func (f *fold) eliminated(sizes []int, of []*table, v int) *table {
	out := &table{vars: without(of, v)}
	out.cost = make([]int64, spanned(sizes, out.vars, math.MaxInt))
	f.out, f.at = out, append(f.at[:0], make([]int, len(of))...)
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

// turn puts the choices of v last, without those that need not be tried, and returns how many these are.
func (f *fold) turn(sizes []int, of []*table, v int) int {
	choices := f.byChoice(sizes, of, v)
	if len(f.out.cost) > 4*len(choices) {
		some := choices[:0]
		for _, c := range undominated(choices, nil) {
			some = append(some, choices[c])
		}
		choices = some
	}
	begin, n, at := 0, len(choices), 0
	f.tables, f.turned = f.tables[:0], slices.Grow(f.turned[:0], n*len(choices[0]))[:n*len(choices[0])]
	for _, t := range of {
		rows := len(t.cost) / sizes[v]
		turned := f.turned[at : at+rows*n]
		for c, cost := range choices {
			for r, x := range cost[begin : begin+rows] {
				turned[r*n+c] = x
			}
		}
		f.tables, begin, at = append(f.tables, turned), begin+rows, at+rows*n
	}
	return n
}

// byChoice lists the costs of each choice of v, one table's after the other's.
func (f *fold) byChoice(sizes []int, of []*table, v int) [][]int64 {
	rows := 0
	for _, t := range of {
		rows += len(t.cost) / sizes[v]
	}
	f.choices = slices.Grow(f.choices[:0], rows*sizes[v])
	out := make([][]int64, sizes[v])
	for c := range out {
		out[c] = f.choices[c*rows : c*rows : (c+1)*rows]
	}
	for _, t := range of {
		after, c := t.step(sizes, v), 0
		for i := 0; i < len(t.cost); i += after {
			out[c] = append(out[c], t.cost[i:i+after]...)
			if c++; c == len(out) {
				c = 0
			}
		}
	}
	return out
}

// undominated are the choices that are cheaper than each other one somewhere. Of equal ones the first is meant: with
// the ends of tables among the costs, a choice is left out for the sake of a later one only if that is cheaper
// whatever the others are, as it is where it costs less in all of a table.
func undominated(choices [][]int64, ends []int) (out []int) {
	gone := make([]bool, len(choices))
	for c, cost := range choices {
		for o, other := range choices {
			if o == c || gone[o] || !nowhereCheaper(cost, other) {
				continue
			}
			if gone[c] = o < c || ends == nil || dearer(cost, other, ends); gone[c] {
				break
			}
		}
		if !gone[c] {
			out = append(out, c)
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

// dearer reports whether costs are above others in all of some table.
func dearer(cost, other []int64, ends []int) bool {
	begin := 0
	for _, end := range ends {
		all := true
		for i := begin; i < end && all; i++ {
			all = cost[i] > other[i]
		}
		if all {
			return true
		}
		begin = end
	}
	return false
}

// reduced leaves out choices that another one makes needless, whatever the choices of the other variables are. It
// returns what is left: sizes, tables, and the choices that are kept.
func reduced(sizes []int, terms []*table) (fewer []int, left []*table, kept [][]int) {
	fewer, left, kept = slices.Clone(sizes), slices.Clone(terms), make([][]int, len(sizes))
	in := make([][]int, len(sizes)) // by variable: the tables that it is in
	for i, t := range terms {
		for _, v := range t.vars {
			in[v] = append(in[v], i)
		}
	}
	for v, n := range sizes {
		for c := range n {
			kept[v] = append(kept[v], c)
		}
	}
	due, f := slices.Repeat([]bool{true}, len(sizes)), &fold{}
	for slices.Contains(due, true) {
		for v := range sizes {
			was := due[v]
			if due[v] = false; !was || fewer[v] == 1 {
				continue
			}
			of, ends, end := make([]*table, len(in[v])), make([]int, len(in[v])), 0
			for k, i := range in[v] {
				of[k] = left[i]
				end += len(left[i].cost) / fewer[v]
				ends[k] = end
			}
			keep := undominated(f.byChoice(fewer, of, v), ends)
			if len(keep) == fewer[v] {
				continue
			}
			for k, i := range in[v] {
				left[i] = of[k].only(fewer, v, keep)
				for _, u := range of[k].vars {
					due[u] = u != v || due[u]
				}
			}
			fewer[v] = len(keep)
			kept[v] = lists.Map(keep, func(c int) int { return kept[v][c] })
		}
	}
	return fewer, left, kept
}

// only is a table with some choices of v.
func (t *table) only(sizes []int, v int, keep []int) *table {
	out, after := &table{vars: t.vars}, t.step(sizes, v)
	for i := 0; i < len(t.cost); i += sizes[v] * after {
		for _, c := range keep {
			out.cost = append(out.cost, t.cost[i+c*after:i+(c+1)*after]...)
		}
	}
	return out
}

// order orders the other variables: those that are in few tables come last, so that little is added for each cell.
func (f *fold) order(sizes []int, of []*table, n int) {
	in := func(u int) (many int) {
		for _, t := range of {
			if slices.Contains(t.vars, u) {
				many++
			}
		}
		return many
	}
	vars := slices.Clone(f.out.vars)
	slices.SortStableFunc(vars, func(a, b int) int {
		return cmp.Or(cmp.Compare(in(b), in(a)), cmp.Compare(sizes[a], sizes[b]))
	})
	f.levels, f.sums = make([]level, len(vars)), slices.Grow(f.sums[:0], n*len(vars))
	for k, u := range vars {
		f.levels[k] = level{size: sizes[u], step: f.out.step(sizes, u), sum: f.sums[n*k : n*(k+1)]}
	}
	for i, t := range of {
		last, step := -1, n
		for k := len(t.vars) - 1; k >= 0; k-- {
			if at := slices.Index(vars, t.vars[k]); at >= 0 { // it is another one than v
				f.levels[at].steps, last = append(f.levels[at].steps, stride{i, step}), max(last, at)
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
		for _, x := range l.steps {
			f.at[x.table] += x.step
		}
	}
	for _, x := range l.steps {
		f.at[x.table] -= l.size * x.step
	}
}

// plus adds costs.
func plus(to, a, b []int64) {
	a, b = a[:len(to)], b[:len(to)]
	for i := range to {
		to[i] = min(a[i]+b[i], impossible)
	}
}

// leastSum is the least of sums of costs. Two at a time are looked at, as processors can.
func leastSum(a, b []int64) int64 {
	even, odd := int64(impossible), int64(impossible)
	b = b[:len(a)]
	i := 0
	for ; i+1 < len(a); i += 2 {
		even, odd = min(even, a[i]+b[i]), min(odd, a[i+1]+b[i+1])
	}
	if i < len(a) {
		even = min(even, a[i]+b[i])
	}
	return min(even, odd)
}
