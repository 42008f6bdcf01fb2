package executor

import (
	"slices"

	"github.com/relgrad/relgrad/executor/structure"
)

// Vals over the rows of one space that do not wait for each other through other rows are computed in one pass over
// blocks of these rows: what one of them reads of another is still in the cache, and what only they read is never
// written to memory. Loss and gradients of a regression read their data once.

// recompute is the work, in operations per number, up to which a val is computed again where it is read from another
// pass over the same rows: to write and read it costs as much.
const recompute = 8

// fusible reports whether v can share a pass: a map, or a sum of all rows as they stand.
func (l *lowerer) fusible(v *val) bool {
	if !v.vary || l.structural || kindOf(v.typ) == str || iteration(v).N < 2 {
		return false
	}
	switch v.op {
	case vCall:
		return !large(l, v) && !l.maps[v]
	case vAgg:
		if kindOf(v.args[0].typ) == str || v.grp.Order != nil && v.grp.Codes == nil {
			return false
		}
		if x, _ := largeSumOf(l, v); x != nil || sumsInPlace(l, v) {
			return false
		}
		return v.grp.Out.N == 1 || v.grp.InRuns(l.tune.PassRun) ||
			v.typ.Size() >= l.tune.PassChunk && v.partials() <= passPartials &&
				v.grp.In.N >= l.tune.GroupRows*v.grp.RunsOfGroups().N
	}
	return false
}

// passPartials bounds the partial sums of an aggregate in a pass, in bytes.
const passPartials = 96 << 20

// reader is a val in memory that reads another; aligned: row by row in the order of its own rows.
type reader struct {
	v       *val
	aligned bool
}

// deps calls f for the vals that are computed into memory and that v's tree reads.
func (l *lowerer) deps(v *val, f func(d *val, aligned bool)) {
	rows := iteration(v)
	type visited struct {
		v       *val
		aligned bool
	}
	seen := map[visited]bool{}
	var visit func(a *val, aligned bool)
	visit = func(a *val, aligned bool) {
		if seen[visited{a, aligned}] {
			return
		}
		seen[visited{a, aligned}] = true
		switch {
		case a.data != nil:
		case l.mat[a]:
			f(a, aligned && a.sp == rows)
		default:
			for _, b := range a.args {
				visit(b, aligned && a.op == vCall)
			}
		}
	}
	for _, a := range v.args {
		visit(a, v.op == vCall || v.op == vAgg && (v.grp.Order == nil || l.fusible(v)))
	}
}

// fuse orders the vals that are computed into memory, those together that share a pass. A val's stage counts the passes
// before it, so that vals of one space and stage never wait for each other through another pass.
func (l *lowerer) fuse() [][]*val {
	stage, last := map[*val]int{}, 0
	readers := map[*val][]reader{}
	for _, v := range l.order {
		if !l.mat[v] {
			continue
		}
		fusible := l.fusible(v)
		l.deps(v, func(d *val, aligned bool) {
			after := stage[d] + 1
			if !d.vary { // computed before
				after = 0
			}
			if fusible && aligned && d.op == vCall && l.fusible(d) || v.isView() {
				after = stage[d]
			}
			stage[v] = max(stage[v], after)
			readers[d] = append(readers[d], reader{v, aligned})
		})
		last = max(last, stage[v])
	}
	l.spare(stage, readers)
	type place struct {
		sp    *structure.Space
		stage int
		d     *distributed // what may not be computed at all shares with its like
	}
	at := map[place]int{}
	stages, out := make([][][]*val, last+1), [][]*val(nil)
	for _, v := range l.order {
		if !l.mat[v] {
			continue
		}
		if !v.vary {
			out = append(out, []*val{v})
			continue
		}
		k := stage[v]
		if l.fusible(v) {
			p := place{iteration(v), k, l.distributed[v]}
			if i, ok := at[p]; ok {
				stages[k][i] = append(stages[k][i], v)
				continue
			}
			at[p] = len(stages[k])
		}
		stages[k] = append(stages[k], []*val{v})
	}
	for _, s := range stages {
		out = append(out, s...)
	}
	return out
}

// spare keeps maps out of the memory that only their own pass reads, or that are cheaply computed again by others over
// the same rows.
func (l *lowerer) spare(stage map[*val]int, readers map[*val][]reader) {
	for _, v := range l.order {
		if !l.mat[v] || l.isRoot[v] || v.op != vCall || !l.fusible(v) || len(readers[v]) == 0 {
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

// again is the work of computing v from what is in memory, in operations per number.
func (l *lowerer) again(v *val) float64 {
	seen, c := map[*val]bool{}, 0.0
	var visit func(a *val)
	visit = func(a *val) {
		if seen[a] || a.op != vCall || a.data != nil || a != v && l.mat[a] {
			return
		}
		seen[a] = true
		c += a.flops() / float64(max(v.typ.Size(), 1))
		for _, b := range a.args {
			visit(b)
		}
	}
	visit(v)
	return c
}

// fused makes the instruction of a pass.
func (l *lowerer) fused(vs []*val) (*instr, error) {
	f, c := &fused{}, newCompiler(l.g, nil)
	flops := 0.0
	for _, v := range vs {
		m := &member{v: v, how: v.how(), base: len(c.t.result)}
		f.members = append(f.members, m)
		if v.op == vAgg {
			if v.grp.InRuns(l.tune.PassRun) {
				m.runs = v.grp.RunsOfGroups()
			}
			if a := addingOf(l, v, nil); a != nil {
				m.sum, m.how = a, a.how
				flops += a.flops
				if err := c.emitSum(v, a); err != nil {
					return nil, err
				}
				continue
			}
			v = v.args[0]
		}
		r, err := c.emit(v, -1)
		if err != nil {
			return nil, err
		}
		if l.singles(m.v) {
			r = c.convert(r, f32)
		}
		c.t.result = append(c.t.result, r)
	}
	c.finish()
	if rows := f.wholeGroups(c.t.rows); rows < c.t.rows {
		c.t.place(rows)
	}
	seen := map[int]bool{}
	for _, m := range f.members {
		r := c.t.result[m.base]
		m.own, seen[r] = !seen[r], true
	}
	in := &instr{v: vs[0], how: "pass", rows: iteration(vs[0]).N, t: c.t, form: f}
	l.finish(in)
	in.flops += flops * float64(in.rows)
	for _, m := range f.members[1:] {
		in.flops += float64(in.rows * m.v.typ.Size())
		in.bytes += float64(m.v.sp.N * m.v.typ.Size() * max(kindOf(m.v.typ).bytes(), 1))
	}
	most := 64
	for _, m := range f.members {
		switch {
		case m.runs != nil: // a lane holds the sums of its first and its last group
			most = min(most, passLanes(2*m.v.typ.Size()))
		case m.v.op == vAgg:
			most = min(most, passLanes(m.v.typ.Size()*m.v.grp.Out.N))
		}
	}
	in.cutInto(most, l.tune)
	return in, nil
}

// wholeGroups is the number of rows of a block, so many at most, that holds groups of one size as a whole where the
// sums' groups are so.
func (f *fused) wholeGroups(rows int) int {
	for _, m := range f.members {
		if m.runs == nil {
			continue
		}
		if g := m.v.grp; g.Largest()*g.Out.N == g.In.N && g.Most > 0 && 4*g.Most <= rows {
			return rows / g.Most * g.Most
		}
	}
	return rows
}

// singles reports whether v, a number of double precision for each row, is stored in single precision: where all that
// read it convert it to that, such as weights of chunks, they get the same bits from half the memory.
func (l *lowerer) singles(v *val) bool {
	if v.op != vCall || kindOf(v.typ) != f64 || v.typ.Size() > 1 || v.typ.Nullable || l.isRoot[v] || v.isView() {
		return false
	}
	for _, u := range l.uses[v] {
		if u.op == vGather && len(l.uses[u]) > 0 && !l.isRoot[u] && !l.mat[u] {
			if !l.asWeights(u) {
				return false
			}
		} else if !asWeight(u, v) {
			return false
		}
	}
	return len(l.uses[v]) > 0
}

// asWeights reports whether all that read v do as in asWeight.
func (l *lowerer) asWeights(v *val) bool {
	return !slices.ContainsFunc(l.uses[v], func(u *val) bool { return !asWeight(u, v) })
}

// asWeight reports whether u multiplies chunks of single precision by v, or divides them.
func asWeight(u, v *val) bool {
	if u.op != vCall || kindOf(u.typ) != f32 || u.typ.Size() == 1 {
		return false
	}
	switch u.expr.Def.Name {
	case "mul":
		return (u.args[0] == v) != (u.args[1] == v)
	case "div":
		return u.args[1] == v && u.args[0] != v
	}
	return false
}

// how names what makes v of its rows.
func (v *val) how() string {
	if v.op == vAgg {
		return v.fn.String()
	}
	return "map"
}
