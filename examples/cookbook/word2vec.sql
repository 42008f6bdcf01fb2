-- word2vec, skip-gram with negative samples: words that stand in the same places have vectors that point the same way.
-- Elsewhere: gensim Word2Vec(sg=1).
-- Figure: of the words of each kind, the share whose nearest other word is of that kind, which training does not see.
SET search_path = public, relgrad;
CREATE TABLE vocabulary (kind text, i int, word text, PRIMARY KEY (kind, i));
INSERT INTO vocabulary VALUES ('who', 0, 'king'), ('who', 1, 'queen'), ('who', 2, 'farmer'), ('does', 0, 'eats'), ('does', 1, 'buys'),
  ('does', 2, 'likes'), ('what', 0, 'bread'), ('what', 1, 'apple'), ('what', 2, 'cheese'), ('', 0, 'the'), ('', 1, '.');
CREATE TABLE place (pos int PRIMARY KEY, word text); -- sentences "the WHO DOES the WHAT .", drawn at random
INSERT INTO place
SELECT 6 * s + k, word FROM generate_series(0, 299) AS g(s) CROSS JOIN generate_series(0, 5) AS h(k)
JOIN vocabulary v ON v.kind = (ARRAY['', 'who', 'does', '', 'what', ''])[1 + k]
 AND v.i = CASE k WHEN 0 THEN 0 WHEN 3 THEN 0 WHEN 5 THEN 1 ELSE random_int(3, 1, ARRAY[s, k]) END;
CREATE TABLE word (id int, word text PRIMARY KEY);
INSERT INTO word SELECT row_number() OVER (ORDER BY word) - 1, word FROM (SELECT DISTINCT word FROM place) w;
CREATE TABLE pair (pos int, d int, word int, near int, PRIMARY KEY (pos, d));
INSERT INTO pair
SELECT a.pos, d, v.id, w.id FROM place a CROSS JOIN unnest(ARRAY[-1, 1]) AS u(d) JOIN place b ON b.pos = a.pos + d
JOIN word v ON v.word = a.word JOIN word w ON w.word = b.word;

CREATE TABLE input (id int PRIMARY KEY, v real[]);
CREATE TABLE output (id int PRIMARY KEY, v real[]);
INSERT INTO input SELECT id, random_normal(ARRAY[8], 2, ARRAY[id]) / 4 FROM word;
INSERT INTO output SELECT id, zeros(ARRAY[8]) FROM word;

CREATE VIEW negative AS -- three words for each pair, drawn anew at each step
SELECT pos, d, word, k, random_int(11, current_seed(), ARRAY[current_step(), pos, d, k]) AS other
FROM pair CROSS JOIN generate_series(1, 3) AS g(k);
CREATE VIEW loss AS
SELECT (SELECT avg(softplus(-dot(i.v, o.v))) FROM pair JOIN input i ON i.id = word JOIN output o ON o.id = near)
 + 3 * (SELECT avg(softplus(dot(i.v, o.v))) FROM negative JOIN input i ON i.id = word JOIN output o ON o.id = other) AS loss;

CALL train('loss', ARRAY['input', 'output'], lr => 0.03, epochs => 150, seed => 1);
SELECT a.kind, count(*) AS words, round(avg((a.kind = (SELECT b.kind FROM word w JOIN vocabulary b USING (word) JOIN input j USING (id)
                WHERE b.word <> a.word ORDER BY dot(l2_normalize(i.v), l2_normalize(j.v)) DESC LIMIT 1))::int), 2) AS "nearest of its kind"
FROM vocabulary a JOIN word USING (word) JOIN input i USING (id) WHERE a.kind <> '' GROUP BY a.kind ORDER BY a.kind;
