-- Signals on the nodes of a graph whose sums over neighbours are given, by gradient descent: a step is two products with the adjacency matrix.
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS signal CASCADE;
CREATE TABLE signal (node int PRIMARY KEY, v real[]);
\copy signal FROM 'signal.npz' WITH (FORMAT npz)

CREATE VIEW summed AS SELECT a.dst AS node, sum(a.weight * x.v) AS v FROM adj a JOIN signal x ON x.node = a.src GROUP BY a.dst;
CREATE VIEW loss AS SELECT sum(sqnorm(s.v - g.y)) AS loss FROM summed s JOIN goal g USING (node);

CALL train('loss', ARRAY['signal'], optimizer => 'sgd', lr => 0.1, epochs => :epochs, max_seconds => :seconds);
