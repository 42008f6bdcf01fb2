\set n 3
\set name 'O''Hara'
\set col id
CREATE TABLE t AS SELECT i AS id, 'v' || i AS v FROM generate_series(1, :n) i;
SELECT :'name' AS name, :n + 1 AS n, :"col" FROM t WHERE id = 1;
SELECT count(*) AS c, max(id) AS "M", NULL AS nothing FROM t \gset t_
\echo :t_c :t_M :t_nothing
SELECT id FROM t \gset
SELECT id FROM t WHERE false \gset
SELECT 'SELECT ' || id || ' AS x' FROM t ORDER BY id \gexec
\if :{?n}
\echo n is set
\elif true
\echo never
\endif
\if false
SELECT never;
\copy nowhere from nowhere
\else
SELECT 1 AS one \g
\endif
SELECT id, v FROM t ORDER BY id \gx
\x on
SELECT * FROM t WHERE id < 3 ORDER BY id;
SELECT * FROM t WHERE false;
\x off
\t on
SELECT * FROM t ORDER BY id;
\t off
\a
SELECT * FROM t ORDER BY id;
\f ,
SELECT * FROM t ORDER BY id;
\a
\pset null '(null)'
SELECT NULL AS x, 1 AS y;
\pset format csv
SELECT NULL AS x, 'a,b' AS y, '"' AS z;
\pset format aligned
\pset border 2
SELECT id, v, NULL AS x FROM t ORDER BY id;
\pset border 0
SELECT id, v FROM t ORDER BY id;
\pset border 1
\pset title 'A title'
SELECT id, v FROM t ORDER BY id;
\pset title
\pset footer off
SELECT 1;
\pset footer on
\timing on
SELECT 1;
SELECT nothing;
\timing off
\set ECHO queries
SELECT 1 AS echoed;
\set ECHO errors
SELECT nothing;
\set ECHO none
\i include.inc
\ir include.inc
\o /dev/null
SELECT 'not shown';
\o
\echo :DBNAME :USER :SERVER_VERSION_NUM
\qecho done
SELECT 1 AS a
\p
\g
SELECT 2
\r
SELECT 3;
\set QUIET on
CREATE TABLE quiet (x int);
\set QUIET off
CREATE TABLE loud (x int);
SELECT E'it''s' AS a, $q$a ; b$q$ AS b, "c;d" FROM (SELECT 1 AS "c;d") x;
SELECT (1;2);
);
SELECT 5 AS five;
