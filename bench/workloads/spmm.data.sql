-- The entries of a graph's normalised adjacency matrix, and what the sums at its nodes shall be.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE adj (dst int, src int, weight real, PRIMARY KEY (dst, src));
CREATE TABLE goal (node int PRIMARY KEY, y real[]);
\copy adj FROM 'adj.npz' WITH (FORMAT npz)
\copy goal FROM 'goal.npz' WITH (FORMAT npz)
