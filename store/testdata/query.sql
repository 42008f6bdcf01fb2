CREATE TABLE t (id int PRIMARY KEY, g text, x real, y double precision, n numeric, b bool, d date)
----

INSERT INTO t VALUES (1, 'a', 1.5, 0.1, 10.50, true, '2024-01-01'), (2, 'a', 2.5, 0.2, 3, false, '2024-01-02'), (3, 'b', NULL, 0.3, 7.25, NULL, NULL), (4, 'b', 4.25, NULL, 100, true, '2023-12-31'), (5, NULL, 0.1, 1e10, -1.5, false, '2024-02-29')
----

SELECT * FROM t ORDER BY id
----
id|g|x|y|n|b|d
1|a|1.5|0.1|10.50|t|2024-01-01
2|a|2.5|0.2|3|f|2024-01-02
3|b|NULL|0.3|7.25|NULL|NULL
4|b|4.25|NULL|100|t|2023-12-31
5|NULL|0.1|10000000000|-1.5|f|2024-02-29

SELECT g, count(*), count(x), sum(x), avg(x), min(x), max(y), sum(n), avg(n), bool_and(b), bool_or(b) FROM t GROUP BY g ORDER BY g
----
g|count|count|sum|avg|min|max|sum|avg|bool_and|bool_or
a|2|2|4|2|1.5|0.2|13.50|6.7500000000000000|f|t
b|2|1|4.25|4.25|4.25|0.3|107.25|53.6250000000000000|t|t
NULL|1|1|0.1|0.10000000149011612|0.1|10000000000|-1.5|-1.50000000000000000000|f|f

SELECT g, sum(id), avg(id), round(avg(id), 2), stddev_pop(id), stddev_samp(id), var_pop(id), variance(id), stddev(y), var_pop(x) FROM t GROUP BY 1 ORDER BY 1 NULLS FIRST
----
g|sum|avg|round|stddev_pop|stddev_samp|var_pop|variance|stddev|var_pop
NULL|5|5.0000000000000000|5.00|0|NULL|0|NULL|NULL|0
a|3|1.5000000000000000|1.50|0.50000000000000000000|0.70710678118654752440|0.25000000000000000000|0.50000000000000000000|0.07071067811865474|0.25
b|7|3.5000000000000000|3.50|0.50000000000000000000|0.70710678118654752440|0.25000000000000000000|0.50000000000000000000|NULL|0

SELECT sum(x), count(*), avg(y), max(n), string_agg(g, ','), array_agg(id) FROM t WHERE id > 100
----
sum|count|avg|max|string_agg|array_agg
NULL|0|NULL|NULL|NULL|NULL

SELECT string_agg(DISTINCT g, ','), string_agg(g, ',' ORDER BY id DESC), array_agg(id ORDER BY n), array_agg(g ORDER BY id), array_agg(DISTINCT g), count(DISTINCT g), sum(DISTINCT id % 2) FROM t
----
string_agg|string_agg|array_agg|array_agg|array_agg|count|sum
a,b|b,b,a,a|{5,2,3,1,4}|{a,a,b,b,NULL}|{a,b,NULL}|2|1

SELECT id FROM t ORDER BY x, id
----
id
5
1
2
4
3

SELECT id FROM t ORDER BY x DESC, id
----
id
3
4
2
1
5

SELECT id FROM t ORDER BY n
----
id
5
2
3
1
4

SELECT id, n FROM t ORDER BY n DESC LIMIT 2 OFFSET 1
----
id|n
1|10.50
3|7.25

SELECT DISTINCT g FROM t ORDER BY g
----
g
a
b
NULL

SELECT DISTINCT ON (g) g, id, x FROM t ORDER BY g, x DESC NULLS LAST
----
g|id|x
a|2|2.5
b|4|4.25
NULL|5|0.1

SELECT id, g FROM t WHERE g IS NULL OR g = 'b' ORDER BY id DESC
----
id|g
5|NULL
4|b
3|b

SELECT id, row_number() OVER (ORDER BY n), rank() OVER (PARTITION BY g ORDER BY x), sum(n) OVER (PARTITION BY g ORDER BY id), avg(y) OVER (PARTITION BY g), lag(id) OVER (ORDER BY id), lead(id, 2, -1) OVER (ORDER BY id), count(*) OVER () FROM t ORDER BY id
----
id|row_number|rank|sum|avg|lag|lead|count
1|4|1|10.50|0.15000000000000002|NULL|3|5
2|2|2|13.50|0.15000000000000002|1|4|5
3|3|2|7.25|0.3|2|5|5
4|5|1|107.25|0.3|3|-1|5
5|1|1|-1.5|10000000000|4|-1|5

SELECT id, sum(id) OVER w, first_value(g) OVER w, ntile(2) OVER w FROM t WINDOW w AS (ORDER BY id) ORDER BY id
----
id|sum|first_value|ntile
1|1|a|1
2|3|a|1
3|6|a|1
4|10|a|2
5|15|a|2

SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), avg(n) OVER (ORDER BY id ROWS 1 PRECEDING) FROM t ORDER BY id
----
id|sum|avg
1|3|10.5000000000000000
2|6|6.7500000000000000
3|9|5.1250000000000000
4|12|53.6250000000000000
5|9|49.2500000000000000

SELECT id, stddev_pop(y) OVER (PARTITION BY g) IS NULL AS s, max(n) OVER (PARTITION BY g) FROM t ORDER BY id
----
id|s|max
1|f|10.50
2|f|10.50
3|f|100
4|f|100
5|f|-1.5

SELECT g, count(*) FILTER (WHERE x > 1), sum(n) FILTER (WHERE b) FROM t GROUP BY g HAVING count(*) > 1 ORDER BY g
----
g|count|sum
a|2|10.50
b|1|100

SELECT id % 2 AS odd, count(*) FROM t GROUP BY odd ORDER BY odd
----
odd|count
0|2
1|3

SELECT id % 2, id % 2 + 1, count(*) FROM t GROUP BY id % 2 ORDER BY 1
----
?column?|?column?|count
0|1|2
1|2|3

SELECT t.*, count(*) FROM t GROUP BY t.id ORDER BY id LIMIT 1
----
id|g|x|y|n|b|d|count
1|a|1.5|0.1|10.50|t|2024-01-01|1

SELECT g, x FROM t GROUP BY g
----
ERROR 42803

SELECT 1 + count(*) FILTER (WHERE x > 1) + 0.5 * count(*) FILTER (WHERE x < 1) FROM t
----
?column?
4.5

SELECT round(avg((id <= 3)::int), 4), round(avg(x)::numeric, 3), round(sum(n) / 3, 5) FROM t
----
round|round|round
0.6000|2.088|39.75000

CREATE TABLE u (id int, v text, PRIMARY KEY (id, v))
----

INSERT INTO u VALUES (1, 'p'), (1, 'q'), (3, 'r'), (9, 's')
----

SELECT t.id, u.v FROM t JOIN u ON u.id = t.id ORDER BY 1, 2
----
id|v
1|p
1|q
3|r

SELECT * FROM (SELECT id, g FROM t) a JOIN u USING (id) ORDER BY v
----
id|g|v
1|a|p
1|a|q
3|b|r

SELECT * FROM (SELECT id, g FROM t) a NATURAL LEFT JOIN u ORDER BY id, v
----
id|g|v
1|a|p
1|a|q
2|a|NULL
3|b|r
4|b|NULL
5|NULL|NULL

SELECT id, g, v FROM (SELECT id, g FROM t) a FULL JOIN u USING (id) ORDER BY id, v
----
id|g|v
1|a|p
1|a|q
2|a|NULL
3|b|r
4|b|NULL
5|NULL|NULL
9|NULL|s

SELECT a.id, u.id FROM t a RIGHT JOIN u ON a.id = u.id ORDER BY 2, 1
----
id|id
1|1
1|1
3|3
NULL|9

SELECT a.id, b.id FROM t a, t b WHERE a.id = b.id + 1 ORDER BY 1
----
id|id
2|1
3|2
4|3
5|4

SELECT a.id, c.v FROM t a JOIN (t b JOIN u c ON c.id = b.id) ON b.id = a.id ORDER BY 1, 2
----
id|v
1|p
1|q
3|r

SELECT count(*) FROM t CROSS JOIN u
----
count
20

SELECT a.id, b.id, c.id FROM t a, t b LEFT JOIN u c ON c.id = b.id WHERE a.id = 1 AND b.id < 4 ORDER BY 2, 3
----
id|id|id
1|1|1
1|1|1
1|2|NULL
1|3|3

SELECT a.id, b.id FROM (SELECT 1 AS id) a, (SELECT 1 AS id) b FULL JOIN (SELECT 2 AS id) c ON b.id = c.id ORDER BY 2
----
id|id
1|1
1|NULL

SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) ORDER BY id
----
id
1
3

SELECT id FROM t WHERE id NOT IN (SELECT id FROM u) ORDER BY id
----
id
2
4
5

SELECT id, (SELECT count(*) FROM u WHERE u.id = t.id) AS c, (SELECT v FROM u WHERE u.id = t.id AND v = 'p') FROM t ORDER BY id
----
id|c|v
1|2|p
2|0|NULL
3|1|NULL
4|0|NULL
5|0|NULL

SELECT id FROM t WHERE (id, g) IN (SELECT 1, 'a') OR (id, g) IN ((2, 'a'), (3, 'a')) ORDER BY id
----
id
1
2

SELECT id FROM t UNION SELECT id FROM u ORDER BY 1
----
id
1
2
3
4
5
9

SELECT id FROM t UNION ALL SELECT id FROM u ORDER BY id DESC LIMIT 3
----
id
9
5
4

SELECT id FROM t INTERSECT SELECT id FROM u ORDER BY 1
----
id
1
3

SELECT id FROM t EXCEPT SELECT id FROM u ORDER BY 1
----
id
2
4
5

(SELECT id FROM t ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM u ORDER BY id DESC LIMIT 1)
----
id
1
9

SELECT count(*) FROM (SELECT n FROM t UNION SELECT 10.5) x
----
count
5

SELECT 'tail' AS side, id FROM t WHERE id = 1 UNION ALL SELECT 'head', NULL
----
side|id
tail|1
head|NULL

SELECT 1 AS a UNION ALL SELECT 2.5 UNION ALL SELECT NULL ORDER BY a
----
a
1
2.5
NULL

WITH a AS (SELECT id, n FROM t WHERE id < 3), b(k) AS (SELECT id + 1 FROM a) SELECT * FROM a, b WHERE a.id = b.k
----
id|n|k
2|3|2

WITH RECURSIVE f(n, x) AS (VALUES (1, 1) UNION ALL SELECT n + 1, x * (n + 1) FROM f WHERE n < 5) SELECT * FROM f
----
n|x
1|1
2|2
3|6
4|24
5|120

CREATE VIEW tv AS SELECT *, n * 2 AS n2 FROM t WHERE g IS NOT NULL
----

SELECT id, n2 FROM tv ORDER BY id
----
id|n2
1|21.00
2|6
3|14.50
4|200

ALTER TABLE t ADD COLUMN extra int DEFAULT 7
----

SELECT * FROM tv WHERE id = 1
----
id|g|x|y|n|b|d|n2
1|a|1.5|0.1|10.50|t|2024-01-01|21.00

SELECT id, extra FROM t WHERE id = 1
----
id|extra
1|7

CREATE VIEW tw (k, total) AS SELECT g, sum(n2) FROM tv GROUP BY g
----

SELECT * FROM tw ORDER BY k
----
k|total
a|27.00
b|214.50

SELECT a.k, b.total FROM tw a JOIN tw b ON a.total > b.total
----
k|total
b|27.00

DROP TABLE t
----
ERROR 2BP01

DROP VIEW tv
----
ERROR 2BP01

CREATE OR REPLACE VIEW tw AS SELECT g AS k, sum(n2) AS total, count(*) AS c FROM tv GROUP BY g
----

SELECT * FROM tw ORDER BY 1
----
k|total|c
a|27.00|2
b|214.50|2

CREATE OR REPLACE VIEW tw AS SELECT g AS kk FROM tv
----
ERROR 42P16

UPDATE t SET n = n + 1, x = x * 2 WHERE g = 'a'
----

SELECT id, n, x FROM t WHERE g = 'a' ORDER BY id
----
id|n|x
1|11.50|3
2|4|5

UPDATE t a SET y = u.id FROM u WHERE u.id = a.id AND u.v <> 'q' RETURNING a.id, y
----
id|y
1|1
3|3

UPDATE t SET extra = DEFAULT, b = NULL WHERE id = 1 RETURNING *
----
id|g|x|y|n|b|d|extra
1|a|3|1|11.50|NULL|2024-01-01|7

DELETE FROM t USING u WHERE t.id = u.id AND u.v = 'r' RETURNING id
----
ERROR 42702

DELETE FROM t USING u WHERE t.id = u.id AND u.v = 'r' RETURNING t.id
----
id
3

SELECT count(*) FROM t
----
count
4

INSERT INTO t (id, g) SELECT id + 10, 'z' FROM t WHERE id = 2 RETURNING id, g, extra
----
id|g|extra
12|z|7

INSERT INTO t (id) VALUES (1)
----
ERROR 23505

INSERT INTO t (id, g) VALUES (1, 'c'), (50, 'c') ON CONFLICT DO NOTHING
----

INSERT INTO t (id, g) VALUES (1, 'new'), (51, 'c') ON CONFLICT (id) DO UPDATE SET g = excluded.g || t.g WHERE t.id = 1
----

SELECT id, g FROM t ORDER BY id
----
id|g
1|newa
2|a
4|b
5|NULL
12|z
50|c
51|c

INSERT INTO t (id, nosuch) VALUES (1, 2)
----
ERROR 42703

INSERT INTO t (id, g) VALUES (1)
----
ERROR 42601

INSERT INTO t (id, x) VALUES (60, 'abc')
----
ERROR 22P02

INSERT INTO t (id, d) VALUES (61, 5)
----
ERROR 42804

INSERT INTO t (id) VALUES (NULL)
----
ERROR 23502

INSERT INTO t (id, x, n, b) VALUES (62.4, 1, 2, 'yes') RETURNING id, x, n, b
----
id|x|n|b
62|1|2|t

INSERT INTO t (id, g) VALUES (63, 5), (64, 'x') RETURNING g
----
g
5
x

CREATE TABLE s (k int GENERATED ALWAYS AS IDENTITY, w serial, name text DEFAULT 'none', CHECK (k < 5), UNIQUE (name, k))
----

INSERT INTO s DEFAULT VALUES
----

INSERT INTO s (name) VALUES ('a'), (DEFAULT) RETURNING *
----
k|w|name
2|2|a
3|3|none

INSERT INTO s (k) VALUES (7)
----
ERROR 428C9

INSERT INTO s (name) SELECT 'q' FROM generate_series(1, 3)
----
ERROR 23514

SELECT * FROM s
----
k|w|name
1|1|none
2|2|a
3|3|none

CREATE TABLE s2 (LIKE s INCLUDING ALL)
----

INSERT INTO s2 (name) VALUES ('x') RETURNING k, name
----
k|name
1|x

TRUNCATE s2
----

SELECT count(*) FROM s2
----
count
0

ALTER TABLE s2 ALTER name SET DEFAULT 'other'
----

ALTER TABLE s2 RENAME COLUMN name TO title
----

INSERT INTO s2 DEFAULT VALUES RETURNING title
----
title
other

ALTER TABLE s2 DROP COLUMN w
----

ALTER TABLE s2 RENAME TO s3
----

SELECT * FROM s3
----
k|title
2|other

ALTER TABLE s3 ADD PRIMARY KEY (title)
----

INSERT INTO s3 (title) VALUES ('other')
----
ERROR 23505

ALTER TABLE s3 ALTER COLUMN title TYPE int
----
ERROR 42804

ALTER TABLE s3 ADD COLUMN z numeric(5, 2) NOT NULL DEFAULT 1.239
----

SELECT * FROM s3
----
k|title|z
2|other|1.24

CREATE UNIQUE INDEX ON u (v)
----

INSERT INTO u VALUES (77, 'p')
----
ERROR 23505

CREATE TABLE c AS SELECT id, n, 'x' AS lit, n / 3 AS q, NULL AS nothing FROM t WHERE id < 5
----

SELECT * FROM c ORDER BY id
----
id|n|lit|q|nothing
1|11.50|x|3.8333333333333333|NULL
2|4|x|1.3333333333333333|NULL
4|100|x|33.3333333333333333|NULL

CREATE TABLE c (a int)
----
ERROR 42P07

CREATE TABLE IF NOT EXISTS c (a int)
----

DROP TABLE nosuch
----
ERROR 42P01

DROP TABLE IF EXISTS nosuch
----

BEGIN
----

DELETE FROM c
----

SELECT count(*) FROM c
----
count
0

ROLLBACK
----

SELECT count(*) FROM c
----
count
3

BEGIN
----

SELECT 1/0
----
ERROR 22012

SELECT 1
----
ERROR 25P02

COMMIT
----

BEGIN
----

INSERT INTO u VALUES (100, 'one')
----

SAVEPOINT a
----

INSERT INTO u VALUES (101, 'two')
----

ROLLBACK TO a
----

COMMIT
----

SELECT id FROM u WHERE id >= 100
----
id
100

SELECT set_config('my.x', '5', false), current_setting('my.x')::int + 1
----
set_config|?column?
5|6

SELECT current_setting('no.such', true) IS NULL
----
?column?
t

SELECT current_setting('no.such')
----
ERROR 42704

SELECT count(*), loss.total FROM tw AS loss, u GROUP BY loss.total ORDER BY 2
----
count|total
5|8
5|23.00
5|200
20|NULL

SELECT k, max(total) FROM tw GROUP BY k ORDER BY max(total) DESC, k
----
k|max
5|NULL
c|NULL
x|NULL
z|NULL
b|200
newa|23.00
a|8

SELECT sum(CASE WHEN b THEN 1 ELSE 0 END), sum(n) / count(*), sum(id) / count(*) FROM t WHERE id < 5
----
sum|?column?|?column?
1|38.5000000000000000|2

SELECT a.id, b FROM (SELECT id FROM t) a, LATERAL generate_series(1, a.id) AS b WHERE a.id < 3 ORDER BY 1, 2
----
id|b
1|1
2|1
2|2

SELECT min(d), max(d), count(DISTINCT d) FROM t
----
min|max|count
2023-12-31|2024-02-29|4

SELECT id, a.id FROM t a JOIN t b ON a.id = b.id
----
ERROR 42702

SELECT t.id FROM t a
----
ERROR 42P01

SELECT * FROM t a, t a
----
ERROR 42712

SELECT id FROM t ORDER BY nosuch
----
ERROR 42703

SELECT id AS k FROM t WHERE k = 1
----
ERROR 42703

SELECT g, count(*) FROM t GROUP BY g ORDER BY count(*) DESC, g LIMIT 1
----
g|count
c|2

SELECT x, x::text, y::text FROM t WHERE id IN (1, 5) ORDER BY id
----
x|x|y
3|3|1
0.1|0.1|10000000000

SELECT corr(id, n), covar_pop(id, y), regr_slope(n, id) FROM t WHERE id IN (2, 4, 5)
----
corr|covar_pop|regr_slope
0.1414526156564079|7499999999.849999|5.285714285714287

SELECT (0 IS NULL), count(*) FROM u GROUP BY 1 ORDER BY 1
----
?column?|count
f|5

SELECT 1.5 AS k, count(*) FROM u GROUP BY k ORDER BY 1.5 + 1
----
k|count
1.5|5

SELECT (0.25 IS NULL) AS k, n::text = '0' AS z, count(*) FROM (VALUES (0.0), (1)) v(n) GROUP BY 1, 2 ORDER BY 1, 2
----
k|z|count
f|f|2

SELECT max(m), min(m), sum(m) FROM (SELECT 2.0::float8 AS m UNION ALL SELECT 0.1) z
----
max|min|sum
2|0.1|2.1

SELECT 0.5::float8 UNION SELECT 0.5
----
float8
0.5

SELECT 0.5 UNION ALL SELECT 0.25::float8 UNION ALL SELECT 3 ORDER BY 1
----
?column?
0.25
0.5
3

SELECT 0.5::float8 INTERSECT SELECT 0.50
----
float8
0.5

SELECT 0.5::float8 EXCEPT SELECT 0.50
----
float8

(SELECT 1.25::numeric UNION SELECT 7 UNION SELECT 10) ORDER BY 1
----
numeric
1.25
7
10

SELECT DISTINCT m FROM (SELECT 7::float8 AS m UNION ALL SELECT 7 UNION ALL SELECT 7.0) z
----
m
7

SELECT m, count(*) FROM (SELECT 7::float8 AS m UNION ALL SELECT 7 UNION ALL SELECT 7.0) z GROUP BY m
----
m|count
7|3

SELECT a.m FROM (SELECT 0.5::float8 AS m UNION ALL SELECT 0.25) a JOIN (SELECT 0.25::float8 AS m UNION ALL SELECT 0.5) b ON a.m = b.m ORDER BY 1
----
m
0.25
0.5

SELECT pg_typeof(x), x FROM (SELECT 1::bigint AS x UNION ALL SELECT 2.5) z ORDER BY 2
----
pg_typeof|x
numeric|1
numeric|2.5

SELECT sum(x) FROM ((SELECT DISTINCT n FROM (VALUES (0.1), (0.10000000000000000000001)) v(n)) UNION ALL SELECT 1::float8) z(x)
----
sum
1.2

SELECT count(*) FROM ((SELECT 0.1 AS x UNION SELECT 0.10000000000000000000001) UNION ALL SELECT 1::float8) z
----
count
3

SELECT x FROM ((SELECT n AS x FROM (VALUES (2), (1), (3)) v(n) ORDER BY 1 LIMIT 2) UNION ALL SELECT 0.5) z ORDER BY 1
----
x
0.5
1
2

SELECT '7' AS x UNION ALL SELECT 8 ORDER BY 1
----
x
7
8

SELECT 1 WHERE 0.5 IN (SELECT 0.25::float8 UNION ALL SELECT 0.5)
----
?column?
1

SELECT ARRAY[1.5]::real[] AS v UNION ALL SELECT ARRAY[0.1]::float8[]
----
v
{1.5}
{0.1}

WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1.5 FROM r WHERE n < 5) SELECT * FROM r
----
ERROR 42804

WITH RECURSIVE r(n) AS (SELECT 1.0 UNION SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r ORDER BY n
----
n
1.0
2.0
3.0

CREATE TABLE cat_w (id int PRIMARY KEY, v real[] NOT NULL, name varchar(10), n numeric(10,2), b bigint GENERATED BY DEFAULT AS IDENTITY, ok boolean DEFAULT true, t timestamp, k smallint DEFAULT 1, d date)
----

CREATE VIEW cat_v AS SELECT id, v FROM cat_w
----

SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_name LIKE 'cat%' ORDER BY table_name
----
table_schema|table_name|table_type
public|cat_v|VIEW
public|cat_w|BASE TABLE

SELECT column_name, ordinal_position, is_nullable, data_type, character_maximum_length, numeric_precision, numeric_precision_radix, numeric_scale, udt_name, is_identity, identity_generation FROM information_schema.columns WHERE table_name LIKE 'cat%' ORDER BY table_name, ordinal_position
----
column_name|ordinal_position|is_nullable|data_type|character_maximum_length|numeric_precision|numeric_precision_radix|numeric_scale|udt_name|is_identity|identity_generation
id|1|YES|integer|NULL|32|2|0|int4|NO|NULL
v|2|YES|ARRAY|NULL|NULL|NULL|NULL|_float4|NO|NULL
id|1|NO|integer|NULL|32|2|0|int4|NO|NULL
v|2|NO|ARRAY|NULL|NULL|NULL|NULL|_float4|NO|NULL
name|3|YES|character varying|10|NULL|NULL|NULL|varchar|NO|NULL
n|4|YES|numeric|NULL|10|10|2|numeric|NO|NULL
b|5|NO|bigint|NULL|64|2|0|int8|YES|BY DEFAULT
ok|6|YES|boolean|NULL|NULL|NULL|NULL|bool|NO|NULL
t|7|YES|timestamp without time zone|NULL|NULL|NULL|NULL|timestamp|NO|NULL
k|8|YES|smallint|NULL|16|2|0|int2|NO|NULL
d|9|YES|date|NULL|NULL|NULL|NULL|date|NO|NULL

SELECT column_name, column_default FROM information_schema.columns WHERE table_name = 'cat_w' AND column_default IS NOT NULL ORDER BY 1
----
column_name|column_default
k|1
ok|true

SELECT schemaname, tablename, hasindexes FROM pg_tables WHERE tablename LIKE 'cat%'
----
schemaname|tablename|hasindexes
public|cat_w|t

SELECT p.viewname FROM pg_catalog.pg_views p JOIN information_schema.tables t ON t.table_name = p.viewname WHERE p.schemaname = 'public' AND viewname LIKE 'cat%'
----
viewname
cat_v

SELECT x FROM pg_tables
----
ERROR 42703
