-- INSERT, UPDATE and DELETE.
CREATE TABLE k (id int PRIMARY KEY, n numeric UNIQUE, s text, j jsonb);
INSERT INTO k VALUES (1, 1.5, 'a', '{"b": 1,   "a": 2}'), (2, 2, 'b', NULL);
INSERT INTO k VALUES (1, 9, 'x') ON CONFLICT (id) DO UPDATE SET s = excluded.s;
--! both 42601
INSERT INTO k VALUES (1, 9, 'x') ON CONFLICT DO UPDATE SET s = excluded.s;
--! both 21000
INSERT INTO k VALUES (3, 3, 'c'), (3, 4, 'd') ON CONFLICT (id) DO UPDATE SET s = excluded.s;
--! both 21000
INSERT INTO k VALUES (1, 8, 'c'), (1, 7, 'd') ON CONFLICT (id) DO UPDATE SET s = excluded.s;
--! both 21000
INSERT INTO k VALUES (7, 3, 'c'), (8, 3.0, 'd') ON CONFLICT (n) DO UPDATE SET s = excluded.s;
INSERT INTO k VALUES (7, 30, 'c'), (8, 3, 'd') ON CONFLICT (n) DO UPDATE SET s = excluded.s;
INSERT INTO k VALUES (9, NULL, 'c'), (10, NULL, 'd') ON CONFLICT (n) DO UPDATE SET s = excluded.s;
--! both 21000
INSERT INTO k SELECT 11, g, 'x' FROM generate_series(100, 102) g ON CONFLICT (id) DO UPDATE SET s = excluded.s;
--! both 23505
INSERT INTO k SELECT g, g * 10, 'y' FROM generate_series(1, 12) g ON CONFLICT (id) DO UPDATE SET s = excluded.s || k.s;
INSERT INTO k SELECT g, g * 1000, 'z' FROM generate_series(1, 20) g ON CONFLICT (id) DO UPDATE SET s = excluded.s WHERE k.id > 10;
INSERT INTO k VALUES (1, 5, 'q'), (1, 6, 'r') ON CONFLICT (id) DO NOTHING;
INSERT INTO k VALUES (50, 50, 'q'), (50, 60, 'r') ON CONFLICT DO NOTHING;
INSERT INTO k (s, id) VALUES ('m', 2), ('n', 60) ON CONFLICT (id) DO UPDATE SET s = k.s || excluded.s RETURNING id, s;
SELECT * FROM k ORDER BY id;
CREATE TABLE k2 (a int, b text, c int, PRIMARY KEY (a, b));
INSERT INTO k2 VALUES (1, 'x', 1), (1, 'y', 1) ON CONFLICT (a, b) DO UPDATE SET c = 2;
--! both 21000
INSERT INTO k2 VALUES (1, 'x', 1), (2, 'x', 1), (1, 'x', 5) ON CONFLICT (b, a) DO UPDATE SET c = 2;
INSERT INTO k2 SELECT 1, b, c + 1 FROM k2 ON CONFLICT (a, b) DO UPDATE SET c = excluded.c;
SELECT * FROM k2 ORDER BY a, b;
CREATE TABLE excluded (key int PRIMARY KEY, data text);
--! both 42P09
INSERT INTO excluded VALUES (1, '2') ON CONFLICT (key) DO UPDATE SET data = excluded.data RETURNING *;
INSERT INTO excluded AS e VALUES (1, '2') ON CONFLICT (key) DO UPDATE SET data = excluded.data RETURNING *;
UPDATE k SET s = 'w' WHERE id = (SELECT min(id) FROM k) RETURNING id, s;
UPDATE k2 SET c = c + 1, a = a + 100 RETURNING *;
UPDATE k2 SET c = v.c FROM (VALUES (101, 7)) AS v(a, c) WHERE k2.a = v.a;
SELECT * FROM k2 ORDER BY a, b;
--! refused 0A000
DELETE FROM k2 USING (VALUES ('x')) AS v(b) WHERE k2.b = v.b RETURNING k2.a, v.b;
--! both 42803
DELETE FROM k WHERE id > 3 RETURNING count(*);
INSERT INTO k2 VALUES (1, 'q');
--! both 42601
INSERT INTO k2 VALUES (1, 'q', 2, 3);
--! both 42701
INSERT INTO k2 (a, a) VALUES (1, 2);
INSERT INTO k2 (a, b) VALUES (2.5, 1);
INSERT INTO k2 (a, b) VALUES ('7', 1.50);
--! both 22P02
INSERT INTO k2 (a, b) VALUES ('x', 'y');
--! both 22003
INSERT INTO k2 (a, b, c) VALUES (3000000000, 'y', 1);
--! both 23502
INSERT INTO k2 DEFAULT VALUES;
INSERT INTO k2 (a, b, c) SELECT 8, 'y', 1.5 RETURNING c;
UPDATE k2 SET c = 2.5 WHERE a = 8 RETURNING c;
--! both 22P02
UPDATE k2 SET c = 'x' WHERE a = 8;
--! both 42804
UPDATE k2 SET c = '9'::text WHERE a = 8;
--! both 42703
UPDATE k2 SET nothing = 1;
UPDATE k2 SET (c, b) = (5, 'r') WHERE a = 8 RETURNING *;
--! refused 0A000
UPDATE k2 SET (c, b) = (SELECT 6, 's') WHERE a = 8 RETURNING *;
UPDATE k2 SET c = DEFAULT WHERE a = 8 RETURNING *;
SELECT a, b FROM k2 WHERE b = '1.50' ORDER BY a;
CREATE TABLE fks (x int, y int);
CREATE UNIQUE INDEX ON fks (x, y);
--! refused 0A000
ALTER TABLE fks ADD CONSTRAINT fk FOREIGN KEY (y, x) REFERENCES fks (x, y);
