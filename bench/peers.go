package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrMissing is wrapped by a peer's error if something that it needs is not installed.
var ErrMissing = errors.New("missing")

// RunPeer runs a peer on a workload.
func RunPeer(ctx context.Context, r *Runner, w *Workload, p Peer, v Values, limit Limit) (*Run, error) {
	data, err := w.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	var args []string
	if filepath.Ext(p.Program) == ".c" {
		args, err = compiledPeer(ctx, r, p, v, limit)
	} else {
		args, err = pythonPeer(r, p, data, v, limit)
	}
	if err != nil {
		return nil, err
	}
	cores, threads := runtime.NumCPU(), runtime.NumCPU()
	if p.MPI {
		mpirun, err := exec.LookPath("mpirun")
		if err != nil {
			return nil, fmt.Errorf("%w: mpirun", ErrMissing)
		}
		args, threads = append([]string{mpirun, "--bind-to", "none", "--oversubscribe", "-n", fmt.Sprint(cores)}, args...), 1
	}
	cmd := command(ctx, args[0], args[1:]...)
	blas := threads
	if p.Threads {
		blas = 1
	}
	cmd.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", threads),
		fmt.Sprintf("OPENBLAS_NUM_THREADS=%d", blas), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	fmt.Fprintf(r.Log, "%s\n", strings.Join(args, " "))
	out, _, err := execute(cmd)
	if err != nil {
		if strings.Contains(err.Error(), "ModuleNotFoundError") {
			return nil, fmt.Errorf("%w: a library of %s", ErrMissing, p.Program)
		}
		return nil, err
	}
	run := &Run{}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), run); err != nil || len(run.Steps) < 2 {
		return nil, fmt.Errorf("%s printed no report but\n%s (%v)", p.Program, out, err)
	}
	return run, nil
}

// pythonPeer is the command line of a Python program.
func pythonPeer(r *Runner, p Peer, data string, v Values, limit Limit) ([]string, error) {
	if _, err := os.Stat(r.Python); err != nil {
		return nil, fmt.Errorf("%w: no %s; scripts/bench-setup makes it", ErrMissing, r.Python)
	}
	args := []string{r.Python, r.file("peers/" + p.Program), p.Form, data, fmt.Sprint(limit.Steps),
		fmt.Sprint(limit.Seconds)}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		args = append(args, name+"="+number(v[name]))
	}
	if p.Fixed != "" {
		args = append(args, p.Fixed)
	}
	return args, nil
}

// compiledPeer compiles the ScaLAPACK program and returns its command line.
func compiledPeer(ctx context.Context, r *Runner, p Peer, v Values, limit Limit) ([]string, error) {
	mpicc, err := exec.LookPath("mpicc")
	if err != nil {
		return nil, fmt.Errorf("%w: mpicc", ErrMissing)
	}
	program := filepath.Join(r.Root, strings.TrimSuffix(p.Program, ".c"))
	var why error
	for _, library := range []string{"scalapack-openmpi", "scalapack-mpich", "scalapack"} {
		if _, _, why = execute(command(ctx, mpicc, "-O2", "-o", program, r.file("peers/"+p.Program),
			"-l"+library)); why == nil {
			break
		}
	}
	if why != nil {
		return nil, fmt.Errorf("%w: no ScaLAPACK", ErrMissing)
	}
	n, chain := v["n"], "0"
	k, l := n, n
	if p.Fixed != "" {
		chain = "1"
	}
	if n == 10*v["block"] { // the skewed chain has blocks of a tenth
		k, l = n/10, 10*n
	}
	return []string{program, number(n), number(k), number(l), chain, fmt.Sprint(limit.Steps), fmt.Sprint(limit.Seconds)},
		nil
}
