package executor

import (
	"context"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/forms"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// lower makes the schedule of the roots, and of what exchanges move, and places its vals in memory.
func (p *site) lower(g *values.Graph, structural bool, moved []*values.Val, roots []forms.Root,
	a *arena) (*forms.Schedule, error) {
	all := lists.Map(moved, func(v *values.Val) forms.Root { return forms.Root{V: v, Sp: v.Space} })
	s, err := forms.Lower(forms.Lowering{Ctx: p.ctx, Env: p.stages, Tune: p.tune, Forms: p.opt.forms,
		Structural: structural, Residuals: p.opt.Residuals || p.steps}, g, append(all, roots...))
	if err != nil {
		return nil, err
	}
	if err := p.place(s, roots, a, structural); err != nil {
		s.Fail()
		return nil, err
	}
	p.owned, p.once = append(p.owned, s.Kept...), append(p.once, s.Once...)
	return s, nil
}

// runOnce runs those instructions of the once list that have not run yet; for a schedule of the structure only what
// that reads, for others may wait for other sites.
func (p *site) runOnce(ctx context.Context, structural *forms.Schedule) error {
	o, err := prepareOnce(p, structural)
	if err != nil {
		return err
	}
	return o.run(ctx, p)
}

// onceRun are instructions of the once list that are ready to run.
type onceRun struct {
	list []*device.Instr
	code device.Code // nil: there are none
}

func prepareOnce(p *site, structural *forms.Schedule) (o onceRun, err error) {
	needed := p.neededBy(structural)
	for _, in := range waiting(p) {
		if !in.V.Done && (needed == nil || needed[in]) {
			o.list = append(o.list, in)
		}
	}
	if len(o.list) > 0 {
		o.code, err = p.device.Prepare(o.list, p.onceTmp)
	}
	return o, err
}

func (o onceRun) run(ctx context.Context, p *site) error {
	if o.code == nil {
		return nil
	}
	defer o.code.Close()
	if err := o.code.Run(ctx, &p.env, p.timed); err != nil {
		return err
	}
	for i, in := range o.list {
		if in.V.Done = true; p.timed { // else the instruction is not needed any more
			p.took[in] = o.code.Took(i)
		}
	}
	return nil
}

func (o onceRun) close() {
	if o.code != nil {
		o.code.Close()
	}
}

// complete has a device whose memory is bounded complete all that a run needs, before anything is computed.
func complete(p *site, once onceRun) error {
	err := prepare(p, p.sched)
	if err == nil {
		err = fits(p)
	}
	if err != nil {
		once.close()
	}
	return err
}

// waiting is the end of the once list: what stands before it has run. A structure of many levels often adds to it.
func waiting(p *site) []*device.Instr {
	for p.ranOnce < len(p.once) && p.once[p.ranOnce].V.Done {
		p.ranOnce++
	}
	return p.once[p.ranOnce:]
}

// neededBy lists the instructions of the once list that a schedule waits for; nil: of no schedule.
func (p *site) neededBy(s *forms.Schedule) map[*device.Instr]bool {
	if s == nil {
		return nil
	}
	makers, needed := map[*values.Val][]*device.Instr{}, map[*device.Instr]bool{}
	for _, in := range waiting(p) {
		for _, v := range in.Outs() {
			makers[v] = append(makers[v], in)
		}
	}
	var need func(list []*device.Instr)
	need = func(list []*device.Instr) {
		for _, in := range list {
			for _, v := range in.T.Loads() {
				for _, maker := range makers[v.Base()] {
					if !needed[maker] {
						needed[maker] = true
						need([]*device.Instr{maker})
					}
				}
			}
		}
	}
	for _, in := range s.Once {
		needed[in] = true
	}
	need(slices.Concat(s.Once, s.Steps))
	return needed
}

// runSteps runs the instructions of a step.
func (p *site) runSteps(ctx context.Context, s *forms.Schedule) (err error) {
	if err := prepare(p, s); err != nil {
		return err
	}
	if err := onlyThere(p, s); err != nil {
		return err
	}
	return s.Code.Run(ctx, &p.env, p.timed)
}

// structuralDevice computes what the structure reads: the processors do where another device works on its own
// meanwhile.
func structuralDevice(p *site) device.Device {
	if _, chains := p.device.(device.Chaining); chains {
		return p.host
	}
	return p.device
}

// onHost runs a schedule of the structure on the processors. What its instructions read may lie on the device.
func onHost(ctx context.Context, p *site, s *forms.Schedule) error {
	needed := p.neededBy(s)
	once := slices.DeleteFunc(slices.Clone(waiting(p)), func(in *device.Instr) bool { return in.V.Done || !needed[in] })
	for _, in := range slices.Concat(once, s.Steps) {
		for _, v := range in.T.Loads() {
			if err := p.device.Fetch(v.Data); err != nil {
				return err
			}
		}
		code, err := p.host.Prepare([]*device.Instr{in}, max(s.Tmp, p.onceTmp))
		if err != nil {
			return err
		}
		err = code.Run(ctx, &p.env, false)
		code.Close()
		if err != nil {
			return err
		}
		for _, v := range in.Outs() { // of what is kept the values may be read by the device, too
			if err := p.device.Store(v.Data); err != nil {
				return err
			}
		}
	}
	for _, in := range once {
		in.V.Done = true
	}
	return nil
}

// prepare has the device make the instructions of a step ready, once.
func prepare(p *site, s *forms.Schedule) (err error) {
	if s.Code == nil {
		s.Code, err = p.device.Prepare(s.Steps, s.Tmp)
	}
	return err
}

// ready has the device make the steps of the values ready, if they are known.
func ready(p *site) error {
	if p.sched == nil {
		return nil
	}
	return prepare(p, p.sched)
}

// Ready has the devices of a program make its steps ready, where these are known already. It refuses what Run would
// refuse.
func Ready(p *Program) (err error) {
	defer guard(&err)
	for _, s := range p.sites {
		if err := ready(s); err != nil {
			return err
		}
		if s.sched == nil {
			continue
		}
		if err := onlyThere(s, s.sched); err != nil {
			return err
		}
		if err := fits(s); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses what needs more memory than the site's device has.
func fits(p *site) error {
	if b, ok := p.device.(device.Bounded); ok {
		return b.Complete()
	}
	return nil
}

// onlyThere refuses steps of the values that run elsewhere in part, where Options.Whole asks for that.
func onlyThere(p *site, s *forms.Schedule) error {
	part, ok := s.Code.(device.Partial)
	if !ok || !p.opt.Whole || s != p.sched {
		return nil
	}
	list := part.Elsewhere()
	if len(list) == 0 {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "the device has no kernel for %d of the step's %d instructions",
		len(list), len(s.Steps)).WithDetail("%s.", strings.Join(list, "; ")).WithHint("SET relgrad.device = cpu.")
}

// place gives the vals their memory: those that are kept get a buffer each, the others a part of the arena, which grows
// where it is too small. Vals that do not fit into the budget lie in files. For the structure alone place never
// refuses: the budget is checked with the schedule of the values, which tells what the whole plan needs.
func (p *site) place(s *forms.Schedule, roots []forms.Root, a *arena, structural bool) error {
	items, stored := itemsOf(s, roots)
	tmp := int64(max(s.Tmp, p.onceTmp)*busy(s, p.opt.Workers)) + partialSums(s)
	if err := p.choose(items, stored, len(s.Steps), tmp, structural); err != nil {
		return err
	}
	on := p.device
	if structural {
		on = structuralDevice(p)
	}
	var in, out []*device.Extent
	for _, x := range items {
		switch {
		case x.own:
			if err := p.keep(x, on); err != nil {
				return err
			}
		case x.spilled:
			out = append(out, &x.Extent)
		default:
			in = append(in, &x.Extent)
		}
	}
	s.Bytes = int64(device.PlanMemory(in))
	if err := a.grow(&p.holdings, on, int(s.Bytes), device.PlanMemory(out)); err != nil {
		return err
	}
	for _, x := range items {
		if d := x.v.Data; !x.own && x.spilled {
			*d = column.Place(a.disk, x.Off, d.Kind(), d.Len(), d.Size(), x.v.Type.Nullable)
		} else if !x.own {
			*d = column.Place(a.mem, x.Off, d.Kind(), d.Len(), d.Size(), x.v.Type.Nullable)
		}
	}
	for _, v := range s.Views {
		*v.Data = v.Base().Data.Shaped(v.Data.Len(), v.Data.Size())
	}
	s.Placed = true
	if p.onceTmp = max(p.onceTmp, onceScratch(s)); !structural {
		p.tell(items)
	}
	return nil
}
