-- A sequence and what the layer shall make of it.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE sequence (id int PRIMARY KEY DEFAULT 1, x real[][], y real[][]);
\copy sequence (x, y) FROM 'sequence.npz' WITH (FORMAT npz, WHOLE)
