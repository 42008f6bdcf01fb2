CREATE TABLE p_int (i int PRIMARY KEY, t text)
----

INSERT INTO p_int (t) VALUES ('six')
----
ERROR 23502

INSERT INTO p_int VALUES (NULL, 'a')
----
ERROR 23502

INSERT INTO p_int VALUES (1, 'a'), (NULL, 'b')
----
ERROR 23502

INSERT INTO p_int (t) SELECT 'x'
----
ERROR 23502

INSERT INTO p_int SELECT NULL, 'x'
----
ERROR 23502

INSERT INTO p_int SELECT i, 'x' FROM p_int WHERE false UNION ALL SELECT NULL, 'y'
----
ERROR 23502

INSERT INTO p_int DEFAULT VALUES
----
ERROR 23502

INSERT INTO p_int VALUES (DEFAULT, 'a')
----
ERROR 23502

INSERT INTO p_int (t, i) VALUES ('a', NULL)
----
ERROR 23502

INSERT INTO p_int (t) VALUES ('a') ON CONFLICT DO NOTHING
----
ERROR 23502

INSERT INTO p_int (t) VALUES ('a') ON CONFLICT (i) DO UPDATE SET t = 'b'
----
ERROR 23502

INSERT INTO p_int (t) VALUES ('a') RETURNING i
----
ERROR 23502

INSERT INTO p_int VALUES (1, 'a')
----

INSERT INTO p_int VALUES (1, 'a') ON CONFLICT (i) DO UPDATE SET i = NULL
----
ERROR 23502

INSERT INTO p_int VALUES (1, 'a') ON CONFLICT (i) DO UPDATE SET i = DEFAULT
----
ERROR 23502

UPDATE p_int SET i = NULL
----
ERROR 23502

UPDATE p_int SET i = DEFAULT
----
ERROR 23502

UPDATE p_int SET i = (SELECT 1 WHERE false)
----
ERROR 23502

UPDATE p_int SET i = nullif(i, 1)
----
ERROR 23502

UPDATE p_int SET i = q.k FROM (SELECT a.i, b.i AS k FROM p_int a LEFT JOIN p_int b ON b.i = a.i + 1) q WHERE q.i = p_int.i
----
ERROR 23502

INSERT INTO p_int SELECT b.i, 'j' FROM p_int a LEFT JOIN p_int b ON b.i = a.i + 1
----
ERROR 23502

INSERT INTO p_int SELECT max(i), 'm' FROM p_int WHERE false
----
ERROR 23502

INSERT INTO p_int (i) SELECT b.i FROM p_int a FULL JOIN p_int b ON b.i = a.i + 1
----
ERROR 23502

INSERT INTO p_int SELECT lag(i) OVER (ORDER BY i), 'l' FROM p_int
----
ERROR 23502

WITH s AS (SELECT NULL::int AS i) INSERT INTO p_int SELECT i, 'w' FROM s
----
ERROR 23502

SELECT * FROM p_int
----
i|t
1|a

CREATE TABLE p_bigint (i bigint PRIMARY KEY, t text)
----

INSERT INTO p_bigint (t) VALUES ('six')
----
ERROR 23502

INSERT INTO p_bigint VALUES (NULL, 'a')
----
ERROR 23502

INSERT INTO p_bigint VALUES (1, 'a'), (NULL, 'b')
----
ERROR 23502

INSERT INTO p_bigint (t) SELECT 'x'
----
ERROR 23502

INSERT INTO p_bigint SELECT NULL, 'x'
----
ERROR 23502

INSERT INTO p_bigint SELECT i, 'x' FROM p_bigint WHERE false UNION ALL SELECT NULL, 'y'
----
ERROR 23502

INSERT INTO p_bigint DEFAULT VALUES
----
ERROR 23502

INSERT INTO p_bigint VALUES (DEFAULT, 'a')
----
ERROR 23502

INSERT INTO p_bigint (t, i) VALUES ('a', NULL)
----
ERROR 23502

INSERT INTO p_bigint (t) VALUES ('a') ON CONFLICT DO NOTHING
----
ERROR 23502

INSERT INTO p_bigint (t) VALUES ('a') ON CONFLICT (i) DO UPDATE SET t = 'b'
----
ERROR 23502

INSERT INTO p_bigint (t) VALUES ('a') RETURNING i
----
ERROR 23502

INSERT INTO p_bigint VALUES (1, 'a')
----

INSERT INTO p_bigint VALUES (1, 'a') ON CONFLICT (i) DO UPDATE SET i = NULL
----
ERROR 23502

INSERT INTO p_bigint VALUES (1, 'a') ON CONFLICT (i) DO UPDATE SET i = DEFAULT
----
ERROR 23502

UPDATE p_bigint SET i = NULL
----
ERROR 23502

UPDATE p_bigint SET i = DEFAULT
----
ERROR 23502

UPDATE p_bigint SET i = (SELECT 1 WHERE false)
----
ERROR 23502

UPDATE p_bigint SET i = nullif(i, 1)
----
ERROR 23502

UPDATE p_bigint SET i = q.k FROM (SELECT a.i, b.i AS k FROM p_bigint a LEFT JOIN p_bigint b ON b.i = a.i + 1) q WHERE q.i = p_bigint.i
----
ERROR 23502

INSERT INTO p_bigint SELECT b.i, 'j' FROM p_bigint a LEFT JOIN p_bigint b ON b.i = a.i + 1
----
ERROR 23502

INSERT INTO p_bigint SELECT max(i), 'm' FROM p_bigint WHERE false
----
ERROR 23502

INSERT INTO p_bigint (i) SELECT b.i FROM p_bigint a FULL JOIN p_bigint b ON b.i = a.i + 1
----
ERROR 23502

INSERT INTO p_bigint SELECT lag(i) OVER (ORDER BY i), 'l' FROM p_bigint
----
ERROR 23502

WITH s AS (SELECT NULL::bigint AS i) INSERT INTO p_bigint SELECT i, 'w' FROM s
----
ERROR 23502

SELECT * FROM p_bigint
----
i|t
1|a

CREATE TABLE p_smallint (i smallint PRIMARY KEY, t text)
----

INSERT INTO p_smallint (t) VALUES ('six')
----
ERROR 23502

INSERT INTO p_smallint VALUES (NULL, 'a')
----
ERROR 23502

INSERT INTO p_smallint VALUES (1, 'a'), (NULL, 'b')
----
ERROR 23502

INSERT INTO p_smallint (t) SELECT 'x'
----
ERROR 23502

INSERT INTO p_smallint SELECT NULL, 'x'
----
ERROR 23502

INSERT INTO p_smallint SELECT i, 'x' FROM p_smallint WHERE false UNION ALL SELECT NULL, 'y'
----
ERROR 23502

INSERT INTO p_smallint DEFAULT VALUES
----
ERROR 23502

INSERT INTO p_smallint VALUES (DEFAULT, 'a')
----
ERROR 23502

INSERT INTO p_smallint (t, i) VALUES ('a', NULL)
----
ERROR 23502

INSERT INTO p_smallint (t) VALUES ('a') ON CONFLICT DO NOTHING
----
ERROR 23502

INSERT INTO p_smallint (t) VALUES ('a') ON CONFLICT (i) DO UPDATE SET t = 'b'
----
ERROR 23502

INSERT INTO p_smallint (t) VALUES ('a') RETURNING i
----
ERROR 23502

INSERT INTO p_smallint VALUES (1, 'a')
----

INSERT INTO p_smallint VALUES (1, 'a') ON CONFLICT (i) DO UPDATE SET i = NULL
----
ERROR 23502

INSERT INTO p_smallint VALUES (1, 'a') ON CONFLICT (i) DO UPDATE SET i = DEFAULT
----
ERROR 23502

UPDATE p_smallint SET i = NULL
----
ERROR 23502

UPDATE p_smallint SET i = DEFAULT
----
ERROR 23502

UPDATE p_smallint SET i = (SELECT 1 WHERE false)
----
ERROR 23502

UPDATE p_smallint SET i = nullif(i, 1)
----
ERROR 23502

UPDATE p_smallint SET i = q.k FROM (SELECT a.i, b.i AS k FROM p_smallint a LEFT JOIN p_smallint b ON b.i = a.i + 1) q WHERE q.i = p_smallint.i
----
ERROR 23502

INSERT INTO p_smallint SELECT b.i, 'j' FROM p_smallint a LEFT JOIN p_smallint b ON b.i = a.i + 1
----
ERROR 23502

INSERT INTO p_smallint SELECT max(i), 'm' FROM p_smallint WHERE false
----
ERROR 23502

INSERT INTO p_smallint (i) SELECT b.i FROM p_smallint a FULL JOIN p_smallint b ON b.i = a.i + 1
----
ERROR 23502

INSERT INTO p_smallint SELECT lag(i) OVER (ORDER BY i), 'l' FROM p_smallint
----
ERROR 23502

WITH s AS (SELECT NULL::smallint AS i) INSERT INTO p_smallint SELECT i, 'w' FROM s
----
ERROR 23502

SELECT * FROM p_smallint
----
i|t
1|a

CREATE TABLE s1 (i serial PRIMARY KEY, t text)
----

INSERT INTO s1 (t) VALUES ('a')
----

INSERT INTO s1 VALUES (NULL, 'b')
----
ERROR 23502

INSERT INTO s1 VALUES (DEFAULT, 'c')
----

INSERT INTO s1 SELECT NULL, 'd'
----
ERROR 23502

UPDATE s1 SET i = NULL
----
ERROR 23502

INSERT INTO s1 DEFAULT VALUES
----

SELECT t FROM s1 ORDER BY i
----
t
a
c
NULL

CREATE TABLE s2 (i bigserial, t text)
----

INSERT INTO s2 VALUES (NULL, 'b')
----
ERROR 23502

INSERT INTO s2 (t) VALUES ('b')
----

UPDATE s2 SET i = NULL
----
ERROR 23502

SELECT count(*) FROM s2
----
count
1

CREATE TABLE g1 (i int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, t text)
----

INSERT INTO g1 VALUES (NULL, 'b')
----
ERROR 23502

INSERT INTO g1 (t) VALUES ('b')
----

INSERT INTO g1 SELECT NULL, 'd'
----
ERROR 23502

UPDATE g1 SET i = NULL
----
ERROR 23502

INSERT INTO g1 (t) VALUES ('b') ON CONFLICT (i) DO UPDATE SET i = NULL
----

SELECT count(*) FROM g1
----
count
2

CREATE TABLE g2 (i int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, t text)
----

INSERT INTO g2 VALUES (NULL, 'b')
----
ERROR 428C9

INSERT INTO g2 OVERRIDING SYSTEM VALUE VALUES (NULL, 'b')
----
ERROR 23502

INSERT INTO g2 (t) VALUES ('b')
----

INSERT INTO g2 VALUES (DEFAULT, 'b')
----

UPDATE g2 SET i = NULL
----
ERROR 428C9

UPDATE g2 SET i = DEFAULT WHERE t = 'none'
----

SELECT count(*) FROM g2
----
count
2

CREATE TABLE g3 (i int GENERATED ALWAYS AS IDENTITY, t text)
----

INSERT INTO g3 OVERRIDING SYSTEM VALUE VALUES (NULL, 'b')
----
ERROR 23502

INSERT INTO g3 (t) VALUES ('b')
----

SELECT count(*) FROM g3
----
count
1

CREATE TABLE c1 (a int, b int, x text, PRIMARY KEY (a, b))
----

INSERT INTO c1 (a, x) VALUES (1, 'x')
----
ERROR 23502

INSERT INTO c1 (b) VALUES (1)
----
ERROR 23502

INSERT INTO c1 DEFAULT VALUES
----
ERROR 23502

INSERT INTO c1 VALUES (1, NULL)
----
ERROR 23502

INSERT INTO c1 SELECT 1, NULL, 'a'
----
ERROR 23502

INSERT INTO c1 VALUES (1, 2, 'a')
----

UPDATE c1 SET b = NULL
----
ERROR 23502

INSERT INTO c1 VALUES (1, 2, 'a') ON CONFLICT (a, b) DO UPDATE SET a = NULL
----
ERROR 23502

INSERT INTO c1 (a) VALUES (1) ON CONFLICT DO NOTHING
----
ERROR 23502

SELECT * FROM c1
----
a|b|x
1|2|a

CREATE TABLE k1 (k text PRIMARY KEY, x int)
----

INSERT INTO k1 (x) VALUES (1)
----
ERROR 23502

INSERT INTO k1 VALUES (NULL, 1)
----
ERROR 23502

INSERT INTO k1 DEFAULT VALUES
----
ERROR 23502

SELECT count(*) FROM k1
----
count
0

CREATE TABLE d1 (i int DEFAULT 7 PRIMARY KEY, t text)
----

INSERT INTO d1 (t) VALUES ('a')
----

INSERT INTO d1 VALUES (NULL, 'b')
----
ERROR 23502

INSERT INTO d1 DEFAULT VALUES
----
ERROR 23505

SELECT * FROM d1
----
i|t
7|a

CREATE TABLE d2 (i int DEFAULT NULL PRIMARY KEY, t text)
----

INSERT INTO d2 (t) VALUES ('a')
----
ERROR 23502

INSERT INTO d2 DEFAULT VALUES
----
ERROR 23502

SELECT * FROM d2
----
i|t

CREATE TABLE d3 (i int DEFAULT nullif(1, 1) PRIMARY KEY, t text)
----

INSERT INTO d3 (t) VALUES ('a')
----
ERROR 23502

INSERT INTO d3 VALUES (DEFAULT, 'a')
----
ERROR 23502

SELECT * FROM d3
----
i|t

CREATE TABLE a1 (i int, t text)
----

INSERT INTO a1 VALUES (NULL, 'a')
----

ALTER TABLE a1 ADD PRIMARY KEY (i)
----
ERROR 23502

DELETE FROM a1
----

ALTER TABLE a1 ADD PRIMARY KEY (i)
----

INSERT INTO a1 (t) VALUES ('a')
----
ERROR 23502

SELECT * FROM a1
----
i|t

CREATE TABLE a2 (t text)
----

INSERT INTO a2 VALUES ('a')
----

ALTER TABLE a2 ADD COLUMN i int PRIMARY KEY
----
ERROR 23502

SELECT * FROM a2
----
t
a

CREATE TABLE l1 (LIKE p_int INCLUDING ALL)
----

INSERT INTO l1 (t) VALUES ('a')
----
ERROR 23502

INSERT INTO l1 DEFAULT VALUES
----
ERROR 23502

SELECT * FROM l1
----
i|t

CREATE TEMP TABLE tp (i int PRIMARY KEY)
----

INSERT INTO tp DEFAULT VALUES
----
ERROR 23502

INSERT INTO tp VALUES (NULL)
----
ERROR 23502

SELECT * FROM tp
----
i

CREATE TABLE n1 (i int NOT NULL, j int UNIQUE)
----

INSERT INTO n1 (j) VALUES (1)
----
ERROR 23502

INSERT INTO n1 VALUES (1, NULL)
----

UPDATE n1 SET i = NULL
----
ERROR 23502

INSERT INTO n1 VALUES (NULL, 2) ON CONFLICT DO NOTHING
----
ERROR 23502

INSERT INTO n1 VALUES (NULL, 2) ON CONFLICT (j) DO UPDATE SET i = 3
----
ERROR 23502

SELECT * FROM n1
----
i|j
1|NULL
