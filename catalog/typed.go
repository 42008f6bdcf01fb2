package catalog

import "github.com/relgrad/relgrad/sqlfront/ast"

// Typed are the types in a view's query, and in the queries of all views that it reads.
type Typed struct {
	Selects []*ast.Select           // all SELECTs, sub-queries and WITH items included, inner ones first
	Types   map[ast.Expr]Type       // by bound expression; an untyped literal has the zero Type
	Stored  map[*ast.ColumnRef]bool // references to columns of tables
}
