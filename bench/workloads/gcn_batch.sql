-- The same network on mini-batches: some labelled papers, a sample of the neighbours of each, and of the neighbours of those (GraphSAGE; Hamilton et al., NIPS 2017).
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS layer1, layer2 CASCADE;
CREATE TABLE layer1 (id int PRIMARY KEY DEFAULT 1, w real[][], b real[]);
CREATE TABLE layer2 (id int PRIMARY KEY DEFAULT 1, w real[][], b real[]);
\copy layer1 (w, b) FROM 'layer1.npz' WITH (FORMAT npz, WHOLE)
\copy layer2 (w, b) FROM 'layer2.npz' WITH (FORMAT npz, WHOLE)

CREATE VIEW xw AS SELECT node, matmul(x, w) AS v FROM node CROSS JOIN layer1;
CREATE VIEW axw AS SELECT a.dst AS node, sum(a.weight * xw.v) AS v FROM sample1 a JOIN xw ON xw.node = a.src GROUP BY a.dst;
CREATE VIEW hidden AS SELECT node, dropout(relu(v + b), :dropout) AS h FROM axw CROSS JOIN layer1;
CREATE VIEW hw AS SELECT node, matmul(h, w) AS v FROM hidden CROSS JOIN layer2;
CREATE VIEW ahw AS SELECT a.dst AS node, sum(a.weight * hw.v) AS v FROM sample2 a JOIN hw ON hw.node = a.src GROUP BY a.dst;
CREATE VIEW logits AS SELECT node, v + b AS z FROM ahw CROSS JOIN layer2;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, label)) AS loss FROM logits JOIN train_node USING (node);

CALL train('loss', ARRAY['layer1', 'layer2'], optimizer => 'adam', lr => :lr, epochs => :epochs, max_seconds => :seconds, seed => 1, batch => 'train_node', batch_size => :batch);
