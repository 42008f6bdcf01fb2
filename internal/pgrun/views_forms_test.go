package pgrun

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// formTables have columns of every type that a loss may read.
const formTables = `SET search_path = public, relgrad;
SET my.rate = '0.25';
CREATE TABLE a (k integer PRIMARY KEY, i bigint, s smallint, x double precision, r real, n numeric, b boolean, t text,
d date, ts timestamp,
	"Select" double precision, v double precision[], u real[], m double precision[]);
INSERT INTO a SELECT k, k, k, 0.5 + k / 3.0, 0.5 + k / 3.0, 0.25 + k, k % 2 = 0, 'ab' || (k + 1), '2024-01-01',
'2024-01-01 00:00:00', k * 0.75,
	ARRAY[0.5 + k, -1.25, 0.125 * k], ARRAY[0.5 + k, -1.25, 0.125 * k], ARRAY[[0.5, -1.25, k], [2, 0.75, -k]]
FROM generate_series(0, 4) AS g(k);
UPDATE a SET d = CASE k WHEN 1 THEN '2024-01-02' WHEN 2 THEN '2024-01-03' ELSE '2024-01-05' END::date WHERE k > 0;
UPDATE a SET ts = CASE k WHEN 1 THEN '2024-01-01 00:00:04' ELSE '2024-01-01 00:00:07' END::timestamp WHERE k > 0;
CREATE TABLE c (LIKE a INCLUDING ALL);
INSERT INTO c SELECT * FROM a;
CREATE VIEW cube AS SELECT sum(x ^ 3) FROM a;
CREATE FUNCTION scaled(y double precision, by double precision DEFAULT 2) RETURNS double precision
LANGUAGE sql IMMUTABLE AS 'SELECT y * by';`

// forms are losses over the table a, named by what Postgres prints of them in its own way.
var forms = map[string]string{
	"minus":          "SELECT sum(x * -1 + -0.5 * r - (-k) ^ 2 + x ^ -1 - i * -3 - -(-x)) FROM a",
	"negative index": "SELECT sum(v[-1 + 2] + v[-k + 5 - 4 + k] + m[2][-1 * -2]) FROM a",
	"slices": "SELECT sum(sqnorm((v * 2)[2:3]) + sqnorm(m[1:2][2:2]) + sqnorm(m[:1]) + " +
		"sqnorm(v[2:])) FROM a",
	"integers meet floats": "SELECT sum(k * x + i * r + s * n * x + 2 * x + 3 * k * r + s * i) FROM a",
	"real": "SELECT sum(r * 0.1 + r / 3 + r * r + r::double precision * x + x::real + 0.1::real * r + " +
		"sin(r) + r ^ 2) FROM a",
	"real loss":      "SELECT sum(r * r) FROM a",
	"real choice 0":  "SELECT sum(coalesce(r, 0.1) * r) FROM a",
	"real choice 1":  "SELECT sum(CASE WHEN k > 1 THEN r ELSE 0.1 END * r) FROM a",
	"real choice 2":  "SELECT sum(greatest(r, 0.7) * r) FROM a",
	"real choice 3":  "SELECT sum(least(r, 0.7, 1) * r) FROM a",
	"real choice 4":  "SELECT sum(coalesce(r, x, 0.1) * r) FROM a",
	"real choice 5":  "SELECT sum(coalesce(r, n) * r) FROM a",
	"real choice 6":  "SELECT sum(nullif(r, 0.1) * r) FROM a",
	"real choice 7":  "SELECT sum(coalesce(r, 1) * r) FROM a",
	"real choice 8":  "SELECT sum(coalesce(r, k) * r) FROM a",
	"real choice 9":  "SELECT sum(CASE k WHEN 1 THEN 0.1 WHEN 2 THEN r END * r) FROM a",
	"real choice 10": "SELECT sum(nullif(r, 1) * r) FROM a",
	"real choice 11": "SELECT sum(nullif(k, r) * r) FROM a",
	"real choice 12": "SELECT sum(nullif(n, r) * r) FROM a",
	"real choice 13": "SELECT sum(coalesce(n, 0.1, k) * r) FROM a",
	"real choice 14": "SELECT sum(coalesce(r, (SELECT avg(k) FROM c), 1) * r) FROM a",
	"numeric": "SELECT sum(n * 0.1 * x + n / 3 * x + 1 / 3.0 * x + 7 / 2 * x + k / 2.0 * x + n ^ 2 * x + " +
		"round(n) * x + round(2.5) * x + trunc(n) * x + 1e3 * x + 1e-12 * x) FROM a",
	"averages of integers": "SELECT avg(x) * avg(k) + avg(n) * avg(x) + sum(x) / count(*) + sum(x) * sum(k) / " +
		"count(*) + sum(x) * (sum(k) / count(*)) + sum(x) * (sum(i) / count(*)) + sum(x) * avg(i) / 7 FROM a",
	"in lists": "SELECT sum(x) FROM a WHERE k IN (0, 1, 2) AND s NOT IN (4, 5) " +
		"AND t IN ('ab1', 'ab2', 'x') AND r IN (0.5, 0.8333333) AND i IN (1) OR r IN (0.5) OR i = ANY (ARRAY[3, 4]) OR k " +
		"<> ALL (ARRAY[1, 2, 3])",
	"in list of columns": "SELECT sum(x) FROM a WHERE k IN (s + 1, i) AND x NOT IN (r, 3)",
	"between": "SELECT sum(x) FROM a WHERE k BETWEEN 1 AND 3 AND x NOT BETWEEN 0.9 AND 1.1 " +
		"AND d BETWEEN '2024-01-01' AND '2024-01-04'",
	"like": "SELECT sum(x) FROM a WHERE t LIKE 'ab%' AND t NOT LIKE '%2' AND NOT t LIKE 'b_'",
	"texts": "SELECT sum(x) FROM a WHERE t || 'c' = 'ab1c' OR t || k::text = 'ab21' " +
		"OR lower(t) = 'ab3' OR length(t) > 3 AND t > 'ab3' OR t = 'it''s \\'",
	"dates": "SELECT sum(x) FROM a WHERE d > '2024-01-02' AND ts <= '2024-01-01 00:00:05' " +
		"OR d = DATE '2024-01-01' OR ts = d OR coalesce(d, '2024-01-01') = '2024-01-03'",
	"conditions": "SELECT sum(x) FROM a WHERE (b IS TRUE OR b IS NOT FALSE) AND NOT (k = 1 AND (b " +
		"OR k IS NULL)) AND b IS NOT UNKNOWN AND k IS DISTINCT FROM 2 AND b = true AND x IS NOT NULL",
	"rows in": "SELECT sum(x) FROM a WHERE k NOT IN (SELECT k FROM c WHERE k > 3) " +
		"AND EXISTS (SELECT FROM c WHERE c.k = a.k AND c.x > 0) AND k IN (SELECT s FROM c) AND NOT EXISTS (SELECT 1 " +
		"FROM c WHERE c.k = a.k + 3)",
	"cases": "SELECT sum(CASE k WHEN 0 THEN x WHEN 1 THEN 2 END + CASE WHEN b THEN x * x " +
		"ELSE 0 END + coalesce(CASE WHEN k > 3 THEN NULL ELSE x END, 1) + nullif(x, 0.5)) FROM a WHERE k < 2",
	"casts": "SELECT sum(b::int * x + x::float4 + k::bigint * x + k::text::int * x + '3'::int * x + " +
		"'0.5'::float8 * x + '0.1'::real * x + (k::numeric / 3)::float8 * x + (x * 2)::double precision + '7'::numeric * x " +
		"+ true::int * x + x::numeric::float8) FROM a",
	"functions": "SELECT sum(exp(-x) + ln(x + 1) + sqrt(x) + abs(x - 1) + tanh(x) + sigmoid(x) + power(x, " +
		"2) + power(x, k) + pow(x, 0.5) + sin(x) * cos(x) + greatest(x, 1) + least(x, 1, r) + log(x + 1) + sign(x) + " +
		"mod(k, 2) * x + floor(x) + ceil(n) * x + scaled(x) + scaled(by => 3, y => x) + public.scaled(x, k)) FROM a",
	"chunks": "SELECT sum(sqnorm(v + v * 2 - v / 2) + dot(v, v) + sum_elements(m * m) + " +
		"sqnorm(matmul(m, v)) + sqnorm(2 * v) + sqnorm(-v) + sqnorm(v * x) + sqnorm(v ^ 2) + sqnorm(1 - v) + " +
		"sqnorm(v || v)) FROM a",
	"chunks of real": "SELECT sum(sqnorm(u) + dot(u, u) + sqnorm(u * 0.1) + sqnorm(u * r) + sqnorm(u::double " +
		"precision[] * x) + sqnorm(v::real[]) + sqnorm(u * v) + sqnorm(u + 0.1)) FROM a",
	"real chunk loss": "SELECT sum(sqnorm(u)) FROM a",
	"arrays": "SELECT sum(dot(v, ARRAY[1, x, 0.5]) + sqnorm(m * ARRAY[[1, 2, 3], [4, 5, 6.5]]) + dot(v, " +
		"ARRAY[1, 2, 3]::double precision[]) + (ARRAY[1, x, 3])[2]) FROM a",
	"static arguments": "SELECT sum(sqnorm(softmax(v)) + sqnorm(einsum('ij,j->i', m, v)) + " +
		"sum_elements(full(ARRAY[2, 3], x)) + sqnorm(reshape(m, ARRAY[3, 2])) + sqnorm(transpose(m)) + " +
		"sqnorm(concat_axis(m, m, 2)) + cross_entropy(v, 1) + sqnorm(one_hot(k % 3, 3) * v)) FROM a",
	"draws": "SELECT sum(dropout(x, 0.5) + sqnorm(dropout(v, 0.25)) + dot(v, random_normal(ARRAY[3], " +
		"7, ARRAY[k, -1])) + dot(v, random_uniform(ARRAY[3], current_seed(), ARRAY[current_step(), k])) + x * " +
		"current_step()) FROM a",
	"aggregates": "SELECT sum(x) FILTER (WHERE k > 1) + max(x) + min(r) * count(*) FILTER (WHERE b) + " +
		"count(k) + sqnorm(sum(v)) + sqnorm(avg(v)) + var_pop(x) + stddev(x) + coalesce(sum(x) FILTER (WHERE k > 9), 0) + " +
		"sqnorm(array_agg(x ORDER BY k DESC)) + sqnorm(vector_agg(k, x, 5)) FROM a",
	"groups": "SELECT sum(s * s) FROM (SELECT k % 2 AS g, sum(x) AS s FROM a " +
		"GROUP BY 1 HAVING count(*) > 1 UNION ALL SELECT s, max(x) FROM a GROUP BY s) q WHERE g < 3",
	"windows": "SELECT sum(p * p + l * z) FROM (SELECT x / sum(x) OVER (PARTITION BY k % 2) AS p, lag(x, " +
		"1, 0) OVER w + lead(x, 2, 0.5) OVER w AS l, sum(x) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) + " +
		"row_number() OVER w AS z FROM a WINDOW w AS (ORDER BY k)) q",
	"joins": "SELECT sum(a.x * c.x + sqnorm(l.v)) FROM a JOIN c USING (k, t) LEFT " +
		"JOIN (SELECT k, v FROM a WHERE k > 1) l USING (k) CROSS JOIN (SELECT max(x) FROM a) q WHERE l.v IS NOT NULL",
	"natural join": "SELECT sum(p.x * q.y + k) FROM (SELECT k, x FROM a) p NATURAL " +
		"JOIN (SELECT k, x AS y FROM c) q",
	"right join": "SELECT sum(coalesce(p.x, 0.5) * c.r + count) FROM (SELECT k, x, k AS count FROM a " +
		"WHERE k < 3) p RIGHT JOIN c ON c.k = p.k WHERE count IS NOT NULL",
	"laterals": "SELECT sum(e * o * a.x) FROM a, LATERAL unnest(a.v) WITH ORDINALITY AS f(e, o) WHERE o < 3",
	"unnest":   "SELECT sum(e * o) FROM a, unnest(v) WITH ORDINALITY AS f(e, o) WHERE o > 1",
	"series": "SELECT sum(x * g.i + h) FROM a JOIN generate_series(0, 4) AS g(i) ON g.i = a.k, " +
		"generate_series(-1, 1) h",
	"scalar sub-queries": "SELECT sum((x - (SELECT avg(x) FROM a)) ^ 2 + (SELECT sum(r) FROM c " +
		"WHERE c.k = a.k + 1) ^ 2) FROM a WHERE k < 4",
	"with": "WITH q AS (SELECT k, x * 2 AS y FROM a), z(k, w) AS MATERIALIZED (SELECT k, y " +
		"FROM q) SELECT sum(q.y * z.w) FROM q JOIN z ON z.k = q.k",
	"values": "SELECT sum(x * w) FROM a JOIN (VALUES (0, 0.5), (1, -2), (2, 1e2)) AS f(k, w) ON f.k = a.k",
	"quoted names": `SELECT sum("Select" * "as"."Select") AS "Sum" FROM a "as" JOIN c AS "left" ` +
		`USING ("Select")`,
	"same names": "SELECT sum(p.x * q.x * q.k + p.k) FROM a AS p, a AS q WHERE p.k = q.k + 1",
	"unnamed columns": `SELECT sum("?column?" + "coalesce" + sum) FROM (SELECT max(x) * 2, coalesce(max(x), 1), ` +
		`sum(r) FROM a GROUP BY k) q`,
	"stars": "SELECT sum(x * r) + count(*) FROM (SELECT k, x, a.r FROM a) q, (SELECT c.* " +
		"FROM c) w(k2, i2, s2, x2, r2) WHERE k2 = k",
	"settings": "SELECT sum(x * current_setting('my.rate')::float8) FROM a",
	"opaque functions": "SELECT sum(x * e * l) FROM a JOIN (SELECT k, length(substring(t, 2, 1)) AS e, " +
		"length(btrim(t, 'a')) + length(replace(t, 'a', E'\\\\')) + length(left(t, 1) || upper(t)) AS l FROM c) q USING (k)",
	"words in functions": "SELECT sum(x * e * l) FROM a JOIN (SELECT k, extract(epoch " +
		"FROM ts) / 1e9 + extract(day FROM d) AS e, length(substring(t FROM 2 FOR 1)) + position('b' IN t) + " +
		"length(trim(BOTH 'a' FROM t)) AS l FROM c) q USING (k)",
	"opaque aggregates": "SELECT sum(x * n2 * m2) FROM a JOIN (SELECT s % 2 AS g, count(DISTINCT t) AS n2, " +
		"max(length(t)) FILTER (WHERE b) + length(string_agg(t, ',' ORDER BY k DESC)) AS m2 FROM c GROUP BY s % 2 HAVING " +
		"bool_or(b) OR count(*) > 1) q ON q.g = a.k",
	"opaque rows": "SELECT sum(x * w) FROM a JOIN (SELECT DISTINCT ON (s % 2) k, i AS w FROM c " +
		"WHERE (k, s) IN (SELECT k, s FROM c WHERE k < 4) AND (k, s) <> (0, 0) ORDER BY s % 2, k DESC NULLS LAST LIMIT 3 " +
		"OFFSET 0) q ON q.k = a.k",
	"opaque sets": "SELECT sum(x * w) FROM a JOIN (SELECT k, 2 AS w FROM c " +
		"WHERE k < 3 INTERSECT (SELECT k, 2 FROM c EXCEPT SELECT 1, 2) UNION VALUES (3, 5)) q USING (k)",
	"opaque recursion": "SELECT sum(x * w) FROM a JOIN (WITH RECURSIVE z(k, w) AS (SELECT 0, 1 " +
		"UNION ALL SELECT k + 1, w * 2 FROM z WHERE k < 4) SELECT * FROM z) q USING (k)",
	"opaque windows": "SELECT sum(x * w) FROM a JOIN (SELECT k, rank() OVER (PARTITION BY b " +
		"ORDER BY t DESC) + ntile(2) OVER z + sum(s) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING " +
		"EXCLUDE TIES) AS w FROM c WINDOW z AS (ORDER BY k)) q USING (k)",
	"opaque types": "SELECT sum(x * w) FROM a JOIN (SELECT k, round(n::numeric(10,2), 1)::float8 + " +
		"(t::varchar(3) || 'x' = 'ab1x')::int + (('2024-01-0' || (k + 1)::text)::date - DATE '2024-01-01') + (ARRAY[1, 2, " +
		"3])[2] + coalesce(NULL::int, k) + CASE WHEN d IN ('2024-01-01', '2024-01-02') THEN 1 END AS w FROM c) q USING (k) " +
		"WHERE w IS NOT NULL",
	"gradients": "SELECT sum(g.x ^ 2 + g.x * a.x) FROM gradient('cube', NULL::a) AS g JOIN a USING (k)",
	"nothing differentiable": "SELECT sum(x * stop_gradient(r)) + 0 * sum(is_training) " +
		"FROM a, (SELECT 1 AS is_training) q",
}

// TestPrintedForms binds each form from the text that Postgres prints.
func TestPrintedForms(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	m := newMirror(newViewServer(t))
	m.run(formTables)
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		t.Run(name, func(t *testing.T) {
			m.t, m.s.t = t, t
			m.words = name == "words in functions"
			m.run("CREATE VIEW the_loss AS " + forms[name])
			m.compare("the_loss", []string{"a"})
			m.run("DROP VIEW the_loss")
		})
	}
}

// run executes statements in both databases.
func (m *mirror) run(sql string) {
	m.t.Helper()
	text := &ast.Text{SQL: sql}
	ps, err := parse.Parse(text)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range ps {
		text := &ast.Text{SQL: p.SQL}
		one, err := parse.Parse(text)
		if err == nil {
			_, err = m.Exec(context.Background(), one[0].Stmt, text)
		}
		if err != nil {
			m.t.Fatalf("%v\n%s", err, p.SQL)
		}
	}
}
