package kernelsql_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/randquery/engines"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/store"
	"github.com/relgrad/relgrad/tensor"
)

// TestSelect compares what an ordinary SELECT on the store gives with the reference code.
func TestSelect(t *testing.T) {
	db, err := store.OpenTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	kernelsql.Each(t, func(s *kernelsql.Sample) {
		got, err := query(db, s.Script()+"SELECT "+s.SQL+" AS y FROM t ORDER BY id")
		if s.Def.Name == "matmul" && s.Expr.Type.Shape == nil { // a function has one type; see the message's hint
			if err == nil || !strings.Contains(err.Error(), "is a scalar, not an array") {
				t.Errorf("%v: %v", s, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%v: %v", s, err)
			return
		}
		n++
		for row := range kernelsql.Rows {
			want, err := s.Value(row)
			if err == nil {
				err = same(got[row][0], want)
			}
			if err != nil {
				t.Errorf("%v, row %d: %v", s, row, err)
				return
			}
		}
	})
	t.Logf("%d calls", n)
}

// query runs statements on a store and returns the last one's rows.
func query(db *store.DB, sql string) ([][]any, error) {
	text := &ast.Text{SQL: sql}
	list, err := parse.Parse(text)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, st := range list {
		r, err := db.Exec(context.Background(), st.Stmt, text)
		if err != nil {
			return nil, err
		}
		out = r.Rows
	}
	return out, nil
}

// same compares a store's value with the reference code's; a real is rounded in the store.
func same(got any, want kernels.Value) error {
	fail := fmt.Errorf("the store gives %v, the reference code %v", got, want)
	if want.Null || got == nil {
		if want.Null && got == nil {
			return nil
		}
		return fail
	}
	var x []float64
	switch g := got.(type) {
	case *tensor.Tensor:
		if !g.Shape.Equal(want.Type.Shape) || kernels.KindOf(g.DType) != want.Type.Kind {
			return fail
		}
		x = g.Data
	case float64:
		x = []float64{g}
	case int64:
		x = []float64{float64(g)}
	case bool:
		if g != want.True() {
			return fail
		}
		return nil
	case string: // a text, or the digits of a numeric
		if want.Type.Kind == kernels.Text {
			if g != want.T {
				return fail
			}
			return nil
		}
		f, err := strconv.ParseFloat(g, 64)
		if err != nil {
			return fail
		}
		x = []float64{f}
	default:
		return fail
	}
	tol := 1e-12
	if want.Type.Kind == kernels.Float32 {
		tol = 1e-6
	}
	y := want.Floats()
	for i := range x {
		if len(x) != len(y) || !(math.Abs(x[i]-y[i]) <= tol*math.Max(1, math.Abs(y[i]))) {
			return fail
		}
	}
	return nil
}

// TestLosses runs a loss over every call, and its gradient, in the oracle, the executor and as generated SQL, and
// compares the oracle's gradient with central differences of the oracle's loss.
func TestLosses(t *testing.T) {
	need.Time(t)
	lite, done, err := engines.SQLite()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ctx, env, n := context.Background(), &kernels.Env{Seed: 1, Step: 2}, 0
	kernelsql.Each(t, func(s *kernelsql.Sample) {
		loss := "SELECT sum(" + s.Scalar() + ") + sum(z * z) AS loss FROM t"
		db := s.Database()
		res, err := gradtest.Optimize(ctx, db, loss, []string{"t"}, optimizer.Options{Verify: true})
		if s.Expr.Type.Kind == kernels.Text && s.Def.Name == "cast" && s.Call.Types[0].Kind == kernels.Float32 {
			if err == nil || !strings.Contains(err.Error(), "a cast of real or numeric to text") {
				t.Errorf("%s with %v: %v", loss, s.Call.Types, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%s with %v: %v", loss, s.Call.Types, err)
			return
		}
		want, err := randquery.Oracle.Run(ctx, db, res.Plan, env)
		if err != nil {
			t.Errorf("%s with %v: %v", loss, s.Call.Types, err)
			return
		}
		n++
		for _, e := range []randquery.Engine{engines.Executor(), lite} {
			got, err := e.Run(ctx, db, res.Plan, env)
			for i := range want {
				if err == nil {
					err = gradtest.Compare(gradtest.Keyed(got[i]), gradtest.Keyed(want[i]), tolerance(s))
				}
			}
			if err != nil {
				t.Errorf("%s with %v: %s: %v", loss, s.Call.Types, e.Name, err)
			}
		}
		// differences see through the one and jump in the other
		if allDouble(s) && s.Def.Name != "stop_gradient" && s.Expr.Type.Kind != kernels.Text {
			b, err := gradtest.Bind(ctx, db, loss, []string{"t"})
			if err == nil {
				err = b.Check(ctx, db, env, 1e-6)
			}
			if err != nil {
				t.Errorf("%s with %v: %v", loss, s.Call.Types, err)
			}
		}
	})
	t.Logf("%d losses", n)
}

func allDouble(s *kernelsql.Sample) bool {
	return s.Expr.Type.Kind != kernels.Float32 && !slices.ContainsFunc(s.Cols, func(c memdb.Column) bool {
		return c.Data.Type().Kind == kernels.Float32
	})
}

func tolerance(s *kernelsql.Sample) float64 {
	if allDouble(s) {
		return 1e-11
	}
	return 2e-5
}
