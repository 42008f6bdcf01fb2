-- A random walk, whose rows lie in random order.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE walk (k int PRIMARY KEY, y real);
\copy walk FROM 'walk.npz' WITH (FORMAT npz)
