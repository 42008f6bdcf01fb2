-- A chain of matrix products, a·b + c·(d·e).
SET search_path = public, relgrad;
DROP VIEW IF EXISTS ab, de, chain CASCADE;
CREATE VIEW ab AS SELECT a.i, b.j, sum(matmul(a.v, b.v)) AS v FROM a JOIN b ON b.i = a.j GROUP BY a.i, b.j;
CREATE VIEW de AS SELECT d.i, e.j, sum(matmul(d.v, e.v)) AS v FROM d JOIN e ON e.i = d.j GROUP BY d.i, e.j;
CREATE VIEW cde AS SELECT c.i, de.j, sum(matmul(c.v, de.v)) AS v FROM c JOIN de ON de.i = c.j GROUP BY c.i, de.j;
CREATE VIEW chain AS SELECT i, j, ab.v + cde.v AS v FROM ab JOIN cde USING (i, j);
