package bench

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// repeatedSteps are the steps of a training that is repeated.
const repeatedSteps = 10

// repeatedSize are the numbers of a training that is repeated: some batches, all that is drawn.
func repeatedSize(n Number) float64 {
	if n.Name == "triples" {
		return 5000
	}
	return AtSitesSize(n)
}

// Repeated holds the hashes of losses and parameters of trainings that were repeated.
type Repeated struct {
	*OnCard
	Hashes []string
	Failed string
}

// Repeat trains a workload so many times on the first graphics processor, each time in a process of its own, with what
// a step draws, and hashes the bits of all losses and parameters.
func Repeat(ctx context.Context, r *Runner, w *OnCard, times int, o CardOptions) (*Repeated, error) {
	out := &Repeated{OnCard: w}
	if err := r.unpack(); err != nil {
		return nil, err
	}
	v := w.values(repeatedSize)
	if o.Quick {
		v = w.values(small)
	}
	t, err := prepared(ctx, r, w, v, "cuda")
	if err != nil {
		return nil, err
	}
	tables, _, err := trained(w.Workload)
	if err != nil {
		return nil, err
	}
	args := append(variables(t.data, v, fmt.Sprintf("epochs=%d", repeatedSteps), "seconds=100000"), "--store", t.store,
		"--format", "csv", "-c", "SET relgrad.device = 'cuda'", r.file("workloads/"+w.Script+".sql"), "-c",
		"SELECT step, loss FROM relgrad.loss WHERE run = (SELECT max(run) FROM relgrad.run) ORDER BY step")
	for _, name := range tables {
		args = append(args, "-c", "SELECT * FROM "+name+" ORDER BY 1")
	}
	for range times {
		text, _, err := r.relgrad(ctx, args...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out.Failed = reason(err)
			return out, nil
		}
		out.Hashes = append(out.Hashes, fmt.Sprintf("%x of %d bytes", sha256.Sum256([]byte(text)), len(text)))
	}
	return out, nil
}

// Missed tells which training had other bits than the first.
func (x *Repeated) Missed() []string {
	if x.Failed != "" {
		return []string{x.Name + ": " + x.Failed}
	}
	for i, h := range x.Hashes {
		if h != x.Hashes[0] {
			return []string{fmt.Sprintf("%s: training %d has other bits than the first: %s, not %s", x.Name, i+1, h,
				x.Hashes[0])}
		}
	}
	return nil
}

func (x *Repeated) String() string {
	if missed := x.Missed(); missed != nil {
		return missed[0]
	}
	return fmt.Sprintf("%s: %d trainings have the same bits: %s", x.Name, len(x.Hashes), x.Hashes[0])
}
