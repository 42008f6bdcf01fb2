-- relgrad run -v data=FOLDER [-v seed=N] [-v epochs=N] [-v questions=valid_triple] transr.sql: a knowledge graph by
-- translations (TransR; Lin et al., AAAI 2015). Each relation sees the entities through a matrix of its own.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
CREATE TABLE entity (id int PRIMARY KEY, v real[]);
CREATE TABLE relation (id int PRIMARY KEY, v real[], m real[][]);
INSERT INTO entity SELECT id, random_normal(ARRAY[32], :seed, ARRAY[1, id]) / 10 FROM generate_series(0, 2033) AS g(id);
INSERT INTO relation
SELECT id, random_normal(ARRAY[32], :seed, ARRAY[2, id]) / 10, diag(full(ARRAY[32], 1)) FROM generate_series(0, 41) AS g(id);
CREATE VIEW place AS SELECT r.id AS r, e.id, matmul(e.v, r.m) AS v FROM relation r CROSS JOIN entity e;
\ir codex_model.sql
CALL train('loss', ARRAY['entity', 'relation'], optimizer => 'adam', lr => 0.02, weight_decay => 3e-5, schedule => 'cosine',
           epochs => :epochs, seed => :seed, batch => 'triple', batch_size => 1000);
SELECT round(avg(1 / rank)::numeric, 4) AS "filtered MRR" FROM rank;
