-- The steps of a walk from where it has been: a running sum is a window.
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS step CASCADE;
CREATE TABLE step (k int PRIMARY KEY, x real);
\copy step FROM 'step.npz' WITH (FORMAT npz)

CREATE VIEW place AS SELECT k, sum(x) OVER (ORDER BY k) AS y FROM step;
CREATE VIEW loss AS SELECT avg((p.y - w.y) ^ 2) AS loss FROM place p JOIN walk w USING (k);

CALL train('loss', ARRAY['step'], optimizer => 'sgd', lr => 1.0 / :n, epochs => :epochs, max_seconds => :seconds);
