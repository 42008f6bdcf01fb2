package executor

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// recursions are those of a stage, and what the stage of a level is about.
type recursions struct {
	loops map[*ra.Node]*recursion
	below *level // nil: the stage is of no level
	// levels are the stages of all levels of the stage's recursions.
	levels []*stage
}

// recursion has the levels of a Recursion that have rows.
type recursion struct {
	levels []*level
	keys   *structure.Lookup // of a Recursion of two inputs: its rows by their keys
}

// level is some rows of a Recursion.
type level struct {
	node  *ra.Node // the Recursion
	space *structure.Space
	data  map[int]*column.Column // the columns that hold no values of parameters
	col   func(wide bool, i int) (*values.Val, error)
}

// part is column i of a level, in its space. It is in memory, so that the next level does not compute it again.
func (l *level) part(g *values.Graph, i int) (*values.Val, error) {
	if d := l.data[i]; d != nil {
		return g.Leaf(l.node.Cols[i].Name, l.node.Cols[i].Type, l.space, d, false), nil
	}
	v, err := l.col(g.Wide, i)
	if err != nil || v.Op == values.OpLeaf && v.Space == l.space {
		return v, err
	}
	return g.Concat(v.Type, l.space, []*values.Val{v}, []*structure.Space{l.space}), nil
}

// stepOf is the stage of the step over a level of n.
func stepOf(st *stage, n *ra.Node, before *level) *stage {
	own := map[*ra.Node]bool{}
	for _, m := range n.Within() {
		own[m] = true
	}
	s := emptyStage(st.p, st)
	s.below = before
	s.Stage = st.Stage.Level(s, own)
	s.main, s.wide = st.main, st.wide
	st.levels = append(st.levels, s)
	return s
}

// recursionOf builds the levels of a Recursion.
func recursionOf(st *stage, n *ra.Node) (*structure.Relation, error) {
	if n.Sums() {
		return retraced(st, n)
	}
	out := &recursion{}
	at, in, total := st, n.Inputs[0], 0
	for {
		r, err := at.Relation(in)
		if err != nil {
			return nil, err
		}
		if r.Space.N == 0 {
			break
		}
		of, from := at, in
		l := &level{node: n, space: r.Space, data: map[int]*column.Column{},
			col: func(wide bool, i int) (*values.Val, error) { return of.col(wide, from, i) }}
		for i, c := range n.Cols[:n.States()] {
			if !c.Dep {
				if l.data[i], err = at.Vector(in, i); err != nil {
					return nil, err
				}
			}
		}
		l.data[n.States()] = same(int64(len(out.levels)), r.Space.N)
		if total += r.Space.N; total > structure.MaxRows || len(out.levels) == st.p.tune.Levels {
			return nil, sqlerr.New(sqlerr.TooComplex, "a recursive query has more than %d rows or %d levels", structure.MaxRows,
				st.p.tune.Levels).WithHint("Its step must come to an end: WHERE step < …, or a join that finds no row.")
		}
		if out.levels = append(out.levels, l); len(out.levels)&(len(out.levels)-1) == 0 {
			if err := out.number(n, total); err != nil { // or it would perhaps never end
				return nil, err
			}
		}
		at, in = stepOf(st, n, l), n.Inputs[1]
	}
	if err := out.number(n, total); err != nil {
		return nil, err
	}
	return levelled(st, n, out, total), nil
}

// rowsOf is how many rows a node of a site's plan has now, of a Recursion's step those of all levels.
func rowsOf(p *site, n *ra.Node) (total int64, err error) {
	for _, loop := range ra.Loops(lists.Map(p.plan.Roots, func(r ra.Root) *ra.Node { return r.Node })...) {
		if !slices.Contains(loop.Within(), n) {
			continue
		}
		for st := p.now(); st != nil; st = st.parent {
			for _, l := range st.levels {
				if l.below.node != loop {
					continue
				}
				r, err := l.Relation(n)
				if err != nil {
					return 0, err
				}
				total += int64(r.Space.N)
			}
		}
		return total, nil
	}
	r, err := p.now().Relation(n)
	if err != nil {
		return 0, err
	}
	return int64(r.Space.N), nil
}

// same is a column of n times the same number.
func same(x int64, n int) *column.Column {
	c := column.New(kernels.Type{Kind: kernels.Int}, n)
	for i := range c.I64() {
		c.I64()[i] = x
	}
	return c
}

// number numbers the rows of the levels by their keys, of which each must occur once.
func (r *recursion) number(n *ra.Node, total int) error {
	cols, safe := make([]*column.Column, len(n.Key)), make([]bool, len(n.Key))
	for i, k := range n.Key {
		cols[i], safe[i] = r.all(n, n.Index(k)), true
	}
	r.keys = &structure.Lookup{Enc: structure.NewEncoder(structure.AllRows(cols, total), safe, make([]bool, len(cols)))}
	if r.keys.Enc.Code = nil; r.keys.Enc.Count == total { // so a key's number is its row
		return nil
	}
	return sqlerr.New(sqlerr.Cardinality, "two rows of a recursive query are equal in %s",
		strings.Join(lists.Map(n.Key, func(id ra.ColumnID) string { return n.Col(id).Name }), ", ")).
		WithHint("Add a column that counts the steps: SELECT 0 AS step, … UNION ALL SELECT step + 1, ….")
}

// all is column i of all levels, one that holds no values of parameters.
func (r *recursion) all(n *ra.Node, i int) *column.Column {
	t := n.Cols[i].Type
	out := column.Planned(column.KindOf(t), 0, t.Size()).As(t)
	for _, l := range r.levels {
		out.Append(l.data[i])
	}
	return out
}

// levelled is the relation of all levels.
func levelled(st *stage, n *ra.Node, of *recursion, total int) *structure.Relation {
	st.loops[n] = of
	r := &structure.Relation{Space: st.Space(total), Vectors: map[int]*column.Column{}}
	for i, c := range n.Cols {
		if c.Dep {
			continue
		}
		r.Vectors[i] = of.all(n, i)
	}
	return r
}

// retraced builds the levels of a Recursion that sums rows along another one.
func retraced(st *stage, n *ra.Node) (*structure.Relation, error) {
	along, err := st.Relation(n.Along())
	if err != nil {
		return nil, err
	}
	of := loopOf(st, n.Along())
	start, err := st.Relation(n.Inputs[0])
	if err != nil {
		return nil, err
	}
	here, err := found(st, n, n.Inputs[0], of, 0, along.Space.N)
	if err != nil {
		return nil, err
	}
	out, total := &recursion{}, 0
	first, before := along.Space.N, (*level)(nil)
	if !n.Loop.Back {
		first = 0
	}
	for i := range of.levels {
		l := of.levels[i]
		if n.Loop.Back {
			l = of.levels[len(of.levels)-1-i]
			first -= l.space.N
		}
		came, next := []int32(nil), (*stage)(nil)
		if before != nil {
			next = stepOf(st, n, before)
			if came, err = found(next, n, n.Inputs[1], of, first, l.space.N); err != nil {
				return nil, err
			}
		}
		if before, err = summedLevel(st, n, l, here[first:first+l.space.N], came, start.Space, next); err != nil {
			return nil, err
		}
		if before != nil {
			out.levels, total = append(out.levels, before), total+before.space.N
		}
		if !n.Loop.Back {
			first += l.space.N
		}
	}
	return levelled(st, n, out, total), nil
}

// loopOf is the recursion of a node, of this stage or one above.
func loopOf(st *stage, n *ra.Node) *recursion {
	for s := st; s != nil; s = s.parent {
		if r := s.loops[n]; r != nil {
			return r
		}
	}
	return nil
}

// found lists, for so many rows of a Recursion from row first on, the row with their key of an input of n, whose key
// comes first; -1: none.
func found(st *stage, n, in *ra.Node, of *recursion, first, rows int) ([]int32, error) {
	r, err := st.Relation(in)
	if err != nil {
		return nil, err
	}
	keys := make([]structure.Probe, len(n.Key))
	for i := range keys {
		v, err := st.Vector(in, i)
		if err != nil {
			return nil, err
		}
		keys[i].Vector = v
	}
	at, _, err := st.LookUp(of.keys, keys, r.Space.N)
	if err != nil {
		return nil, err
	}
	out := make([]int32, rows)
	structure.Fill(out, -1)
	for j, row := range at {
		if row -= int32(first); row < 0 || int(row) >= rows || out[row] >= 0 {
			return nil, internal("a row of a recursion's gradient belongs to no row, or to one that has another")
		}
		out[row] = int32(j)
	}
	return out, nil
}

// addend is an input of a Recursion that sums rows, as a level reads it.
type addend struct {
	st *stage
	in *ra.Node
	sp *structure.Space
	by *structure.Index
}

// summedLevel is the level of n at those rows of l for which here or came is a row of start or of the step; nil: there
// are none.
func summedLevel(st *stage, n *ra.Node, l *level, here, came []int32, start *structure.Space,
	next *stage) (*level, error) {
	var rows []int32
	for r := range l.space.N {
		if here[r] >= 0 || came != nil && came[r] >= 0 {
			rows = append(rows, int32(r))
		}
	}
	if rows == nil {
		return nil, nil
	}
	out := &level{node: n, space: st.Space(len(rows)), data: map[int]*column.Column{}}
	along := n.Along()
	for i := range n.Key {
		out.data[i] = column.Gather(l.data[along.Index(along.Key[i])], rows)
	}
	var parts []addend
	add := func(of *stage, in *ra.Node, sp *structure.Space, found []int32) {
		at, some := make([]int32, len(rows)), false
		for i, r := range rows {
			at[i] = found[r]
			some = some || found[r] >= 0
		}
		if some {
			parts = append(parts, addend{of, in, sp, st.Reads(out.space, sp, at)})
		}
	}
	add(st, n.Inputs[0], start, here)
	if came != nil {
		r, err := next.Relation(n.Inputs[1])
		if err != nil {
			return nil, err
		}
		add(next, n.Inputs[1], r.Space, came)
	}
	out.col = func(wide bool, i int) (*values.Val, error) { return sumOf(st, parts, wide, i) }
	return out, nil
}

// sumOf is the sum of column i of the parts of a level.
func sumOf(st *stage, parts []addend, wide bool, i int) (sum *values.Val, err error) {
	g := st.main
	if wide {
		g = st.wide
	}
	for _, p := range parts {
		v, err := p.st.col(wide, p.in, i)
		if err != nil {
			return nil, err
		}
		if v, err = g.Gather(g.Spread(v, p.sp), p.by); err != nil {
			return nil, err
		}
		if sum != nil {
			v, err = g.Call(kernels.Lookup("add"), kernels.Attr{}, sum, v)
		}
		if sum = v; err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// recursionCol is column i of a Recursion: those of its levels, one below the other.
func recursionCol(st *stage, g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	if v := r.Vectors[i]; v != nil {
		return g.Leaf(n.Cols[i].Name, n.Cols[i].Type, r.Space, v, false), nil
	}
	t := n.Cols[i].Type
	t.Nullable = false
	var args []*values.Val
	var from []*structure.Space
	for _, l := range loopOf(st, n).levels {
		v, err := l.part(g, i)
		if err != nil {
			return nil, err
		}
		t.Nullable = t.Nullable || v.Type.Nullable
		args, from = append(args, v), append(from, l.space)
	}
	return g.Concat(t, r.Space, args, from), nil
}

// forAllLevels has what levels read of a relation be computed for all of them at once, where that is work: level by
// level there are few rows.
func forAllLevels(g *values.Graph, v *values.Val) *values.Val {
	work := 0.0
	var add func(v *values.Val)
	add = func(v *values.Val) {
		if v.Op == values.OpCall && v.Data == nil {
			work += v.Flops()
			for _, a := range v.Args {
				add(a)
			}
		}
	}
	if add(v); v.Uniform() || work <= 4*float64(v.Type.Size()) {
		return v
	}
	return g.Concat(v.Type, v.Space, []*values.Val{v}, []*structure.Space{v.Space})
}
