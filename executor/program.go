package executor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/internal/encoded"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// Options are the executor's settings.
type Options struct {
	Workers int  // goroutines, of all sites; 0: cpu.Processors. Results do not depend on it
	Force64 bool // real is computed, kept and returned as double precision: for gradient checks
	// Memory is the budget in bytes for what the program holds, 0: none. Of several sites each has an equal part of it.
	// What does not fit lies in files in SpillDir.
	Memory   int64
	SpillDir string
	Taken    int64 // bytes of the budget that other programs hold
	Batch    int64 // bytes of the budget that rows of steps take in the memory of the source, at most
	// Beside is how many numbers training keeps for each number of a parameter, such as the state of an optimizer.
	Beside int
	// Spills is called once, before the first values are computed, if something lies in files.
	Spills func(Spilled)
	// MaySpill may refuse more bytes in files than tensor.SpilledBytes; nil: only the disk limits them.
	MaySpill func(bytes int64) error
	Env      kernels.Env // the seed and step with which the run's structure is built
	Many     bool        // it will run many times: what only the first run reads is freed
	// Residuals turns sums by parts off (forms/distribute.go), which otherwise replace sums over a residual where they
	// cost less. Tests compare both.
	Residuals bool
	Bind      Binding         // of the workers of several sites
	Tuning    *tuning.Sizes   // of the device; nil: tuning.Default
	Devices   []device.Device // of each site; the caller closes them; nil: the processors

	// Whole refuses a program of which a step has instructions that its device has no kernel for.
	Whole bool

	forms []*forms.Form // nil: all, in the order of their names
	sites int           // that share the memory; 0: one
}

// Binding says whether each of several sites has processors of its own, to which its workers are bound.
type Binding int

const (
	BindNodes Binding = iota // where the machine has several memory nodes
	Bind
	BindNever
)

// processors are those of each site; nil: any.
func (b Binding) processors(sites int) []cpu.Set {
	nodes := cpu.Nodes()
	if b == BindNever || b == BindNodes && len(nodes) < 2 || nodes == nil {
		return make([]cpu.Set, sites)
	}
	return cpu.Split(nodes, sites)
}

// Program is a compiled plan, at one site or at several. It is for one goroutine at a time.
type Program struct {
	sites   []*site
	roots   []ra.Root
	source  *spreadSource   // nil: there is one site
	network *device.Network // nil: there is one site

	leads     Conductor // of sites of other processes; nil: this one leads none
	exchanges bool      // between these and this one, in each step
	settled   bool      // there are none, and a run has had them send all that they ever do

	env     kernels.Env
	params  []*Param      // of several sites
	spills  func(Spilled) // tells once that something lies in files; nil: nobody asks, or it has been told
	broken  bool          // a run has failed: some sites have computed what is computed once, others have not
	halfway error         // why nothing runs any more: see stop
}

// Compile builds the structure of the run and the value program, for one site. src is read until Close.
func Compile(ctx context.Context, plan *ra.Plan, src ra.Source, opt Options) (*Program, error) {
	p := &Program{roots: plan.Roots}
	var d device.Device
	if len(opt.Devices) > 0 {
		d = opt.Devices[0]
	}
	s := newSite(plan, src, opt, d)
	for i := range plan.Roots {
		s.whole = append(s.whole, i)
	}
	p.sites = []*site{s}
	return p.compiled(ctx, opt)
}

// CompileSites is Compile for a plan of several sites. Each has a program of its own, and its part of the workers and
// of the memory.
func CompileSites(ctx context.Context, plan *physical.Plan, src ra.Source, opt Options) (_ *Program, err error) {
	defer guard(&err)
	p := &Program{roots: plan.Logical().Roots, network: device.NewNetwork(plan.Sites), spills: opt.Spills}
	if p.source, err = newSpread(src, plan); err != nil {
		return nil, err
	}
	if asked, mu := opt.MaySpill, (sync.Mutex{}); asked != nil {
		opt.MaySpill = func(bytes int64) error {
			mu.Lock()
			defer mu.Unlock()
			return asked(bytes)
		}
	}
	f := cut(plan)
	for _, bytes := range []*int64{&opt.Memory, &opt.Taken, &opt.Batch} {
		*bytes /= int64(plan.Sites)
	}
	all := opt.Workers
	if all <= 0 {
		all = cpu.Processors()
	}
	on := opt.Bind.processors(plan.Sites)
	for n := range plan.Sites {
		own, whole, b := f.site(n)
		o := opt
		o.Workers, o.Spills, o.sites = max(1, (all+plan.Sites-1-n)/plan.Sites), nil, plan.Sites
		var d device.Device
		if n < len(opt.Devices) {
			d = opt.Devices[n]
		}
		s := newSite(own, &siteSource{p.source, n}, o, d)
		if d == nil {
			s.host.Apart(n, on[n], p.network.Stay())
		}
		s.number, s.whole, s.links, s.received, s.nodes = n, whole, f.links, b.received, b.done
		s.port = p.network.Port(n)
		s.device.Join(s.port)
		p.sites = append(p.sites, s)
	}
	for _, s := range p.sites {
		s.sites, s.peers, s.stay = plan.Sites, p.sites, p.network.Stay()
	}
	return p.compiled(ctx, opt)
}

// compiled builds structure and schedules.
func (p *Program) compiled(ctx context.Context, opt Options) (_ *Program, err error) {
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	defer guard(&err)
	p.env = opt.Env
	steps := false
	for _, s := range p.sites {
		steps = steps || s.steps
		s.begin()
		steps = steps || s.steps
	}
	for _, s := range p.sites { // one that has a structure for each step asks the others for theirs
		s.steps = steps
	}
	if err := p.structure(ctx); err != nil {
		return nil, err
	}
	if err := p.each((*site).makeParams); err != nil {
		return nil, err
	}
	if err := p.ownParams(); err != nil {
		return nil, err
	}
	return p, nil
}

// each calls f for the sites, one after the other.
func (p *Program) each(f func(s *site) error) error {
	for _, s := range p.sites {
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// structure builds the run's structure, and the schedules too where no structure changes between steps.
func (p *Program) structure(ctx context.Context) error {
	for _, s := range p.sites {
		s.run = newStage(ctx, s, nil)
	}
	return p.build(ctx, func(s *site) error {
		if err := s.structure(); err != nil || s.steps {
			return err
		}
		return s.schedule(s.run)
	})
}

// build has all sites build structure at once: while a site builds its own, it waits for what others say of theirs.
func (p *Program) build(ctx context.Context, f func(s *site) error) error {
	err := p.together(ctx, func(ctx context.Context, s *site) error {
		s.within(ctx)
		return f(s)
	})
	if err == nil {
		for _, s := range p.sites {
			s.within(ctx)
		}
	}
	p.source.forget()
	return err
}

// Run evaluates the plan once. It rebuilds the structure that depends on the step, computes in the first run what
// depends on no parameter and no step, then runs the value program. A new seed rebuilds all.
func (p *Program) Run(ctx context.Context, env kernels.Env) (err error) {
	defer guard(&err)
	if p.halfway != nil {
		return p.halfway
	}
	if p.leads != nil {
		return p.lead(ctx, env)
	}
	return p.run(ctx, env)
}

// Conductor has the sites of other processes do what a program does.
type Conductor interface {
	// Do has them do a command, while f does it here. The replies are by site, nil of this one.
	Do(ctx context.Context, command []byte, f func(ctx context.Context) error) (replies [][]byte, err error)
	// Close ends what they have for the program.
	Close()
}

// Lead has the programs of the other sites run when p does: what c brings them is for their Obey. p has been compiled
// while they were, in a context that has ended; it goes on in ctx.
func (p *Program) Lead(ctx context.Context, c Conductor) {
	p.leads = c
	p.sites[0].within(ctx)
}

// Ended reports whether a run at sites of other processes has failed: they may be gone.
func (p *Program) Ended() bool { return p != nil && p.leads != nil && p.broken }

// order is what a program has those of other sites do.
type order struct {
	Env    kernels.Env
	Again  bool // the run before has failed
	Counts bool // nothing is run: the reply is a crossing
}

// lead is Run at all sites, or at this one where the others have no part in a step.
func (p *Program) lead(ctx context.Context, env kernels.Env) error {
	if p.settled && !p.broken && env.Seed == p.env.Seed {
		return p.run(ctx, env)
	}
	text, err := encoded.Append(nil, order{Env: env, Again: p.broken}, nil)
	if err != nil {
		return err
	}
	_, err = p.leads.Do(ctx, text, func(ctx context.Context) error { return p.run(ctx, env) })
	p.broken = err != nil
	p.settled = err == nil && !p.exchanges
	p.sites[0].within(ctx) // what is read of the run is found behind it
	return err
}

// Obey does what another site's program leads this one to.
func (p *Program) Obey(ctx context.Context, command []byte) (reply []byte, err error) {
	defer guard(&err)
	var o order
	if _, err := encoded.Read(command, &o, nil); err != nil {
		return nil, err
	}
	if o.Counts {
		c, err := crossed(p.sites[0])
		if err != nil {
			return nil, err
		}
		return encoded.Append(nil, c, nil)
	}
	p.broken = o.Again
	return nil, p.run(ctx, o.Env)
}

// run is Run at the sites of this process.
func (p *Program) run(ctx context.Context, env kernels.Env) (err error) {
	defer guard(&err)
	if err := p.enter(ctx, env); err != nil {
		return err
	}
	err = p.together(ctx, func(ctx context.Context, s *site) error { return s.values(ctx) })
	p.broken = err != nil && (len(p.sites) > 1 || p.sites[0].turns != nil)
	for _, s := range p.sites {
		s.ran = err == nil // at some the run may have ended before it failed at another
	}
	return err
}

// enter prepares a run.
func (p *Program) enter(ctx context.Context, env kernels.Env) error {
	for _, s := range p.sites {
		s.ran = false
		s.within(ctx) // what the structure still computes ends with this run
	}
	if err := p.enterStep(ctx, env); err != nil {
		return err
	}
	if p.spills != nil && slices.ContainsFunc(p.sites, func(s *site) bool { return s.ledger.told }) {
		p.spills(p.Spilled()) // of several sites
		p.spills = nil
	}
	if err := p.each((*site).name); err != nil {
		return err
	}
	for _, s := range p.sites {
		s.release(false)
	}
	return nil
}

// enterStep builds the structure of a step and lowers its values.
func (p *Program) enterStep(ctx context.Context, env kernels.Env) error {
	again := env.Seed != p.env.Seed || p.broken
	p.env = env
	for _, s := range p.sites {
		s.env = env
		if again {
			s.reset()
		}
	}
	if again {
		if err := p.structure(ctx); err != nil {
			p.broken = true
			return err
		}
		p.broken = false
	}
	if !p.PerStep() {
		return p.each(func(s *site) error {
			if s.sched == nil {
				return internal("Run after a failed Compile or Run")
			}
			return nil
		})
	}
	for _, s := range p.sites {
		s.enter(ctx)
	}
	return p.build(ctx, func(s *site) error {
		begin := time.Now()
		err := s.schedule(s.step)
		if s.timed {
			s.made = append(s.made, time.Since(begin))
		}
		return err
	})
}

// together runs f at all sites at once. Where it fails at one, it ends at all of them, with that site's error; of
// several, with the first site's.
func (p *Program) together(ctx context.Context, f func(ctx context.Context, s *site) error) error {
	if len(p.sites) == 1 {
		return f(ctx, p.sites[0])
	}
	p.network.Reset()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	failed, ended := make([]error, len(p.sites)), make([]*cpu.Flag, len(p.sites))
	for i, s := range slices.Backward(p.sites) { // the first one begins last, here where it is not bound
		ended[i] = cpu.NewFlag()
		begin := s.host.Go
		if i == 0 && !s.host.Bound() {
			begin = func(run func()) { run() }
		}
		begin(func() {
			defer ended[i].Raise()
			defer func() {
				if failed[i] != nil {
					cancel()
				}
			}()
			defer guard(&failed[i])
			failed[i] = f(inner, s)
		})
	}
	for _, e := range ended {
		e.Await(context.Background(), p.network.Stay())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	first := error(nil)
	for _, err := range failed {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		} else if first == nil {
			first = err
		}
	}
	return first // a site that says it was cancelled, when nobody has cancelled it, has failed, too
}

// PerStep reports whether the rows of a relation may change from step to step.
func (p *Program) PerStep() bool {
	return slices.ContainsFunc(p.sites, func(s *site) bool { return s.steps })
}

// Close frees all buffers. Neither the program nor its live buffers may be used afterwards.
func (p *Program) Close() {
	if p == nil {
		return
	}
	for _, s := range p.sites {
		s.close()
	}
	if p.leads != nil {
		p.leads.Close()
	}
	p.params, p.leads = nil, nil
}

// Result copies the columns of root i. Under Force64 columns of real are returned in double precision.
func (p *Program) Result(i int) (out []*column.Column, err error) {
	return p.columns(i, func(c *column.Column, t kernels.Type) *column.Column { return c.As(t).Clone() })
}

// View is Result without copying: the columns are valid until the next Run or Close and must not be changed.
func (p *Program) View(i int) (out []*column.Column, err error) {
	return p.columns(i, (*column.Column).As)
}

// columns are those of root i: of several sites one below the other, in the order of their keys.
func (p *Program) columns(i int, as func(*column.Column, kernels.Type) *column.Column) (out []*column.Column,
	err error) {
	for _, at := range p.lies(i) {
		cols, err := at.columns(at.root, as)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = cols
			continue
		}
		for c := range out {
			out[c] = below(out[c], cols[c])
		}
	}
	order, err := rowOrder(p, i)
	for c := range out {
		out[c] = ordered(out[c], order)
	}
	return out, err
}

// rowOrder lists the rows of root i as they come from the sites in the order of their keys; nil: they lie at one site.
func rowOrder(p *Program, i int) (order []int32, err error) {
	defer guard(&err)
	at, r := p.lies(i), p.roots[i]
	if len(at) < 2 {
		return nil, nil
	}
	keys, rows := make([]*column.Column, len(r.Node.Key)), 0
	for _, s := range at {
		n := s.plan.Roots[s.root].Node
		own, _, err := s.now().Vectors(n, n.Key)
		if err != nil {
			return nil, err
		}
		for k := range keys {
			if keys[k] == nil {
				keys[k] = own[k]
			} else {
				keys[k] = below(keys[k], own[k])
			}
		}
	}
	if len(keys) > 0 {
		rows = keys[0].Len()
	}
	return structure.InOrder(keys, rows), nil
}

// ordered is a column in another order of its rows; nil: as it is.
func ordered(c *column.Column, order []int32) *column.Column {
	if order == nil || c == nil {
		return c
	}
	return column.Gather(c, order)
}

// below puts the rows of b below those of a, in new memory.
func below(a, b *column.Column) *column.Column {
	return structure.ConcatVectors([]*column.Column{a, b}, nil)
}

// lying is a site where rows of a root lie, and its number there.
type lying struct {
	*site
	root int
}

// lies lists the sites where rows of root i lie.
func (p *Program) lies(i int) (out []lying) {
	for _, s := range p.sites {
		if at := slices.Index(s.whole, i); at >= 0 {
			out = append(out, lying{s, at})
		}
	}
	return out
}

// Scalar returns the value of root i, which has one row and one numeric column.
func (p *Program) Scalar(i int) (x float64, null bool, err error) {
	at := p.lies(i)
	if len(at) != 1 {
		return 0, false, internal("the rows of %s lie at %d sites", p.roots[i].Name, len(at))
	}
	return at[0].scalar(at[0].root, 0)
}

// Scalars returns the values of root i, which has one row of numeric columns; nil stands for NULL.
func (p *Program) Scalars(i int) ([]*float64, error) {
	at := p.lies(i)
	if len(at) != 1 {
		return nil, internal("the rows of %s lie at %d sites", p.roots[i].Name, len(at))
	}
	out := make([]*float64, len(p.roots[i].Cols))
	for c := range out {
		x, null, err := at[0].scalar(at[0].root, c)
		if err != nil {
			return nil, err
		}
		if !null {
			out[c] = &x
		}
	}
	return out, nil
}

// HoldsAt is how many bytes of a budget each site takes, whole columns of parameters not counted.
func (p *Program) HoldsAt() []int64 { return lists.Map(p.sites, (*site).holds) }

// Holds is how many bytes of a budget the program takes. The window of pages of files is not counted: all programs
// share it.
func (p *Program) Holds() (n int64) {
	for _, s := range p.sites {
		n += s.holds()
	}
	for _, q := range p.params { // whole columns, beside those of the sites
		n += int64(len(q.data.Bytes())) * int64(1+len(q.state))
	}
	return n
}
