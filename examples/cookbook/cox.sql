-- Survival, Cox's proportional hazards: who of those still at risk has the event next. A running sum over the order of times.
-- Elsewhere: R survival::coxph; lifelines CoxPHFitter.
-- Figure: the log hazard ratios. The truth is 1 and -0.5.
SET search_path = public, relgrad;
CREATE TABLE patient (id int PRIMARY KEY, x real[], day real, died int);
INSERT INTO patient -- exponential times of hazard exp(x1 - x2/2); what is longer than 2 is not observed
SELECT id, x, least(t, 2), (t < 2)::int
FROM (SELECT id, x, -ln((random_uniform(ARRAY[1], 2, ARRAY[id]))[1]) / exp(x[1] - 0.5 * x[2]) AS t
      FROM (SELECT id, random_normal(ARRAY[2], 1, ARRAY[id]) AS x FROM generate_series(1, 1000) AS g(id)) s) s;

CREATE TABLE model (id int PRIMARY KEY, w real[]);
INSERT INTO model VALUES (1, zeros(ARRAY[2]));

CREATE VIEW risk AS SELECT p.id, day, died, dot(x, w) AS z FROM patient p CROSS JOIN model;
CREATE VIEW loss AS
SELECT -avg(died * (z - ln(at_risk))) AS loss
FROM (SELECT died, z, sum(exp(z)) OVER (ORDER BY day DESC) AS at_risk FROM risk) r;

CALL train('loss', ARRAY['model'], lr => 0.05, schedule => 'cosine', epochs => 200);
SELECT round(w[1]::numeric, 2) AS w1, round(w[2]::numeric, 2) AS w2 FROM model;
