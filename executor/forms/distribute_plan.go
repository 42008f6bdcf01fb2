package forms

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/tuning"
)

func newDistribution(d *device.Distributed, t *tuning.Sizes) *device.Distribution {
	p := &device.Distribution{}
	take := func(n int) (at int) {
		at = p.Words
		p.Words += (n + 7) &^ 7
		return at
	}
	for i, s := range d.Sides {
		most := min(t.DistributePanel, max(s.Count*s.N/8, t.DistributePanel/4, 1))
		cuts := (s.N + most - 1) / most
		p.Each[i] = (s.N + cuts - 1) / cuts
		at := 0
		for tile := range s.Count {
			for from := 0; from < s.N; from += p.Each[i] {
				n := min(p.Each[i], s.N-from)
				p.Panels[i] = append(p.Panels[i], device.Panel{Tile: tile, From: from, N: n, At: at})
				at += n * d.K
			}
		}
	}
	k, numbers := d.K, func(n int) int { return (n*column.KindOf(d.R.Type).Bytes() + 7) / 8 } // in words
	for i, s := range d.Sides {
		p.Gram[i], p.Part[i] = take(k*k), take(min(device.GramLanes, len(p.Panels[i]))*k*k)
		if s.Turned {
			p.Pack[i] = take(numbers(s.Count * s.N * k))
		}
		if p.Runs[i] = max(t.DistributeRun/p.Each[1-i], 1); s.Wanted {
			p.Sum[i], p.Acc[i], p.Dots[i] = take(s.Count*s.N*k), take(numbers(s.Count*s.N*k)), take(len(p.Panels[i]))
		}
	}
	p.Sample = take(2 * max(len(p.Panels[0]), len(p.Panels[1])))
	p.Scratch = 8 * max((k+1)*max(p.Each[0], p.Each[1]), device.SampleRows*p.Each[1])
	return p
}
