-- Negative binomial regression: counts that vary more than Poisson's, by a dispersion r that is trained as well.
-- Elsewhere: R MASS::glm.nb; statsmodels NegativeBinomial.
-- Figure: coefficients and dispersion. The truth is 1, 0.5 and r = 2.
SET search_path = public, relgrad;
CREATE TABLE claim (id int PRIMARY KEY, x real, n int);
INSERT INTO claim -- Poisson counts, their rates multiplied by the mean of two exponential numbers
SELECT id, x, sum(((random_uniform(ARRAY[1], 2, ARRAY[id, k]))[1] < rate / 200)::int)
FROM (SELECT id, x, exp(1 + 0.5 * x) * (-ln(u[1] * u[2])) / 2 AS rate
      FROM (SELECT id, (random_normal(ARRAY[1], 1, ARRAY[id]))[1] AS x, random_uniform(ARRAY[2], 3, ARRAY[id]) AS u
            FROM generate_series(1, 500) AS g(id)) s) t
CROSS JOIN generate_series(1, 200) AS h(k) GROUP BY id, x;

CREATE TABLE model (id int PRIMARY KEY, a real, w real, log_r real);
INSERT INTO model VALUES (1, 0, 0, 0);

CREATE VIEW likelihood AS
SELECT c.id, lgamma(n + r) - lgamma(r) - lgamma(n + 1) + r * ln(r / (r + mu)) + n * ln(mu / (r + mu)) AS l
FROM (SELECT c.id, n, exp(a + w * x) AS mu, exp(log_r) AS r FROM claim c CROSS JOIN model) c;
CREATE VIEW loss AS SELECT -avg(l) AS loss FROM likelihood;

CALL train('loss', ARRAY['model'], lr => 0.05, schedule => 'cosine', epochs => 300);
SELECT round(a::numeric, 2) AS a, round(w::numeric, 2) AS w, round(exp(log_r)::numeric, 1) AS r FROM model;
