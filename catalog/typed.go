package catalog

import "github.com/relgrad/relgrad/sqlfront/ast"

// Typed is what a store knows of a view's query, and of the queries of all views that it reads.
type Typed struct {
	Selects []*ast.Select           // with those of sub-queries and WITH items, inner ones first
	Types   map[ast.Expr]Type       // of every expression that was bound; an untyped literal has the zero Type
	Stored  map[*ast.ColumnRef]bool // references to columns of tables
}
