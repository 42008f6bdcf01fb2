-- relgrad run -v data=FOLDER [-v seed=N] movies.sql: film ratings as products of non-negative tastes and traits.
-- The folder :data/ml_latest_small_2016 holds MovieLens' 100,004 ratings (no commercial use). Every fifth rating is
-- kept for the test, and of the others every twentieth decides when to stop.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\cd :data
CREATE TABLE rating (row int GENERATED ALWAYS AS IDENTITY (MINVALUE 0 START 0) PRIMARY KEY, userid int, item int, rating real, ts bigint);
\copy rating (userid, item, rating, ts) FROM PROGRAM 'gzip -dc ml_latest_small_2016/ratings.csv.gz' WITH (FORMAT csv, HEADER)
CREATE VIEW train_rating      AS SELECT * FROM rating WHERE row % 5 <> 0 AND row % 25 <> 1;
CREATE VIEW validation_rating AS SELECT * FROM rating WHERE row % 25 = 1;
CREATE VIEW test_rating       AS SELECT * FROM rating WHERE row % 5 = 0;

-- 15 factors for each user and each film, drawn so that the first predictions are about the mean rating
CREATE TABLE taste (userid int PRIMARY KEY, v real[]);
CREATE TABLE trait (item int PRIMARY KEY, v real[]);
INSERT INTO taste SELECT userid, random_uniform(ARRAY[15], :seed, ARRAY[1, userid]) * sqrt(3.5 / 15 * 4) FROM (SELECT DISTINCT userid FROM train_rating) u;
INSERT INTO trait SELECT item, random_uniform(ARRAY[15], :seed, ARRAY[2, item]) * sqrt(3.5 / 15 * 4) FROM (SELECT DISTINCT item FROM train_rating) i;

CREATE VIEW loss AS
SELECT avg((r.rating - dot(taste.v, trait.v)) ^ 2 + 0.16 * (sqnorm(taste.v) + sqnorm(trait.v))) AS loss
FROM train_rating r JOIN taste USING (userid) JOIN trait USING (item);

-- users and films without a training rating get the mean; a rating lies between 0.5 and 5
CREATE VIEW validation AS
SELECT sqrt(avg((r.rating - LEAST(GREATEST(coalesce(dot(taste.v, trait.v), (SELECT avg(rating) FROM train_rating)), 0.5), 5)) ^ 2)) AS rmse
FROM validation_rating r LEFT JOIN taste USING (userid) LEFT JOIN trait USING (item);
CREATE VIEW test AS
SELECT sqrt(avg((r.rating - LEAST(GREATEST(coalesce(dot(taste.v, trait.v), (SELECT avg(rating) FROM train_rating)), 0.5), 5)) ^ 2)) AS rmse
FROM test_rating r LEFT JOIN taste USING (userid) LEFT JOIN trait USING (item);

CALL train('loss', ARRAY['taste', 'trait'], lr => 0.05, epochs => 300, seed => :seed, nonnegative => ARRAY['taste', 'trait'],
           validate => 'validation', every => 10, patience => 5);
SELECT (SELECT min(x) FROM taste, unnest(taste.v) AS x) >= 0 AND (SELECT min(x) FROM trait, unnest(trait.v) AS x) >= 0 AS nonnegative;
SELECT round(rmse::numeric, 4) AS "test RMSE" FROM test;
