package relgrad

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/engine"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// TestSurface: what \df lists exists.
func TestSurface(t *testing.T) {
	db := open(t, "")
	f := &functions{db}
	for _, s := range engine.Surface {
		call := &ast.FuncCall{Name: s.Name}
		_, _, scalar, _ := f.ScalarFunc(context.Background(), call, &ast.Text{})
		_, table, _ := f.TableFunc(context.Background(), call, ast.Needs{}, &ast.Text{})
		_, err := db.Exec(context.Background(), &ast.Call{Func: call}, &ast.Text{})
		procedure := err != nil && err.Error() == "train needs a loss and its parameters" &&
			sqlerr.Code(err) == sqlerr.UndefinedFunction
		if s.Procedure != procedure || !s.Procedure && !scalar && !table {
			t.Errorf("%s: scalar %v, table %v, procedure %v", s.Name, scalar, table, procedure)
		}
	}
}
