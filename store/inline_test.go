package store

import (
	"testing"

	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/store/functions"
)

// TestInlineKnowsAggregates: a function whose body aggregates, or makes rows, is no expression of the rows around its
// call.
func TestInlineKnowsAggregates(t *testing.T) {
	ret := ast.TypeName{Name: "double precision"}
	inlined := func(name string) bool {
		fn := &ast.CreateFunction{Name: "f", Language: "sql", Returns: &ret,
			Params: []ast.FuncParam{{Name: "a", Type: ret, Mode: "in"}}, Body: "SELECT " + name + "(a)"}
		x, err := bind.Inline(fn, []ast.Expr{&ast.Literal{Kind: ast.LitInt, Value: "1"}}, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return x != nil
	}
	if !inlined("abs") {
		t.Error("abs(a) is an expression")
	}
	for name := range functions.Aggregates {
		if inlined(name) {
			t.Errorf("%s is an aggregate", name)
		}
	}
	for name := range functions.ChunkAggregates {
		if inlined(name) {
			t.Errorf("%s is an aggregate", name)
		}
	}
	for name := range functions.SetReturning {
		if inlined(name) {
			t.Errorf("%s gives rows", name)
		}
	}
}
