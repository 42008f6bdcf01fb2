\set n 2
\set t '$$'
CREATE FUNCTION a(x int) RETURNS int LANGUAGE sql
BEGIN ATOMIC
  SELECT 1;
  SELECT CASE WHEN x > 1 THEN CASE x WHEN 2 THEN 20 END ELSE 0 END;
END;
CREATE OR REPLACE PROCEDURE b() LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END; SELECT a(2), a(3) AS null, a(0);
BEGIN; SELECT 'in a transaction' AS x; END;
SELECT $$ one ; $two$ ; $$ || $two$ $$ ; $two$ AS quoted, $a1$;$a1$;
SELECT 'it''s ; \' AS a, E'it\'s ; \\' AS b, "c;d" FROM (SELECT 1 AS "c;d") q;
SELECT '{1,2,3}'::int[] AS v, ('{1,2,3}'::int[])[1:2], ('{1,2,3}'::int[])[:n], '12:30'::time, 5::int, ':n', ":n" FROM (SELECT 1 AS ":n") q;
SELECT 1 -- comment ; with semicolon
  + /* another ; one /* nested ; */ */ :n AS sum;
SELECT 'a'
  'b' AS continued, U&'\00e4' AS u, B'101' AS b, X'1F' AS x, N'n' AS n;
SELECT 1 \; SELECT 2 \; SELECT :n + 1;
SELECT (SELECT count(*) FROM (VALUES (1), (2)) v(x) WHERE x < 2), ARRAY[1, 2], ROW(1, 'a');
SELECT 1e3, .5, 1.e2, 0x1 AS a, 5!=4, 2^-1, 3-+-2, @-5, |/ 16;
SELECT a$b, "ä" FROM (SELECT 1 AS a$b, 2 AS "ä") q;
SELECT 1 AS a; SELECT 2 AS b; SELECT 3
AS c;
SELECT :'n', :"n", :{?n}, :{?undefined} FROM (SELECT 1 AS "2") q;
SELECT 'unset :nothing', ':nothing';
select
	tabs,	'and	more'
from (select 'x' as tabs) q;

SELECT '

empty lines

' AS e;
\echo 'single quoted' "double" :n :'n' `echo shell`
SELECT 4 AS last
