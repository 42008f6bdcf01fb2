-- relgrad run -v data=FOLDER [-v seed=N] digits.sql: a network of two layers reads handwritten digits.
-- The folder :data/optdigits holds 3,823 digits of 30 writers to train and 1,797 of 13 others to test: 8 x 8 numbers from
-- 0 to 16 each, and what was written. Every tenth of the former decides when to stop.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\cd :data
CREATE TABLE line (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part text DEFAULT 'train', line text);
\copy line (line) FROM PROGRAM 'gzip -dc optdigits/train.csv.gz' WITH (FORMAT text, HEADER)
ALTER TABLE line ALTER part SET DEFAULT 'test';
\copy line (line) FROM PROGRAM 'gzip -dc optdigits/test.csv.gz' WITH (FORMAT text, HEADER)
CREATE TABLE digit (n int PRIMARY KEY, part text, label int, x real[]);
INSERT INTO digit
SELECT n, CASE WHEN part = 'train' AND n % 10 = 0 THEN 'validation' ELSE part END, c[2]::int, c[3:66]::real[] / 16
FROM (SELECT n, part, string_to_array(line, ',') AS c FROM line) l;
CREATE VIEW train_digit      AS SELECT n, label FROM digit WHERE part = 'train';
CREATE VIEW validation_digit AS SELECT n, label FROM digit WHERE part = 'validation';
CREATE VIEW test_digit       AS SELECT n, label FROM digit WHERE part = 'test';

-- 64 pixels, 64 hidden units, 10 digits
CREATE TABLE layer1 (id int PRIMARY KEY DEFAULT 1, w real[][], b real[]);
CREATE TABLE layer2 (id int PRIMARY KEY DEFAULT 1, w real[][], b real[]);
INSERT INTO layer1 (w, b) VALUES (glorot_uniform(ARRAY[64, 64], :seed, ARRAY[1], 64, 64), zeros(ARRAY[64]));
INSERT INTO layer2 (w, b) VALUES (glorot_uniform(ARRAY[64, 10], :seed, ARRAY[2], 64, 10), zeros(ARRAY[10]));

CREATE VIEW hidden AS SELECT n, relu(matmul(x, w) + b) AS h FROM digit CROSS JOIN layer1;
CREATE VIEW logits AS SELECT n, matmul(dropout(h, 0.2), w) + b AS z FROM hidden CROSS JOIN layer2;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, label)) AS loss FROM logits JOIN train_digit USING (n);
CREATE VIEW validation AS SELECT avg(cross_entropy(z, label)) AS loss FROM logits JOIN validation_digit USING (n);
CREATE VIEW test_accuracy AS SELECT avg((argmax(z) = label)::int) AS accuracy FROM logits JOIN test_digit USING (n);

-- mini-batches: a step reads 128 rows of train_digit, an epoch all of them
CALL train('loss', ARRAY['layer1', 'layer2'], optimizer => 'adam', lr => 0.003, epochs => 30, seed => :seed,
           batch => 'train_digit', batch_size => 128, validate => 'validation', every => 1, patience => 5);
SELECT round(accuracy, 4) AS "test accuracy" FROM test_accuracy;
