package executor

import (
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/executor/values"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/kernels/cpu"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
)

// What an exchange brings is found while the structure is built, from the structure of the sites that send: which of
// their rows come, and the columns by which they are told apart. Numbers come with each run, by an instruction. All
// sites build their structure at once. Each says in the order of the exchanges what leaves it, and waits for what
// others say: an exchange depends on earlier ones only, so that no two sites wait for each other.

// departure is what a site sends through an exchange. Other sites read it, its numbers apart, once it is said.
type departure struct {
	asked *cpu.Flag        // needs are there
	needs []*column.Column // of a HALO: the keys of the rows that the site's own rows need; nil: it has none
	said  *cpu.Flag        // the rest is there
	n     int              // rows that leave
	rows  [][]int32        // by the site to which they go; nil: all rows go to each
	vals  []*values.Val    // by column: of numbers that come with each run
	now   []*column.Column // by column: of what comes now
}

// belongs reports whether the stage holds what belongs to an exchange: the run's does, unless its rows change from step
// to step.
func (st *stage) belongs(l *link) bool { return l.perStep == (st.parent != nil) }

// of is the stage that holds what belongs to an exchange.
func (st *stage) of(l *link) *stage {
	if st.parent != nil && !l.perStep {
		return st.parent
	}
	return st
}

// from is what a site sends, when it has said that.
func (st *stage) from(site int, l *link) (*departure, error) {
	if st.p.turns != nil {
		return st.of(l).heard[l][site], nil
	}
	d := st.p.peers[site].now().of(l).leaving[l]
	return d, st.await(d.said)
}

// asks is what a site needs of a HALO, when it has said that.
func (st *stage) asks(site int, l *link) (*departure, error) {
	if st.p.turns != nil {
		return st.heard[l][site], nil
	}
	d := st.p.peers[site].now().leaving[l]
	return d, st.await(d.asked)
}

// await waits for what another site says.
func (st *stage) await(said *cpu.Flag) error { return said.Await(st.Ctx, st.p.stay) }

// depart says what leaves the site through the exchanges of the stage.
func (st *stage) depart() error {
	for _, l := range st.p.links {
		if !st.belongs(l) {
			continue
		}
		d := st.leaving[l]
		if l.partner[st.p.number] != nil {
			if err := st.needing(l, d); err != nil {
				return err
			}
		}
		if err := (talk{st, l, d}).ask(); err != nil {
			return err
		}
		if l.send[st.p.number] != nil {
			if err := st.sends(l, d); err != nil {
				return err
			}
		}
		if err := (talk{st, l, d}).say(); err != nil {
			return err
		}
	}
	return nil
}

// sends finds which rows leave the site, and their columns.
func (st *stage) sends(l *link, d *departure) error {
	n := l.send[st.p.number]
	r, err := st.Relation(n)
	if err != nil {
		return err
	}
	d.n, d.vals, d.now = r.Space.N, make([]*values.Val, len(n.Cols)), make([]*column.Column, len(n.Cols))
	switch l.node.Op {
	case physical.Halo:
		d.rows, err = st.needed(l)
	case physical.Shuf:
		d.rows, err = st.shuffled(l)
	}
	for i := range n.Cols {
		moves := st.moves(l, i)
		if err == nil && moves {
			d.vals[i], err = st.leavingCol(l, i)
		}
		if err == nil && (l.read[i] || !moves && slices.Contains(l.wanted, i)) {
			d.now[i], err = st.Vector(n, i)
		}
	}
	return err
}

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
	if !st.belongs(l) {
		return nil, internal("what exchange %d brings to a step is asked for before one", l.number)
	}
	var parts []values.Part
	for _, s := range l.sources(st.p.number) {
		if l.send[s] == nil || l.receive[st.p.number] == nil {
			continue
		}
		d, err := st.from(s, l)
		if err != nil {
			return nil, err
		}
		part := values.Part{Site: s, N: d.n}
		if d.rows != nil {
			part.Rows, part.N = d.rows[st.p.number], len(d.rows[st.p.number])
		}
		parts = append(parts, part)
	}
	st.arriving[l] = parts
	return parts, nil
}

// shuffled lists the rows that a SHUF takes from this site to each site.
func (st *stage) shuffled(l *link) ([][]int32, error) {
	keys, _, err := st.Vectors(l.send[st.p.number], l.node.By)
	if err != nil {
		return nil, err
	}
	sites := st.p.sites
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
		d, err := st.from(part.Site, l)
		if err != nil {
			return nil, err
		}
		v := d.now[i]
		if v == nil {
			return nil, internal("site %d has not said column %d of exchange %d", part.Site, i, l.number)
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
		d, err := st.from(part.Site, l)
		if err != nil {
			return nil, err
		}
		c.Type.Nullable = c.Type.Nullable || d.vals[i].Type.Nullable
	}
	if l.send[st.p.number] != nil {
		x.Sent = st.leaving[l].vals[i]
	}
	x.Leaves = talk{st, l, st.leaving[l]}.leaves()
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

// exchanges lists the vals of all columns that come with each run, in the order in which all sites run them. Sites have
// said what leaves them.
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
