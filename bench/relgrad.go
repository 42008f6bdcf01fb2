package bench

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed workloads/*.sql peers/*.py peers/scalapack.c
var files embed.FS

// Runner runs programs on workloads. It runs relgrad as users do: one process loads the data into a store, another
// opens it.
type Runner struct {
	Relgrad string    // the command
	Root    string    // folder for data and stores
	Python  string    // the interpreter with the peers' libraries
	Log     io.Writer // receives what is run
}

// Run is what one run of a program took.
type Run struct {
	Steps    []float64 `json:"steps"` // seconds; a peer's first step warms up, relgrad's is part of Setup
	Loss     []float64 `json:"loss"`  // before each step; the result of a query
	Peak     int64     `json:"peak"`  // bytes
	Versions string    `json:"versions"`
	Setup    float64   `json:"-"` // relgrad: seconds before the steps, for planning, structure and the like
}

// Seconds is the time of a step or, for steps > 0, of so many steps together.
func (run *Run) Seconds(steps int) float64 {
	if steps == 0 {
		return Median(run.Steps)
	}
	sum := run.Setup
	for _, s := range run.Steps {
		sum += s
	}
	return sum
}

// unpack writes the scripts and programs to files for the commands.
func (r *Runner) unpack() error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		file := r.file(name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	})
}

// Peers unpacks the programs of peers and returns their folder.
func (r *Runner) Peers() (string, error) { return r.file("peers"), r.unpack() }

func (r *Runner) file(name string) string { return filepath.Join(r.Root, filepath.FromSlash(name)) }

// variables are the options -v of a script.
func variables(data string, v Values, more ...string) []string {
	args := []string{"-q", "-v", "data=" + data, "-v", "cora=" + os.Getenv("RELGRAD_DATA")}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		args = append(args, "-v", name+"="+number(v[name]))
	}
	for _, m := range more {
		args = append(args, "-v", m)
	}
	return args
}

// store returns the store with a workload's data. It makes it if it is absent or was made by another relgrad.
func (r *Runner) store(ctx context.Context, w *Workload, data string, v Values) (string, error) {
	hash := sha256.New()
	f, err := os.Open(r.Relgrad)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	scripts, err := fs.Glob(files, "workloads/*.data.sql")
	if err != nil {
		return "", err
	}
	for _, name := range scripts {
		text, _ := files.ReadFile(name)
		hash.Write(text)
	}
	store := filepath.Join(data, fmt.Sprintf("%s-%x.db", w.Load, hash.Sum(nil)[:6]))
	if _, err := os.Stat(store); err == nil {
		return store, nil
	}
	old, err := filepath.Glob(filepath.Join(data, w.Load+"-*.db*"))
	if err != nil {
		return "", err
	}
	for _, o := range old {
		if err := os.Remove(o); err != nil {
			return "", err
		}
	}
	begin := time.Now()
	_, peak, err := r.relgrad(ctx,
		append(variables(data, v), "--store", store+".part", r.file("workloads/"+w.Load+".data.sql"))...)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(r.Log, "%s: loaded in %s, peak memory %s\n", w.Name, Seconds(time.Since(begin).Seconds()), gigabytes(peak))
	return store, os.Rename(store+".part", store)
}

// relgrad runs the command `run` and returns its output and its peak memory in bytes.
func (r *Runner) relgrad(ctx context.Context, args ...string) (out string, peak int64, err error) {
	fmt.Fprintf(r.Log, "relgrad run '%s'\n", strings.Join(args, "' '"))
	return execute(command(ctx, r.Relgrad, append([]string{"run"}, args...)...))
}

// command is a program that an interrupt asks to end, with its children.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, 10*time.Second
	return cmd
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// execute runs a program. The peak is read while the process lives, since the system's figure for an ended process
// includes what its parent held before exec.
func execute(cmd *exec.Cmd) (out string, peak int64, err error) {
	var text, errors strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &errors
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return "", 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text.String()+errors.String())
			}
			return text.String(), peak, nil
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			peak = max(peak, peakOf(status))
		}
	}
}

// peakOf finds the peak memory in bytes in the system's status of a process.
func peakOf(status []byte) int64 {
	m := highWater.FindSubmatch(status)
	if m == nil {
		return 0
	}
	kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kb << 10
}

// Limit ends a run: after so many steps, or after the step in which so many seconds have passed. Memory is relgrad's
// budget.
type Limit struct {
	Steps   int
	Seconds float64
	Memory  int64 // bytes; 0: no budget
}

// Ours runs relgrad on a workload.
func (r *Runner) Ours(ctx context.Context, w *Workload, v Values, limit Limit) (*Run, error) {
	data, err := w.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	store, err := r.store(ctx, w, data, v)
	if err != nil {
		return nil, err
	}
	args := variables(data, v, fmt.Sprintf("epochs=%d", limit.Steps))
	args = append(args, "--store", store, "--format", "csv", "-c", `\timing on`, r.file("workloads/"+w.Script+".sql"))
	if limit.Memory > 0 {
		args = append(args, "--memory", fmt.Sprintf("%dkB", limit.Memory>>10))
	}
	if w.Query == "" {
		return r.training(ctx, store, args, limit)
	}
	return r.queries(ctx, w.Query, args, limit)
}

var timed = regexp.MustCompile(`(?m)^Time: ([0-9.]+) ms`)

// times are the seconds that a script's statements took, as printed.
func times(out string) (all []float64) {
	for _, m := range timed.FindAllStringSubmatch(out, -1) {
		ms, _ := strconv.ParseFloat(m[1], 64)
		all = append(all, ms/1e3)
	}
	return all
}

// queries runs the query repeatedly in one session. The first run includes planning and reading.
func (r *Runner) queries(ctx context.Context, query string, args []string, limit Limit) (*Run, error) {
	n := min(limit.Steps, 1+max(2, int(limit.Seconds/2)))
	for range n {
		args = append(args, "-c", query)
	}
	out, peak, err := r.relgrad(ctx, args...)
	if err != nil {
		return nil, err
	}
	run := &Run{Peak: peak, Steps: times(out)}
	if len(run.Steps) < n {
		return nil, fmt.Errorf("only %d times in\n%s", len(run.Steps), out)
	}
	run.Steps = run.Steps[len(run.Steps)-n:]
	for line := range strings.Lines(out) {
		if x, err := strconv.ParseFloat(strings.TrimSpace(line), 64); err == nil {
			run.Loss = append(run.Loss, x)
		}
	}
	if n > 1 {
		run.Setup, run.Steps = max(run.Steps[0]-Median(run.Steps[1:]), 0), run.Steps[1:]
	}
	return run, nil
}

// training runs the script, whose last statement is the call of train, and reads the records of the steps: the time at
// which each ended, and its loss. If the first step exceeds the time, a second one runs.
func (r *Runner) training(ctx context.Context, store string, args []string, limit Limit) (*Run, error) {
	out, peak, err := r.relgrad(ctx, append([]string{"-v", fmt.Sprintf("seconds=%g", limit.Seconds)}, args...)...)
	if err != nil {
		return nil, err
	}
	statements := times(out)
	text, _, err := r.relgrad(ctx, "-q", "--store", store, "--format", "csv", "-c",
		"SELECT loss, extract(epoch FROM at) AS at FROM relgrad.loss WHERE run = (SELECT max(run) "+
			"FROM relgrad.run) ORDER BY step")
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err == nil && len(rows) == 2 && limit.Seconds < 1000 {
		return r.training(ctx, store, args, Limit{limit.Steps, 5 * limit.Seconds, limit.Memory})
	}
	if err != nil || len(rows) < 3 || len(statements) == 0 {
		return nil, fmt.Errorf("fewer than two steps, or no times, in\n%s%s (%v)", out, text, err)
	}
	run := &Run{Peak: peak, Setup: statements[len(statements)-1]}
	last := 0.0
	for i, row := range rows[1:] {
		loss, err1 := strconv.ParseFloat(row[0], 64)
		at, err2 := strconv.ParseFloat(row[1], 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("a row of relgrad.loss: %v", row)
		}
		if run.Loss = append(run.Loss, loss); i > 0 {
			run.Steps = append(run.Steps, at-last)
			run.Setup -= at - last
		}
		last = at
	}
	return run, nil
}
