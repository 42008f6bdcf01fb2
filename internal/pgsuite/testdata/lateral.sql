-- Names in LATERAL, in sub-queries, and names that are shadowed.
CREATE TABLE a (x int, y int);
CREATE TABLE b (x int, z int);
INSERT INTO a VALUES (1, 10), (2, 20);
INSERT INTO b VALUES (1, 100), (3, 300);
--! refused 0A000
SELECT * FROM a, LATERAL (SELECT a.x + 1 AS q) s ORDER BY 1;
--! refused 0A000
SELECT (SELECT q FROM b, LATERAL (SELECT y + z AS q) s WHERE b.x = 1) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT q FROM b AS a, LATERAL (SELECT a.x AS q) s WHERE a.z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b, LATERAL (SELECT x AS q) s WHERE z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b, LATERAL (SELECT t.q FROM (SELECT x AS q) t) s WHERE z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b, LATERAL (SELECT t.q FROM LATERAL (SELECT x AS q) t) s WHERE z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b, LATERAL (SELECT (SELECT x) AS q) s WHERE z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b, LATERAL (SELECT b.x AS q) s WHERE z = 300) FROM a AS b ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b JOIN LATERAL (SELECT x AS q) s ON true WHERE z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT s.q FROM b LEFT JOIN LATERAL (SELECT x AS q) s ON true WHERE z = 300) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT max(s.q) FROM (VALUES (7)) AS v(x), LATERAL (SELECT max(x) AS q FROM b WHERE b.x > v.x) s) FROM a ORDER BY 1;
SELECT (SELECT s.q FROM b, (SELECT x AS q) s WHERE z = 300) FROM a ORDER BY 1;
SELECT (SELECT s.q FROM b, (SELECT b.x AS q) s WHERE z = 300) FROM a AS b ORDER BY 1;
--! refused 0A000
SELECT (SELECT n FROM (VALUES (1)) AS v, (SELECT n FROM generate_series(1, 10) AS n ORDER BY n LIMIT 1 OFFSET s - 1) AS y) AS z FROM generate_series(1, 10) AS s;
SELECT (SELECT g FROM generate_series(s, s) AS g) FROM generate_series(1, 3) AS s;
SELECT (SELECT sum(g) FROM b, generate_series(1, x) AS g WHERE z = 300) FROM a ORDER BY 1;
SELECT (SELECT sum(g) FROM b, LATERAL generate_series(1, x) AS g WHERE z = 300) FROM a ORDER BY 1;
SELECT (SELECT sum(g) FROM b, unnest(ARRAY[x]) AS g WHERE z = 300) FROM a ORDER BY 1;
SELECT x, (SELECT count(*) FROM b WHERE x = 1) FROM a ORDER BY 1;
SELECT x, (SELECT count(*) FROM b WHERE a.x = 1) FROM a ORDER BY 1;
SELECT x FROM a WHERE EXISTS (SELECT FROM b WHERE y = 10) ORDER BY 1;
SELECT x FROM a WHERE x IN (SELECT y FROM b) ORDER BY 1;
SELECT a FROM (VALUES (1)) a(a);
SELECT a.a FROM (VALUES (1)) a(a);
SELECT (SELECT a FROM (SELECT 5 AS a) t) FROM (VALUES (1)) a(a);
WITH a AS (SELECT 9 AS x) SELECT * FROM a;
WITH a AS (SELECT 9 AS x) SELECT (WITH a AS (SELECT 8 AS x) SELECT x FROM a), x FROM a;
WITH a AS (SELECT * FROM a) SELECT * FROM a ORDER BY 1;
WITH c AS (SELECT 1 AS x), d AS (WITH c AS (SELECT 2 AS x) SELECT x FROM c) SELECT c.x, d.x FROM c, d;
SELECT x FROM a ORDER BY (SELECT z FROM b WHERE b.x = a.x);
SELECT y AS x, x AS y FROM a ORDER BY x;
SELECT y AS x FROM a ORDER BY -x;
SELECT -x AS x FROM a ORDER BY x;
SELECT -x AS x, count(*) FROM a GROUP BY x ORDER BY 1;
SELECT -x AS w, count(*) FROM a GROUP BY w ORDER BY 1;
--! both 42803
SELECT x AS y, count(*) FROM a GROUP BY y ORDER BY 1;
SELECT a.x FROM a JOIN b USING (x) WHERE x = 1;
SELECT b.* FROM a LEFT JOIN b USING (x) ORDER BY a.x;
SELECT x FROM a FULL JOIN b USING (x) ORDER BY x;
SELECT x FROM a RIGHT JOIN b USING (x) ORDER BY x;
SELECT * FROM a NATURAL JOIN b;
--! both 42702
SELECT x FROM a, b;
--! both 42712
SELECT a.x FROM a, a;
--! both 42P01
SELECT a.x FROM a AS q;
--! both 42702
SELECT x FROM (SELECT x, y AS x FROM a) t;
SELECT 1 FROM (SELECT x, y AS x FROM a) t LIMIT 1;
--! refused 0A000
SELECT s.n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.x <= a.x) s ORDER BY a.x;
--! refused 0A000
SELECT (SELECT s.n FROM b, LATERAL (SELECT count(*) AS n FROM a WHERE a.x <= b.x) s WHERE z = 300) FROM a ORDER BY 1;
SELECT (SELECT sum(s.n) FROM b, LATERAL (SELECT a.y AS n) s) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT sum(s.n) FROM b, LATERAL (SELECT n FROM LATERAL (SELECT b.z + a.y AS n) t) s) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT sum(s.n) FROM b, LATERAL (SELECT * FROM (SELECT z AS n UNION ALL SELECT y) t) s) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT sum(s.n) FROM b, LATERAL (VALUES (z)) s(n)) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT sum(s.n) FROM b, LATERAL (WITH c AS (SELECT x AS n) SELECT n FROM c) s) FROM a ORDER BY 1;
--! refused 0A000
SELECT (SELECT sum(s.n) FROM b CROSS JOIN LATERAL (SELECT x AS n WHERE x IN (SELECT x)) s) FROM a ORDER BY 1;
--! refused 0A000
SELECT count(*) FROM a WHERE (SELECT min(q) FROM b, LATERAL (SELECT x AS q) s) = 1;
--! refused 0A000
UPDATE a SET y = (SELECT max(q) FROM b, LATERAL (SELECT x AS q) s) WHERE x = 1;
SELECT y FROM a ORDER BY x;
SELECT (SELECT max(b.z) FROM b WHERE b.x = a.x), sum(y) FROM a GROUP BY a.x ORDER BY 2;
--! both 42803
SELECT (SELECT a.y) FROM a GROUP BY a.x;
SELECT (SELECT sum(a.y)) FROM a;
SELECT (SELECT sum(a.y) FROM b WHERE b.x = 1) FROM a;
SELECT (SELECT sum(a.y + b.z) FROM b) FROM a ORDER BY 1;
SELECT (SELECT max(a.y) FROM (VALUES (1)) v) FROM a;
--! both 42803
SELECT x FROM a WHERE (SELECT count(a.y) FROM b) > 1 ORDER BY 1;
--! both 21000
SELECT count(*) FROM a HAVING (SELECT count(a.x) FROM b) > 1;
SELECT x, (SELECT count(a.x)) FROM a GROUP BY x ORDER BY x;
SELECT sum((SELECT max(b.z) FROM b WHERE b.x <= a.x)) FROM a;
SELECT sum((SELECT max(b.z) FROM b)), min((SELECT sum((SELECT max(b.z) FROM b)) FROM a)) FROM a;
SELECT max((SELECT sum((SELECT count(*) FROM a)) FROM b)) + count(*) FROM a;
SELECT max((SELECT count(*) FROM b WHERE b.x > a.x)) FROM a;
--! both 42803
SELECT (SELECT max((SELECT sum(a.y))) FROM b) FROM a;
--! both 42P10
SELECT * FROM a RIGHT JOIN LATERAL generate_series(0, a.x) g ON true;
--! both 42P10
SELECT * FROM a FULL JOIN LATERAL generate_series(0, a.x) g ON true;
--! both 42P10
SELECT (SELECT sum(g) FROM b RIGHT JOIN generate_series(0, x) g ON true) FROM a;
SELECT g FROM a LEFT JOIN generate_series(0, a.x) g ON true ORDER BY g;
--! refused 0A000
SELECT (SELECT s.q FROM b, LATERAL (SELECT b.* LIMIT 1) s(q, r) WHERE z = 300) FROM a AS b ORDER BY 1;
SELECT (SELECT s.q FROM (SELECT b.* LIMIT 1) s(q, r)) FROM b ORDER BY 1;
SELECT (SELECT s.q FROM a, (SELECT b.* LIMIT 1) s(q, r) LIMIT 1) FROM b ORDER BY 1;
CREATE TABLE b8 (x bigint, z int);
INSERT INTO b8 VALUES (1, 5);
--! both 42803
SELECT a.x FROM a LEFT JOIN b8 USING (x) GROUP BY x;
SELECT x FROM a LEFT JOIN b8 USING (x) GROUP BY x ORDER BY x;
SELECT x + 1 FROM a LEFT JOIN b8 USING (x) GROUP BY x ORDER BY x;
