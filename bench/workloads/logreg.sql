-- Logistic regression by gradient descent on all points.
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS model CASCADE;
CREATE TABLE model (id int PRIMARY KEY DEFAULT 1, w real[]);
\copy model (w) FROM 'model.npz' WITH (FORMAT npz, WHOLE)

CREATE VIEW score AS SELECT label, dot(x, w) AS z FROM point CROSS JOIN model;
CREATE VIEW loss AS SELECT avg(softplus(z) - label * z) AS loss FROM score;

CALL train('loss', ARRAY['model'], optimizer => 'sgd', lr => 0.5, epochs => :epochs, max_seconds => :seconds);
