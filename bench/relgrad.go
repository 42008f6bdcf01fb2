package bench

import (
	"bytes"
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
	"time"
)

//go:embed workloads
var scripts embed.FS

// Runner runs workloads by a relgrad command, as a user does: one process loads the data into a store, another opens it.
type Runner struct {
	Relgrad string // the command
	Root    string // the folder for data and stores
	Log     io.Writer
}

// Run is what one run of a program took.
type Run struct {
	Steps []float64 // seconds
	Setup float64   // seconds from the call to the end of the first step, less a step
	Loss  []float64 // after each step
	Peak  int64     // bytes
}

// prepare makes data and store of a workload where they are absent.
func (r *Runner) prepare(ctx context.Context, w *Workload, size map[string]int) (data, store string, err error) {
	if data, err = w.folder(r.Root, size); err != nil {
		return "", "", err
	}
	hash := sha256.New()
	f, err := os.Open(r.Relgrad)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	if _, err := io.Copy(hash, f); err != nil {
		return "", "", err
	}
	script := r.script(w.Load + ".data.sql")
	text, err := os.ReadFile(script)
	if err != nil {
		return "", "", err
	}
	hash.Write(text)
	store = filepath.Join(data, fmt.Sprintf("%s-%x.db", w.Load, hash.Sum(nil)[:6]))
	if _, err := os.Stat(store); err == nil {
		return data, store, nil
	}
	if old, err := filepath.Glob(filepath.Join(data, w.Load+"-*.db*")); err == nil {
		for _, o := range old {
			os.Remove(o)
		}
	}
	begin := time.Now()
	_, peak, err := r.relgrad(ctx, "-q", "--store", store+".part", "-v", "data="+data, script)
	if err != nil {
		return "", "", err
	}
	fmt.Fprintf(r.Log, "%s: loaded in %s, peak %s\n", w.Name, Seconds(time.Since(begin).Seconds()), gigabytes(peak))
	return data, store, os.Rename(store+".part", store)
}

// script is the path of an embedded script.
func (r *Runner) script(name string) string { return filepath.Join(r.Root, "workloads", name) }

// unpack writes the scripts, so that the command can read them.
func (r *Runner) unpack() error {
	return fs.WalkDir(scripts, "workloads", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scripts.ReadFile(name)
		if err != nil {
			return err
		}
		file := filepath.Join(r.Root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	})
}

// relgrad runs the command `run` and gives what it printed and its peak memory in bytes.
func (r *Runner) relgrad(ctx context.Context, args ...string) (out string, peak int64, err error) {
	return execute(exec.CommandContext(ctx, r.Relgrad, append([]string{"run"}, args...)...))
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// execute runs a program. The system's own figure for an ended process counts what its parent held before exec, so the
// peak is read while the process lives; it only grows.
func execute(cmd *exec.Cmd) (out string, peak int64, err error) {
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
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
				return "", 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text.String())
			}
			return text.String(), peak, nil
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if m := highWater.FindSubmatch(status); m != nil {
				kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
				peak = max(peak, kb<<10)
			}
		}
	}
}

func gigabytes(n int64) string { return fmt.Sprintf("%.2f GB", float64(n)/1e9) }

var timed = regexp.MustCompile(`Time: ([0-9.]+) ms`)

// Relgrad runs a workload's script for so many epochs, or until so many seconds have passed.
func (r *Runner) Run(ctx context.Context, w *Workload, size map[string]int, epochs int, seconds float64) (*Run, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	data, store, err := r.prepare(ctx, w, size)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{"data": data, "epochs": strconv.Itoa(epochs), "seconds": fmt.Sprint(seconds)}
	for name, n := range size {
		vars[name] = strconv.Itoa(n)
	}
	maps.Copy(vars, w.Vars)
	args := []string{"-q", "--store", store}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		args = append(args, "-v", name+"="+vars[name])
	}
	args = append(args, "-c", `\timing on`, r.script(w.Script+".sql"))
	if w.Query != "" {
		for range epochs {
			args = append(args, "-c", w.Query)
		}
	}
	fmt.Fprintf(r.Log, "relgrad run %s\n", strings.Join(args, " "))
	out, peak, err := r.relgrad(ctx, args...)
	if err != nil {
		return nil, err
	}
	run := &Run{Peak: peak}
	if w.Query != "" {
		return run, run.statements(out, epochs)
	}
	return run, r.training(ctx, run, store, out)
}

// statements reads the times of the last n statements.
func (run *Run) statements(out string, n int) error {
	all := timed.FindAllStringSubmatch(out, -1)
	if len(all) < n {
		return fmt.Errorf("only %d times in\n%s", len(all), out)
	}
	for _, m := range all[len(all)-n:] {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return err
		}
		run.Steps = append(run.Steps, ms/1e3)
	}
	run.Setup, run.Steps = run.Steps[0], run.Steps[1:]
	return nil
}

// training reads what train recorded: when each step ended, and its loss. The call is the script's last statement.
func (r *Runner) training(ctx context.Context, run *Run, store, out string) error {
	all := timed.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return fmt.Errorf("no times in\n%s", out)
	}
	call, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		return err
	}
	text, _, err := r.relgrad(ctx, "-q", "--store", store, "--format", "csv", "-c",
		"SELECT loss, extract(epoch FROM at) AS at FROM relgrad.loss WHERE run = (SELECT max(run) FROM relgrad.run) ORDER BY step")
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 3 {
		return fmt.Errorf("fewer than two steps: %s (%v)", text, err)
	}
	last := 0.0
	for i, row := range rows[1:] {
		loss, err1 := strconv.ParseFloat(row[0], 64)
		at, err2 := strconv.ParseFloat(row[1], 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("a row of relgrad.loss: %v", row)
		}
		if run.Loss = append(run.Loss, loss); i > 0 {
			run.Steps = append(run.Steps, at-last)
		}
		last = at
	}
	steps := 0.0
	for _, s := range run.Steps {
		steps += s
	}
	run.Setup = call/1e3 - steps - Median(run.Steps)
	return nil
}
