package sqlfront

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// In the algebra numeric is double precision. Where structure is computed with it (no parameter is read) results are
// kept to 15 digits and halves are rounded away from zero, as Postgres's numeric does; more digits are lost.

// numberClass is the class of numbers that Postgres gives an expression.
type numberClass uint8

const (
	otherClass numberClass = iota // no number, or unknown
	intClass
	numericClass
	floatClass
)

// class finds the class of an expression from its text.
func (s *scope) class(e Expr) numberClass {
	switch x := e.(type) {
	case *Literal:
		switch x.Kind {
		case LitInt:
			return intClass
		case LitNumeric:
			return numericClass
		}
	case *ColumnRef:
		return s.columnClass(x)
	case *Unary:
		if x.Op == "-" || x.Op == "+" {
			return s.class(x.X)
		}
	case *Binary:
		if arithmetic[x.Op] {
			return wider(s.class(x.L), s.class(x.R))
		}
	case *Cast:
		switch k, ok := kindOf(x.Type); {
		case x.Type.Dims > 0 || !ok:
		case x.Type.Name == "numeric":
			return numericClass
		case k == kernels.Int:
			return intClass
		case k == kernels.Float32 || k == kernels.Float64:
			return floatClass
		}
	case *FuncCall:
		if keepsClass[x.Name] && len(x.Args) > 0 && s.class(x.Args[0]) == numericClass {
			return numericClass
		}
	}
	return otherClass
}

var (
	arithmetic = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true}
	keepsClass = map[string]bool{"abs": true, "floor": true, "ceil": true, "ceiling": true, "round": true, "trunc": true, "sign": true}
)

// wider is the class of arithmetic between two classes.
func wider(a, b numberClass) numberClass {
	if a == otherClass || b == otherClass {
		return otherClass
	}
	return max(a, b)
}

func (s *scope) columnClass(c *ColumnRef) numberClass {
	x, err := s.column(c)
	if err != nil || !x.IsCol || x.Type.Shape != nil {
		return otherClass
	}
	switch x.Type.Kind {
	case kernels.Int:
		return intClass
	case kernels.Float32:
		return floatClass
	case kernels.Float64:
		if isNumericColumn(s.inputs[x.Col.Input].node, x.Col.ID) {
			return numericClass
		}
		return floatClass
	}
	return otherClass
}

// isNumericColumn reports whether a column is a stored numeric one.
func isNumericColumn(n *ra.Node, id ra.ColumnID) bool {
	i := n.Index(id)
	switch n.Op {
	case ra.Scan, ra.Gradient:
		return i < len(n.TableCols) && n.TableCols[i] != ra.RowID && n.Table.Cols[n.TableCols[i]].PGType == "numeric"
	case ra.Select, ra.Join:
		x := n.Out[i]
		return x.IsCol && isNumericColumn(n.Inputs[x.Col.Input], x.Col.ID) || x.Def != nil && x.Def.Name == "decimal"
	case ra.Aggregate:
		return i < len(n.Group) && isNumericColumn(n.Inputs[0], n.Group[i])
	case ra.Union:
		return isNumericColumn(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	case ra.SemiJoin, ra.AntiJoin:
		return isNumericColumn(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return false
}

// decimal keeps the result x of e to 15 digits where it is numeric and no parameter is read.
func (s *scope) decimal(e Expr, x *kernels.Expr) *kernels.Expr {
	if x.Type.Kind != kernels.Float64 || x.Type.Shape != nil || s.depends(x) || s.class(e) != numericClass {
		return x
	}
	return kernels.Build("decimal", x)
}

// awayFromZero rounds a numeric value as Postgres does.
func awayFromZero(x *kernels.Expr) *kernels.Expr {
	return kernels.Mul(kernels.Build("sign", x), kernels.Build("floor", kernels.Add(kernels.Build("abs", x), kernels.Num(0.5))))
}
