-- DeepFM for click prediction: weights of features, products of pairs of their vectors, and a network over all vectors.
-- Elsewhere: DeepFM, factorisation machines; DeepCTR.
-- Figure: log loss of the test, beside that of always saying the mean.
SET search_path = public, relgrad;
CREATE TABLE click (id int PRIMARY KEY, clicked int);
CREATE TABLE feature (id int, field int, value int, PRIMARY KEY (id, field)); -- three fields of ten values
INSERT INTO feature SELECT id, field, 10 * field + random_int(10, 1, ARRAY[id, field])
FROM generate_series(1, 2000) AS g(id) CROSS JOIN generate_series(0, 2) AS f(field);
INSERT INTO click -- a value of one field decides what another is worth
SELECT id, ((random_uniform(ARRAY[1], 2, ARRAY[id]))[1] < sigmoid(3 * sin(sum(value) FILTER (WHERE field < 2)) + 1.5 * cos(sum(value))))::int
FROM feature GROUP BY id;

CREATE TABLE embedding (value int PRIMARY KEY, w real, v real[]);
INSERT INTO embedding SELECT i, 0, random_normal(ARRAY[8], 3, ARRAY[i]) / 3 FROM generate_series(0, 29) AS g(i);
CREATE TABLE layer (id int PRIMARY KEY, w1 real[][], b1 real[], w2 real[], b real);
INSERT INTO layer VALUES (1, glorot_uniform(ARRAY[24, 16], 4, ARRAY[1], 24, 16), zeros(ARRAY[16]), random_normal(ARRAY[16], 4, ARRAY[2]) / 4, 0);

CREATE VIEW machine AS -- half of the square of the sum less the sum of squares is the sum over pairs
SELECT id, sum(w) + 0.5 * (sqnorm(sum(v)) - sum(sqnorm(v))) AS z, reshape(array_agg(v ORDER BY field), ARRAY[24]) AS v
FROM feature JOIN embedding USING (value) GROUP BY id;
CREATE VIEW score AS SELECT m.id, clicked, z + dot(relu(matmul(m.v, w1) + b1), w2) + b AS z
FROM machine m JOIN click USING (id) CROSS JOIN layer;
CREATE VIEW loss AS SELECT avg(bce_with_logits(z, clicked)) AS loss FROM score WHERE id <= 1600;

CALL train('loss', ARRAY['embedding', 'layer'], lr => 0.02, epochs => 120, weight_decay => 2e-3);
SELECT round(avg(bce_with_logits(z, clicked))::numeric, 2) AS deepfm, round(avg(bce_with_logits(ln(p / (1 - p)), clicked))::numeric, 2) AS mean
FROM score CROSS JOIN (SELECT avg(clicked)::float8 AS p FROM click WHERE id <= 1600) m WHERE id > 1600;
