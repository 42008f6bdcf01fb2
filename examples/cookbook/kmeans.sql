-- k-means by gradients: each point pulls the centre that is nearest to it.
-- Elsewhere: scikit-learn KMeans, MiniBatchKMeans.
-- Figure: the centres. The truth is (0, 0), (4, 0) and (0, 4).
SET search_path = public, relgrad;
CREATE TABLE point (id int PRIMARY KEY, x real[]);
INSERT INTO point SELECT id, random_normal(ARRAY[2], 1, ARRAY[id]) * 0.7 + ARRAY[4 * (id % 3 = 1)::int, 4 * (id % 3 = 2)::int]
FROM generate_series(1, 600) AS g(id);

CREATE TABLE centre (k int PRIMARY KEY, c real[]);
INSERT INTO centre SELECT id, x FROM point WHERE id <= 3;

CREATE VIEW loss AS
SELECT avg(d) AS loss FROM (SELECT p.id, min(sqnorm(x - c)) AS d FROM point p CROSS JOIN centre GROUP BY p.id) n;

CALL train('loss', ARRAY['centre'], lr => 0.05, schedule => 'cosine', epochs => 200);
SELECT round(c[1]::numeric, 1) AS x, round(c[2]::numeric, 1) AS y FROM centre ORDER BY c[1] + 2 * c[2];
