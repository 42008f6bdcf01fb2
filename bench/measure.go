package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/relgrad/relgrad/internal/lists"
)

// Program is relgrad or a peer, with its runs on a workload.
type Program struct {
	Peer   // Name is "relgrad" for relgrad itself
	Runs   []*Run
	Reason string // why there are no runs, or how losses differ
	Failed bool   // Reason is more than that something is missing
}

// Result is a workload's measurement, with relgrad first.
type Result struct {
	*Workload
	Programs []*Program
	Agreed   []string // peers with the same losses
	Profile  *Profile // set where a bar was missed
}

// agreementSteps is how many losses are compared, agreement how much they may differ, relatively.
const (
	agreementSteps = 20
	agreement      = 1e-4
)

// Options of a measurement.
type Options struct {
	Rounds  int
	Limit   Limit
	Numbers Values // replace the workload's own numbers
	Alone   bool   // without peers
}

// Unknown returns one of the numbers that no listed workload has, or "".
func Unknown(list []*Workload, numbers Values) string {
	for name := range numbers {
		known := false
		for _, w := range list {
			_, has := w.values(Full)[name]
			known = known || has
		}
		if !known {
			return name
		}
	}
	return ""
}

// Folder holds data, stores and the peers' libraries. The environment variable RELGRAD_BENCH_DATA names it.
func Folder() (string, error) {
	if dir := os.Getenv("RELGRAD_BENCH_DATA"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "relgrad-bench"), err
}

// Python is the interpreter that scripts/bench-setup installs in that folder.
func Python(folder string) string { return filepath.Join(folder, "venv", "bin", "python") }

// Measure compares losses, then runs rounds in which each program runs once, every second round in reverse order.
// Nothing runs if real data are needed and absent. An error concerns the options or the machine; errors of a program
// are recorded in its Program.
func (r *Runner) Measure(ctx context.Context, w *Workload, o Options) (*Result, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	ours := &Program{Peer: Peer{Name: "relgrad"}}
	res := &Result{Workload: w, Programs: []*Program{ours}}
	if w.RealData && os.Getenv("RELGRAD_DATA") == "" {
		ours.Reason = "missing: real data (RELGRAD_DATA)"
		return res, nil
	}
	if _, err := w.folder(r.Root, w.values(Full).with(o.Numbers)); err != nil {
		return nil, err
	}
	if !o.Alone {
		for _, p := range w.Peers {
			res.Programs = append(res.Programs, &Program{Peer: p})
		}
	}
	err := r.agree(ctx, res)
	for round := 0; round < o.Rounds && err == nil; round++ {
		err = r.round(ctx, res, o, round%2 == 1)
	}
	if err == nil && (res.late() || slices.ContainsFunc(res.judge(), Judged.Missed)) {
		res.Profile, err = profileOf(ctx, r, w, w.values(Full).with(o.Numbers))
	}
	if err != nil && ctx.Err() == nil {
		ours.Reason, ours.Failed, err = err.Error(), true, nil
	}
	return res, err
}

// round runs each program once.
func (r *Runner) round(ctx context.Context, res *Result, o Options, reverse bool) error {
	limit := o.Limit
	if res.Steps > 0 {
		limit = Limit{Steps: res.Steps, Seconds: 3600}
	}
	for i := range res.Programs {
		if reverse {
			i = len(res.Programs) - 1 - i
		}
		p := res.Programs[i]
		if p.Reason != "" {
			continue
		}
		run, err := r.run(ctx, res.Workload, p, res.values(Full).with(o.Numbers), limit)
		if err != nil {
			return err
		}
		if run != nil {
			p.Runs = append(p.Runs, run)
		}
	}
	return nil
}

// run runs a program once. It returns nil, and records the reason, where a peer cannot run.
func (r *Runner) run(ctx context.Context, w *Workload, p *Program, v Values, limit Limit) (*Run, error) {
	if p.Name == "relgrad" {
		return r.Ours(ctx, w, v, limit)
	}
	run, err := RunPeer(ctx, r, w, p.Peer, v, limit)
	if err != nil && ctx.Err() == nil {
		p.Reason, p.Failed = err.Error(), !errors.Is(err, ErrMissing)
		return nil, nil
	}
	return run, err
}

// agree compares the losses of the first steps, without dropout and with the same batches, perhaps on smaller data.
func (r *Runner) agree(ctx context.Context, res *Result) error {
	v, limit := res.values(agreeing), Limit{Steps: agreementSteps, Seconds: 3600}
	v["loss"] = 1 // asks programs for the loss that compute only gradients
	if res.Query != "" {
		limit.Steps = 2
	}
	if len(res.Programs) == 1 {
		return nil
	}
	ours, err := r.Ours(ctx, res.Workload, v, limit)
	if err != nil {
		return err
	}
	for _, p := range res.Programs[1:] {
		if p.Program == "scalapack.c" { // it has numbers of its own
			continue
		}
		run, err := r.run(ctx, res.Workload, p, v, limit)
		if err != nil {
			return err
		}
		if run == nil {
			continue
		}
		if d := differ(ours.Loss, run.Loss, limit.Steps); d != "" {
			p.Reason, p.Failed = d, true
			continue
		}
		res.Agreed = append(res.Agreed, p.Name)
	}
	return nil
}

// differ tells where the first n losses differ, or "".
func differ(ours, peers []float64, n int) string {
	if len(ours) < n || len(peers) < n {
		return fmt.Sprintf("%d losses of relgrad, %d of the peer, not %d", len(ours), len(peers), n)
	}
	for i := range n {
		if !(math.Abs(ours[i]-peers[i]) <= agreement*math.Abs(peers[i])) {
			return fmt.Sprintf("loss %d is %g, relgrad's %g", i+1, peers[i], ours[i])
		}
	}
	return ""
}

// seconds is the median over the rounds.
func (res *Result) seconds(p *Program) float64 {
	all := lists.Map(p.Runs, func(run *Run) float64 { return res.of(p, run) })
	return Median(all)
}

// of is the time of one run. A peer's first step warms up and does not count.
func (res *Result) of(p *Program, run *Run) float64 {
	if res.Steps == 0 && p.Name != "relgrad" {
		return Median(run.Steps[1:])
	}
	return run.Seconds(res.Steps)
}

// ratios are a peer's times divided by relgrad's, round by round; nil without runs.
func (res *Result) ratios(p *Program) (all []float64) {
	ours := res.Programs[0]
	for i := range min(len(ours.Runs), len(p.Runs)) {
		all = append(all, res.of(p, p.Runs[i])/res.of(ours, ours.Runs[i]))
	}
	return all
}

// Judged is a bar and the ratio reached.
type Judged struct {
	Bar
	Against string  // name of the peer
	Reached float64 // NaN where no peer could run
}

// Missed reports whether the bar was measured and missed.
func (j Judged) Missed() bool { return j.Reached < j.Ratio }

// judge compares the result with the bars.
func (res *Result) judge() (all []Judged) {
	for _, b := range res.Bars {
		j := Judged{Bar: b, Against: b.Peer, Reached: math.NaN()}
		for _, p := range res.Programs[1:] {
			if ratio := Median(res.ratios(p)); (b.Peer == p.Name || b.Peer == "" && !p.Apart) && !math.IsNaN(ratio) &&
				!(ratio >= j.Reached) {
				j.Against, j.Reached = p.Name, ratio
			}
		}
		all = append(all, j)
	}
	return all
}

// late reports whether a step takes longer than is asked.
func (res *Result) late() bool { return res.Most > 0 && res.seconds(res.Programs[0]) > res.Most }

// peak is a program's peak memory in bytes.
func (p *Program) peak() (most int64) {
	for _, run := range p.Runs {
		most = max(most, run.Peak)
	}
	return most
}

// Missed lists the goals that were missed: bars, memory, agreement.
func (res *Result) Missed() (all []string) {
	for _, j := range res.judge() {
		if j.Missed() {
			all = append(all, fmt.Sprintf("%s: %.2f times the speed of %s, not %g", res.Name, j.Reached, j.Against, j.Ratio))
		}
	}
	if peak := res.Programs[0].peak(); res.Memory > 0 && float64(peak) > res.Memory*1e9 {
		all = append(all, fmt.Sprintf("%s: peak memory %s, not %g GB", res.Name, gigabytes(peak), res.Memory))
	}
	if res.late() {
		all = append(all, fmt.Sprintf("%s: a step takes %s, not %s", res.Name, Seconds(res.seconds(res.Programs[0])),
			Seconds(res.Most)))
	}
	for _, p := range res.Programs {
		if p.Failed {
			all = append(all, fmt.Sprintf("%s, %s: %s", res.Name, p.Name, p.Reason))
		}
	}
	return all
}
