-- Modifiers of types: what they do to values, and where they are part of an expression's type.
SELECT '2020-01-01 00:00:00.567'::timestamp(0), '2020-01-01 00:00:00.545'::timestamptz(1), '1999-12-31 23:59:59.5'::text::timestamp(0);
SELECT '1969-12-31 23:59:59.4567'::timestamp(2), '2000-01-01 00:00:00.125'::timestamp(2), '1999-12-31 23:59:59.875'::timestamp(2);
CREATE TABLE stamps (id int, a timestamp(0), b timestamptz(3) DEFAULT '2020-01-01 00:00:00.123456');
INSERT INTO stamps VALUES (1, '2020-01-01 00:00:00.567');
UPDATE stamps SET a = '2021-06-01 12:00:00.49999';
SELECT * FROM stamps;
--! both 42601
SELECT 1.5::int4(3);
--! both 42601
SELECT 'a'::text(3);
--! both 42601
SELECT 'a'::name(3);
--! both 22023
SELECT 1::numeric(0);
--! both 22023
SELECT 1::numeric(1001);
--! both 22023
SELECT 1::numeric(5, 2, 1);
--! both 22023
SELECT 'a'::varchar(0);
SELECT 12345.678::numeric(5, -2), 0.00123::numeric(3, 5);
--! both 22003
SELECT 123456789::numeric(5, -2);
CREATE TABLE made AS SELECT 1.5::numeric(3,1) AS x, 'abc'::varchar(3) AS y, '2020-01-01 00:00:00.5'::timestamp(0) AS z;
--! both 22001
INSERT INTO made VALUES (2.25, 'abcdef', NULL);
INSERT INTO made VALUES (2.25, 'ab', '2020-01-01 00:00:01.7');
SELECT * FROM made;
CREATE VIEW of_made AS SELECT x, x + 1 AS u, coalesce(x, 0) AS w, CASE WHEN x > 1 THEN x ELSE x END AS c, greatest(x, x) AS g FROM made;
CREATE TABLE kept AS SELECT * FROM of_made UNION ALL SELECT * FROM of_made;
INSERT INTO kept VALUES (0.25, 0.25, 0.25, 0.25, 0.25);
SELECT * FROM kept WHERE x < 1;
CREATE TABLE kept2 AS WITH q AS (SELECT x FROM made), r AS (VALUES (1.5::numeric(3,1)), (2)) SELECT q.x, (SELECT max(x) FROM q) AS m, (SELECT x FROM q LIMIT 1) AS o, r.column1 FROM q, r;
INSERT INTO kept2 VALUES (0.25, 0.25, 0.25, 0.25);
SELECT * FROM kept2 WHERE x < 1;
CREATE TABLE kept3 AS SELECT x FROM made UNION ALL SELECT 2.25;
INSERT INTO kept3 VALUES (0.125);
SELECT * FROM kept3 WHERE x < 1;
CREATE TABLE kept4 AS SELECT made.x::numeric AS bare, x AS again, other.* FROM made JOIN (SELECT x FROM made) other USING (x);
INSERT INTO kept4 VALUES (0.125, 0.125);
SELECT * FROM kept4 WHERE again < 1;
--! both 42804
WITH RECURSIVE r(n) AS (SELECT 1::numeric(3,0) UNION ALL SELECT n + 0.5 FROM r WHERE n < 3) SELECT * FROM r;
--! both 42804
WITH RECURSIVE r(n) AS (SELECT 1::numeric(3,0) UNION ALL SELECT (n + 1)::numeric(5,1) FROM r WHERE n < 3) SELECT * FROM r;
WITH RECURSIVE r(n) AS (SELECT 1::numeric(3,0) UNION ALL SELECT (n + 1)::numeric(3,0) FROM r WHERE n < 3) SELECT * FROM r;
--! both 42804
WITH RECURSIVE r(n) AS (SELECT 'a'::varchar(3) UNION ALL SELECT (n || 'b')::varchar(4) FROM r WHERE length(n) < 3) SELECT * FROM r;
CREATE FUNCTION any_numeric(a numeric(3,1)) RETURNS numeric(3,1) LANGUAGE sql AS 'SELECT a';
SELECT any_numeric(123.456);
-- names
SELECT length('aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg'::name);
SELECT 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg'::text::name || '!';
SELECT repeat('ä', 40)::name, pg_typeof('a'::name), 'a'::name = 'a', 'a'::name < 'b'::text, 'ab'::name LIKE 'a%', upper('ab'::name);
CREATE TABLE named (a name PRIMARY KEY, b name[]);
INSERT INTO named VALUES ('aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg', '{x}');
--! both 23505
INSERT INTO named VALUES ('aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggghhhhhhh', '{x}');
SELECT length(a) FROM named WHERE a = 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggiiiiiii';
SELECT length(a) FROM named WHERE a = 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggiiiiiii'::text;
SELECT coalesce(a, 'x'::text), min(a) FROM named GROUP BY a;
SELECT 1 AS aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg;
DO $$ DECLARE aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg int := 3; BEGIN ASSERT aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg = 3; END $$;
--! refused 0A000
SELECT 1::oid;
