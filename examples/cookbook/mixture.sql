-- A mixture of Gaussians, trained on the likelihood itself: weights, means and spreads of three clusters.
-- Elsewhere: scikit-learn GaussianMixture (which uses EM).
-- Figure: the clusters. The truth is 0.5 at -3 with spread 1, 0.3 at 1 with 0.5, 0.2 at 4 with 1.
SET search_path = public, relgrad;
CREATE TABLE point (id int PRIMARY KEY, x real);
INSERT INTO point
SELECT id, CASE WHEN u < 0.5 THEN -3 + z WHEN u < 0.8 THEN 1 + 0.5 * z ELSE 4 + z END
FROM (SELECT id, (random_uniform(ARRAY[1], 1, ARRAY[id]))[1] AS u, (random_normal(ARRAY[1], 2, ARRAY[id]))[1] AS z
      FROM generate_series(1, 1000) AS g(id)) s;

CREATE TABLE cluster (k int PRIMARY KEY, logit real, mean real, log_sd real);
INSERT INTO cluster VALUES (1, 0, -2, 0), (2, 0, 0, 0), (3, 0, 2, 0);

CREATE VIEW density AS
SELECT id, sum(exp(logit) / total * exp(-0.5 * ((x - mean) / exp(log_sd)) ^ 2) / (exp(log_sd) * sqrt(2 * 3.14159265))) AS p
FROM point CROSS JOIN cluster CROSS JOIN (SELECT sum(exp(logit)) AS total FROM cluster) t GROUP BY id;
CREATE VIEW loss AS SELECT -avg(ln(p)) AS loss FROM density;

CALL train('loss', ARRAY['cluster'], lr => 0.05, schedule => 'cosine', epochs => 400);
SELECT round((exp(logit) / sum(exp(logit)) OVER ())::numeric, 2) AS weight, round(mean::numeric, 1) AS mean, round(exp(log_sd)::numeric, 1) AS spread
FROM cluster ORDER BY mean;
