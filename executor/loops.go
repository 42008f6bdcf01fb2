package executor

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// mostLevels bounds how deep a recursive query goes: one that never ends is an error.
const mostLevels = 100_000

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
	keys   *structure.Lookup // of a Recursion of two inputs: its rows by their keys, once something asks
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
func (st *stage) stepOf(n *ra.Node, before *level) *stage {
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

// recursion builds the levels of a Recursion.
func (st *stage) recursion(n *ra.Node) (*structure.Relation, error) {
	if n.Sums() {
		return st.retraced(n)
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
		for i, c := range n.Cols {
			if !c.Dep {
				if l.data[i], err = at.Vector(in, i); err != nil {
					return nil, err
				}
			}
		}
		if total += r.Space.N; total > structure.MaxRows || len(out.levels) == mostLevels {
			return nil, sqlerr.New(sqlerr.TooComplex, "a recursive query has more than %d rows or %d levels", structure.MaxRows,
				mostLevels).WithHint("Its step must come to an end: WHERE step < …, or a join that finds no row.")
		}
		out.levels = append(out.levels, l)
		at, in = st.stepOf(n, l), n.Inputs[1]
	}
	r := st.levelled(n, out, total)
	cols := keysOf(n, r.Vectors)
	safe := make([]bool, len(cols))
	for i := range safe {
		safe[i] = true
	}
	out.keys = &structure.Lookup{Enc: structure.NewEncoder(structure.AllRows(cols, total), safe, make([]bool, len(cols)))}
	if out.keys.Enc.Code = nil; out.keys.Enc.Count != total { // each key occurs once, so its number is its row
		return nil, sqlerr.New(sqlerr.Cardinality, "two rows of a recursive query are equal in %s", keyNames(n)).
			WithHint("Add a column that counts the steps: SELECT 0 AS step, … UNION ALL SELECT step + 1, ….")
	}
	return r, nil
}

// levelled is the relation of all levels.
func (st *stage) levelled(n *ra.Node, of *recursion, total int) *structure.Relation {
	st.loops[n] = of
	r := &structure.Relation{Space: st.Space(total), Vectors: map[int]*column.Column{}}
	for i, c := range n.Cols {
		if c.Dep {
			continue
		}
		all := column.Planned(column.KindOf(c.Type), 0, c.Type.Size()).As(c.Type)
		for _, l := range of.levels {
			all.Append(l.data[i])
		}
		r.Vectors[i] = all
	}
	return r
}

func keysOf(n *ra.Node, cols map[int]*column.Column) (out []*column.Column) {
	for _, k := range n.Key {
		out = append(out, cols[n.Index(k)])
	}
	return out
}

func keyNames(n *ra.Node) string {
	out := ""
	for i, k := range n.Key {
		if i > 0 {
			out += ", "
		}
		out += n.Col(k).Name
	}
	return out
}

// retraced builds the levels of a Recursion that sums rows along another one.
func (st *stage) retraced(n *ra.Node) (*structure.Relation, error) {
	along, err := st.Relation(n.Along())
	if err != nil {
		return nil, err
	}
	of := st.loopOf(n.Along())
	start, err := st.Relation(n.Inputs[0])
	if err != nil {
		return nil, err
	}
	here, err := st.found(n, n.Inputs[0], of, 0, along.Space.N)
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
			next = st.stepOf(n, before)
			if came, err = next.found(n, n.Inputs[1], of, first, l.space.N); err != nil {
				return nil, err
			}
		}
		if before, err = st.summed(n, l, here[first:first+l.space.N], came, start.Space, next); err != nil {
			return nil, err
		}
		if before != nil {
			out.levels, total = append(out.levels, before), total+before.space.N
		}
		if !n.Loop.Back {
			first += l.space.N
		}
	}
	return st.levelled(n, out, total), nil
}

// loopOf is the recursion of a node, of this stage or one above.
func (st *stage) loopOf(n *ra.Node) *recursion {
	for s := st; s != nil; s = s.parent {
		if r := s.loops[n]; r != nil {
			return r
		}
	}
	return nil
}

// found lists, for so many rows of a Recursion from row first on, the row with their key of an input of n, whose key
// comes first; -1: none.
func (st *stage) found(n, in *ra.Node, of *recursion, first, rows int) ([]int32, error) {
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

// summed is the level of n at those rows of l for which here or came is a row of start or of the step; nil: there are
// none.
func (st *stage) summed(n *ra.Node, l *level, here, came []int32, start *structure.Space, next *stage) (*level, error) {
	var rows, a, b []int32
	inStart, inStep := false, false
	for r := range l.space.N {
		x, y := here[r], int32(-1)
		if came != nil {
			y = came[r]
		}
		if x < 0 && y < 0 {
			continue
		}
		rows, a, b = append(rows, int32(r)), append(a, x), append(b, y)
		inStart, inStep = inStart || x >= 0, inStep || y >= 0
	}
	if rows == nil {
		return nil, nil
	}
	out := &level{node: n, space: st.Space(len(rows)), data: map[int]*column.Column{}}
	along := n.Along()
	for i := range n.Key {
		out.data[i] = column.Gather(l.data[along.Index(along.Key[i])], rows)
	}
	var fromStart, fromStep *structure.Index
	if inStart {
		fromStart = st.Reads(out.space, start, a)
	}
	if inStep {
		r, err := next.Relation(n.Inputs[1])
		if err != nil {
			return nil, err
		}
		fromStep = st.Reads(out.space, r.Space, b)
	}
	out.col = func(wide bool, i int) (*values.Val, error) {
		g := st.main
		if wide {
			g = st.wide
		}
		var sum *values.Val
		add := func(of *stage, in *ra.Node, sp *structure.Space, by *structure.Index) error {
			v, err := of.col(wide, in, i)
			if err == nil {
				v, err = g.Gather(g.Spread(v, sp), by)
			}
			if err == nil && sum != nil {
				v, err = g.Call(kernels.Lookup("add"), kernels.Attr{}, sum, v)
			}
			sum = v
			return err
		}
		if inStart {
			if err := add(st, n.Inputs[0], start, fromStart); err != nil {
				return nil, err
			}
		}
		if inStep {
			r, err := next.Relation(n.Inputs[1])
			if err != nil {
				return nil, err
			}
			if err := add(next, n.Inputs[1], r.Space, fromStep); err != nil {
				return nil, err
			}
		}
		return sum, nil
	}
	return out, nil
}

// recursionCol is column i of a Recursion: those of its levels, one below the other.
func (st *stage) recursionCol(g *values.Graph, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	if v := r.Vectors[i]; v != nil {
		return g.Leaf(n.Cols[i].Name, n.Cols[i].Type, r.Space, v, false), nil
	}
	t := n.Cols[i].Type
	t.Nullable = false
	var args []*values.Val
	var from []*structure.Space
	for _, l := range st.loopOf(n).levels {
		v, err := l.part(g, i)
		if err != nil {
			return nil, err
		}
		t.Nullable = t.Nullable || v.Type.Nullable
		args, from = append(args, v), append(from, l.space)
	}
	return g.Concat(t, r.Space, args, from), nil
}
