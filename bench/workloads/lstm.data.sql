-- Sequences of vectors, and what is to be said of each at its end.
SET search_path = public, relgrad;
\cd :data
CREATE TABLE token (seq int, t int, x real[], PRIMARY KEY (seq, t));
CREATE TABLE goal (seq int PRIMARY KEY, y real[]);
\copy token FROM 'token.npz' WITH (FORMAT npz)
\copy goal FROM 'goal.npz' WITH (FORMAT npz)
