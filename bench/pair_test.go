package bench

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// Pair holds the times of two functions in seconds, run by run.
type Pair struct {
	Ours, Peer []float64
}

// Alternate runs each function once to warm up, then in pairs. Every second pair begins with the peer.
func Alternate(runs int, ours, peer func() (time.Duration, error)) (*Pair, error) {
	p := &Pair{}
	for i := -1; i < runs; i++ {
		first, second := ours, peer
		if i%2 != 0 {
			first, second = peer, ours
		}
		a, err := first()
		if err != nil {
			return nil, err
		}
		b, err := second()
		if err != nil {
			return nil, err
		}
		if i%2 != 0 {
			a, b = b, a
		}
		if i >= 0 {
			p.Ours, p.Peer = append(p.Ours, a.Seconds()), append(p.Peer, b.Seconds())
		}
	}
	return p, nil
}

// Ratio is the median of ours divided by the peer's, pair by pair.
func (p *Pair) Ratio() float64 {
	var r []float64
	for i := range p.Ours {
		r = append(r, p.Ours[i]/p.Peer[i])
	}
	return Median(r)
}

// AddPair appends a pair: its name, both medians, the ratio and the ratio asked for.
func (t *Table) AddPair(what string, p *Pair, asked string) {
	t.Add(what, Seconds(Median(p.Ours)), Seconds(Median(p.Peer)), fmt.Sprintf("%.2f", p.Ratio()), asked,
		fmt.Sprint(len(p.Ours)))
}

func TestAlternate(t *testing.T) {
	order := ""
	p, err := Alternate(3, func() (time.Duration, error) { order += "o"; return 3 * time.Second, nil },
		func() (time.Duration, error) { order += "p"; return 2 * time.Second, nil })
	if err != nil || order != "poop"+"poop" || len(p.Ours) != 3 || Median(p.Ours) != 3 ||
		Median(p.Peer) != 2 || p.Ratio() != 1.5 {
		t.Errorf("order %s, %+v, %v", order, p, err)
	}
}

func TestMedian(t *testing.T) {
	if Median([]float64{3, 1, 2}) != 2 || Median([]float64{4, 1, 2, 3}) != 2.5 || !math.IsNaN(Median(nil)) {
		t.Error("wrong medians")
	}
}

func TestSeconds(t *testing.T) {
	for x, want := range map[float64]string{12.34: "12.3 s", 0.05: "50 ms", 2.37e-4: "237 µs", 4e-9: "4 ns"} {
		if got := Seconds(x); got != want {
			t.Errorf("%g is printed as %s, not %s", x, got, want)
		}
	}
}
