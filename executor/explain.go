package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/blas"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// Explain prints the physical plan: the structure and when it is built, the instructions with their rows and estimated
// operations and bytes, and the memory; of several sites one after the other.
func (p *Program) Explain() string {
	if len(p.sites) == 1 && p.leads == nil {
		return p.sites[0].explain()
	}
	var b strings.Builder
	if err := p.explainExchanges(&b); err != nil {
		fmt.Fprintf(&b, "the exchanges are not known: %v\n", err)
	}
	for _, s := range p.sites {
		fmt.Fprintf(&b, "site %d holds %s; %s", s.number, values.Size(float64(s.holds())), s.explain())
	}
	return b.String()
}

func (p *site) explain() string {
	var b strings.Builder
	if d, ok := p.device.(device.Described); ok {
		fmt.Fprintf(&b, "executor: %s; not there: %s\n", d.Describe(), strings.Join(lacks(p), ", "))
	} else {
		fmt.Fprintf(&b, "executor: %d workers, loops %s, blas %s\n", p.opt.Workers, cpu.Name(), blas.Name())
	}
	st := p.run
	if p.steps && p.step != nil {
		st = p.step
	}
	if st == nil {
		return b.String() + "not compiled\n"
	}
	p.explainStructure(&b, st)
	var steps []*device.Instr
	if p.sched != nil {
		steps = p.sched.Steps
	} else {
		b.WriteString("the value program is made at each step\n")
	}
	if p.limit != (limits{}) {
		fmt.Fprintf(&b, "limits: %.3g Gflop/s, %.3g GB/s read\n", p.limit.flops/1e9, p.limit.bytes/1e9)
	}
	p.explainOnce(&b)
	if took := median(p.made); took > 0 {
		fmt.Fprintf(&b, "structure of a step: %.3g ms\n", took.Seconds()*1e3)
	}
	p.explainInstrs(&b, "each step", steps, p.sched.Took)
	if p.sched != nil {
		explainElsewhere(&b, p)
		kept := 0
		for _, v := range p.owned {
			if !v.Data.Buffer().Spilled() {
				kept += len(v.Data.Buffer().Bytes())
			}
		}
		fmt.Fprintf(&b, "memory: %s per step, %s kept, %s scratch per worker\n", values.Size(float64(p.sched.Bytes)),
			values.Size(float64(kept)), values.Size(float64(max(p.sched.Tmp, p.onceTmp))))
		p.explainSpilled(&b)
	}
	return b.String()
}

// lacks lists the forms that the device does not have, by name.
func lacks(p *site) (out []string) {
	for _, f := range forms.Forms {
		if s, ok := p.device.(device.Selective); ok && !s.Has(f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// explainElsewhere lists the instructions of a step that the device has no kernel for.
func explainElsewhere(b *strings.Builder, p *site) {
	if _, ok := p.device.(device.Described); !ok {
		return
	}
	if err := ready(p); err != nil {
		fmt.Fprintf(b, "it cannot run: %v\n", err)
	}
	part, ok := p.sched.Code.(device.Partial)
	if !ok {
		return
	}
	for _, what := range part.Elsewhere() {
		fmt.Fprintf(b, "no kernel of the device: %s\n", what)
	}
}

// explainSpilled lists what lies in files.
func (p *site) explainSpilled(b *strings.Builder) {
	if !p.spills() {
		return
	}
	s := p.spilled()
	fmt.Fprintf(b, "spilled: the plan needs %s, the budget is %s; in files in %s, of which %s may be resident:\n",
		values.Size(float64(s.Needs)), values.Size(float64(s.Budget)), s.Dir, values.Size(float64(p.window())))
	for _, what := range append(p.ledger.listed[:len(p.ledger.listed):len(p.ledger.listed)], p.ledger.vals...) {
		fmt.Fprintf(b, "  %s\n", what)
	}
}

// explainOnce prints what is computed once.
func (p *site) explainOnce(b *strings.Builder) {
	var once []*device.Instr
	for _, in := range p.once {
		if !in.V.Structural {
			once = append(once, in)
		}
	}
	if once == nil && p.onceText != "" {
		b.WriteString(p.onceText)
		return
	}
	p.explainInstrs(b, "once per run", once, func(i int) []time.Duration { return p.took[once[i]] })
}

func (p *site) explainStructure(b *strings.Builder, st *stage) {
	b.WriteString("structure:\n")
	ra.Walk(func(n *ra.Node) {
		when := "per run"
		if p.flow.Structure[n] {
			when = "per step"
		}
		name := n.Label
		if n.Table != nil {
			name = n.Table.Name
		}
		rows := "?"
		for s := st; s != nil; s = s.parent {
			if r := s.Rels[n]; r != nil {
				rows = fmt.Sprintf("%d rows (space %d)", r.Space.N, r.Space.ID)
				break
			}
		}
		rows += st.GridText(n)
		fmt.Fprintf(b, "  %-9s %-12s %s, %s\n", n.Op, name, rows, when)
	}, p.plan.Nodes()...)
}

func (p *site) explainInstrs(b *strings.Builder, title string, ins []*device.Instr,
	took func(i int) []time.Duration) {
	fmt.Fprintf(b, "%s:\n", title)
	n, flops, bytes, all := 0, 0.0, 0.0, time.Duration(0)
	for i, in := range ins {
		if d, ok := in.Form.(*device.Distributed); ok {
			fmt.Fprintf(b, "  %s by parts over %d rows, without %s  [%s, %s]\n", d.Names(), in.Rows, d.R.Text(true, 0),
				values.Count(in.Flops), values.Size(in.Bytes))
		} else if f, ok := in.Form.(*device.Fused); ok {
			fmt.Fprintf(b, "  %sone pass over %d rows  [%s, %s]\n", in.Otherwise(), in.Rows, values.Count(in.Flops),
				values.Size(in.Bytes))
			for _, m := range f.Members {
				fmt.Fprintf(b, "    %s: %s\n", m.V.Made(m.How), m.V.Body())
			}
		} else {
			fmt.Fprintf(b, "  %s%s over %d rows: %s  [%s, %s]\n", in.Otherwise(), in.V.Made(in.How), in.Rows, in.Expr(),
				values.Count(in.Flops), values.Size(in.Bytes))
			for _, u := range in.Besides {
				fmt.Fprintf(b, "    and %s: %s\n", u.Made("of its rows"), u.Body())
			}
		}
		if all += analyzed(in, b, took(i), p.limit); in.Unless == nil || median(took(i)) > 0 {
			flops += in.Flops
			bytes += in.Bytes
			n++
		}
	}
	fmt.Fprintf(b, "  total %d instructions, %s, %s moved", n, values.Count(flops), values.Size(bytes))
	if all > 0 {
		fmt.Fprintf(b, ", %.3g ms", all.Seconds()*1e3)
	}
	b.WriteString("\n")
}

// Work is what the instructions of a step do, by the estimates of Explain.
type Work struct {
	Flops   float64  // operations
	Bytes   float64  // read and written
	Instrs  int      // instructions
	Holds   int64    // bytes of tables, structure and values
	Gathers []Gather // the sums of weighted rows among them
}

// Gather is a sum of weighted rows of a table into groups, which reads Rows rows of Width bytes each at the places that
// a column names.
type Gather struct {
	Rows, Groups int
	Table        int // rows of the table that is read
	Width        int // bytes
}

// Work is the work of the last step, at all sites. Where a step has rows of its own, there is none before the first
// Run.
func (p *Program) Work() (w Work) {
	for _, s := range p.sites {
		s.addWork(&w)
	}
	return w
}

func (p *site) addWork(w *Work) {
	if p.sched == nil {
		return
	}
	w.Holds += p.holds()
	for i, in := range p.sched.Steps {
		if !p.sched.Needed(i) {
			continue
		}
		w.Instrs++
		w.Flops += in.Flops
		w.Bytes += in.Bytes
		var rows []device.Source
		switch s := in.Form.(type) {
		case *device.SpMM:
			rows = s.X
		case *device.SpMMBlocks:
			rows = []device.Source{s.X}
		}
		for _, x := range rows {
			if x.Idx != nil {
				d := x.V.Data
				w.Gathers = append(w.Gathers,
					Gather{Rows: in.Rows, Groups: in.Grp.Out.N, Table: d.Len(), Width: d.Size() * d.Kind().Bytes()})
			}
		}
	}
}

// Analyze times the instructions for Explain: it runs the plan once for warming up, then the given number of steps. The
// parameters do not change meanwhile. Where a step has rows of its own, the structure of each step is timed too, and
// the instructions are those of the last step.
func (p *Program) Analyze(ctx context.Context, env kernels.Env, steps int) error {
	for _, s := range p.sites {
		s.timed, s.made = true, nil
		defer func() { s.timed = false }()
	}
	for range steps + 1 {
		if err := p.Run(ctx, env); err != nil {
			return err
		}
		env.Step++
	}
	for _, s := range p.sites {
		var err error
		if s.limit, err = measureLimits(ctx, s.opt.Workers, 5, 0); err != nil {
			return err
		}
	}
	return nil
}

// Simulate replays a step of the plan from which a program of several sites was made, at sites of such limits, with the
// rows that each site has: those of the last step.
func (p *Program) Simulate(plan *physical.Plan, on physical.Cluster) (_ *physical.Simulation, err error) {
	defer guard(&err)
	return physical.Simulate(plan, present{p}, physical.Costs{Cluster: on})
}
