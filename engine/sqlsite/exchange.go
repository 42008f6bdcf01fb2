package sqlsite

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor"
	"github.com/relgrad/relgrad/executor/structure"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/physical"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

// exchange is an exchange at the site.
type exchange struct {
	*executor.Exchange
	turn   int            // the first of its two
	types  []kernels.Type // of the columns that are moved
	rows   *query         // what leaves; of a HALO with the site to which it goes behind its columns
	keys   *query         // of a HALO: which rows are needed here
	asked  []kernels.Type // of these keys
	needs  string         // table of the keys that sites need, with the sites
	arrive string         // table of what comes

	count Count // of the last step that ran it
}

// Count is what an exchange has moved at a site.
type Count struct {
	Sent  int64 // rows that the relation has there, before it is known which go where
	Stays int64 // rows that have gone from the site to itself
	Came  int64 // rows that have come from others
	Bytes int64 // of their numbers
}

// exchange prepares an exchange: what it brings is a table.
func (s *Site) exchange(i int, of *executor.Exchange) *exchange {
	x := &exchange{Exchange: of, turn: 2 * i}
	relation := of.Node.Relation()
	var ids []ra.ColumnID
	for _, at := range of.Cols {
		ids, x.types = append(ids, relation.Cols[at].ID), append(x.types, sqlgen.Inside(relation.Cols[at].Type))
	}
	if of.Node.Op == physical.Halo {
		for _, id := range of.Node.On {
			x.asked = append(x.asked, sqlgen.Inside(of.Node.Inputs[1].Relation().Col(id).Type))
		}
	}
	if of.Partner != nil {
		x.keys = &query{varies: of.PerStep}
		n := &ra.Node{Op: ra.Aggregate, Inputs: []*ra.Node{of.Partner}, Group: of.Node.On, Pos: -1}
		for _, id := range of.Node.On {
			c := s.fresh("needed", of.Partner.Col(id).Type)
			n.Cols, n.Key, x.keys.cols = append(n.Cols, c), append(n.Key, c.ID), append(x.keys.cols, c.ID)
		}
		n.Unique, x.keys.roots, s.made[n] = n.Key, []*ra.Node{n}, of.PerStep
	}
	if of.Receive != nil {
		whole := of.Node.Op == physical.Bcast || of.Node.Op == physical.Gather // others choose rows, also of the site's own
		alone := slices.Equal(of.Sources(s.number), []int{s.number})
		partial := len(of.Receive.Cols) > len(relation.Cols)
		if whole && alone && of.Send != nil && !partial {
			s.alias[of.Receive] = of.Send
		} else {
			if partial {
				ids = append(slices.Clip(ids), of.Receive.Cols[len(relation.Cols)].ID)
			}
			x.arrive = s.replace(of.Receive, ids)
			of.Receive.PerStep = of.Varies
		}
	}
	if of.Send != nil && s.goes(x) {
		x.rows = &query{roots: []*ra.Node{of.Send}, cols: ids[:len(of.Cols)], varies: of.Varies}
		if of.Node.Op == physical.Halo {
			s.needed(x)
		}
	}
	return x
}

// goes reports whether rows of the site go anywhere: to another site, or into its own table.
func (s *Site) goes(x *exchange) bool {
	for to := range s.sites {
		if to != s.number && x.Comes(s.number, to) {
			return true
		}
	}
	return x.arrive != "" && x.Comes(s.number, s.number)
}

// needed joins what a HALO sends with the keys that sites need.
func (s *Site) needed(x *exchange) {
	of := x.Send
	ask := &ra.Node{Op: ra.Scan, Pos: -1, Cols: []ra.Column{s.fresh("site", kernels.Type{Kind: kernels.Int})}}
	join := &ra.Node{Op: ra.Join, Pos: -1}
	ids := []ra.ColumnID{ask.Cols[0].ID}
	for i, id := range x.Node.By {
		c := s.fresh("needed", x.Node.Inputs[1].Relation().Col(x.Node.On[i]).Type)
		ask.Cols, ids = append(ask.Cols, c), append(ids, c.ID)
		join.Equi = append(join.Equi, ra.Equi{L: kernels.Col{ID: id}, R: kernels.Col{Input: 1, ID: c.ID}})
	}
	scan, name := s.table(ask, ids)
	scan.PerStep, x.needs = x.PerStep, name
	join.Inputs = []*ra.Node{of, scan}
	var cols []ra.ColumnID
	out := func(slot int, id ra.ColumnID) {
		c := s.fresh(join.Inputs[slot].Col(id).Name, join.Inputs[slot].Col(id).Type)
		join.Cols, join.Out = append(join.Cols, c), append(join.Out, join.InputVar(slot, id))
		cols = append(cols, c.ID)
	}
	for _, id := range x.rows.cols {
		out(0, id)
	}
	out(1, ask.Cols[0].ID)
	x.rows.roots, x.rows.cols, s.made[join] = []*ra.Node{join}, cols, x.Varies
}

// ask tells other sites which rows are needed here, and hears which they need.
func (s *Site) ask(ctx context.Context, x *exchange, env *kernels.Env) error {
	own, err := s.read(ctx, x.keys, x.asked, env)
	if err != nil {
		return err
	}
	out := make([][]byte, s.sites)
	if x.keys != nil {
		packed := pack(own, nil, own[0].Len())
		for from := range out {
			if from != s.number && x.Comes(from, s.number) {
				out[from] = packed
			}
		}
	}
	in, err := s.turns.Turn(ctx, x.turn, out)
	if err != nil || x.needs == "" {
		return err
	}
	all := columns(append([]kernels.Type{{Kind: kernels.Int}}, x.asked...))
	for to := range s.sites {
		if !x.Comes(s.number, to) || !x.Asks(to) {
			continue
		}
		keys := own
		if to != s.number {
			if keys, err = hear(in, to, x.asked); err != nil {
				return err
			}
		}
		extend(all, append([]*column.Column{repeated(to, keys[0].Len())}, keys...))
	}
	return s.fill(ctx, x.needs, all)
}

// say sends rows to other sites, and fills the table of what comes.
func (s *Site) say(ctx context.Context, x *exchange, env *kernels.Env) error {
	types := x.types
	if x.Node.Op == physical.Halo {
		types = append(slices.Clip(types), kernels.Type{Kind: kernels.Int})
	}
	data, err := s.read(ctx, x.rows, types, env)
	if err != nil {
		return err
	}
	out := make([][]byte, s.sites)
	var rows [][]int32 // by site; nil: all rows go to each
	if x.rows != nil {
		rows = s.leaving(x, data)
		data = data[:len(data)-len(types)+len(x.types)]
		var all []byte
		for to := range out {
			switch {
			case to == s.number || !x.Comes(s.number, to):
			case rows != nil:
				out[to] = pack(data, rows[to], len(rows[to]))
			default:
				if all == nil {
					all = pack(data, nil, height(data))
				}
				out[to] = all
			}
		}
	}
	x.count = Count{}
	if x.rows != nil {
		x.count.Sent = int64(height(data))
	}
	in, err := s.turns.Turn(ctx, x.turn+1, out)
	if err != nil || x.arrive == "" {
		return err
	}
	return s.arrives(ctx, x, data, rows, in)
}

// arrives fills the table of what an exchange brings.
func (s *Site) arrives(ctx context.Context, x *exchange, own []*column.Column, rows [][]int32, in [][]byte) error {
	all, sites := columns(x.types), columns([]kernels.Type{{Kind: kernels.Int}})
	for _, from := range x.Sources(s.number) {
		if !x.Comes(from, s.number) {
			continue
		}
		came, n := own, 0
		switch {
		case from != s.number:
			var err error
			if came, err = hear(in, from, x.types); err != nil {
				return err
			}
			n = height(came)
			x.count.Came += int64(n)
			for i, c := range came[:len(x.types)] {
				if x.Moved[i] {
					x.count.Bytes += int64(len(c.Bytes()))
				}
			}
		case rows != nil:
			came = nil
			for _, c := range own {
				came = append(came, column.Gather(c, rows[from]))
			}
			n = len(rows[from])
			x.count.Stays = int64(n)
		default:
			n = height(own)
			x.count.Stays = int64(n)
		}
		extend(all, came)
		extend(sites, []*column.Column{repeated(from, n)})
	}
	if len(x.Receive.Cols) > len(x.Node.Relation().Cols) {
		all = append(all[:len(x.types):len(x.types)], sites[0])
	}
	return s.fill(ctx, x.arrive, all)
}

// leaving lists the rows that go to each site; nil: all go to each.
func (s *Site) leaving(x *exchange, data []*column.Column) [][]int32 {
	var to []int32
	switch x.Node.Op {
	case physical.Shuf:
		var by []*column.Column
		for _, id := range x.Node.By {
			by = append(by, data[slices.Index(x.rows.cols, id)])
		}
		to = x.Node.Fn.Sites(by, s.sites)
	case physical.Halo:
		for _, site := range data[len(data)-1].I64() {
			to = append(to, int32(site))
		}
	default:
		return nil
	}
	rows := make([][]int32, s.sites)
	for r, site := range to {
		rows[site] = append(rows[site], int32(r))
	}
	return rows
}

// read runs a statement and returns its columns, behind which is one of zeros where it has none. A nil one has no rows.
func (s *Site) read(ctx context.Context, q *query, types []kernels.Type, env *kernels.Env) ([]*column.Column, error) {
	if len(types) == 0 {
		types = []kernels.Type{{Kind: kernels.Int}}
	}
	out := columns(types)
	if q == nil {
		return out, nil
	}
	return out, s.o.Within(func() error {
		text, err := s.text(ctx, q, env)
		if err != nil {
			return err
		}
		data, err := s.db.FromTemp(ctx, text)
		if err != nil || len(data) == 0 {
			return err
		}
		if len(data) != len(types) {
			return sqlerr.Broken(room, "%d columns come where %d are asked for", len(data), len(types))
		}
		for i, c := range data {
			if c.Len() == 0 {
				continue
			}
			if out[i], err = typed(c, types[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// typed gives a column that the database returns its type.
func typed(c *column.Column, t kernels.Type) (*column.Column, error) {
	got := c.Type()
	if t.Nullable = got.Nullable; got.Kind != t.Kind || !got.Shape.Equal(t.Shape) {
		if !t.IsChunk() || got.Shape != nil || !allNull(c) {
			return nil, sqlerr.Broken(room, "%v comes where %v is asked for", got, t)
		}
		out := column.New(t, c.Len())
		out.SetValid(make([]byte, c.Len()))
		return out, nil
	}
	return c.As(t), nil
}

func allNull(c *column.Column) bool { return c.Valid() != nil && !slices.Contains(c.Valid(), 1) }

// fill replaces the rows of a temporary table.
func (s *Site) fill(ctx context.Context, name string, data []*column.Column) error {
	return s.o.Within(func() error {
		if err := s.db.FillTemp(ctx, name, data, false); err != nil || s.step > 1 {
			return err
		}
		return s.run(ctx, "ANALYZE pg_temp."+name)
	})
}

// pack appends rows; nil: all n.
func pack(data []*column.Column, rows []int32, n int) []byte {
	out := binary.AppendUvarint(nil, uint64(n))
	if rows == nil && n == 0 {
		rows = []int32{}
	}
	for _, c := range data {
		out = column.Pack(out, c, rows)
	}
	return out
}

// hear reads what a site sends.
func hear(in [][]byte, from int, types []kernels.Type) (out []*column.Column, err error) {
	broken := func() error { return sqlerr.Broken(room, "site %d sends nothing where rows are awaited", from) }
	if from >= len(in) {
		return nil, broken()
	}
	rest := in[from]
	n, used := binary.Uvarint(rest)
	if used <= 0 || n > structure.MaxRows {
		return nil, broken()
	}
	rest = rest[used:]
	if len(types) == 0 {
		types = []kernels.Type{{Kind: kernels.Int}}
	}
	for _, t := range types {
		var c *column.Column
		if c, rest, err = column.Unpack(rest, t); err != nil {
			return nil, err
		}
		if c.Len() != int(n) {
			return nil, broken()
		}
		out = append(out, c)
	}
	return out, nil
}

// columns are empty ones; of no types there is one that counts rows.
func columns(types []kernels.Type) (out []*column.Column) {
	if len(types) == 0 {
		types = []kernels.Type{{Kind: kernels.Int}}
	}
	for _, t := range types {
		out = append(out, column.New(t, 0))
	}
	return out
}

func height(data []*column.Column) int { return data[0].Len() }

// repeated is a column of one number.
func repeated(x, n int) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, slices.Repeat([]int64{int64(x)}, n))
}

// extend appends columns to others.
func extend(to, more []*column.Column) {
	for i, c := range more {
		to[i].Append(c)
	}
}
