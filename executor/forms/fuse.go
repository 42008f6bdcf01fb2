package forms

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
)

// Vals over the rows of one space are computed in one pass over blocks of these rows if they do not wait for each other
// through other rows. What one reads of another is then still in the cache, and what only they read is never written to
// memory. So loss and gradients of a regression read their data once.

// recompute is the operations per number up to which a val is computed again in another pass over the same rows that
// reads it: writing and reading it would cost as much.
const recompute = 8

// fusible reports whether v can share a pass: it is a map, or a sum of all rows in their own order.
func (l *Lowerer) fusible(v *values.Val) bool {
	if !v.Vary || l.Structural || column.KindOf(v.Type) == column.Str || values.Iteration(v).N < 2 {
		return false
	}
	switch v.Op {
	case values.OpCall:
		return !large(l, v) && !l.maps[v]
	case values.OpAgg:
		if column.KindOf(v.Args[0].Type) == column.Str || v.Groups.Order != nil && v.Groups.Codes == nil {
			return false
		}
		if x, _ := largeSumOf(l, v); x != nil || sumsInPlace(l, v) {
			return false
		}
		return v.Groups.Out.N == 1 || v.Groups.InRuns(l.Tune.PassRun) || v.Type.Size() >= l.Tune.PassChunk &&
			device.Partials(v) <= passPartials && v.Groups.In.N >= l.Tune.GroupRows*v.Groups.RunsOfGroups().N
	}
	return false
}

// passPartials bounds the partial sums of an aggregate in a pass, in bytes.
const passPartials = 96 << 20

// reader is a val in memory that reads another. aligned: it reads row i for its own row i.
type reader struct {
	v       *values.Val
	aligned bool
}

// deps calls f for the vals in memory that v's tree reads.
func (l *Lowerer) deps(v *values.Val, f func(d *values.Val, aligned bool)) {
	rows := values.Iteration(v)
	type visited struct {
		v       *values.Val
		aligned bool
	}
	seen := map[visited]bool{}
	var visit func(a *values.Val, aligned bool)
	visit = func(a *values.Val, aligned bool) {
		if seen[visited{a, aligned}] {
			return
		}
		seen[visited{a, aligned}] = true
		switch {
		case a.Data != nil:
		case l.mat[a]:
			f(a, aligned && a.Space == rows)
		default:
			for _, b := range a.Args {
				visit(b, aligned && a.Op == values.OpCall)
			}
		}
	}
	for _, a := range v.Args {
		visit(a, v.Op == values.OpCall || v.Op == values.OpAgg && (v.Groups.Order == nil || l.fusible(v)))
	}
}

// fuse groups the vals that are computed into memory into passes, in order. A val's stage counts the passes before it,
// so that vals of one space and stage never wait for each other through another pass.
func (l *Lowerer) fuse() [][]*values.Val {
	stage, last := map[*values.Val]int{}, 0
	readers := map[*values.Val][]reader{}
	exchanged := 0 // the stage after the last exchange, for all sites run them in one order
	for _, v := range l.order {
		if !l.mat[v] {
			continue
		}
		fusible := l.fusible(v)
		l.deps(v, func(d *values.Val, aligned bool) {
			after := stage[d] + 1
			if !d.Vary { // it has been computed before the steps
				after = 0
			}
			if fusible && aligned && d.Op == values.OpCall && l.fusible(d) || v.IsView() {
				after = stage[d]
			}
			stage[v] = max(stage[v], after)
			readers[d] = append(readers[d], reader{v, aligned})
		})
		if v.Op == values.OpExchange && v.Vary {
			stage[v] = max(stage[v], exchanged)
			exchanged = stage[v] + 1
		}
		last = max(last, stage[v])
	}
	l.spare(stage, readers)
	type place struct {
		sp    *structure.Space
		stage int
		d     *device.Distributed // vals that may be replaced by parts share only with each other
	}
	at := map[place]int{}
	stages, out := make([][][]*values.Val, last+1), [][]*values.Val(nil)
	for _, v := range l.order {
		if !l.mat[v] {
			continue
		}
		if !v.Vary {
			out = append(out, []*values.Val{v})
			continue
		}
		k := stage[v]
		if l.fusible(v) {
			p := place{values.Iteration(v), k, l.distributed[v]}
			if i, ok := at[p]; ok {
				stages[k][i] = append(stages[k][i], v)
				continue
			}
			at[p] = len(stages[k])
		}
		stages[k] = append(stages[k], []*values.Val{v})
	}
	for _, s := range stages {
		out = append(out, s...)
	}
	return out
}

// spare keeps maps out of memory that only their own pass reads, or that other passes over the same rows can cheaply
// compute again.
func (l *Lowerer) spare(stage map[*values.Val]int, readers map[*values.Val][]reader) {
	for _, v := range l.order {
		if !l.mat[v] || l.isRoot[v] || v.Op != values.OpCall || !l.fusible(v) || len(readers[v]) == 0 {
			continue
		}
		again := 0.0
		for _, r := range readers[v] {
			switch {
			case !r.aligned || !l.fusible(r.v):
				again = recompute + 1
			case stage[r.v] != stage[v] && again == 0:
				again = l.again(v)
			}
		}
		l.mat[v] = again > recompute
	}
}

// again is the operations per number of computing v from what is in memory.
func (l *Lowerer) again(v *values.Val) float64 {
	seen, c := map[*values.Val]bool{}, 0.0
	var visit func(a *values.Val)
	visit = func(a *values.Val) {
		if seen[a] || a.Op != values.OpCall || a.Data != nil || a != v && l.mat[a] {
			return
		}
		seen[a] = true
		c += a.Flops() / float64(max(v.Type.Size(), 1))
		for _, b := range a.Args {
			visit(b)
		}
	}
	visit(v)
	return c
}

// fused makes the instruction of a pass.
func (l *Lowerer) fused(vs []*values.Val) (*device.Instr, error) {
	f, c := &device.Fused{}, newCompiler(l.g, nil)
	flops := 0.0
	for _, v := range vs {
		m := &device.Member{V: v, How: howOf(v), Base: len(c.t.Result)}
		f.Members = append(f.Members, m)
		if v.Op == values.OpAgg {
			if v.Groups.InRuns(l.Tune.PassRun) {
				m.Runs = v.Groups.RunsOfGroups()
			}
			if a := addingOf(l, v, nil); a != nil {
				m.Sum, m.How = a, a.How
				flops += a.Flops
				if err := emitSum(c, v, a); err != nil {
					return nil, err
				}
				continue
			}
			v = v.Args[0]
		}
		r, err := c.emit(v, -1)
		if err != nil {
			return nil, err
		}
		if l.singles(m.V) {
			r = c.convert(r, column.F32)
		}
		c.t.Result = append(c.t.Result, r)
	}
	c.finish(values.Iteration(vs[0]).N)
	if rows := wholeGroups(f, c.t.Rows); rows < c.t.Rows {
		c.t.Place(rows)
	}
	seen := map[int]bool{}
	for _, m := range f.Members {
		r := c.t.Result[m.Base]
		m.Own, seen[r] = !seen[r], true
	}
	in := &device.Instr{V: vs[0], How: "pass", Rows: values.Iteration(vs[0]).N, T: c.t, Form: f}
	l.finish(in)
	in.Flops += flops * float64(in.Rows)
	for _, m := range f.Members[1:] {
		in.Flops += float64(in.Rows * m.V.Type.Size())
		in.Bytes += float64(m.V.Space.N * m.V.Type.Size() * max(column.KindOf(m.V.Type).Bytes(), 1))
	}
	most := 64
	for _, m := range f.Members {
		switch {
		case m.Runs != nil: // a lane keeps the sums of its first and its last group
			most = min(most, device.PassLanes(2*m.V.Type.Size()))
		case m.V.Op == values.OpAgg:
			most = min(most, device.PassLanes(m.V.Type.Size()*m.V.Groups.Out.N))
		}
	}
	in.CutInto(most, l.Tune)
	return in, nil
}

// wholeGroups is the number of rows of a block, at most rows, that contains whole groups if all groups have one size.
func wholeGroups(f *device.Fused, rows int) int {
	for _, m := range f.Members {
		if m.Runs == nil {
			continue
		}
		if g := m.V.Groups; g.Largest()*g.Out.N == g.In.N && g.Most > 0 && 4*g.Most <= rows {
			return rows / g.Most * g.Most
		}
	}
	return rows
}

// singles reports whether v, a number of double precision per row, is stored in single precision: all its readers
// convert it to that, as weights of chunks do, so they get the same bits from half the memory.
func (l *Lowerer) singles(v *values.Val) bool {
	if v.Op != values.OpCall || column.KindOf(v.Type) != column.F64 || v.Type.Size() > 1 || v.Type.Nullable ||
		l.isRoot[v] || v.IsView() {
		return false
	}
	for _, u := range l.uses[v] {
		if u.Op == values.OpGather && len(l.uses[u]) > 0 && !l.isRoot[u] && !l.mat[u] {
			if !l.asWeights(u) {
				return false
			}
		} else if !asWeight(u, v) {
			return false
		}
	}
	return len(l.uses[v]) > 0
}

// asWeights reports whether all readers of v use it as asWeight does.
func (l *Lowerer) asWeights(v *values.Val) bool {
	return !slices.ContainsFunc(l.uses[v], func(u *values.Val) bool { return !asWeight(u, v) })
}

// asWeight reports whether u multiplies chunks of single precision by v, or divides them.
func asWeight(u, v *values.Val) bool {
	if u.Op != values.OpCall || column.KindOf(u.Type) != column.F32 || u.Type.Size() == 1 {
		return false
	}
	switch u.Expr.Def.Name {
	case "mul":
		return (u.Args[0] == v) != (u.Args[1] == v)
	case "div":
		return u.Args[1] == v && u.Args[0] != v
	}
	return false
}

// howOf is the word for how v is made of its rows, for plans.
func howOf(v *values.Val) string {
	if v.Op == values.OpAgg {
		return v.Fn.String()
	}
	return "map"
}
