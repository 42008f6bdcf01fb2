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
// (Bertelè and Brioschi, Nonserial Dynamic Programming, 1972). Where each table would have more than most cells, the
// variable that is in most tables is fixed to what seems best, and the sum is the least with this choice; fixed counts
// such variables. Of equal sums the same one is found each time.
func minSum(ctx context.Context, sizes []int, terms []*table, most int) (choice []int, least int64, fixed int,
	err error) {
	type step struct {
		variable int
		tables   []*table
	}
	var steps []step
	terms = slices.Clone(terms)
	choice = make([]int, len(sizes))
	left := make([]bool, len(sizes))
	for range sizes { // one is eliminated or fixed each time
		if err := ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		best, cells := -1, most+1
		for v := range sizes {
			if left[v] {
				continue
			}
			if c := spanned(sizes, without(touching(terms, v), v), most); c < cells {
				best, cells = v, c
			}
		}
		if best < 0 {
			v := busiest(terms)
			of := touching(terms, v)
			choice[v], left[v], fixed = seeming(sizes, of, v), true, fixed+1
			for i, t := range terms {
				if slices.Contains(of, t) {
					terms[i] = t.with(sizes, v, choice[v])
				}
			}
			continue
		}
		of := touching(terms, best)
		steps, left[best] = append(steps, step{best, of}), true
		terms = slices.DeleteFunc(slices.Clone(terms), func(t *table) bool { return slices.Contains(of, t) })
		if out := eliminated(sizes, of, best); len(out.vars) > 0 {
			terms = append(terms, out)
		} else {
			least = min(least+out.cost[0], impossible)
		}
	}
	for _, t := range terms { // of fixed variables alone
		least = min(least+t.cost[0], impossible)
	}
	for _, s := range slices.Backward(steps) {
		choice[s.variable], _ = cheapest(sizes, s.tables, s.variable, choice)
	}
	return choice, least, fixed, nil
}

// busiest is the variable in most tables, of several the first.
func busiest(terms []*table) (best int) {
	times := map[int]int{}
	for _, t := range terms {
		for _, v := range t.vars {
			times[v]++
		}
	}
	best = -1
	for v, n := range times {
		if best < 0 || n > times[best] || n == times[best] && v < best {
			best = v
		}
	}
	return best
}

// seeming is the choice of v for which the least costs of its tables, each for itself, have the least sum.
func seeming(sizes []int, of []*table, v int) (best int) {
	least := int64(math.MaxInt64)
	for c := range sizes[v] {
		sum := int64(0)
		for _, t := range of {
			sum = min(sum+slices.Min(t.with(sizes, v, c).cost), impossible)
		}
		if sum < least {
			best, least = c, sum
		}
	}
	return best
}

// with is the part of a table in which v is c.
func (t *table) with(sizes []int, v, c int) *table {
	at := slices.Index(t.vars, v)
	after := spanned(sizes, t.vars[at+1:], math.MaxInt)
	out := &table{vars: slices.Delete(slices.Clone(t.vars), at, at+1)}
	for i, cost := range t.cost {
		if i/after%sizes[v] == c {
			out.cost = append(out.cost, cost)
		}
	}
	return out
}

func touching(terms []*table, v int) (out []*table) {
	for _, t := range terms {
		if slices.Contains(t.vars, v) {
			out = append(out, t)
		}
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

// eliminated is the table that is left of tables when the best choice of v is taken.
func eliminated(sizes []int, of []*table, v int) *table {
	out := &table{vars: without(of, v)}
	choice := make([]int, len(sizes))
	for range spanned(sizes, out.vars, math.MaxInt) {
		_, cost := cheapest(sizes, of, v, choice)
		out.cost = append(out.cost, cost)
		for _, u := range slices.Backward(out.vars) { // the next choice
			if choice[u]++; choice[u] < sizes[u] {
				break
			}
			choice[u] = 0
		}
	}
	return out
}

// cheapest is the first best choice of v where the other variables of its tables are chosen.
func cheapest(sizes []int, of []*table, v int, choice []int) (best int, cost int64) {
	cost = math.MaxInt64
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
	choice[v] = 0
	return best, cost
}
