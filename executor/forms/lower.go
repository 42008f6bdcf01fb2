package forms

import (
	"context"
	"slices"
	"time"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/tuning"
	"github.com/relgrad/relgrad/executor/values"
)

// Root is a val that is wanted over a space.
type Root struct {
	V  *values.Val
	Sp *structure.Space
}

// Schedule is a list of instructions with its memory.
type Schedule struct {
	Steps  []*device.Instr
	Bytes  int64
	Temps  []*values.Val   // vals whose memory is in the arena
	Views  []*values.Val   // views of other vals, arguments first
	Kept   []*values.Val   // vals computed once and kept, of which this is the first schedule
	Once   []*device.Instr // the instructions that compute them
	Tmp    int             // bytes of scratch per worker
	Code   device.Code     // the steps, prepared by the device; nil: not yet
	Placed bool
}

// Lowerer chooses what is computed into memory and makes the instructions.
type Lowerer struct {
	Lowering
	g           *values.Graph
	order       []*values.Val // arguments first
	seen, mat   map[*values.Val]bool
	owners      map[*values.Val][]*values.Val // by val: the computed vals in whose trees it occurs
	uses        map[*values.Val][]*values.Val
	works       map[*values.Val]float64
	isRoot      map[*values.Val]bool
	conds       map[*values.Val]bool                // see conditional
	distributed map[*values.Val]*device.Distributed // vals computed by parts, and those that only lead to them
	byParts     map[*device.Distributed]*device.Instr
	besides     map[*values.Val]bool // products that a map by rows makes too
	maps        map[*values.Val]bool // products that only a map by rows reads, and these maps
	s           *Schedule
}

// Lowering holds what lowering depends on besides the vals.
type Lowering struct {
	Ctx        context.Context
	Env        *structure.Env
	Tune       *tuning.Sizes
	Forms      []*Form
	Structural bool // the vals belong to the structure
	Residuals  bool // sums by parts are off
}

// Lower makes the schedule of the roots. Their vals must have no memory yet. A root over other rows than its val's, or
// whose val has none of its own, must have been made a val by Graph.Spread.
func Lower(o Lowering, g *values.Graph, roots []Root) (*Schedule, error) {
	l := &Lowerer{Lowering: o, g: g, seen: map[*values.Val]bool{}, mat: map[*values.Val]bool{},
		owners: map[*values.Val][]*values.Val{}, uses: map[*values.Val][]*values.Val{}, works: map[*values.Val]float64{},
		isRoot: map[*values.Val]bool{}, conds: map[*values.Val]bool{}, maps: map[*values.Val]bool{},
		besides: map[*values.Val]bool{}, byParts: map[*device.Distributed]*device.Instr{}, s: &Schedule{}}
	for _, r := range roots {
		l.visit(r.V)
		l.isRoot[r.V] = true
	}
	for _, v := range l.order {
		if err := v.Realise(l.Env); err != nil {
			return nil, err
		}
	}
	err := distribute(l)
	if err == nil {
		l.choose()
		err = l.emit()
	}
	if err != nil {
		l.s.Fail()
		return nil, err
	}
	return l.s, nil
}

// Fail removes the memory of all vals of a schedule that could not be made.
func (s *Schedule) Fail() {
	s.Drop()
	for _, v := range s.Kept {
		v.Data.Free()
		v.Data = nil
	}
}

func (l *Lowerer) visit(v *values.Val) {
	if l.seen[v] {
		return
	}
	l.seen[v] = true
	if v.Data == nil {
		for _, a := range v.Args {
			l.visit(a)
			l.uses[a] = append(l.uses[a], v)
		}
	}
	l.order = append(l.order, v)
}

// choose decides which vals are computed into memory, readers before arguments.
func (l *Lowerer) choose() {
	for i := len(l.order) - 1; i >= 0; i-- {
		v := l.order[i]
		if v.Data != nil || v.Op == values.OpConst && !l.isRoot[v] {
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

func (l *Lowerer) own(v, owner *values.Val) {
	for _, o := range l.owners[v] {
		if o == owner {
			return
		}
	}
	l.owners[v] = append(l.owners[v], owner)
}

// wants reports whether v is computed into memory: aggregates and unions always; calls if they are read through an
// index, by several others unless that is cheap, or once for many rows.
func (l *Lowerer) wants(v *values.Val) bool {
	if slices.ContainsFunc(l.uses[v],
		func(u *values.Val) bool {
			return u.Op == values.OpLayout || u.Op == values.OpExchange || u.Op == values.OpWindow
		}) {
		return true
	}
	switch v.Op {
	case values.OpAgg, values.OpConcat, values.OpLayout, values.OpExchange, values.OpWindow:
		return true
	case values.OpGather:
		return !v.Vary && v.Type.Size() <= 2 && l.varies(v) || feedsLarge(l, v)
	case values.OpConst:
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
	free := values.Turned(v)
	for _, u := range l.uses[v] {
		if u.Op == values.OpGather {
			return true
		}
		free = free && u.Op == values.OpCall && u.Expr.Def.Name == "matmul"
	}
	if free { // products read a matrix either way
		return turnedOnce(l, v)
	}
	if !v.Vary && l.varies(v) || large(l, v) || feedsLarge(l, v) {
		return true
	}
	if l.cost(v) <= 4 || onlySummed(l, v) {
		return false
	}
	if len(l.owners[v]) > 1 {
		return true
	}
	return slices.ContainsFunc(l.owners[v], func(o *values.Val) bool { return v.Uniform() && values.Iteration(o).N > 1 })
}

// varies reports whether some reader of v changes from step to step.
func (l *Lowerer) varies(v *values.Val) bool {
	return slices.ContainsFunc(l.uses[v], func(u *values.Val) bool { return u.Vary })
}

// cost is the operations per element of computing v again from what is surely in memory.
func (l *Lowerer) cost(v *values.Val) float64 { return l.work(v) / float64(max(v.Type.Size(), 1)) }

// work is the operations per row.
func (l *Lowerer) work(v *values.Val) float64 {
	if v.Op != values.OpCall || v.Data != nil {
		return 0
	}
	if w, ok := l.works[v]; ok {
		return w
	}
	w := v.Flops()
	for _, a := range v.Args {
		w += l.work(a)
	}
	l.works[v] = w
	return w
}

// emit makes the instructions, arguments first.
func (l *Lowerer) emit() error {
	for _, vs := range l.fuse() {
		if err := l.Ctx.Err(); err != nil {
			return err
		}
		parts, err := byPartsOf(l, vs[0])
		if err != nil {
			return err
		}
		if l.besides[vs[0]] { // the instruction of the map computes it too
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
					v.Data = column.Planned(column.F32, v.Space.N, v.Type.Size())
				}
			}
			in.Unless = parts
			l.s.Steps = append(l.s.Steps, in)
			continue
		}
		v := vs[0]
		if v.IsView() {
			v.Data = column.Planned(v.Args[0].Data.Kind(), v.Space.N, v.Type.Size())
			l.s.Views = append(l.s.Views, v)
			continue
		}
		ins, err := l.instrs(v)
		if err != nil {
			return err
		}
		if v.Vary {
			for _, in := range ins {
				in.Unless = parts
			}
			if v.Over == nil {
				l.inArena(v)
			} else {
				v.Data = column.Planned(v.Over.Data.Kind(), v.Space.N, v.Type.Size())
				l.s.Views = append(l.s.Views, v)
			}
			l.s.Steps = append(l.s.Steps, ins...)
			continue
		}
		l.keep(v, ins...)
	}
	return nil
}

// keep makes the instructions compute v once.
func (l *Lowerer) keep(v *values.Val, ins ...*device.Instr) {
	v.Data = column.Planned(column.KindOf(v.Type), v.Space.N, v.Type.Size()) // place gives it its memory
	v.Done, v.Structural = false, l.Structural
	l.s.Kept = append(l.s.Kept, v)
	l.s.Once = append(l.s.Once, ins...)
}

// inArena gives v memory in the arena.
func (l *Lowerer) inArena(v *values.Val) {
	v.Data = column.Planned(column.KindOf(v.Type), v.Space.N, v.Type.Size())
	l.s.Temps = append(l.s.Temps, v)
}

func (l *Lowerer) store(v, from *values.Val, rows int) (*device.Instr, error) {
	t, err := Compile(l.g, nil, from)
	if err != nil {
		return nil, err
	}
	return l.finish(&device.Instr{V: v, How: "map", Rows: rows, T: t}), nil
}

// finish estimates the work, cuts the rows into lanes and records the scratch.
func (l *Lowerer) finish(in *device.Instr) *device.Instr {
	for _, o := range in.T.Ops {
		n := float64(in.Rows * in.T.Cells[o.Out].Size)
		switch {
		case o.V != nil && o.V.Op == values.OpCall && o.Code != device.OpLoad:
			in.Flops += o.V.Flops() * float64(in.Rows)
		default:
			in.Flops += n
		}
		if o.Code == device.OpLoad {
			in.Bytes += n * float64(max(in.T.Cells[o.Out].Kind.Bytes(), 1))
		}
	}
	in.Flops += float64(in.Rows * in.V.Type.Size() / max(in.By, 1))
	in.Bytes += float64(in.V.Space.N * in.V.Type.Size() * max(column.KindOf(in.V.Type).Bytes(), 1))
	in.Cut(l.Tune)
	l.s.Tmp = max(l.s.Tmp, in.T.Bytes)
	return in
}

// Drop removes the vals from the arena.
func (s *Schedule) Drop() {
	for _, v := range s.Temps {
		v.Data = nil
	}
	for _, v := range s.Views {
		if v.Vary || !s.Placed {
			v.Data, v.Over = nil, nil
		}
	}
	s.Temps, s.Views = nil, nil
}

// Needed reports whether the last run needed instruction i of the steps.
func (s *Schedule) Needed(i int) bool {
	if s.Code == nil {
		_, parts := s.Steps[i].Form.(*device.Distributed)
		return !parts
	}
	return s.Code.Needed(i)
}

// Took is how long the timed runs of instruction i took.
func (s *Schedule) Took(i int) []time.Duration {
	if s.Code == nil {
		return nil
	}
	return s.Code.Took(i)
}

// conditional reports whether v can fail and is only evaluated where some condition holds.
func (l *Lowerer) conditional(v *values.Val) bool {
	if !values.CanFail(v) || l.isRoot[v] || len(l.uses[v]) == 0 {
		return false
	}
	if c, ok := l.conds[v]; ok {
		return c
	}
	c := true
	for _, u := range l.uses[v] {
		c = c && u.Op == values.OpCall && (l.looksLazily(u, v) || l.conditional(u))
	}
	l.conds[v] = c
	return c
}

func (l *Lowerer) looksLazily(u, v *values.Val) bool {
	for i, a := range u.Args {
		if a == v && !values.Lazy(u.Expr.Def, i) {
			return false
		}
	}
	return true
}
