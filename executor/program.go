package executor

import (
	"context"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/device/cpu"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// Options are the executor's settings.
type Options struct {
	Workers int  // goroutines; 0: cpu.Processors. Results do not depend on it
	Force64 bool // real is computed, kept and returned as double precision: for gradient checks
	// Memory is the budget in bytes for what the program holds, 0: none. What does not fit lies in files in SpillDir.
	Memory   int64
	SpillDir string
	Taken    int64 // bytes of the budget that other programs hold
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
	Tuning    *tuning.Sizes // of the device; nil: tuning.Default
	Device    device.Device // the caller closes it; nil: the processors

	forms []*forms.Form // nil: all, in the order of their names
}

// Program is a compiled plan. It is for one goroutine at a time.
type Program struct {
	holdings
	onceOnly
	timings
	plan     *ra.Plan
	env      kernels.Env
	ctx      context.Context
	flow     *structure.Flow
	scans    map[*tableData]*structure.Relation // tables are read once, whatever the seed
	host     *cpu.Machine                       // runs the conditions of joins for the structure
	steps    bool                               // some structure changes from step to step
	sched    *forms.Schedule
	roots    [][]forms.Root // of the last schedule: by root, by column
	ran      bool
	released int                 // how often release has freed something: at most twice
	gone     map[*tableData]bool // tables some of whose columns have been freed
	shared   *values.Shared
	finders  map[*tableData]*structure.Lookup // for Match; only of tables whose rows do not change between steps
	training *Training                        // nil: no column is trained
}

// onceOnly holds what does not depend on the step and is computed once.
type onceOnly struct {
	once     []*device.Instr                   // in order: arguments first
	took     map[*device.Instr][]time.Duration // how long they took, where that is timed
	onceTmp  int                               // bytes of scratch for each worker
	onceText string                            // their text in plans, kept when they have been freed
}

// timings are measured for Analyze.
type timings struct {
	timed bool            // instructions are timed
	limit limits          // the machine's limits, once measured
	made  []time.Duration // how long the structure of each step took
}

// tableData are the columns of a table that the plan reads.
type tableData struct {
	t    *ra.Table
	cols []int       // in the order of reading
	at   map[int]int // their positions in cols

	spill map[int]bool           // positions of the columns that are read into files
	dep   map[int]bool           // the columns that become parameters
	own   map[int]*column.Column // memory of future parameters, which columns have been read into
}

// Compile builds the structure of the run and the value program. src is read until Close.
func Compile(ctx context.Context, plan *ra.Plan, src ra.Source, opt Options) (p *Program, err error) {
	p = &Program{holdings: holdings{opt: opt, src: src, device: opt.Device, tables: map[string]*tableData{}},
		onceOnly: onceOnly{took: map[*device.Instr][]time.Duration{}}, plan: plan, env: opt.Env,
		scans: map[*tableData]*structure.Relation{}, finders: map[*tableData]*structure.Lookup{}}
	defer func() {
		if err != nil {
			p.Close()
			p = nil
		}
	}()
	defer guard(&err)
	if p.opt.forms == nil {
		p.opt.forms = forms.Forms
	}
	if p.tune = opt.Tuning; p.tune == nil {
		p.tune = tuning.Default()
	}
	p.host = cpu.NewMachine(p.opt.Workers, p.tune)
	p.opt.Workers = p.host.Workers()
	if p.device == nil {
		p.device = p.host
	}
	p.flow = structure.Analyse(plan)
	p.stages = structure.NewEnv(p.opt.Workers, &p.holdings, p.flow, p.tune)
	p.shared = values.NewShared(p.stages, p.opt.Force64, p.rowFile)
	ra.Walk(func(n *ra.Node) {
		if n.Op == ra.Scan {
			p.addTable(n)
		}
		p.steps = p.steps || p.flow.Structure[n]
	}, plan.Nodes()...)
	p.chooseColumns()
	if err := p.structure(ctx); err != nil {
		return p, err
	}
	return p, p.makeParams()
}

// makeParams makes the buffers of the parameters' columns that the plan reads, even where only the structure of a step
// reads them.
func (p *Program) makeParams() (err error) {
	ra.Walk(func(n *ra.Node) {
		for i, c := range n.Cols {
			if err == nil && n.Op == ra.Scan && c.Dep && p.flow.Need[n][i] {
				_, err = p.run.col(false, n, i)
			}
		}
	}, p.plan.Nodes()...)
	return err
}

// structure builds the run's stage, and the schedule too where no structure changes between steps.
func (p *Program) structure(ctx context.Context) error {
	p.ctx = ctx
	p.run = newStage(ctx, p, nil)
	var err error
	b := p.builder()
	ra.Walk(func(n *ra.Node) {
		if err == nil && !p.flow.Structure[n] {
			if _, err = p.run.Relation(n); err == nil {
				b.built(p.run, n)
			}
		}
	}, p.plan.Nodes()...)
	if err != nil || p.steps {
		return err
	}
	return p.schedule(p.run)
}

func tableKey(t *ra.Table) string { return t.Schema + "\x00" + t.Name }

func (p *Program) table(t *ra.Table) *tableData { return p.tables[tableKey(t)] }

// addTable notes the columns that a scan reads.
func (p *Program) addTable(n *ra.Node) {
	t := p.table(n.Table)
	if t == nil {
		t = &tableData{t: n.Table, at: map[int]int{}, dep: map[int]bool{}, own: map[int]*column.Column{}}
		p.tables[tableKey(n.Table)] = t
	}
	for i, c := range n.TableCols {
		if _, ok := t.at[c]; !ok && p.flow.Need[n][i] {
			t.at[c] = len(t.cols)
			t.cols = append(t.cols, c)
		}
		t.dep[c] = t.dep[c] || n.Cols[i].Dep
	}
	if len(t.cols) == 0 && len(n.TableCols) > 0 { // only its number of rows is read
		t.at[n.TableCols[0]] = 0
		t.cols = append(t.cols, n.TableCols[0])
	}
}

// schedule makes the vals of all roots and lowers them.
func (p *Program) schedule(st *stage) error {
	p.dropSchedule()
	var all []forms.Root
	p.roots = nil
	for _, r := range p.plan.Roots {
		rel, err := st.Relation(r.Node)
		if err != nil {
			return err
		}
		var cols []forms.Root
		for _, id := range r.Cols {
			i := r.Node.Index(id)
			if i < 0 {
				return internal("root %s has no column %d", r.Name, id)
			}
			v, err := st.col(false, r.Node, i)
			if err != nil {
				return err
			}
			if v.Space != rel.Space && !(v.Uniform() && rel.Space.N == 1) {
				v = st.main.Spread(v, rel.Space)
			}
			cols = append(cols, forms.Root{V: v, Sp: rel.Space})
		}
		p.roots = append(p.roots, cols)
		all = append(all, cols...)
	}
	var err error
	p.sched, err = p.lower(st.main, false, all, &p.arena)
	return err
}

func (p *Program) dropSchedule() {
	if p.sched != nil {
		if p.sched.Code != nil {
			p.sched.Code.Close()
		}
		p.sched.Drop()
		p.sched = nil
	}
}

// Run evaluates the plan once. It rebuilds the structure that depends on the step, computes in the first run what
// depends on no parameter and no step, then runs the value program. A new seed rebuilds all.
func (p *Program) Run(ctx context.Context, env kernels.Env) (err error) {
	defer guard(&err)
	if err := p.enterStep(ctx, env); err != nil {
		return err
	}
	p.ran = false
	if err := p.release(false); err != nil {
		return err
	}
	if err := p.runOnce(ctx); err != nil {
		return err
	}
	if err := p.release(true); err != nil {
		return err
	}
	if err := p.runSteps(ctx, p.sched); err != nil {
		return err
	}
	p.ran = true
	return nil
}

// enterStep builds the structure of a step and lowers its values.
func (p *Program) enterStep(ctx context.Context, env kernels.Env) error {
	p.ctx = ctx
	if env.Seed != p.env.Seed {
		p.env = env
		p.reset()
		if err := p.structure(ctx); err != nil {
			return err
		}
	}
	p.env = env
	if p.steps {
		p.run.Ctx = ctx
		p.dropSchedule()
		p.stages.Steps.Recycle()
		begin := time.Now()
		p.step = newStage(ctx, p, p.run)
		if err := p.schedule(p.step); err != nil {
			return err
		}
		if p.timed {
			p.made = append(p.made, time.Since(begin))
		}
	}
	if p.sched == nil {
		return internal("Run after a failed Compile or Run")
	}
	return nil
}

// PerStep reports whether the rows of a relation may change from step to step.
func (p *Program) PerStep() bool { return p.steps }

// reset forgets structure and values. The parameters stay.
func (p *Program) reset() {
	p.dropSchedule()
	for _, v := range p.owned {
		v.Data.Free()
		v.Data = nil
	}
	p.took = map[*device.Instr][]time.Duration{}
	p.owned, p.once, p.run, p.step, p.released, p.onceText = nil, nil, nil, nil, 0, ""
	for t := range p.gone {
		delete(p.scans, t)
	}
	p.gone = nil
	p.ledger.forget()
	p.shared.Forget()
	for _, q := range p.params {
		q.leaf = nil
	}
}

// Close frees all buffers. Neither the program nor its live buffers may be used afterwards.
func (p *Program) Close() {
	if p == nil {
		return
	}
	p.reset()
	for _, q := range p.params {
		q.free()
	}
	p.params = nil
	p.training.free()
	for _, t := range p.tables {
		for _, d := range t.own {
			d.Free()
		}
	}
	p.arena.free()
	p.spare.free()
	for _, b := range p.ledger.disk {
		b.Free()
	}
	p.ledger.disk = nil
	p.stages.Steps.Recycle() // twice: first the free arrays, then those that were lent
	p.stages.Steps.Recycle()
	if p.ledger.released != nil {
		p.ledger.released()
	}
	p.host.Close()
}

// compute evaluates a structural val over a space: for this step only if step is set, else for the run.
func (p *Program) compute(st *stage, v *values.Val, sp *structure.Space, step bool) (*column.Column, error) {
	g := st.wide
	r := &values.Val{ID: g.NewID(), Op: values.OpConcat, Space: sp, Type: v.Type, Args: []*values.Val{v},
		From: []*structure.Space{sp}, Vary: true}
	s, err := p.lower(g, true, []forms.Root{{V: r, Sp: sp}}, &p.spare)
	if err != nil {
		return nil, err
	}
	if step && r.Data.Kind() == column.I64 && !v.Type.Nullable { // the array outlives the schedule's memory
		n, size := r.Data.Len(), r.Data.Size()
		*r.Data = column.Of(kernels.Type{Kind: kernels.Int}, p.stages.Steps.Longs(n*size)).Shaped(n, size)
	} else if step {
		*r.Data = column.OnHeap(r.Data.Kind(), r.Data.Len(), r.Data.Size(), v.Type.Nullable)
	} else if err := p.lastingData(r.Data, v.Type.Nullable); err != nil {
		s.Drop()
		return nil, err
	}
	if err = p.runOnce(st.Ctx); err == nil {
		err = p.runSteps(st.Ctx, s)
	}
	if err != nil {
		s.Drop()
		return nil, err
	}
	out := *r.Data
	s.Drop()
	return &out, nil
}

// Result copies the columns of root i. Under Force64 columns of real are returned in double precision.
func (p *Program) Result(i int) (out []*column.Column, err error) {
	return p.columns(i, func(c *column.Column, t kernels.Type) *column.Column { return c.As(t).Clone() })
}

// View is Result without copying: the columns are valid until the next Run or Close and must not be changed.
func (p *Program) View(i int) (out []*column.Column, err error) {
	return p.columns(i, (*column.Column).As)
}

func (p *Program) columns(i int, as func(*column.Column, kernels.Type) *column.Column) (out []*column.Column,
	err error) {
	defer guard(&err)
	if !p.ran {
		return nil, internal("Result before a successful Run")
	}
	for c, r := range p.roots[i] {
		d := r.V.Data
		if r.Sp.N != d.Len() {
			return nil, internal("root %d has %d rows, its column %d has %d", i, r.Sp.N, c, d.Len())
		}
		if err := p.device.Fetch(d); err != nil {
			return nil, err
		}
		t := r.V.Type
		if d.Kind() == column.F32 {
			t.Kind = kernels.Float32
		}
		if d.Kind() == column.I64 && p.plan.Roots[i].Node.Col(p.plan.Roots[i].Cols[c]).Type.Kind == kernels.Bool {
			t.Kind = kernels.Bool
		}
		out = append(out, as(d, t))
	}
	return out, nil
}

// Scalar returns the value of root i, which has one row and one numeric column.
func (p *Program) Scalar(i int) (x float64, null bool, err error) {
	defer guard(&err)
	if !p.ran {
		return 0, false, internal("Scalar before a successful Run")
	}
	if len(p.roots[i]) != 1 || p.roots[i][0].Sp.N != 1 || p.roots[i][0].V.Type.Size() != 1 {
		return 0, false, sqlerr.New(sqlerr.Cardinality, "the %s has %d rows, not one", p.plan.Roots[i].Name,
			p.roots[i][0].Sp.N).WithHint("It yields one row with one number: an aggregate without GROUP BY, such as sum(…).")
	}
	d := p.roots[i][0].V.Data
	if err := p.device.Fetch(d); err != nil {
		return 0, false, err
	}
	if d.Valid() != nil && d.Valid()[0] == 0 {
		return 0, true, nil
	}
	if d.Kind() == column.I64 {
		return float64(d.I64()[0]), false, nil
	}
	return d.Float(0), false, nil
}

// Holds is how many bytes of a budget the program takes. The window of pages of files is not counted: all programs
// share it.
func (p *Program) Holds() int64 {
	n := p.held() - p.opt.Taken
	for _, b := range []*tensor.Buffer{p.arena.mem, p.spare.mem} {
		n += int64(len(b.Bytes()))
	}
	return n + p.device.Held()
}
