package bench

import (
	"math"
	"testing"
	"time"
)

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
