-- Aggregates over infinities, and with DISTINCT, ORDER BY and FILTER.
CREATE TABLE f (x float8, y float8, n numeric, i int);
INSERT INTO f VALUES (1, 2, 1.5, 1), (2, 4.5, 2.25, 2), (3, 5, NULL, NULL), (NULL, 1, 4, 4);
CREATE TABLE inf (x float8, y float8);
INSERT INTO inf VALUES ('inf', 1), (2, 3), (3, 5);
--! refused 22003
SELECT var_pop('inf'::float8);
SELECT var_samp('inf'::float8);
--! refused 22003
SELECT stddev_pop('inf'::float8);
SELECT stddev_samp('inf'::float8);
--! refused 22003
SELECT var_pop(x), var_samp(x), stddev(x), variance(x), stddev_pop(x) FROM inf;
--! refused 22003
SELECT var_pop(x) FROM (VALUES (1::float8), ('inf'), (2)) v(x);
--! both 22003
SELECT var_pop(x), stddev(x) FROM (VALUES (1e200::float8), (-1e200)) v(x);
SELECT var_pop(x) FROM (VALUES (1e300::float8), (1e300)) v(x);
--! refused 22003
SELECT corr(x, y), covar_pop(x, y), covar_samp(x, y), regr_slope(x, y), regr_intercept(x, y) FROM inf;
--! refused 22003
SELECT corr(y, x), covar_pop(y, x), covar_samp(y, x), regr_slope(y, x), regr_intercept(y, x) FROM inf;
--! refused 22003
SELECT covar_pop(1::float8, 'inf'::float8);
SELECT covar_samp(3::float8, 'inf'::float8);
SELECT corr(1::float8, 'inf'::float8);
SELECT regr_slope('inf'::float8, 1::float8);
SELECT corr(x, y), covar_pop(x, y), covar_samp(x, y), regr_slope(x, y), regr_intercept(x, y) FROM f;
SELECT corr(x, x), regr_slope(1, x), corr(1, x), regr_intercept(5, x) FROM f;
SELECT regr_count(y, x), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x), regr_avgx(y, x), regr_avgy(y, x), regr_r2(y, x) FROM f;
SELECT corr(x, y) FROM (VALUES (0.1::float8, 0.1::float8), (0.2, 0.2), (0.30000000000000004, 0.3)) v(x, y);
--! both 22003
SELECT covar_pop(x, y), covar_samp(x, y) FROM (VALUES (1e200::float8, 1e200::float8), (-1e200, -1e200)) v(x, y);
--! both 22003
SELECT corr(x, y) FROM (VALUES (1e200::float8, 1e200::float8), (-1e200, -1e200)) v(x, y);
SELECT sum(x), avg(x), min(x), max(x), count(x), sum(y), avg(y) FROM inf;
--! refused 22003
SELECT sum(x) FROM (VALUES ('inf'::float8), ('-inf')) v(x);
--! refused 22003
SELECT avg(x) FROM (VALUES ('inf'::float8), ('-inf')) v(x);
--! both 22003
SELECT sum(x) FROM (VALUES (1e308::float8), (1e308)) v(x);
--! both 22003
SELECT avg(x) FROM (VALUES (1e308::float8), (1e308)) v(x);
--! both 22003
SELECT sum(x) FROM (VALUES (3e38::real), (3e38)) v(x);
SELECT avg(x) FROM (VALUES (3e38::real), (3e38)) v(x);
SELECT sum(x), avg(x) FROM (VALUES (0.1::real), (0.2), (0.3)) v(x);
SELECT sum(x) FROM (VALUES (1::real), (1e-8), (1e-8)) v(x);
SELECT sum(n), avg(n), min(n), max(n), variance(n), stddev(n), var_pop(n), stddev_pop(n) FROM f;
SELECT sum(i), avg(i), variance(i), stddev(i), var_pop(i), stddev_pop(i), sum(i::bigint), avg(i::smallint) FROM f;
SELECT var_samp(x), stddev_samp(x), var_pop(x), stddev_pop(x) FROM (VALUES (5)) v(x);
SELECT var_samp(x), var_pop(x) FROM (SELECT 1.0 AS x WHERE false) t;
SELECT variance(x), stddev(x) FROM (VALUES (0.1::real), (0.2)) v(x);
SELECT sum(x) FROM (VALUES (2147483647), (2147483647)) v(x);
SELECT sum(x) FROM (VALUES (9223372036854775807), (9223372036854775807)) v(x);
SELECT avg(x) FROM (VALUES (9223372036854775807), (9223372036854775807)) v(x);
SELECT avg(x), avg(DISTINCT x), sum(DISTINCT x) FROM (VALUES (1), (1), (2)) v(x);
SELECT avg(x) FROM (VALUES (1), (2), (2)) v(x);
SELECT avg(x) FROM (VALUES (100000), (0), (1)) v(x);
SELECT avg(x) FROM (VALUES (0.000001), (0.000002), (0.000002)) v(x);
SELECT avg(x) FROM (VALUES (123456789012345678901234567890.5), (1), (1)) v(x);
SELECT bool_and(b), bool_or(b), every(b) FROM (VALUES (true), (NULL), (false)) v(b);
SELECT bool_and(b), bool_or(b) FROM (SELECT true AS b WHERE false) t;
SELECT bit_and(i), bit_or(i) FROM f;
--! refused 42883
SELECT bit_and(i::smallint), bit_xor(i) FROM f;
SELECT min(s), max(s) FROM (VALUES ('b'), ('a'), ('B'), (NULL)) v(s);
--! both 42883
SELECT min(b) FROM (VALUES (true)) v(b);
SELECT count(*), count(x), count(DISTINCT x) FROM (VALUES (1), (NULL), (1)) v(x);
SELECT count(*) FILTER (WHERE x > 1), sum(x) FILTER (WHERE x IS NULL) FROM (VALUES (1), (NULL), (2)) v(x);
SELECT sum(x ORDER BY x), count(x ORDER BY x DESC) FROM f;
SELECT count(DISTINCT x ORDER BY x) FROM f;
--! both 42P10
SELECT sum(DISTINCT x ORDER BY y) FROM f;
--! both 42P10
SELECT count(DISTINCT x ORDER BY -x) FROM f;
--! both 42P10
SELECT string_agg(DISTINCT i::text, ',' ORDER BY i) FROM f;
SELECT string_agg(DISTINCT i::text, ',' ORDER BY i::text) FROM f;
SELECT array_agg(DISTINCT n ORDER BY n DESC) FROM f;
SELECT sum(x) FROM f HAVING sum(x) > 5;
SELECT 1 FROM f HAVING true;
SELECT 1 HAVING false;
SELECT 1 HAVING true;
SELECT 1 FROM f HAVING 1 = 2;
--! both 42803
SELECT i FROM f HAVING true;
SELECT i FROM f GROUP BY i HAVING i > 1 ORDER BY i;
--! refused 0A000
SELECT count(*) FROM f GROUP BY () HAVING true;
--! both 42803
SELECT sum(sum(x)) FROM f;
--! both 42803
SELECT sum(x) FROM f WHERE sum(x) > 1;
--! both 42803
SELECT sum(x) + i FROM f;
--! both 42803
SELECT i, sum(x) FROM f;
SELECT i + 1, sum(x) FROM f GROUP BY i + 1 ORDER BY 1;
SELECT i + 1 + 1, sum(x) FROM f GROUP BY i + 1 ORDER BY 1;
--! both 42803
SELECT 1 + i + 1, sum(x) FROM f GROUP BY i + 1 ORDER BY 1;
SELECT count(*), 'a' AS k FROM f GROUP BY k;
SELECT count(*) FROM f GROUP BY 'a'::text;
--! both 42601
SELECT count(*) FROM f GROUP BY true;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM f;
SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY x DESC), percentile_disc(0.6) WITHIN GROUP (ORDER BY i) FROM f;
--! both 22003
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY x) FROM f;
--! both 42883
SELECT percentile_cont(0.5) FROM f;
--! both 0A000
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) OVER () FROM f;
--! refused 0A000
SELECT mode() WITHIN GROUP (ORDER BY x) FROM f;
--! refused 0A000
SELECT rank(1) WITHIN GROUP (ORDER BY x) FROM f;
--! both 42883
SELECT any_value(x) FROM f;
--! both 42725
SELECT sum('a') FROM f;
--! both 42725
SELECT sum('1') FROM f;
--! both 42883
SELECT sum(true) FROM f;
--! both 42883
SELECT avg(x::text) FROM f;
--! refused 42883
SELECT max(ARRAY[1]) FROM f;
--! both 42725
SELECT sum(NULL) FROM f;
SELECT count(NULL), max(NULL), min(NULL::int) FROM f;
--! both 42883
SELECT sum(x, y) FROM f;
--! both 42883 42809
SELECT count() FROM f;
--! both 42883
SELECT count(x, y) FROM f;
--! both 42809 42883
SELECT sum(*) FROM f;
--! both 42601
SELECT count(DISTINCT *) FROM f;
--! both 42809
SELECT abs(DISTINCT x) FROM f;
--! both 42809 42883
SELECT lower(*) FROM f;
--! refused 42883
SELECT json_agg(x) FROM f;
--! refused 0A000
SELECT grouping(x) FROM f GROUP BY x;
--! refused 0A000
SELECT x, count(*) FROM f GROUP BY ROLLUP (x);
--! refused 0A000
SELECT x, count(*) FROM f GROUP BY GROUPING SETS ((x), ());
SELECT x FROM f GROUP BY x HAVING count(*) > 1;
SELECT x FROM f GROUP BY x ORDER BY count(*) DESC, x;
SELECT DISTINCT count(*) FROM f GROUP BY x;
SELECT DISTINCT ON (count(*)) count(*) FROM f GROUP BY x;
SELECT sum(x) AS s FROM f ORDER BY s;
--! both 42803
SELECT sum(x) AS s FROM f GROUP BY s;
SELECT n, count(*) FROM (VALUES (1.0), (1.00), (2)) v(n) GROUP BY n ORDER BY 2;
SELECT x, count(*) FROM (VALUES (1::float8), (1.0), (NULL), (NULL)) v(x) GROUP BY x ORDER BY 1;
SELECT sum(x) FROM (SELECT x FROM f ORDER BY x LIMIT 2) t;
SELECT avg(i) FROM f WHERE false;
SELECT sum(i), count(*), array_agg(i), string_agg('a', ',') FROM f WHERE false;
SELECT max(n) FROM (VALUES (1e100), (1e99), (-1e200)) v(n);
SELECT sum(n) FROM (VALUES (1e-20), (1e20)) v(n);
CREATE TABLE pk (id int PRIMARY KEY, v text);
INSERT INTO pk VALUES (1, 'a'), (2, 'b');
CREATE TABLE child (pid int, w float8);
INSERT INTO child VALUES (1, 1), (1, 2), (2, 3);
SELECT pk.id, pk.v, sum(w) FROM pk JOIN child ON pid = id GROUP BY pk.id ORDER BY 1;
--! both 42803
SELECT pk.v, sum(w) FROM pk JOIN child ON pid = id GROUP BY pid ORDER BY 1;
SELECT pk.v FROM pk LEFT JOIN child ON pid = id GROUP BY id ORDER BY 1;
SELECT pk.v FROM pk RIGHT JOIN child ON pid = id GROUP BY id ORDER BY 1;
SELECT a.id FROM pk a LEFT JOIN pk b USING (id) GROUP BY id;
SELECT id FROM pk a LEFT JOIN pk b USING (id) GROUP BY id ORDER BY 1;
SELECT id FROM pk a LEFT JOIN pk b USING (id) GROUP BY a.id;
SELECT a.id, a.v FROM pk a JOIN pk b USING (id) GROUP BY id;
SELECT a.id FROM pk a JOIN pk b USING (id) GROUP BY id ORDER BY 1;
--! both 42803
SELECT b.id FROM pk a JOIN pk b USING (id) GROUP BY id ORDER BY 1;
SELECT b.id FROM pk a LEFT JOIN pk b USING (id) GROUP BY b.id ORDER BY 1;
SELECT CASE 1 WHEN 0 THEN 1 / 0 WHEN 1 THEN 1 ELSE 2 / 0 END;
SELECT coalesce(1, 1 / 0);
--! both 22012
SELECT i FROM f WHERE i > 100 AND 1 / 0 = 1;
-- An aggregate beside ANY and ALL; keys that are constant for SQLite.
CREATE TABLE few (id int PRIMARY KEY, i int);
INSERT INTO few VALUES (1,2),(2,3),(3,NULL);
SELECT sum(i) = ANY(ARRAY[9,5]), sum(i) = ALL(ARRAY[5]), sum(i) < ANY('{5,NULL}'::bigint[]), sum(i) > ALL(ARRAY[]::bigint[]) FROM few;
SELECT id FROM few GROUP BY id HAVING max(i) = ANY(ARRAY[3]);
SELECT id, i = ANY(ARRAY[3,NULL]) FROM few ORDER BY id;
--! refused 0A000
SELECT sum(i) OVER (ORDER BY id) = ANY(ARRAY[2,4]) FROM few;
--! refused 0A000
SELECT sum(i) OVER (ORDER BY id) > ANY(SELECT 4) FROM few;
SELECT sum(i) OVER (ORDER BY id) IN (SELECT 5) FROM few ORDER BY id;
SELECT sum(i) OVER (ORDER BY id) IN (2, 3, 5) FROM few ORDER BY id;
SELECT (sum(i) OVER (ORDER BY id)) BETWEEN 3 AND (SELECT max(i) + 9 FROM few) FROM few ORDER BY id;
SELECT 5 = ANY(array_agg(i)), 2 = ANY(array_agg(i)) FROM few;
--! refused 0A000
SELECT max(i) = ANY(array_agg(i)) FROM few;
SELECT count(*) FROM few GROUP BY ((1, i) IS NULL);
SELECT (i, 1) IS NULL, count(*) FROM few GROUP BY ((i, 1) IS NULL);
SELECT i > 2 AND 1 > 2, count(*) FROM few GROUP BY i > 2 AND 1 > 2;
SELECT i > 2, count(*) FROM few GROUP BY i > 2 ORDER BY i > 2;
SELECT id FROM few ORDER BY 1 > 2 AND i > 2, id DESC;
DROP TABLE few;

-- Empty texts over frames, percentiles of other types, pairs of no rows.
SELECT string_agg('', ',') OVER () AS s, length(string_agg('', ',') OVER ()), string_agg('', '') OVER () || 'x';
SELECT v, string_agg(v, '') OVER (ORDER BY id), string_agg(v, ',') OVER (ORDER BY id ROWS 1 PRECEDING) FROM (VALUES (1, ''), (2, 'a'), (3, NULL), (4, '')) t(id, v);
SELECT string_agg(v, '') FROM (VALUES (''), (NULL)) t(v);
SELECT percentile_disc(1) WITHIN GROUP (ORDER BY m) FROM (VALUES (1234567890123456789.10)) v(m);
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY m), percentile_disc(0.9) WITHIN GROUP (ORDER BY m DESC), pg_typeof(percentile_disc(0.5) WITHIN GROUP (ORDER BY m)), percentile_disc(0.5) WITHIN GROUP (ORDER BY m) / 3 FROM (VALUES (10.50), (9.5), (-2.50), (NULL)) v(m);
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t), percentile_disc(0.9) WITHIN GROUP (ORDER BY d DESC), percentile_disc(0.3) WITHIN GROUP (ORDER BY d::timestamp) FROM (VALUES ('b', '2024-01-05'::date), ('a', '2023-11-05'), ('c', NULL), (NULL, '2024-02-01')) v(t, d);
SELECT regr_count(x, x), count(*) FROM (VALUES (1.0)) v(x) WHERE false;
SELECT regr_count(x, x) FILTER (WHERE false), regr_count(x, y) FROM (VALUES (1.0, NULL::float8), (3.0, 4.0)) v(x, y);
SELECT regr_count(x, x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) FROM (VALUES (1.0), (2.0)) v(x);
CREATE TABLE few (id int PRIMARY KEY, i int);
INSERT INTO few VALUES (1, 2), (2, 3), (3, NULL);
SELECT (SELECT count(*) FROM few q WHERE q.id <= p.id AND p.i > 0), count(*) FROM few p GROUP BY 1 ORDER BY 1;
SELECT i = ANY (ARRAY[2, 4]) AS found, count(*), min(id) FROM few GROUP BY found ORDER BY 1;
SELECT i = ANY (ARRAY[2, 4]) AS found, count(*) FROM few GROUP BY 1 HAVING count(*) > 0 ORDER BY found;
SELECT i + 1 AS k, i + 1, sum(id) FROM few GROUP BY k ORDER BY k;
--! both 42803
SELECT i + 1 AS k, i + 2 + id, sum(id) FROM few GROUP BY k;
DROP TABLE few;
