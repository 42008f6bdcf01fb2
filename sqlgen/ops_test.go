package sqlgen_test

import (
	"context"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlgen"
)

func texts(xs ...string) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Text}, xs)
}

func ints(xs ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, xs)
}

func bools(xs ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Bool}, xs)
}

func floats(r *rand.Rand, kind kernels.Kind, n int, shape ...int) *column.Column {
	v := column.New(kernels.Type{Kind: kind, Shape: shape}, n)
	for i := range v.F64() {
		v.F64()[i] = r.NormFloat64()
	}
	for i := range v.F32() {
		v.F32()[i] = float32(r.NormFloat64())
	}
	return v
}

func null(v *column.Column, rows ...int) *column.Column {
	for _, i := range rows {
		v.SetNull(i)
	}
	return v
}

// awkward has names that need quotes, NULL in keys and values, a table without a key, and an empty one.
func awkward() *memdb.DB {
	r := rand.New(rand.NewSource(5))
	db := memdb.New()
	db.Create("Order", 2, memdb.Column{Name: "group", Data: texts("a", "b", "b", "é'x")},
		memdb.Column{Name: "Row", Data: ints(1, 1, 2, 3)},
		memdb.Column{Name: "attr", Data: null(ints(7, 8, 7, 9), 1)},
		memdb.Column{Name: "flag", Data: null(bools(1, 0, 1, 1), 3)},
		memdb.Column{Name: "v", Data: null(floats(r, kernels.Float64, 4, 2), 2)},
		memdb.Column{Name: "x", Data: null(floats(r, kernels.Float64, 4), 0)})
	db.Create("nokey", 0, memdb.Column{Name: "k", Data: null(ints(7, 7, 9, 1), 3)},
		memdb.Column{Name: "y", Data: floats(r, kernels.Float64, 4)})
	db.Create("empty", 1, memdb.Column{Name: "k", Data: ints()},
		memdb.Column{Name: "y", Data: floats(r, kernels.Float64, 0)})
	db.Create("half", 1, memdb.Column{Name: "k", Data: ints(7, 8, 9)},
		memdb.Column{Name: "v", Data: floats(r, kernels.Float32, 3, 2)},
		memdb.Column{Name: "z", Data: floats(r, kernels.Float32, 3)})
	return db
}

var operators = []struct {
	sql    string
	params []string
	tol    float64
}{
	{`SELECT sum(x * y) FROM "Order" JOIN nokey ON attr = k`, []string{`"Order"`}, 1e-12},
	{`SELECT sum(x * coalesce(y, 3)) + count(y) FROM "Order" LEFT JOIN nokey ON attr = k WHERE flag`,
		[]string{`"Order".x`}, 1e-12},
	{`SELECT sum(s * s) FROM (SELECT attr, sum(x) AS s FROM "Order" GROUP BY attr) q`, []string{`"Order"`}, 1e-12},
	{`SELECT sum(s * o.x) FROM (SELECT attr, sum(x) AS s FROM "Order" GROUP BY attr) q ` +
		`JOIN "Order" o ON q.attr IS NOT DISTINCT FROM o.attr`, []string{`"Order"`}, 1e-12},
	{`SELECT sum(sqnorm(v)) FROM "Order" WHERE attr IN (SELECT k FROM nokey)`, []string{`"Order".v`}, 1e-12},
	{`SELECT sum(sqnorm(v)) + sum(x) FROM "Order" LEFT JOIN nokey ON k = attr AND k < 9 WHERE y IS NULL`,
		[]string{`"Order"`}, 1e-12},
	{`SELECT sum(x) + coalesce((SELECT sum(y) FROM empty), 2) FROM "Order"`, []string{`"Order"`}, 1e-12},
	{`SELECT max(x) * min(x) + avg(x) FROM "Order"`, []string{`"Order"`}, 1e-12},
	{`SELECT sum(m) FROM (SELECT "group", max(x) * avg(x) AS m FROM "Order" GROUP BY "group") g`,
		[]string{`"Order"`}, 1e-12},
	{`SELECT sum(CASE WHEN "Row" % 2 = 1 AND 6 / ("Row" - 2) > 0 THEN x ELSE x * x END) FROM "Order" WHERE "Row" <> 2`,
		[]string{`"Order"`}, 1e-12},
	{`SELECT sum(x * ("Row" + 2 * "Row" - 1) / "Row") FROM "Order" WHERE "group" LIKE '%' AND "group" <> 'a'`,
		[]string{`"Order"`}, 1e-12},
	{`SELECT sum(dot(a.v, b.v) * a.x) FROM "Order" a JOIN "Order" b USING ("group")`, []string{`"Order"`}, 1e-12},
	{`SELECT sum(z * sqnorm(v)) FROM half`, []string{"half"}, 1e-6},
	{`SELECT sum(s) FROM (SELECT sqnorm(v) AS s FROM half UNION ALL SELECT x * x FROM "Order") u`,
		[]string{"half", `"Order"`}, 1e-6},
	{`SELECT sum(greatest(x, 0, -x) + x::real + abs(x) ^ 1.5) FROM "Order"`, []string{`"Order"`}, 1e-12},
	{`SELECT sum(v[1] * v["Row"]) FROM "Order"`, []string{`"Order"`}, 1e-12},
}

func TestOperators(t *testing.T) { runOperators(t, sqlite(t)) }

func runOperators(t *testing.T, e *target) {
	db, ctx := awkward(), context.Background()
	var none []string
	for _, r := range rules.All() {
		none = append(none, r.Name)
	}
	for _, c := range operators {
		for _, opt := range []optimizer.Options{{Disable: none}, {}} {
			res, err := gradtest.Optimize(ctx, db, c.sql, c.params, opt)
			if err != nil {
				t.Errorf("%s: %v", c.sql, err)
				continue
			}
			compare(t, e, db, res.Plan, c.tol)
		}
	}
}

func TestOrder(t *testing.T) { runOrder(t, sqlite(t)) }

// runOrder computes a condition that fails on rows which an operator below leaves out.
func runOrder(t *testing.T, e *target) {
	opt := optimizer.Options{}
	for _, r := range rules.All() {
		opt.Disable = append(opt.Disable, r.Name) // they would put both conditions into one operator
	}
	res, err := gradtest.Optimize(context.Background(), awkward(),
		`SELECT sum(x) FROM (SELECT * FROM "Order" WHERE "Row" * 3 - "Row" - "Row" - 2 <> 0) q WHERE 6 / ("Row" - 2) > 0`,
		[]string{`"Order"`}, opt)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, e, awkward(), res.Plan, 1e-12)
}

func TestOpaque(t *testing.T) {
	b := ra.NewBuilder()
	n := b.Opaque(nil, "top", []ra.Column{{Name: "k", Type: kernels.Type{Kind: kernels.Int}},
		{Name: "bad\nname", Type: kernels.Type{Kind: kernels.Float64}}})
	plan := &ra.Plan{Roots: []ra.Root{{Name: "r", Node: n, Cols: []ra.ColumnID{n.Cols[1].ID, n.Cols[2].ID}}}}
	if _, err := sqlgen.SQL(plan, 0, sqlgen.SQLite{}, sqlgen.Options{}); err == nil {
		t.Error("an Opaque node is printed without a text")
	}
	s, err := sqlgen.SQL(plan, 0, sqlgen.SQLite{}, sqlgen.Options{
		Opaque: func(*ra.Node) (string, error) { return "SELECT 1, 0.5 UNION ALL SELECT 2, 1.5", nil },
		Note:   func(*ra.Node) string { return "by PushSelect" },
	})
	want := `WITH
-- Opaque top (c2 bad name, c3 row_number) by PushSelect
opaque1(c1, c2, c3) AS MATERIALIZED (
  SELECT q.*, row_number() OVER () - 1
  FROM (SELECT 1, 0.5 UNION ALL SELECT 2, 1.5) AS q
)
SELECT
  c2 AS "bad
name",
  c3 AS row_number
FROM opaque1
ORDER BY opaque1.c3
`
	if err != nil || s != want {
		t.Errorf("%v\n%s", err, s)
	}
}

func TestRefused(t *testing.T) {
	b := ra.NewBuilder()
	v := memdb.Column{Name: "v", Data: floats(rand.New(rand.NewSource(1)), kernels.Float64, 1, 2)}
	scan := b.Scan(memdb.New().Create("t", 1, memdb.Column{Name: "k", Data: ints(1)}, v), nil)
	group, err := b.Aggregate(scan, []ra.ColumnID{scan.Cols[1].ID}, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := kernels.Num(0)
	nan.Const.X = nan.Const.X / nan.Const.X
	for what, n := range map[string]*ra.Node{
		"compares scalars": group,
		"NaN constant":     b.Select(scan, nil, []ra.OutCol{{Name: "x", X: nan}}),
		"more than 262144": b.Select(scan, nil,
			[]ra.OutCol{{Name: "x", X: kernels.Build("lower", kernels.Const(kernels.TextValue(strings.Repeat("x", 300000))))}}),
		"cannot be printed": b.Gradient(scan, scan, 0),
	} {
		_, err := sqlgen.SQL(&ra.Plan{Roots: []ra.Root{{Node: n, Cols: []ra.ColumnID{n.Cols[0].ID}}}}, 0,
			sqlgen.SQLite{}, sqlgen.Options{})
		var se *sqlerr.Error
		if !errors.As(err, &se) || !strings.Contains(se.Error()+se.Detail, what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Sub-trees that an expression shares are printed, and computed, once; those in a branch only where it is taken.
func TestShared(t *testing.T) { runShared(t, sqlite(t)) }

func runShared(t *testing.T, e *target) {
	db, b := memdb.New(), ra.NewBuilder()
	scan := b.Scan(db.Create("t", 1, memdb.Column{Name: "k", Data: ints(0, 1, 2)}), nil)
	k := scan.Var(0, scan.Cols[0].ID)
	double := func(x *kernels.Expr) *kernels.Expr {
		for range 12 {
			x = kernels.Build("add", x, kernels.Build("mod", x, kernels.Const(kernels.IntValue(1000))))
		}
		return x
	}
	zero := kernels.Build("eq", k, kernels.Const(kernels.IntValue(0)))
	fails := double(kernels.Build("div", kernels.Const(kernels.IntValue(60)), k))
	n := b.Select(scan, nil, []ra.OutCol{{Name: "k", X: k}, {Name: "x", X: double(k)},
		{Name: "guarded", X: kernels.Build("case", zero, double(k), fails)}})
	plan := &ra.Plan{Roots: []ra.Root{{Name: "r", Node: n, Cols: []ra.ColumnID{n.Cols[0].ID, n.Cols[1].ID, n.Cols[2].ID}}}}
	compare(t, e, db, plan, 0)
	if s, err := sqlgen.SQL(plan, 0, e.dialect, sqlgen.Options{}); err != nil || len(s) > 20000 {
		t.Errorf("%d bytes, %v", len(s), err)
	}
}

// TestNodes covers what losses seldom have: sums of nothing, groups of NULLs only, nodes without columns.
func TestNodes(t *testing.T) { runNodes(t, sqlite(t)) }

func runNodes(t *testing.T, e *target) {
	db, b := awkward(), ra.NewBuilder()
	scan := b.Scan(db.Tables["Order"], nil)
	attr, v, x := scan.Cols[2].ID, scan.Cols[4].ID, scan.Cols[5].ID
	never := b.Select(scan, []*kernels.Expr{kernels.Const(kernels.BoolValue(false))},
		[]ra.OutCol{{Name: "attr", X: scan.Var(0, attr)}, {Name: "v", X: scan.Var(0, v)}, {Name: "x", X: scan.Var(0, x)}})
	var nodes []*ra.Node
	for _, in := range []*ra.Node{scan, never} {
		ids := map[string]ra.ColumnID{}
		for _, c := range in.Cols {
			ids[c.Name] = c.ID
		}
		aggs := []ra.AggCol{{Name: "rows", Agg: ra.Agg{Fn: ra.CountRows}}}
		for _, fn := range []ra.AggFn{ra.Sum, ra.GradSum, ra.Count, ra.Min, ra.Max} {
			for _, c := range []string{"attr", "x", "v"} {
				if c != "v" || fn <= ra.Count {
					aggs = append(aggs, ra.AggCol{Name: fn.String() + "_" + c, Agg: ra.Agg{Fn: fn, Arg: ids[c]}})
				}
			}
		}
		for _, group := range [][]ra.ColumnID{nil, {ids["attr"]}, in.Key} {
			for _, a := range [][]ra.AggCol{aggs, nil} {
				n, err := b.Aggregate(in, group, a)
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, n)
			}
		}
		grads := b.Select(in, nil, []ra.OutCol{{Name: "g", X: kernels.NullToZero(in.Var(0, ids["v"]))}})
		other := b.Select(in, nil, []ra.OutCol{{Name: "g", X: kernels.NullToZero(in.Var(0, ids["v"]))}})
		nodes = append(nodes, b.Add([]*ra.Node{project(b, grads, 0), project(b, other, 0)}, 0),
			b.Add([]*ra.Node{project(b, grads, 1, 0), project(b, other, 1, 0)}, 1))
		same := []ra.Equi{{L: kernels.Col{ID: ids["attr"]}, R: kernels.Col{Input: 1, ID: ids["attr"]}, NullSafe: true}}
		nodes = append(nodes,
			b.Semi(ra.SemiJoin, scan, in, []ra.Equi{{L: kernels.Col{ID: attr}, R: same[0].R, NullSafe: true}}, nil),
			b.Semi(ra.AntiJoin, in, in, same, nil))
	}
	for i, n := range nodes {
		for _, all := range []bool{true, false} {
			r := ra.Root{Name: "r", Node: n}
			for _, c := range n.Cols {
				if all || n.IsKey(c.ID) {
					r.Cols = append(r.Cols, c.ID)
				}
			}
			if len(r.Cols) > 0 {
				compare(t, e, db, &ra.Plan{Roots: []ra.Root{r}}, 1e-12)
			}
		}
		if t.Failed() {
			t.Fatalf("node %d:\n%s", i, n.Format())
		}
	}
}

// project keeps some columns, the last of which is the value, without an identity.
func project(b *ra.Builder, n *ra.Node, cols ...int) *ra.Node {
	out := &ra.Node{Op: ra.Select, Inputs: []*ra.Node{n}, Pos: -1}
	for _, i := range cols {
		c := n.Cols[i]
		c.ID = b.ID()
		out.Cols, out.Out = append(out.Cols, c), append(out.Out, n.Var(0, n.Cols[i].ID))
	}
	return out
}
