-- A variational autoencoder: the code is a normal distribution, from which each step draws; a penalty keeps it near the standard one.
-- Elsewhere: VAE (Kingma and Welling); Pyro's tutorial of that name.
-- Figure: the spread of codes (near 1, so that codes drawn at random decode to likely points), and the error of decoded means.
SET search_path = public, relgrad;
CREATE TABLE point (id int PRIMARY KEY, x real[]);
INSERT INTO point SELECT id, ARRAY[cos(3 * u), sin(3 * u), 2 * u - 1, (2 * u - 1) ^ 2]
FROM (SELECT id, (random_uniform(ARRAY[1], 1, ARRAY[id]))[1] AS u FROM generate_series(1, 400) AS g(id)) s;

CREATE TABLE net (id int PRIMARY KEY, w1 real[][], b1 real[], m real[][], v real[][], w2 real[][], b2 real[], w3 real[][], b3 real[]);
INSERT INTO net VALUES (1, glorot_uniform(ARRAY[4, 32], 2, ARRAY[1], 4, 32), zeros(ARRAY[32]),
                        glorot_uniform(ARRAY[32, 1], 2, ARRAY[2], 32, 1), zeros(ARRAY[32, 1]), glorot_uniform(ARRAY[1, 32], 2, ARRAY[4], 1, 32),
                        zeros(ARRAY[32]), glorot_uniform(ARRAY[32, 4], 2, ARRAY[5], 32, 4), zeros(ARRAY[4]));

CREATE VIEW code AS SELECT p.id, x, matmul(h, m) AS mean, matmul(h, v) AS log_var
FROM (SELECT p.id, x, tanh(matmul(x, w1) + b1) AS h FROM point p CROSS JOIN net) p CROSS JOIN net;
CREATE VIEW draw AS SELECT id, mean + exp(log_var / 2) * random_normal(ARRAY[1], current_seed(), ARRAY[current_step(), id]) AS z FROM code;
CREATE VIEW loss AS
SELECT avg(sqnorm(x - matmul(tanh(matmul(z, w2) + b2), w3) - b3) / 0.1
           + sum_elements(mean * mean + exp(log_var) - log_var - 1)) / 2 AS loss
FROM code JOIN draw USING (id) CROSS JOIN net;

CALL train('loss', ARRAY['net'], lr => 0.01, schedule => 'cosine', epochs => 400, seed => 1);
SELECT round(sqrt(avg(mean[1] ^ 2 + exp(log_var[1])))::numeric, 1) AS spread,
       round(avg(sqnorm(x - matmul(tanh(matmul(mean, w2) + b2), w3) - b3))::numeric, 2) AS error FROM code CROSS JOIN net;
