-- Non-negative factorisation of a dense matrix, a ≈ w·h, by projected gradients (Lin, Neural Computation 2007).
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS w, h CASCADE;
CREATE TABLE w (i int PRIMARY KEY, v real[][]);
CREATE TABLE h (j int PRIMARY KEY, v real[][]);
\copy w FROM 'w.npz' WITH (FORMAT npz)
\copy h FROM 'h.npz' WITH (FORMAT npz)

CREATE VIEW loss AS SELECT sum(sqnorm(a.v - matmul(w.v, h.v))) AS loss FROM a JOIN w USING (i) JOIN h USING (j);

CALL train('loss', ARRAY['w', 'h'], optimizer => 'sgd', lr => 1e-6, nonnegative => ARRAY['w', 'h'], epochs => :epochs, max_seconds => :seconds);
