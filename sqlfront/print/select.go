package print

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Print prints a query on one line. Parsing the text gives the same tree except for positions, and that a Bound becomes
// the cast of a constant and a Cast with an Argument an ordinary cast.
func Print(s *ast.Select) string {
	p := &printer{}
	p.query(s)
	return p.b.String()
}

// PrintStatement is Print for SELECT, INSERT, UPDATE and DELETE; other statements give 0A000.
func PrintStatement(s ast.Statement) (string, error) {
	p := &printer{}
	if !p.statement(s) {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "%T has no text", s).WithHint("Print the text that was parsed.")
	}
	return p.b.String(), nil
}

// printer writes trees as text. Whether an operand needs parentheses follows from the levels of expr.go.
type printer struct{ b strings.Builder }

func (p *printer) text(s string) { p.b.WriteString(s) }

// commas writes items with commas between.
func commas[T any](p *printer, items []T, item func(T)) {
	for i, x := range items {
		if i > 0 {
			p.text(", ")
		}
		item(x)
	}
}

// statement reports whether s is of a kind that can be printed.
func (p *printer) statement(s ast.Statement) bool {
	switch x := s.(type) {
	case *ast.Select:
		p.query(x)
	case *ast.Insert:
		insertStmt(p, x)
	case *ast.Update:
		updateStmt(p, x)
	case *ast.Delete:
		deleteStmt(p, x)
	default:
		return false
	}
	return true
}

func (p *printer) query(s *ast.Select) {
	p.with(s.With, s.Recursive)
	switch {
	case s.Own != nil:
		p.text(s.Own.SQL)
	case s.SetOp != "":
		p.operand(s.L, s.SetOp == "intersect")
		p.text(" " + strings.ToUpper(s.SetOp))
		if s.All {
			p.text(" ALL")
		}
		p.text(" ")
		p.operand(s.R, true)
	case s.Values != nil:
		p.text("VALUES ")
		commas(p, s.Values, func(row []ast.Expr) { p.list("(", row, ")") })
	default:
		p.plainSelect(s)
	}
	p.orderBy(" ORDER BY ", s.OrderBy)
	p.clause(" LIMIT ", s.Limit)
	p.clause(" OFFSET ", s.Offset)
}

// operand prints a side of a set operation. tight: a nested set operation needs parentheses.
func (p *printer) operand(s *ast.Select, tight bool) {
	if s.Own != nil || s.With != nil || s.OrderBy != nil || s.Limit != nil || s.Offset != nil || tight && s.SetOp != "" {
		p.subquery(s)
		return
	}
	p.query(s)
}

func (p *printer) subquery(s *ast.Select) {
	p.text("(")
	p.query(s)
	p.text(")")
}

func (p *printer) plainSelect(s *ast.Select) {
	p.text("SELECT")
	switch {
	case s.Distinct:
		p.text(" DISTINCT")
	case s.DistinctOn != nil:
		p.text(" DISTINCT ON ")
		p.list("(", s.DistinctOn, ")")
	}
	if s.Targets != nil {
		p.text(" ")
		p.targets(s.Targets)
	}
	p.from(" FROM ", s.From)
	p.clause(" WHERE ", s.Where)
	if s.GroupBy != nil {
		p.list(" GROUP BY ", s.GroupBy, "")
	}
	p.clause(" HAVING ", s.Having)
	if s.Windows != nil {
		p.text(" WINDOW ")
		commas(p, s.Windows, func(w ast.Window) {
			p.name(w.Name)
			p.text(" AS ")
			p.window(&w)
		})
	}
}

// clause prints a keyword and an expression; nothing where x is nil.
func (p *printer) clause(keyword string, x ast.Expr) {
	if x != nil {
		p.text(keyword)
		p.expr(x, levelAny)
	}
}

func (p *printer) targets(list []ast.Target) {
	commas(p, list, func(t ast.Target) {
		p.expr(t.X, levelAny)
		name := t.Name
		if _, ok := t.X.(*ast.Bound); ok && name == "" { // else the cast would name the column
			name = ast.ColumnName(t.X)
		}
		if name != "" {
			p.text(" AS ")
			p.name(name)
		}
	})
}

func (p *printer) with(list []ast.CTE, recursive bool) {
	if list == nil {
		return
	}
	p.text("WITH ")
	if recursive {
		p.text("RECURSIVE ")
	}
	commas(p, list, func(c ast.CTE) {
		p.alias(ast.Alias{Name: c.Name, Cols: c.Cols})
		p.text(map[string]string{"": " AS (", "yes": " AS MATERIALIZED (", "no": " AS NOT MATERIALIZED ("}[c.Materialized])
		p.statement(c.Query)
		p.text(")")
	})
	p.text(" ")
}

func (p *printer) alias(a ast.Alias) {
	p.name(a.Name)
	if a.Cols != nil {
		p.text("(")
		p.names(a.Cols)
		p.text(")")
	}
}

func (p *printer) as(a ast.Alias) {
	if a.Name != "" {
		p.text(" AS ")
		p.alias(a)
	}
}

func (p *printer) from(keyword string, list []ast.FromItem) {
	if list != nil {
		p.text(keyword)
		commas(p, list, p.fromItem)
	}
}

func (p *printer) fromItem(item ast.FromItem) {
	lateral := func(is bool) {
		if is {
			p.text("LATERAL ")
		}
	}
	switch x := item.(type) {
	case *ast.TableRef:
		if x.Only {
			p.text("ONLY ")
		}
		p.qualified(x.Schema, x.Name)
		p.as(x.Alias)
	case *ast.SubSelect:
		lateral(x.Lateral)
		p.subquery(x.Query)
		p.as(x.Alias)
	case *ast.FuncFrom:
		lateral(x.Lateral)
		p.call(x.Func)
		if x.Ordinality {
			p.text(" WITH ORDINALITY")
		}
		p.as(x.Alias)
	case *ast.JoinFrom:
		p.join(x)
	}
}

func (p *printer) join(j *ast.JoinFrom) {
	p.fromItem(j.L)
	switch {
	case j.Natural:
		p.text(" NATURAL")
	case j.Kind == ast.JoinInner && j.On == nil && j.Using == nil:
		p.text(" CROSS")
	}
	p.text([]string{ast.JoinInner: " JOIN ", ast.JoinLeft: " LEFT JOIN ", ast.JoinRight: " RIGHT JOIN ",
		ast.JoinFull: " FULL JOIN "}[j.Kind])
	if r, ok := j.R.(*ast.JoinFrom); ok {
		p.text("(")
		p.join(r)
		p.text(")")
	} else {
		p.fromItem(j.R)
	}
	p.clause(" ON ", j.On)
	if j.Using != nil {
		p.text(" USING (")
		p.names(j.Using)
		p.text(")")
	}
}

func insertStmt(p *printer, s *ast.Insert) {
	p.with(s.With, false)
	writtenTable(p, "INSERT INTO ", s.Schema, s.Name, s.Alias)
	if s.Cols != nil {
		p.text(" (")
		p.names(s.Cols)
		p.text(")")
	}
	if s.Overriding {
		p.text(" OVERRIDING SYSTEM VALUE")
	}
	if s.Query == nil {
		p.text(" DEFAULT VALUES")
	} else {
		p.text(" ")
		p.query(s.Query)
	}
	if c := s.OnConflict; c != nil {
		p.text(" ON CONFLICT")
		if c.Cols != nil {
			p.text(" (")
			p.names(c.Cols)
			p.text(")")
		}
		if c.Set == nil {
			p.text(" DO NOTHING")
		} else {
			assignments(p, " DO UPDATE SET ", c.Set)
			p.clause(" WHERE ", c.Where)
		}
	}
	returningList(p, s.Returning)
}

func updateStmt(p *printer, s *ast.Update) {
	p.with(s.With, false)
	writtenTable(p, "UPDATE ", s.Schema, s.Name, s.Alias)
	assignments(p, " SET ", s.Set)
	p.from(" FROM ", s.From)
	p.clause(" WHERE ", s.Where)
	returningList(p, s.Returning)
}

func deleteStmt(p *printer, s *ast.Delete) {
	p.with(s.With, false)
	writtenTable(p, "DELETE FROM ", s.Schema, s.Name, s.Alias)
	p.from(" USING ", s.Using)
	p.clause(" WHERE ", s.Where)
	returningList(p, s.Returning)
}

func writtenTable(p *printer, keyword, schema, name, alias string) {
	p.text(keyword)
	p.qualified(schema, name)
	p.as(ast.Alias{Name: alias})
}

func assignments(p *printer, keyword string, list []ast.Assign) {
	p.text(keyword)
	commas(p, list, func(a ast.Assign) {
		p.name(a.Col)
		p.indices(a.Indices)
		p.text(" = ")
		if a.X == nil {
			p.text("DEFAULT")
			return
		}
		p.expr(a.X, levelAny)
	})
}

func returningList(p *printer, list []ast.Target) {
	if list != nil {
		p.text(" RETURNING ")
		p.targets(list)
	}
}
