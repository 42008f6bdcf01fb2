-- A non-negative factorisation of 50,000 ratings in 15 factors.
CREATE TABLE taste (userid int PRIMARY KEY, v real[]);
CREATE TABLE trait (item int PRIMARY KEY, v real[]);
CREATE TABLE rating (userid int, item int, rating real, PRIMARY KEY (userid, item));
INSERT INTO taste SELECT i, random_uniform(ARRAY[15], 1, ARRAY[6, i]) FROM generate_series(0, 499) AS i;
INSERT INTO trait SELECT i, random_uniform(ARRAY[15], 1, ARRAY[7, i]) FROM generate_series(0, 1999) AS i;
INSERT INTO rating SELECT i, (i * 37 + j * 20 + j % 7) % 2000, 1 + (i + j) % 5 FROM generate_series(0, 499) AS i, generate_series(0, 99) AS j;
CREATE VIEW nnmf_loss AS
SELECT avg((r.rating - dot(taste.v, trait.v)) ^ 2 + 0.16 * (sqnorm(taste.v) + sqnorm(trait.v))) AS loss
FROM rating r JOIN taste USING (userid) JOIN trait USING (item);
VACUUM ANALYZE taste, trait, rating;
