-- Graph convolution: a few nodes are labelled, the others learn from their neighbours.
-- Elsewhere: GCN (Kipf and Welling); PyTorch Geometric GCNConv. On real data: examples/gcn.
-- Figure: the share of unlabelled nodes that are classified rightly; 8 of 80 have labels.
SET search_path = public, relgrad;
CREATE TABLE node (id int PRIMARY KEY, x real[], kind int, labelled boolean);
INSERT INTO node SELECT id, random_normal(ARRAY[8], 1, ARRAY[id]) + one_hot(id % 4, 8), id % 4, id < 8 FROM generate_series(0, 79) AS g(id);
CREATE TABLE link (a int, b int, PRIMARY KEY (a, b));
INSERT INTO link SELECT DISTINCT least(a, b), greatest(a, b)
FROM (SELECT a, CASE WHEN k < 3 THEN a % 4 + 4 * random_int(20, 2, ARRAY[a, k]) ELSE random_int(80, 2, ARRAY[a, k]) END AS b
      FROM generate_series(0, 79) AS g(a) CROSS JOIN generate_series(0, 3) AS h(k)) e WHERE a <> b;
CREATE TABLE edge (src int, dst int, w real, PRIMARY KEY (src, dst)); -- both directions and loops, normalised
INSERT INTO edge WITH e AS (SELECT a, b FROM link UNION ALL SELECT b, a FROM link UNION ALL SELECT id, id FROM node),
                      degree AS (SELECT a, count(*) AS n FROM e GROUP BY a)
SELECT e.a, e.b, 1 / sqrt(d.n * f.n) FROM e JOIN degree d ON d.a = e.a JOIN degree f ON f.a = e.b;

CREATE TABLE layer (id int PRIMARY KEY, w1 real[][], w2 real[][]);
INSERT INTO layer VALUES (1, glorot_uniform(ARRAY[8, 16], 3, ARRAY[1], 8, 16), glorot_uniform(ARRAY[16, 4], 3, ARRAY[2], 16, 4));

CREATE VIEW hidden AS SELECT dst AS id, relu(sum(e.w * matmul(x, w1))) AS h
FROM edge e JOIN node n ON n.id = e.src CROSS JOIN layer GROUP BY dst;
CREATE VIEW score AS SELECT dst AS id, sum(e.w * matmul(h, w2)) AS z
FROM edge e JOIN hidden n ON n.id = e.src CROSS JOIN layer GROUP BY dst;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, kind)) AS loss FROM score JOIN node USING (id) WHERE labelled;

CALL train('loss', ARRAY['layer'], lr => 0.02, epochs => 100, weight_decay => 5e-3);
SELECT round(avg((argmax(z) = kind)::int), 2) AS accuracy FROM score JOIN node USING (id) WHERE NOT labelled;
