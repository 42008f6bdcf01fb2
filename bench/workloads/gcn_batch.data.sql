-- The citation graph, the neighbours of each paper in a list, n = 0 … degree - 1, and what a step draws.
\ir gcn.data.sql
CREATE TABLE neighbour (dst int, n int, degree int, src int, PRIMARY KEY (dst, n));
INSERT INTO neighbour
SELECT dst, row_number() OVER (PARTITION BY dst ORDER BY src) - 1, count(*) OVER (PARTITION BY dst), src FROM adj;
-- a stretch of a node's neighbours, from a place that is drawn anew for each layer; all of them where there are no more
CREATE VIEW sample1 AS
SELECT dst, n, src, 1.0 / LEAST(degree, :fanout) AS weight FROM neighbour
WHERE (n + random_int(degree, current_seed(), ARRAY[1, current_step(), dst])) % degree < :fanout;
CREATE VIEW sample2 AS
SELECT dst, n, src, 1.0 / LEAST(degree, :fanout) AS weight FROM neighbour
WHERE (n + random_int(degree, current_seed(), ARRAY[2, current_step(), dst])) % degree < :fanout;
CREATE VIEW train_node AS SELECT node, label FROM node WHERE train;
