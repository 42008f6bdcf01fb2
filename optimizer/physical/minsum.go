package physical

import (
	"cmp"
	"context"
	"math"
	"slices"
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
	e := &elimination{sizes: sizes, most: most, often: make([]int, len(sizes))}
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
	most   int
	often  []int      // how often each variable has been fixed
	of     [][]*table // by variable: the tables that are left and that it is in
	cells  []int      // by variable: of the table that its elimination would make, most + 1 where it is larger
	choice []int
	least  int64 // of tables that have no variables left
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
		out := eliminated(e.sizes, of, best)
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
func (e *elimination) measure(v int) { e.cells[v] = spanned(e.sizes, without(e.of[v], v), e.most) }

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
