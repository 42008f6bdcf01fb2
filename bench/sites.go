package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/train"
)

// SiteCounts are the numbers of sites that are measured beside one site.
var SiteCounts = []int{2, 4, 8, 16}

// SiteRun is a workload run in this process at some sites.
type SiteRun struct {
	Sites     int
	Steps     []float64 // seconds, without the first step
	Exchanges []executor.Exchanged
	Holds     []int64   // bytes, of each site
	Loss      []float64 // of each step, or the results of the query
	Compared  int       // exchanges whose bytes were compared, over all steps
	Predicted float64   // seconds of a step, by the limits for which plans of a process are made
	Simulated float64   // seconds of a step, by measured limits and the rows that there are; 0: nothing was simulated
	Unequal   string    // the first exchange that has moved other bytes than predicted; "": none
}

// Largest is the memory of the site that holds most, in bytes.
func (s *SiteRun) Largest() int64 { return slices.Max(s.Holds) }

// compare looks whether each exchange has moved in a step what was predicted for it.
func (s *SiteRun) compare(step int) {
	for _, x := range s.Exchanges {
		if s.Compared++; x.Predicted != x.Moved && s.Unequal == "" {
			s.Unequal = fmt.Sprintf("step %d: %v of %s moves %d bytes, not %d", step, x.Node,
				strings.Join(x.Columns, ", "), x.Moved, x.Predicted)
		}
	}
}

// sited is the measurement of a run while it runs.
type sited struct {
	SiteRun
	limit   Limit
	program *executor.Program
	placed  *physical.Choice
	limits  *physical.Cluster
	last    time.Time
	sum     float64
	count   int
	err     error
}

// ended notes a step that has just ended, and reports whether there are enough.
func (s *sited) ended(loss float64) bool {
	if took := time.Since(s.last).Seconds(); s.count > 0 { // the first step computes more
		s.Steps, s.sum = append(s.Steps, took), s.sum+took
	}
	s.count, s.Loss = s.count+1, append(s.Loss, loss)
	if s.Exchanges, s.err = s.program.Exchanges(); s.err != nil {
		return true
	}
	s.compare(s.count)
	s.Holds = s.program.HoldsAt()
	s.last = time.Now()
	over := s.count > s.limit.Steps || len(s.Steps) > 1 && s.sum >= s.limit.Seconds
	if over && s.placed != nil && s.limits != nil {
		s.err = s.replay()
	}
	return over
}

// replay simulates a step by the limits of the sites and the rows that the last step had.
func (s *sited) replay() error {
	replayed, err := s.program.Simulate(s.placed.Plan, *s.limits)
	if err == nil {
		s.Simulated = replayed.Seconds
	}
	return err
}

// query runs the program of a query, which is taken as a loss, until there are enough runs.
func (s *sited) query(ctx context.Context) {
	for over := false; !over && s.err == nil; {
		if s.err = s.program.Run(ctx, kernels.Env{}); s.err != nil {
			return
		}
		x, _, err := s.program.Scalar(0)
		over, s.err = s.ended(x), errors.Join(s.err, err)
	}
}

// AtSites runs a workload at so many sites of this process, and compares in each step the bytes that every exchange
// moves with those that are predicted for it. A workload that does not train computes its query and the gradients with
// respect to the matrices a and b. If limits of the sites are given, a step is simulated. prepare may change the
// session.
func AtSites(ctx context.Context, r *Runner, w *Workload, v Values, sites int, limit Limit, limits *physical.Cluster,
	prepare func(*relgrad.DB)) (*SiteRun, error) {
	data, err := w.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	store, err := r.store(ctx, w, data, v)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{"data": data, "cora": os.Getenv("RELGRAD_DATA"), "epochs": "1000000", "seconds": "100000"}
	for name, x := range v {
		vars[name] = number(x)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	s, over := &sited{limit: limit, limits: limits, SiteRun: SiteRun{Sites: sites}}, false
	err = runOn(inner, store, vars, func(db *relgrad.DB) {
		if db.Engine.Sites = sites; prepare != nil {
			prepare(db)
		}
		db.OnCompiled = func(c relgrad.Compilation) {
			if s.placed = c.Placed; s.placed != nil {
				s.Predicted = float64(c.Placed.Cost) / 1e12
			}
			if s.program, s.last = c.Program, time.Now(); w.Query != "" {
				s.query(inner)
				over = true
				stop()
			}
		}
		db.OnStep = func(row train.LossRow, _ int64) {
			if over = over || s.ended(row.Loss); over {
				stop()
			}
		}
	}, func(p *psql.Runner) error {
		err := p.RunFile(inner, r.file("workloads/"+w.Script+".sql"))
		if err == nil && w.Query != "" {
			text := fmt.Sprintf("SELECT backward('%s', ARRAY['a', 'b']);\n", w.Query)
			err = p.RunReader(inner, "", strings.NewReader(text))
		}
		return err
	})
	switch {
	case s.err != nil:
		return nil, s.err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !over:
		return nil, err
	case s.count < 2:
		return nil, sqlerr.New(sqlerr.Internal, "%s at %d sites has ended after %d steps", w.Name, sites, s.count)
	}
	return &s.SiteRun, nil
}
