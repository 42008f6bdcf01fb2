package store

import (
	"strings"

	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// named are the store's types whose values stand in the algebra as texts that are no texts.
var named = map[string]*kernels.Named{
	tDate.Name: {Name: tDate.String()}, tTimestamp.Name: {Name: tTimestamp.String()}, tTZ.Name: {Name: tTZ.String()},
	"json": carried("json"), "jsonb": carried("jsonb"), "regclass": carried("regclass"),
	tUUID.Name: {Name: tUUID.Name},
}

// carried is a type whose values a loss can only carry along.
func carried(name string) *kernels.Named {
	why := "values of type " + name + " cannot be compared in a loss"
	return &kernels.Named{Name: name, Equal: why, Order: why}
}

// namedOf is the type of a column's texts; nil where they are texts, or the column holds none.
func namedOf(t Type) *kernels.Named {
	if t.Array {
		return carried(t.declared())
	}
	return named[t.Name]
}

// NamedType is the type of a cast whose values are kept as texts that are no texts, nil for any other.
func NamedType(t ast.TypeName) *kernels.Named {
	if t.Schema != "" || t.Dims > 0 {
		return nil
	}
	if n := named[strings.TrimSuffix(t.Name, " without time zone")]; n != nil && n.Equal == "" {
		return n
	}
	return nil
}

// kernelType is the type in the algebra of a column whose chunks have a shape, nil where none is known; why says why it has none.
func kernelType(of Type, shape tensor.Shape) (t kernels.Type, why string) {
	switch {
	case of.isChunk():
		t.Kind = kernels.KindOf(of.dtype())
		t.Shape = shape
		if shape == nil {
			return t, "it holds no chunk yet, so its shape is not known"
		}
	case of.Array:
		return kernels.Type{Kind: kernels.Text, Of: namedOf(of)}, ""
	case of.isFloat():
		t.Kind = kernels.KindOf(of.dtype())
	case of.is(tNumeric):
		t.Kind = kernels.Float64
	case of.isInt():
		t.Kind = kernels.Int
	case of.is(tBool):
		t.Kind = kernels.Bool
	default:
		t.Kind, t.Of = kernels.Text, namedOf(of)
	}
	return t, ""
}
