-- Poisson regression: counts whose rate is the exponential of a linear form.
-- Elsewhere: scikit-learn PoissonRegressor; R glm(family = poisson); statsmodels GLM.
-- Figure: the coefficients. The truth is 0.5 and 0.8.
SET search_path = public, relgrad;
CREATE TABLE visit (id int PRIMARY KEY, x real, n int);
INSERT INTO visit -- the sum of many rare events is nearly Poisson's
SELECT id, x, sum(((random_uniform(ARRAY[1], 2, ARRAY[id, k]))[1] < exp(0.5 + 0.8 * x) / 100)::int)
FROM (SELECT id, (random_normal(ARRAY[1], 1, ARRAY[id]))[1] AS x FROM generate_series(1, 500) AS g(id)) s
CROSS JOIN generate_series(1, 100) AS h(k) GROUP BY id, x;

CREATE TABLE model (id int PRIMARY KEY, a real, w real);
INSERT INTO model VALUES (1, 0, 0);

CREATE VIEW rate AS SELECT v.id, n, a + w * x AS z FROM visit v CROSS JOIN model;
CREATE VIEW loss AS SELECT avg(exp(z) - n * z) AS loss FROM rate; -- -ln of the probability, without ln n!

CALL train('loss', ARRAY['model'], lr => 0.05, schedule => 'cosine', epochs => 200);
SELECT round(a::numeric, 2) AS a, round(w::numeric, 2) AS w FROM model;
