package bind

import (
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
)

// bindRecursive makes the CTE visible to itself with the column types of its first branch.
func bindRecursive(b *Binder, s *Scope, w *ast.CTE, q *ast.Select, c *cte) {
	if q.SetOp != "union" {
		b.FailHint(w.At, invalidRecursion, "Write WITH RECURSIVE "+w.Name+" AS (start UNION ALL step).",
			"recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", w.Name)
	}
	wellFormed(b, w, q)
	first := b.SelectQuery(q.L, s)
	first.Settle(b)
	c.cols, c.hidden = cteColumns(b, w, first), false
}

// recursiveTypes refuses a recursive query whose second branch changes the type of a column.
func recursiveTypes(b *Binder, w *ast.CTE, c *cte, q *Query) {
	for i, col := range c.cols {
		if all := q.Columns[i]; !all.Type.Is(col.Type) || !slices.Equal(all.Mods, col.Mods) {
			b.FailHint(w.At, sqlerr.DatatypeMismatch, "Cast the output of the non-recursive term to the correct type.",
				"recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall", w.Name, i+1,
				catalog.TypeText(col.Type, col.Mods), catalog.TypeText(all.Type, all.Mods))
		}
	}
}

// invalidRecursion is the SQLSTATE of a recursive query that Postgres refuses.
const invalidRecursion = "42P19"

// wellFormed refuses the recursive queries that Postgres refuses, and those that SQLite cannot run: it demands that the
// query's name occurs once, in FROM of a plain SELECT.
func wellFormed(b *Binder, w *ast.CTE, q *ast.Select) {
	misplaced := func(where string) {
		b.Fail(w.At, invalidRecursion, "recursive reference to query \"%s\" must not appear %s", w.Name, where)
	}
	if refersTo(q.L, w.Name) {
		misplaced("within its non-recursive term")
	}
	for clause, there := range map[string]bool{"ORDER BY": len(q.OrderBy) > 0, "OFFSET": q.Offset != nil,
		"LIMIT": q.Limit != nil} {
		if there {
			b.Fail(w.At, sqlerr.FeatureNotSupported, "%s in a recursive query is not implemented", clause)
		}
	}
	step := q.R
	within := func(what string) {
		b.Refuse(step.At, "a recursive query that refers to itself within "+what,
			"Refer to it once, in FROM of a plain SELECT behind UNION ALL.")
	}
	n, tables := references(step, w.Name), 0
	for _, it := range step.From {
		tables += recursiveTables(b, it, w.Name, misplaced, within)
	}
	switch {
	case n > 0 && len(step.With) > 0:
		within("a SELECT with a WITH of its own")
	case step.SetOp == "" && tables == 0:
		misplaced("within a subquery")
	case n > 1:
		misplaced("more than once")
	case step.SetOp != "":
		within("a set operation")
	case step.Distinct || len(step.DistinctOn) > 0 || len(step.OrderBy) > 0 || step.Limit != nil || step.Offset != nil:
		within("a SELECT with DISTINCT, ORDER BY or LIMIT")
	case slices.ContainsFunc(step.From, joinsRight):
		b.Refuse(step.At, "a RIGHT or FULL JOIN in the step of a recursive query",
			"Write it as a LEFT JOIN: x RIGHT JOIN r is r LEFT JOIN x.")
	}
	recursiveStep(b, step, within)
}

// recursiveStep refuses groups and windows in the step of a recursive query.
func recursiveStep(b *Binder, step *ast.Select, within func(string)) {
	if hasAggregate(step.Targets) || step.Having != nil {
		b.Fail(step.At, invalidRecursion, "aggregate functions are not allowed in a recursive query's recursive term")
	}
	if len(step.GroupBy) > 0 || windowed(step.Targets) {
		within("a SELECT with GROUP BY or windows")
	}
}

// recursiveTables counts the references to a recursive query among the tables of a FROM item.
func recursiveTables(b *Binder, it ast.FromItem, name string, misplaced, within func(string)) int {
	switch it := it.(type) {
	case *ast.TableRef:
		return columns.Bit(it.Schema == "" && it.Name == name)
	case *ast.JoinFrom:
		l, r := recursiveTables(b, it.L, name, misplaced, within), recursiveTables(b, it.R, name, misplaced, within)
		if l > 0 && (it.Kind == ast.JoinRight || it.Kind == ast.JoinFull) || r > 0 &&
			(it.Kind == ast.JoinLeft || it.Kind == ast.JoinFull) {
			misplaced("within an outer join")
		}
		return l + r
	case *ast.SubSelect:
		if n := references(it.Query, name); n > 1 {
			misplaced("more than once")
		} else if n == 1 {
			within("a sub-query of FROM")
		}
	}
	return 0
}

// references counts how often a query refers to a table of this name.
func references(q *ast.Select, name string) int {
	n := 0
	ast.Each(q, func(r *ast.TableRef) {
		if r.Schema == "" && r.Name == name {
			n++
		}
	})
	return n
}
