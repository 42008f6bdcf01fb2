-- Set-returning functions in a select list.
CREATE TABLE s (a int, b int);
INSERT INTO s VALUES (3, 2), (3, 1), (1, 1);
SELECT a, b, generate_series(1, 2) FROM s ORDER BY 1, 2, 3;
SELECT a, generate_series(1, a) FROM s ORDER BY 1, 2;
SELECT a, generate_series(1, 0) FROM s;
SELECT a + generate_series(1, 2) AS x FROM s ORDER BY x;
SELECT DISTINCT generate_series(1, a) AS g FROM s ORDER BY g;
--! refused 0A000
SELECT DISTINCT ON (a) a, b, generate_series(1, 3) g FROM s ORDER BY a, b DESC;
--! refused 0A000
SELECT DISTINCT ON (g) a, b, generate_series(1, 3) g FROM s;
--! refused 0A000
SELECT row_number() OVER (ORDER BY a, b), generate_series(1, 2) FROM s;
--! refused 0A000
SELECT sum(a) OVER (), generate_series(1, 2) FROM s;
--! both 0A000
SELECT CASE WHEN a > 1 THEN generate_series(1, 3) ELSE 0 END FROM s;
--! both 0A000
SELECT coalesce(generate_series(1, 3), 0) FROM s;
--! refused 0A000
SELECT a, count(*), generate_series(1, 2) FROM s GROUP BY a;
--! refused 0A000
SELECT generate_series(1, 2), generate_series(1, 3);
--! both 0A000
SELECT a FROM s WHERE generate_series(1, 2) = 1;
--! refused 0A000
SELECT a FROM s ORDER BY generate_series(1, 2);
SELECT generate_series(1, 3) AS g ORDER BY g DESC;
SELECT generate_series(1, 3) AS g ORDER BY g DESC LIMIT 2;
SELECT generate_series(1, 3) LIMIT 2;
SELECT (SELECT generate_series(1, 1)), a FROM s ORDER BY a;
SELECT unnest(ARRAY[1, NULL, 2]) + 1;
SELECT unnest('{}'::int[]), a FROM s;
--! both 0A000
SELECT sum(generate_series(1, 3));
SELECT * FROM s, generate_series(1, s.a) g WHERE s.a = 3 ORDER BY 1, 2, 3;
SELECT generate_series(1, 2) FROM s WHERE a = 1 UNION ALL SELECT 9 ORDER BY 1;
INSERT INTO s SELECT generate_series(10, 12), 0;
SELECT * FROM s ORDER BY a, b;
SELECT string_to_table('a,b', ',') AS t ORDER BY t;
--! refused 0A000
SELECT generate_series(1, 3) % 2 AS x, count(*) FROM s GROUP BY x;

-- Sides with RIGHT and FULL JOIN: SQLite would lose the other side's conditions.
CREATE TABLE sa (id int PRIMARY KEY, i int);
INSERT INTO sa VALUES (1, 1), (2, 2);
CREATE TABLE sb (id int);
INSERT INTO sb VALUES (1);
CREATE TABLE sc (id int);
INSERT INTO sc VALUES (1), (2);
SELECT x + 1 FROM (SELECT 1 AS x FROM sa WHERE i + 1 > 100 UNION ALL SELECT 5 FROM sb RIGHT JOIN sc ON sb.id = sc.id) q;
SELECT x + 1 FROM (SELECT id AS x FROM sa WHERE i + 1 > 100 UNION ALL SELECT sc.id FROM sb FULL JOIN sc ON sb.id = sc.id) q ORDER BY 1;
SELECT x + 1 FROM (SELECT sc.id AS x FROM sb FULL JOIN sc ON sb.id = sc.id UNION ALL SELECT id FROM sa WHERE i + 1 > 100) q ORDER BY 1;
SELECT 1 FROM sa WHERE i + 1 > 100 UNION ALL SELECT 5 FROM sb RIGHT JOIN sc ON sb.id = sc.id EXCEPT SELECT 1.5;
SELECT q.x, w.id FROM (SELECT 1 AS x FROM sa WHERE i + 1 > 100 UNION ALL SELECT 5 FROM sb RIGHT JOIN sc ON sb.id = sc.id) q JOIN sa w ON w.id = 1;
CREATE VIEW sv AS SELECT sc.id AS y FROM sb RIGHT JOIN sc ON sb.id = sc.id;
SELECT x + 1 FROM (SELECT 1 AS x FROM sa WHERE i + 1 > 100 UNION ALL SELECT y FROM sv) q ORDER BY 1;
CREATE TABLE sd AS SELECT x + 1 AS x FROM (SELECT 1 AS x FROM sa WHERE i + 1 > 100 UNION ALL SELECT 5 FROM (sb RIGHT JOIN sc ON sb.id = sc.id) JOIN sa ON sa.id = sc.id) q;
SELECT * FROM sd;
WITH RECURSIVE r AS (SELECT sc.id AS n FROM sc FULL JOIN (SELECT 3 AS j) q ON sc.id = j WHERE sc.id = 1 UNION ALL SELECT r.n + 1 FROM r JOIN (SELECT max(sc.id) AS m FROM sb RIGHT JOIN sc ON sb.id = sc.id) q ON n < m + 2) SELECT * FROM r ORDER BY n;
--! refused 0A000
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n + 1 FROM sa RIGHT JOIN r ON sa.id = r.n WHERE r.n < 4) SELECT * FROM r ORDER BY n;
SELECT DISTINCT ON (id) id, i FROM sa UNION ALL (SELECT DISTINCT ON (q.k) q.k, i FROM sa RIGHT JOIN (SELECT 2 AS k) q ON q.k = sa.id ORDER BY q.k) ORDER BY 1, 2;
WITH q AS (SELECT 1 AS a) SELECT id FROM sa WHERE i > 15 UNION ALL (WITH z AS (SELECT a FROM q) SELECT a FROM z RIGHT JOIN sa ON a = sa.id) ORDER BY 1;
DROP VIEW sv;
DROP TABLE sa, sb, sc, sd;
