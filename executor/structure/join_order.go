package structure

import (
	"fmt"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/ra"
)

// next chooses the next slot to join. After the first, it is one of at most one row, else one of whose rows each combo
// meets at most one (fixed), else one with a condition, else the smallest.
func (j *joiner) next() int {
	if len(j.slots) == 0 {
		return j.first()
	}
	best, bestRank := -1, 0
	for s := range j.in {
		if j.joined(s) {
			continue
		}
		if j.size(s) <= 1 {
			return s
		}
		rank := 3
		switch conds := j.conditions(s); {
		case j.fixed(s, conds):
			rank = 1
		case len(conds) > 0:
			rank = 2
		}
		if best < 0 || rank < bestRank || rank == bestRank && rank == 3 && j.size(s) < j.size(best) {
			best, bestRank = s, rank
		}
	}
	return best
}

// first prefers a slot from which every other slot is fixed, step by step: the join then has at most its rows. In a
// step it is the smallest such slot, or a smaller one whose rows the step makes, so that the work depends on the step's
// rows and not on a table's.
func (j *joiner) first() int {
	best, step := -1, j.st.parent != nil
	varies := func(s int) bool { return j.in[s].Space.Varies || j.st.own[j.n.Inputs[s]] }
	for s := range j.in {
		if j.size(s) <= 1 && len(j.in) > 1 || best >= 0 && j.size(s) >= j.size(best) {
			continue
		}
		if j.keeps(s) {
			if best = s; !step {
				break
			}
		}
	}
	for s := range j.in {
		if step && varies(s) && j.size(s) > 1 &&
			(best < 0 || j.size(s) < j.size(best) && !varies(best)) && len(j.neighbours(s)) > 0 {
			best = s
		}
	}
	return max(best, 0)
}

// neighbours lists the slots that conditions connect with s.
func (j *joiner) neighbours(s int) []int {
	var out []int
	for _, q := range j.equis {
		if q.L.Input == s && q.R.Input != s {
			out = append(out, q.R.Input)
		} else if q.R.Input == s && q.L.Input != s {
			out = append(out, q.L.Input)
		}
	}
	return out
}

// keeps reports whether every other slot is fixed from s, step by step.
func (j *joiner) keeps(s int) bool {
	j.slots = append(j.slots, s)
	for again := true; again; {
		again = false
		for t := range j.in {
			if !j.joined(t) && (j.size(t) <= 1 || j.fixed(t, j.conditions(t))) {
				j.slots, again = append(j.slots, t), true
			}
		}
	}
	all := len(j.slots) == len(j.in)
	j.slots = j.slots[:0]
	return all
}

// conditions lists the unused equalities between joined slots (left) and slot s (right).
func (j *joiner) conditions(s int) []ra.Equi {
	var out []ra.Equi
	for i, q := range j.equis {
		if !j.unused[i] {
			continue
		}
		if q.L.Input == s {
			q.L, q.R = q.R, q.L
		}
		if q.R.Input == s && j.joined(q.L.Input) {
			out = append(out, q)
		}
	}
	return out
}

// fixed reports whether the columns of slot s in the conditions (at their right) tell its rows apart: because they
// contain its identity, or because the data happen to be distinct.
func (j *joiner) fixed(s int, conds []ra.Equi) bool {
	if len(conds) == 0 {
		return false
	}
	if j.declared(s, conds) {
		return true
	}
	id := ""
	for _, q := range conds {
		id += fmt.Sprintf("%d ", j.n.Inputs[s].Index(q.R.ID))
	}
	keep := j.lasting(s)
	if !keep && j.st.parent != nil { // finding out would cost more than it saves
		return false
	}
	if is, known := j.in[s].fixed[id]; known && keep {
		return is
	}
	is := j.distinct(s, conds)
	if keep {
		if j.in[s].fixed == nil {
			j.in[s].fixed = map[string]bool{}
		}
		j.in[s].fixed[id] = is
	}
	return is
}

// declared reports whether the columns of slot s in the conditions contain its identity.
func (j *joiner) declared(s int, conds []ra.Equi) bool {
	return !slices.ContainsFunc(j.n.Inputs[s].Unique, func(k ra.ColumnID) bool {
		return !slices.ContainsFunc(conds, func(q ra.Equi) bool { return q.R.ID == k })
	}) && len(conds) > 0
}

// distinct reports whether no two rows of slot s are equal in the columns of the conditions.
func (j *joiner) distinct(s int, conds []ra.Equi) bool {
	cols, safe := make([]*column.Column, len(conds)), make([]bool, len(conds))
	for i, q := range conds {
		var err error
		if cols[i], err = j.vec(q.R); err != nil {
			return false // the join itself will report the error
		}
	}
	_, _, count := Encode(keyCols{cols: cols, rows: j.kept[s], n: j.size(s)}, keyCols{}, safe)
	return count == j.size(s)
}
