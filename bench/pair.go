package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Median is the middle value, or the mean of the two middle values; NaN for none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

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

// Seconds prints a duration with three digits.
func Seconds(s float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if s >= u.size {
			return fmt.Sprintf("%.3g %s", s/u.size, u.unit)
		}
	}
	return fmt.Sprintf("%.3g ns", s*1e9)
}

// Table is a table of Markdown.
type Table struct {
	Head []string
	Rows [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// AddPair appends a pair: its name, both medians, the ratio and the ratio asked for.
func (t *Table) AddPair(what string, p *Pair, asked string) {
	t.Add(what, Seconds(Median(p.Ours)), Seconds(Median(p.Peer)), fmt.Sprintf("%.2f", p.Ratio()), asked,
		fmt.Sprint(len(p.Ours)))
}

func (t *Table) String() string {
	var b strings.Builder
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = "---"
	}
	for _, r := range slices.Concat([][]string{t.Head, rule}, t.Rows) {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	return b.String()
}

func gigabytes(n int64) string { return fmt.Sprintf("%.2f GB", float64(n)/1e9) }
