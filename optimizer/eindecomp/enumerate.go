package eindecomp

import "context"

// Enumerate tries all plans where there are at most so many; it returns nil where there are more.
func (d *Decomposer) Enumerate(ctx context.Context, most int) (*Plan, error) {
	s := d.s
	n := 1
	for _, viable := range s.viable {
		if n *= len(viable); n > most {
			return nil, nil
		}
	}
	choice, best := make([]int32, len(s.viable)), make([]int32, len(s.viable))
	least := tooMany
	var extend func(i int, sum uint64)
	extend = func(i int, sum uint64) {
		if i == len(choice) {
			if sum < least {
				least = sum
				copy(best, choice)
			}
			return
		}
		v := s.g.order[i]
		for k := range s.viable[v] {
			choice[v] = int32(k)
			with := plus(sum, s.own[v][k])
			for _, e := range s.g.into[v] {
				with = plus(with, s.edgeCost(e, choice[v], choice[s.g.edges[e].from]))
			}
			extend(i+1, with)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	extend(0, 0)
	return s.checked(best, ByEnumeration, least)
}
