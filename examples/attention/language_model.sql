-- relgrad run [-v seed=N] [-v epochs=N] language_model.sql: a network with one layer of attention says which letter comes next.
-- The text below, written for this example, is cut into blocks of 32 letters; a block attends to itself, up to the letter
-- where it stands, and to the block before. The last tenth of the blocks is kept for the test.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
\if :{?epochs}
\else
\set epochs 80
\endif
CREATE TABLE story (id int PRIMARY KEY, t text);
INSERT INTO story VALUES (1, 'the miller of the low valley had a mill without a river. every morning he went up the hill with two buckets, filled them at the spring, and came down again, and poured the water over the wheel. the wheel turned once, slowly, and the stone turned once, slowly, and under the stone lay a handful of flour. then the miller took the two buckets and went up the hill again. when the sun went down he had flour for one loaf of bread. he baked the loaf, he ate the half of it, and the other half he gave to the crow that sat on the roof of the mill and told him the news of the valley.

one evening the crow said: miller, why do you carry the water to the mill? the miller said: because the wheel will not turn without the water. the crow said: and why is the mill not where the water is? the miller said: because my father built the mill here, and the father of my father carried the stones. the crow said: then they were men who liked to carry. and the crow ate the bread and flew away.

in the night the miller could not sleep. he lay under the roof and heard the wind go over the hill, and he thought of the water and of the wheel. in the morning he took the two buckets and went up the hill, but he did not fill them. he sat down by the spring and looked at the water. the water came out of the stone, and ran over the grass, and went down the other side of the hill, where nobody lived. the miller looked at it for the whole morning. then he took a stick and drew a line in the grass, from the spring to the edge of the hill, on the side of the mill. and where the stick had drawn the line the water came after it, a little way, and stood still, and waited.

so the miller went down the hill and came back with a spade. he dug all day, and the water came after him. when the sun went down he had no flour and no bread. the crow sat on the roof of the mill and said: miller, where is my half of the loaf? the miller said: it is on the hill, and it is coming down. the crow said: i have never seen bread that walks. the miller said: then look well, for you will see it.

he dug the next day, and the day after that, and the day after that. on the first day the water went as far as the old tree. on the second day the water went as far as the white stone. on the third day it began to rain, and the miller sat in the mill and heard the rain on the roof, and there was no bread in the house and no flour under the stone. the crow came in at the window and said: miller, the people of the valley say that you have lost your wits. the miller said: what do the people of the valley say of the rain? the crow said: they say that it is wet. the miller said: then they are right in one thing.

on the fourth day the sun came out, and the miller took the spade and dug from the white stone to the wall of the mill. when the sun went down there was only the width of a hand between the water and the wheel. the miller put the spade into the ground, and he called the crow, and he said: sit on the wheel. the crow sat on the wheel. the miller took the last of the earth away with his hands, and the water came down the hill, and ran along the wall, and fell on the wheel, and the wheel turned. it turned once, slowly, and it turned again, and it did not stop. the crow went up with the wheel and came down with the wheel, and it called out: miller, the mill is walking! and the stone turned over the corn, and the flour ran out from under the stone, more than the miller had seen in a whole year.

that night the miller baked ten loaves. one he ate, and one he gave to the crow, and eight he carried down the valley to the people who had said that he had lost his wits. and when they asked him what he did with the two buckets, he said: in the one i keep the flour, and in the other i keep the crow when it talks too much.');

-- the letters at each place, p of block b, and the letter that comes next; letters count from 0
CREATE TABLE letter (letter text PRIMARY KEY, id int);
INSERT INTO letter
SELECT letter, row_number() OVER (ORDER BY letter) - 1
FROM (SELECT DISTINCT substr(t, i, 1) AS letter FROM story, generate_series(1, length(t)) AS g(i)) l;
CREATE TABLE place (b int, p int, id int, next int, PRIMARY KEY (b, p));
INSERT INTO place
SELECT (i - 1) / 32, (i - 1) % 32, a.id, z.id
FROM story CROSS JOIN generate_series(1, (length(t) - 1) / 32 * 32) AS g(i)
JOIN letter a ON a.letter = substr(t, i, 1) JOIN letter z ON z.letter = substr(t, i + 1, 1);
-- a block is two chunks of 32 rows, in which one of the 30 letters is 1
CREATE TABLE block (b int PRIMARY KEY, x real[][], y real[][]);
INSERT INTO block SELECT b, array_agg(one_hot(id, 30) ORDER BY p), array_agg(one_hot(next, 30) ORDER BY p) FROM place GROUP BY b;
-- what a place may not see: in its own block (back = 0) what comes after it, in the block before nothing
CREATE TABLE mask (back int PRIMARY KEY, m real[][]);
INSERT INTO mask
SELECT back, array_agg(r ORDER BY p)
FROM (SELECT back, p, array_agg(CASE WHEN back = 0 AND c > p THEN -1e9 ELSE 0 END ORDER BY c) AS r
      FROM generate_series(0, 1) AS b(back), generate_series(1, 32) AS p(p), generate_series(1, 32) AS c(c) GROUP BY back, p) x
GROUP BY back;

-- parameters: letters and positions as vectors of 32 numbers, two heads of 16, a hidden layer of 64
CREATE TABLE embedding (id int PRIMARY KEY, letter real[][], position real[][]);
CREATE TABLE head (h int PRIMARY KEY, wq real[][], wk real[][], wv real[][], wo real[][]);
CREATE TABLE dense (id int PRIMARY KEY, w1 real[][], b1 real[], w2 real[][], b2 real[], wout real[][], bout real[]);
INSERT INTO embedding VALUES (1, random_normal(ARRAY[30, 32], :seed, ARRAY[1]) / 4, random_normal(ARRAY[32, 32], :seed, ARRAY[2]) / 4);
INSERT INTO head
SELECT h, glorot_uniform(ARRAY[32, 16], :seed, ARRAY[3, h], 32, 16), glorot_uniform(ARRAY[32, 16], :seed, ARRAY[4, h], 32, 16),
       glorot_uniform(ARRAY[32, 16], :seed, ARRAY[5, h], 32, 16), glorot_uniform(ARRAY[16, 32], :seed, ARRAY[6, h], 16, 32)
FROM generate_series(1, 2) AS g(h);
INSERT INTO dense VALUES (1, glorot_uniform(ARRAY[32, 64], :seed, ARRAY[7], 32, 64), zeros(ARRAY[64]),
                          glorot_uniform(ARRAY[64, 32], :seed, ARRAY[8], 64, 32), zeros(ARRAY[32]),
                          glorot_uniform(ARRAY[32, 30], :seed, ARRAY[9], 32, 30), zeros(ARRAY[30]));

CREATE VIEW input AS SELECT b, dropout(matmul(x, letter) + position, 0.2) AS v FROM block CROSS JOIN embedding;
CREATE VIEW q AS SELECT b, h, matmul(layer_norm(v), wq) AS v FROM input CROSS JOIN head;
CREATE VIEW k AS SELECT b, h, matmul(layer_norm(v), wk) AS v FROM input CROSS JOIN head;
CREATE VIEW val AS SELECT b, h, matmul(layer_norm(v), wv) AS v FROM input CROSS JOIN head;
CREATE VIEW score AS
SELECT q.h, q.b, k.b AS b2, matmul(q.v, transpose(k.v)) / 4 + mask.m AS s
FROM q CROSS JOIN mask JOIN k ON k.h = q.h AND k.b = q.b - mask.back;
CREATE VIEW attention AS
SELECT h, b, b2, e / sum(sum_elements(e, 2)) OVER (PARTITION BY h, b) AS p
FROM (SELECT h, b, b2, exp(s - max_agg(max_elements(s, 2)) OVER (PARTITION BY h, b)) AS e FROM score) x;
CREATE VIEW attended AS
SELECT i.b, i.v + a.v AS v
FROM input i JOIN (SELECT p.b, sum(matmul(matmul(p.p, val.v), head.wo)) AS v
                   FROM attention p JOIN val ON val.h = p.h AND val.b = p.b2 JOIN head ON head.h = p.h GROUP BY p.b) a USING (b);
CREATE VIEW logits AS
SELECT b, matmul(layer_norm(v + matmul(dropout(relu(matmul(layer_norm(v), w1) + b1), 0.3), w2) + b2), wout) + bout AS z
FROM attended CROSS JOIN dense;

-- bits per letter: of the first 107 blocks in training, of the last 12 in the test
CREATE VIEW bits AS SELECT b, -sum_elements(y * log_softmax(z)) / (32 * ln(2)) AS bits FROM logits JOIN block USING (b);
CREATE VIEW loss AS SELECT avg(bits) AS loss FROM bits WHERE b < 107;
CREATE VIEW test AS SELECT avg(bits) AS bits FROM bits WHERE b >= 107;

CALL train('loss', ARRAY['embedding', 'head', 'dense'], optimizer => 'adamw', lr => 0.01, weight_decay => 0.1,
           schedule => 'cosine', warmup => 10, epochs => :epochs, seed => :seed);
-- what a letter costs if one knows how often each occurs, and nothing else
SELECT round(-sum(part * ln(part) / ln(2))::numeric, 3) AS "unigram entropy"
FROM (SELECT next, count(*)::double precision / (107 * 32) AS part FROM place WHERE b < 107 GROUP BY next) u;
SELECT round(loss::numeric, 3) AS "bits per letter in training" FROM loss;
SELECT round(bits::numeric, 3) AS "bits per letter in the test" FROM test;
