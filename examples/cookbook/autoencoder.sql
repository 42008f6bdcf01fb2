-- An autoencoder: ten numbers go through two, and come out again.
-- Elsewhere: the usual autoencoder; PCA when it is linear.
-- Figure: the share of the variance that is lost.
SET search_path = public, relgrad;
CREATE TABLE point (id int PRIMARY KEY, x real[]);
INSERT INTO point -- a curved surface of two dimensions in ten
SELECT id, vector_agg(k, sin(u[1] * (1 + k % 3) + k) + cos(u[2] * (1 + k % 2) + k * k), 10)
FROM (SELECT id, 2 * random_uniform(ARRAY[2], 1, ARRAY[id]) AS u FROM generate_series(1, 500) AS g(id)) s CROSS JOIN generate_series(0, 9) AS h(k)
GROUP BY id;

CREATE TABLE net (id int PRIMARY KEY, w1 real[][], b1 real[], w2 real[][], w3 real[][], b3 real[], w4 real[][], b4 real[]);
INSERT INTO net VALUES (1, glorot_uniform(ARRAY[10, 32], 2, ARRAY[1], 10, 32), zeros(ARRAY[32]),
                        glorot_uniform(ARRAY[32, 2], 2, ARRAY[2], 32, 2), glorot_uniform(ARRAY[2, 32], 2, ARRAY[3], 2, 32),
                        zeros(ARRAY[32]), glorot_uniform(ARRAY[32, 10], 2, ARRAY[4], 32, 10), zeros(ARRAY[10]));

CREATE VIEW code AS SELECT p.id, matmul(tanh(matmul(x, w1) + b1), w2) AS c FROM point p CROSS JOIN net;
CREATE VIEW output AS SELECT c.id, matmul(tanh(matmul(c, w3) + b3), w4) + b4 AS y FROM code c CROSS JOIN net;
CREATE VIEW loss AS SELECT avg(sqnorm(x - y)) AS loss FROM point JOIN output USING (id);

CALL train('loss', ARRAY['net'], lr => 0.01, schedule => 'cosine', epochs => 400);
SELECT round((loss / total)::numeric, 3) AS lost
FROM loss CROSS JOIN (SELECT avg(sqnorm(x - m)) AS total FROM point CROSS JOIN (SELECT avg(x) AS m FROM point) m) t;
