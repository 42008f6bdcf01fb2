\set ON_ERROR_STOP off
SELECT nothing;
SELECT 1 +;
SELECT
  a,
	b,	c
FROM nowhere;
SELECT 'a long line that goes on and on and on until it is far too long to be shown whole', nothing, 'and it goes on after that, too';
SELECT nothing, 'a long line that goes on and on and on until it is far too long to be shown whole', 'and it goes on';
SELECT 'a long line that goes on and on and on until it is far too long to be shown whole and ends with', nothing;
SELECT '漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字', nothing;
/* leading */ SELECT nothing;
-- dropped
SELECT 1 AS ok\; SELECT nothing\; SELECT 2 AS never;
CREATE TABLE t (id int PRIMARY KEY, v real[] CHECK (cardinality(v) < 3), t text);
INSERT INTO t VALUES (1, '{1}', 'a'), (1, '{2}', 'b');
INSERT INTO t VALUES (2, '{1,2,3}', NULL);
INSERT INTO t VALUES (NULL, NULL, NULL);
INSERT INTO t VALUES ('x', NULL, NULL);
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2147483648);
INSERT INTO t (id, v) VALUES (3, '{1,{2}}');
CREATE TABLE u (id int REFERENCES t);
INSERT INTO u VALUES (77);
DROP TABLE t;
SELECT 1 / 0;
SELECT sqrt('{1}'::real[]), relgrad.matmul('{{1,2}}'::real[], '{{1,2}}'::real[]);
SELECT frobnicate(1, 'x'::text);
SELECT t.id FROM t GROUP BY t.v;
SELECT 'x' || 1 + 'y';
SELEC 1;
SELECT 'unterminated
  ;
';
SELECT * FROM t WHERE id = ANY('{1,2');
CREATE VIEW w AS SELECT id, id FROM t;
CREATE TABLE t (x int);
ALTER TABLE t ADD COLUMN id int;
DROP TABLE IF EXISTS absent;
DROP TABLE absent;
COPY t FROM '/nowhere/at all';
SET nonsense = 1;
SELECT pg_sleep('x');
DO $$
DECLARE
  x int;
BEGIN
  x := 1 / 0;
END $$;
DO $$ BEGIN EXECUTE 'SELECT nothing FROM nowhere'; END $$;
DO $$
BEGIN
  PERFORM nothing
  FROM nowhere;
END $$;
DO $$ BEGIN RAISE EXCEPTION 'own %', 'error' USING HINT = 'a hint', DETAIL = 'a detail
of two lines', ERRCODE = 'RG001'; END $$;
\echo :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE :ERROR :SQLSTATE :ROW_COUNT
DO $$ BEGIN nonsense here; END $$;
DO LANGUAGE nolang $$ x $$;
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT nothing';
CREATE FUNCTION g(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / x; END $$;
SELECT g(0);
SELECT id, g(id - id) FROM (VALUES (1), (2)) AS v(id);
\errverbose
SET statement_timeout = 20;
SELECT pg_sleep(10);
RESET statement_timeout;
SELECT :unset_variable;
SELECT $1;
SELECT 'ok' AS still_there;
\echo :ERROR :SQLSTATE :ROW_COUNT
ABORT;
COMMIT;
BEGIN;
BEGIN;
SELECT nothing;
SELECT 1;
COMMIT;
/* a comment
of two lines /* nested */
*/
SELECT nothing
  FROM nowhere;
\set VERBOSITY terse
SELECT nothing;
SELECT g(0);
\set VERBOSITY sqlstate
SELECT nothing;
\set VERBOSITY verbose
SELECT nothing;
INSERT INTO t VALUES (1, '{2}', 'b');
DO $$ BEGIN RAISE NOTICE 'verbose'; END $$;
\set VERBOSITY default
\set SHOW_CONTEXT always
DO $$ BEGIN RAISE NOTICE 'with context'; END $$;
\set SHOW_CONTEXT never
SELECT g(0);
\set SHOW_CONTEXT errors
