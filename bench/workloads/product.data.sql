-- Two matrices in blocks.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE a (i int, j int, v real[][], PRIMARY KEY (i, j));
CREATE TABLE b (LIKE a INCLUDING ALL);
\copy a FROM 'a.npz' WITH (FORMAT npz)
\copy b FROM 'b.npz' WITH (FORMAT npz)
