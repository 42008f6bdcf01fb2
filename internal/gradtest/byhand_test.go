package gradtest

import (
	"context"
	"math"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra/interp"
)

// scalars is a table t(id, g, x) with the given values; NaN stands for NULL.
func scalars(xs ...float64) *memdb.DB {
	id, g, x := column.New(kernels.Type{Kind: kernels.Int}, len(xs)),
		column.New(kernels.Type{Kind: kernels.Int}, len(xs)),
		column.New(kernels.Type{Kind: kernels.Float64}, len(xs))
	for i, v := range xs {
		id.I64()[i], g.I64()[i] = int64(i), int64(i%2)
		if math.IsNaN(v) {
			x.SetNull(i)
		} else {
			x.F64()[i] = v
		}
	}
	db := memdb.New()
	db.Create("t", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "g", Data: g},
		memdb.Column{Name: "x", Data: x})
	return db
}

// byHand compares a loss over t and its gradient, by row, with what was worked out on paper.
func byHand(t *testing.T, db *memdb.DB, loss string, want float64, grad ...float64) {
	t.Helper()
	ctx := context.Background()
	for _, disable := range [][]string{nil, ruleNames()} {
		res, err := Optimize(ctx, db, loss, []string{"t"}, optimizer.Options{Disable: disable})
		if err != nil {
			t.Fatalf("%s: %v", loss, err)
		}
		in := interp.New(db, nil)
		rows, err := in.Eval(ctx, res.Plan.Roots[0].Node)
		if err != nil {
			t.Fatal(err)
		}
		root := res.Plan.Roots[0]
		if got := rows[0][root.Node.Index(root.Cols[0])]; got.Null || math.Abs(got.Float()-want) > 1e-12 {
			t.Errorf("%s: loss %v, by hand %g", loss, got, want)
		}
		root = res.Plan.Roots[1]
		if rows, err = in.Eval(ctx, root.Node); err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(grad) {
			t.Errorf("%s: the gradient has %d rows, by hand %d", loss, len(rows), len(grad))
		}
		for _, r := range rows {
			id, g := r[root.Node.Index(root.Cols[0])].I, r[root.Node.Index(root.Cols[2])]
			if g.Null || math.Abs(g.Float()-grad[id]) > 1e-12 {
				t.Errorf("%s: gradient of row %d is %v, by hand %g", loss, id, g, grad[id])
			}
		}
	}
}

// TestTies: rows that attain the extreme share the gradient equally (law 6).
func TestTies(t *testing.T) {
	byHand(t, scalars(3, 1, 3, 1, 2), "SELECT max(x) FROM t", 3, 0.5, 0, 0.5, 0, 0)
	byHand(t, scalars(3, 1, 3, 1, 2), "SELECT sum(m) FROM (SELECT g, min(x) AS m FROM t GROUP BY g) q", 3, 0, 0.5, 0, 0.5,
		1)
	byHand(t, scalars(1, 3), "SELECT max(x) + sum(x) FROM t", 7, 1, 2)
	byHand(t, scalars(2, 2), "SELECT sum(greatest(a.x, b.x)) FROM t a, t b WHERE a.id = 0 AND b.id = 1", 2, 0.5, 0.5)
}

// TestPercentiles: the gradient goes to the one or two rows between which the percentile lies. Of equal rows the first
// by identity has the lower rank; NULLs have none.
func TestPercentiles(t *testing.T) {
	db, null := scalars(5, 1, 3, 1, 2), math.NaN()
	of := func(call, by string) string { return "SELECT " + call + " WITHIN GROUP (ORDER BY " + by + ") FROM t" }
	byHand(t, db, of("percentile_cont(0.5)", "x"), 2, 0, 0, 0, 0, 1)
	byHand(t, db, of("percentile_cont(0.3)", "x"), 1.2, 0, 0, 0, 0.8, 0.2)
	byHand(t, db, of("percentile_cont(0)", "x"), 1, 0, 1, 0, 0, 0)
	byHand(t, db, of("percentile_cont(1)", "x"), 5, 1, 0, 0, 0, 0)
	byHand(t, db, of("percentile_cont(0.25)", "x DESC"), 3, 0, 0, 1, 0, 0)
	byHand(t, db, of("percentile_disc(0.4)", "x"), 1, 0, 0, 0, 1, 0)
	byHand(t, db, of("percentile_disc(0.41)", "x"), 2, 0, 0, 0, 0, 1)
	byHand(t, db, of("percentile_disc(0)", "x DESC"), 5, 1, 0, 0, 0, 0)
	byHand(t, scalars(4, null, 2), of("percentile_cont(0.5)", "x"), 3, 0.5, 0, 0.5)
	byHand(t, scalars(null, 7), "SELECT coalesce(m, 2) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) "+
		"FILTER (WHERE id > 1) AS m FROM t) q", 2, 0, 0)
}

// TestNulls: aggregates skip NULL, a value predicate drops rows and keeps their zero gradient (laws 1, 3, 6).
func TestNulls(t *testing.T) {
	null := math.NaN()
	byHand(t, scalars(1, null, 3), "SELECT avg(x) FROM t", 2, 0.5, 0, 0.5)
	byHand(t, scalars(1, null, 3), "SELECT sum(x * x) + count(x) + count(*) FROM t", 15, 2, 0, 6)
	byHand(t, scalars(1, -1, 3), "SELECT avg(x) FROM t WHERE x > 0", 2, 0.5, 0, 0.5)
	byHand(t, scalars(1, -1, 3), "SELECT avg(x) FILTER (WHERE x > 0) FROM t", 2, 0.5, 0, 0.5)
	byHand(t, scalars(1, null, 3), "SELECT sum(coalesce(x, 7) ^ 2) FROM t", 59, 2, 0, 6)
	byHand(t, scalars(1, null, 3), "SELECT sum(a.x * coalesce(b.x, 5)) FROM t a JOIN t b ON b.id = (a.id + 1) % 3",
		1*5+3*1, 5+3, 0, 1)
	byHand(t, scalars(1, 2, 3),
		"SELECT sum(s * s) FROM (SELECT sum(x) AS s FROM t GROUP BY CASE WHEN id > 0 THEN g END) q", 14, 2, 4, 6)
	byHand(t, scalars(1, 2, 3), "SELECT sum(a.x * b.x) + (SELECT sum(x) FROM t) FROM t a JOIN t b ON CASE "+
		"WHEN a.id > 0 THEN a.g END = CASE WHEN b.id > 0 THEN b.g END", 19, 1, 5, 7)
	byHand(t, scalars(1, null, 3), "SELECT sum(x * r) + (SELECT sum(x) FROM t) FROM (SELECT x, row_number() OVER (ORDER "+
		"BY id DESC) AS r FROM t WHERE x IS NOT NULL) q", 5+4, 3, 0, 2)
	byHand(t, scalars(1, null, 3), "SELECT sum(a.x * coalesce(q.id + 10, 5)) FROM t a LEFT "+
		"JOIN (SELECT b.id, 2 * c.x AS z FROM t b JOIN t c ON c.id = (b.id + 1) % 3) q ON q.id = a.id "+
		"AND NOT (q.z + a.id IS NULL)", 1*5+3*12, 5, 0, 12)
	byHand(t, scalars(1, null, 3), "SELECT sum(a.x * coalesce(q.z, 5)) FROM t a LEFT JOIN (SELECT g, sum(x) AS z "+
		"FROM t GROUP BY g) q ON q.g = a.id AND q.z IS NOT NULL", 1*4+3*5, 4+1, 0, 5+1)
	byHand(t, scalars(0, 2), "SELECT sum(CASE WHEN x > 0 THEN ln(x) ELSE 0 END) FROM t", math.Log(2), 0, 0.5)
}

// TestSubQueries: windows, variances and sub-queries mean what Postgres means. t has x of ids 0, 1, 2 in groups 0, 1,
// 0.
func TestSubQueries(t *testing.T) {
	db := scalars(1, 2, 4)
	byHand(t, db, "SELECT sum(x * s) FROM (SELECT x, sum(x) OVER (PARTITION BY g) AS s FROM t) q", 1*5+2*2+4*5, 10, 4, 10)
	byHand(t, db, "SELECT sum(x * s) FROM (SELECT x, avg(x) OVER () AS s FROM t) q", 49./3, 14./3, 14./3, 14./3)
	byHand(t, db, "SELECT var_pop(x) FROM t", 42./9-28./9, -8./9, -2./9, 10./9)
	byHand(t, db, "SELECT var_samp(x) FROM t", 7./3, -4./3, -1./3, 5./3)
	byHand(t, db, "SELECT stddev_samp(x) FILTER (WHERE id <> 1) FROM t", 3/math.Sqrt(2),
		-1/math.Sqrt(2), 0, 1/math.Sqrt(2))
	byHand(t, db, "SELECT sum(x * s) FROM (SELECT x, sum(x) OVER (ORDER BY id) AS s FROM t) q", 35, 8, 9, 11)
	byHand(t, db, "SELECT sum(x * s) FROM (SELECT x, sum(x) OVER (ORDER BY g) AS s FROM t) q", 1*5+2*7+4*5, 12, 9, 12)
	byHand(t, db, "SELECT sum(x * s) FROM (SELECT x, sum(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING "+
		"AND CURRENT ROW) AS s FROM t) q", 31, 4, 9, 10)
	byHand(t, db, "SELECT sum(x * x * s) FROM (SELECT x, lag(x) OVER (ORDER BY id DESC) AS s FROM t) q", 18, 4, 17, 4)
	byHand(t, db, "SELECT sum(x * r) FROM (SELECT x, rank() OVER (ORDER BY g) AS r FROM t) q", 11, 1, 3, 1)
	byHand(t, db, "SELECT sum(x * r) FROM (SELECT x, row_number() OVER (PARTITION BY g ORDER BY id) AS r FROM t) q", 11, 1,
		1, 2)
	byHand(t, db,
		"SELECT z[1] * 10 + z[2] FROM (SELECT array_agg(x ORDER BY id DESC) FILTER (WHERE id <> 1) AS z FROM t) q", 41, 1, 0,
		10)
	byHand(t, db, "SELECT z[1] * z[3] FROM (SELECT vector_agg(2 - id, x, 3) AS z FROM t) q", 4, 4, 0, 1)
	byHand(t, db, "SELECT sqnorm(z[1 + 1:]) + z[6 / 2] * sum_elements(z[:5 - 3]) "+
		"FROM (SELECT vector_agg(id, x, 12 / 4) AS z FROM t) q", 4+16+4*3, 4, 4+4, 8+3)
	byHand(t, db, "SELECT sum(x * x * s) FROM (SELECT x, lag(x, 3 - 2) OVER (ORDER BY id DESC) AS s FROM t) q",
		18, 4, 17, 4)
	byHand(t, db, "SELECT sum(e * i) FROM t, unnest(ARRAY[x, x ^ 2]) WITH ORDINALITY AS u(e, i)", 49, 5, 9, 17)
	byHand(t, db, "SELECT sum(coalesce(v, 10) * m) FROM (SELECT g, var_samp(x) AS v, max(x) AS m FROM t GROUP BY g) q",
		4.5*4+10*2, -3*4, 10, 3*4+4.5)
	byHand(t, db, "SELECT sum(x * coalesce((SELECT count(*) FROM t u WHERE u.g = t.id), 7)) + sum(x) FROM t", 2+2+7, 3, 2,
		1)
	byHand(t, db, "SELECT sum(x * (SELECT coalesce(sum(u.x), 3) FROM t u WHERE u.g = t.id AND u.x > 1)) FROM t", 4+4+12, 4,
		4, 4)
	byHand(t, db,
		"SELECT sum(x * x) + (SELECT sum(x) FROM t) FROM t WHERE NOT EXISTS (SELECT 1 FROM t u WHERE u.g = t.id)", 16+7, 1, 1,
		9)
	byHand(t, db, "SELECT sum(x * x) + (SELECT sum(x) FROM t) FROM t WHERE id NOT IN (SELECT g FROM t)", 16+7, 1, 1, 9)
	byHand(t, db,
		"SELECT sum(v * v) FROM (SELECT a.id, a.x + sum(b.x) AS v FROM t a JOIN t b ON b.g = a.g GROUP BY a.id) q",
		36+16+81, 12+30, 16, 18+30)
	byHand(t, db, "SELECT dot(ARRAY[sum(x), 1, max(x)], ARRAY[2, 5, 3.0]) FROM t", 14+5+12, 2, 2, 5)
}

// TestFrames: windows over frames. t has x of ids 0, 1, 2 in groups 0, 1, 0.
func TestFrames(t *testing.T) {
	db := scalars(1, 2, 4)
	of := func(z, over string) string {
		return "SELECT sum(x * coalesce(z, 0)) FROM (SELECT x, " + z + " OVER (" + over + ") AS z FROM t) q"
	}
	byHand(t, db, of("max(x)", "ORDER BY id DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"), 2+8+16, 2, 5, 10)
	byHand(t, db, of("max(x)", "ORDER BY id DESC"), 4+8+16, 4, 4, 11)
	byHand(t, db, of("min(x)", "PARTITION BY g ORDER BY id"), 1+4+4, 6, 4, 1)
	byHand(t, db, of("min(x)", "ORDER BY g RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"), 1+4+4, 6, 4, 1)
	byHand(t, db, of("max(x)", "ORDER BY g RANGE CURRENT ROW"), 4+4+16, 4, 4, 9)
	byHand(t, db, of("sum(x)", "ORDER BY g RANGE CURRENT ROW"), 5+4+20, 10, 4, 10)
	byHand(t, db, of("sum(x)", "ORDER BY g RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"), 7+4+28, 12, 9, 12)
	byHand(t, db, of("sum(x)", "ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"), 6+8, 6, 5, 3)
	byHand(t, db, of("sum(x)", "PARTITION BY g ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING"), 0, 0, 0, 0)
	byHand(t, db, of("avg(x)", "ORDER BY nullif(id, 1) NULLS FIRST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"), 1.5+4+10,
		1.5+0.5+2, 2+2+0.5, 2.5+2)
	byHand(t, scalars(1, math.NaN(), 4), of("sum(x)", "ORDER BY id DESC ROWS 1 PRECEDING"), 1+16, 2, 0, 8)
	// all that attain the extreme of a frame have an equal share
	ties := scalars(3, 1, 3, 1, 2)
	byHand(t, ties, "SELECT sum(z) FROM (SELECT max(x) OVER (ORDER BY id) AS z FROM t) q", 15, 3.5, 0, 1.5, 0, 0)
	byHand(t, ties, "SELECT sum(z) FROM (SELECT min(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS z "+
		"FROM t) q", 5, 0, 2.5, 0, 2.5, 0)
	byHand(t, ties, "SELECT sum(z) FROM (SELECT id, max(x) OVER (ORDER BY id ROWS 1 PRECEDING) AS z FROM t) q "+
		"WHERE id = 1", 3, 1, 0)
	// only rows that some frame of the loss holds have a gradient (law 3)
	byHand(t, db, "SELECT sum(s) FROM (SELECT id, sum(x) OVER (ORDER BY id ROWS 1 PRECEDING) AS s FROM t) q WHERE id = 1",
		3, 1, 1)
	byHand(t, db, "SELECT sum(s * s) FROM (SELECT id, sum(x) OVER (ORDER BY id) AS s FROM t) q WHERE id = 1", 9, 6, 6)
	byHand(t, db, "SELECT sum(s) FROM (SELECT id, sum(x) OVER (ORDER BY id ROWS 1 PRECEDING) AS s FROM t) q WHERE id <> 1",
		1+6, 1, 1, 1)
	// the gradient of a gradient: with the sums A x it is d = 2 AᵀA x, and 4 AᵀA d are its own
	byHand(t, db, "SELECT sum(d.x ^ 2) FROM gradient('SELECT sum(s ^ 2) FROM (SELECT sum(x) OVER (ORDER BY id) AS s "+
		"FROM t) q', NULL::t) d", 4*(121+100+49), 480, 392, 224)
}

// TestFramesOfTexts: the least and greatest text of a frame choose what is summed.
func TestFramesOfTexts(t *testing.T) {
	db := scalars(1, 2, 4) // with the texts b, c, a
	of := func(z, over string) string {
		return "SELECT sum(x * CASE z WHEN 'a' THEN 100 WHEN 'b' THEN 1 WHEN 'c' THEN 10 ELSE 0 END) FROM (SELECT x, " + z +
			" OVER (" + over + ") AS z FROM (SELECT id, g, x, CASE id WHEN 0 THEN 'b' WHEN 1 THEN 'c' ELSE 'a' END AS y " +
			"FROM t) r) q"
	}
	byHand(t, db, of("max(y)", "ORDER BY id DESC"), 10+20+400, 10, 10, 100)
	byHand(t, db, of("min(y)", "ORDER BY id DESC"), 100+200+400, 100, 100, 100)
	byHand(t, db, of("max(y)", "ORDER BY id ROWS 1 PRECEDING"), 1+20+40, 1, 10, 10)
	byHand(t, db, of("min(y)", "ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING"), 1+200+400, 1, 100, 100)
	byHand(t, db, of("max(y)", "PARTITION BY g ORDER BY id ROWS 1 PRECEDING"), 1+20+4, 1, 10, 1)
	byHand(t, db, of("max(y)", "ORDER BY g RANGE CURRENT ROW"), 1+20+4, 1, 10, 1)
	byHand(t, db, of("lag(y)", "ORDER BY id DESC"), 10+200, 10, 100, 0)
	byHand(t, db, of("lead(y)", "PARTITION BY g ORDER BY id"), 100, 100, 0, 0)
}

// TestFound: EXISTS, IN, ANY and ALL are three-valued wherever they stand.
func TestFound(t *testing.T) {
	db := scalars(1, 2, 4)
	kinds := func(x, set string) string {
		return "SELECT sum(x * CASE WHEN " + x + " IN (" + set + ") THEN 1 WHEN " + x + " NOT IN (" + set +
			") THEN 10 ELSE 100 END) FROM t"
	}
	byHand(t, db, kinds("id", "SELECT g FROM t"), 1+2+40, 1, 1, 10)
	byHand(t, db, kinds("id", "SELECT nullif(g, 1) FROM t"), 1+200+400, 1, 100, 100)
	byHand(t, db, kinds("id", "SELECT nullif(g, 1) FROM t WHERE id > 5"), 10+20+40, 10, 10, 10)
	byHand(t, db, kinds("nullif(id, 1)", "SELECT g FROM t WHERE id <> 1"), 1+200+40, 1, 100, 10)
	byHand(t, db, kinds("nullif(id, 1)", "SELECT g FROM t WHERE id > 5"), 10+20+40, 10, 10, 10)
	byHand(t, db, kinds("t.id", "SELECT nullif(u.g, 0) FROM t u WHERE u.id < t.id"), 10+200+400, 10, 100, 100)
	byHand(t, db, kinds("1", "SELECT nullif(g, 0) FROM t"), 1+2+4, 1, 1, 1)
	byHand(t, db, kinds("0", "SELECT nullif(g, 0) FROM t"), 100+200+400, 100, 100, 100)
	byHand(t, db, "SELECT sum(x) + (SELECT sum(x) FROM t) FROM t WHERE id NOT IN (SELECT nullif(g, 0) FROM t "+
		"WHERE g = 1) AND NOT (id > 1 AND EXISTS (SELECT 1 FROM t))", 1+7, 2, 1, 1)
	byHand(t, db,
		"SELECT coalesce((SELECT sum(x) FROM t WHERE id NOT IN (SELECT nullif(g, 0) FROM t)), 3) + sum(x) FROM t", 3+7, 1, 1,
		1)
	byHand(t, db, "SELECT sum(x * CASE WHEN id > ALL (SELECT g FROM t) THEN 1 WHEN id >= ANY (SELECT nullif(g, 0) "+
		"FROM t) THEN 10 WHEN id < ALL (SELECT g FROM t WHERE id > 7) THEN 100 END) FROM t", 100+20+4, 100, 10, 1)
	byHand(t, db, "SELECT sum(z * f) FROM (SELECT sum(x) AS z, (EXISTS (SELECT 1 FROM t "+
		"WHERE id = 1))::int + (g IN (SELECT id FROM t WHERE id > 0))::int AS f FROM t "+
		"GROUP BY g HAVING g IN (SELECT id FROM t) OR count(*) > 5) q", 5+4, 1, 2, 1)
}

// TestRows: rows are compared field by field, from left to right.
func TestRows(t *testing.T) {
	db := scalars(1, 2, 4)
	when := func(first, second string) string {
		return "SELECT sum(x * CASE WHEN " + first + " THEN 1 WHEN " + second + " THEN 10 ELSE 100 END) FROM t"
	}
	byHand(t, db, when("(id, g) < (1, 1)", "(id, g) <= (2, 0)"), 1+20+40, 1, 10, 10)
	byHand(t, db, when("(g, id) <= (0, 1)", "(g, id) > (0, '1')"), 1+20+40, 1, 10, 10)
	byHand(t, db, when("(id, g) IN ((0, 0), (1, 2))", "(id, g) NOT IN ((2, 1))"), 1+20+40, 1, 10, 10)
	byHand(t, db, when("ROW(nullif(id, 1), nullif(g, 1)) IS NULL", "ROW(nullif(id, 0), g) IS NOT NULL"), 100+2+40, 100, 1,
		10)
	byHand(t, db, when("(id, nullif(g, 1)) IS DISTINCT FROM (1, NULL)", "id = 1"), 1+20+4, 1, 10, 1)
	in := func(test, set string) string { return when(test+" IN ("+set+")", test+" NOT IN ("+set+")") }
	byHand(t, db, in("(id, nullif(g, 1))", "SELECT g, nullif(id, 2) FROM t"), 1+200+40, 1, 100, 10)
	byHand(t, db, in("(id + 1, g - 1)", "SELECT u.id + 1, u.g - 1 FROM t u WHERE u.id <> 1 AND u.id <= t.id"), 1+20+4, 1,
		10, 1)
	byHand(t, db, in("(0, 0)", "SELECT id, g FROM t"), 1+2+4, 1, 1, 1)
	byHand(t, db, "SELECT sum(x) + (SELECT sum(x) FROM t) FROM t WHERE (id * 2, g + 1) IN (SELECT id, g + 1 FROM t)", 1+7,
		2, 1, 1)
}

// TestTexts: a text literal takes the type that it meets.
func TestTexts(t *testing.T) {
	db := scalars(1, 2, 4)
	byHand(t, db, "SELECT sum(x * '2') + sum('1' - x ^ '2') / '3' FROM t WHERE id >= '0' AND 'tr'", 14-6,
		2-2./3, 2-4./3, 2-8./3)
	byHand(t, db, "SELECT sum(CASE id WHEN '0' THEN id WHEN '1' THEN x ELSE '0.5' END) + sum(x) FROM t", 2.5+7, 1, 2, 1)
	byHand(t, db, "SELECT sum(z) + sum(greatest(z, '3')) + (SELECT sum(x) FROM t) FROM (SELECT '2.5' AS z "+
		"UNION ALL SELECT x FROM t WHERE id IN ('1', '2')) q", 8.5+10+7, 1, 2, 3)
	byHand(t, db, "SELECT sum(dot(ARRAY[x, '1'], '{2,\"3\"}') * power(x, '2')) + (SELECT sum(x) FROM t) FROM t "+
		"WHERE id = ANY ('{0,NULL,2}') OR id <> ALL ('{0,1,2}'::int[])", 5+11*16+7, 2+10+1, 1, 2*16+11*8+1)
}

// TestDetermined: a group by the key of one side of an outer join determines that side's columns, also where it is
// NULL.
func TestDetermined(t *testing.T) {
	db := scalars(1, 2, 4)
	byHand(t, db, "SELECT sum(z) FROM (SELECT a.id, a.x * coalesce(sum(b.x), 3) AS z FROM t a LEFT "+
		"JOIN t b ON b.id = a.id + 1 GROUP BY a.id) q", 2+8+12, 2, 5, 5)
	byHand(t, db, "SELECT sum(z) FROM (SELECT b.id, coalesce(b.x, 10) * sum(a.x) + coalesce(b.g, 5) AS z "+
		"FROM t a LEFT JOIN t b ON b.id = a.id + 1 GROUP BY b.id) q", 3+8+45, 2, 5, 12)
	for _, from := range []string{
		"t u LEFT JOIN t b ON b.id = u.g GROUP BY b.id",
		"(SELECT id, x FROM t UNION ALL SELECT g, x FROM t) u GROUP BY u.id",
		"(SELECT id, x FROM t UNION ALL SELECT id, 2 * x FROM t) u GROUP BY u.id",
		"(SELECT nullif(g, 1) AS id, sum(x) AS x FROM t GROUP BY nullif(g, 1)) u RIGHT JOIN t ON u.x > 0 " +
			"OR t.id = u.id GROUP BY u.id",
	} {
		if _, err := Optimize(context.Background(), db, "SELECT sum(z) FROM (SELECT u.x + 1 AS z FROM "+from+") q",
			[]string{"t"}, optimizer.Options{}); err == nil {
			t.Errorf("%s: u.x is determined by what does not determine it", from)
		}
	}
}

// TestNoSilentZero: a parameter that only integers and booleans read is an error, never a zero gradient (law 5).
func TestNoSilentZero(t *testing.T) {
	for _, loss := range []string{"SELECT avg(x::int * 0.5) FROM t", "SELECT sum((x > 1)::int) * 0.5 FROM t",
		"SELECT sum(nullif(1.5, x)) FROM t", "SELECT count(x) * 0.5 FROM t"} {
		if _, err := Optimize(context.Background(), scalars(1, 2), loss, []string{"t"}, optimizer.Options{}); err == nil {
			t.Errorf("%s: no error", loss)
		}
	}
}
