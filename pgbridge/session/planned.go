package session

import (
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/ra"
)

// A plan depends on more than definitions: on facts about what the tables hold. Generated SQL checks these facts again
// when it runs, in the snapshot that it reads, and raises an error if another session has changed one.

// planned prints checks of facts on which a plan depends.
type planned struct{}

// Planned is a query that checks the facts about a table on which a plan may depend. It returns one text, the message,
// if a fact has changed, else no row. It is "" if definitions alone say all.
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

// first is the text of the first case that holds, NULL if none does.
func first(cases []string) string { return "CASE " + strings.Join(cases, " ") + " END" }

// changed returns cases of CASE in which x, a value of column c, breaks a fact about the column.
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

// long returns the case in which a number that a loss compares has more digits than a double precision keeps.
func long(c *ra.TableColumn, x, what string) []string {
	if of := c.Type.Of; of == nil || of.Asked == nil || !*of.Asked {
		return nil
	}
	says := fmt.Sprintf("%s holds a number of more than %d digits, and held none when the loss was planned", what,
		maxDigits)
	return []string{fmt.Sprintf("WHEN %s OPERATOR(pg_catalog.>) %d THEN %s", digits(x), maxDigits, sqltext.Text(says))}
}

// notLong reads a column as x does, and raises an error if one of its numbers is long: the engine gets them rounded,
// and could not notice.
func notLong(c *ra.TableColumn, x, table string) string {
	cases := long(c, sqltext.Ident(c.Name), fmt.Sprintf("column \"%s\" of table \"%s\"", c.Name, table))
	if len(cases) == 0 {
		return x
	}
	return "CASE WHEN relgrad.gen_changed(" + first(cases) + ") IS NULL THEN " + x + " END"
}

// PlannedRows is a query of a sub-query's rows that raises an error if they break a fact that Describe has found about
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
	// OFFSET 0 keeps rows that the query filters out from the check: without it conditions are evaluated in any order.
	rows := "SELECT * FROM (SELECT * FROM (" + query + ") AS r OFFSET 0) AS q (" + strings.Join(names, ", ") + ")"
	return rows + " WHERE relgrad.gen_changed(" + first(cases) + ") IS NULL"
}

// HasChanged is a condition that raises an error if a query of Planned returns a text, and else holds.
func (planned) HasChanged(query string) string {
	return "relgrad.gen_changed((SELECT f.what FROM (" + query + ") AS f (what) LIMIT 1)) IS NULL"
}
