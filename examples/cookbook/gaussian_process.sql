-- A Gaussian process (small): its mean is a sum of kernels around the data, whose weights minimise a square form.
-- Elsewhere: scikit-learn GaussianProcessRegressor (the mean), KernelRidge.
-- Figure: the mean between the data, beside the function behind them.
SET search_path = public, relgrad;
CREATE TABLE sample (id int PRIMARY KEY, x real, y real);
INSERT INTO sample SELECT id, id / 3.0, sin(id / 3.0) + 0.1 * (random_normal(ARRAY[1], 1, ARRAY[id]))[1] FROM generate_series(0, 29) AS g(id);
CREATE TABLE kernel (a int, b int, k real, PRIMARY KEY (a, b));
INSERT INTO kernel SELECT a.id, b.id, exp(-0.5 * (a.x - b.x) ^ 2) FROM sample a CROSS JOIN sample b;

CREATE TABLE weight (id int PRIMARY KEY, w real);
INSERT INTO weight SELECT id, 0 FROM sample;

CREATE VIEW loss AS -- at its minimum (K + s I) w = y, with s = 0.01 the variance of the noise
SELECT (SELECT sum(a.w * k * b.w) FROM kernel JOIN weight a ON a.id = kernel.a JOIN weight b ON b.id = kernel.b) / 2
     + (SELECT sum(0.01 * w ^ 2 / 2 - w * y) FROM weight JOIN sample USING (id)) AS loss;

CALL train('loss', ARRAY['weight'], optimizer => 'nesterov', lr => 0.1, momentum => 0.95, epochs => 1000);
SELECT q.x, round(sum(w * exp(-0.5 * (s.x - q.x) ^ 2))::numeric, 2) AS mean, round(sin(q.x)::numeric, 2) AS "function"
FROM (VALUES (1.5), (4.1), (7.7)) AS q(x) CROSS JOIN sample s JOIN weight USING (id) GROUP BY q.x ORDER BY q.x;
