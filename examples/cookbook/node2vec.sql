-- Vectors of a graph's nodes from random walks: nodes that walks visit together lie together.
-- Elsewhere: DeepWalk, node2vec (with p = q = 1).
-- Figure: the share of nodes whose nearest node is of the same community, which training does not see; by chance 0.24.
SET search_path = public, relgrad;
CREATE TABLE edge (a int, k int, b int, PRIMARY KEY (a, k)); -- neighbour k of node a; 8 each, 6 of them of its community
INSERT INTO edge SELECT a, k, CASE WHEN k < 6 THEN a % 4 + 4 * random_int(20, 1, ARRAY[a, k]) ELSE random_int(80, 1, ARRAY[a, k]) END
FROM generate_series(0, 79) AS g(a) CROSS JOIN generate_series(0, 7) AS h(k);

CREATE TABLE node (id int PRIMARY KEY, v real[]);
CREATE TABLE context (id int PRIMARY KEY, v real[]);
INSERT INTO node SELECT id, random_normal(ARRAY[8], 2, ARRAY[id]) / 4 FROM generate_series(0, 79) AS g(id);
INSERT INTO context SELECT id, zeros(ARRAY[8]) FROM node;

CREATE VIEW walk1 AS -- ten walks of two steps from each node, anew at each step of training
SELECT a, w, b FROM edge JOIN generate_series(1, 10) AS g(w) ON edge.k = random_int(8, current_seed(), ARRAY[current_step(), a, w]);
CREATE VIEW walk2 AS
SELECT x.a, w, e.b FROM walk1 x JOIN edge e ON e.a = x.b AND e.k = random_int(8, current_seed(), ARRAY[-current_step(), x.a, w]);
CREATE VIEW pair AS SELECT a, w, 1 AS n, b FROM walk1 UNION ALL SELECT a, w, 2, b FROM walk2;
CREATE VIEW loss AS
SELECT avg(softplus(-dot(i.v, o.v)) + 2 * softplus(dot(i.v, x.v))) AS loss
FROM (SELECT a, w, n, b, random_int(80, current_seed(), ARRAY[current_step(), a, w, n, 7]) AS other FROM pair) p
JOIN node i ON i.id = p.a JOIN context o ON o.id = p.b JOIN context x ON x.id = p.other;

CALL train('loss', ARRAY['node', 'context'], lr => 0.03, epochs => 100, seed => 1);
SELECT round(avg((a.id % 4 = (SELECT b.id FROM node b WHERE b.id <> a.id
                              ORDER BY dot(l2_normalize(a.v), l2_normalize(b.v)) DESC LIMIT 1) % 4)::int), 2) AS "same community"
FROM node a;
