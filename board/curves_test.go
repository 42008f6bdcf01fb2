package board

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// noise makes a line of n steps from 1 on, with a spike up and one down.
func noise(n int) trace {
	r := rand.New(rand.NewSource(1))
	l := trace{run: 1, metric: "loss"}
	for i := range n {
		l.at = append(l.at, int64(i+1))
		l.y = append(l.y, 10/float64(i+1)+r.Float64())
	}
	l.y[n/3], l.y[n/2] = 77, -55
	return l
}

// A chart of fewer points than steps has, in each interval of steps, exactly the extremes of the line.
func TestExtremesAreKept(t *testing.T) {
	l := noise(10_000)
	c := drawLines([]trace{l}, math.Inf(-1), math.Inf(1), 400)
	if len(c.X) > 402 || len(c.X) < 300 || c.Steps != [2]int64{1, 10_000} {
		t.Fatalf("%d places for steps %v", len(c.X), c.Steps)
	}
	const width = 50 // steps of two places
	for from := 0; from < len(l.y); from += width {
		part := l.y[from:min(from+width, len(l.y))]
		var in []float64
		for i, x := range c.X {
			if float64(x) >= float64(from+1) && float64(x) < float64(from+1+width) {
				in = append(in, float64(c.Lines[0].Y[i]))
			}
		}
		if len(in) != 2 || min(in[0], in[1]) != slices.Min(part) || max(in[0], in[1]) != slices.Max(part) {
			t.Fatalf("steps from %d on: drawn %v, extremes %g and %g", from+1, in, slices.Min(part), slices.Max(part))
		}
		if up := slices.Index(part, slices.Max(part)) > slices.Index(part, slices.Min(part)); up != (in[1] > in[0]) {
			t.Errorf("steps from %d on: the extremes come in another order", from+1)
		}
	}
}

// A part of the steps that is small enough is drawn exactly, beside a shorter line.
func TestZoomIsExact(t *testing.T) {
	l, short := noise(10_000), trace{2, "loss", []int64{5000, 5005}, []float64{1, 2}}
	c := drawLines([]trace{l, short}, 4990, 5010, 400)
	if len(c.X) != 21 || c.X[0] != 4990 || c.X[20] != 5010 {
		t.Fatal(c.X)
	}
	for i, y := range c.Lines[0].Y {
		if float64(y) != l.y[4989+i] {
			t.Errorf("step %g: %g, not %g", c.X[i], y, l.y[4989+i])
		}
	}
	for i, y := range c.Lines[1].Y {
		if want := map[int]figure{10: 1, 15: 2}[i]; want == 0 && !math.IsNaN(float64(y)) || want != 0 && y != want {
			t.Errorf("step %g of the short line: %g", c.X[i], y)
		}
	}
	// Parts without steps, and beyond the last one, are no error.
	for _, part := range [][2]float64{{20_000, 30_000}, {9_000, 10}, {0, 0}} {
		drawLines([]trace{l, short}, part[0], part[1], 400)
	}
}

func TestSmoothing(t *testing.T) {
	y := smoothed([]float64{4, 4, 4, 0}, 0.5)
	num, den := 0.0, 0.0
	for i, x := range []float64{4, 4, 4, 0} {
		w := math.Pow(0.5, float64(3-i))
		num, den = num+w*x, den+w
	}
	want := num / den
	if y[0] != 4 || y[2] != 4 || math.Abs(y[3]-want) > 1e-15 {
		t.Error(y, want)
	}
}

// JSON has no infinities; they must not spoil an answer.
func TestFigures(t *testing.T) {
	text, err := json.Marshal([]figure{1, figure(math.NaN()), figure(math.Inf(1)), 1.0 / 3, 1e300})
	if err != nil || string(text) != "[1,null,null,0.333333333,1e+300]" {
		t.Error(string(text), err)
	}
}

// Figures of a parameter: the norm of numbers whose squares are no doubles, and elements that are no numbers.
func TestMeasures(t *testing.T) {
	var m measures
	m.sum([]float64{3e200, 0, -4e200, math.NaN(), math.Inf(1)})
	if math.Abs(float64(m.Norm)/5e200-1) > 1e-15 || m.NoNumber != 2 || m.Zeros != 1 || m.Elements != 5 ||
		m.Least != -4e200 || m.Counts[0] != 1 || m.Counts[bins-1] != 1 {
		t.Errorf("%+v", m)
	}
	var none measures
	none.sum(nil)
	if _, err := json.Marshal(none); err != nil || none.Norm != 0 {
		t.Error(err, none.Norm)
	}
}

// The chart library is that of uPlot 1.6.32's package on npm, byte for byte.
func TestUPlotIsUnchanged(t *testing.T) {
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
	} {
		text, err := static.ReadFile("static/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has changed: %x", name, sum)
		}
	}
}
