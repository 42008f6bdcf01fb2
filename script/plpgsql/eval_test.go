package plpgsql

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store"
)

// randomExpr prints a random expression over variables and literals.
func randomExpr(r *rand.Rand, depth int) string {
	if depth == 0 || r.Intn(5) == 0 {
		atoms := []string{"i", "j", "big", "x", "y", "b", "nul", "0", "1", "7", "-3", "2147483647",
			"9223372036854775807", "0.5", "1e-3", "true", "false"}
		return atoms[r.Intn(len(atoms))]
	}
	a := func() string { return randomExpr(r, depth-1) }
	switch r.Intn(8) {
	case 0:
		return "(- " + a() + ")"
	case 1:
		return "(NOT " + a() + ")"
	case 2:
		return "(" + a() + " IS NOT NULL)"
	case 3:
		return "(" + a() + ")::" + []string{"int", "bigint", "real", "double precision", "smallint"}[r.Intn(5)]
	case 4:
		return "(" + a() + []string{" AND ", " OR "}[r.Intn(2)] + a() + ")"
	case 5:
		return "(" + a() + []string{" = ", " <> ", " < ", " <= ", " > ", " >= "}[r.Intn(6)] + a() + ")"
	}
	return "(" + a() + []string{" + ", " - ", " * ", " / ", " % "}[r.Intn(5)] + a() + ")"
}

// TestEvalAgrees compares the fast evaluator with the store on random expressions: where it answers, the
// value and the type are the store's.
func TestEvalAgrees(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	vars := map[string]value{
		"i": intValue(5), "j": intValue(-2), "big": {int64(1) << 40, "bigint"}, "x": {float64(float32(0.1)), "real"},
		"y": {2.5, "double precision"}, "b": boolValue(true), "nul": {nil, "integer"},
	}
	r := rand.New(rand.NewSource(1))
	answered := 0
	for n := range 4000 {
		sql := randomExpr(r, 3)
		text := &ast.Text{SQL: sql}
		x, err := parse.ParseExpr(text)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		got, ok := eval(x, func(c *ast.ColumnRef) (value, bool) { v, ok := vars[c.Names[0]]; return v, ok })
		if !ok {
			continue
		}
		answered++
		bound := ast.SubstituteColumns(x, func(c *ast.ColumnRef) ast.Expr { return vars[c.Names[0]].bound(c.At) })
		res, wantErr := db.Exec(context.Background(), selectOf(bound), text)
		if wantErr != nil {
			t.Errorf("%d: %s: %v, the store gives %v", n, sql, got, wantErr)
			continue
		}
		want := value{res.Rows[0][0], res.Cols[0].Type}
		if got.typ != want.typ || !reflect.DeepEqual(got.v, want.v) && fmt.Sprint(got.v) != fmt.Sprint(want.v) {
			t.Errorf("%d: %s: %v, the store gives %v", n, sql, got, want)
		}
	}
	if answered < 300 {
		t.Errorf("only %d expressions were answered", answered)
	}
}
