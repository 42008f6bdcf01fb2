-- relgrad run -v data=FOLDER [-v seed=N] [-v epochs=N] [-v questions=valid_triple] transe.sql: a knowledge graph by
-- translations (TransE; Bordes et al., NIPS 2013). Every relation sees an entity at the same place.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
CREATE TABLE entity (id int PRIMARY KEY, v real[]);
CREATE TABLE relation (id int PRIMARY KEY, v real[]);
INSERT INTO entity SELECT id, random_normal(ARRAY[64], :seed, ARRAY[1, id]) / 10 FROM generate_series(0, 2033) AS g(id);
INSERT INTO relation SELECT id, random_normal(ARRAY[64], :seed, ARRAY[2, id]) / 10 FROM generate_series(0, 41) AS g(id);
CREATE VIEW place AS SELECT r.id AS r, e.id, e.v FROM relation r CROSS JOIN entity e;
\ir codex_model.sql
CALL train('loss', ARRAY['entity', 'relation'], optimizer => 'adam', lr => 0.04, weight_decay => 3e-5, schedule => 'cosine',
           epochs => :epochs, seed => :seed, batch => 'triple', batch_size => 1000);
SELECT round(avg(1 / rank)::numeric, 4) AS "filtered MRR" FROM rank;
