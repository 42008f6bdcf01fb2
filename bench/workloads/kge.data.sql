-- Facts of a knowledge graph.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE triple (id int PRIMARY KEY, h int, r int, t int);
\copy triple FROM 'triple.npz' WITH (FORMAT npz)
