-- Softmax regression: one of several classes.
-- Elsewhere: multinomial logistic regression; scikit-learn LogisticRegression; R nnet::multinom.
-- Figure: the share of rows that were not trained on and are classified rightly. The classes overlap.
SET search_path = public, relgrad;
CREATE TABLE flower (id int PRIMARY KEY, x real[], kind int);
INSERT INTO flower
SELECT id, random_normal(ARRAY[2], 1, ARRAY[id]) + ARRAY[2 * cos(2.1 * (id % 3)), 2 * sin(2.1 * (id % 3))], id % 3
FROM generate_series(1, 400) AS g(id);

CREATE TABLE model (id int PRIMARY KEY, w real[][], b real[]);
INSERT INTO model VALUES (1, zeros(ARRAY[2, 3]), zeros(ARRAY[3]));

CREATE VIEW score AS SELECT f.id, kind, matmul(x, w) + b AS z FROM flower f CROSS JOIN model;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, kind)) AS loss FROM score WHERE id <= 300;

CALL train('loss', ARRAY['model'], lr => 0.1, epochs => 100);
SELECT round(avg((argmax(z) = kind)::int), 3) AS accuracy FROM score WHERE id > 300;
