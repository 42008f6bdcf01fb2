package bind

import (
	"slices"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Values of types such as date, enums or addresses are texts in the algebra (kernels.Named). A literal that meets one
// is converted to the type's form, and two types that meet are converted to one. A comparison is refused where the
// texts' bytes would not decide as the database does.

// inSubQuery is the hint where only the database can compute something.
const inSubQuery = "It may stand in a sub-query that reads no parameter."

// typedText is the type of a literal that has been cast to text, where texts have none.
var typedText = &kernels.Named{Name: "text"}

// asTyped gives a literal that has been cast to text the type of a text, so that it takes no other any more.
func asTyped(s *scope, x *kernels.Expr) *kernels.Expr {
	of := s.b.cat.Text()
	if of == nil {
		of = typedText
	}
	return retypedCopy(x, of)
}

// untyped reports whether x is a literal that takes the type of the values that it meets.
func untyped(x *kernels.Expr) bool {
	return x.IsConst() && x.Type.Kind == kernels.Text && x.Type.Of == nil
}

// metType is the type in which the texts among args meet. found is false where all are literals.
func metType(args []*kernels.Expr) (of *kernels.Named, found bool, err error) {
	for _, a := range args {
		switch {
		case a.Type.Kind != kernels.Text || untyped(a):
		case !found:
			of, found = a.Type.Of, true
		default:
			if of, err = meet(of, a.Type.Of); err != nil {
				return nil, true, err
			}
		}
	}
	return of, found, nil
}

// oneType converts texts that meet to one type: literals to that of the other value, dates to timestamps.
func oneType(s *scope, args []*kernels.Expr, at ast.Tree) error {
	want, _, err := metType(args)
	if err != nil {
		return s.f.at(err, at)
	}
	if want == nil {
		return nil
	}
	for i, a := range args {
		if a.Type.Kind != kernels.Text {
			continue
		}
		x, err := toNamed(s, a, want)
		if err != nil {
			return s.f.at(err, at)
		}
		args[i] = x
	}
	return nil
}

// meet is the type in which values of two types are compared.
func meet(a, b *kernels.Named) (*kernels.Named, error) {
	is := func(x, y string) bool {
		return a.String() == x && b.String() == y || a.String() == y && b.String() == x
	}
	switch {
	case a.String() == b.String() && !a.IsText():
		return a, nil
	case a.IsText() && b.IsText():
		return oneCollation(a, b)
	case is("bpchar", "text"): // texts and varying ones, which are texts here, meet it in different ways
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a character(n) and a text meet, which a loss does not tell "+
			"apart by the blanks at their ends as Postgres does").
			WithHint("Write the character(n) as c::text, which has no blanks at its end, in a loss and for Postgres alike.")
	case is("date", timestamp), is("inet", "cidr"), is(`"bit"`, "bit varying"):
		if b.Name == timestamp || b.Name == "inet" || b.Name == "bit varying" {
			return b, nil
		}
		return a, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "%v and %v meet, which is not supported in a loss", a, b).
		WithHint("Compare them in a sub-query that reads no parameter.")
}

const timestamp = "timestamp without time zone"

// oneCollation is the type of two texts that meet: a column's own collation precedes the database's.
func oneCollation(a, b *kernels.Named) (*kernels.Named, error) {
	own := func(n *kernels.Named) string {
		if n == nil {
			return ""
		}
		return n.Collation
	}
	switch x, y := own(a), own(b); {
	case a == kernels.ByteText || b == kernels.ByteText: // it was written with COLLATE
		return kernels.ByteText, nil
	case x == y && a != nil, y == "" && x != "":
		return a, nil
	case x == "" || x == y:
		return b, nil
	default:
		return nil, sqlerr.New("42P22", "the collations %q and %q meet", x, y).
			WithHint("Write one of the texts with COLLATE \"C\", in a loss and for Postgres alike.")
	}
}

// toNamed converts a text to the type in which it meets another.
func toNamed(s *scope, x *kernels.Expr, want *kernels.Named) (*kernels.Expr, error) {
	switch {
	case x.IsConst() && x.Const.Null:
		return kernels.Const(kernels.NullOf(kernels.Type{Kind: kernels.Text, Of: want})), nil
	case untyped(x):
		text := x.Const.T
		if !want.IsText() {
			var err error
			if text, err = s.b.cat.Literal(want, text); err != nil {
				return nil, err
			}
		}
		return kernels.Const(kernels.Value{Type: kernels.Type{Kind: kernels.Text, Of: want}, T: text}), nil
	case want.String() == timestamp && x.Type.Of.String() == "date":
		return retyped(kernels.Build("midnight", x), want), nil
	}
	return x, nil
}

// retypedCopy is x with another type of the same texts.
func retypedCopy(x *kernels.Expr, of *kernels.Named) *kernels.Expr {
	y := *x
	return retyped(&y, of)
}

// retyped sets the type of a text that was just made.
func retyped(x *kernels.Expr, of *kernels.Named) *kernels.Expr {
	x.Type.Of = of
	return x
}

// checkComparable converts values that are compared, for equality or order, to a form whose bytes compare as the
// database compares the values. It refuses values without such a form.
func checkComparable(s *scope, args []*kernels.Expr, order bool, at ast.Tree) error {
	for _, x := range args {
		if !x.Type.IsFloat() || x.Type.Of == nil {
			continue
		}
		if why := x.Type.Of.Comparable(); why != "" {
			return s.f.fail(at, sqlerr.FeatureNotSupported, "%s", why).
				WithHint("Cast it to double precision, in a loss and for Postgres alike.")
		}
	}
	of, found, err := metType(args)
	if of == nil && (found || order && slices.ContainsFunc(args, untyped)) {
		of = s.b.cat.Text()
	}
	if of == nil || err != nil {
		return err
	}
	why := of.Equal
	if order && why == "" {
		why = of.Order
	}
	if why != "" {
		e := s.f.fail(at, sqlerr.FeatureNotSupported, "%s", why)
		if of.IsText() {
			return e.WithHint("Write it as k COLLATE \"C\": byte by byte. Or compare in a sub-query that reads no parameter.")
		}
		return e.WithHint(
			"Let the database compare: rank() OVER (ORDER BY k), or a condition on k, in a sub-query that reads no parameter.")
	}
	if of.ByKey {
		for i, x := range args {
			args[i] = retyped(kernels.Build("order_key", x), nil)
		}
	}
	return nil
}

// checkGroupable checks that equal values have equal texts, so that they can be grouped.
func checkGroupable(s *scope, x *kernels.Expr, at ast.Tree) error {
	if of := x.Type.Of; of != nil && of.ByKey {
		return s.f.fail(at, sqlerr.FeatureNotSupported, "values of type %v cannot be grouped by in a loss", of).
			WithHint(inSubQuery)
	}
	return checkComparable(s, []*kernels.Expr{x}, false, at)
}

// plainText casts a value to text.
func plainText(s *scope, x *kernels.Expr, at ast.Tree) (*kernels.Expr, error) {
	of := x.Type.Of
	if of != nil && of.Setting != "" { // the text depends on a setting, which is recorded
		setting(s.b.cat, of.Setting)
	}
	switch {
	case of.IsText():
		return x, nil
	case of.NoText != "":
		return nil, s.f.fail(at, sqlerr.FeatureNotSupported, "%s", of.NoText).WithHint(inSubQuery)
	case !of.Keyed:
		return retyped(kernels.Build("textcat", x, kernels.Const(kernels.TextValue(""))), of.AsText()), nil
	}
	return retyped(kernels.Build("plain", x), of.AsText()), nil
}

var (
	_ = bindCall("lower", casedText)
	_ = bindCall("upper", casedText)
)

// casedText is lower(s) or upper(s). For letters beyond ASCII the server's locale decides, and the text's collation
// names it.
func casedText(s *scope, c *ast.FuncCall) (*kernels.Expr, error) {
	args, err := s.exprs(c.Args)
	if err == nil {
		err = onlyTexts(s, c, args)
	}
	if err != nil {
		return nil, err
	}
	name := c.Name
	if _, server := s.b.cat.Setting("lc_ctype"); server {
		name += "_ascii"
		of := s.b.cat.Text()
		if len(args) == 1 && args[0].Type.Of != nil {
			of = args[0].Type.Of
		}
		if of != nil && of.Cases != "" {
			return nil, s.f.fail(c, sqlerr.FeatureNotSupported, "%s", of.Cases).WithHint(inSubQuery)
		}
	}
	return textArguments(s, kernels.Lookup(name), c.Args, args)
}

// onlyTexts refuses values of other types where a kernel takes texts: the database has other functions for them.
func onlyTexts(s *scope, c *ast.FuncCall, args []*kernels.Expr) error {
	for i, x := range args {
		if x.Type.Kind == kernels.Text && !x.Type.Of.IsText() && x.Type.Of.Name != "bpchar" {
			return s.f.fail(c.Args[i], sqlerr.FeatureNotSupported,
				"%s of a value of type %v is not supported in a loss", c.Name, x.Type.Of).WithHint(inSubQuery)
		}
	}
	return nil
}

// castNamed binds a cast to a type that is kept as text; done is false for any other type.
func castNamed(s *scope, c *ast.Cast, x *kernels.Expr) (_ *kernels.Expr, done bool, err error) {
	if c.Type.Dims > 0 || x.Type.Kind != kernels.Text && !(x.IsConst() && x.Const.Null) {
		return nil, false, nil
	}
	want, err := s.b.cat.Named(s.b.ctx, s.f.text.Path, c.Type)
	if err != nil || want == nil {
		return nil, err != nil, s.f.at(err, c)
	}
	if x.IsConst() && x.Type.Of.IsText() { // a text is cast as a literal is read
		x = retypedCopy(x, nil)
	}
	same := x.Type.Of != nil && (x.Type.Of.Name == want.Name || x.Type.Of.Name == "date" && want.Name == timestamp)
	switch {
	case len(c.Type.Mods) > 0:
		return nil, true, s.f.fail(c, sqlerr.FeatureNotSupported,
			"a cast to %s with a length or precision is not supported in a loss", c.Type.Name).WithHint(inSubQuery)
	case !same && !untyped(x) && !(x.IsConst() && x.Const.Null):
		return nil, true, s.f.fail(c, sqlerr.CannotCoerce, "cannot cast type %v to %s here", x.Type.Of, typeText(c.Type)).
			WithHint(inSubQuery)
	}
	x, err = toNamed(s, x, want)
	return x, true, s.f.at(err, c)
}

// byteCollations compare texts byte by byte, as a loss does.
var byteCollations = map[string]bool{"C": true, "POSIX": true, "ucs_basic": true}

var _ = bindExpr(func(s *scope, c *ast.Collate) (*kernels.Expr, error) {
	x, err := s.expr(c.X)
	switch {
	case err != nil:
		return nil, err
	case x.Type.Kind != kernels.Text || !x.Type.Of.IsText():
		return nil, s.f.fail(c, sqlerr.DatatypeMismatch, "collations are not supported by type %s", typeOfExpr(x))
	case !byteCollations[c.Name] || c.Schema != "" && c.Schema != "pg_catalog":
		return nil, s.f.fail(c, sqlerr.FeatureNotSupported, "the collation %q is not supported in a loss", c.Name).
			WithHint("COLLATE \"C\" compares byte by byte; any collation may stand in a sub-query that reads no parameter.")
	}
	return retypedCopy(x, kernels.ByteText), nil
})

// typeOfExpr is an expression's type as messages name it.
func typeOfExpr(x *kernels.Expr) string {
	if x.Type.Kind == kernels.Text {
		return x.Type.Of.String()
	}
	return x.Type.String()
}
