package store

import (
	"slices"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/definitions"
)

func createFunction(b *writer, s *ast.CreateFunction) (*catalog.Result, error) {
	tag := "CREATE FUNCTION"
	if s.Procedure {
		tag = "CREATE PROCEDURE"
	}
	k := definitions.Key{Schema: orName(s.Schema, firstSchema(b, false)), Name: s.Name}
	if !b.db.cat.HasSchema(k.Schema) {
		noSchema(b, s.At, k.Schema)
	}
	functionTypes(b, s)
	if old := b.db.cat.Funcs[k]; old != nil {
		replaces(b, s, old)
	}
	sameCalls(b, s, k)
	f := *s
	f.Body, f.BodyAt, f.At = s.Body, 0, 0 // positions now count from the beginning of the body
	b.db.cat = b.db.cat.Clone()
	b.db.cat.Funcs[k] = &f
	def, err := definitions.EncodeFunction(&f)
	if err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: tag}, b.db.save("function", k.Schema, k.Name, def)
}

// replaces refuses to replace a function unless only its body changes.
func replaces(b *writer, s, old *ast.CreateFunction) {
	fail := func(code, hint, format string, args ...any) { b.FailHint(s.At, code, hint, format, args...) }
	drop := "Use DROP ROUTINE " + old.Signature() + " first."
	switch {
	case !old.Named(inputs(s)):
		fail(sqlerr.FeatureNotSupported, "Give it another name.",
			"two functions of one name, %s and %s, are not supported by the embedded store", old.Signature(), s.Signature())
	case !s.Replace:
		fail("42723", "Write CREATE OR REPLACE.", "function \"%s\" already exists with same argument types", s.Name)
	case old.Procedure != s.Procedure:
		fail(sqlerr.WrongObjectType, drop, "cannot change routine kind: %s is another one", old.Signature())
	case !sameResult(s, old):
		fail("42P13", drop, "cannot change return type of existing function %s", old.Signature())
	}
	was := inputs(old)
	for i, p := range inputs(s) {
		if was[i].Name != "" && was[i].Name != p.Name {
			fail("42P13", drop, "cannot change name of input parameter \"%s\"", was[i].Name)
		}
		if was[i].Default != nil && p.Default == nil {
			fail("42P13", drop, "cannot remove parameter defaults from existing function")
		}
	}
}

// inputs are the parameters that identify a function.
func inputs(f *ast.CreateFunction) []ast.FuncParam {
	return slices.DeleteFunc(slices.Clone(f.Params), func(p ast.FuncParam) bool { return p.Mode == "out" })
}

// sameResult reports whether two functions give the same columns.
func sameResult(f, g *ast.CreateFunction) bool {
	outputs := func(f *ast.CreateFunction) (out []string) {
		for _, p := range append(slices.Clone(f.Params), f.Table...) {
			if p.Mode != "in" {
				out = append(out, p.Name+" "+p.Type.String())
			}
		}
		return out
	}
	if x, y := outputs(f), outputs(g); len(x)+len(y) > 0 {
		set := func(f *ast.CreateFunction) bool { return f.SetOf || f.Table != nil }
		return slices.Equal(x, y) && set(f) == set(g)
	}
	if (f.Returns == nil) != (g.Returns == nil) || f.SetOf != g.SetOf {
		return false
	}
	return f.Returns == nil || f.Returns.String() == g.Returns.String()
}

// functionTypes refuses a function of a type that exists nowhere.
func functionTypes(b *writer, s *ast.CreateFunction) {
	check := func(n ast.TypeName) {
		if !b.db.NamesType(n.Schema, n.Name) {
			b.Fail(n.At, sqlerr.UndefinedObject, "type \"%s\" does not exist", n.Name)
		}
	}
	for _, p := range slices.Concat(s.Params, s.Table) {
		check(p.Type)
	}
	if s.Returns != nil {
		check(*s.Returns)
	}
}

// sameCalls refuses a new signature or result of a function that views call, since their columns have its types.
func sameCalls(b *writer, s *ast.CreateFunction, k definitions.Key) {
	old, callers := b.db.cat.Funcs[k], b.db.cat.Callers(k)
	if old == nil || len(callers) == 0 || old.Signature() == s.Signature() && s.Returns != nil &&
		old.Returns.String() == s.Returns.String() {
		return
	}
	b.FailHint(s.At, "42P13", "Drop the view first, or give the new function another name.",
		"cannot change the types of the function %s because view \"%s\" depends on it", old.Signature(), callers[0].Name)
}
