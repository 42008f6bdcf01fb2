package executor

import (
	"context"
	"slices"
	"time"

	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
)

// root is a val that is wanted over a space.
type root struct {
	v  *val
	sp *structure.Space
}

// schedule is a list of instructions with its memory.
type schedule struct {
	steps  []*instr
	bytes  int64
	temps  []*val   // vals with data in the arena
	views  []*val   // of others' memory, arguments first
	kept   []*val   // vals that the program computes once and keeps, first met here
	once   []*instr // that compute them
	tmp    int      // scratch per worker
	code   code     // the steps, ready to run; nil: not yet
	placed bool
}

// lowerer chooses what is computed into memory and makes the instructions.
type lowerer struct {
	lowering
	g           *graph
	order       []*val // arguments first
	seen        map[*val]bool
	mat         map[*val]bool
	owners      map[*val][]*val // the computed vals in whose trees it stands
	uses        map[*val][]*val
	works       map[*val]float64
	roots       []root
	isRoot      map[*val]bool
	conds       map[*val]bool         // see conditional
	distributed map[*val]*distributed // what is computed without a residual, and on the way to it
	byParts     map[*distributed]*instr
	besides     map[*val]bool // products that a map by rows makes besides
	maps        map[*val]bool // products that only a map by rows reads, and these maps
	s           *schedule
}

// lowering is what the lowering of vals depends on besides the vals.
type lowering struct {
	ctx        context.Context
	env        *structure.Env
	tune       *tuning.Sizes
	forms      []*form
	structural bool // the vals are the structure's
	residuals  bool // no sum is distributed over a residual
}

// lower makes the schedule of the roots, whose vals have no memory yet. A root that needs other rows than its val has, or
// that is no val of its own, must have been made one (see Program.want).
func lower(o lowering, g *graph, roots []root) (*schedule, error) {
	l := &lowerer{
		lowering: o,
		g:        g,
		seen:     map[*val]bool{},
		mat:      map[*val]bool{},
		owners:   map[*val][]*val{},
		uses:     map[*val][]*val{},
		works:    map[*val]float64{},
		roots:    roots,
		isRoot:   map[*val]bool{},
		conds:    map[*val]bool{},
		maps:     map[*val]bool{},
		besides:  map[*val]bool{},
		byParts:  map[*distributed]*instr{},
		s:        &schedule{},
	}
	for _, r := range roots {
		l.visit(r.v)
		l.isRoot[r.v] = true
	}
	for _, v := range l.order {
		if err := v.realise(l.env); err != nil {
			return nil, err
		}
	}
	err := distribute(l)
	if err == nil {
		l.choose()
		err = l.emit()
	}
	if err != nil {
		l.s.fail()
		return nil, err
	}
	return l.s, nil
}

// fail takes all vals out of a schedule that has come to nothing.
func (s *schedule) fail() {
	s.drop()
	for _, v := range s.kept {
		v.data.free()
		v.data = nil
	}
}

func (l *lowerer) visit(v *val) {
	if l.seen[v] {
		return
	}
	l.seen[v] = true
	if v.data == nil {
		for _, a := range v.args {
			l.visit(a)
			l.uses[a] = append(l.uses[a], v)
		}
	}
	l.order = append(l.order, v)
}

// choose decides, users before arguments, which vals are computed into memory.
func (l *lowerer) choose() {
	for i := len(l.order) - 1; i >= 0; i-- {
		v := l.order[i]
		if v.data != nil || v.op == vConst && !l.isRoot[v] {
			continue
		}
		for _, u := range l.uses[v] {
			if l.mat[u] {
				l.own(v, u)
			} else {
				for _, o := range l.owners[u] {
					l.own(v, o)
				}
			}
		}
		l.mat[v] = l.isRoot[v] || l.wants(v)
	}
}

func (l *lowerer) own(v, owner *val) {
	for _, o := range l.owners[v] {
		if o == owner {
			return
		}
	}
	l.owners[v] = append(l.owners[v], owner)
}

// wants tells whether v is computed into memory: aggregates and unions always, calls where they are read
// through an index, by several others unless that is cheap, or once for many.
func (l *lowerer) wants(v *val) bool {
	if slices.ContainsFunc(l.uses[v], func(u *val) bool { return u.op == vLayout }) {
		return true
	}
	switch v.op {
	case vAgg, vConcat, vLayout:
		return true
	case vGather:
		return !v.vary && v.typ.Size() <= 2 && l.varies(v) || feedsLarge(l, v)
	case vConst:
		return false
	}
	if l.conditional(v) || onlySubtracted(l, v) {
		return false
	}
	if turnedInOrder(l, v) {
		return true
	}
	if onlySummedProduct(l, v) || onlyMapped(l, v) {
		return false
	}
	free := turns(v)
	for _, u := range l.uses[v] {
		if u.op == vGather {
			return true
		}
		free = free && u.op == vCall && u.expr.Def.Name == "matmul"
	}
	if free { // products read a matrix either way
		return turnedOnce(l, v)
	}
	if !v.vary && l.varies(v) || large(l, v) || feedsLarge(l, v) {
		return true
	}
	if l.cost(v) <= 4 || onlySummed(l, v) {
		return false
	}
	if len(l.owners[v]) > 1 {
		return true
	}
	for _, o := range l.owners[v] {
		if v.uniform() && iteration(o).N > 1 {
			return true
		}
	}
	return false
}

// varies reports whether some user of v changes from step to step.
func (l *lowerer) varies(v *val) bool {
	for _, u := range l.uses[v] {
		if u.vary {
			return true
		}
	}
	return false
}

// cost is the work of recomputing v, in operations per element, down to what is in memory for sure.
func (l *lowerer) cost(v *val) float64 { return l.work(v) / float64(max(v.typ.Size(), 1)) }

// work is that of one row.
func (l *lowerer) work(v *val) float64 {
	if v.op != vCall || v.data != nil {
		return 0
	}
	if w, ok := l.works[v]; ok {
		return w
	}
	w := v.flops()
	for _, a := range v.args {
		w += l.work(a)
	}
	l.works[v] = w
	return w
}

// emit makes the instructions, arguments first.
func (l *lowerer) emit() error {
	for _, vs := range l.fuse() {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		parts, err := byPartsOf(l, vs[0])
		if err != nil {
			return err
		}
		if l.besides[vs[0]] { // the map's instruction computes it
			l.inArena(vs[0])
			continue
		}
		if len(vs) > 1 {
			in, err := l.fused(vs)
			if err != nil {
				return err
			}
			for _, v := range vs {
				if l.inArena(v); l.singles(v) {
					v.data.kind = f32
				}
			}
			in.unless = parts
			l.s.steps = append(l.s.steps, in)
			continue
		}
		v := vs[0]
		if v.isView() {
			v.data = &data{kind: v.args[0].data.kind, size: v.typ.Size(), n: v.sp.N}
			l.s.views = append(l.s.views, v)
			continue
		}
		ins, err := l.instrs(v)
		if err != nil {
			return err
		}
		if v.vary {
			for _, in := range ins {
				in.unless = parts
			}
			if v.over == nil {
				l.inArena(v)
			} else {
				v.data = &data{kind: v.over.data.kind, size: v.typ.Size(), n: v.sp.N}
				l.s.views = append(l.s.views, v)
			}
			l.s.steps = append(l.s.steps, ins...)
			continue
		}
		l.keep(v, ins...)
	}
	return nil
}

// keep has the instructions compute v once.
func (l *lowerer) keep(v *val, ins ...*instr) {
	v.data = &data{kind: kindOf(v.typ), size: v.typ.Size(), n: v.sp.N} // place gives it its memory
	v.done, v.structural = false, l.structural
	l.s.kept = append(l.s.kept, v)
	l.s.once = append(l.s.once, ins...)
}

// inArena gives v a place in the schedule's memory.
func (l *lowerer) inArena(v *val) {
	v.data = &data{kind: kindOf(v.typ), size: v.typ.Size(), n: v.sp.N}
	l.s.temps = append(l.s.temps, v)
}

func (l *lowerer) store(v, from *val, rows int) (*instr, error) {
	t, err := compile(l.g, nil, from)
	if err != nil {
		return nil, err
	}
	return l.finish(&instr{v: v, how: "map", rows: rows, t: t}), nil
}

// finish estimates the work, cuts the lanes and notes the scratch.
func (l *lowerer) finish(in *instr) *instr {
	for _, o := range in.t.ops {
		n := float64(in.rows * in.t.cells[o.out].size)
		switch {
		case o.v != nil && o.v.op == vCall && o.code != opLoad:
			in.flops += o.v.flops() * float64(in.rows)
		default:
			in.flops += n
		}
		if o.code == opLoad {
			in.bytes += n * float64(max(in.t.cells[o.out].kind.bytes(), 1))
		}
	}
	in.flops += float64(in.rows * in.v.typ.Size() / max(in.by, 1))
	in.bytes += float64(in.v.sp.N * in.v.typ.Size() * max(kindOf(in.v.typ).bytes(), 1))
	in.cut(l.tune)
	l.s.tmp = max(l.s.tmp, in.t.bytes)
	return in
}

// drop takes the vals out of the arena.
func (s *schedule) drop() {
	for _, v := range s.temps {
		v.data = nil
	}
	for _, v := range s.views {
		if v.vary || !s.placed {
			v.data, v.over = nil, nil
		}
	}
	s.temps, s.views = nil, nil
}

// needed reports whether the last run needed instruction i of the steps.
func (s *schedule) needed(i int) bool {
	if s.code == nil {
		_, parts := s.steps[i].form.(*distributed)
		return !parts
	}
	return s.code.needed(i)
}

// took is how long the timed runs of instruction i took.
func (s *schedule) took(i int) []time.Duration {
	if s.code == nil {
		return nil
	}
	return s.code.took(i)
}

// conditional reports whether v can fail and is only looked at where some condition holds.
func (l *lowerer) conditional(v *val) bool {
	if !canFail(v) || l.isRoot[v] || len(l.uses[v]) == 0 {
		return false
	}
	if c, ok := l.conds[v]; ok {
		return c
	}
	c := true
	for _, u := range l.uses[v] {
		c = c && u.op == vCall && (l.looksLazily(u, v) || l.conditional(u))
	}
	l.conds[v] = c
	return c
}

func (l *lowerer) looksLazily(u, v *val) bool {
	for i, a := range u.args {
		if a == v && !lazy(u.expr.Def, i) {
			return false
		}
	}
	return true
}
