-- Metric learning: a map in which things of one kind lie nearer to each other than to others, by triplets.
-- Elsewhere: triplet loss (FaceNet); torch.nn.TripletMarginLoss; pytorch-metric-learning.
-- Figure: the share of test rows whose nearest training row is of their kind, before and after.
SET search_path = public, relgrad;
CREATE TABLE thing (id int PRIMARY KEY, kind int, x real[]);
INSERT INTO thing -- two of 16 numbers tell the kinds apart, the others are noise
SELECT id, id % 4, random_normal(ARRAY[16], 1, ARRAY[id]) + one_hot(id % 2, 16) * 2 + one_hot(2 + id / 2 % 2, 16) * 2 FROM generate_series(0, 299) AS g(id);

CREATE TABLE map (id int PRIMARY KEY, w real[][]);
INSERT INTO map VALUES (1, random_normal(ARRAY[16, 4], 2, ARRAY[1]) / 4);

CREATE VIEW triplet AS -- another of the kind, and one of another kind, drawn anew at each step
SELECT id, id % 4 + 4 * random_int(50, current_seed(), ARRAY[current_step(), id]) AS same,
       (id + 1 + random_int(3, current_seed(), ARRAY[current_step(), id, 1])) % 4 + 4 * random_int(50, current_seed(), ARRAY[current_step(), id, 2]) AS other
FROM thing WHERE id < 200;
CREATE VIEW place AS SELECT t.id, kind, x, matmul(x, w) AS v FROM thing t CROSS JOIN map;
CREATE VIEW loss AS
SELECT avg(relu(1 + sqnorm(a.v - s.v) - sqnorm(a.v - o.v))) AS loss
FROM triplet t JOIN place a USING (id) JOIN place s ON s.id = t.same JOIN place o ON o.id = t.other;

CALL train('loss', ARRAY['map'], lr => 0.01, epochs => 200, seed => 1);
SELECT round(avg((kind = (SELECT b.kind FROM place b WHERE b.id < 200 ORDER BY sqnorm(a.x - b.x) LIMIT 1))::int), 2) AS before,
       round(avg((kind = (SELECT b.kind FROM place b WHERE b.id < 200 ORDER BY sqnorm(a.v - b.v) LIMIT 1))::int), 2) AS after
FROM place a WHERE id >= 200;
