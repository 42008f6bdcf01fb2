-- Ordinal regression: classes with an order, one score and a threshold between each two of them.
-- Elsewhere: proportional odds; R MASS::polr; statsmodels OrderedModel.
-- Figure: the weight and the thresholds. The truth is 2 and -2, 0, 3.
SET search_path = public, relgrad;
CREATE TABLE answer (id int PRIMARY KEY, x real, stars int);
INSERT INTO answer
SELECT id, x, (v > -2)::int + (v > 0)::int + (v > 3)::int
FROM (SELECT id, x, 2 * x + ln(u / (1 - u)) AS v
      FROM (SELECT id, (random_normal(ARRAY[1], 1, ARRAY[id]))[1] AS x, (random_uniform(ARRAY[1], 2, ARRAY[id]))[1] AS u
            FROM generate_series(1, 1000) AS g(id)) s) t;

CREATE TABLE slope (id int PRIMARY KEY, w real);
INSERT INTO slope VALUES (1, 0);
CREATE TABLE threshold (k int PRIMARY KEY, c real);
INSERT INTO threshold VALUES (0, -1), (1, 0), (2, 1);

-- the probability of at most k stars; that of k stars is the difference of two
CREATE VIEW up_to AS SELECT a.id, k, sigmoid(c - w * x) AS p FROM answer a CROSS JOIN slope CROSS JOIN threshold;
CREATE VIEW loss AS
SELECT -avg(ln(coalesce(hi.p, 1) - coalesce(lo.p, 0))) AS loss
FROM answer a LEFT JOIN up_to hi ON hi.id = a.id AND hi.k = a.stars LEFT JOIN up_to lo ON lo.id = a.id AND lo.k = a.stars - 1;

CALL train('loss', ARRAY['slope', 'threshold'], lr => 0.05, schedule => 'cosine', epochs => 300);
SELECT round(w::numeric, 1) AS w, string_agg(round(c::numeric, 1)::text, ', ' ORDER BY k) AS thresholds
FROM slope CROSS JOIN threshold GROUP BY w;
