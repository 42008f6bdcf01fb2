package gradtest

import (
	"math/rand"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/kernels"
)

func ints(xs ...int64) *column.Column {
	return column.Of(kernels.Type{Kind: kernels.Int}, xs)
}

func floats(r *rand.Rand, n int, shape ...int) *column.Column {
	v := column.New(kernels.Type{Kind: kernels.Float64, Shape: shape}, n)
	for i := range v.F64() {
		v.F64()[i] = r.NormFloat64()
	}
	return v
}

// Graph is a small database for Losses: a graph with weighted edges, embeddings, ratings and views.
func Graph() *memdb.DB {
	r := rand.New(rand.NewSource(1))
	db := memdb.New()
	db.Create("adj", 2, memdb.Column{Name: "src", Data: ints(0, 0, 1, 1, 2, 2, 3)},
		memdb.Column{Name: "dst", Data: ints(0, 1, 1, 2, 0, 2, 1)}, memdb.Column{Name: "weight", Data: floats(r, 7)})
	db.Create("w0", 1, memdb.Column{Name: "node", Data: ints(0, 1, 2, 3)}, memdb.Column{Name: "v", Data: floats(r, 4, 3)})
	db.Create("w1", 1, memdb.Column{Name: "id", Data: ints(1)}, memdb.Column{Name: "v", Data: floats(r, 1, 3, 2)})
	db.Create("member", 1, memdb.Column{Name: "node", Data: ints(0, 1, 2, 3)},
		memdb.Column{Name: "club", Data: ints(0, 1, 1, 0)})
	db.Create("rating", 1, memdb.Column{Name: "row", Data: ints(0, 1, 2, 3, 4, 5)},
		memdb.Column{Name: "u", Data: ints(0, 1, 2, 0, 1, 3)}, memdb.Column{Name: "i", Data: ints(0, 0, 1, 2, 3, 1)},
		memdb.Column{Name: "rating", Data: floats(r, 6)})
	half := floats(r, 4)
	half.SetNull(1)
	db.Create("half", 1, memdb.Column{Name: "node", Data: ints(0, 1, 2, 3)}, memdb.Column{Name: "x", Data: half})
	for name, sql := range map[string]string{
		"hidden": "SELECT a.dst AS node, relu(sum(a.weight * dropout(w0.v, 0.3))) AS h FROM adj a " +
			"JOIN w0 ON w0.node = a.src GROUP BY a.dst",
		"logits": "SELECT a.dst AS node, sum(a.weight * matmul(h.h, w1.v)) AS z FROM adj a " +
			"JOIN hidden h ON h.node = a.src, w1 GROUP BY a.dst",
		"loss": "SELECT avg(cross_entropy(z, club)) + 5e-2 * 0.5 * (SELECT sum(sqnorm(v)) FROM w0) AS loss " +
			"FROM logits JOIN member USING (node) WHERE node < 2",
	} {
		if err := db.AddView(name, sql); err != nil {
			panic(err)
		}
	}
	return db
}

// Loss is a loss over Graph with its parameters.
type Loss struct {
	SQL    string
	Params []string
}

// Losses are what every engine and every rule is tested with.
var Losses = []Loss{
	{"loss", []string{"w0", "w1"}},
	{"SELECT sum(v ^ 2) FROM (SELECT a.node AS i, b.node AS j, dot(a.v, b.v) AS v FROM w0 a, w0 b) x", []string{"w0"}},
	{"SELECT sum((r.rating - dot(a.v, b.v)) ^ 2 + 0.06 * (sqnorm(a.v) + sqnorm(b.v))) / count(*) FROM rating r " +
		"JOIN w0 a ON r.u = a.node JOIN w0 b ON r.i = b.node", []string{"w0"}},
	{"SELECT sum(q.z * a.dst) + 1000 * sum(coalesce(q.z, 0.5) * a.dst) " +
		"FROM (SELECT node, power(0.9, tanh(sum_elements(v))) AS z FROM w0) q JOIN adj a ON a.src = q.node", []string{"w0"}},
	{"SELECT max(dot(v, v)) + min(dot(v, v)) FROM w0", []string{"w0"}},
	{"SELECT sum(m) FROM (SELECT a.dst, max(sqnorm(w0.v)) AS m FROM adj a JOIN w0 ON w0.node = a.src GROUP BY a.dst) x",
		[]string{"w0"}},
	{"SELECT sum(sqnorm(v)) FROM (SELECT node, sum(v) AS v FROM (SELECT node, v FROM w0 " +
		"UNION ALL SELECT dst, weight * v FROM adj, w0 WHERE adj.src = w0.node) u GROUP BY node) s", []string{"w0"}},
	{"SELECT sum(dot(g.v, u.v)) FROM gradient('loss', NULL::w0) g JOIN w0 u ON u.node = g.node", []string{"w0"}},
	{"SELECT sum(sqnorm(g.v)) FROM gradient('loss', NULL::w1) g", []string{"w0", "w1"}},
	{"SELECT sum(weight * s) FROM adj JOIN (SELECT node, sum(sqnorm(v)) AS s FROM w0 " +
		"GROUP BY node) q ON q.node = src WHERE s > 1", []string{"w0", "adj.weight"}},
	{"SELECT sum(CASE WHEN s > 2 THEN ln(s) ELSE s * s END) FROM (SELECT node, sqnorm(v) AS s FROM w0) q", []string{"w0"}},
	{"SELECT sum((r.rating - coalesce(dot(a.v, b.v), 0.3)) ^ 2) FROM rating r LEFT JOIN w0 a ON r.u = a.node " +
		"AND a.node < 2 LEFT JOIN (SELECT * FROM w0 WHERE node <> 1) b ON r.i = b.node", []string{"w0"}},
	{"SELECT sum(coalesce(dot(b.v, b.v), 2) * r.rating) + count(b.node) FROM w0 b RIGHT " +
		"JOIN rating r ON r.u + 1 = b.node", []string{"w0", "rating.rating"}},
	{"SELECT sum(sqnorm(v)) FROM w0 WHERE node = ANY (ARRAY[1, 3]) OR node < ALL (ARRAY[1, 2])", []string{"w0"}},
	{"SELECT sum(sqnorm(v)) FROM w0 WHERE node IN (SELECT src FROM adj WHERE dst = 2)", []string{"w0"}},
	{"SELECT sum(sqnorm(h)) FROM (SELECT n.node, n.v * n.v + sum(a.weight * m.v) AS h FROM w0 n " +
		"JOIN adj a ON a.dst = n.node JOIN w0 m ON m.node = a.src WHERE a.weight > -1 GROUP BY n.node) q",
		[]string{"w0", "adj"}},
	{"SELECT sum(v) + sum(s) FROM (SELECT src, var_pop(weight) AS v, coalesce(stddev(weight), 0.5) AS s " +
		"FROM adj GROUP BY src) q", []string{"adj"}},
	{"SELECT sum(p * p * weight) FROM (SELECT weight, exp(weight) / sum(exp(weight)) OVER (PARTITION BY src % 2) AS p " +
		"FROM adj) q", []string{"adj"}},
	{"SELECT sum(sqnorm(p)) FROM (SELECT max_agg(v) OVER () - v * min_agg(v) OVER (PARTITION BY node % 2) AS p " +
		"FROM w0 WHERE node < 3) q", []string{"w0"}},
	{"SELECT sum(s * s * dst) + sum(m * m * weight) + sum(l * l * l) FROM (SELECT dst, weight, sum(weight) OVER " +
		"(PARTITION BY src ORDER BY dst DESC) AS s, max(weight) OVER (ORDER BY src, dst ROWS BETWEEN 2 PRECEDING AND 1 " +
		"PRECEDING) AS m, coalesce(lag(weight, 2, 0.5) OVER (ORDER BY dst, src), 1) AS l FROM adj) q", []string{"adj"}},
	{"SELECT sum(a * a * dst) + sum(b * c) FROM (SELECT dst, sum(weight) OVER (PARTITION BY src % 2 ORDER BY dst RANGE " +
		"BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS a, coalesce(sum(weight ^ 2) OVER (ORDER BY nullif(src, 1) " +
		"DESC, dst ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 1) AS b, avg(weight) OVER (ORDER BY dst, src ROWS " +
		"BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS c FROM adj) q WHERE dst <> 1", []string{"adj"}},
	{"SELECT sum(sqnorm(d) + sum_elements(e)) FROM (SELECT sum(v) OVER (ORDER BY node DESC ROWS BETWEEN 1 " +
		"PRECEDING AND CURRENT ROW) AS d, avg(v * v) OVER (PARTITION BY node % 2 ORDER BY node) AS e FROM w0) q",
		[]string{"w0"}},
	{"SELECT sum(m * m * weight) + sum(n * dst) + sum(k * k) FROM (SELECT weight, dst, max(weight) OVER (ORDER BY src, " +
		"dst) AS m, min(weight ^ 2) OVER (PARTITION BY src % 2 ORDER BY dst RANGE BETWEEN CURRENT ROW AND UNBOUNDED " +
		"FOLLOWING) AS n, coalesce(max(nullif(src, 1) * weight) OVER (ORDER BY dst DESC, src ROWS BETWEEN 1 FOLLOWING AND " +
		"3 FOLLOWING), 2) AS k FROM adj) q", []string{"adj"}},
	{"SELECT sum(t * t * s) FROM (SELECT max(sqnorm(v)) OVER (ORDER BY dst, src ROWS 2 PRECEDING) AS t, " +
		"min(sqnorm(v)) OVER (ORDER BY src % 2) AS s FROM adj JOIN w0 ON node = src) q", []string{"w0"}},
	{"SELECT sum(d.weight ^ 2) FROM gradient('SELECT sum(m ^ 2) FROM (SELECT max(weight) OVER (ORDER BY src, dst ROWS " +
		"BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m FROM adj) q', NULL::adj) d", []string{"adj"}},
	{"SELECT sum(m * m * d) + sum(c) FROM (SELECT dst % 2, percentile_cont(0.4) WITHIN GROUP (ORDER BY weight) AS m, " +
		"percentile_disc(0.5) WITHIN GROUP (ORDER BY exp(weight) DESC) FILTER (WHERE src > 0) AS d, coalesce(" +
		"percentile_cont(0.3) WITHIN GROUP (ORDER BY nullif(src, 0) * weight DESC), 1) AS c FROM adj GROUP BY dst % 2) q",
		[]string{"adj"}},
	{"SELECT sum(d.x ^ 2) + sum(d.x) FROM (SELECT d.weight AS x FROM gradient('SELECT percentile_cont(0.3) WITHIN GROUP " +
		"(ORDER BY weight ^ 2) ^ 2 FROM adj', NULL::adj) d) d", []string{"adj"}},
	{"SELECT sum(weight * r * n) FROM (SELECT weight, rank() OVER (ORDER BY dst % 2) AS r, row_number() OVER (PARTITION " +
		"BY src ORDER BY dst) AS n FROM adj WHERE dst > 0) q", []string{"adj"}},
	{"SELECT sum(weight ^ 2 * d * n + weight * p * c) FROM (SELECT weight, dense_rank() OVER (ORDER BY dst % 2 DESC) " +
		"AS d, ntile(2) OVER (PARTITION BY src ORDER BY dst) AS n, percent_rank() OVER (ORDER BY src) AS p, cume_dist() " +
		"OVER (PARTITION BY dst % 2 ORDER BY src) AS c FROM adj) q", []string{"adj"}},
	{"SELECT sum(f * f * l) FROM (SELECT first_value(weight) OVER (PARTITION BY src % 2 ORDER BY dst, src) AS f, " +
		"last_value(weight ^ 2) OVER (ORDER BY dst % 2) AS l FROM adj) q", []string{"adj"}},
	{"SELECT sum(coalesce(n, 2) * weight * m) FROM (SELECT weight, nth_value(weight, 2) OVER (ORDER BY src, dst ROWS " +
		"BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS n, first_value(dst) OVER (ORDER BY src RANGE BETWEEN CURRENT ROW AND " +
		"UNBOUNDED FOLLOWING) AS m FROM adj) q", []string{"adj"}},
	{"SELECT sum(p * p) FROM (SELECT coalesce(last_value(weight) OVER (ORDER BY dst, src ROWS BETWEEN 2 FOLLOWING AND 3 " +
		"FOLLOWING), 1) AS p FROM adj) q", []string{"adj"}},
	{"SELECT sum(s * s * l) FROM (SELECT sum(weight) OVER (o ROWS 1 PRECEDING) AS s, lag(weight, 1, 2) OVER o AS l FROM " +
		"adj WINDOW p AS (PARTITION BY src % 2), o AS (p ORDER BY dst, src)) q", []string{"adj"}},
	{"SELECT sum(sqnorm(f) * sum_elements(v)) FROM (SELECT v, first_value(v) OVER (ORDER BY node DESC ROWS 1 PRECEDING) " +
		"AS f FROM w0) q", []string{"w0"}},
	{"SELECT sum(sum_elements(matmul(a, a) * a)) + sum(b) FROM (SELECT node % 2 AS h, matmul(array_agg(w0.v " +
		"ORDER BY node), w1.v) AS a, sum(node) AS b FROM w0, w1 GROUP BY node % 2, w1.id) q", []string{"w0"}},
	{"SELECT sqnorm(array_agg(sqnorm(v) ORDER BY node DESC) FILTER (WHERE node <> 2) * ARRAY[1, 2.5, 3]) FROM w0",
		[]string{"w0"}},
	{"SELECT sum(sqnorm(z) * z[2]) FROM (SELECT src, vector_agg(dst, weight, 3) AS z FROM adj GROUP BY src) q",
		[]string{"adj"}},
	{"SELECT sum(s * s * i) FROM (SELECT i, sum(e * weight) AS s FROM w1, adj, unnest(w1.v) WITH ORDINALITY AS u(e, i) " +
		"WHERE i > src GROUP BY i) q", []string{"w1", "adj"}},
	{"SELECT sum(c * s) FROM (SELECT m.club + 1 AS c, sum(sqnorm(u.v)) AS s FROM member m " +
		"JOIN w0 u ON u.node <= m.node WHERE EXISTS (SELECT 1 FROM adj WHERE src = m.node AND dst = u.node) " +
		"GROUP BY m.node) q", []string{"w0"}},
	{"SELECT sum(z * z * weight * l) FROM (SELECT *, sum(weight) OVER (PARTITION BY src) AS z, coalesce(lag(weight) " +
		"OVER (ORDER BY src, dst), 1) AS l FROM adj) q", []string{"adj"}},
	{"SELECT sum(v * club) FROM (SELECT m.*, var_pop(weight) AS v FROM member m JOIN adj ON src = node " +
		"GROUP BY m.node) q", []string{"adj"}},
	{"SELECT sum(dot(matmul(ARRAY[[weight, 1, 0], [2, weight * weight, 3]], v), ARRAY[1.5, -2])) FROM adj " +
		"JOIN w0 ON src = node", []string{"adj", "w0"}},
	{"SELECT sum(sqnorm(v)) FROM w0 WHERE EXISTS (SELECT 1 FROM adj WHERE src = w0.node AND dst > node) " +
		"AND node NOT IN (SELECT node FROM member WHERE club = 2)", []string{"w0"}},
	{"SELECT sum(dot(a.v, b.v)) FROM w0 a, w0 b WHERE a.node <> b.node AND NOT EXISTS (SELECT * FROM adj " +
		"WHERE src = a.node AND dst = b.node)", []string{"w0"}},
	{"SELECT sum(sqnorm(v) * (SELECT coalesce(sum(weight), 2) + count(*) FROM adj WHERE src = node + 1 " +
		"AND weight > -1)) FROM w0", []string{"w0", "adj"}},
	// A group by a key beside an outer join.
	{"SELECT sum(z * z) FROM (SELECT w.node, sqnorm(w.v) * coalesce(sum(e.weight), 1) AS z FROM w0 w LEFT " +
		"JOIN adj e ON w.node = e.src AND e.dst > 0 GROUP BY w.node) q", []string{"w0", "adj"}},
	{"SELECT sum(z * z) FROM (SELECT w.node, dot(w.v, w.v) * coalesce(sum(e.weight), 1) + m.club AS z " +
		"FROM adj e RIGHT JOIN w0 w ON w.node = e.dst AND e.src < 2 JOIN member m ON m.node = w.node " +
		"GROUP BY w.node, m.node) q", []string{"w0", "adj"}},
	{"SELECT sum(z * z) FROM (SELECT node, club, sqnorm(w.v) * coalesce(sum(e.weight), 1) + club * coalesce(max(e.dst), " +
		"7) AS z FROM (SELECT src AS node, dst, weight FROM adj WHERE dst > 0) e RIGHT JOIN w0 w USING (node) LEFT " +
		"JOIN member USING (node) GROUP BY w.node, member.node) q", []string{"w0", "adj"}},
	{"SELECT sum(coalesce(z, 3) * n) FROM (SELECT w.node, sqnorm(w.v) * sum(e.weight) AS z, count(*) AS n " +
		"FROM adj e LEFT JOIN w0 w ON w.node = e.src AND w.node > 1 GROUP BY w.node) q", []string{"w0", "adj"}},
	{"SELECT sum(z * z * weight) FROM (SELECT e.src, e.dst, e.weight, e.weight * sum(coalesce(sqnorm(w.v), 2)) AS z " +
		"FROM adj e LEFT JOIN w0 w ON w.node > e.dst + 1 GROUP BY e.src, e.dst) q", []string{"w0", "adj"}},
	{"SELECT sum(z * c) FROM (SELECT e.src, e.dst, coalesce(e.weight, 0.5) * sum(sqnorm(w.v)) + coalesce(e.src * e.dst, " +
		"5) AS z, count(w.node) AS c FROM w0 w LEFT JOIN adj e ON w.node = e.src + 2 LEFT JOIN member m ON m.node = e.dst " +
		"AND m.club = 1 GROUP BY e.src, e.dst) q", []string{"w0", "adj"}},
	{"SELECT sum(z * z) FROM (SELECT w.node, sqnorm(max_agg(e.v) + w.v) + max(var_pop) AS z FROM w0 w " +
		"JOIN (SELECT src, var_pop(weight) AS var_pop FROM adj GROUP BY src) s ON s.src = w.node LEFT " +
		"JOIN w0 e ON w.node < e.node GROUP BY w.node HAVING coalesce(count(e.node), 0) + w.node >= 0) q " +
		"WHERE z IS NOT NULL", []string{"w0", "adj"}},
	{"SELECT sum(z * z) FROM (SELECT w.node, sqnorm(w.v) * coalesce(stddev_pop(e.weight), 1) AS z FROM w0 w LEFT " +
		"JOIN adj e ON w.node = e.src AND EXISTS (SELECT 1 FROM member m WHERE m.node = e.dst AND m.club = 1) " +
		"GROUP BY w.node) q", []string{"w0", "adj"}},
	{"SELECT sum(z * z) FROM (SELECT w.node, sqnorm(w.v) * coalesce(sum(u.weight), 1) AS z FROM w0 w LEFT " +
		"JOIN adj e ON w.node = e.src, adj u WHERE EXISTS (SELECT 1 FROM member m WHERE m.node = w.node " +
		"AND m.club = u.dst) GROUP BY w.node) q", []string{"w0", "adj"}},
	// Whether a parameter is NULL is structure.
	{"SELECT sum(e.weight * coalesce(q.x, 3) * n) FROM adj e LEFT JOIN (SELECT node, x, row_number() OVER (ORDER BY " +
		"node DESC) AS n FROM half WHERE x IS NOT NULL) q ON q.node = e.src", []string{"half", "adj"}},
	{"SELECT sqnorm(array_agg(x ORDER BY node) FILTER (WHERE x IS NOT NULL) * ARRAY[1, 2.5, 3]) FROM half",
		[]string{"half"}},
	{"SELECT sum(weight * coalesce(z, 2)) FROM adj LEFT JOIN (SELECT node, sum(x) AS z FROM half " +
		"GROUP BY node) q ON node = dst AND z IS NOT NULL", []string{"half", "adj"}},
	{"SELECT sum(s * s * c) FROM (SELECT h.x IS NULL AS g, sum(sqnorm(w.v) + coalesce(h.x, 0)) AS s, count(*) AS c " +
		"FROM w0 w LEFT JOIN half h ON h.node = w.node + 1 GROUP BY h.x IS NULL) q", []string{"w0", "half"}},
	{"SELECT sum(z * z) FROM (SELECT w.node, sqnorm(w.v) + coalesce(h.x, 2) AS z FROM w0 w LEFT " +
		"JOIN half h ON h.node = w.node AND NOT h.x ^ 2 IS NULL WHERE EXISTS (SELECT 1 FROM half g " +
		"WHERE g.node = w.node + 1 AND g.x IS NULL OR w.node > g.node)) q", []string{"w0", "half"}},
	// EXISTS, IN, ANY and ALL as values.
	{"SELECT sum(sqnorm(v) * CASE WHEN node IN (SELECT nullif(dst, 1) FROM adj WHERE src <= node) THEN 1 " +
		"WHEN node NOT IN (SELECT nullif(dst, 1) FROM adj WHERE src <= node) THEN 10 ELSE 100 END) FROM w0", []string{"w0"}},
	{"SELECT sum(weight * (EXISTS (SELECT 1 FROM member WHERE node = src AND club = 1))::int) + sum(weight * weight) " +
		"FILTER (WHERE dst NOT IN (SELECT club FROM member) OR src = 0) FROM adj", []string{"adj"}},
	{"SELECT sum(z) FROM (SELECT a.src, sum(a.weight * coalesce(m.club, 3)) AS z FROM adj a LEFT " +
		"JOIN member m ON m.node = a.dst AND (EXISTS (SELECT 1 FROM rating WHERE u = a.src AND i = m.node) " +
		"OR m.club = 0) GROUP BY a.src HAVING a.src IN (SELECT i FROM rating) OR count(*) > 7) q", []string{"adj"}},
	{"SELECT sum(sqnorm(v)) FROM w0 WHERE nullif(node, 2) NOT IN (SELECT src FROM adj WHERE dst > node) " +
		"AND (node > ALL (SELECT club FROM member) OR EXISTS (SELECT 1 FROM adj))", []string{"w0"}},
	// Functions of Postgres and of relgrad.
	{"SELECT sum(atan2(weight, 2 + src) + hypot(weight, dst) * asinh(weight) + acosh(weight * weight + 1.5) + " +
		"atanh(weight / 9) + lgamma(weight * weight + 0.5) + digamma(src + 1 + weight / 9) + logsigmoid(weight)) FROM adj",
		[]string{"adj"}},
	{"SELECT sum((||/ weight) * sind(40 * weight) + cosd(weight) * tand(weight) + cotd(40 + weight) + cot(1 + weight / " +
		"9) + degrees(weight) * radians(weight) + log10(weight * weight + 1) * log2(weight * weight + 1) + (@ weight) * " +
		"(|/ (weight * weight + 1))) FROM adj", []string{"adj"}},
	{"SELECT sum(weight * (log(2, src + 3) + mod(dst + 0.5, 2) + (src + 3.5) % 2 + div(7, src + 1) + round(dst / 3.0, " +
		"2) + trunc(-dst / 7.0, 1) + round(123.4, -1)) + mod(weight::double precision::numeric, 2) ^ 2 + " +
		"round(weight::double precision::numeric, 1) + log(3, 9 + weight::double precision::numeric)) FROM adj",
		[]string{"adj"}},
	// Pairs, of which some are NULL, and groups of one row.
	{"SELECT sum(c * c + coalesce(d, 1) * r + coalesce(k, 0.5) * s) FROM (SELECT node % 2 AS g, covar_pop(h.x, " +
		"e.weight) AS c, covar_samp(e.weight, h.x) AS d, corr(h.x, e.weight) AS k, regr_count(h.x, e.weight) AS r, " +
		"regr_sxy(h.x, e.weight) * regr_avgx(h.x, e.weight) * regr_avgy(h.x, e.weight) AS s FROM half h JOIN adj e ON " +
		"e.src = h.node GROUP BY node % 2) q", []string{"half", "adj"}},
	{"SELECT sum(coalesce(a, 1) * coalesce(b, 2) + coalesce(r, 3) + x * y) FROM (SELECT e.src % 2 AS g, regr_slope(h.x, " +
		"e.weight) AS a, regr_intercept(e.weight, h.x) AS b, regr_r2(e.weight, e.dst) AS r, " +
		"regr_sxx(e.dst, e.weight) AS x, regr_syy(e.weight * e.weight, h.node) AS y FROM adj e JOIN half h ON " +
		"h.node = e.dst OR e.src > 1 GROUP BY e.src % 2) q", []string{"half", "adj"}},
	{"SELECT sum(z * z + z) FROM (SELECT src, product(weight) AS z FROM adj GROUP BY src) q", []string{"adj"}},
	{"SELECT sum(z) + sum(p) FROM (SELECT product(weight * (dst - 1)) AS z, product(weight * nullif(dst, 1)) AS p FROM " +
		"adj GROUP BY src % 2) q", []string{"adj"}},
}
