-- Matrix factorisation with biases: a rating is a mean, a habit of the user, a quality of the film, and how tastes meet traits.
-- Elsewhere: SVD in Surprise; funk SVD; BigQuery ML MATRIX_FACTORIZATION.
-- Figure: the root mean square error of ratings kept for the test; their noise alone is 0.3.
SET search_path = public, relgrad;
CREATE TABLE rating (usr int, film int, stars real, test boolean, PRIMARY KEY (usr, film));
INSERT INTO rating
SELECT usr, film, 3 + sin(usr) + cos(2 * film) / 2 + sin(usr * usr) * cos(film * film) + 0.3 * (random_normal(ARRAY[1], 1, ARRAY[usr, film]))[1],
       (usr + 3 * film) % 10 = 0
FROM generate_series(1, 60) AS u(usr) CROSS JOIN generate_series(1, 40) AS f(film) WHERE (7 * usr + film) % 3 > 0;

CREATE TABLE mean (id int PRIMARY KEY, m real);
CREATE TABLE usr (usr int PRIMARY KEY, b real, v real[]);
CREATE TABLE film (film int PRIMARY KEY, b real, v real[]);
INSERT INTO mean VALUES (1, 3);
INSERT INTO usr SELECT u, 0, random_normal(ARRAY[4], 2, ARRAY[u]) / 4 FROM generate_series(1, 60) AS g(u);
INSERT INTO film SELECT f, 0, random_normal(ARRAY[4], 3, ARRAY[f]) / 4 FROM generate_series(1, 40) AS g(f);

CREATE VIEW prediction AS
SELECT r.usr, r.film, test, stars, m + u.b + f.b + dot(u.v, f.v) AS p
FROM rating r JOIN usr u USING (usr) JOIN film f USING (film) CROSS JOIN mean;
CREATE VIEW loss AS
SELECT avg((stars - p) ^ 2) + 1e-4 * ((SELECT sum(sqnorm(v)) FROM usr) + (SELECT sum(sqnorm(v)) FROM film)) AS loss
FROM prediction WHERE NOT test;

CALL train('loss', ARRAY['mean', 'usr', 'film'], lr => 0.03, schedule => 'cosine', epochs => 200);
SELECT round(sqrt(avg((stars - p) ^ 2))::numeric, 2) AS "test rmse" FROM prediction WHERE test;
