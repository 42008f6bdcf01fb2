package physical

import (
	"fmt"
	"math"
	"slices"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
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

	counts  map[counting]*counted
	lying   map[counting][]int32 // the sites of a table's rows
	values  map[counting]*distinct
	origins map[*ra.Node][]origin
	fns     []Function
}

// counting is what has been counted: rows of a table that lie at one site, or by a function of columns, the last of
// which may be the one whose values are counted; own is the function of these. Functions have numbers.
type counting struct {
	schema, table, cols string
	kind                Kind
	site, fn, own       int
	values              bool
}

// distinct are the different values of a column.
type distinct struct {
	of    []int32         // by row: the number of its value
	all   *column.Column  // by number, NULL last
	homes map[int][]int32 // by function: the site of each
}

// origin is the table of which rows are made, and its columns that some columns are.
type origin struct {
	ids  []ra.ColumnID
	t    *ra.Table
	cols []int
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
	return &Measured{Even: e, Read: read, counts: map[counting]*counted{}, lying: map[counting][]int32{},
		values: map[counting]*distinct{}, origins: map[*ra.Node][]origin{}}
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
	t, cols := k.origin(of, ids)
	if t == nil {
		return nil
	}
	key := counting{t.Schema, t.Name, fmt.Sprint(cols), at.Kind, at.Site, k.number(at.Fn), k.number(own), value != 0}
	c, ok := k.counts[key]
	if !ok {
		c = k.tally(t, cols, at, value != 0, own)
		k.counts[key] = c
	}
	return c
}

// number is the number of a function.
func (k *Measured) number(fn Function) int {
	i := slices.IndexFunc(k.fns, fn.Equal)
	if i < 0 {
		i, k.fns = len(k.fns), append(k.fns, fn)
	}
	return i
}

// tally is count for columns of a table, the last of which has the values, if there are any.
func (k *Measured) tally(t *ra.Table, cols []int, at Placement, values bool, own Function) *counted {
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
	sites := slices.Repeat([]int32{int32(at.Site)}, read[0].Len())
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
	last := len(read) - 1
	v := k.valuesOf(t, cols[last], read[last])
	homes, null := k.homes(v, own), int32(v.all.Len()-1)
	out.distinct = int64(null)
	seen := make([]uint64, (v.all.Len()*k.Sites+63)/64) // a bit for each value and site
	for r, s := range sites {
		x := v.of[r]
		here := homes[x] == s
		if here {
			out.stay++
		}
		bit := int(x)*k.Sites + int(s)
		if x == null || seen[bit/64]>>(bit%64)&1 > 0 {
			continue
		}
		seen[bit/64] |= 1 << (bit % 64)
		if out.found[s]++; here {
			out.near++
		}
	}
	return out
}

// sitesOf are the sites of the rows of a table by a function of columns.
func (k *Measured) sitesOf(t *ra.Table, cols []int, read []*column.Column, fn Function) []int32 {
	key := counting{schema: t.Schema, table: t.Name, cols: fmt.Sprint(cols), fn: k.number(fn)}
	out := k.lying[key]
	switch {
	case out != nil:
	case len(cols) == 1:
		v := k.valuesOf(t, cols[0], read[0])
		homes := k.homes(v, fn)
		out = lists.Map(v.of, func(x int32) int32 { return homes[x] })
	default:
		out = fn.Sites(read[:len(cols)], k.Sites)
	}
	k.lying[key] = out
	return out
}

// valuesOf finds the different values of a column.
func (k *Measured) valuesOf(t *ra.Table, col int, read *column.Column) *distinct {
	key := counting{schema: t.Schema, table: t.Name, cols: fmt.Sprint(col)}
	out := k.values[key]
	if out == nil {
		out = different(read)
		k.values[key] = out
	}
	return out
}

// homes are the sites of values by a function.
func (k *Measured) homes(v *distinct, fn Function) []int32 {
	n := k.number(fn)
	if v.homes[n] == nil {
		v.homes[n] = fn.Sites([]*column.Column{v.all}, k.Sites)
	}
	return v.homes[n]
}

// different numbers the values of a column of integers, by a list where they lie close enough together.
func different(v *column.Column) *distinct {
	out := &distinct{of: make([]int32, v.Len()), homes: map[int][]int32{}}
	var all []int64
	number := func(x int64, known *int32) {
		if *known == 0 {
			all = append(all, x)
			*known = int32(len(all))
		}
	}
	least, known, many := near(v)
	for r, x := range v.I64() {
		switch {
		case v.IsNull(r):
			out.of[r] = -1
		case known != nil:
			number(x, &known[x-least])
			out.of[r] = known[x-least] - 1
		default:
			n := many[x]
			number(x, &n)
			many[x], out.of[r] = n, n-1
		}
	}
	out.all = column.New(kernels.Type{Kind: kernels.Int}, len(all)+1)
	copy(out.all.I64(), all)
	out.all.SetNull(len(all))
	for r, x := range out.of {
		if x < 0 {
			out.of[r] = int32(len(all))
		}
	}
	return out
}

// near is a list for the values of a column from the least on, or a map where that would be too long.
func near(v *column.Column) (least int64, known []int32, many map[int64]int32) {
	if v.Len() > 0 {
		least = slices.Min(v.I64())
		if span := uint64(slices.Max(v.I64())-least) + 1; span > 0 && span <= uint64(16*v.Len()) {
			return least, make([]int32, span), nil
		}
	}
	return 0, nil, map[int64]int32{}
}

// sizes are the rows of tables, and the different values of those columns of integers by which operators put rows
// together.
func (k *Measured) sizes(p *ra.Plan) map[string]cost.Size {
	class, meets := classesOf(p), map[ra.ColumnID]bool{}
	ra.Walk(func(n *ra.Node) {
		for _, q := range n.Equi {
			meets[class.of(q.L.ID)] = true
		}
		for _, g := range n.Arranged() {
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
			v := k.Read(n.Table, n.TableCols[i])
			if v == nil || v.Kind() != column.I64 {
				continue
			}
			size := out[n.Table.Name]
			if size.Values == nil {
				size.Values = map[string]float64{}
			}
			size.Rows, size.Values[c.Name] = float64(v.Len()), float64(k.valuesOf(n.Table, n.TableCols[i], v).all.Len()-1)
			out[n.Table.Name] = size
		}
	}, p.Nodes()...)
	return out
}

// origin finds the table of which a relation's rows are made, and its columns that columns of the relation are. Of the
// inputs of a join it is that of which the table is largest.
func (k *Measured) origin(n *ra.Node, ids []ra.ColumnID) (t *ra.Table, cols []int) {
	for _, o := range k.origins[n] {
		if slices.Equal(o.ids, ids) {
			return o.t, o.cols
		}
	}
	t, cols = k.traced(n, ids)
	k.origins[n] = append(k.origins[n], origin{ids, t, cols})
	return t, cols
}

// traced is origin for columns of which nobody has asked before.
func (k *Measured) traced(n *ra.Node, ids []ra.ColumnID) (t *ra.Table, cols []int) {
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
		if u, c := k.origin(in, down); u != nil && (t == nil || u.Rows > t.Rows) {
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
