package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

var _ = bindExpr(arrayLit)

// maxArrayLit is the largest number of elements of an ARRAY[…] in a loss.
const maxArrayLit = 10000

// arrayLit is ARRAY[…]. Of integers it is a shape or a list of axes, of other numbers a chunk.
func arrayLit(s *scope, l *ast.ArrayLit) (*kernels.Expr, error) {
	_, elems, err := literalElements(s, l)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(elems, func(x *kernels.Expr) bool { return x.Type.Kind != kernels.Int }) &&
		len(elems) == len(l.Elems) {
		return kernels.Call(kernels.Lookup("int_array"), kernels.Attr{}, elems...)
	}
	kind := kernels.Float64
	if isReal(s, leaves(l, nil), elems) {
		kind = kernels.Float32
	}
	return chunkLit(s, l, kind)
}

// chunkLit is ARRAY[…] as a chunk of a kind, to which its elements are cast: Σ xᵢ eᵢ over the elements that are not
// constant, plus the chunk of constants.
func chunkLit(s *scope, l *ast.ArrayLit, kind kernels.Kind) (*kernels.Expr, error) {
	shape, elems, err := literalElements(s, l)
	if err != nil {
		return nil, err
	}
	fixed := make([]float64, len(elems))
	var sum *kernels.Expr
	for i, x := range elems {
		switch {
		case x.Type.Shape != nil || !x.Type.IsFloat() && x.Type.Kind != kernels.Int:
			return nil, s.f.fail(l, sqlerr.DatatypeMismatch, "an ARRAY of %v cannot stand in a loss", x.Type).
				WithHint("Its elements are numbers; concat_axis(a, b, axis) joins chunks.")
		case x.IsConst() && x.Const.Null:
			return nil, s.f.fail(l, sqlerr.NullNotAllowed, "a chunk cannot hold NULL")
		case x.IsConst():
			if fixed[i] = x.Const.Float(); kind == kernels.Float32 {
				fixed[i] = float64(float32(fixed[i]))
			}
			continue
		}
		unit := make([]float64, len(elems))
		unit[i] = 1
		part := kernels.Mul(kernels.CastTo(kind, x), kernels.Const(kernels.ChunkValue(kind, shape, unit)))
		if sum != nil {
			part = kernels.Add(sum, part)
		}
		sum = part
	}
	constant := kernels.Const(kernels.ChunkValue(kind, shape, fixed))
	switch {
	case sum == nil:
		return constant, nil
	case slices.ContainsFunc(fixed, func(x float64) bool { return x != 0 }):
		return kernels.Add(sum, constant), nil
	}
	return sum, nil
}

// leaves are the numbers of an ARRAY, which may be nested, row by row.
func leaves(l *ast.ArrayLit, before []ast.Expr) []ast.Expr {
	for _, e := range l.Elems {
		if row, nested := arrayRow(e); nested {
			before = leaves(row, before)
		} else {
			before = append(before, e)
		}
	}
	return before
}

// isReal reports whether Postgres's type of an ARRAY of these elements is real[]: one is real, and none is double
// precision (https://www.postgresql.org/docs/current/typeconv-union-case.html).
func isReal(s *scope, list []ast.Expr, bound []*kernels.Expr) bool {
	real := false
	for i, x := range bound {
		switch {
		case x.Type.Kind == kernels.Float32:
			real = true
		case x.Type.Kind == kernels.Float64 && s.class(list[i]) != numericClass && !isText(list[i]):
			return false
		}
	}
	return real
}

// literalElements binds the numbers of an ARRAY, which may be nested, row by row.
func literalElements(s *scope, l *ast.ArrayLit) (tensor.Shape, []*kernels.Expr, error) {
	if len(l.Elems) == 0 {
		return nil, nil, s.f.fail(l, sqlerr.ArraySubscript, "an empty ARRAY cannot stand in a loss").
			WithHint("ARRAY[]::bigint[] is the empty key of a draw; a chunk has at least one element.")
	}
	shape := tensor.Shape{len(l.Elems)}
	var out []*kernels.Expr
	for i, e := range l.Elems {
		row, nested := arrayRow(e)
		if !nested {
			x, err := elementOf(s, e)
			if err != nil {
				return nil, nil, err
			}
			if out = append(out, x); len(shape) == 1 {
				continue
			}
		}
		var inner tensor.Shape
		if nested {
			var xs []*kernels.Expr
			var err error
			if inner, xs, err = literalElements(s, row); err != nil {
				return nil, nil, err
			}
			out = append(out, xs...)
		}
		if i == 0 {
			shape = append(shape, inner...)
		}
		if !shape[1:].Equal(inner) || len(out) > maxArrayLit || len(shape) > tensor.MaxRank {
			return nil, nil, s.f.fail(e, sqlerr.ArraySubscript,
				"multidimensional arrays must have sub-arrays of equal lengths, at most %d dimensions and %d elements",
				tensor.MaxRank, maxArrayLit)
		}
	}
	return shape, out, nil
}

// elementOf binds an element. A text literal is read as a number.
func elementOf(s *scope, e ast.Expr) (*kernels.Expr, error) {
	if isText(e) {
		for _, t := range []string{"bigint", "double precision"} {
			if x, err := textAs(s, e, ast.TypeName{Name: t}); err == nil {
				return x, nil
			}
		}
	}
	return s.expr(e)
}

// arrayRow returns e as an ARRAY[…] if it is one, and moves a cast of it to its elements. Postgres prints the rows of
// an ARRAY in this way if it has converted the elements.
func arrayRow(e ast.Expr) (*ast.ArrayLit, bool) {
	if l, ok := e.(*ast.ArrayLit); ok {
		return l, true
	}
	c, ok := e.(*ast.Cast)
	if !ok || c.Type.Dims == 0 {
		return nil, false
	}
	l, ok := arrayRow(c.X)
	if !ok {
		return nil, false
	}
	out := &ast.ArrayLit{Node: l.Node}
	for _, e := range l.Elems {
		to := *c
		if to.X = e; !isArrayRow(e) {
			to.Type.Dims = 0
		}
		out.Elems = append(out.Elems, &to)
	}
	return out, true
}

func isArrayRow(e ast.Expr) bool {
	_, ok := arrayRow(e)
	return ok
}
