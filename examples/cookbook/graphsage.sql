-- GraphSAGE: a node's own vector and the mean of four neighbours drawn anew at each step; works for nodes seen later.
-- Elsewhere: GraphSAGE (Hamilton and others); PyTorch Geometric SAGEConv. On real data: examples/gcn/sampled.sql.
-- Figure: the share of nodes that came after training and are classified rightly.
SET search_path = public, relgrad;
CREATE TABLE node (id int PRIMARY KEY, x real[], kind int);
INSERT INTO node SELECT id, random_normal(ARRAY[8], 1, ARRAY[id]) + one_hot(id % 4, 8), id % 4 FROM generate_series(0, 199) AS g(id);
CREATE TABLE neighbour (id int, k int, other int, PRIMARY KEY (id, k)); -- ten each, eight of the same kind
INSERT INTO neighbour SELECT id, k, CASE WHEN k < 8 THEN id % 4 + 4 * random_int(40, 2, ARRAY[id, k]) ELSE random_int(160, 2, ARRAY[id, k]) END
FROM node CROSS JOIN generate_series(0, 9) AS h(k);

CREATE TABLE layer (id int PRIMARY KEY, own real[][], mean real[][], b real[]);
INSERT INTO layer VALUES (1, glorot_uniform(ARRAY[8, 4], 3, ARRAY[1], 8, 4), glorot_uniform(ARRAY[8, 4], 3, ARRAY[2], 8, 4), zeros(ARRAY[4]));

CREATE VIEW sample AS
SELECT n.id, s, n.other FROM neighbour n JOIN generate_series(1, 4) AS g(s)
ON n.k = random_int(10, current_seed(), ARRAY[current_step(), n.id, s]) WHERE n.id < 160;
CREATE VIEW loss AS
SELECT avg(cross_entropy(z, kind)) AS loss
FROM (SELECT a.id, a.kind, matmul(a.x, own) + matmul(m.x, mean) + b AS z
      FROM node a JOIN (SELECT s.id, avg(o.x) AS x FROM sample s JOIN node o ON o.id = s.other GROUP BY s.id) m USING (id) CROSS JOIN layer) q;

CALL train('loss', ARRAY['layer'], lr => 0.05, epochs => 100, seed => 1);
SELECT round(avg((argmax(z) = kind)::int), 2) AS "accuracy on new nodes"
FROM (SELECT a.id, a.kind, matmul(a.x, own) + matmul(m.x, mean) + b AS z
      FROM node a JOIN (SELECT n.id, avg(o.x) AS x FROM neighbour n JOIN node o ON o.id = n.other GROUP BY n.id) m USING (id)
      CROSS JOIN layer WHERE a.id >= 160) q;
