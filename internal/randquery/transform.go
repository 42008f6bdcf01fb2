package randquery

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra/interp"
)

// place names one element of a gradient.
type place struct {
	table, column string
	key           []string // the row's identity, as text
	element       int
}

func (p place) row() string { return p.table + "|" + strings.Join(p.key, "|") }

// variant is a query that means the same as another. back maps a place in its gradients to one in the other's.
type variant struct {
	name string
	q    *Query
	back func(place) place
}

// variants are the transformations; each returns nil where it does not apply.
var variants = []func(q *Query, r *rand.Rand) *variant{halved, permuted, renamed, inlined, partitioned}

// transformed checks that a query and its variants have the same loss and the same gradients, row for row.
func (c *Checker) transformed(ctx context.Context, cs *Case, want [][]interp.Row, r *rand.Rand) error {
	order := r.Perm(len(variants))
	if r.Intn(2) == 0 { // the first seldom applies
		order = append([]int{0}, order...)
	}
	for _, i := range order {
		v := variants[i](cs.Q, r)
		if v == nil {
			continue
		}
		if err := c.sameAs(ctx, cs, want, v); err != nil {
			return fmt.Errorf("%s: %w\n%s", v.name, err, v.q.Report())
		}
		c.Stats.Transformed++
		c.Stats.Add(Stats{Uses: map[string]int{"variant: " + v.name: 1}})
		return nil
	}
	return nil
}

func (c *Checker) sameAs(ctx context.Context, cs *Case, want [][]interp.Row, v *variant) error {
	other, err := c.prepare(ctx, v.q, kernels.Float64, optimizer.Options{})
	if err != nil {
		return err
	}
	if other == nil {
		return fmt.Errorf("the loss reaches no parameter any more")
	}
	if len(v.q.Params)-len(other.Names) > len(cs.Q.Params)-len(cs.Names) {
		return nil // a column that is now a parameter of its own only decides masks, so they are structure now
	}
	rows, err := Oracle.Run(ctx, other.DB, other.Result.Plan, env)
	if err != nil {
		return err
	}
	if len(rows[0]) != 1 || rows[0][0][0].Null {
		return fmt.Errorf("the loss is %v", rows[0])
	}
	if a, b := rows[0][0][0].Float(), want[0][0][0].Float(); !near(a, b, 1e-9*math.Max(1, math.Abs(b))) {
		return fmt.Errorf("the loss is %.15g, not %.15g", a, b)
	}
	id := func(p place) place { return p }
	a, aRows := cs.elements(want, id)
	b, bRows := other.elements(rows, v.back)
	if x, y := aRows.String(), bRows.String(); x != y {
		return fmt.Errorf("the gradients have the rows %s, not %s", y, x)
	}
	scale := 1.0
	for _, x := range a {
		scale = math.Max(scale, math.Abs(x))
	}
	for _, m := range []map[string]float64{a, b} {
		for k := range m {
			if !near(a[k], b[k], 1e-9*scale) {
				return fmt.Errorf("gradient at %s is %.15g, not %.15g", k, b[k], a[k])
			}
		}
	}
	return nil
}

// elements lists the gradients' elements by place, and their rows.
func (cs *Case) elements(results [][]interp.Row, back func(place) place) (map[string]float64, set) {
	out, rows := map[string]float64{}, set{}
	for p, param := range cs.Params {
		t, cols := param.Table, cs.tableCols(p)
		for _, row := range results[p+1] {
			key := lists.Map(t.Key, func(kc int) string { return row[slices.Index(cols, kc)].String() })
			for j, tc := range cols {
				if !cs.active(p, tc) {
					continue
				}
				for e, x := range row[j].Floats() {
					at := back(place{t.Name, t.Cols[tc].Name, key, e})
					rows[at.row()] = true
					out[fmt.Sprintf("%s|%s[%d]", at.row(), at.column, at.element)] = x
				}
			}
		}
	}
	return out, rows
}

// with is a copy of the query over another database.
func (q *Query) with(tables []*Table) *Query {
	out := *q
	out.DB = &Database{Tables: tables}
	return &out
}

// permuted stores all rows in another order.
func permuted(q *Query, r *rand.Rand) *variant {
	tables := lists.Map(q.DB.Tables, func(t *Table) *Table { return t.choose(t.Name, r.Perm(t.Rows)) })
	return &variant{"rows permuted", q.with(tables), func(p place) place { return p }}
}

// choose is a table with some of the rows.
func (t *Table) choose(name string, rows []int) *Table {
	out := *t
	out.Name, out.Rows, out.Cols = name, len(rows), nil
	for _, c := range t.Cols {
		d := *c
		d.Data = nil
		for _, i := range rows {
			d.Data = append(d.Data, c.Data[i])
		}
		out.Cols = append(out.Cols, &d)
	}
	return &out
}

// renamed gives all tables, views and columns other names.
func renamed(q *Query, _ *rand.Rand) *variant {
	const prefix = "zz_"
	if q.ViewDraw {
		return nil
	}
	return &variant{"renamed", Generate(q.Seed, Options{Prefix: prefix}), func(p place) place {
		p.table, p.column = strings.TrimPrefix(p.table, prefix), strings.TrimPrefix(p.column, prefix)
		return p
	}}
}

// inlined replaces every view by a sub-query wherever it stands.
func inlined(q *Query, _ *rand.Rand) *variant {
	if q.ViewDraw || len(q.Views) == 0 {
		return nil
	}
	out := *q
	out.Views = nil
	text := func(s string) string { return s }
	for _, v := range q.Views {
		name, sql, inner := regexp.MustCompile(`\b`+v.Name+`\b`), text(v.SQL), text
		if v.Name == q.Loss {
			out.Loss = sql
			continue
		}
		out.Views = append(out.Views, View{v.Name, sql}) // gradient('…') still names it
		text = func(s string) string {
			return name.ReplaceAllStringFunc(inner(s), func(string) string { return "(" + sql + ")" })
		}
		if strings.HasPrefix(v.Name, "inner") {
			text = inner
		}
	}
	if out.Loss == q.Loss {
		out.Loss = text(q.Loss)
	}
	if len(out.Loss) > 20000 {
		return nil
	}
	return &variant{"views inlined", &out, func(p place) place { return p }}
}

// target draws a keyed table that may be replaced by a view over others.
func target(q *Query, r *rand.Rand, fits func(*Table) bool) *Table {
	if q.Uses["functional dependency"]+q.Uses["dropout"] > 0 {
		return nil // a view's key determines nothing, and draws are keyed by the table's
	}
	var found *Table
	for _, t := range q.DB.Tables {
		if t.Keys > 0 && t.Rows > 0 && !slices.Contains(q.Nested, t.Name) && fits(t) && (found == nil || r.Intn(2) == 0) {
			found = t
		}
	}
	return found
}

// replace is the query with a view in the place of a table.
func (q *Query) replace(t *Table, view string, by ...*Table) *Query {
	out := q.with(nil)
	for _, o := range q.DB.Tables {
		if o != t {
			out.DB.Tables = append(out.DB.Tables, o)
		}
	}
	out.DB.Tables = append(out.DB.Tables, by...)
	out.Views = append([]View{{t.Name, view}}, q.Views...)
	out.Params = nil
	for _, p := range q.Params {
		name, column, one := strings.Cut(p, ".")
		if name != t.Name {
			out.Params = append(out.Params, p)
			continue
		}
		for _, b := range by {
			values := slices.ContainsFunc(b.Cols, func(c *Column) bool { return c.Type.IsFloat() })
			switch {
			case one && b.column(column) != nil:
				out.Params = append(out.Params, b.Name+"."+column)
			case !one && values && !t.Fixed:
				out.Params = append(out.Params, b.Name)
			}
		}
	}
	return out
}

// halved stores a chunk column of some table as two smaller chunks in rows of another table.
func halved(q *Query, r *rand.Rand) *variant {
	var col *Column
	t := target(q, r, func(t *Table) bool {
		for _, c := range t.Cols {
			if len(c.Type.Shape) > 0 && c.Type.Shape[0]%2 == 0 {
				col = c
				return true
			}
		}
		return false
	})
	if t == nil || t.column(col.Name) != col {
		return nil
	}
	rest := &Table{Name: t.Name + "_rest", Keys: t.Keys, Rows: t.Rows, Fixed: t.Fixed}
	parts := &Table{Name: t.Name + "_parts", Keys: t.Keys + 1, Rows: 2 * t.Rows, Fixed: t.Fixed}
	half := &Column{Name: col.Name, Type: col.Type}
	half.Type.Shape = append([]int{col.Type.Shape[0] / 2}, col.Type.Shape[1:]...)
	size := half.Type.Size()
	number := &Column{Name: "part", PGType: "integer", Type: kernels.Type{Kind: kernels.Int}}
	var targets []string
	for _, c := range t.Cols {
		if c == col {
			targets = append(targets, "p."+c.Name+" || q."+c.Name+" AS "+c.Name)
			continue
		}
		targets = append(targets, "r."+c.Name)
		rest.Cols = append(rest.Cols, c)
	}
	var on [2][]string
	for _, c := range t.Cols[:t.Keys] {
		double := *c
		double.Data = append(slices.Clone(c.Data), c.Data...)
		parts.Cols = append(parts.Cols, &double)
		on[0], on[1] = append(on[0], "r."+c.Name+" = p."+c.Name), append(on[1], "q."+c.Name+" = r."+c.Name)
	}
	for part := range 2 {
		for _, v := range col.Data {
			number.Data = append(number.Data, kernels.IntValue(int64(part)))
			w := kernels.Value{Type: half.Type, Null: v.Null}
			if !v.Null {
				w.F = v.F[part*size : (part+1)*size]
			}
			half.Data = append(half.Data, w)
		}
	}
	parts.Cols = append(parts.Cols, number, half)
	view := fmt.Sprintf("SELECT %s FROM %s r JOIN %s p ON %s, %s q WHERE %s AND p.part = 0 AND q.part = 1",
		strings.Join(targets, ", "), rest.Name, parts.Name, strings.Join(on[0], " AND "), parts.Name,
		strings.Join(on[1], " AND "))
	return &variant{"chunks halved", q.replace(t, view, rest, parts), func(p place) place {
		switch p.table {
		case rest.Name:
			p.table = t.Name
		case parts.Name:
			p.table = t.Name
			if p.key[t.Keys] == "1" {
				p.element += size
			}
			p.key = p.key[:t.Keys]
		}
		return p
	}}
}

// partitioned stores the rows of some table in two tables, with a UNION ALL view over them.
func partitioned(q *Query, r *rand.Rand) *variant {
	t := target(q, r, func(t *Table) bool { return t.Rows > 1 })
	if t == nil {
		return nil
	}
	order := r.Perm(t.Rows)
	cut := 1 + r.Intn(t.Rows-1)
	a, b := t.choose(t.Name+"_a", order[:cut]), t.choose(t.Name+"_b", order[cut:])
	view := fmt.Sprintf("SELECT * FROM %s UNION ALL SELECT * FROM %s", a.Name, b.Name)
	return &variant{"rows partitioned", q.replace(t, view, a, b), func(p place) place {
		if p.table == a.Name || p.table == b.Name {
			p.table = t.Name
		}
		return p
	}}
}
