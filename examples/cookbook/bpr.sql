-- Implicit feedback, Bayesian personalised ranking: what a user has bought is to score above what is drawn at random.
-- Elsewhere: BPR in implicit and LightFM.
-- Figure: for purchases kept for the test, the share of other articles that score below them (AUC).
SET search_path = public, relgrad;
CREATE TABLE purchase (usr int, article int, test boolean, PRIMARY KEY (usr, article));
INSERT INTO purchase -- users and articles of five groups; most purchases are within a group
SELECT usr, article, (usr + article / 5) % 8 = 0
FROM generate_series(0, 59) AS u(usr) CROSS JOIN generate_series(0, 99) AS a(article)
WHERE CASE WHEN usr % 5 = article % 5 THEN (usr * 3 + article) % 2 = 0 ELSE (usr * 7 + article * 3) % 12 = 0 END;

CREATE TABLE usr (usr int PRIMARY KEY, v real[]);
CREATE TABLE article (article int PRIMARY KEY, b real, v real[]);
INSERT INTO usr SELECT u, random_normal(ARRAY[8], 1, ARRAY[u]) / 4 FROM generate_series(0, 59) AS g(u);
INSERT INTO article SELECT a, 0, random_normal(ARRAY[8], 2, ARRAY[a]) / 4 FROM generate_series(0, 99) AS g(a);

CREATE VIEW pair AS -- another article for each purchase, drawn anew at each step
SELECT usr, article, random_int(100, current_seed(), ARRAY[current_step(), usr, article]) AS other FROM purchase WHERE NOT test;
CREATE VIEW loss AS
SELECT avg(softplus(n.b + dot(u.v, n.v) - p.b - dot(u.v, p.v))) AS loss
FROM pair JOIN usr u USING (usr) JOIN article p USING (article) JOIN article n ON n.article = pair.other;

CALL train('loss', ARRAY['usr', 'article'], lr => 0.03, epochs => 150, weight_decay => 1e-3, seed => 1);
CREATE VIEW score AS SELECT usr, article, b + dot(u.v, a.v) AS s FROM usr u CROSS JOIN article a;
SELECT round(avg((o.s < s.s)::int), 3) AS auc
FROM purchase p JOIN score s USING (usr, article) JOIN score o ON o.usr = p.usr
LEFT JOIN purchase q ON q.usr = o.usr AND q.article = o.article WHERE p.test AND q.usr IS NULL;
