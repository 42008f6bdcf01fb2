-- A knowledge graph (TransE): a relation is a step from head to tail; what is known is to be nearer than what is drawn.
-- Elsewhere: PyKEEN TransE. With real data, TransR and filtered ranks: examples/kge.
-- Figure: how often the right tail of a fact that was left out is among the first three of 64.
SET search_path = public, relgrad;
CREATE TABLE triple (id int PRIMARY KEY, h int, r int, t int, test boolean); -- towns on a grid of 8 by 8: east, north, north-east
INSERT INTO triple SELECT 64 * r + h, h, r, h + (ARRAY[1, 8, 9])[1 + r], (3 * h + 7 * r) % 10 = 0
FROM generate_series(0, 63) AS g(h) CROSS JOIN generate_series(0, 2) AS f(r) WHERE (r = 1 OR h % 8 < 7) AND (r = 0 OR h < 56);

CREATE TABLE entity (id int PRIMARY KEY, v real[]);
CREATE TABLE relation (id int PRIMARY KEY, v real[]);
INSERT INTO entity SELECT id, random_normal(ARRAY[4], 1, ARRAY[id]) / 4 FROM generate_series(0, 63) AS g(id);
INSERT INTO relation SELECT id, random_normal(ARRAY[4], 2, ARRAY[id]) / 8 FROM generate_series(0, 2) AS g(id);

CREATE VIEW pair AS -- another tail for each fact, twenty times, drawn anew at each step
SELECT id, k, h, r, t, random_int(64, current_seed(), ARRAY[current_step(), id, k]) AS other
FROM triple CROSS JOIN generate_series(1, 20) AS g(k) WHERE NOT test;
CREATE VIEW loss AS
SELECT avg(relu(0.5 + sqnorm(h.v + r.v - t.v) - sqnorm(h.v + r.v - o.v))) AS loss
FROM pair p JOIN entity h ON h.id = p.h JOIN relation r ON r.id = p.r JOIN entity t ON t.id = p.t JOIN entity o ON o.id = p.other;

CALL train('loss', ARRAY['entity', 'relation'], lr => 0.03, epochs => 500, seed => 1);
CREATE VIEW distance AS SELECT x.id, e.id AS tail, sqnorm(h.v + r.v - e.v) AS d
FROM triple x JOIN entity h ON h.id = x.h JOIN relation r ON r.id = x.r CROSS JOIN entity e WHERE test;
SELECT round(avg((place <= 3)::int), 2) AS "hits at 3"
FROM (SELECT id, tail, rank() OVER (PARTITION BY id ORDER BY d) AS place FROM distance) d JOIN triple x USING (id) WHERE d.tail = x.t;
