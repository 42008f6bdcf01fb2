package run

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// columnsOf converts rows of constants, which Literal makes, to columns. The first row says the types.
func columnsOf(rows [][]ast.Expr) []*column.Column {
	out := make([]*column.Column, len(rows[0]))
	for i := range out {
		var t kernels.Type
		switch first := rows[0][i].(*ast.Bound); first.Type {
		case "bigint":
			t.Kind = kernels.Int
		case "double precision":
			t.Kind = kernels.Float64
		case "double precision[]":
			t = kernels.Type{Kind: kernels.Float64, Shape: first.Value.(*tensor.Tensor).Shape}
		default:
			t.Kind = kernels.Text
		}
		v := column.New(t, len(rows))
		for r := range rows {
			switch x := rows[r][i].(*ast.Bound).Value.(type) {
			case nil:
				v.SetNull(r)
			case int64:
				v.I64()[r] = x
			case float64:
				v.F64()[r] = x
			case string:
				v.Texts()[r] = x
			case *tensor.Tensor:
				copy(v.F64()[r*t.Size():], x.Data)
			}
		}
		out[i] = v
	}
	return out
}
