-- Names of columns without AS.
SELECT (VALUES (1));
SELECT (VALUES (1)) FROM (VALUES (1)) t(x);
SELECT (VALUES (1), (2) LIMIT 1);
SELECT 1::varchar, 1::int2, 'a'::text, 1.5::numeric(3,1), now()::timestamptz IS NULL FROM (VALUES (1)) v WHERE false;
SELECT CASE WHEN true THEN 1 END, CASE WHEN true THEN 1 ELSE x END, ARRAY[1], (ARRAY[1])[1], x + 1, -x, NOT true, x IS NULL, EXISTS (SELECT 1), ARRAY(SELECT 1), (SELECT 1), (SELECT x), x::float8, x::float8::text, coalesce(x, 1), greatest(x, 1), nullif(x, 1), count(*), extract(year FROM now()) IS NULL, position('a' IN 'b'), substring('a' FROM 1), trim('a'), current_date IS NULL FROM (VALUES ('1'::int)) v(x) GROUP BY x;
