package executor

import (
	"context"
	"slices"
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
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// site is what a program computes at one site: a plan of its own, with its structure, instructions and memory.
type site struct {
	holdings
	ends
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
	training *siteTraining                    // nil: no column is trained
}

// onceOnly holds what does not depend on the step and is computed once.
type onceOnly struct {
	once     []*device.Instr                   // in order: arguments first
	took     map[*device.Instr][]time.Duration // how long they took, where that is timed
	ranOnce  int                               // how many of the first have run, at least
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

// ends are a site's ends of exchanges.
type ends struct {
	number   int     // of the site
	whole    []int   // its results are the first roots of its plan: their positions among those of the whole plan
	sites    int     // all of them
	peers    []*site // all sites, of this process
	port     *device.Port
	turns    device.Turns // to sites of other processes; nil: all sites are of this one
	stay     bool         // of the network: who waits stays awake
	links    []*link      // in the order in which all sites run them
	received map[*ra.Node]*link
	nodes    map[*physical.Node]*ra.Node // what of the whole plan it computes
}

// newSite is a site that has no structure yet.
func newSite(plan *ra.Plan, src ra.Source, opt Options, d device.Device) *site {
	p := &site{holdings: holdings{opt: opt, src: src, device: d, tables: map[string]*tableData{}},
		onceOnly: onceOnly{took: map[*device.Instr][]time.Duration{}}, plan: plan, env: opt.Env,
		scans: map[*tableData]*structure.Relation{}, finders: map[*tableData]*structure.Lookup{}}
	if p.opt.forms == nil {
		p.opt.forms = forms.Forms
	}
	if p.tune = opt.Tuning; p.tune == nil {
		p.tune = tuning.Default()
	}
	if has, some := d.(device.Selective); some {
		p.opt.forms = slices.DeleteFunc(slices.Clone(p.opt.forms), func(f *forms.Form) bool { return !has.Has(f.Name) })
	}
	p.host = cpu.NewMachine(p.opt.Workers, p.tune)
	p.opt.Workers = p.host.Workers()
	if p.device == nil {
		p.device = p.host
	}
	p.flow = structure.Analyse(plan)
	p.stages = structure.NewEnv(p.opt.Workers, &p.holdings, p.flow, p.tune)
	p.shared = values.NewShared(p.stages, p.opt.Force64, p.rowFile)
	return p
}

// begin finds the tables that the plan reads.
func (p *site) begin() {
	ra.Walk(func(n *ra.Node) {
		if _, received := p.received[n]; n.Op == ra.Scan && !received {
			p.addTable(n)
		}
		p.steps = p.steps || p.flow.Structure[n]
	}, p.plan.Nodes()...)
	p.chooseColumns()
}

// makeParams makes the buffers of the parameters' columns that the plan reads, even where only the structure of a step
// reads them.
func (p *site) makeParams() (err error) {
	ra.Walk(func(n *ra.Node) {
		if _, received := p.received[n]; received || n.Op != ra.Scan {
			return
		}
		for i, c := range n.Cols {
			if err == nil && c.Dep && p.flow.Need[n][i] {
				_, err = p.run.col(false, n, i)
			}
		}
	}, p.plan.Nodes()...)
	return err
}

// structure builds the run's stage.
func (p *site) structure() (err error) {
	if err := p.run.depart(); err != nil {
		return err
	}
	b := p.builder()
	ra.Walk(func(n *ra.Node) {
		if err == nil && !p.flow.Structure[n] && !p.flow.Within[n] {
			if _, err = p.run.Relation(n); err == nil {
				b.built(p.run, n)
			}
		}
	}, p.plan.Nodes()...)
	return err
}

func tableKey(t *ra.Table) string { return t.Schema + "\x00" + t.Name }

func (p *site) table(t *ra.Table) *tableData { return p.tables[tableKey(t)] }

// addTable notes the columns that a scan reads.
func (p *site) addTable(n *ra.Node) {
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
func (p *site) schedule(st *stage) error {
	p.dropSchedule()
	var all []forms.Root
	if st.parent != nil {
		if err := st.depart(); err != nil {
			return err
		}
	}
	moved, err := st.exchanges()
	if err != nil {
		return err
	}
	p.roots = nil
	for _, r := range p.plan.Roots[:len(p.whole)] {
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
	p.sched, err = p.lower(st.main, false, moved, all, &p.arena)
	return err
}

func (p *site) dropSchedule() {
	if p.sched != nil {
		if p.sched.Code != nil && !p.training.owns(p.sched.Code) {
			p.sched.Code.Close()
		}
		p.sched.Drop()
		p.sched = nil
	}
}

// enter begins the structure of a step.
func (p *site) enter(ctx context.Context) {
	p.run.Ctx = ctx
	p.dropSchedule()
	p.stages.Steps.Recycle()
	p.step = newStage(ctx, p, p.run)
}

// within has what the site builds next end with a context.
func (p *site) within(ctx context.Context) {
	p.ctx = ctx
	for st := p.now(); st != nil; st = st.parent {
		st.Ctx = ctx
		for _, l := range st.levels {
			l.Ctx = ctx
		}
	}
}

// now is the site's newest stage.
func (p *site) now() *stage {
	if p.step != nil {
		return p.step
	}
	return p.run
}

// values runs the value program.
func (p *site) values(ctx context.Context) (err error) {
	defer guard(&err)
	once, err := prepareOnce(p, nil)
	if err != nil {
		return err
	}
	if _, bounded := p.device.(device.Bounded); bounded {
		if err := complete(p, once); err != nil {
			return err
		}
	}
	if err := onceValues(ctx, p, once); err != nil {
		return err
	}
	return p.runSteps(ctx, p.sched)
}

// onceValues computes what is computed once, and frees what only that reads.
func onceValues(ctx context.Context, p *site, once onceRun) error {
	err := once.run(ctx, p)
	if err == nil {
		p.release(true)
	}
	return err
}

// reset forgets structure and values. The parameters stay.
func (p *site) reset() {
	p.dropSchedule()
	for _, v := range p.owned {
		v.Data.Free()
		v.Data = nil
	}
	p.took = map[*device.Instr][]time.Duration{}
	p.owned, p.once, p.ranOnce, p.run, p.step, p.released, p.onceText = nil, nil, 0, nil, nil, 0, ""
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

// close frees all buffers.
func (p *site) close() {
	if p.training != nil {
		p.training.ahead.close()
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
func (p *site) compute(st *stage, v *values.Val, sp *structure.Space, step bool) (*column.Column, error) {
	g := st.wide
	r := &values.Val{ID: g.NewID(), Op: values.OpConcat, Space: sp, Type: v.Type, Args: []*values.Val{v},
		From: []*structure.Space{sp}, Vary: true}
	s, err := p.lower(g, true, nil, []forms.Root{{V: r, Sp: sp}}, &p.spare)
	if err != nil {
		return nil, err
	}
	for _, in := range slices.Concat(s.Once, s.Steps) {
		if _, moves := in.Form.(*device.Exchange); moves {
			s.Drop()
			return nil, sqlerr.New(sqlerr.FeatureNotSupported,
				"which rows there are depends on %s, which a parameter changes at another site", in.V.Name).
				WithHint("Run the loss at one site: SET relgrad.sites = 1.")
		}
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
	if structuralDevice(p) != p.device {
		err = onHost(st.Ctx, p, s)
	} else if err = p.runOnce(st.Ctx, s); err == nil {
		err = p.runSteps(st.Ctx, s)
	}
	if s.Code != nil {
		s.Code.Close()
	}
	if err != nil {
		s.Drop()
		return nil, err
	}
	out := *r.Data
	s.Drop()
	return &out, nil
}

// columns are those of the site's result i.
func (p *site) columns(i int, as func(*column.Column, kernels.Type) *column.Column) (out []*column.Column,
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

// holds is how many bytes of a budget the program takes. The window of pages of files is not counted: all programs
// share it.
func (p *site) holds() int64 {
	n := p.held() - p.opt.Taken
	for _, b := range []*tensor.Buffer{p.arena.mem, p.spare.mem} {
		n += int64(len(b.Bytes()))
	}
	return n + p.device.Held()
}

// scalar is the value of result i, which has one row and one numeric column.
func (p *site) scalar(i, col int) (x float64, null bool, err error) {
	defer guard(&err)
	if !p.ran {
		return 0, false, internal("Scalar before a successful Run")
	}
	if err := single(p, i, col); err != nil {
		return 0, false, err
	}
	d := p.roots[i][col].V.Data
	if err := p.device.Fetch(d); err != nil {
		return 0, false, err
	}
	x, null = number(d)
	return x, null, nil
}

// number is the first number of a column.
func number(d *column.Column) (x float64, null bool) {
	switch {
	case d.Valid() != nil && d.Valid()[0] == 0:
		return 0, true
	case d.Kind() == column.I64:
		return float64(d.I64()[0]), false
	}
	return d.Float(0), false
}

// single refuses a column of a root that is not one number.
func single(p *site, i, col int) error {
	if r := p.roots[i][col]; r.Sp.N != 1 || r.V.Type.Size() != 1 {
		return sqlerr.New(sqlerr.Cardinality, "the %s has %d rows, not one", p.plan.Roots[i].Name, r.Sp.N).
			WithHint("It yields one row with one number: an aggregate without GROUP BY, such as sum(…).")
	}
	return nil
}
