-- The graph convolutional network of Kipf and Welling (ICLR 2017) on Cora: 2,708 papers, their citations and
-- words, 7 subjects, 140 known labels. The folder :data/cora holds nodes, adj_norm (D^-1/2 (A + I) D^-1/2) and
-- features as gzipped CSV.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\cd :data
CREATE TABLE node (node int PRIMARY KEY, label int, split text);
CREATE TABLE adj (src int, dst int, weight real, PRIMARY KEY (src, dst));
CREATE TABLE raw_feature (node int, feature int, value real, PRIMARY KEY (node, feature));
\copy node FROM PROGRAM 'gzip -dc cora/nodes.csv.gz' WITH (FORMAT csv, HEADER)
\copy adj FROM PROGRAM 'gzip -dc cora/adj_norm.csv.gz' WITH (FORMAT csv, HEADER)
\copy raw_feature FROM PROGRAM 'gzip -dc cora/features.csv.gz' WITH (FORMAT csv, HEADER)

-- each paper's features sum to 1
CREATE TABLE feature (node int, feature int, value real, PRIMARY KEY (node, feature));
INSERT INTO feature SELECT node, feature, value / sum(value) OVER (PARTITION BY node) FROM raw_feature;

-- the parameters: 1433 x 16, one row for each feature, and 16 x 7 as one chunk
CREATE TABLE w0 (feature int PRIMARY KEY, v real[]);
CREATE TABLE w1 (id int PRIMARY KEY DEFAULT 1, v real[][]);
INSERT INTO w0 SELECT f, glorot_uniform(ARRAY[16], :seed, ARRAY[0, f], 1433, 16) FROM generate_series(0, 1432) AS g(f);
INSERT INTO w1 (v) SELECT glorot_uniform(ARRAY[16, 7], :seed, ARRAY[1], 16, 7);

-- X W0, with dropout on the sparse input
CREATE VIEW xw AS
SELECT f.node, sum(dropout(f.value, 0.5) * w0.v) AS v
FROM feature f JOIN w0 USING (feature)
GROUP BY f.node;

CREATE VIEW hidden AS
SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h
FROM adj a JOIN xw ON xw.node = a.src
GROUP BY a.dst;

CREATE VIEW logits AS
SELECT a.dst AS node, sum(a.weight * matmul(dropout(hidden.h, 0.5), w1.v)) AS z
FROM adj a JOIN hidden ON hidden.node = a.src CROSS JOIN w1
GROUP BY a.dst;

CREATE VIEW loss AS
SELECT avg(cross_entropy(z, label)) + 5e-4 * 0.5 * (SELECT sum(sqnorm(v)) FROM w0) AS loss
FROM logits JOIN node USING (node) WHERE split = 'train';

CREATE VIEW validation AS
SELECT avg(cross_entropy(z, label)) AS loss FROM logits JOIN node USING (node) WHERE split = 'val';

CREATE VIEW test_accuracy AS
SELECT avg((argmax(z) = label)::int) AS accuracy FROM logits JOIN node USING (node) WHERE split = 'test';
