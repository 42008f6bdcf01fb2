package tensors

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/bench"
)

// cell finds a cell; nil where it is missing, has failed, or is not there.
func (r *Result) cell(program, form string) *Cell {
	for _, c := range r.Cells {
		if c.Program == program && c.Form == form && c.Missing == "" && c.Failed == "" {
			return c
		}
	}
	return nil
}

// ratios are the times of one cell's operation over those of another's, by round.
func ratios(a *Cell, opA Op, b *Cell, opB Op) (out []float64) {
	if a == nil || b == nil {
		return nil
	}
	for i := range min(len(a.Seconds[opA]), len(b.Seconds[opB])) {
		out = append(out, a.Seconds[opA][i]/b.Seconds[opB][i])
	}
	return out
}

// spread is the median of some ratios, with the least and the largest.
func spread(x []float64) string {
	if len(x) == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.3g (%.3g to %.3g)", bench.Median(x), slices.Min(x), slices.Max(x))
}

// Goal is a ratio that is asked for.
type Goal struct {
	What   string
	Most   float64
	Ratios []float64
}

// Missed reports whether it was measured and missed.
func (g Goal) Missed() bool { return bench.Median(g.Ratios) > g.Most }

// goals are what is asked of a tensor.
func (r *Result) goals() (all []Goal) {
	add := func(most float64, ratios []float64, what string, args ...any) {
		all = append(all, Goal{r.Name + ": " + fmt.Sprintf(what, args...), most, ratios})
	}
	forms := []string{"coo", "csr", "csc", "csf", "bsgs"}
	if !r.Sparse {
		forms = []string{"ftsf"}
		most := map[string]float64{"uint8": 0.4, "float32": 0.1}[r.Name]
		add(most, ratios(r.cell("relgrad", "ftsf"), Slice, r.cell("deltalake", "blob"), Read),
			"a slice of 2 %% over a read of the whole blob of deltalake")
	} else {
		for _, f := range []string{"coo", "csf"} {
			c := r.cell("relgrad", f)
			add(0.15, ratios(c, Slice, c, Read), "a slice of %s over a full read", f)
		}
	}
	for _, f := range forms {
		for op := range ops {
			add(1, ratios(r.cell("relgrad", f), op, r.cell("deltalake", f), op), "%s of %s over deltalake's", op, f)
		}
	}
	for op := range Slice {
		ours, theirs := r.best("relgrad", op), r.best("deltalake", op)
		if ours != nil && theirs != nil {
			add(1, ratios(ours, op, theirs, op), "best %s (%s) over deltalake's best (%s)", op, ours.Form, theirs.Form)
		}
	}
	return all
}

// best is a program's fastest form for an operation.
func (r *Result) best(program string, op Op) (best *Cell) {
	for _, c := range r.Cells {
		if c.Program == program && r.cell(program, c.Form) != nil && len(c.Seconds[op]) > 0 &&
			(best == nil || bench.Median(c.Seconds[op]) < bench.Median(best.Seconds[op])) {
			best = c
		}
	}
	return best
}

// Missed lists the goals that were missed, and programs that failed.
func (r *Result) Missed() (all []string) {
	for _, g := range r.goals() {
		if g.Missed() {
			all = append(all, fmt.Sprintf("%s: %s, not %g", g.What, spread(g.Ratios), g.Most))
		}
	}
	for _, c := range r.Cells {
		if c.Failed != "" {
			all = append(all, fmt.Sprintf("%s, %s %s: %s", r.Name, c.Program, c.Form, c.Failed))
		}
	}
	return all
}

const intro = `# Tensors in tables of Delta Lake, measured

Written by ^relgrad bench delta^; ^go doc ./bench/tensors^ says how. Times are medians of the rounds in which the
programs took turns; a ratio is the median of the rounds' ratios, with the least and the largest. Every write makes a
new table in a folder, every read opens it, and caches are warm. relgrad waits until its files are on the disk, the
others do not. deltalake's times hold what NumPy takes to make the rows of a layout of the tensor, cut as relgrad cuts
it, and a sorted tensor of the rows. Sizes are all files of the table or array, in % of the plain elements; of a sparse
tensor these are float32 and int64 indices, about what a ^.pt^ file of PyTorch holds.

`

// missed tells what limits the figures that are not reached.
//
//go:embed missed.md
var missed string

// paper has the results of the paper as ratios to its baseline, for comparison.
const paper = `
## The paper's results

Delta Tensor (https://arxiv.org/abs/2405.03708) measured on Spark over a line of 1 Gbit/s, with other data (the Uber
pick-ups themselves are not at hand): only ratios can be compared, and these but roughly. Dense: 5000×3×1024×1024 of
uint8 as one npy file; sparse: a ^.pt^ file of the pick-ups.

| | size | write | full read | slice |
|---|---|---|---|---|
| ftsf over npy | 0.911 | 1.86 | 1.25 | 0.0996 |
| csf over .pt | under 0.132 | 0.733 | | under 1 |
| bsgs over .pt | 0.0483 | | 0.704 | 0.447 |
| coo over .pt | under 0.132 | | | under 1 |
`

// Report is the text of DELTA.md.
func Report(results []*Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s; %s; %s.\n", intro, bench.Machine(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	if v := versions(results); v != "" {
		fmt.Fprintf(&b, "Beside it %s.\n", v)
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(&b, "Load averages of the machine at the end: %s.\n",
			strings.Join(strings.Fields(string(load))[:3], ", "))
	}
	b.WriteString("\n## What is asked\n\n")
	t := &bench.Table{Head: []string{"ratio", "asked: at most", "reached", ""}}
	for _, r := range results {
		for _, g := range r.goals() {
			verdict := "reached"
			if g.Missed() {
				verdict = "**missed**"
			} else if len(g.Ratios) == 0 {
				verdict = ""
			}
			t.Add(g.What, fmt.Sprint(g.Most), spread(g.Ratios), verdict)
		}
	}
	b.WriteString(t.String())
	if slices.ContainsFunc(results, func(r *Result) bool { return len(r.Missed()) > 0 }) {
		b.WriteString(missed)
	}
	for _, r := range results {
		b.WriteString(r.table())
	}
	b.WriteString(paper)
	return strings.ReplaceAll(b.String(), "^", "`")
}

// table has all programs of a tensor, with ratios to the plain file.
func (r *Result) table() string {
	head := fmt.Sprintf("\n## %s: %s\n\n", r.Name, r.What)
	if r.Missing != "" {
		return head + r.Missing + "\n"
	}
	rounds := 0
	if len(r.Cells) > 0 {
		rounds = len(r.Cells[0].Seconds[Read])
	}
	head += fmt.Sprintf("%.2f MB of plain elements; the slice is [%d:%d]; %d rounds. In brackets: times the plain file's "+
		"(NumPy).\n\n", float64(r.Raw)/1e6, r.From, r.To, rounds)
	t := &bench.Table{Head: []string{"program", "form", "size", "write", "full read", "slice"}}
	plain := r.cell("NumPy", "npy")
	if r.Sparse {
		plain = r.cell("NumPy", "npz")
	}
	for _, c := range r.Cells {
		if c.Missing+c.Failed != "" {
			t.Add(c.Program, c.Form, "", "", "", strings.Split(c.Missing+c.Failed, "\n")[0])
			continue
		}
		row := []string{c.Program, c.Form, fmt.Sprintf("%.2f %%", 100*float64(c.Bytes)/float64(r.Raw))}
		for op := range ops {
			text := bench.Seconds(bench.Median(c.Seconds[op]))
			if x := bench.Median(ratios(c, op, plain, op)); !math.IsNaN(x) {
				text += fmt.Sprintf(" (%.3g)", x)
			}
			row = append(row, text)
		}
		t.Add(row...)
	}
	return head + t.String()
}

func versions(results []*Result) string {
	var all []string
	for _, r := range results {
		for _, c := range r.Cells {
			if c.Version != "" && !slices.Contains(all, c.Version) {
				all = append(all, c.Version)
			}
		}
	}
	return strings.Join(all, ", ")
}
