-- Quantile regression: lines below which a tenth, a half and nine tenths of the points lie.
-- Elsewhere: R quantreg::rq; scikit-learn QuantileRegressor; the pinball loss.
-- Figure: the share of points below each line, beside the one that was asked for.
SET search_path = public, relgrad;
CREATE TABLE trip (id int PRIMARY KEY, km real, minutes real);
INSERT INTO trip
SELECT id, km, 5 + 2 * km + km * u * u FROM (SELECT id, 10 * u[1] AS km, 2 * u[2] AS u
      FROM (SELECT id, random_uniform(ARRAY[2], 1, ARRAY[id]) AS u FROM generate_series(1, 500) AS g(id)) r) s;

CREATE TABLE line (percent int PRIMARY KEY, a real, b real);
INSERT INTO line VALUES (10, 0, 0), (50, 0, 0), (90, 0, 0);

CREATE VIEW residual AS SELECT id, percent, minutes - (a + b * km) AS e FROM trip CROSS JOIN line;
CREATE VIEW loss AS
SELECT sum(l) AS loss FROM (SELECT percent, avg(greatest(percent * e, (percent - 100) * e)) / 100 AS l FROM residual GROUP BY percent) p;

CALL train('loss', ARRAY['line'], lr => 0.1, schedule => 'cosine', epochs => 500);
SELECT percent, round(100 * avg((e < 0)::int)) AS "percent below" FROM residual GROUP BY percent ORDER BY percent;
