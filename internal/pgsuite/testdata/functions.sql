-- Functions are known by name and argument types; what is wrong with one is found when it is created.
CREATE TABLE t (a int, b text);
CREATE FUNCTION f1(x int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1';
SELECT f1(1), f1('2'), f1(1::smallint), f1(NULL);
--! both 42883
SELECT f1(1.5);
--! both 42883
SELECT f1(1::bigint);
--! refused 0A000
CREATE FUNCTION f1(x text) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! refused 0A000
CREATE OR REPLACE FUNCTION f1(x text) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! both 42723
CREATE FUNCTION f1(y int) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE OR REPLACE FUNCTION f1(y int) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE OR REPLACE FUNCTION f1(x int) RETURNS text LANGUAGE sql AS $$SELECT 'a'$$;
--! both 42809
CREATE OR REPLACE PROCEDURE f1(x int) LANGUAGE sql AS $$SELECT 'a'$$;
CREATE OR REPLACE FUNCTION f1(x int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 2';
SELECT f1(1);
--! both 42883
DROP FUNCTION f1(text);
DROP FUNCTION IF EXISTS f1(text);
--! both 42809
DROP PROCEDURE f1(int);
SELECT f1(1);
--! both 42883
COMMENT ON FUNCTION f1(text) IS 'x';
DROP ROUTINE f1(int);
--! both 42P13
CREATE FUNCTION f2(a int, a int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f2(a int, OUT b int, INOUT c int) LANGUAGE sql AS 'SELECT 1, 2';
DROP FUNCTION f2;
--! both 42P13
CREATE FUNCTION f2(a int DEFAULT 1, b int) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE FUNCTION f2(OUT a int = 1) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE FUNCTION f2(a int, OUT b int) RETURNS text LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE FUNCTION f2(a int, OUT b int, OUT c int) RETURNS int LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE FUNCTION f2(a int) LANGUAGE sql AS 'SELECT 1';
--! both 42P13
CREATE FUNCTION f2(a int) RETURNS anyarray LANGUAGE sql AS 'SELECT array[a]';
--! both 42P13
CREATE FUNCTION f2(a int) RETURNS int LANGUAGE sql AS $$SELECT 'x'$$;
--! both 42P13
CREATE FUNCTION f2(a int) RETURNS int LANGUAGE sql AS $$SELECT 1, 2$$;
--! both 42703
CREATE FUNCTION f2(a int) RETURNS int LANGUAGE sql AS $$SELECT nosuch$$;
--! both 42P01
CREATE FUNCTION f2(a int) RETURNS int LANGUAGE sql AS $$SELECT a FROM nosuch$$;
--! both 42P02
CREATE FUNCTION f2(a int) RETURNS int LANGUAGE sql AS $$SELECT $2$$;
--! both 42P13
CREATE FUNCTION f2(a int) RETURNS TABLE (x int, y text) LANGUAGE sql AS $$SELECT a FROM t$$;
--! both 42804
CREATE FUNCTION f2(a int) RETURNS void LANGUAGE sql AS $$INSERT INTO t VALUES ('x'::text, 'b')$$;
--! both 3F000
CREATE FUNCTION nosuch.f2() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION f2(a int) RETURNS int LANGUAGE sql AS $$INSERT INTO t VALUES (a, 'x') RETURNING a$$;
CREATE FUNCTION f3(a int) RETURNS TABLE (x int, y text) LANGUAGE sql AS $$SELECT a, b FROM t$$;
--! both 42601
SELECT * FROM f3(a => 1, 2);
--! both 42704
CREATE FUNCTION p1(a int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE b nosuch; BEGIN RETURN 1; END $$;
--! both 42P01
CREATE FUNCTION p1(a int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE b nosuch%rowtype; BEGIN RETURN 1; END $$;
--! both 42601
CREATE FUNCTION p1(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN; END $$;
--! both 42804
CREATE FUNCTION p1(a int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN IF a > 1 THEN RETURN 1; END IF; END $$;
--! both 42804
CREATE FUNCTION p1(a int, OUT b int) LANGUAGE plpgsql AS $$ BEGIN LOOP RETURN 1; END LOOP; END $$;
--! both 42804
CREATE FUNCTION p1(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN NEXT 1; END $$;
CREATE FUNCTION p1(a numeric) RETURNS numeric LANGUAGE plpgsql AS $$ DECLARE b t; c t%rowtype; d t.a%type; BEGIN RETURN a; END $$;
SELECT p1(1), p1(1.5), p1('3');
--! both 42883
SELECT p1(1.5::float8);
CREATE PROCEDURE pr(INOUT a int) LANGUAGE plpgsql AS $$ BEGIN a := a + 1; END $$;
CALL pr(1);
--! both 42883
CALL pr(1.5);
--! both 0A000
CREATE PROCEDURE pr2() LANGUAGE sql AS $$ CALL pr(1) $$;
--! both 42P13
CREATE PROCEDURE pr2() LANGUAGE sql STRICT AS $$ SELECT 1 $$;
--! both 42809
DROP FUNCTION pr(int);
-- What the body leaves out is of its parameter's type all the same.
CREATE FUNCTION first_of(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT $1';
SELECT first_of(1, 2), first_of(1, '3');
--! both 22P02
SELECT first_of(1, 'x');
--! both 42883
SELECT first_of(1, 2.5);
SELECT first_of(x, x) FROM (VALUES (1), (2)) v(x);
--! both 22P02
CREATE FUNCTION with_default(a int DEFAULT 'x') RETURNS int LANGUAGE sql AS 'SELECT a';
CREATE PROCEDURE gives(OUT a int) LANGUAGE sql AS 'SELECT 1';
CALL gives(NULL);
CALL gives(1/0);
--! both 42883
CALL gives(1./0.);
SELECT pg_typeof(pg_typeof(1)), pg_typeof(1)::text, 'timestamptz'::regtype, 'int[]'::regtype, pg_typeof(1) || 'x', pg_typeof(1) = 'int4'::regtype;
--! both 42704
SELECT 'nosuch'::regtype;
--! both 42883
SELECT pg_typeof(1) = 'integer'::text;
--! both 0A000 22P02
SELECT pg_typeof(1) = 'integer';
CREATE FUNCTION varying() RETURNS varchar LANGUAGE sql AS 'SELECT ''abc''';
CREATE FUNCTION varyings() RETURNS SETOF varchar LANGUAGE sql AS 'SELECT ''abc''';
CREATE FUNCTION of_varying(x varchar) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
CREATE FUNCTION of_name(name) RETURNS text LANGUAGE sql AS 'SELECT $1::text';
SELECT varying(), of_name('a' || 'b');
SELECT * FROM varyings();
SELECT of_varying('a'::varchar);
