-- Non-negative factorisation of a sparse matrix of ratings.
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS taste, trait CASCADE;
CREATE TABLE taste (usr int PRIMARY KEY, v real[]);
CREATE TABLE trait (item int PRIMARY KEY, v real[]);
\copy taste FROM 'taste.npz' WITH (FORMAT npz)
\copy trait FROM 'trait.npz' WITH (FORMAT npz)

CREATE VIEW loss AS
SELECT avg((r.rating - dot(u.v, i.v)) ^ 2) AS loss FROM rating r JOIN taste u USING (usr) JOIN trait i USING (item);

CALL train('loss', ARRAY['taste', 'trait'], optimizer => 'sgd', lr => 10, nonnegative => ARRAY['taste', 'trait'], epochs => :epochs, max_seconds => :seconds);
