package bind

import (
	"errors"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Data that are no numbers reach a loss as numbers that a sub-query makes of them, by a cast of booleans, or as keys of
// a table of parameters. Hints of operators say which.

// dated is the hint where a loss computes with a date or a time; %s does so.
const dated = "A view of the table, or a sub-query that reads no parameter, makes a number of it: " +
	"FROM (SELECT id, %s AS t FROM sales) s."

// dateFunctions make numbers, texts or dates of dates.
var dateFunctions = []string{"age", "date_part", "date_trunc", "extract", "make_date", "to_char", "to_date"}

// operands completes the error of an operator whose operands are no numbers: it names their types and what helps.
func operands(err error, b *ast.Binary, l, r *kernels.Expr) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.UndefinedFunction || e.Hint != "" {
		return err
	}
	for i, x := range []*kernels.Expr{l, r} {
		name := "x"
		if c, ok := []ast.Expr{b.L, b.R}[i].(*ast.ColumnRef); ok {
			name = strings.Join(c.Names, ".")
		}
		switch {
		case x.Type.Kind == kernels.Text && !x.Type.Of.IsText():
			e.Message = "operator does not exist: " + called(l) + " " + b.Op + " " + called(r)
			e.Hint = fmt.Sprintf(dated, "day - DATE '2024-01-01'")
			return err
		case x.Type.Kind == kernels.Text && !x.IsConst():
			e.Hint = "A number for each text is a row of a table, which the loss joins: CREATE TABLE effect (" +
				name[strings.LastIndex(name, ".")+1:] + " text PRIMARY KEY, b double precision)."
		case x.Type.Kind == kernels.Bool:
			e.Hint = "A cast makes 1 and 0 of a boolean: " + name + "::int."
		}
	}
	return err
}

// called is the name of an expression's type in the database.
func called(x *kernels.Expr) string {
	if x.Type.Kind == kernels.Text {
		return x.Type.Of.String()
	}
	return x.Type.String()
}
