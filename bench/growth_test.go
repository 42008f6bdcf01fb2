package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad/executor"
)

// TestGrow measures each axis at two tiny sizes: there are steps, work, and a limit for as much work.
func TestGrow(t *testing.T) {
	for _, a := range Axes {
		t.Run(a.Name, func(t *testing.T) {
			r, g := runner(t), &Grown{Axis: a}
			tiny := a.Workload.values(small)
			other := map[string]float64{"edges": 2, "n": 2, "hidden": 2}
			if a.Name == "chunks" {
				other = map[string]float64{"block": 0.5}
			}
			larger := tiny.with(nil)
			for name, f := range other {
				if x, ok := larger[name]; ok && (name != "n" || a.Name == "rows") {
					larger[name] = f * x
				}
			}
			for _, size := range []Size{{"tiny", tiny}, {"larger", larger}} {
				p, err := r.Grow(context.Background(), a, size, 0)
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Steps) < rounds*leastSteps || len(p.Limits) != len(p.Steps) ||
					!(p.Amount > 0 && p.Bound > 0 && p.Memory > 0 && p.Reading > 0 && p.Structure > 0 &&
						p.Planning > 0 && p.Setup > 0) {
					t.Errorf("%s: %+v", size.Name, p)
				}
				if a.Unit == "flop" && (p.Bound > 2*p.Amount || p.Amount > 3*p.Bound) {
					t.Errorf("%s: the products of the limit are %g operations, a step's work %g", size.Name, p.Bound, p.Amount)
				}
				g.Points = append(g.Points, p)
			}
			if x, y := g.Points[0], g.Points[1]; !(y.Count > x.Count) || a.Name != "chunks" && !(y.Amount > x.Amount) {
				t.Errorf("the larger size has %g %s and work %g, the smaller one %g and %g", y.Count, a.Rows,
					y.Amount, x.Count, x.Amount)
			}
			text := (&Growth{Axes: []*Grown{g}}).Report()
			for _, want := range []string{"## " + a.Name, "| tiny | " + thousands(g.Points[0].Count) + " |",
				"| larger | " + thousands(g.Points[1].Count) + " |", "Not measured: 4 sizes"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
		})
	}
}

// TestYardsticks checks what the limits compute, and how much work they say that it is.
func TestYardsticks(t *testing.T) {
	g := executor.Gather{Rows: 1000, Groups: 70, Table: 90, Width: 64}
	y, err := gathering([]executor.Gather{g, {Rows: 10, Groups: 3, Table: 5, Width: 32}, g})
	if err != nil {
		t.Fatal(err)
	}
	defer y.free()
	if y.amount != 2*1000*64+10*32 {
		t.Errorf("gathers of %g bytes", y.amount)
	}
	if y.seconds() <= 0 {
		t.Error("no time")
	}
	if y, err = reading(1 << 20); err != nil || y.amount != 1<<20 {
		t.Errorf("%g bytes, %v", y.amount, err)
	}
	y.run()
	y.free()
	if y, err = multiplying([]shape{{3, 4, 5}, {6, 7, 8}}); err != nil || y.amount != 2*(3*4*5+6*7*8) {
		t.Errorf("%g operations, %v", y.amount, err)
	}
	y.run()
	y.free()
}

// TestUnmet: a fraction far below the best, structure that grows faster than rows, and a slow plan are unmet.
func TestUnmet(t *testing.T) {
	at := func(name string, rows, step, structure float64) *Point {
		return &Point{Size: Size{Name: name}, Count: rows, Work: rows, Setup: structure, Amount: rows,
			Steps: []float64{9 * step, step, step}, Bound: rows, Limits: []float64{rows, rows, rows}}
	}
	g := &Growth{Axes: []*Grown{{Axis: Axes[0],
		Points: []*Point{at("×1", 10, 1, 1), at("×2", 20, 2.5, 2), at("×4", 40, 6, 8)}}},
		Plans: []*Planned{{Script: "slow.sql", Asked: time.Second, Plans: []time.Duration{1, 2 * time.Second}},
			{Script: "quick.sql", Asked: time.Second, Plans: []time.Duration{1}}, {Script: "none.sql", Reason: "missing"}}}
	// no work is no fraction
	g.Axes = append(g.Axes, &Grown{Axis: Axes[1], Points: []*Point{at("a", 10, 1, 1), at("b", 0, 1, 1)}},
		&Grown{Axis: Axes[2], Failed: "no disk"})
	if all := g.Missed(); len(all) != 7 || !strings.Contains(strings.Join(all, "\n"), "no disk") ||
		!strings.Contains(g.Report(), "Not measured: 6 sizes. no disk") {
		t.Errorf("%q", all)
	}
	g.Axes = g.Axes[:1]
	missed := g.Missed()
	if len(missed) != 3 || !strings.Contains(missed[0], "×4: the best fraction of the limit is 1.50 times") ||
		!strings.Contains(missed[1], "×4: the processors' time before the first step, beside the limit's, is 2.00 times") ||
		!strings.Contains(missed[2], "slow.sql took 2 s") {
		t.Errorf("%q", missed)
	}
	slow := *g.Axes[0].Points[2]
	slow.Limits = []float64{80, 80, 80} // where the limit takes twice as long, so may setup
	if x := g.Axes[0].growth(&slow); x != 1 {
		t.Errorf("setup grows %g times where the limit is half of what it was", x)
	}
	if text := g.Report(); strings.Count(text, "**missed**") != 3 || strings.Count(text, "not measured") != 1 {
		t.Error(text)
	}
}

// TestPlanning times the plans of scripts; one that fails is an error, without real data one that is missing.
func TestPlanning(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := runner(t)
	t.Setenv("RELGRAD_DATA", "")
	if _, err := r.Planning(context.Background(), dir); err == nil {
		t.Error("an empty folder is no error")
	}
	write("net_model.sql", "SELECT nonsense;")
	write("net.sql", networkScript(2))
	write("data.sql", "\\cd :data\n\\copy t FROM 'nothing.csv'\n")
	all, err := r.Planning(context.Background(), dir)
	if err != nil || len(all) != 3 || all[0].Plans != nil || !strings.Contains(all[0].Reason, "missing") ||
		len(all[1].Plans) != 1 || all[1].Worst() <= 0 || len(all[2].Plans) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	t.Setenv("RELGRAD_DATA", dir)
	if _, err := r.Planning(context.Background(), dir); err == nil {
		t.Error("a script that fails is no error")
	}
	t.Setenv("RELGRAD_DATA", "")
	write("data.sql", "SELECT nonsense;")
	if _, err := r.Planning(context.Background(), dir); err == nil {
		t.Error("a script that fails and reads no data is no error")
	}
}
