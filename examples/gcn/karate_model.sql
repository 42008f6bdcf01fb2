-- A graph convolutional network on Zachary's karate club (W. W. Zachary, J. Anthropological Research 33, 1977):
-- 34 members, 78 friendships, and the two clubs into which they split. Only the labels of the two leaders
-- (0 and 33) are known in training; the network has to find the club of the other 32.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif

CREATE TABLE friend (a int, b int, PRIMARY KEY (a, b));
INSERT INTO friend
SELECT a, unnest(string_to_array(bs, ' ')::int[])
FROM (VALUES (0, '1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31'), (1, '2 3 7 13 17 19 21 30'), (2, '3 7 8 9 13 27 28 32'),
             (3, '7 12 13'), (4, '6 10'), (5, '6 10 16'), (6, '16'), (8, '30 32 33'), (9, '33'), (13, '33'),
             (14, '32 33'), (15, '32 33'), (18, '32 33'), (19, '33'), (20, '32 33'), (22, '32 33'),
             (23, '25 27 29 32 33'), (24, '25 27 31'), (25, '31'), (26, '29 33'), (27, '33'), (28, '31 33'),
             (29, '32 33'), (30, '32 33'), (31, '32 33'), (32, '33')) AS l(a, bs);

CREATE TABLE member (node int PRIMARY KEY, club int, leader bool);
INSERT INTO member
SELECT n, (n NOT IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21))::int, n IN (0, 33)
FROM generate_series(0, 33) AS g(n);

-- D^-1/2 (A + I) D^-1/2: both directions of each friendship and a self loop, weighted by the degrees
CREATE TABLE adj (src int, dst int, weight real, PRIMARY KEY (src, dst));
WITH e AS (SELECT a AS src, b AS dst FROM friend UNION ALL SELECT b, a FROM friend UNION ALL SELECT node, node FROM member),
     d AS (SELECT src AS node, count(*) AS degree FROM e GROUP BY src)
INSERT INTO adj
SELECT e.src, e.dst, 1 / sqrt(s.degree * t.degree)
FROM e JOIN d AS s ON s.node = e.src JOIN d AS t ON t.node = e.dst;

-- the parameters: 34 x 4, one row for each input (the members themselves), and 4 x 2 as one chunk
CREATE TABLE w0 (node int PRIMARY KEY, v real[]);
CREATE TABLE w1 (id int PRIMARY KEY DEFAULT 1, v real[][]);
INSERT INTO w0 SELECT node, glorot_uniform(ARRAY[4], :seed, ARRAY[0, node], 34, 4) FROM member;
INSERT INTO w1 (v) SELECT glorot_uniform(ARRAY[4, 2], :seed, ARRAY[1], 4, 2);

CREATE VIEW hidden AS
SELECT a.dst AS node, relu(sum(a.weight * w0.v)) AS h
FROM adj a JOIN w0 ON w0.node = a.src
GROUP BY a.dst;

CREATE VIEW logits AS
SELECT a.dst AS node, sum(a.weight * matmul(hidden.h, w1.v)) AS z
FROM adj a JOIN hidden ON hidden.node = a.src CROSS JOIN w1
GROUP BY a.dst;

CREATE VIEW loss AS
SELECT avg(cross_entropy(z, club)) AS loss FROM logits JOIN member USING (node) WHERE leader;

CREATE VIEW accuracy AS
SELECT avg((argmax(z) = club)::int) AS accuracy FROM logits JOIN member USING (node) WHERE NOT leader;
