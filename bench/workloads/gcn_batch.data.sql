-- The citation graph, and the neighbours of each paper in a list, n = 0 … degree - 1.
\ir gcn.data.sql
CREATE TABLE neighbour (dst int, n int, degree int, src int, PRIMARY KEY (dst, n));
INSERT INTO neighbour
SELECT dst, row_number() OVER (PARTITION BY dst ORDER BY src) - 1, count(*) OVER (PARTITION BY dst), src FROM adj;
