-- Facts of a knowledge graph, and for each some wrong tails, drawn anew at each step (or, with drawn = 1, read from a file).
SET search_path = public, relgrad;
\cd :data
CREATE TABLE triple (id int PRIMARY KEY, h int, r int, t int);
\copy triple FROM 'triple.npz' WITH (FORMAT npz)
\if :drawn
CREATE TABLE negative (id int, k int, other int, PRIMARY KEY (id, k));
\copy negative FROM 'wrong.npz' WITH (FORMAT npz)
\else
CREATE VIEW negative AS
SELECT x.id, k, random_int(:entities, current_seed(), ARRAY[current_step(), x.id, k]) AS other
FROM triple x CROSS JOIN generate_series(1, :negatives) AS g(k);
\endif
