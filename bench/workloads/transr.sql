-- Embeddings of a knowledge graph whose relations have spaces of their own (TransR; Lin et al., AAAI 2015).
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS entity, relation CASCADE;
CREATE TABLE entity (id int PRIMARY KEY, v real[]);
CREATE TABLE relation (id int PRIMARY KEY, v real[], m real[][]);
\copy entity FROM 'entity.npz' WITH (FORMAT npz)
\copy relation FROM 'relation.npz' WITH (FORMAT npz)

CREATE VIEW positive AS
SELECT x.id, x.r, matmul(h.v, r.m) + r.v AS q, norm(matmul(h.v, r.m) + r.v - matmul(t.v, r.m)) AS d
FROM triple x JOIN entity h ON h.id = x.h JOIN relation r ON r.id = x.r JOIN entity t ON t.id = x.t;
CREATE VIEW loss AS
SELECT avg(relu(1 + p.d - norm(p.q - matmul(e.v, r.m)))) AS loss
FROM negative n JOIN positive p USING (id) JOIN entity e ON e.id = n.other JOIN relation r ON r.id = p.r;

CALL train('loss', ARRAY['entity', 'relation'], optimizer => 'sgd', lr => 0.01, epochs => :epochs, max_seconds => :seconds, seed => 1, batch => 'triple', batch_size => :batch);
