package executor

import "github.com/relgrad/relgrad/executor/tuning"

func newDistribution(d *distributed, t *tuning.Sizes) *distribution {
	p := &distribution{}
	take := func(n int) (at int) {
		at = p.words
		p.words += (n + 7) &^ 7
		return at
	}
	for i, s := range d.sides {
		most := min(t.DistributePanel, max(s.count*s.n/8, t.DistributePanel/4, 1))
		cuts := (s.n + most - 1) / most
		p.each[i] = (s.n + cuts - 1) / cuts
		at := 0
		for tile := range s.count {
			for from := 0; from < s.n; from += p.each[i] {
				n := min(p.each[i], s.n-from)
				p.panels[i] = append(p.panels[i], panel{tile, from, n, at})
				at += n * d.k
			}
		}
	}
	k, numbers := d.k, func(n int) int { return (n*kindOf(d.r.typ).bytes() + 7) / 8 } // in words
	for i, s := range d.sides {
		p.gram[i], p.part[i] = take(k*k), take(min(gramLanes, len(p.panels[i]))*k*k)
		if s.turned {
			p.pack[i] = take(numbers(s.count * s.n * k))
		}
		if p.runs[i] = max(t.DistributeRun/p.each[1-i], 1); s.wanted {
			p.sum[i], p.acc[i], p.dots[i] = take(s.count*s.n*k), take(numbers(s.count*s.n*k)), take(len(p.panels[i]))
		}
	}
	p.sample = take(2 * max(len(p.panels[0]), len(p.panels[1])))
	p.scratch = 8 * max((k+1)*max(p.each[0], p.each[1]), sampleRows*p.each[1])
	return p
}
