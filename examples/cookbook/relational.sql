-- A relational graph network over the tables of a shop: will a customer come back? Orders learn from their articles and
-- customers from their orders; each table has an encoder of its own.
-- Elsewhere: relational deep learning (RelBench); heterogeneous GNNs of PyTorch Geometric and DGL.
-- Figure: the share of test customers predicted rightly, beside that of the more frequent answer.
SET search_path = public, relgrad;
CREATE TABLE article (id int PRIMARY KEY, price real, kind int);
CREATE TABLE customer (id int PRIMARY KEY, age real, back int);
CREATE TABLE orders (id int PRIMARY KEY, customer int, weeks real);
CREATE TABLE item (orders int, line int, article int, n int, PRIMARY KEY (orders, line));
INSERT INTO article SELECT a, 1 + 0.1 * a, a % 5 FROM generate_series(0, 49) AS g(a);
INSERT INTO orders SELECT o, o % 300, 4 * (random_uniform(ARRAY[1], 1, ARRAY[o]))[1] FROM generate_series(0, 1199) AS g(o);
INSERT INTO item SELECT o, l, random_int(50, 2, ARRAY[o, l]), 1 + random_int(3, 3, ARRAY[o, l])
FROM generate_series(0, 1199) AS g(o) CROSS JOIN generate_series(1, 3) AS h(l);
INSERT INTO customer -- who lately bought much of kind 0 and little of kind 1 comes back
SELECT customer, 0.1 * (customer % 7), (sum(n * exp(-weeks) * ((kind = 0)::int - (kind = 1)::int)) > 0)::int
FROM orders o JOIN item i ON i.orders = o.id JOIN article a ON a.id = i.article GROUP BY customer;

CREATE TABLE kind (kind int PRIMARY KEY, v real[]); -- an embedding
INSERT INTO kind SELECT k, random_normal(ARRAY[8], 4, ARRAY[k]) / 2 FROM generate_series(0, 4) AS g(k);
CREATE TABLE net (id int PRIMARY KEY, price real[], wo real[][], weeks real[], wc real[][], age real[], out real[], b real);
INSERT INTO net VALUES (1, zeros(ARRAY[8]), glorot_uniform(ARRAY[8, 8], 4, ARRAY[11], 8, 8), zeros(ARRAY[8]),
                        glorot_uniform(ARRAY[8, 8], 4, ARRAY[12], 8, 8), zeros(ARRAY[8]), random_normal(ARRAY[8], 4, ARRAY[13]) / 4, 0);

CREATE VIEW bought AS SELECT i.orders AS id, sum(i.n * (k.v + a.price * net.price)) AS v
FROM item i JOIN article a ON a.id = i.article JOIN kind k USING (kind) CROSS JOIN net GROUP BY i.orders;
CREATE VIEW ordered AS SELECT o.customer AS id, sum(tanh(matmul(b.v, wo)) * sigmoid(o.weeks * net.weeks)) AS v
FROM orders o JOIN bought b USING (id) CROSS JOIN net GROUP BY o.customer;
CREATE VIEW score AS SELECT c.id, back, dot(relu(matmul(o.v, wc) + c.age * net.age), out) + b AS z
FROM customer c JOIN ordered o USING (id) CROSS JOIN net;
CREATE VIEW loss AS SELECT avg(bce_with_logits(z, back)) AS loss FROM score WHERE id < 200;

CALL train('loss', ARRAY['kind', 'net'], lr => 0.01, epochs => 100, weight_decay => 1e-3);
SELECT round(avg(((z > 0)::int = back)::int), 2) AS accuracy, round(greatest(avg(back), 1 - avg(back)), 2) AS always FROM score WHERE id >= 200;
