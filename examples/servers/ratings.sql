-- psql -f ratings.sql: film ratings that lie at other servers. `make servers-demo` starts such servers and runs this; by
-- hand, CREATE SERVER and CREATE USER MAPPING come first (docs/servers.md).
SET search_path = public, relgrad;

-- 40,000 ratings of 2,000 users for 500 films, drawn from tastes and traits of 4 numbers
CREATE TABLE rating (usr int, item int, stars real, PRIMARY KEY (usr, item));
INSERT INTO rating
SELECT u, i, (dot(random_uniform(ARRAY[4], 1, ARRAY[1, u]), random_uniform(ARRAY[4], 1, ARRAY[2, i])) * 5)::real
FROM generate_series(0, 1999) AS g(u), LATERAL (SELECT DISTINCT (u * 7 + k * 53) % 500 FROM generate_series(1, 20) AS f(k)) AS r(i);

-- the rows go to the servers, by the hash of the user
SELECT distribute('rating', by => 'usr');
SELECT name, state, "table" FROM servers;
SELECT tableoid::regclass AS partition, count(*) FROM rating GROUP BY 1 ORDER BY 1;

-- the parameters stay here
CREATE TABLE taste (usr int PRIMARY KEY, v real[]);
CREATE TABLE trait (item int PRIMARY KEY, v real[]);
INSERT INTO taste SELECT u, random_uniform(ARRAY[4], 7, ARRAY[1, u]) FROM generate_series(0, 1999) AS g(u);
INSERT INTO trait SELECT i, random_uniform(ARRAY[4], 7, ARRAY[2, i]) FROM generate_series(0, 499) AS g(i);
CREATE VIEW loss AS
SELECT avg((r.stars - dot(t.v, i.v)) ^ 2) AS loss FROM rating r JOIN taste t USING (usr) JOIN trait i USING (item);

SELECT round(loss::numeric, 4) AS "loss before" FROM loss;
CALL train('loss', ARRAY['taste', 'trait'], optimizer => 'adam', lr => 0.05, epochs => 100);
SELECT round(loss::numeric, 4) AS "loss after" FROM loss;
