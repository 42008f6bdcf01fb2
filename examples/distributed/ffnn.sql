-- relgrad run [-v seed=N] [-v epochs=N] [-v p=P] [-v n=N] ffnn.sql: a network of two layers over data and weights in P x P blocks,
-- in the two shapes of TRA (Yuan et al., VLDB 2021, section 6.3), with small numbers. speech: a batch of 16 N rows, N features,
-- a wide hidden layer of 8 N units. xml, which EinDecomp (Bourgeois et al., VLDB 2025, section 9.2, experiment 2) trains too: 64 N
-- features and 2 N labels, a batch of N rows, N/2 hidden units.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\if :{?epochs}
\else
\set epochs 20
\endif
\if :{?p}
\else
\set p 4
\endif
\if :{?n}
\else
\set n 32
\endif
CREATE TABLE speech_x  (b int, f int, v real[][], PRIMARY KEY (b, f));
CREATE TABLE speech_w1 (f int, h int, v real[][], PRIMARY KEY (f, h));
CREATE TABLE speech_w2 (h int, l int, v real[][], PRIMARY KEY (h, l));
CREATE TABLE speech_t  (f int, l int, v real[][], PRIMARY KEY (f, l));
CREATE TABLE speech_y  (b int, l int, v real[][], PRIMARY KEY (b, l));
CREATE TABLE xml_x  (LIKE speech_x INCLUDING ALL);
CREATE TABLE xml_w1 (LIKE speech_w1 INCLUDING ALL);
CREATE TABLE xml_w2 (LIKE speech_w2 INCLUDING ALL);
CREATE TABLE xml_t  (LIKE speech_t INCLUDING ALL);
CREATE TABLE xml_y  (LIKE speech_y INCLUDING ALL);
CREATE TABLE block AS SELECT x, y FROM generate_series(0, :p - 1) AS r(x), generate_series(0, :p - 1) AS s(y);
INSERT INTO speech_x  SELECT x, y, random_normal(ARRAY[:n * 16 / :p, :n / :p], :seed, ARRAY[1, x, y]) FROM block;
INSERT INTO speech_w1 SELECT x, y, glorot_uniform(ARRAY[:n / :p, :n * 8 / :p], :seed, ARRAY[2, x, y], :n, :n * 8) FROM block;
INSERT INTO speech_w2 SELECT x, y, glorot_uniform(ARRAY[:n * 8 / :p, :n / 4 / :p], :seed, ARRAY[3, x, y], :n * 8, :n / 4) FROM block;
INSERT INTO speech_t  SELECT x, y, random_normal(ARRAY[:n / :p, :n / 4 / :p], :seed, ARRAY[4, x, y]) FROM block;
INSERT INTO xml_x  SELECT x, y, random_normal(ARRAY[:n / :p, :n * 64 / :p], :seed, ARRAY[5, x, y]) FROM block;
INSERT INTO xml_w1 SELECT x, y, glorot_uniform(ARRAY[:n * 64 / :p, :n / 2 / :p], :seed, ARRAY[6, x, y], :n * 64, :n / 2) FROM block;
INSERT INTO xml_w2 SELECT x, y, glorot_uniform(ARRAY[:n / 2 / :p, :n * 2 / :p], :seed, ARRAY[7, x, y], :n / 2, :n * 2) FROM block;
INSERT INTO xml_t  SELECT x, y, random_normal(ARRAY[:n * 64 / :p, :n * 2 / :p], :seed, ARRAY[8, x, y]) FROM block;
-- a row has the labels that a linear map gives it
INSERT INTO speech_y SELECT b, l, greater(sum(matmul(x.v, t.v)), 0) FROM speech_x x JOIN speech_t t USING (f) GROUP BY b, l;
INSERT INTO xml_y SELECT b, l, greater(sum(matmul(x.v, t.v)), 0) FROM xml_x x JOIN xml_t t USING (f) GROUP BY b, l;

CREATE VIEW speech_hidden AS SELECT b, h, relu(sum(matmul(x.v, w.v))) AS v FROM speech_x x JOIN speech_w1 w USING (f) GROUP BY b, h;
CREATE VIEW speech_logits AS SELECT b, l, sum(matmul(h.v, w.v)) AS v FROM speech_hidden h JOIN speech_w2 w USING (h) GROUP BY b, l;
CREATE VIEW speech_loss AS SELECT avg(mean_elements(bce_with_logits(z.v, y.v))) AS loss FROM speech_logits z JOIN speech_y y USING (b, l);
CREATE VIEW xml_hidden AS SELECT b, h, relu(sum(matmul(x.v, w.v))) AS v FROM xml_x x JOIN xml_w1 w USING (f) GROUP BY b, h;
CREATE VIEW xml_logits AS SELECT b, l, sum(matmul(h.v, w.v)) AS v FROM xml_hidden h JOIN xml_w2 w USING (h) GROUP BY b, l;
CREATE VIEW xml_loss AS SELECT avg(mean_elements(bce_with_logits(z.v, y.v))) AS loss FROM xml_logits z JOIN xml_y y USING (b, l);

-- the choice at 4 sites
\ir plan_model.sql
SELECT * FROM plan('speech_loss', ARRAY['speech_w1', 'speech_w2']);
SELECT * FROM plan('xml_loss', ARRAY['xml_w1', 'xml_w2']);

CALL train('speech_loss', ARRAY['speech_w1', 'speech_w2'], optimizer => 'momentum', lr => 0.5, epochs => :epochs, seed => :seed);
CALL train('xml_loss', ARRAY['xml_w1', 'xml_w2'], optimizer => 'momentum', lr => 0.5, epochs => :epochs, seed => :seed);
-- how many of the labels are found
CREATE VIEW speech_found AS
SELECT avg(mean_elements(1 - abs(greater(z.v, 0) - y.v))) AS found FROM speech_logits z JOIN speech_y y USING (b, l);
CREATE VIEW xml_found AS
SELECT avg(mean_elements(1 - abs(greater(z.v, 0) - y.v))) AS found FROM xml_logits z JOIN xml_y y USING (b, l);
SELECT round(x.found::numeric, 3) AS xml, round(s.found::numeric, 3) AS speech FROM xml_found x, speech_found s;
