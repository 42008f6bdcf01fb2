-- relgrad run -v data=FOLDER [-v seed=N] sampled.sql: the network of cora_model.sql, trained on samples of the graph.
-- A step reads 70 of the 140 labelled papers, at most 5 neighbours of each, and at most 5 neighbours of those. Validation
-- and test use the whole graph.
\ir cora_model.sql

-- neighbours of dst in random order, n = 0 … degree - 1; dst itself comes last
CREATE TABLE neighbour (dst int, n int, degree int, src int, weight real, PRIMARY KEY (dst, n));
INSERT INTO neighbour
SELECT dst, row_number() OVER (PARTITION BY dst ORDER BY src = dst, random_int(1000000, :seed, ARRAY[2, src, dst]), src) - 1,
       count(*) OVER (PARTITION BY dst) - 1, src, weight
FROM adj;
-- a stretch of 5 from a place that is drawn anew at each step; weights grow so that the expected sum stays. Layers draw
-- by themselves
CREATE VIEW sample1 AS
SELECT dst, n, src, CASE WHEN src = dst THEN weight ELSE weight * GREATEST(degree / 5.0, 1) END AS weight
FROM neighbour
WHERE src = dst OR (n + random_int(degree, current_seed(), ARRAY[1, current_step(), dst])) % degree < 5;
CREATE VIEW sample2 AS
SELECT dst, n, src, CASE WHEN src = dst THEN weight ELSE weight * GREATEST(degree / 5.0, 1) END AS weight
FROM neighbour
WHERE src = dst OR (n + random_int(degree, current_seed(), ARRAY[2, current_step(), dst])) % degree < 5;

CREATE VIEW sampled_hidden AS
SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h FROM sample1 a JOIN xw ON xw.node = a.src GROUP BY a.dst;
CREATE VIEW sampled_logits AS
SELECT a.dst AS node, sum(a.weight * matmul(dropout(hidden.h, 0.5), w1.v)) AS z
FROM sample2 a JOIN sampled_hidden hidden ON hidden.node = a.src CROSS JOIN w1
GROUP BY a.dst;
CREATE VIEW train_node AS SELECT node, label FROM node WHERE split = 'train';
CREATE VIEW sampled_loss AS
SELECT avg(cross_entropy(z, label)) + 5e-4 * 0.5 * (SELECT sum(sqnorm(v)) FROM w0) AS loss
FROM sampled_logits JOIN train_node USING (node);

CALL train('sampled_loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.01, epochs => 100, seed => :seed,
           batch => 'train_node', batch_size => 70, validate => 'validation', every => 5);
SELECT round(accuracy, 4) AS "test accuracy" FROM test_accuracy;
