package gradtest

import (
	"context"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra/interp"
)

// namedTable is t(id, x) beside columns of types that stand in the algebra as texts: e orders by what its texts begin
// with, i is equal where that is, a has equality alone, j nothing, c a collation of its own, d and m are days and
// moments.
func namedTable() *memdb.DB {
	types := []*kernels.Named{
		{Name: "mood", Keyed: true}, {Name: "interval", Keyed: true, ByKey: true, NoText: "no text"},
		{Name: "inet", Order: "no order"},
		{Name: "jsonb", Equal: "no equality", Order: "no order"},
		{Name: "text", Collation: "de", Order: "no order of a collation"},
		{Name: "date", Keyed: true}, {Name: "timestamp without time zone", Keyed: true},
	}
	texts := [][]string{
		{"1\x1fsad", "3\x1fhappy", "2\x1fok", "2\x1fok"}, {"07\x1f1 day", "07\x1f24:00:00", "05\x1f1 hour", "09\x1f2 days"},
		{"::1", "10.0.0.1", "10.0.0.1", "9.0.0.0"},
		{"{}", "1", "1.0", "1"}, {"b", "B", "b", "a"}, {"2024-01-01", "infinity", "a0003652059\x1f10000-01-01", "2023-01-01"},
		{"2024-01-01 00:00:00", "infinity", "a0003652059 00:00:00.000000\x1f10000-01-01 00:00:00", "2023-01-01 00:00:01"},
	}
	id, x := column.New(kernels.Type{Kind: kernels.Int}, 4), column.New(kernels.Type{Kind: kernels.Float64}, 4)
	cols := []memdb.Column{{Name: "id", Data: id}, {Name: "x", Data: x}}
	for i := range 4 {
		id.I64()[i], x.F64()[i] = int64(i), float64(int(1)<<i)
	}
	for i, of := range types {
		v := column.New(kernels.Type{Kind: kernels.Text, Of: of}, 4)
		copy(v.Texts(), texts[i])
		cols = append(cols, memdb.Column{Name: "eiajcdm"[i : i+1], Data: v})
	}
	db := memdb.New()
	db.Create("t", 1, cols...)
	return db
}

// TestNamed: what the bytes of a text decide as the database does is computed, all else is refused with its reason.
func TestNamed(t *testing.T) {
	ctx, db := context.Background(), namedTable()
	for _, c := range []struct {
		loss    string
		want    float64
		refused string
	}{
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 2 AND a.e < b.e", 1, ""},
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 2 AND a.e = b.e", 12, ""},
		{"SELECT sum(x * r) FROM (SELECT x, rank() OVER (ORDER BY e) AS r FROM t) q", 1 + 2*4 + 4*2 + 8*2, ""},
		{"SELECT sum(z ^ 2) FROM (SELECT sum(x) AS z FROM t GROUP BY e) q", 1 + 4 + 144, ""},
		{"SELECT sum(t.x) FROM t JOIN (SELECT max(e) AS e FROM t WHERE x > 0) q ON t.e = q.e", 2, ""},
		{"SELECT sum(x) FROM t WHERE length(e::text) = 2", 12, ""},
		{"SELECT sum(x) FROM t WHERE e || '!' = 'ok!'", 12, ""},
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 0 AND a.i = b.i", 3, ""},
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 0 AND a.i < b.i", 4, ""},
		{"SELECT sum(x * r) FROM (SELECT x, rank() OVER (ORDER BY i) AS r FROM t) q", 2 + 2*2 + 4 + 8*4, ""},
		{"SELECT sum(z) FROM (SELECT sum(x) AS z FROM t GROUP BY i) q", 0, "cannot be grouped by"},
		{"SELECT sum(z) FROM (SELECT sum(x) OVER (PARTITION BY i) AS z FROM t) q", 0, "cannot be grouped by"},
		{"SELECT sum(x) FROM t WHERE i::text = '1 day'", 0, "no text"},
		{"SELECT sum(x) FROM t WHERE nullif(i, i) IS NULL", 0, "NULLIF"},
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 1 AND a.a = b.a", 6, ""},
		{"SELECT sum(z ^ 2) FROM (SELECT sum(x) AS z FROM t GROUP BY a) q", 1 + 36 + 64, ""},
		{"SELECT sum(x) FROM t WHERE a < '9.0.0.0'", 0, "no order"},
		{"SELECT sum(x) FROM t WHERE a BETWEEN '9.0.0.0' AND '::1'", 0, "no order"},
		{"SELECT sum(x * r) FROM (SELECT x, rank() OVER (ORDER BY a) AS r FROM t) q", 0, "no order"},
		{"SELECT sum(x) FROM t JOIN (SELECT min(a) AS least FROM t WHERE x > 0) q ON q.least = t.a", 0, "no order"},
		{"SELECT sum(x) FROM t WHERE greatest(a, '::1') = a", 0, "no order"},
		{"SELECT sum(x) FROM t WHERE j = '1'", 0, "no equality"},
		{"SELECT sum(x) FROM t WHERE j IN ('1', '2')", 0, "no equality"},
		{"SELECT sum(x) FROM t WHERE j IS DISTINCT FROM '1'", 0, "no equality"},
		{"SELECT sum(x * CASE j WHEN '1' THEN 1 ELSE 2 END) FROM t", 0, "no equality"},
		{"SELECT sum(a.x) FROM t a JOIN t b USING (j)", 0, "no equality"},
		{"SELECT sum(a.x) FROM t a WHERE j IN (SELECT j FROM t WHERE id > 0)", 0, "no equality"},
		{"SELECT sum(z) FROM (SELECT sum(x) AS z FROM t GROUP BY j) q", 0, "no equality"},
		{"SELECT sum(z) FROM (SELECT sum(x) OVER (PARTITION BY j) AS z FROM t) q", 0, "no equality"},
		{"SELECT sum(x) FROM t WHERE nullif(j, '1') IS NULL", 0, "no equality"},
		{"SELECT sum(x) FROM t WHERE j::int = 1", 0, "cannot cast type jsonb"},
		{"SELECT sum(x) FROM t WHERE e = a", 0, "mood and inet meet"},
		{"SELECT sum(x) FROM t WHERE coalesce(e, a) IS NULL", 0, "mood and inet meet"},
		{"SELECT sum(x) FROM t WHERE c = 'b'", 5, ""},
		{"SELECT sum(x) FROM t WHERE c < 'b'", 0, "no order of a collation"},
		{`SELECT sum(x) FROM t WHERE c COLLATE "C" < 'b'`, 10, ""},
		{`SELECT sum(x) FROM t WHERE c < 'b' COLLATE "C"`, 10, ""},
		{"SELECT sum(x) FROM t WHERE upper(c) < 'B'", 0, "no order of a collation"},
		{`SELECT sum(x) FROM t WHERE c COLLATE "fr" < 'b'`, 0, "collation"},
		{"SELECT sum(x) FROM t WHERE d = m", 7, ""},
		{"SELECT sum(q.x) FROM (SELECT x, d AS k FROM t UNION ALL SELECT x, m FROM t) q JOIN t b ON b.id = 2 AND q.k = b.m",
			8, ""},
		{"SELECT sum(q.x) FROM (SELECT x, e AS k FROM t UNION ALL SELECT x, a FROM t) q WHERE q.k IS NOT NULL",
			0, "mood and inet meet"},
		{"SELECT sum(x * (SELECT count(*) FROM t b WHERE b.m = t.d)) FROM t", 0, "a correlated sub-query compares"},
		{"SELECT sum(x * (SELECT count(*) FROM t b WHERE b.a = t.a)) FROM t", 1 + 2*6 + 8, ""},
		{"SELECT sum(x * (SELECT count(*) FROM t b WHERE b.j = t.j)) FROM t", 0, "no equality"},
		{"SELECT sum(x * length(a)) FROM t", 0, "length of a value of type inet"},
		{"SELECT sum(x) FROM t WHERE e LIKE 'o%'", 0, "LIKE of a value of type mood"},
		{"SELECT sum(x) FROM (SELECT x, lag(d, 1, m) OVER (ORDER BY id) AS p FROM t) q WHERE p IS NOT NULL",
			0, "with a default of"},
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 2 AND a.m < b.d", 9, ""},
		{"SELECT sum(a.x) FROM t a JOIN t b ON b.id = 2 AND a.m > b.d", 2, ""},
	} {
		for _, disable := range [][]string{nil, ruleNames()} {
			res, err := Optimize(ctx, db, c.loss, []string{"t"}, optimizer.Options{Disable: disable})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s: %v, want a refusal: %s", c.loss, err, c.refused)
				}
				break
			}
			if err != nil {
				t.Errorf("%s: %v", c.loss, err)
				break
			}
			root := res.Plan.Roots[0]
			rows, err := interp.New(db, nil).Eval(ctx, root.Node)
			if err != nil {
				t.Fatal(err)
			}
			if got := rows[0][root.Node.Index(root.Cols[0])]; got.Null || got.Float() != c.want {
				t.Errorf("%s: %v, want %g", c.loss, got, c.want)
			}
		}
	}
}
