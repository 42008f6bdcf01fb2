-- json and jsonb: input, output, order.
SELECT '{"b": 1, "a": [1,2,  3], "aa": null, "b": 2}'::jsonb, '{"b": 1,   "a": 2}'::json;
SELECT '1.0'::jsonb, '1e2'::jsonb, '-0'::jsonb, '"a\u00e9\n\/"'::jsonb, 'true'::jsonb, ' null '::jsonb, '[]'::jsonb, '{}'::jsonb, '"\u001f"'::jsonb, '[ 1 , "x" ]'::jsonb;
SELECT '"\ud83d\ude00"'::jsonb, '"\\ud83d"'::jsonb;
--! both 22P02
SELECT '"\ud83d"'::jsonb;
--! refused 22P02
SELECT '"\ude00\ud83d"'::json;
--! both 22P05
SELECT '"\u0000"'::jsonb;
--! both 22P02
SELECT '{a: 1}'::jsonb;
--! both 22P02
SELECT '{"a": 01}'::jsonb;
--! both 22P02
SELECT ''::jsonb;
--! both 22P02
SELECT 'NaN'::jsonb;
--! both 22P02
SELECT '[1,]'::json;
SELECT '{"a":1, "b":2}'::jsonb = '{"b":2, "a":1.0}'::jsonb, '1'::jsonb = '1.00'::jsonb, '[1,2]'::jsonb = '[2,1]'::jsonb, '"a"'::jsonb <> '"b"', '{"a":1}' = '{"a":1}'::jsonb;
SELECT '1'::jsonb < '10'::jsonb, '9'::jsonb < '10'::jsonb, '"9"'::jsonb < '"10"'::jsonb, 'null'::jsonb < '1'::jsonb, '[]'::jsonb < 'null'::jsonb, '{}'::jsonb > '[1]'::jsonb, 'true'::jsonb > 'false', '[1]'::jsonb > '1'::jsonb;
CREATE TABLE j (id int, v jsonb);
INSERT INTO j VALUES (1, '{"b": 1, "a": 2}'), (2, '1.0'), (3, '1'), (4, '"x"'), (5, '"X"'), (6, 'null'), (7, NULL), (8, '[]'), (9, '[1, 2]'), (10, '[3]'), (11, '{}'), (12, 'true'), (13, 'false'), (14, '10'), (15, '{"a": 2, "b": 1.00}'), (16, '{"a": 3}'), (17, '["a"]'), (18, '[null]'), (19, '[[]]'), (20, '{"aa": 1}');
SELECT id, v FROM j ORDER BY v, id;
SELECT id FROM j ORDER BY v DESC, id;
SELECT count(*), count(DISTINCT v) FROM j;
SELECT count(*) FROM j GROUP BY v ORDER BY 1, v;
SELECT count(*) FROM (SELECT DISTINCT v FROM j) t;
SELECT count(*) FROM (SELECT v FROM j UNION SELECT '1.000'::jsonb) t;
SELECT count(*) FROM (SELECT v FROM j EXCEPT SELECT '1.000'::jsonb) t;
SELECT id, rank() OVER (ORDER BY v) FROM j ORDER BY id;
SELECT id, count(*) OVER (PARTITION BY v) FROM j ORDER BY id;
SELECT a.id, b.id FROM j a JOIN j b USING (v) WHERE a.id < b.id ORDER BY 1, 2;
SELECT id FROM j WHERE v = '{"b": 1, "a": 2.0}' ORDER BY id;
SELECT id FROM j WHERE v IN ('1.00', '"x"') ORDER BY id;
SELECT id FROM j WHERE v NOT IN ('1.00', '"x"') ORDER BY id;
SELECT id FROM j WHERE v IN (SELECT '1.00'::jsonb) ORDER BY id;
SELECT id FROM j WHERE v > '1' ORDER BY id;
SELECT id FROM j WHERE v BETWEEN '1' AND '9.5' ORDER BY id;
SELECT id FROM j WHERE v IS NULL;
SELECT id FROM j WHERE v IS DISTINCT FROM '1.00' ORDER BY id;
SELECT nullif(v, '1') FROM j WHERE id < 4 ORDER BY id;
SELECT coalesce(v, '5') FROM j WHERE id IN (1, 7) ORDER BY id;
SELECT CASE v WHEN '1.00' THEN 'one' ELSE 'other' END FROM j WHERE id < 5 ORDER BY id;
--! refused 0A000
SELECT greatest(v, '1') FROM j;
--! both 42883
SELECT min(v) FROM j;
--! refused 0A000
SELECT v || '1' FROM j;
SELECT v::text FROM j ORDER BY id;
SELECT length(v::text) FROM j ORDER BY id;
--! both 42883
SELECT v = '1'::json FROM j;
--! both 42883
SELECT v = 1 FROM j;
--! both 42883
SELECT v = '1'::text FROM j;
--! both 42883
SELECT '1'::json = '1'::json;
--! both 42883
SELECT '1'::json IN ('1');
--! both 42883
SELECT DISTINCT '1'::json;
--! both 42883
SELECT x FROM (VALUES ('1'::json)) t(x) GROUP BY x;
--! both 42883
SELECT x FROM (VALUES ('1'::json)) t(x) ORDER BY x;
--! both 42883
SELECT x FROM (VALUES ('1'::json)) t(x) ORDER BY 1;
--! both 42883
SELECT '1'::json UNION SELECT '1'::json;
SELECT '1'::json UNION ALL SELECT '2'::json;
--! both 42883
SELECT count(DISTINCT x) FROM (VALUES ('1'::json)) t(x);
--! both 42883
SELECT rank() OVER (PARTITION BY x) FROM (VALUES ('1'::json)) t(x);
--! both 42883
SELECT greatest('1'::json, '2'::json);
--! both 42883
SELECT nullif('1'::json, '1'::json);
--! both 42883
SELECT CASE '1'::json WHEN '1' THEN 1 END;
SELECT array_agg(v ORDER BY id) FROM j WHERE id < 5;
--! refused 0A000
SELECT ARRAY['1.0'::jsonb] = ARRAY['1'::jsonb];
SELECT array_position(ARRAY['1.0'::jsonb, '2'], '1');
SELECT '1'::jsonb = ANY (ARRAY['1.0'::jsonb]);
--! refused 0A000
SELECT '{"a": 1}'::jsonb -> 'a';
--! refused 0A000
SELECT '{"a": 1}'::jsonb ->> 'a';
--! refused 0A000
SELECT '{"a": 1}'::jsonb @> '{}';
--! refused 42883
SELECT jsonb_typeof('1');
--! refused 42846
SELECT '1'::jsonb::int;
--! both 42846
SELECT 1::jsonb;
--! refused 42883
SELECT to_jsonb(1);
SELECT '{"b": 1,   "a": 2}'::json::jsonb, '{"b": 1,   "a": 2}'::jsonb::json, '{"a":1}'::text::jsonb;
UPDATE j SET v = '{"z": 1, "y": 2}' WHERE id = 1;
SELECT v FROM j WHERE id = 1;
CREATE TABLE ju (v jsonb UNIQUE);
INSERT INTO ju VALUES ('1.0');
--! both 23505
INSERT INTO ju VALUES ('1');
CREATE TABLE jp (v jsonb PRIMARY KEY, n int);
INSERT INTO jp VALUES ('{"a": 1, "b": 2}', 1);
--! both 23505
INSERT INTO jp VALUES ('{"b": 2, "a": 1}', 2);
INSERT INTO jp VALUES ('{"b": 2, "a": 1.0}', 2) ON CONFLICT (v) DO UPDATE SET n = 3;
SELECT n FROM jp;
--! both 42704
CREATE TABLE jj (v json UNIQUE);
CREATE TABLE jk (v json);
INSERT INTO jk VALUES ('{"b": 1,   "a": 2}');
SELECT * FROM jk;
--! both 42704
CREATE INDEX ON jk (v);
CREATE TABLE na (v numeric[] UNIQUE);
INSERT INTO na VALUES ('{1.0}');
--! both 23505
INSERT INTO na VALUES ('{1.00}');
