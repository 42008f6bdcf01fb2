-- A dense matrix in square blocks.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE a (i int, j int, v real[][], PRIMARY KEY (i, j));
\copy a FROM 'a.npz' WITH (FORMAT npz)
