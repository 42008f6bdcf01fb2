-- Points with a feature vector and a label, 0 or 1.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE point (id int PRIMARY KEY, x real[], label int);
\copy point FROM 'point.npz' WITH (FORMAT npz)
