-- What transe.sql and transr.sql share: the data, the loss, the ranks. Each of the two makes its parameters, among them
-- relation(id, v), and the view place(r, id, v): where relation r sees entity id. A triple (h, r, t) is likely where
-- place(h) + v(r) is near place(t).
--
-- CoDEx-S (Safavi and Koutra, EMNLP 2020) has 2,034 entities of Wikidata and 42 relations. The folder :data/codex_s holds
-- its triples (h, r, t) as gzipped CSV: 32,888 to train with, 1,827 to choose settings by, 1,828 for the test.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\if :{?epochs}
\else
\set epochs 10
\endif
\if :{?questions}
\else
\set questions test_triple
\endif
\cd :data
CREATE TABLE triple (h int, r int, t int, PRIMARY KEY (h, r, t));
CREATE TABLE valid_triple (LIKE triple INCLUDING ALL);
CREATE TABLE test_triple (LIKE triple INCLUDING ALL);
\copy triple FROM PROGRAM 'gzip -dc codex_s/train.csv.gz' WITH (FORMAT csv, HEADER)
\copy valid_triple FROM PROGRAM 'gzip -dc codex_s/valid.csv.gz' WITH (FORMAT csv, HEADER)
\copy test_triple FROM PROGRAM 'gzip -dc codex_s/test.csv.gz' WITH (FORMAT csv, HEADER)

-- 16 wrong triples for each true one, drawn anew at each step: at odd steps any entity stands for the head, at even ones
-- for the tail
CREATE VIEW wrong AS
SELECT h, r, t, k, CASE WHEN current_step() % 2 = 1 THEN other ELSE h END AS h2, CASE WHEN current_step() % 2 = 1 THEN t ELSE other END AS t2
FROM (SELECT h, r, t, k, random_int(2034, current_seed(), ARRAY[current_step(), h, r, t, k]) AS other
      FROM triple CROSS JOIN generate_series(1, 16) AS g(k)) d;

-- how far a triple is from being likely: the true ones and the wrong ones
CREATE VIEW true_distance AS
SELECT b.h, b.r, b.t, norm(h.v + r.v - t.v) AS d
FROM triple b JOIN place h ON h.r = b.r AND h.id = b.h JOIN relation r ON r.id = b.r JOIN place t ON t.r = b.r AND t.id = b.t;
CREATE VIEW wrong_distance AS
SELECT b.h, b.r, b.t, b.k, norm(h.v + r.v - t.v) AS d
FROM wrong b JOIN place h ON h.r = b.r AND h.id = b.h2 JOIN relation r ON r.id = b.r JOIN place t ON t.r = b.r AND t.id = b.t2;

-- the cross-entropy of the true triple among its wrong ones, in a softmax over -2 d
CREATE VIEW loss AS
SELECT avg(ln(1 + others)) AS loss
FROM (SELECT h, r, t, sum(exp(2 * (p.d - n.d))) AS others
      FROM true_distance p JOIN wrong_distance n USING (h, r, t) GROUP BY h, r, t) x;

-- Filtered ranks. Of each triple of :questions the tail is asked for, then the head, among all entities but those that make
-- another known triple. Each of the others adds 1 to the rank where it is nearer than the answer, 1/2 where it is as near:
-- sign is 1, 0 or -1. Distances are squared, and chunks of one element.
CREATE TABLE known (h int, r int, t int, PRIMARY KEY (h, r, t));
INSERT INTO known SELECT * FROM triple UNION SELECT * FROM valid_triple UNION SELECT * FROM test_triple;
CREATE VIEW tail_rank AS
SELECT q.h, q.r, q.t, count(*) AS others, sum(sign(sum_elements(square(h.v + r.v - t.v), 1) - sum_elements(square(h.v + r.v - e.v), 1))) AS nearer
FROM :questions q JOIN place h ON h.r = q.r AND h.id = q.h JOIN relation r ON r.id = q.r JOIN place t ON t.r = q.r AND t.id = q.t
JOIN place e ON e.r = q.r LEFT JOIN known k ON k.h = q.h AND k.r = q.r AND k.t = e.id
WHERE k.h IS NULL
GROUP BY q.h, q.r, q.t;
CREATE VIEW head_rank AS
SELECT q.h, q.r, q.t, count(*) AS others, sum(sign(sum_elements(square(h.v + r.v - t.v), 1) - sum_elements(square(e.v + r.v - t.v), 1))) AS nearer
FROM :questions q JOIN place h ON h.r = q.r AND h.id = q.h JOIN relation r ON r.id = q.r JOIN place t ON t.r = q.r AND t.id = q.t
JOIN place e ON e.r = q.r LEFT JOIN known k ON k.h = e.id AND k.r = q.r AND k.t = q.t
WHERE k.h IS NULL
GROUP BY q.h, q.r, q.t;
CREATE VIEW rank AS
SELECT h, r, t, 1 + (others + nearer[1]) / 2 AS rank FROM tail_rank UNION ALL SELECT h, r, t, 1 + (others + nearer[1]) / 2 FROM head_rank;
