-- relgrad run -v data=FOLDER [-v seed=N] genes.sql: two kinds of leukaemia from the activity of 5,000 genes.
-- The folder :data/gene_all_aml holds Golub et al.'s 5000 x 38 matrix (Science 1999) as Brunet et al. factorise it (PNAS
-- 2004): a sample is a mixture of two profiles, and belongs to the one that contributes more. No label is read before
-- the last statement.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\cd :data
CREATE TABLE line (line text);
\copy line FROM PROGRAM 'gzip -dc gene_all_aml/matrix.csv.gz' WITH (FORMAT text, HEADER)
CREATE TABLE gene (gene int PRIMARY KEY, a real[]);
INSERT INTO gene SELECT c[1]::int, c[2:39]::real[] / 1000 FROM (SELECT string_to_array(line, ',') AS c FROM line) l;

-- A (5000 x 38) = W (5000 x 2) . H (2 x 38), W with a row for each gene
CREATE TABLE w (gene int PRIMARY KEY, v real[]);
CREATE TABLE h (id int PRIMARY KEY DEFAULT 1, v real[][]);
INSERT INTO w SELECT gene, random_uniform(ARRAY[2], :seed, ARRAY[1, gene]) FROM gene;
INSERT INTO h (v) VALUES (random_uniform(ARRAY[2, 38], :seed, ARRAY[2]));
CREATE VIEW loss AS SELECT sum(sqnorm(a - matmul(w.v, h.v))) AS loss FROM gene JOIN w USING (gene) CROSS JOIN h;

CALL train('loss', ARRAY['w', 'h'], lr => 0.05, schedule => 'cosine', epochs => 1000, seed => :seed, nonnegative => ARRAY['w', 'h']);
SELECT (SELECT min(x) FROM w, unnest(w.v) AS x) >= 0 AND (SELECT min(x) FROM h, unnest(h.v) AS x) >= 0 AS nonnegative;
SELECT loss * 1e6 AS "squared error" FROM loss;

-- sample j is in the cluster k of the larger H[k,j] sum_i W[i,k]; which cluster is called 0 is arbitrary
CREATE TABLE published (j int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sample text, rank2 int, rank3 int);
\copy published (sample, rank2, rank3) FROM PROGRAM 'gzip -dc gene_all_aml/published_assignment.csv.gz' WITH (FORMAT csv, HEADER)
CREATE VIEW cluster AS
SELECT j, (h.v[2][j] * total.v[2] > h.v[1][j] * total.v[1])::int AS cluster
FROM generate_series(1, 38) AS g(j) CROSS JOIN h CROSS JOIN (SELECT sum(v) AS v FROM w) AS total;
SELECT GREATEST(count(*) FILTER (WHERE cluster = rank2), count(*) FILTER (WHERE cluster <> rank2)) AS "published labels found"
FROM cluster JOIN published USING (j);
