package executor

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// What an exchange brings is found while the structure is built, from the structure of the sites that send: which of
// their rows come, and the columns by which they are told apart. Numbers come with each run, by an instruction.

// of is the stage that holds what belongs to an exchange: the run's, unless its rows change from step to step.
func (st *stage) of(l *link) *stage {
	if st.parent != nil && !l.perStep {
		return st.parent
	}
	return st
}

// at is the stage of another site that holds what belongs to an exchange.
func (st *stage) at(site int, l *link) *stage { return st.p.peers[site].now().of(l) }

// received is the relation of the rows that an exchange brings; nil: of none.
func (st *stage) received(l *link, n *ra.Node) (*structure.Relation, error) {
	if l == nil {
		return &structure.Relation{Space: st.Space(0)}, nil
	}
	parts, err := st.parts(l)
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, part := range parts {
		rows += part.N
	}
	if rows > structure.MaxRows {
		return nil, sqlerr.New(sqlerr.ProgramLimit, "%d rows come to site %d, more than %d", rows, st.p.number,
			structure.MaxRows)
	}
	return &structure.Relation{Space: st.Space(rows)}, nil
}

// parts lists what an exchange brings to the site.
func (st *stage) parts(l *link) ([]values.Part, error) {
	if s := st.of(l); s != st {
		return s.parts(l)
	}
	if parts, ok := st.arriving[l]; ok {
		return parts, nil
	}
	if st.parent == nil && l.perStep {
		return nil, internal("what exchange %d brings to a step is asked for before one", l.number)
	}
	var parts []values.Part
	for _, s := range l.sources(st.p.number) {
		if l.send[s] == nil || l.receive[st.p.number] == nil {
			continue
		}
		from := st.at(s, l)
		r, err := from.Relation(l.send[s])
		if err != nil {
			return nil, err
		}
		part := values.Part{Site: s, N: r.Space.N}
		if l.node.Op == physical.Shuf || l.node.Op == physical.Halo {
			rows, err := from.leaving(l)
			if err != nil {
				return nil, err
			}
			part.Rows, part.N = rows[st.p.number], len(rows[st.p.number])
		}
		parts = append(parts, part)
	}
	st.arriving[l] = parts
	return parts, nil
}

// leaving lists the rows that a SHUF or a HALO takes from this site to each site.
func (st *stage) leaving(l *link) ([][]int32, error) {
	if s := st.of(l); s != st {
		return s.leaving(l)
	}
	if rows, ok := st.sent[l]; ok {
		return rows, nil
	}
	if l.node.Op == physical.Halo {
		rows, err := st.needed(l)
		st.sent[l] = rows
		return rows, err
	}
	keys, _, err := st.Vectors(l.send[st.p.number], l.node.By)
	if err != nil {
		return nil, err
	}
	sites := len(st.p.peers)
	to, count := l.node.Fn.Sites(keys, sites), make([]int, sites)
	for _, s := range to {
		count[s]++
	}
	rows := make([][]int32, sites)
	for s, n := range count {
		rows[s] = st.Arrays.Ints(n)[:0]
	}
	for r, s := range to {
		rows[s] = append(rows[s], int32(r))
	}
	st.sent[l] = rows
	return rows, nil
}

// receivedCol is a column of what an exchange brings. Keys and other columns that no parameter and no step changes come
// now, numbers with each run.
func (st *stage) receivedCol(g *values.Graph, l *link, n *ra.Node, r *structure.Relation, i int) (*values.Val, error) {
	c := n.Cols[i]
	switch {
	case l == nil:
		return g.Leaf(c.Name, c.Type, r.Space, column.New(g.KindType(c.Type), 0), false), nil
	case i == len(l.relation().Cols):
		v, err := st.sitesOf(l, r.Space.N)
		return g.Leaf(c.Name, c.Type, r.Space, v, false), err
	case st.moves(l, i) && (!g.Wide || st.p.opt.Force64):
		return st.moved(l, i)
	}
	v, err := st.arrived(l, c.Type, i)
	if err != nil {
		return nil, err
	}
	if !g.Wide && c.Type.Kind == kernels.Int {
		t := c.Type
		t.Nullable = v.Valid() != nil
		return st.keyLeaf(n.Table.Name+"."+c.Name, r.Space, v.As(t)), nil
	}
	return g.Leaf(n.Table.Name+"."+c.Name, c.Type, r.Space, v, false), nil
}

// moves reports whether a column comes with each run. In double precision the structure has what does not change as it
// is.
func (st *stage) moves(l *link, i int) bool {
	return slices.Contains(l.wanted, i) && (l.varies[i] || l.relation().Cols[i].Type.IsFloat() && !st.p.opt.Force64)
}

// sitesOf numbers the rows that arrive by the sites from which they come.
func (st *stage) sitesOf(l *link, rows int) (*column.Column, error) {
	parts, err := st.parts(l)
	out := make([]int64, 0, rows)
	for _, part := range parts {
		for range part.N {
			out = append(out, int64(part.Site))
		}
	}
	return column.Of(kernels.Type{Kind: kernels.Int}, out), err
}

// arrived is a column of the rows that arrive, as the structure reads it.
func (st *stage) arrived(l *link, t kernels.Type, i int) (*column.Column, error) {
	parts, err := st.parts(l)
	if err != nil {
		return nil, err
	}
	var cols []*column.Column
	wide := false // a site has real as it is stored, or as it has computed it
	for _, part := range parts {
		v, err := st.at(part.Site, l).Vector(l.send[part.Site], i)
		if err != nil {
			return nil, err
		}
		if part.Rows != nil {
			v = column.Gather(v, part.Rows)
		}
		wide, cols = wide || v.Kind() != column.F32, append(cols, v)
	}
	if cols == nil {
		return column.New(st.wide.KindType(t), 0), nil
	}
	for i, v := range cols {
		if cols[i] = v; v.Kind() == column.F32 && wide || v.Kind() == column.I64 && t.IsFloat() {
			cols[i] = inDouble(v)
		}
	}
	return structure.ConcatVectors(cols, st.Arrays.Scratch()), nil
}

// inDouble is a column of numbers in double precision.
func inDouble(v *column.Column) *column.Column {
	out := column.New(kernels.Type{Kind: kernels.Float64, Shape: v.Type().Shape}, v.Len())
	for i := range v.Len() * v.Size() {
		if v.Kind() == column.I64 {
			out.SetFloat(i, float64(v.I64()[i]))
		} else {
			out.SetFloat(i, v.Float(i))
		}
	}
	out.SetValid(v.Valid())
	return out
}

// moved is the val of a column that comes with each run.
func (st *stage) moved(l *link, i int) (*values.Val, error) {
	if s := st.of(l); s != st {
		return s.moved(l, i)
	}
	key := columnOf{l, i}
	if v := st.exchanged[key]; v != nil {
		return v, nil
	}
	parts, err := st.parts(l)
	if err != nil {
		return nil, err
	}
	c, rows := l.relation().Cols[i], 0
	x := &values.Exchange{Number: l.number + i, Parts: parts}
	c.Type.Nullable = false
	for _, part := range parts {
		rows += part.N
		v, err := st.at(part.Site, l).leavingCol(l, i)
		if err != nil {
			return nil, err
		}
		c.Type.Nullable = c.Type.Nullable || v.Type.Nullable
	}
	if l.send[st.p.number] != nil {
		if x.Sent, err = st.leavingCol(l, i); err != nil {
			return nil, err
		}
	}
	v := st.main.Exchange(x, c.Name, c.Type, st.Space(rows), l.varies[i] || l.perStep)
	if x.Sent != nil && x.Sent.Vary && !v.Vary {
		return nil, internal("exchange %d of column %s is run once, and its numbers change", l.number, c.Name)
	}
	st.exchanged[key] = v
	return v, nil
}

// columnOf is a column of what is exchanged.
type columnOf struct {
	l   *link
	col int
}

// leavingCol is a column of the rows that leave the site, in memory.
func (st *stage) leavingCol(l *link, i int) (*values.Val, error) {
	if s := st.of(l); s != st {
		return s.leavingCol(l, i)
	}
	n := l.send[st.p.number]
	if st.parent == nil && st.p.flow.Structure[n] {
		return nil, internal("exchange %d takes rows of a step for those of a run", l.number)
	}
	v, err := st.col(false, n, i)
	if err != nil {
		return nil, err
	}
	if t := st.main.KindType(n.Cols[i].Type); t.IsFloat() && v.Type.Kind != t.Kind { // integers where real is meant
		if v, err = st.main.Call(kernels.Lookup("cast"), kernels.Attr{Kind: t.Kind}, v); err != nil {
			return nil, err
		}
	}
	r, err := st.Relation(n)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Op == values.OpLeaf && v.Data.Kind() != column.KindOf(v.Type): // real as a source has it in double precision
		return st.main.Concat(v.Type, r.Space, []*values.Val{v}, []*structure.Space{r.Space}), nil
	case v.Op != values.OpConst && v.Uniform() && r.Space.N == 1:
		return v, nil
	}
	return st.main.Spread(v, r.Space), nil
}

// exchanges lists the vals of all columns that come with each run, in the order in which all sites run them.
func (st *stage) exchanges() (out []*values.Val, err error) {
	for _, l := range st.p.links {
		for i := range l.relation().Cols {
			if !st.moves(l, i) {
				continue
			}
			v, err := st.moved(l, i)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}
