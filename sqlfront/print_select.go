package sqlfront

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Print gives a query as PostgreSQL text, on one line. Parsed again it is the same tree but for positions, except that a
// Bound becomes a cast of a constant, and a Cast with an Argument an ordinary cast.
func Print(s *Select) string {
	p := &printer{}
	p.query(s)
	return p.b.String()
}

// PrintStatement is Print for SELECT, INSERT, UPDATE and DELETE. Any other statement is a 0A000.
func PrintStatement(s Statement) (string, error) {
	p := &printer{}
	if !p.statement(s) {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "%T has no text", s).WithHint("Print the text that was parsed.")
	}
	return p.b.String(), nil
}

// printer writes trees as text. Whether an operand needs parentheses follows from the levels of print_expr.go.
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
func (p *printer) statement(s Statement) bool {
	switch x := s.(type) {
	case *Select:
		p.query(x)
	case *Insert:
		p.insert(x)
	case *Update:
		p.update(x)
	case *Delete:
		p.delete(x)
	default:
		return false
	}
	return true
}

func (p *printer) query(s *Select) {
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
		commas(p, s.Values, func(row []Expr) { p.list("(", row, ")") })
	default:
		p.plainSelect(s)
	}
	p.orderBy(" ORDER BY ", s.OrderBy)
	p.clause(" LIMIT ", s.Limit)
	p.clause(" OFFSET ", s.Offset)
}

// operand prints a side of a set operation; tight is set where another set operation needs parentheses.
func (p *printer) operand(s *Select, tight bool) {
	if s.Own != nil || s.With != nil || s.OrderBy != nil || s.Limit != nil || s.Offset != nil || tight && s.SetOp != "" {
		p.subquery(s)
		return
	}
	p.query(s)
}

func (p *printer) subquery(s *Select) {
	p.text("(")
	p.query(s)
	p.text(")")
}

func (p *printer) plainSelect(s *Select) {
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
		commas(p, s.Windows, func(w Window) {
			p.name(w.Name)
			p.text(" AS ")
			p.window(&w)
		})
	}
}

// clause prints an expression behind its keyword, nothing where there is none.
func (p *printer) clause(keyword string, x Expr) {
	if x != nil {
		p.text(keyword)
		p.expr(x, levelAny)
	}
}

func (p *printer) targets(list []Target) {
	commas(p, list, func(t Target) {
		p.expr(t.X, levelAny)
		name := t.Name
		if _, ok := t.X.(*Bound); ok && name == "" { // its cast would name the column
			name = ColumnName(t.X)
		}
		if name != "" {
			p.text(" AS ")
			p.name(name)
		}
	})
}

func (p *printer) with(list []CTE, recursive bool) {
	if list == nil {
		return
	}
	p.text("WITH ")
	if recursive {
		p.text("RECURSIVE ")
	}
	commas(p, list, func(c CTE) {
		p.alias(Alias{c.Name, c.Cols})
		p.text(map[string]string{"": " AS (", "yes": " AS MATERIALIZED (", "no": " AS NOT MATERIALIZED ("}[c.Materialized])
		p.statement(c.Query)
		p.text(")")
	})
	p.text(" ")
}

func (p *printer) alias(a Alias) {
	p.name(a.Name)
	if a.Cols != nil {
		p.text("(")
		p.names(a.Cols)
		p.text(")")
	}
}

func (p *printer) as(a Alias) {
	if a.Name != "" {
		p.text(" AS ")
		p.alias(a)
	}
}

func (p *printer) from(keyword string, list []FromItem) {
	if list != nil {
		p.text(keyword)
		commas(p, list, p.fromItem)
	}
}

func (p *printer) fromItem(item FromItem) {
	lateral := func(is bool) {
		if is {
			p.text("LATERAL ")
		}
	}
	switch x := item.(type) {
	case *TableRef:
		p.qualified(x.Schema, x.Name)
		p.as(x.Alias)
	case *SubSelect:
		lateral(x.Lateral)
		p.subquery(x.Query)
		p.as(x.Alias)
	case *FuncFrom:
		lateral(x.Lateral)
		p.call(x.Func)
		if x.Ordinality {
			p.text(" WITH ORDINALITY")
		}
		p.as(x.Alias)
	case *JoinFrom:
		p.join(x)
	}
}

func (p *printer) join(j *JoinFrom) {
	if j.Alias.Name != "" {
		bare := *j
		bare.Alias = Alias{}
		p.text("(")
		p.join(&bare)
		p.text(")")
		p.as(j.Alias)
		return
	}
	p.fromItem(j.L)
	switch {
	case j.Natural:
		p.text(" NATURAL")
	case j.Kind == JoinInner && j.On == nil && j.Using == nil:
		p.text(" CROSS")
	}
	p.text([]string{JoinInner: " JOIN ", JoinLeft: " LEFT JOIN ", JoinRight: " RIGHT JOIN ", JoinFull: " FULL JOIN "}[j.Kind])
	if r, ok := j.R.(*JoinFrom); ok && r.Alias.Name == "" {
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

func (p *printer) insert(s *Insert) {
	p.with(s.With, false)
	p.target("INSERT INTO ", s.Schema, s.Name, s.Alias)
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
			p.assigns(" DO UPDATE SET ", c.Set)
			p.clause(" WHERE ", c.Where)
		}
	}
	p.returning(s.Returning)
}

func (p *printer) update(s *Update) {
	p.with(s.With, false)
	p.target("UPDATE ", s.Schema, s.Name, s.Alias)
	p.assigns(" SET ", s.Set)
	p.from(" FROM ", s.From)
	p.clause(" WHERE ", s.Where)
	p.returning(s.Returning)
}

func (p *printer) delete(s *Delete) {
	p.with(s.With, false)
	p.target("DELETE FROM ", s.Schema, s.Name, s.Alias)
	p.from(" USING ", s.Using)
	p.clause(" WHERE ", s.Where)
	p.returning(s.Returning)
}

func (p *printer) target(keyword, schema, name, alias string) {
	p.text(keyword)
	p.qualified(schema, name)
	p.as(Alias{Name: alias})
}

func (p *printer) assigns(keyword string, list []Assign) {
	p.text(keyword)
	commas(p, list, func(a Assign) {
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

func (p *printer) returning(list []Target) {
	if list != nil {
		p.text(" RETURNING ")
		p.targets(list)
	}
}
