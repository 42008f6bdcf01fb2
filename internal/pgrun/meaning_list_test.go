package pgrun

// meanings are losses by the kind of their construct; "server: " is in front of those of which the store lacks
// something.
var meanings = map[string][]string{
	"a group beside an outer join": {
		"SELECT sum(z * z) FROM (SELECT w.id, w.y * coalesce(sum(e.wt), 1) AS z FROM w LEFT " +
			"JOIN e ON w.id = e.src GROUP BY w.id) q",
		"SELECT sum(z * z) FROM (SELECT w.id, w.y * coalesce(sum(e.wt), 1) + sqnorm(w.v) AS z FROM e RIGHT " +
			"JOIN w ON w.id = e.dst GROUP BY w.id) q",
		"SELECT sum(z * z * c) FROM (SELECT id, w.y * coalesce(sum(e.wt), 1) AS z, count(*) AS c FROM w LEFT " +
			"JOIN (SELECT src AS id, wt FROM e ) e USING (id) GROUP BY w.id) q",
		"SELECT sum(z * z * c) FROM (SELECT id, coalesce(w.y, 2) * coalesce(sum(e.wt), 1) + coalesce(t.n, 3) AS z, " +
			"count(*) AS c FROM (SELECT src AS id, wt FROM e ) e RIGHT JOIN w USING (id) LEFT JOIN t USING (id) " +
			"GROUP BY w.id, t.id) q",
		"SELECT sum(z * c) FROM (SELECT w.id, coalesce(w.y, 7) * sum(e.wt) + coalesce(max(w.id), 5) AS z, count(*) AS c " +
			"FROM e LEFT JOIN w ON w.id = e.src AND w.id <> 2 GROUP BY w.id) q",
		"SELECT sum(z * c) FROM (SELECT e.src, e.dst, coalesce(e.wt, 0.5) * sum(sqnorm(w.v)) + coalesce(e.src * e.dst, 5) " +
			"AS z, count(w.id) AS c FROM w LEFT JOIN e ON w.id = e.src + 2 LEFT JOIN t ON t.id = e.dst AND t.n > 10 GROUP BY " +
			"e.src, e.dst) q",
		"SELECT sum(z * c) FROM (SELECT t.id, t.n * sum(w.y) + length(coalesce(t.grp, 'none')) + coalesce(t.price, 2) AS " +
			"z, count(*) AS c FROM w LEFT JOIN t ON t.id = w.id GROUP BY t.id) q",
		"SELECT sum(z) FROM (SELECT w.id, sqnorm(w.v) + count(e.src) * w.y AS z FROM w LEFT " +
			"JOIN e ON w.id = e.src GROUP BY w.id HAVING count(e.src) < 2 AND w.id <> 3) q",
		"SELECT sum(z) FROM (SELECT w.*, w.y * coalesce(stddev_pop(e.wt), 3) AS z FROM w LEFT " +
			"JOIN e ON w.id = e.src GROUP BY w.id) q WHERE q.id < 5",
		"SELECT sum(z * z) FROM (SELECT a.id, dot(a.v, max_agg(b.v)) + a.y AS z FROM w a LEFT " +
			"JOIN w b ON a.id < b.id GROUP BY a.id) q WHERE id < 5",
		"SELECT sum(z * z) FROM (SELECT a.id, b.id AS bid, coalesce(b.y, 2) * sqnorm(a.v) + coalesce(sum(e.wt), 1) AS z " +
			"FROM w a LEFT JOIN w b ON b.id = a.id + 2 LEFT JOIN e ON e.src = a.id AND e.dst <> b.id GROUP BY a.id, b.id) q",
	},
	"IS NULL of a parameter": {
		"SELECT sum(w.x * e.wt) FROM w JOIN e ON e.src = w.id WHERE w.x IS NOT NULL AND w.y IS NULL",
		"SELECT sum(e.wt * coalesce(q.x, 3)) FROM e LEFT JOIN (SELECT * FROM w WHERE x IS NOT NULL) q ON q.id = e.src",
		"SELECT sum(e.wt * coalesce(w.y, 3)) FROM e LEFT JOIN w ON w.id = e.src AND w.x IS NULL",
		"SELECT sum(e.wt * coalesce(w.y, 3)) FROM w RIGHT JOIN e ON w.id = e.src AND NOT (w.x IS NULL) " +
			"AND w.x ^ 2 IS NOT NULL",
		"SELECT sum(e.wt * coalesce(q.z, 3)) FROM e LEFT JOIN (SELECT a.id, a.x * b.y AS z FROM w a LEFT " +
			"JOIN w b ON b.id = a.id + 1) q ON q.id = e.src AND q.z IS NOT NULL",
		"SELECT sum(x * r) FROM (SELECT x, row_number() OVER (ORDER BY id DESC) AS r FROM w WHERE x IS NOT NULL) q",
		"SELECT sum(x * r * l) FROM (SELECT x, rank() OVER (PARTITION BY y IS NULL " +
			"ORDER BY id) AS r, lag(x, 1, 2.5) OVER (ORDER BY x IS NULL, id) AS l FROM w ) q",
		"SELECT sum(s * s) FROM (SELECT sum(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s " +
			"FROM w WHERE NOT (x IS NULL)) q",
		"SELECT sum_elements(matmul(z, z) * ARRAY[[1, 2], [3, 4.5]]) FROM (SELECT array_agg(v ORDER BY id) AS z " +
			"FROM w WHERE x IS NULL) q",
		"SELECT sqnorm(array_agg(x * y ORDER BY id DESC) FILTER (WHERE x IS NOT NULL " +
			"AND y IS NOT NULL) * ARRAY[1, 2.5]) FROM w ",
		"SELECT sum(e.wt) FROM e WHERE EXISTS (SELECT 1 FROM w WHERE w.id = e.src AND w.x IS NOT NULL)",
		"SELECT sum(e.wt) FROM e WHERE NOT EXISTS (SELECT 1 FROM w WHERE w.id = e.src AND (w.x IS NULL OR w.y IS NULL))",
		"SELECT sum(e.wt) FROM e WHERE e.src NOT IN (SELECT id FROM w WHERE x IS NULL)",
		"SELECT sum(z * z * c) FROM (SELECT x IS NULL AS g, sum(sqnorm(v)) AS z, count(*) AS c FROM w GROUP BY x IS NULL) q",
		"SELECT sum(z * z) FROM (SELECT sum(sqnorm(v)) AS z FROM w GROUP BY CASE WHEN x IS NULL THEN 1 " +
			"WHEN y IS NOT NULL THEN 2 ELSE 3 END) q",
		"SELECT sum(z) FROM (SELECT w.id % 2 AS k, sum(w.x) AS s, sum(e.wt) AS z FROM w JOIN e ON e.src = w.id " +
			"GROUP BY w.id % 2, w.id HAVING sum(w.x) IS NOT NULL) q",
		"SELECT sum(q.z * t.n) FROM t LEFT JOIN (SELECT e.src, avg(w.x * e.wt) AS z FROM w JOIN e ON e.dst = w.id " +
			"GROUP BY e.src) q ON q.src = t.id AND q.z IS NOT NULL",
		"SELECT sum(e.wt * coalesce(q.z, 3)) FROM e LEFT JOIN (SELECT id, x AS z FROM w UNION ALL SELECT id + 10, y " +
			"FROM w UNION ALL SELECT id + 20, y FROM t UNION ALL SELECT 7, NULL) q ON q.id % 10 = e.src AND q.z IS NOT NULL",
		"SELECT sum(e.wt * (CASE WHEN w.x IS NULL THEN sqnorm(w.v) ELSE w.x END)) FILTER (WHERE w.y IS NOT NULL " +
			"OR w.id = 3) FROM w JOIN e ON e.src = w.id",
		"SELECT sum(e.wt * coalesce(q.x, 3)) FROM e LEFT JOIN (SELECT id, coalesce(x, y) AS x " +
			"FROM w ) q ON q.id = e.src AND q.x IS DISTINCT FROM NULL",
		"SELECT sum(e.wt * coalesce(q.z, 3)) FROM e LEFT JOIN (SELECT id, CASE WHEN id < 3 THEN x ELSE y END AS z " +
			"FROM w WHERE id IN (SELECT id FROM t)) q ON q.id = e.src AND (q.z IS NULL) = false",
		"SELECT sum(e.wt * (SELECT count(*) + coalesce(sum(w.y), 0) FROM w WHERE w.id = e.src AND w.x IS NOT NULL)) FROM e ",
		"SELECT sum(e.wt * coalesce(q.x, 3)) FROM e LEFT JOIN (SELECT id, x FROM w WHERE x IS NOT NULL AND x > 0 " +
			"OR x IS NULL) q ON q.id = e.src WHERE e.src = 100 OR q.x IS NULL",
	},
	"EXISTS and IN anywhere": {
		"SELECT sum(w.y) FROM w WHERE EXISTS (SELECT 1 FROM e WHERE e.src = w.id AND e.dst > 2) OR w.id = 4",
		"SELECT sum(w.y) FROM w WHERE NOT (w.id IN (SELECT dst FROM e WHERE src < 3) AND w.id > 1)",
		"SELECT sum(w.y * (EXISTS (SELECT 1 FROM e WHERE e.src = w.id))::int) + sum(w.y) FILTER (WHERE w.id NOT IN (SELECT " +
			"dst FROM e WHERE dst < 4)) FROM w ",
		"SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM t WHERE t.id = w.id AND t.known) THEN w.y ^ 2 " +
			"WHEN w.id IN (SELECT id FROM t) THEN 3 * w.y ELSE sqnorm(w.v) END) FROM w ",
		"SELECT sum(w.y) FROM w WHERE w.id NOT IN (SELECT k FROM t WHERE k IS NOT NULL)",
		"SELECT sum(w.y) + sum(sqnorm(w.v)) * 2 FROM w WHERE w.id NOT IN (SELECT k FROM none)",
		"SELECT coalesce((SELECT sum(w.y) FROM w WHERE w.id NOT IN (SELECT k FROM t)), 7) + sum(w.y) FROM w ",
		"SELECT sum(w.y * (CASE WHEN w.id IN (SELECT k FROM t) THEN 1 WHEN NOT w.id IN (SELECT k FROM t) THEN 10 " +
			"ELSE 100 END)) FROM w ",
		"SELECT sum(w.y * (CASE WHEN q.k IN (SELECT k FROM t WHERE t.n < w.id * 10) THEN 1 WHEN q.k NOT IN (SELECT k " +
			"FROM t WHERE t.n < w.id * 10) THEN 10 ELSE 100 END)) FROM w JOIN t q USING (id)",
		"SELECT sum(w.y * (CASE WHEN q.k IN (SELECT id FROM t WHERE t.n < w.id * 10) THEN 1 " +
			"WHEN q.k NOT IN (SELECT id FROM t WHERE t.n < w.id * 10) THEN 10 ELSE 100 END)) FROM w JOIN t q USING (id)",
		"SELECT sum(w.y * (CASE WHEN q.k IN (SELECT k FROM none) THEN 1 WHEN q.k NOT IN (SELECT k FROM none) THEN 10 " +
			"ELSE 100 END)) FROM w JOIN t q USING (id)",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE t.k NOT IN (SELECT dst FROM e WHERE e.src = w.id)",
		"SELECT sum(w.y * q.n) FROM w LEFT JOIN t q ON q.id = w.id AND (EXISTS (SELECT 1 FROM e WHERE e.src = w.id " +
			"AND e.dst = q.id) OR q.n = 10)",
		"SELECT sum(w.y * q.n) FROM w LEFT JOIN t q ON q.id >= w.id AND EXISTS (SELECT 1 FROM e WHERE e.src = w.id " +
			"AND e.dst = q.id)",
		"SELECT sum(w.y * coalesce(q.n, 3)) FROM w LEFT JOIN t q ON q.id = w.id AND w.id NOT IN (SELECT k FROM t)",
		"SELECT sum(z) FROM (SELECT src, sum(wt) AS z FROM e GROUP BY src HAVING src IN (SELECT id FROM t) " +
			"OR count(*) > 1 AND NOT EXISTS (SELECT 1 FROM none)) q",
		"SELECT sum(z * f::int) FROM (SELECT src, sum(wt) AS z, src NOT IN (SELECT k FROM t WHERE k < 3) AS f " +
			"FROM e GROUP BY src) q",
		"SELECT sum(w.y) FROM w WHERE w.id > ALL (SELECT k FROM t WHERE k < 3)",
		"SELECT sum(w.y * (CASE WHEN w.id < ANY (SELECT k FROM t) THEN 1 WHEN w.id >= ALL (SELECT k FROM t) THEN 10 " +
			"ELSE 100 END)) FROM w ",
		"SELECT sum(w.y * (CASE WHEN w.id <> ALL (SELECT k FROM none) THEN 1 WHEN w.id >= ANY (SELECT k " +
			"FROM none) THEN 10 ELSE 100 END)) FROM w ",
		"SELECT sum(w.y) FROM w WHERE (2 IN (SELECT k FROM t)) AND (4 NOT IN (SELECT k FROM t)) IS NULL " +
			"AND NOT EXISTS (SELECT 1 FROM none)",
		"SELECT sum(w.y) FROM w WHERE EXISTS (SELECT 1 FROM t WHERE t.id = w.id AND (EXISTS (SELECT 1 FROM e " +
			"WHERE e.src = t.id AND e.dst = w.id + 1) OR t.n = 30))",
		"SELECT sum(w.y) FROM w WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = w.id AND EXISTS (SELECT 1 FROM e " +
			"WHERE e.src = t.id AND e.dst = w.id + 1))",
		"SELECT sum(w.y) FROM w WHERE EXISTS (SELECT * FROM e WHERE e.src = w.id ORDER BY wt LIMIT 1) = (w.id < 3)",
		"SELECT sum(r * wt) FROM (SELECT wt, rank() OVER (PARTITION BY src IN (SELECT id FROM t) " +
			"ORDER BY EXISTS (SELECT 1 FROM t WHERE t.id = dst AND t.grp = 'a'), src, dst) AS r FROM e ) q",
		"SELECT sum(w.y * c) FROM w JOIN (SELECT id, count(*) FILTER (WHERE 'a' IN (SELECT grp FROM t u " +
			"WHERE u.id <= t.id)) AS c FROM t GROUP BY id) q USING (id)",
		"SELECT sum(w.y * (CASE WHEN grp IN (SELECT grp FROM t) THEN 1 WHEN grp NOT IN (SELECT grp FROM t " +
			"WHERE id < 3) THEN 10 ELSE 100 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN day IN (SELECT day FROM t WHERE id > 2) THEN 1 WHEN day NOT IN (SELECT day " +
			"FROM t WHERE id <> 3) THEN 10 ELSE 100 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN t.y IN (SELECT r FROM t) THEN 1 WHEN t.y NOT IN (SELECT r FROM t) THEN 10 " +
			"ELSE 100 END)) FROM w JOIN t USING (id)",
	},
	"rows are compared field by field": {
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE (w.id, t.grp) IN (SELECT id, grp FROM t WHERE n > 15)",
		"SELECT sum(w.y) FROM w WHERE (w.id + 1, w.id * 2) NOT IN (SELECT src, dst FROM e)",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE NOT (t.grp, t.k) IN (SELECT grp, k FROM t WHERE id > 1)",
		"SELECT sum(w.y * (CASE WHEN (t.k, grp) IN (SELECT k, 'c' FROM t) THEN 1 " +
			"WHEN (t.k, grp) NOT IN (SELECT k, grp FROM t WHERE id <> 3) THEN 10 ELSE 100 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN (t.k, t.day) IN (SELECT u.k, u.day FROM t u WHERE u.n < w.id * 12) THEN 1 " +
			"WHEN (t.k, t.day) <> ALL (SELECT u.k + 0, u.day FROM t u WHERE u.n < w.id * 12) THEN 10 ELSE 100 END)) " +
			"FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN (w.id, 3) = ALL (SELECT k, k FROM t WHERE k = 3) THEN 1 " +
			"WHEN (2, 'b') IN (SELECT k, grp FROM t) THEN 10 ELSE 100 END)) FROM w ",
		"SELECT sum(w.y * (CASE WHEN (w.id, t.k) <> ANY (SELECT id, k FROM t WHERE id = 2) THEN 1 " +
			"WHEN (w.id, t.k) = ALL (SELECT id, k FROM t WHERE id = 2) THEN 10 ELSE 100 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * e.wt) FROM w JOIN e ON (w.id, w.id + 1) = (e.src, e.dst)",
		"SELECT sum(w.y * (CASE WHEN (grp, t.k) < ('b', 2) THEN 1 WHEN (grp, t.k) >= ('b', 2) THEN 10 ELSE 100 END)) " +
			"FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN (grp, n, t.day) > ('a', '10', '2024-01-01') THEN 1 " +
			"WHEN ROW(grp, n) <= ROW('a', 10) THEN 10 ELSE 100 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN (grp, t.k) IN (('a', 1), ('b', 3), ('c', 2)) THEN 1 " +
			"WHEN (grp, t.k) NOT IN (('a', 3)) THEN 10 ELSE 100 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN (grp, t.k) <> ('b', 9) THEN 1 WHEN ROW(t.k, t.day) IS NULL THEN 10 " +
			"WHEN ROW(t.k, t.day) IS NOT NULL THEN 100 ELSE 1000 END)) FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (CASE WHEN (t.k, t.day) IS DISTINCT FROM (NULL, '2024-02-01') THEN 1 ELSE 10 END)) FROM w " +
			"JOIN t USING (id) WHERE (t.k, grp) IS NOT DISTINCT FROM (t.k, grp)",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE n BETWEEN SYMMETRIC 30 AND 20 OR t.k NOT BETWEEN SYMMETRIC 3 AND 2",
		"SELECT sum(z * z) FROM (SELECT src, count(*) AS c, sum(wt) AS z FROM e " +
			"GROUP BY src HAVING (src, count(*)) IN (SELECT id, 2 FROM t)) q",
	},
	"groups and orders of floating-point data": {
		"SELECT sum(z * z) FROM (SELECT t.y, sum(w.y) AS z FROM w JOIN t USING (id) GROUP BY t.y) q",
		"SELECT sum(z * z * coalesce(g, 2)) FROM (SELECT t.y AS g, sum(e.wt) AS z FROM e LEFT " +
			"JOIN t ON t.id = e.dst GROUP BY t.y, t.r) q",
		"SELECT sum(z * r) FROM (SELECT w.y AS z, rank() OVER (ORDER BY t.y DESC, t.r) AS r FROM w JOIN t USING (id)) q",
		"SELECT sum(z * r) FROM (SELECT sum(w.y) OVER (PARTITION BY t.r ORDER BY t.y NULLS FIRST) AS z, row_number() OVER " +
			"(ORDER BY t.r, w.id) AS r FROM w JOIN t USING (id)) q",
		"SELECT sqnorm(array_agg(w.v ORDER BY t.y, w.id) * ARRAY[[1, 2], [3, 4], [5, 6], [7, 8.5]]) FROM w JOIN t USING (id)",
		"server: SELECT sum(z * z) FROM (SELECT f.y, sum(w.y) AS z FROM w JOIN f USING (id) GROUP BY f.y) q",
		"server: SELECT sum(z * r) FROM (SELECT coalesce(w.y, 2) AS z, rank() OVER (ORDER BY f.y) AS r FROM w JOIN f " +
			"USING (id)) q",
		"server: SELECT sum(z * r) FROM (SELECT coalesce(w.y, 2) AS z, rank() OVER (PARTITION BY f.y " +
			"ORDER BY f.s DESC) AS r FROM w JOIN f USING (id)) q",
		"server: SELECT sum(coalesce(w.y, 2) * g.n) FROM w JOIN f USING (id) JOIN f g ON g.y = f.y",
		"server: SELECT sum(coalesce(w.y, 2) * n) FROM w JOIN f USING (id) WHERE f.y IN (SELECT s FROM f) " +
			"OR f.y >= 'infinity'",
	},
	"a text literal takes the type that it meets": {
		"SELECT sum(w.y * '2') + sum('0.5' + w.y) - sum(w.y / '4') FROM w ",
		"SELECT sum(sqnorm(w.v * '{2,3}')) + sum(sqnorm('{1,0.5}' - w.v)) FROM w ",
		"SELECT sum(w.y * (n + '2') * (n % '7') / price ^ '2') FROM w JOIN t USING (id)",
		"SELECT sum(w.y * (price * '2.5' + '1e1')) FROM w JOIN t USING (id)",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE n > '15' AND '40' >= n AND t.y <> '0.5' AND price < '4.5'",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE known = 't' OR known IS DISTINCT FROM 'yes' AND NOT 'f'",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE 'true' AND (CASE WHEN 'no' THEN n ELSE '20' END) >= '20'",
		"SELECT sum(CASE w.id WHEN '1' THEN w.y WHEN '3' THEN '4' ELSE '0.25' END) FROM w ",
		"SELECT sum(w.y * CASE WHEN w.id > 2 THEN '3' ELSE n END) FROM w JOIN t USING (id)",
		"SELECT sum(coalesce(w.y, '7') * coalesce(n, '3') + coalesce('2', w.y)) FROM w LEFT JOIN t USING (id)",
		"SELECT sum(sqnorm(coalesce(q.v, '{1,1}'))) FROM w JOIN (SELECT w.id, CASE WHEN id > 2 THEN v END AS v " +
			"FROM w ) q USING (id)",
		"SELECT sum(greatest(w.y, '0.1') + least('1', w.y, n)) FROM w JOIN t USING (id)",
		"SELECT sum(nullif(w.y, '1.25') + nullif(n, '10')) FROM w JOIN t USING (id)",
		"SELECT sum(z * z) FROM (SELECT y AS z FROM w UNION ALL SELECT '2' UNION ALL SELECT '0.5' FROM t) q",
		"SELECT sum(z * k) FROM (SELECT '3' AS z, '4' AS k UNION ALL SELECT y, n FROM w JOIN t USING (id, y) " +
			"UNION ALL SELECT y, id FROM w ) q",
		"SELECT sum(w.y * power('2', n / 10) + power(w.y ^ 2, '1.5')) FROM w JOIN t USING (id)",
		"SELECT sum(dot(w.v, '{1,2}') + sum_elements(maximum(w.v, '{0,0.25}'))) FROM w ",
		"SELECT sum(mod(n, '7') * w.y * length('abc')) FROM w JOIN t USING (id)",
		"SELECT sum(w.y) FROM w WHERE w.id IN ('1', '4', '9') AND w.id + 0.25 IN ('1.25', '4.25')",
		"SELECT sum(w.y) FROM w WHERE w.id NOT IN ('1', '9') AND w.id BETWEEN '1' AND '4'",
		"SELECT sum(w.y) FROM w WHERE w.id = ANY ('{1,4,9}') OR w.id <> ALL ('{1,2,3,4}'::int[])",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE grp = ANY ('{a,\"c\"}'::text[]) AND t.y = ANY ('{1.5,NULL,7}')",
		"SELECT sum(w.y) FROM w JOIN t USING (id) WHERE day BETWEEN '2024-01-01' AND '2024-02-20' " +
			"OR day IN ('2024-03-01', '2024-04-01')",
		"SELECT sum(sqnorm(w.v - '{1,2}'::double precision[]) + sqnorm('{0.5,2}'::real[] * 2)) FROM w ",
		"SELECT sum(dot(matmul('{{1,2},{3,4}}'::double precision[], w.v), w.v)) FROM w ",
		"SELECT sum(w.y * '2'::double precision * '3'::int * '1.5'::numeric * '0.1'::real * ('t'::boolean)::int) FROM w ",
		"SELECT sum(w.y * double precision '2' + float8 '1' * w.y) FROM w WHERE w.id = '1'::integer OR bool 'false' " +
			"OR w.id = smallint '4'",
		"SELECT sum(sqnorm(w.v || '{1,2}')) + sum(length(grp || 'x')) FROM w JOIN t USING (id)",
		"SELECT sum(z * c) FROM (SELECT sum(y) AS z, 'a' AS k, count(*) AS c FROM w GROUP BY id % 2) q WHERE k = 'a'",
		"SELECT sum(w.y * (SELECT count(*) FROM t WHERE n = '10')) FROM w WHERE EXISTS (SELECT 1 FROM t " +
			"WHERE t.id = w.id AND n > '5')",
		"SELECT sum(coalesce(l, '3') * y) FROM (SELECT y, lag(y, 1, '2.5') OVER (ORDER BY id) AS l FROM w WHERE id > '-1') q",
		"SELECT sum(w.y) FROM w WHERE w.id IN (SELECT k FROM t WHERE grp = 'a') OR '2' IN (SELECT k FROM t " +
			"WHERE t.id = w.id)",
		"SELECT sum(w.y * ('3' > w.id)::int * -'2'::int) FROM w ",
		"SELECT sum(w.y) FROM w LEFT JOIN t ON t.id = w.id AND t.n = '10' AND t.grp > '' WHERE w.y > 'NaN' " +
			"OR w.y < 'infinity'",
		"SELECT sum(dot(ARRAY[w.y, '2', n], '{1,2,3}')) FROM w JOIN t USING (id) WHERE w.y IS NOT NULL",
		"SELECT sum(w.v['1'] * w.v['2']) FROM w ",
	},
}
