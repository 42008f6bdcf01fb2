package relgrad

import (
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// withArgs puts the arguments into a statement.
func withArgs(stmt ast.Statement, args []any) (ast.Statement, error) {
	var failed error
	most := 0
	out := ast.Rewrite(ast.Tree(stmt), func(t ast.Tree) ast.Tree {
		p, ok := t.(*ast.Param)
		if !ok || failed != nil {
			return nil
		}
		if most = max(most, p.N); p.N < 1 || p.N > len(args) {
			failed = sqlerr.At(int(p.At), sqlerr.UndefinedParameter, "there is no parameter $%d", p.N).
				WithDetail("The statement has %d arguments.", len(args))
			return nil
		}
		x, err := argument(p.At, args[p.N-1])
		if err != nil {
			failed = sqlerr.At(int(p.At), sqlerr.DatatypeMismatch, "$%d: %v", p.N, err)
			return nil
		}
		return x
	})
	if failed == nil && most < len(args) {
		failed = sqlerr.New("08P01", "%d arguments for a statement with %d parameters", len(args), most)
	}
	return out.(ast.Statement), failed
}

// argument is a value of Go as a part of a statement.
func argument(at ast.Pos, v any) (ast.Expr, error) {
	node := ast.Node{At: at}
	literal := func(kind ast.LiteralKind, text string) (ast.Expr, error) {
		return &ast.Literal{Node: node, Kind: kind, Value: text}, nil
	}
	list := func(of string, elements []string) (ast.Expr, error) {
		for i, s := range elements {
			elements[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
		}
		text, _ := literal(ast.LitString, "{"+strings.Join(elements, ",")+"}")
		return &ast.Cast{Node: node, X: text, Type: ast.TypeName{Node: node, Name: of, Dims: 1}}, nil
	}
	switch x := v.(type) {
	case nil:
		return literal(ast.LitNull, "")
	case string:
		return literal(ast.LitString, x)
	case time.Time:
		return literal(ast.LitString, x.Format("2006-01-02 15:04:05.999999Z07:00"))
	case bool:
		return &ast.Bound{Node: node, Type: "boolean", Value: x}, nil
	case float32:
		return &ast.Bound{Node: node, Type: "real", Value: float64(x)}, nil
	case float64:
		return &ast.Bound{Node: node, Type: "double precision", Value: x}, nil
	case []string:
		return list("text", append([]string(nil), x...))
	case []int64:
		elements := make([]string, len(x))
		for i, n := range x {
			elements[i] = strconv.FormatInt(n, 10)
		}
		return list("bigint", elements)
	}
	if n, ok := integer(v); ok {
		if int64(int32(n)) == n {
			return &ast.Bound{Node: node, Type: "integer", Value: n}, nil
		}
		return &ast.Bound{Node: node, Type: "bigint", Value: n}, nil
	}
	t, err := chunkOf(v)
	if err != nil {
		return nil, err
	}
	return &ast.Bound{Node: node, Type: t.DType.String() + strings.Repeat("[]", len(t.Shape)), Value: t}, nil
}

func integer(v any) (int64, bool) {
	switch x := v.(type) {
	case int:
		return int64(x), true
	case int16:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	}
	return 0, false
}

// chunkOf is a chunk of numbers of Go.
func chunkOf(v any) (*tensor.Tensor, error) {
	var t *tensor.Tensor
	switch x := v.(type) {
	case *tensor.Tensor:
		t = x
	case []float64:
		t = &tensor.Tensor{DType: tensor.Float64, Shape: tensor.Shape{len(x)}, Data: append([]float64(nil), x...)}
	case []float32:
		t = tensor.New(tensor.Float32, len(x))
		for i, f := range x {
			t.Data[i] = float64(f)
		}
	case [][]float64:
		t = &tensor.Tensor{DType: tensor.Float64, Shape: tensor.Shape{len(x), 0}}
		for i, row := range x {
			if i > 0 && len(row) != len(x[0]) {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch, "row %d has %d numbers, row 0 has %d", i, len(row), len(x[0]))
			}
			t.Shape[1] = len(row)
			t.Data = append(t.Data, row...)
		}
	case mat.Matrix:
		rows, cols := x.Dims()
		t = tensor.New(tensor.Float64, rows, cols)
		for i := range t.Data {
			t.Data[i] = x.At(i/cols, i%cols)
		}
	default:
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "no value of SQL is made of %T", v)
	}
	if t == nil || t.Shape.Size() == 0 {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "a chunk has elements")
	}
	return t, nil
}

// Dense is a chunk of a result, of one or two axes, as a matrix of gonum; one axis gives one row. The numbers are
// copied. The rows of a table of vectors come as one chunk by SELECT array_agg(v ORDER BY id) FROM t.
func Dense(v any) (_ *mat.Dense, failed error) {
	defer exported(&failed)
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "a value of type %T is no chunk", v)
	}
	if len(t.Shape) == 0 || len(t.Shape) > 2 {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "a chunk of shape %v is no matrix", t.Shape)
	}
	rows, cols := 1, t.Shape[len(t.Shape)-1]
	if len(t.Shape) == 2 {
		rows = t.Shape[0]
	}
	return mat.NewDense(rows, cols, append([]float64(nil), t.Data...)), nil
}
