-- Chunks to measure kernels on: pairs of matrices, and many vectors.
CREATE TABLE pair (id int PRIMARY KEY, a real[], b real[]);
INSERT INTO pair SELECT i, glorot_uniform(ARRAY[256, 256], 1, ARRAY[0, i], 256, 256), glorot_uniform(ARRAY[256, 256], 1, ARRAY[1, i], 256, 256)
FROM generate_series(1, 100) AS i;
CREATE TABLE big (id int PRIMARY KEY, v real[]);
INSERT INTO big SELECT i, random_uniform(ARRAY[128], 1, ARRAY[2, i]) FROM generate_series(1, 100000) AS i;
VACUUM ANALYZE pair;
VACUUM ANALYZE big;
