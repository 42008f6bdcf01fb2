-- Logistic regression: the probability of yes or no.
-- Elsewhere: scikit-learn LogisticRegression; R glm(family = binomial); pgml and MADlib logregr_train.
-- Figure: the share of rows that were not trained on and are classified rightly.
SET search_path = public, relgrad;
CREATE TABLE mail (id int PRIMARY KEY, x real[], spam int);
INSERT INTO mail
SELECT id, x, (2 * x[1] - x[2] + 0.5 * x[3] + 0.4 * x[4] > 0.3)::int
FROM (SELECT id, random_normal(ARRAY[4], 1, ARRAY[id]) AS x FROM generate_series(1, 400) AS g(id)) s;

CREATE TABLE model (id int PRIMARY KEY, w real[], b real);
INSERT INTO model VALUES (1, zeros(ARRAY[4]), 0);

CREATE VIEW score AS SELECT m.id, spam, dot(x, w) + b AS z FROM mail m CROSS JOIN model;
CREATE VIEW loss AS SELECT avg(bce_with_logits(z, spam)) AS loss FROM score WHERE id <= 300;

CALL train('loss', ARRAY['model'], lr => 0.1, epochs => 100, weight_decay => 1e-3);
SELECT round(avg(((z > 0)::int = spam)::int), 3) AS accuracy FROM score WHERE id > 300;
