-- Images as vectors, with their class.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE image (id int PRIMARY KEY, x real[], label int);
\copy image FROM 'image.npz' WITH (FORMAT npz)
