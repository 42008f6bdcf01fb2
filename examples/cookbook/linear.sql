-- Linear regression, ridge and lasso: three models in one table, each with its penalty, trained at once.
-- Elsewhere: scikit-learn LinearRegression, Ridge, Lasso; R lm, glmnet.
-- Figure: the coefficients. The truth is 3, -2, 1, 0, 0; ridge shrinks all of them, lasso the last two to 0.
SET search_path = public, relgrad;
CREATE TABLE sample (id int PRIMARY KEY, x real[], y real);
INSERT INTO sample
SELECT id, x, 3 * x[1] - 2 * x[2] + x[3] + 0.5 * (random_normal(ARRAY[1], 2, ARRAY[id]))[1]
FROM (SELECT id, random_normal(ARRAY[5], 1, ARRAY[id]) AS x FROM generate_series(1, 200) AS g(id)) s;

CREATE TABLE model (kind text PRIMARY KEY, w real[], b real);
INSERT INTO model SELECT kind, zeros(ARRAY[5]), 0 FROM unnest(ARRAY['least squares', 'ridge', 'lasso']) AS u(kind);

CREATE VIEW error AS
SELECT kind, avg((dot(x, w) + b - y) ^ 2) AS mse FROM sample CROSS JOIN model GROUP BY kind;
CREATE VIEW loss AS
SELECT sum(mse + CASE kind WHEN 'ridge' THEN 0.3 * sqnorm(w) WHEN 'lasso' THEN 0.4 * sum_elements(abs(w)) ELSE 0 END) AS loss
FROM error JOIN model USING (kind);

CALL train('loss', ARRAY['model'], lr => 0.05, schedule => 'cosine', epochs => 300);
SELECT kind, round(w[1]::numeric, 2) AS w1, round(w[2]::numeric, 2) AS w2, round(w[3]::numeric, 2) AS w3,
       round(w[4]::numeric, 2) AS w4, round(w[5]::numeric, 2) AS w5 FROM model ORDER BY kind DESC;
