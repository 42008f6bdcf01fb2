-- The product of two matrices in blocks.
SET search_path = public, relgrad;
DROP VIEW IF EXISTS product CASCADE;
CREATE VIEW product AS SELECT a.i, b.j, sum(matmul(a.v, b.v)) AS v FROM a JOIN b ON b.i = a.j GROUP BY a.i, b.j;
