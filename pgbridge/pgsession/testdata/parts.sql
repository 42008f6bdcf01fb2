-- Results that come in parts, where no part is wider than the first.
\set FETCH_COUNT 3
SELECT 10 - i AS i, repeat('x', 9 - i) AS t FROM generate_series(1, 7) AS g(i);
\echo :ROW_COUNT
\x
SELECT 10 - i AS i, repeat('x', 9 - i) AS t FROM generate_series(1, 7) AS g(i);
\x
\t
SELECT 10 - i AS i FROM generate_series(1, 7) AS g(i);
\t
SELECT 6 / (7 - i) AS j FROM generate_series(1, 7) AS g(i);
SELECT 1 AS one;
