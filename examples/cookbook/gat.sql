-- Graph attention: each node weighs its neighbours by a softmax over what the two look like.
-- Elsewhere: GAT (Velickovic and others); PyTorch Geometric GATConv.
-- Figure: the share of test nodes classified rightly; half of each node's neighbours are noise that attention can leave out.
SET search_path = public, relgrad;
CREATE TABLE node (id int PRIMARY KEY, x real[], kind int);
INSERT INTO node SELECT id, random_normal(ARRAY[8], 1, ARRAY[id]) + one_hot(id % 4, 8) * (CASE WHEN id % 2 = id / 4 % 2 THEN 3 ELSE 0 END), id % 4
FROM generate_series(0, 399) AS g(id);
CREATE TABLE edge (src int, dst int, PRIMARY KEY (src, dst));
INSERT INTO edge SELECT DISTINCT src, dst
FROM (SELECT dst, CASE WHEN k < 4 THEN dst % 4 + 4 * random_int(100, 2, ARRAY[dst, k]) ELSE random_int(400, 2, ARRAY[dst, k]) END AS src
      FROM generate_series(0, 399) AS g(dst) CROSS JOIN generate_series(0, 7) AS h(k)) e;

CREATE TABLE layer (id int PRIMARY KEY, w real[][], src real[], dst real[], b real[]);
INSERT INTO layer VALUES (1, glorot_uniform(ARRAY[8, 4], 3, ARRAY[1], 8, 4), zeros(ARRAY[4]), zeros(ARRAY[4]), zeros(ARRAY[4]));

CREATE VIEW projected AS SELECT n.id, matmul(x, w) AS v FROM node n CROSS JOIN layer;
CREATE VIEW attention AS
SELECT e.src, e.dst, exp(leaky_relu(dot(a.v, l.src) + dot(b.v, l.dst), 0.2)) AS a, a.v
FROM edge e JOIN projected a ON a.id = e.src JOIN projected b ON b.id = e.dst CROSS JOIN layer l;
CREATE VIEW score AS
SELECT t.id, t.v + l.b AS z FROM (SELECT dst AS id, sum(a * v) / sum(a) AS v FROM attention GROUP BY dst) t CROSS JOIN layer l;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, kind)) AS loss FROM score JOIN node USING (id) WHERE id < 300;

CALL train('loss', ARRAY['layer'], lr => 0.03, epochs => 300);
SELECT round(avg((argmax(z) = kind)::int), 2) AS accuracy FROM score JOIN node USING (id) WHERE id >= 300;
