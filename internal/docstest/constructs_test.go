package docstest

// stage is what the examples of docs/sql.md read: w is the parameter.
const stage = `CREATE TABLE w (id int PRIMARY KEY, x double precision, v double precision[]);
INSERT INTO w VALUES (1, 0.5, '{1,2}'), (2, -0.25, '{3,-4}'), (3, 2, '{0.5,1.5}');
CREATE TABLE t (id int PRIMARY KEY, grp text, n int, y double precision, day date, price numeric(6, 2), known boolean);
INSERT INTO t VALUES (1, 'a', 10, 1.5, '2024-01-01', 1.25, true), (2, 'b', 20, -2, '2024-02-01', 2.5, false),
  (3, 'a', 30, 0.5, NULL, 3.75, NULL), (4, 'c', 40, 4, '2024-03-01', 5, true);
CREATE TABLE link (src int, dst int, weight double precision, PRIMARY KEY (src, dst));
INSERT INTO link VALUES (1, 2, 0.5), (2, 3, 0.25), (3, 1, 2), (1, 3, 1.5);
CREATE VIEW s AS SELECT id, sqnorm(v) AS q FROM w;
CREATE FUNCTION bump(a double precision, width double precision) RETURNS double precision LANGUAGE sql
AS $$ SELECT exp(-(a / width) ^ 2) $$;
CREATE FUNCTION twice(a double precision) RETURNS double precision LANGUAGE plpgsql AS $$ BEGIN RETURN 2 * a; END $$;
COPY (SELECT id, n, y FROM t) TO 'lake' (FORMAT delta);
COPY (SELECT dst AS i0, src - 1 AS i1, weight AS value FROM link) TO 'tensors' (FORMAT delta, TENSOR 'a', LAYOUT 'coo');
`

// construct is a row of a table of docs/sql.md.
type construct struct {
	title string
	loss  string // a loss that holds the construct
	with  string // of what may stand only where no parameter is read: a loss that holds it elsewhere, refused
}

// differentiable are the constructs that gradients pass, or that stand beside them in any loss, by chapter. Each loss
// is compared with central differences.
var differentiable = []struct {
	name string
	rows []construct
}{
	{"from", []construct{
		{title: "table, with alias", loss: "SELECT sum(p.x ^ 2) FROM w AS p"},
		{title: "view, several levels, used several times", loss: "SELECT sum(a.q * b.q) FROM s a, s b"},
		{title: "sub-query, column aliases", loss: "SELECT sum(b ^ 2) FROM (SELECT id, x FROM w) AS q(a, b)"},
		{title: "WITH, used several times",
			loss: "WITH c AS (SELECT id, x ^ 2 AS z FROM w) SELECT sum(a.z * b.z) FROM c a JOIN c b USING (id)"},
		{title: "comma, CROSS JOIN", loss: "SELECT sum(a.x * t.y) FROM w a, t CROSS JOIN link"},
		{title: "JOIN … ON, with any condition", loss: "SELECT sum(x * y) FROM w JOIN t ON w.id < t.id AND t.n % 20 = 0"},
		{title: "JOIN … USING, NATURAL JOIN",
			loss: "SELECT sum(x * y) FROM w JOIN t USING (id) NATURAL JOIN (SELECT id, 2 AS z FROM t) q"},
		{title: "LEFT JOIN, RIGHT JOIN", loss: "SELECT sum(y * coalesce(x, 1)) FROM t LEFT JOIN w USING (id)"},
		{title: "parenthesised joins",
			loss: "SELECT sum(x * weight * y) FROM w JOIN (link JOIN t ON dst = t.id) ON src = w.id"},
		{title: "join on a computed key", loss: "SELECT sum(x * y) FROM w JOIN t ON t.n = 10 * w.id"},
		{title: "join on a column of data that is not a key",
			loss: "SELECT sum(x * weight) FROM w JOIN link ON src = w.id JOIN t ON t.y = weight + 1"},
		{title: "self-join", loss: "SELECT sum(dot(a.v, b.v)) FROM w a JOIN w b ON a.id < b.id"},
		{title: "gradient(…)", loss: "SELECT sum(g.x ^ 2) FROM gradient('SELECT sum(x ^ 3) FROM w', NULL::w) g"},
		{title: "delta_table(…): [a table of Delta Lake](delta.md)",
			loss: "SELECT sum(x * d.y) FROM w JOIN delta_table('lake') d USING (id) WHERE d.n >= 20"},
		{title: "delta_tensor(…): [a tensor in one](delta.md#tensors)",
			loss: "SELECT sum(x ^ 2 * a.value) FROM w JOIN delta_tensor('tensors', 'a', slice => ':, 0:2') a ON a.i0 = id"},
		{title: "unnest(chunk), WITH ORDINALITY: its elements as rows",
			loss: "SELECT sum(z ^ 2 * i) FROM (SELECT i, sum(e) AS z FROM w, unnest(v) WITH ORDINALITY AS u(e, i) " +
				"GROUP BY i) q"},
		{title: "SELECT *, t.*", loss: "SELECT sum(q.x * q.y) FROM (SELECT w.*, t.y FROM w JOIN t USING (id)) q"},
		{title: "ORDER BY without LIMIT", loss: "SELECT sum(x ^ 2) FROM (SELECT * FROM w ORDER BY id) q"},
		{title: "no FROM", loss: "SELECT (SELECT sum(x ^ 2) FROM w) * 2"},
	}},
	{"where", []construct{
		{title: "=, <>, <, <=, >, >=, arithmetic, %", loss: "SELECT sum(x ^ 2) FROM w WHERE id % 2 = 1 AND 10 * id <> 20"},
		{title: "AND, OR, NOT, booleans",
			loss: "SELECT sum(x * y) FROM w JOIN t USING (id) WHERE known AND NOT (grp = 'b' OR n > 100)"},
		{title: "BETWEEN, IN (list), = ANY (ARRAY[…])",
			loss: "SELECT sum(x ^ 2) FROM w WHERE id BETWEEN 1 AND 2 OR id IN (3, 5) OR id = ANY (ARRAY[7, 8])"},
		{title: "IS NULL, IS DISTINCT FROM, IS TRUE", loss: "SELECT sum(x * y) FROM w JOIN t USING (id) " +
			"WHERE day IS NOT NULL AND grp IS DISTINCT FROM 'c' AND (n > 5) IS TRUE"},
		{title: "IS NULL of a parameter: NULLs stay in training, so it is structure",
			loss: "SELECT sum(y * coalesce(q.x, 1)) FROM t LEFT JOIN (SELECT * FROM w WHERE x IS NOT NULL) q USING (id)"},
		{title: "LIKE, texts", loss: "SELECT sum(x * y) FROM w JOIN t USING (id) WHERE grp LIKE 'a%' OR grp || 'x' = 'bx'"},
		{title: "dates, timestamps, also with a cast",
			loss: "SELECT sum(x * y) FROM w JOIN t USING (id) WHERE day < '2024-02-15' AND day <> DATE '2024-01-01'"},
		{title: "rows, compared field by field",
			loss: "SELECT sum(x * y) FROM w JOIN t USING (id) WHERE (w.id, n) = (3, 30) OR (w.id, n) < (2, 5)"},
		{title: "COLLATE \"C\"", loss: "SELECT sum(x * y) FROM w JOIN t USING (id) WHERE grp COLLATE \"C\" < 'b'"},
		{title: "= ANY (SELECT …), NOT IN (SELECT …)",
			loss: "SELECT sum(x ^ 2) FROM w WHERE id = ANY (SELECT src FROM link) AND id NOT IN (SELECT id FROM t " +
				"WHERE grp = 'b')"},
		{title: "IN (SELECT …), EXISTS, NOT EXISTS", loss: "SELECT sum(x ^ 2) FROM w WHERE id IN (SELECT src " +
			"FROM link WHERE weight > 1) AND NOT EXISTS (SELECT 1 FROM t WHERE t.id = w.id AND grp = 'b')"},
		{title: "EXISTS, IN, ANY and ALL (SELECT …) anywhere: under OR and NOT, in CASE, FILTER, HAVING, as a value; " +
			"NULLs as in Postgres", loss: "SELECT sum(x * (CASE WHEN id IN (SELECT src FROM link WHERE dst = 3) " +
			"OR id > ALL (SELECT dst FROM link) THEN 2 ELSE 1 END)) FROM w WHERE id NOT IN (SELECT nullif(n, 10) FROM t " +
			"WHERE n = 20)"},
		{title: "a condition on values, also in ON: a mask",
			loss: "SELECT sum(a.x * b.x) FROM w a JOIN w b ON a.x < b.x WHERE a.x > 0"},
		{title: "comparison with a scalar sub-query", loss: "SELECT sum(x ^ 2) FROM w WHERE x > (SELECT avg(x) FROM w)"},
	}},
	{"group", []construct{
		{title: "sum, avg, count, min, max", loss: "SELECT sum(x ^ 2) + avg(x ^ 3) * count(*) + max(x) * min(x) FROM w"},
		{title: "var_pop, var_samp, variance, stddev, …",
			loss: "SELECT var_pop(x) + stddev_samp(x) + variance(x) + stddev_pop(x) + var_samp(x) + stddev(x) FROM w"},
		{title: "sum, avg, max_agg, min_agg of chunks",
			loss: "SELECT dot(sum(v), avg(v)) + sqnorm(max_agg(v) - min_agg(v)) FROM w"},
		{title: "covar_pop, covar_samp, corr, regr_slope, regr_intercept, regr_r2, regr_sxx, …", loss: "SELECT " +
			"covar_samp(y, x) + corr(y, x) + regr_slope(y, x) * regr_intercept(y, x) + regr_r2(x, y) + regr_sxx(y, x) * " +
			"regr_avgx(y, x) / regr_count(y, x) FROM w JOIN t USING (id)"},
		{title: "product, also of numbers that are 0",
			loss: "SELECT sum(z) FROM (SELECT id % 2, product(x - 2) AS z FROM w GROUP BY 1) q"},
		{title: "FILTER", loss: "SELECT sum(x ^ 2) FILTER (WHERE id < 3) + avg(x ^ 2) FILTER (WHERE x > 0) FROM w"},
		{title: "GROUP BY a column, an expression, a position",
			loss: "SELECT sum(z ^ 2) FROM (SELECT grp, n % 20 = 0, sum(x * y) AS z FROM w JOIN t USING (id) GROUP BY grp, 2) q"},
		{title: "columns that the group determines",
			loss: "SELECT sum(z) FROM (SELECT w.id, w.x * sum(weight) AS z FROM w JOIN link ON src = w.id GROUP BY w.id) q"},
		{title: "… also beside an outer join, of either side", loss: "SELECT sum(z ^ 2) FROM (SELECT w.id, w.x * " +
			"coalesce(sum(weight), 1) AS z FROM w LEFT JOIN link ON src = w.id AND dst > 2 GROUP BY w.id) q"},
		{title: "HAVING", loss: "SELECT sum(z ^ 2) FROM (SELECT src, sum(x * weight) AS z FROM w " +
			"JOIN link ON dst = w.id GROUP BY src HAVING count(*) > 1) q"},
		{title: "HAVING without GROUP BY", loss: "SELECT sum(x ^ 2) FROM w HAVING count(*) > 1"},
		{title: "vector_agg: numbers as a chunk", loss: "SELECT sqnorm(vector_agg(id - 1, x, 3)) FROM w"},
		{title: "array_agg(x ORDER BY …): a stack, one size in all groups",
			loss: "SELECT sum_elements(matmul(z, z) ^ 2) FROM (SELECT array_agg(v ORDER BY id DESC) AS z FROM w " +
				"WHERE id < 3) q"},
		{title: "einsum of up to 16 operands, multiplied by twos in the cheapest order", loss: "SELECT sum(einsum(" +
			"'i,j,k,kl,l->', v, v, v, outer(v, v), v)) FROM w"},
		{title: "percentile_cont, percentile_disc: the gradient goes to the rows of these ranks",
			loss: "SELECT sum((m - d) ^ 2) FROM (SELECT id % 2 AS g, percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS m, " +
				"percentile_disc(0.9) WITHIN GROUP (ORDER BY x ^ 2 DESC) AS d FROM w GROUP BY id % 2) q"},
		{title: "aggregates OVER (PARTITION BY …)",
			loss: "SELECT sum(p ^ 2) FROM (SELECT exp(x) / sum(exp(x)) OVER (PARTITION BY id % 2) AS p FROM w) q"},
		{title: "… with ORDER BY, frames ROWS BETWEEN … and RANGE to peers",
			loss: "SELECT sum(s * m + p) FROM (SELECT sum(x) OVER (ORDER BY id) AS s, avg(x) OVER (ORDER BY id ROWS BETWEEN " +
				"1 PRECEDING AND 1 FOLLOWING) AS m, sum(x ^ 2) OVER (ORDER BY id % 2 RANGE CURRENT ROW) AS p FROM w) q"},
		{title: "min, max of numbers over them, in linear time",
			loss: "SELECT sum((x - low) * high) FROM (SELECT x, min(x) OVER (ORDER BY id) " +
				"AS low, max(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS high FROM w) q"},
		{title: "first_value, last_value, nth_value: the gradient goes to the row they read", loss: "SELECT sum((x - " +
			"f) ^ 2 * l) FROM (SELECT x, first_value(x) OVER (PARTITION BY id % 2 ORDER BY id) AS f, last_value(x) OVER " +
			"(ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS l FROM w) q"},
		{title: "dense_rank, ntile, percent_rank, cume_dist", loss: "SELECT sum(x ^ 2 * r * n) FROM (SELECT x, " +
			"dense_rank() OVER (ORDER BY id % 2) AS r, ntile(2) OVER (ORDER BY id) AS n FROM w) q"},
		{title: "row_number, rank, lag, lead", loss: "SELECT sum((x - before) ^ 2 * r) FROM (SELECT x, lag(x) OVER (ORDER " +
			"BY id) AS before, row_number() OVER (ORDER BY id DESC) AS r FROM w) q"},
	}},
	{"sub", []construct{
		{title: "scalar sub-query", loss: "SELECT sum(x ^ 2) + 0.1 * (SELECT sum(sqnorm(v)) FROM w) FROM w"},
		{title: "correlated by equality, an aggregate",
			loss: "SELECT sum(y * (SELECT sum(x * weight) FROM w JOIN link ON src = w.id WHERE link.dst = t.id)) FROM t"},
		{title: "UNION ALL", loss: "SELECT sum(z ^ 2) FROM (SELECT id, x AS z FROM w UNION ALL SELECT id, y FROM t) q"},
	}},
	{"expression", []construct{
		{title: "+ - * / ^ on numbers", loss: "SELECT sum(-x * 2 + 1 / (x ^ 2 + 1) - x) FROM w"},
		{title: "+ - * / ^ on chunks, and with numbers", loss: "SELECT sum(sqnorm(x * v - v / 2 + v ^ 2)) FROM w"},
		{title: "% on integers", loss: "SELECT sum(x * (n % 7)) FROM w JOIN t USING (id)"},
		{title: "\\|\\| joins chunks along the first dimension", loss: "SELECT sum(sqnorm((v || 2 * v) ^ 2)) FROM w"},
		{title: "subscript, computed subscript, slice", loss: "SELECT sum(v[1] * v[1 + id % 2] + sqnorm(v[2:2])) FROM w"},
		{title: "ARRAY[…] of numbers", loss: "SELECT sum(dot(ARRAY[x, 1, 2 * x], ARRAY[x, x, 3])) FROM w"},
		{title: "attributes as numbers; length, upper, mod and others with a kernel",
			loss: "SELECT sum(x * price * length(grp) + x * mod(n, 7)) FROM w JOIN t USING (id) WHERE upper(grp) = 'A'"},
		{title: "roots and angles; @ \\|/ \\|\\|/", loss: "SELECT sum(atan2(x, 2) + hypot(x, 3) * sind(30 * x) + (||/ x) * " +
			"(|/ (x + 9)) * (@ x)) FROM w"},
		{title: "mod, % and div of numerics, log(b, x), round(x, n), trunc(x, n)", loss: "SELECT sum(x * (mod(price, 2) + " +
			"price % 0.5 + div(price, 2) + log(2, price) + round(price, 1) + trunc(n / 7.0, 2))) FROM w JOIN t USING (id)"},
		{title: "CASE, both forms",
			loss: "SELECT sum(CASE WHEN x > 0 THEN ln(x) ELSE x ^ 2 END + CASE id WHEN 1 THEN x ELSE 0 END) FROM w"},
		{title: "COALESCE, NULLIF", loss: "SELECT sum(coalesce(nullif(x, y), 7) ^ 2) FROM w JOIN t USING (id)"},
		{title: "GREATEST, LEAST of numbers",
			loss: "SELECT sum(greatest(x, 0.1) * least(x, 1.5, y)) FROM w JOIN t USING (id)"},
		{title: "casts to real, double precision; of booleans and attributes",
			loss: "SELECT sum(x::double precision * (n > 15)::int + n::double precision * x) FROM w JOIN t USING (id)"},
		{title: "a text literal, which takes the type that it meets; arrays as `pg_get_viewdef` prints them",
			loss: "SELECT sum(x * '2' + dot(v, '{1,0.5}'::double precision[]) * coalesce(y, '3')) FROM w LEFT JOIN t " +
				"USING (id) WHERE n > '5' OR w.id = ANY ('{7,8}')"},
		{title: "piecewise constant: comparison, round, floor, count",
			loss: "SELECT sum(x * (x > 0)::int + round(7.3 * x) * x) FROM w"},
		{title: "functions of kernels.md", loss: "SELECT sum(tanh(x) + logsumexp(v) + dot(softmax(v), v)) FROM w"},
		{title: "a function of yours in LANGUAGE sql that is one expression of its parameters",
			loss: "SELECT sum(bump(x, 2) * y) FROM w JOIN t USING (id)"},
		{title: "schemas before functions and operators, as `pg_get_viewdef` prints them",
			loss: "SELECT sum(relgrad.sqnorm(w.v OPERATOR(relgrad.*) w.x)) FROM public.w " +
				"WHERE w.id = ANY (ARRAY['1'::integer, 2])"},
		{title: "current_step(), current_epoch(), current_seed()",
			loss: "SELECT sum(x ^ 2) FROM w WHERE (id + current_step()) % 2 = 0"},
		{title: "dropout", loss: "SELECT sum(sqnorm(dropout(v, 0.5))) FROM w"},
		{title: "current_setting", loss: "SELECT sum(x ^ 2) * length(current_setting('search_path')) FROM w"},
	}},
}

// parameterFree are the constructs that may stand only in a sub-query that reads no parameter, each with a loss that
// holds it elsewhere.
var parameterFree = []construct{
	{"DISTINCT, DISTINCT ON", "SELECT sum(x * c) FROM w, (SELECT count(*) AS c FROM (SELECT DISTINCT grp FROM t) d) q",
		"SELECT sum(x) FROM (SELECT DISTINCT x FROM w) q"},
	{"ORDER BY … LIMIT, OFFSET", "SELECT sum(x * y) FROM w JOIN (SELECT * FROM t ORDER BY y DESC LIMIT 3) q USING (id)",
		"SELECT sum(x) FROM (SELECT x FROM w ORDER BY x LIMIT 1) q"},
	{"UNION, INTERSECT, EXCEPT",
		"SELECT sum(x) FROM w JOIN (SELECT src AS id FROM link EXCEPT SELECT id FROM t WHERE grp = 'b') q USING (id)",
		"SELECT sum(x) FROM (SELECT x FROM w UNION SELECT y FROM t) q"},
	{"string_agg and other aggregates over a window",
		"SELECT sum(x * r) FROM w JOIN (SELECT id, length(string_agg(grp, '') OVER (ORDER BY y)) AS r FROM t) q USING (id)",
		"SELECT sum(x) FROM (SELECT x, bool_and(id > 1) OVER (ORDER BY id) AS r FROM w) q WHERE r"},
	{"a frame by GROUPS or by RANGE from an offset, EXCLUDE", "SELECT sum(x * r) FROM w JOIN (SELECT id, sum(y) OVER " +
		"(ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS r FROM t) q USING (id)",
		"SELECT sum(s) FROM (SELECT sum(x) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM w) q"},
	{"WITH RECURSIVE with UNION", "SELECT sum(x * n) FROM w JOIN (WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 " +
		"FROM r WHERE n < 3) SELECT n FROM r) q ON q.n = w.id", "WITH RECURSIVE r AS (SELECT 1 AS n, sum(x) AS s " +
		"FROM w UNION SELECT n + 1, s FROM r WHERE n < 3) SELECT sum(s) FROM r"},
	{"FULL JOIN", "SELECT sum(x * q.y) FROM w JOIN (SELECT t.id, y FROM t FULL JOIN link ON src = t.id) q USING (id)",
		"SELECT sum(w.x * t.y) FROM w FULL JOIN t USING (id)"},
	{"generate_series and other functions in FROM",
		"SELECT sum(x * i) FROM w JOIN generate_series(1, 2) AS g(i) ON i = w.id",
		"SELECT sum(x * i) FROM w, generate_series(1, w.id) AS g(i)"},
	{"VALUES", "SELECT sum(x * c) FROM w JOIN (VALUES (1, 0.5), (2, 1.5)) AS q(id, c) USING (id)",
		"SELECT sum(c) FROM (VALUES ((SELECT sum(x) FROM w))) q(c)"},
	{"sum(DISTINCT …)", "SELECT sum(x) * (SELECT sum(DISTINCT n) FROM t) FROM w", "SELECT sum(DISTINCT x) FROM w"},
	{"string_agg, bool_and, mode and other aggregates",
		"SELECT sum(x * c) FROM w, (SELECT count(*) AS c FROM t HAVING bool_or(n > 5)) q",
		"SELECT sum(x) * mode(id) FROM w"},
	{"auc, ndcg, accuracy and other metrics",
		"SELECT sum(x * c) FROM w, (SELECT rmse(y, n) AS c FROM t) q", "SELECT auc(x, id % 2) FROM w"},
	{"text, date and other functions without a kernel",
		"SELECT sum(x * c) FROM w JOIN (SELECT id, ascii(upper(grp)) AS c FROM t) q USING (id)",
		"SELECT sum(x * ascii(grp)) FROM w JOIN t USING (id)"},
	{"ILIKE, SIMILAR TO, ~ and other operators on texts",
		"SELECT sum(x) FROM w JOIN (SELECT id FROM t WHERE grp ~ '^[ab]') q USING (id)",
		"SELECT sum(x) FROM w JOIN t USING (id) WHERE grp ILIKE 'A%'"},
	{"extract, date arithmetic",
		"SELECT sum(x * m) FROM w JOIN (SELECT id, extract(month FROM day) AS m FROM t) q USING (id)",
		"SELECT sum(x * extract(month FROM day)) FROM w JOIN t USING (id)"},
	{"bits: & and their like", "SELECT sum(x * b) FROM w JOIN (SELECT id, n & 6 AS b FROM t) q USING (id)",
		"SELECT sum(x * (n & 6)) FROM w JOIN t USING (id)"},
	{"count(DISTINCT …)", "SELECT sum(x) * (SELECT count(DISTINCT grp) FROM t) FROM w",
		"SELECT sum(x) * count(DISTINCT grp) FROM w JOIN t USING (id)"},
	{"a cast with a precision", "SELECT sum(x * c) FROM w JOIN (SELECT id, y::numeric(4, 1) AS c FROM t) q USING (id)",
		"SELECT sum(x::numeric(4, 1)) FROM w"},
}

// refused are the constructs that no loss may hold.
var refused = []construct{
	{title: "random(), now() and other functions that change", loss: "SELECT sum(x) * random() FROM w"},
	{title: "GROUP BY on a parameter's value", loss: "SELECT max(z) FROM (SELECT sum(x) AS z FROM w GROUP BY x) q"},
	{title: "PARTITION BY on a parameter's value",
		loss: "SELECT sum(z) FROM (SELECT sum(x) OVER (PARTITION BY x) AS z FROM w) q"},
	{title: "IN (SELECT …) on a parameter's value",
		loss: "SELECT sum(y * w.x) FROM w JOIN t USING (id) WHERE y IN (SELECT x FROM w)"},
	{title: "EXISTS that a parameter's value decides",
		loss: "SELECT sum(x) FROM w WHERE EXISTS (SELECT 1 FROM w u WHERE u.id = w.id AND u.x > 0)"},
	{title: "a correlated sub-query that is no aggregate",
		loss: "SELECT sum((SELECT w.x FROM w WHERE w.id = t.id)) FROM t"},
	{title: "a correlated sub-query that compares otherwise than by =",
		loss: "SELECT sum(x * (SELECT max(y) FROM t WHERE t.id < w.id)) FROM w"},
	{title: "an outer join whose optional side is masked by values",
		loss: "SELECT sum(y * coalesce(q.x, 1)) FROM t LEFT JOIN (SELECT * FROM w WHERE x > 0) q USING (id)"},
	{title: "LATERAL that reads its neighbours", loss: "SELECT sum(q.z) FROM w, LATERAL (SELECT w.x * t.y AS z FROM t) q"},
	{title: "> ALL (SELECT …) on a parameter's value", loss: "SELECT sum(x) FROM w WHERE x > ALL (SELECT y FROM t)"},
	{title: "EXISTS of a correlated aggregate",
		loss: "SELECT sum(x) FROM w WHERE EXISTS (SELECT sum(y) FROM t WHERE t.id = w.id)"},
	{title: "ARRAY(SELECT …)", loss: "SELECT sum(dot(v, ARRAY(SELECT y FROM t WHERE t.id <= w.id))) FROM w"},
	{title: "mode, rank and others WITHIN GROUP", loss: "SELECT mode() WITHIN GROUP (ORDER BY x) FROM w"},
	{title: "TABLESAMPLE; on a server a sub-query that reads no parameter may hold TABLESAMPLE … REPEATABLE (seed)",
		loss: "SELECT sum(x) FROM w TABLESAMPLE BERNOULLI (50)"},
	{title: "a function of yours in PL/pgSQL", loss: "SELECT sum(twice(x)) FROM w"},
	{title: "COLLATE of another collation than C, POSIX and ucs_basic",
		loss: "SELECT sum(x) FROM w JOIN t USING (id) WHERE grp COLLATE \"de-x-icu\" = 'a'"},
	{title: "GROUPING SETS, ROLLUP, CUBE", loss: "SELECT sum(z) FROM (SELECT sum(x) AS z FROM w GROUP BY ROLLUP (id)) q"},
	{title: "comparison of chunks", loss: "SELECT sum(CASE WHEN v > v THEN 1.0 ELSE 0.0 END) FROM w"},
	{title: "GREATEST, LEAST of chunks", loss: "SELECT sum(sqnorm(greatest(v, v))) FROM w"},
	{title: "max, min of chunks", loss: "SELECT sqnorm(max(v)) FROM w"},
	{title: "stddev, variance of chunks", loss: "SELECT sqnorm(stddev_pop(v)) FROM w"},
	{title: "ARRAY of chunks", loss: "SELECT sum(sqnorm(ARRAY[v, 2 * v])) FROM w"},
	{title: "a subscript outside the shape", loss: "SELECT sum(v[3]) FROM w"},
	{title: "backward(…), check_gradient(…)", loss: "SELECT sum(x) + backward('SELECT sum(x) FROM w', ARRAY['w']) FROM w"},
	{title: "INSERT, UPDATE, DELETE in WITH", loss: "WITH d AS (DELETE FROM w RETURNING x) SELECT sum(x) FROM d"},
	{title: "FOR UPDATE; on a server a sub-query that reads no parameter may hold it",
		loss: "SELECT sum(x) FROM (SELECT x FROM w FOR UPDATE) q"},
	{title: "an integer, text or boolean as the loss", loss: "SELECT sum(x::int) FROM w"},
	{title: "a parameter that only comparisons and roundings read", loss: "SELECT sum(round(x)) FROM w"},
}
