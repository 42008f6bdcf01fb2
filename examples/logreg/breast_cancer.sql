-- relgrad run -v data=FOLDER [-v seed=N] breast_cancer.sql: logistic regression, cross-validated in five folds.
-- The folder :data/breast_cancer holds the Wisconsin diagnostic data: 569 tumours, 30 measurements of each. Lines
-- are read as text and taken apart in SQL.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\cd :data
CREATE TABLE line (line text);
\copy line FROM PROGRAM 'gzip -dc breast_cancer/wdbc.csv.gz' WITH (FORMAT text, HEADER)
CREATE TABLE raw (row int PRIMARY KEY, malignant int, x double precision[]);
INSERT INTO raw SELECT c[1]::int, c[3]::int, c[4:33]::double precision[] FROM (SELECT string_to_array(line, ',') AS c FROM line) l;

-- every measurement with mean 0 and standard deviation 1
CREATE TABLE patient (row int PRIMARY KEY, malignant int, x double precision[]);
INSERT INTO patient
SELECT row, malignant, vector_agg(k - 1, (v - mean) / sd, 30)
FROM (SELECT row, malignant, k, v, avg(v) OVER (PARTITION BY k) AS mean, stddev_pop(v) OVER (PARTITION BY k) AS sd
      FROM raw, unnest(x) WITH ORDINALITY AS u(v, k)) z
GROUP BY row, malignant;

-- five models, one for each fold, trained at once: model f does not see the patients with row % 5 = f
CREATE TABLE model (fold int PRIMARY KEY, w double precision[], b double precision);
INSERT INTO model SELECT fold, zeros(ARRAY[30]), 0 FROM generate_series(0, 4) AS g(fold);

CREATE VIEW score AS
SELECT m.fold, p.row, p.malignant, dot(p.x, m.w) + m.b AS z FROM patient p CROSS JOIN model m;
CREATE VIEW loss AS
SELECT sum(l) AS loss
FROM (SELECT fold, avg(softplus(z) - malignant * z) AS l FROM score WHERE row % 5 <> fold GROUP BY fold) f;
CREATE VIEW accuracy AS
SELECT fold, avg(((z > 0)::int = malignant)::int) AS accuracy FROM score WHERE row % 5 = fold GROUP BY fold;

CALL train('loss', ARRAY['model'], optimizer => 'adam', lr => 0.1, epochs => 100, seed => :seed, weight_decay => 1e-2);
SELECT round(avg(accuracy), 4) AS "test accuracy" FROM accuracy;
