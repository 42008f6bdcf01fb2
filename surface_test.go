package relgrad

import (
	"context"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront"
)

// TestSurface: what \df lists exists.
func TestSurface(t *testing.T) {
	db := open(t, "")
	f := &functions{db}
	for _, s := range Surface {
		call := &sqlfront.FuncCall{Name: s.Name}
		_, _, scalar, _ := f.ScalarFunc(context.Background(), call, &sqlfront.Text{})
		_, table, _ := f.TableFunc(context.Background(), call, &sqlfront.Text{})
		_, err := db.Exec(context.Background(), &sqlfront.Call{Func: call}, &sqlfront.Text{})
		procedure := err != nil && err.Error() == "train needs a loss and its parameters" && sqlerr.Code(err) == sqlerr.UndefinedFunction
		if s.Procedure != procedure || !s.Procedure && !scalar && !table {
			t.Errorf("%s: scalar %v, table %v, procedure %v", s.Name, scalar, table, procedure)
		}
	}
}
