package columns

import (
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/tensor"
)

// named are the store's types whose values are texts in the algebra without being of type text, such as dates.
var named = map[string]*kernels.Named{
	catalog.Date.Name: {Name: catalog.Date.String()}, catalog.Timestamp.Name: {Name: catalog.Timestamp.String()},
	catalog.TimestampTZ.Name: {Name: catalog.TimestampTZ.String()},
	"json":                   carried("json"), "jsonb": carried("jsonb"), "regclass": carried("regclass"),
	catalog.UUID.Name: {Name: catalog.UUID.Name},
}

// carried is a type whose values a loss may only pass on, not compute with.
func carried(name string) *kernels.Named {
	why := "values of type " + name + " cannot be compared in a loss"
	return &kernels.Named{Name: name, Equal: why, Order: why}
}

// namedOf is the named type of a column, nil where it holds texts or no texts at all.
func namedOf(t catalog.Type) *kernels.Named {
	if t.Array {
		return carried(t.Declared())
	}
	return named[t.Name]
}

// NamedType is the named type to which a cast leads, nil for any other type.
func NamedType(t ast.TypeName) *kernels.Named {
	if t.Schema != "" || t.Dims > 0 {
		return nil
	}
	if n := named[strings.TrimSuffix(t.Name, " without time zone")]; n != nil && n.Equal == "" {
		return n
	}
	return nil
}

// KernelType is the algebra's type of a column whose chunks have a shape (nil: not known). A type without one is
// refused; why gives the reason.
func KernelType(of catalog.Type, shape tensor.Shape) (t kernels.Type, why string) {
	switch {
	case of.IsChunk():
		t.Kind = kernels.KindOf(of.DType())
		t.Shape = shape
		if shape == nil {
			return t, "it holds no chunk yet, so its shape is not known"
		}
	case of.Array:
		return kernels.Type{Kind: kernels.Text, Of: namedOf(of)}, ""
	case of.IsFloat():
		t.Kind = kernels.KindOf(of.DType())
	case of.Is(catalog.Numeric):
		t.Kind = kernels.Float64
	case of.IsInt():
		t.Kind = kernels.Int
	case of.Is(catalog.Bool):
		t.Kind = kernels.Bool
	default:
		t.Kind, t.Of = kernels.Text, namedOf(of)
	}
	return t, ""
}
