package sqlfront

import (
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// In the algebra numeric is double precision. Where structure is computed with it (no parameter is read) results are
// kept to 15 digits and halves are rounded away from zero, as Postgres's numeric does; more digits are lost.

// numberClass is the class of numbers that Postgres gives an expression; the widest that meet give that of the result.
type numberClass uint8

const (
	otherClass   numberClass = iota // no number, or not known
	untypedClass                    // NULL and quoted literals: of the class that they meet
	intClass
	numericClass
	floatClass
)

// class finds the class of an expression that is bound already, from its text: kernels know double precision only.
func (s *scope) class(e Expr) numberClass {
	switch x := e.(type) {
	case *Literal:
		return [...]numberClass{LitNull: untypedClass, LitString: untypedClass, LitInt: intClass, LitNumeric: numericClass, LitBool: otherClass}[x.Kind]
	case *Bound:
		return classOf(x.Type)
	case *ColumnRef:
		return s.columnClass(x)
	case *SubLink:
		return s.b.classes[e]
	case *Unary:
		if x.Op == "-" || x.Op == "+" {
			return s.class(x.X)
		}
	case *Binary:
		return s.operatorClass(x.Op, x.L, x.R)
	case *Cast:
		if x.Type.Dims == 0 {
			return classOf(x.Type.Name)
		}
	case *Coalesce:
		return s.widest(x.Args)
	case *MinMax:
		return s.widest(x.Args)
	case *NullIf:
		return s.widest([]Expr{x.L, x.R})
	case *Case:
		results := []Expr{}
		for _, w := range x.Whens {
			results = append(results, w.Result)
		}
		if x.Else != nil {
			results = append(results, x.Else)
		}
		return s.widest(results)
	case *FuncCall:
		return s.callClass(x)
	}
	return otherClass
}

// classOf is the class of a Postgres type.
func classOf(name string) numberClass {
	switch k, ok := kindOf(TypeName{Name: name}); {
	case !ok:
		return otherClass
	case name == "numeric":
		return numericClass
	case k == kernels.Int:
		return intClass
	case k == kernels.Float32 || k == kernels.Float64:
		return floatClass
	}
	return otherClass
}

// widest is the class of what chooses between expressions.
func (s *scope) widest(list []Expr) numberClass {
	out := untypedClass
	for _, e := range list {
		out = wider(out, s.class(e))
	}
	return out
}

// wider is the class of arithmetic between two classes.
func wider(a, b numberClass) numberClass {
	if a == otherClass || b == otherClass {
		return otherClass
	}
	return max(a, b)
}

func (s *scope) operatorClass(op string, l, r Expr) numberClass {
	switch op {
	case "+", "-", "*", "/", "%":
		return s.widest([]Expr{l, r})
	case "^":
		return powers(s.widest([]Expr{l, r}))
	}
	return otherClass
}

// powers is the class of what Postgres has for numeric and double precision only: an integer becomes the latter.
func powers(c numberClass) numberClass {
	if c == intClass {
		return floatClass
	}
	return c
}

func (s *scope) callClass(c *FuncCall) numberClass {
	switch _, ok := aggregates[c.Name]; {
	case ok:
		return s.aggregateClass(c)
	case c.Name == "abs" || c.Name == "mod":
		return s.widest(c.Args)
	case ofNumerics[c.Name]:
		return powers(s.widest(c.Args))
	}
	return otherClass
}

var ofNumerics = map[string]bool{"floor": true, "ceil": true, "ceiling": true, "round": true, "trunc": true, "sign": true, "sqrt": true, "exp": true,
	"ln": true, "log": true, "power": true}

// aggregateClass: an average of integers is numeric, and so is a sum that is no longer an integer.
func (s *scope) aggregateClass(c *FuncCall) numberClass {
	x, below := s.over[c], s
	if g := s.post; g != nil && c.Over == nil {
		x, below = g.calls[c], g.pre
	}
	switch {
	case x == nil || x.Type.Shape != nil:
		return otherClass
	case x.Type.Kind == kernels.Int:
		return intClass
	case len(c.Args) == 1 && below.class(c.Args[0]) == intClass:
		return numericClass
	}
	return below.widest(c.Args)
}

func (s *scope) columnClass(c *ColumnRef) numberClass {
	if s.post != nil {
		return s.post.pre.columnClass(c)
	}
	x, err := s.column(c)
	if err != nil || !x.IsCol {
		return otherClass
	}
	return s.b.columnClass(s.inputs[x.Col.Input].node, x.Col.ID)
}

// columnClass follows a column to where its class is known: a target, or a column as it was declared.
func (b *binder) columnClass(n *ra.Node, id ra.ColumnID) numberClass {
	if c, ok := b.colClasses[id]; ok {
		return c
	}
	i := n.Index(id)
	switch t := n.Cols[i].Type; {
	case t.Shape != nil:
		return otherClass
	case t.Kind == kernels.Int:
		return intClass
	}
	switch n.Op {
	case ra.Scan, ra.Gradient:
		if i < len(n.TableCols) && n.TableCols[i] != ra.RowID {
			return classOf(n.Table.Cols[n.TableCols[i]].PGType)
		}
	case ra.Opaque:
		if q := n.Query.(*OpaqueQuery); i < len(q.Types) {
			return classOf(q.Types[i])
		}
	case ra.Select, ra.Join:
		return b.exprClass(n.Inputs, n.Out[i])
	case ra.Aggregate:
		if i < len(n.Group) {
			return b.columnClass(n.Inputs[0], n.Group[i])
		}
		return b.columnClass(n.Inputs[0], n.Aggs[i-len(n.Group)].Arg)
	case ra.Union:
		out := untypedClass
		for _, in := range n.Inputs {
			out = wider(out, b.columnClass(in, in.Cols[i].ID))
		}
		return out
	case ra.SemiJoin, ra.AntiJoin:
		return b.columnClass(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return otherClass
}

// exprClass is the class of an expression that binding itself has made of columns.
func (b *binder) exprClass(inputs []*ra.Node, x *kernels.Expr) numberClass {
	switch {
	case x.IsCol:
		return b.columnClass(inputs[x.Col.Input], x.Col.ID)
	case x.IsConst() && x.Const.Null:
		return untypedClass
	case x.Type.Kind == kernels.Int && x.Type.Shape == nil:
		return intClass
	case x.IsConst():
		return otherClass
	case x.Def.Name == "cast" && x.Type.IsFloat():
		return b.exprClass(inputs, x.Args[0])
	case x.Def.Name == "case" && len(x.Args) == 3:
		return wider(b.exprClass(inputs, x.Args[1]), b.exprClass(inputs, x.Args[2]))
	}
	return otherClass
}

// decimal keeps the result x of e to 15 digits where it is numeric and no parameter is read. Powers are as exact as they
// are.
func (s *scope) decimal(e *Binary, x *kernels.Expr) *kernels.Expr {
	if x.Type.Kind != kernels.Float64 || x.Type.Shape != nil || s.depends(x) || e.Op == "^" || s.class(e) != numericClass {
		return x
	}
	return kernels.Build("decimal", x)
}

// awayFromZero rounds a numeric value as Postgres does.
func awayFromZero(x *kernels.Expr) *kernels.Expr {
	return kernels.Mul(kernels.Build("sign", x), kernels.Build("floor", kernels.Add(kernels.Build("abs", x), kernels.Num(0.5))))
}
