-- DDL, DML and what the embedded store does not read
SET search_path = public, relgrad;
CREATE EXTENSION IF NOT EXISTS relgrad;
CREATE TABLE film (id int PRIMARY KEY, title text NOT NULL, year smallint, score numeric(4, 2), seen boolean DEFAULT false, v real[]);
INSERT INTO film VALUES (1, 'Metropolis', 1927, 8.3, true, '{1,2.5,-0.125}'), (2, 'M', 1931, NULL, false, NULL),
  (3, E'two\nlines', NULL, 7, NULL, '{NaN,Infinity,1e-20}');
SELECT * FROM film ORDER BY id;
SELECT id, title, v[1:2] AS "a ""quoted"" name", score * 2 FROM film WHERE year IS NOT NULL ORDER BY 1;
TABLE film;
SELECT;
SELECT FROM film;
SELECT * FROM film WHERE false;
UPDATE film SET score = 9 WHERE id = 2 RETURNING id, score;
DELETE FROM film WHERE id = 3;
INSERT INTO film (id, title) VALUES (4, 'x'), (5, 'y') RETURNING *;
MERGE INTO film f USING (VALUES (4, 'z'), (9, 'new')) AS n(id, title) ON f.id = n.id
  WHEN MATCHED THEN UPDATE SET title = n.title WHEN NOT MATCHED THEN INSERT (id, title) VALUES (n.id, n.title);
VALUES (1, 'a'::"char", 1.5::money), (22, 'b', -1000);
SELECT 1 AS a\; SELECT 'two' AS b\; UPDATE film SET seen = true;
CREATE TABLE part (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (10);
INSERT INTO part SELECT i, 'v' || i FROM generate_series(0, 9) i;
VACUUM ANALYZE film;
EXPLAIN (COSTS OFF) SELECT count(*) FROM part WHERE k = 1;
CREATE MATERIALIZED VIEW best AS SELECT * FROM film WHERE score > 8;
REFRESH MATERIALIZED VIEW best;
SHOW search_path;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT x * 2; END;
CREATE OR REPLACE PROCEDURE note(INOUT x int) LANGUAGE plpgsql AS $$ BEGIN x := x + 1; RAISE NOTICE 'x is %', x; END $$;
CALL note(41);
SELECT twice(21), 'sad'::mood, '2024-02-29'::date, '1 day 02:03:04'::interval, '{"a": [1, null]}'::jsonb, '\xdeadbeef'::bytea;
DECLARE c CURSOR WITH HOLD FOR SELECT id FROM film ORDER BY id;
FETCH 2 FROM c;
MOVE 1 IN c;
CLOSE c;
PREPARE q(int) AS SELECT $1 + 1 AS next;
EXECUTE q(1);
SELECT sigmoid(0::double precision), matmul('{{1,2},{3,4}}'::real[], '{1,1}'::real[]), softmax('{0,0}'::double precision[]);
SELECT 'Ärger', '漢字', 'e' || U&'\0301', '👍🏽', 'ok';
SELECT E'tab\there', E'cr\rlf', E'bell\x07', U&'nel\0085', E'ab\tc\td\nnext\tx' AS "many
lines	tab";
SELECT i, repeat('x', i) FROM generate_series(1, 3) i;
SELECT array_agg(id ORDER BY id), array_agg(title ORDER BY id) FROM film;
SELECT 1::oid, '5'::xid, '6'::xid8, '7'::cid, 1::bigint, 2.5::real, 1e300::float8, true, NULL::boolean, 'a'::name;
DROP TABLE part;
COMMENT ON TABLE film IS 'films';
GRANT SELECT ON film TO PUBLIC;
LISTEN news;
NOTIFY news, 'read all about it';
NOTIFY news;
;
/* a comment */ SELECT /* inside */ 1 -- behind
  AS one;
