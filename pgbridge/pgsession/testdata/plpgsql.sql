DO $$
BEGIN
  RAISE NOTICE 'hello %', 1;
  RAISE INFO 'info';
  RAISE WARNING 'warning' USING DETAIL = 'd', HINT = 'h';
  RAISE LOG 'not shown';
END $$;
CREATE FUNCTION f(n int) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..n LOOP RETURN NEXT i * i; END LOOP;
  RAISE NOTICE E'two\nlines';
END $$;
SELECT * FROM f(3);
SELECT f(2);
CREATE FUNCTION deep(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF n = 0 THEN RAISE EXCEPTION 'bottom'; END IF;
  RETURN deep(n - 1);
END $$;
SELECT deep(3);
DO $$
BEGIN
  BEGIN
    PERFORM deep(0);
  EXCEPTION WHEN raise_exception THEN
    RAISE NOTICE 'caught: % %', SQLSTATE, SQLERRM;
  END;
END $$;
CREATE TABLE IF NOT EXISTS t (x int);
CREATE TABLE IF NOT EXISTS t (x int);
CREATE TABLE very_long_name_very_long_name_very_long_name_very_long_name_very_long_name (x int);
DROP TABLE IF EXISTS a, b;
DO $$ DECLARE r record; BEGIN FOR r IN SELECT generate_series(1, 2) AS g LOOP RAISE NOTICE 'g = %', r.g; END LOOP; END $$;
SET client_min_messages = error;
DO $$ BEGIN RAISE WARNING 'not shown'; END $$;
RESET client_min_messages;
CREATE OR REPLACE FUNCTION args(a int, b text DEFAULT 'x', OUT c int, OUT d text) LANGUAGE sql AS $$ SELECT a + 1, b || 'y' $$;
SELECT * FROM args(1);
SELECT args(1, 'z');
SELECT (args(1)).d;
SELECT args('x');
