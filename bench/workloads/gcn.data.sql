-- A citation graph: papers with features and labels, and the entries of its normalised adjacency matrix.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE node (node int PRIMARY KEY, x real[], label int, train boolean);
CREATE TABLE adj (dst int, src int, weight real, PRIMARY KEY (dst, src));
\copy node FROM 'node.npz' WITH (FORMAT npz)
\copy adj FROM 'adj.npz' WITH (FORMAT npz)
