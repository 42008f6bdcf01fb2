-- One layer of a graph convolutional network on a random graph: 2,000 nodes of 10 neighbours each, 64 → 32 units.
CREATE TABLE x (node int PRIMARY KEY, v real[]);
CREATE TABLE edge (src int, dst int, weight real, PRIMARY KEY (src, dst));
CREATE TABLE w (id int PRIMARY KEY, v real[]);
CREATE TABLE goal (node int PRIMARY KEY, v real[]);
INSERT INTO x SELECT i, random_uniform(ARRAY[64], 1, ARRAY[3, i]) FROM generate_series(0, 1999) AS i;
INSERT INTO edge SELECT (i * 7 + j * 131 + j * j * 17) % 2000, i, 0.1 FROM generate_series(0, 1999) AS i, generate_series(1, 10) AS j;
INSERT INTO w VALUES (1, glorot_uniform(ARRAY[64, 32], 1, ARRAY[4], 64, 32));
INSERT INTO goal SELECT i, random_uniform(ARRAY[32], 1, ARRAY[5, i]) FROM generate_series(0, 1999) AS i;
CREATE VIEW layer AS
SELECT e.dst AS node, relu(sum(e.weight * matmul(x.v, w.v))) AS h
FROM edge e JOIN x ON x.node = e.src CROSS JOIN w
GROUP BY e.dst;
CREATE VIEW gcn_loss AS
SELECT avg(sqnorm(l.h - g.v)) AS loss FROM layer l JOIN goal g USING (node);
VACUUM ANALYZE x, edge, w, goal;
