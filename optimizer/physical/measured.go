package physical

import (
	"fmt"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer/cost"
	"github.com/relgrad/relgrad/ra"
)

// Measured estimates as Even does, but knows the values by which tables are spread: how many of their rows lie at each
// site, how many different values a site has, and how many of these lie there. What is computed of a table's rows
// lies as they do.
type Measured struct {
	Even
	// Read is a column of a table; nil: it cannot be read. It is asked for a column each time.
	Read func(t *ra.Table, col int) *column.Column

	counts map[string]*counted
	lying  map[string][]int32 // by table, columns and function: the sites of its rows
}

// counted are the rows of a table by where they lie, and the values of another of its columns.
type counted struct {
	rows     []int64 // by site
	found    []int64 // different values that a site has
	near     int64   // of these, those whose own site it is, by a function of the value
	stay     int64   // rows whose value's site it is
	distinct int64   // different values
}

// newMeasured has no counts yet.
func newMeasured(e Even, read func(t *ra.Table, col int) *column.Column) *Measured {
	return &Measured{Even: e, Read: read, counts: map[string]*counted{}, lying: map[string][]int32{}}
}

// Rows implements Stats.
func (k *Measured) Rows(n *Node) []int64 {
	p, of := n.Place, n.Relation()
	switch {
	case p.Kind == Needed:
		if c := k.halo(of, p.Need, Function{}); c != nil {
			return k.shares(c, of)
		}
	case p.Partial:
		if c := k.parts(n, Function{}); c != nil {
			return k.shares(c, n.RA)
		}
	case p.Kind == By:
		if c := k.count(of, p, 0, Function{}); c != nil {
			return spreadAs(c.rows, k.total(n))
		}
	}
	return k.Even.Rows(n)
}

// Stays implements Stats.
func (k *Measured) Stays(n *Node) int64 {
	from, of := n.Inputs[0], n.Relation()
	var c *counted
	switch at := from.Place; {
	case n.Op == Halo && at.Kind == By && len(at.By) == 1 && slices.Contains(at.By[0], n.By[0]):
		c = k.halo(of, n.Place.Need, at.Fn)
	case n.Op == Shuf && at.Partial && len(n.By) == 1:
		c = k.parts(from, n.Fn)
	case n.Op == Shuf && at.Kind == By && len(n.By) == 1 && !slices.Contains(at.By[0], n.By[0]):
		if rows := k.count(of, at, n.By[0], n.Fn); rows != nil {
			all := k.total(from)
			return min(int64(float64(rows.stay)/float64(max(1, total(rows.rows)))*float64(all)), total(k.Rows(from)))
		}
	case n.Op == Halo:
		if c = k.halo(of, n.Place.Need, Function{}); c != nil { // rows lie by chance where they are needed
			return total(k.shares(c, of)) / int64(k.Sites)
		}
	}
	if c == nil {
		return k.Even.Stays(n)
	}
	near := float64(c.near) * math.Min(1, float64(k.Count(of))/float64(max(1, c.distinct)))
	if n.Op == Halo {
		from = n
	}
	return min(int64(near), total(k.Rows(from)))
}

// halo counts the rows that a partner needs, by one column that tells them apart.
func (k *Measured) halo(of *ra.Node, need *Need, own Function) *counted {
	if need == nil || len(need.Pairs) != 1 || len(of.Unique) != 1 || of.Unique[0] != need.Pairs[0].Own {
		return nil
	}
	return k.count(need.Of, need.At, need.Pairs[0].Partner, own)
}

// parts are those of a Σ by one column: each site has as many as it has values.
func (k *Measured) parts(n *Node, own Function) *counted {
	if n.Op != Local || n.RA.Op != ra.Aggregate || len(n.RA.Group) != 1 || n.Inputs[0].Place.Kind != By {
		return nil
	}
	return k.count(n.Inputs[0].Relation(), n.Inputs[0].Place, n.RA.Group[0], own)
}

// shares are the rows of a relation at sites that have so many different keys of it. It may have fewer rows than there
// are keys.
func (k *Measured) shares(c *counted, of *ra.Node) []int64 {
	out, rows := make([]int64, k.Sites), k.Count(of)
	part := math.Min(1, float64(rows)/float64(max(1, c.distinct)))
	for s, n := range c.found {
		out[s] = min(int64(math.Ceil(float64(n)*part)), rows)
	}
	return out
}

// spreadAs spreads rows as others are spread.
func spreadAs(as []int64, rows int64) []int64 {
	out, all := make([]int64, len(as)), float64(max(1, total(as)))
	for s := range out {
		out[s] = int64(math.Round(float64(as[s]) / all * float64(rows)))
	}
	return out
}

// count counts the rows of a relation that lies by columns of one table, and the values of a column of this table at
// each site; 0: of none. nil: where the rows lie is not known.
func (k *Measured) count(of *ra.Node, at Placement, value ra.ColumnID, own Function) *counted {
	if at.Kind != By && at.Kind != Single {
		return nil
	}
	var ids []ra.ColumnID
	for _, s := range at.By {
		i := slices.IndexFunc(s, func(id ra.ColumnID) bool { return of.Col(id) != nil })
		if i < 0 {
			return nil
		}
		ids = append(ids, s[i])
	}
	if value != 0 {
		ids = append(ids, value)
	}
	t, cols := origin(of, ids)
	if t == nil {
		return nil
	}
	key := fmt.Sprint(t.Schema, ".", t.Name, cols, at, value != 0, own)
	if c, ok := k.counts[key]; ok {
		return c
	}
	k.counts[key] = k.counting(t, cols, at, value != 0, own)
	return k.counts[key]
}

// counting is count for columns of a table, the last of which has the values, if there are any.
func (k *Measured) counting(t *ra.Table, cols []int, at Placement, values bool, own Function) *counted {
	var read []*column.Column
	for _, c := range cols {
		v := k.Read(t, c)
		if v == nil || v.Kind() != column.I64 || len(read) > 0 && v.Len() != read[0].Len() {
			return nil
		}
		read = append(read, v)
	}
	if len(read) == 0 {
		return nil
	}
	rows := read[0].Len()
	sites := slices.Repeat([]int32{int32(at.Site)}, rows)
	if at.Kind == By {
		sites = k.sitesOf(t, cols[:len(at.By)], read, at.Fn)
	}
	out := &counted{rows: make([]int64, k.Sites), found: make([]int64, k.Sites)}
	for _, s := range sites {
		out.rows[s]++
	}
	if !values {
		return out
	}
	v := read[len(read)-1]
	last := len(read) - 1
	homes, before := k.sitesOf(t, cols[last:], read[last:], own), seenOf(v, k.Sites+1)
	for r, s := range sites {
		if homes[r] == s {
			out.stay++
		}
		if v.IsNull(r) || before(int(s), v.I64()[r]) {
			continue
		}
		if out.found[s]++; homes[r] == s {
			out.near++
		}
		if !before(k.Sites, v.I64()[r]) {
			out.distinct++
		}
	}
	return out
}

// sitesOf are the sites of the rows of a table by a function of columns.
func (k *Measured) sitesOf(t *ra.Table, cols []int, read []*column.Column, fn Function) []int32 {
	key := fmt.Sprint(t.Schema, ".", t.Name, cols, fn)
	if k.lying[key] == nil {
		k.lying[key] = fn.Sites(read[:len(cols)], k.Sites)
	}
	return k.lying[key]
}

// seenOf tells whether a site has been asked for a value of a column before: in a list of bits where the values lie
// close enough together.
func seenOf(v *column.Column, sites int) func(site int, x int64) bool {
	if v.Len() > 0 {
		least, most := slices.Min(v.I64()), slices.Max(v.I64())
		if span := uint64(most-least) + 1; span > 0 && span <= uint64(64*v.Len()) {
			bits := make([]uint64, (span*uint64(sites)+63)/64)
			return func(site int, x int64) bool {
				at := uint64(site)*span + uint64(x-least)
				was := bits[at/64]>>(at%64)&1 > 0
				bits[at/64] |= 1 << (at % 64)
				return was
			}
		}
	}
	seen := map[[2]int64]bool{}
	return func(site int, x int64) bool {
		at := [2]int64{int64(site), x}
		was := seen[at]
		seen[at] = true
		return was
	}
}

// sizes are the rows of tables, and the different values of those columns of integers by which operators put rows
// together.
func sizes(p *ra.Plan, read func(*ra.Table, int) *column.Column) map[string]cost.Size {
	class, meets := classesOf(p), map[ra.ColumnID]bool{}
	ra.Walk(func(n *ra.Node) {
		for _, q := range n.Equi {
			meets[class.of(q.L.ID)] = true
		}
		for _, g := range n.Group {
			meets[class.of(g)] = true
		}
	}, p.Nodes()...)
	out, schema := map[string]cost.Size{}, map[string]string{}
	ra.Walk(func(n *ra.Node) {
		if n.Op != ra.Scan || n.PerStep {
			return
		}
		if s, ok := schema[n.Table.Name]; ok && s != n.Table.Schema { // a model knows tables by their names
			delete(out, n.Table.Name)
			return
		}
		schema[n.Table.Name] = n.Table.Schema
		for i, c := range n.Cols {
			if !meets[class.of(c.ID)] || c.Dep || c.Type.Kind != kernels.Int || n.TableCols[i] < 0 {
				continue
			}
			v := read(n.Table, n.TableCols[i])
			if v == nil || v.Kind() != column.I64 {
				continue
			}
			size, before := out[n.Table.Name], seenOf(v, 1)
			if size.Values == nil {
				size.Values = map[string]float64{}
			}
			different := 0
			for r, x := range v.I64() {
				if !v.IsNull(r) && !before(0, x) {
					different++
				}
			}
			size.Rows, size.Values[c.Name] = float64(v.Len()), float64(different)
			out[n.Table.Name] = size
		}
	}, p.Nodes()...)
	return out
}

// origin finds the table of which a relation's rows are made, and its columns that columns of the relation are. Of the
// inputs of a join it is that of which the table is largest.
func origin(n *ra.Node, ids []ra.ColumnID) (t *ra.Table, cols []int) {
	if n.Op == ra.Scan && n.PerStep {
		return nil, nil
	}
	if n.Op == ra.Scan {
		for _, id := range ids {
			c := n.TableCols[n.Index(id)]
			if c < 0 {
				return nil, nil
			}
			cols = append(cols, c)
		}
		return n.Table, cols
	}
	for slot, in := range n.Inputs {
		if n.Op == ra.Union || (n.Op == ra.SemiJoin || n.Op == ra.AntiJoin || n.Op == ra.Add) && slot > 0 {
			break
		}
		down, ok := through(n, slot, ids)
		if !ok {
			continue
		}
		if u, c := origin(in, down); u != nil && (t == nil || u.Rows > t.Rows) {
			t, cols = u, c
		}
	}
	return t, cols
}

// through finds the columns of an input that columns of n are, or are equated to.
func through(n *ra.Node, slot int, ids []ra.ColumnID) (out []ra.ColumnID, ok bool) {
	if n.Op != ra.Join {
		return below(n, slot, ids)
	}
	for _, id := range ids {
		x := n.Out[n.Index(id)]
		if !x.IsCol {
			return nil, false
		}
		found := false
		for _, c := range n.Equated(x.Col) {
			if c.Input == slot && !found {
				out, found = append(out, c.ID), true
			}
		}
		if !found {
			return nil, false
		}
	}
	return out, true
}
