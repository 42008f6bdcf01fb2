package session

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/ra"
)

// A plan rests on more than definitions: on what the tables hold. Generated SQL looks at that again when it runs, in
// the snapshot in which it reads, and raises an error where another session has changed it.

// planned prints what a plan rests on.
type planned struct{}

// Planned prints what a plan may rest on of a table's content as a query: of one text where that has changed, else of
// none. It is "" where definitions alone say all.
func (planned) Planned(t *ra.Table) string {
	var parts []string
	from, what := sqltext.Name(t.Schema, t.Name), "table \""+t.Name+"\""
	if t.Rows == 1 {
		one := "(SELECT pg_catalog.count(*) FROM (SELECT FROM " + from + " LIMIT 2) AS f) OPERATOR(pg_catalog.=) 1"
		says := sqltext.Text(what + " does not have one row, as it had when the loss was planned")
		parts = append(parts, "SELECT "+says+" WHERE NOT "+one)
	}
	var cases []string
	for i := range t.Cols {
		c := &t.Cols[i]
		if c.NoType != ra.NoRight {
			cases = append(cases, changed(c, sqltext.Ident(c.Name), fmt.Sprintf("column \"%s\" of %s", c.Name, what))...)
		}
	}
	if len(cases) > 0 {
		found := "SELECT " + first(cases) + " AS what FROM " + from
		parts = append(parts, "(SELECT f.what FROM ("+found+") AS f WHERE f.what IS NOT NULL LIMIT 1)")
	}
	return strings.Join(parts, " UNION ALL ")
}

// first is the text of the first case that holds, NULL where none does.
func first(cases []string) string { return "CASE " + strings.Join(cases, " ") + " END" }

// changed are the cases of CASE in which a row of x breaks what a plan may rest on of its column.
func changed(c *ra.TableColumn, x, what string) (cases []string) {
	when := func(cond, format string, args ...any) {
		cases = append(cases, "WHEN "+cond+" THEN "+sqltext.Text(fmt.Sprintf(format, args...)+" when the loss was planned"))
	}
	if !c.Type.Nullable && !c.NotNull {
		when(x+" IS NULL", "%s holds NULL, and held none", what)
	}
	if shape := c.Type.Shape; shape != nil {
		dims := strings.ReplaceAll(strings.Trim(fmt.Sprint([]int(shape)), "[]"), " ", ", ")
		when("NOT relgrad.gen_shaped("+x+", ARRAY["+dims+"]::pg_catalog.int8[])",
			"%s holds a chunk of another shape than %v, as all had", what, shape)
	}
	return append(cases, long(c, x, what)...)
}

// long are the cases in which a number that is compared has more digits than a double precision keeps.
func long(c *ra.TableColumn, x, what string) []string {
	if of := c.Type.Of; of == nil || of.Asked == nil || !*of.Asked {
		return nil
	}
	says := fmt.Sprintf("%s holds a number of more than %d digits, and held none when the loss was planned", what,
		maxDigits)
	return []string{fmt.Sprintf("WHEN %s OPERATOR(pg_catalog.>) %d THEN %s", digits(x), maxDigits, sqltext.Text(says))}
}

// notLong reads a column as x does, and raises an error where its numbers are long: the engine gets them rounded, and
// cannot tell.
func notLong(c *ra.TableColumn, x, table string) string {
	cases := long(c, sqltext.Ident(c.Name), fmt.Sprintf("column \"%s\" of table \"%s\"", c.Name, table))
	if len(cases) == 0 {
		return x
	}
	return "CASE WHEN relgrad.gen_changed(" + first(cases) + ") IS NULL THEN " + x + " END"
}

// PlannedRows gives the query of a sub-query's rows, which raises an error where they break what Describe has found of
// them.
func (planned) PlannedRows(query string, cols []ra.Column) string {
	var names, cases []string
	for i, c := range cols {
		name := fmt.Sprintf("c%d", i+1)
		names = append(names, name)
		what := fmt.Sprintf("column \"%s\" of a sub-query", c.Name)
		cases = append(cases, changed(&ra.TableColumn{Type: c.Type}, "q."+name, what)...)
	}
	if len(cases) == 0 {
		return query
	}
	// Without OFFSET the rows that the query leaves out could be looked at too: conditions are evaluated in any order.
	rows := "SELECT * FROM (SELECT * FROM (" + query + ") AS r OFFSET 0) AS q (" + strings.Join(names, ", ") + ")"
	return rows + " WHERE relgrad.gen_changed(" + first(cases) + ") IS NULL"
}

// HasChanged is the condition that a query which Planned prints finds nothing, or else the error.
func (planned) HasChanged(query string) string {
	return "relgrad.gen_changed((SELECT f.what FROM (" + query + ") AS f (what) LIMIT 1)) IS NULL"
}
