-- Functions of arrays, whose elements compare as their types do.
SELECT array_position(ARRAY[1.0, 2.1], 1), array_position(ARRAY[1.0, 2.1], 1.00), array_position(ARRAY[1, 2], 2), array_position(ARRAY[1, 2, NULL], NULL);
SELECT array_position(ARRAY[1, 2], 2.0);
SELECT array_position(ARRAY[1, 2], 2.5);
SELECT array_position(ARRAY[1, 2], 2::bigint), array_position(ARRAY[1, 2]::bigint[], 2), array_position(ARRAY[1, 2]::smallint[], 2::smallint);
SELECT array_position(ARRAY[1, 2]::float8[], 2), array_position(ARRAY[1, 2]::real[], 2), array_position(ARRAY[0.1]::real[], 0.1::real), array_position(ARRAY[0.1]::real[], 0.1);
SELECT array_position(ARRAY[0.1]::real[], 0.1::float8);
SELECT array_position(ARRAY[0.1]::float8[], 0.1);
--! refused 22003
SELECT array_position(ARRAY['nan', 1]::float8[], 'nan');
SELECT array_position(ARRAY[0.0, 1]::float8[], '-0');
SELECT array_position(ARRAY['a', 'b'], 'b'), array_position(ARRAY['a', 'b'], NULL), array_position(ARRAY[true, false], false), array_position(NULL::int[], 1), array_position('{}'::int[], 1);
SELECT array_position(ARRAY['1', '2'], '2'), array_position('{1,2}'::int[], '2');
SELECT array_position(ARRAY[DATE '2020-01-01'], '2020-1-1');
--! refused 42883
SELECT array_position(ARRAY[1, 2, 1], 1, 2);
--! both 0A000
SELECT array_position(ARRAY[[1, 2], [3, 4]], 3);
--! refused 42883
SELECT array_positions(ARRAY[1, 2, 1], 1);
SELECT array_remove(ARRAY[1.0, 2.1, 1.00], 1), array_remove(ARRAY[1, 2, 1], 1), array_remove(ARRAY[1, NULL, 2], NULL), array_remove(ARRAY['a', 'b'], 'a');
SELECT array_remove(ARRAY[1, 2]::bigint[], 1), array_remove(ARRAY[1, 2]::float8[], 1), array_remove(ARRAY[1, 2], 1::bigint), array_remove('{}'::int[], 1), array_remove(NULL::int[], 1), array_remove(ARRAY[1], 1);
SELECT array_remove(ARRAY[1, 2], 2.0);
--! both 0A000
SELECT array_remove(ARRAY[[1, 2], [3, 4]], 1);
SELECT array_remove(ARRAY[0.1, 0.2]::real[], 0.1);
--! refused 42883
SELECT array_replace(ARRAY[1, 2], 1, 3);
SELECT array_append(ARRAY[1, 2], 3), array_append(ARRAY[1, 2], NULL), array_append(NULL::int[], 1), array_append(ARRAY[1, 2], 3::bigint), array_append('{}'::int[], 1);
SELECT array_append(ARRAY[1, 2], 2.5), array_append(ARRAY[1.5], 2), array_append(ARRAY['a'], 'b'), array_append(ARRAY['a'], NULL);
SELECT array_prepend(0, ARRAY[1, 2]), array_prepend(NULL, ARRAY[1]), array_prepend(1, NULL::int[]), array_prepend(0.5, ARRAY[1]);
SELECT array_cat(ARRAY[1], ARRAY[2, 3]), array_cat(NULL::int[], ARRAY[1]), array_cat(ARRAY[1], NULL), array_cat(ARRAY[1], '{}'), array_cat(ARRAY[1], ARRAY[2.5]);
SELECT array_cat(ARRAY[[1, 2]], ARRAY[3, 4]), array_cat(ARRAY[[1, 2]], ARRAY[[3, 4]]), ARRAY[1, 2] || ARRAY[[3, 4]];
--! both 2202E
SELECT array_cat(ARRAY[[1, 2]], ARRAY[3]);
SELECT ARRAY[1, 2] || 3, 0 || ARRAY[1], ARRAY[1] || ARRAY[2], ARRAY[1] || NULL, NULL || ARRAY[1], ARRAY['a'] || 'b'::text, ARRAY[1] || '{2,3}', ARRAY[1] || '{}'::int[];
--! both 22P02
SELECT ARRAY['a'] || 'b';
--! both 2202E 22000
SELECT ARRAY[[1, 2]] || 3;
--! both 2202E 22000
SELECT array_append(ARRAY[[1, 2]], 3);
SELECT array_length(ARRAY[1, 2], 1), array_length(ARRAY[1, 2], 2), array_length(ARRAY[1], 0), array_length('{}'::int[], 1), array_length(NULL::int[], 1), array_length(ARRAY[[1, 2, 3], [4, 5, 6]], 2);
SELECT array_ndims(ARRAY[[1], [2]]), array_ndims('{}'::int[]), array_dims(ARRAY[[1, 2], [3, 4]]), array_dims('{}'::int[]), array_lower(ARRAY[1], 1), array_upper(ARRAY[1, 2], 1), array_upper('{}'::int[], 1), cardinality('{}'::int[]), cardinality(ARRAY[[1, 2], [3, 4]]);
SELECT array_fill(7, ARRAY[3]);
SELECT array_fill(1.5, ARRAY[2, 2]);
SELECT array_fill('x'::text, ARRAY[2]);
SELECT array_fill(NULL::int, ARRAY[2]);
--! refused XX001
SELECT array_fill(0, '{}'::int[]);
SELECT array_fill(0, ARRAY[0]);
--! refused 42883
SELECT array_fill(7, ARRAY[3], ARRAY[2]);
--! both 22023 54000
SELECT array_fill(7, ARRAY[-1]);
--! both 22004
SELECT array_fill(7, NULL);
SELECT (ARRAY[1, 2, 3])[2], (ARRAY[1, 2, 3])[0], (ARRAY[1, 2, 3])[4], (ARRAY[1, 2, 3])[-1], (ARRAY[1, 2, 3])[NULL], (ARRAY[1, 2, 3])[2:3], (ARRAY[1, 2, 3])[:2], (ARRAY[1, 2, 3])[2:], (ARRAY[1, 2, 3])[5:6], (ARRAY[1, 2, 3])[3:1], (ARRAY[1, 2, 3])[0:1];
SELECT (ARRAY[[1, 2], [3, 4]])[2][1], (ARRAY[[1, 2], [3, 4]])[1], (ARRAY[[1, 2], [3, 4]])[1:1], (ARRAY[[1, 2], [3, 4]])[1:2][1:1], (ARRAY[[1, 2], [3, 4]])[1:2][1], (ARRAY[[1, 2], [3, 4]])[2][2:2], (ARRAY[1, 2])[1][1];
--! refused 42804
SELECT (ARRAY[1, 2, 3])[1.6];
SELECT (ARRAY[1, 2, 3])['2'];
SELECT ('{1,2,3}'::int[])[2], ('{a,b}'::text[])[1:1], (ARRAY[1.5, 2])[1], (ARRAY[true])[1];
--! both 42883
SELECT ARRAY[1, 2] = ARRAY[1, 2], ARRAY[1, 2] = ARRAY[1.0, 2.0], ARRAY[1.0] = ARRAY[1.00], ARRAY[1] <> ARRAY[2], ARRAY[1, NULL] = ARRAY[1, NULL], ARRAY[1] = NULL, ARRAY[[1]] = ARRAY[1], ARRAY['a'] = ARRAY['a'];
SELECT ARRAY[1.0] IN (ARRAY[1.00]), ARRAY[1.0] IS DISTINCT FROM ARRAY[1.00], ARRAY[NULL, 1.0] = ARRAY[NULL, 1.00];
--! refused 0A000
SELECT ARRAY[1, 2] < ARRAY[1, 3];
--! refused 0A000
SELECT ARRAY[1] < ARRAY[1, 2];
SELECT x FROM (VALUES (ARRAY[1.0]), (ARRAY[1.00])) v(x) GROUP BY x;
SELECT DISTINCT x FROM (VALUES (ARRAY[1.0]), (ARRAY[1.00])) v(x);
SELECT count(DISTINCT x) FROM (VALUES (ARRAY[1.0]), (ARRAY[1.00])) v(x);
SELECT count(*) FROM (SELECT ARRAY[1.0] UNION SELECT ARRAY[1.00]) t;
SELECT x, count(*) FROM (VALUES (ARRAY[1, 2]), (ARRAY[1, 2]), (ARRAY[2])) v(x) GROUP BY x ORDER BY 2;
SELECT count(*) FROM (VALUES ('{0}'::float8[]), ('{-0}')) v(x) GROUP BY x;
--! both 42883
SELECT '{0}'::float8[] = '{-0}'::float8[], '{nan}'::float8[] = '{nan}'::float8[], '{0}'::float8[] IN ('{-0}'::float8[]), '{0.1}'::real[] = '{0.1}'::float8[];
SELECT DISTINCT x = '{0}' FROM (VALUES ('{0}'::float8[]), ('{-0}')) v(x);
--! refused 0A000
SELECT count(*) FROM (SELECT '{0}'::float8[] UNION SELECT '{-0}') t;
SELECT count(DISTINCT x) FROM (VALUES ('{0}'::float8[]), ('{-0}')) v(x);
SELECT a.n FROM (VALUES ('{0}'::float8[], 1)) a(x, n) JOIN (VALUES ('{-0}'::float8[])) b(x) USING (x);
SELECT count(*) FROM (VALUES (0::float8), ('-0')) v(x) GROUP BY x;
SELECT rank() OVER (PARTITION BY x) FROM (VALUES (ARRAY[1.0]), (ARRAY[1.00])) v(x);
--! refused 42883
SELECT max(x) FROM (VALUES (ARRAY[1]), (ARRAY[2])) v(x);
--! refused 0A000
SELECT x FROM (VALUES (ARRAY[2]), (ARRAY[1])) v(x) ORDER BY x;
--! refused 42809
SELECT greatest(ARRAY[1], ARRAY[2]);
SELECT nullif(ARRAY[1.0], ARRAY[1.00]);
SELECT 1 = ANY (ARRAY[1, 2]), 3 = ANY (ARRAY[1, NULL]), 1 = ALL (ARRAY[1, 1]), 1 <> ALL (ARRAY[2, NULL]), 1 = ANY ('{}'::int[]), 1 = ALL ('{}'::int[]), NULL = ANY ('{}'::int[]), 1 = ANY (NULL::int[]);
SELECT 1 = ANY (ARRAY[1.0, 2.5]), 1.0 = ANY (ARRAY[1, 2]), 1.5 < ANY (ARRAY[1, 2]), 'a' = ANY (ARRAY['a', 'b']), '1' = ANY (ARRAY[1]), 1.00 = ANY ('{1.0}'::numeric[]), 2 > ALL (ARRAY[1, 1.5]);
SELECT 'abc' LIKE ANY (ARRAY['a%', 'x']), 'abc' ~ ANY (ARRAY['z', 'b']);
SELECT 1 = ANY (ARRAY[[1, 2], [3, 4]]), 4 = ANY (ARRAY[[1, 2], [3, 4]]);
SELECT 0.1::real = ANY (ARRAY[0.1]::real[]), 0.1::real = ANY (ARRAY[0.1::float8]), 0.1 = ANY (ARRAY[0.1]::real[]);
SELECT unnest(ARRAY[1, 2]);
SELECT unnest(ARRAY['a', 'b', 'c']);
SELECT * FROM unnest(ARRAY[[1, 2], [3, 4]]) AS t(x);
SELECT * FROM unnest(ARRAY[1.50, 2, NULL]) WITH ORDINALITY AS t(x, n);
SELECT * FROM unnest('{}'::int[]) AS t(x);
SELECT * FROM unnest(ARRAY[true, false, NULL]) AS t(x);
SELECT * FROM generate_subscripts(ARRAY[5, 6], 1) AS s, generate_subscripts('{}'::int[], 1) AS q;
SELECT array_agg(x) FROM (VALUES (1), (NULL), (2)) v(x);
SELECT array_agg(x ORDER BY x DESC NULLS LAST) FROM (VALUES (1.50), (NULL), (2)) v(x);
SELECT array_agg(x) FROM (VALUES (ARRAY[1, 2]), (ARRAY[3, 4])) v(x);
--! both 2202E
SELECT array_agg(x) FROM (VALUES (ARRAY[1, 2]), (ARRAY[3])) v(x);
SELECT array_agg(x) FROM (SELECT 1 AS x WHERE false) t;
SELECT ARRAY(SELECT 1 WHERE false), ARRAY(SELECT x FROM (VALUES (2), (1)) v(x) ORDER BY x), ARRAY(SELECT NULL::int);
SELECT ARRAY[1, 2.5];
SELECT ARRAY[1, NULL];
SELECT ARRAY[NULL::int];
SELECT ARRAY['a', NULL];
SELECT ARRAY[]::int[];
--! refused 42P18
SELECT ARRAY[[]]::int[];
SELECT ARRAY[1, '2'];
--! both 22P02
SELECT ARRAY[1, 'a'];
--! both 42P18
SELECT ARRAY[];
--! both 2202E
SELECT ARRAY[[1, 2], [3]];
--! both 22P02
SELECT '{1,2'::int[];
--! both 22P02
SELECT '{1,a}'::int[];
--! both 22P02
SELECT '{1,,2}'::int[];
SELECT '{"a b",NULL,"NULL",c d, "x\"y"}'::text[];
--! both 22P02
SELECT '{{1,2},{3,4}}'::int[], '{ 1 , 2 }'::int[], '{}'::text[], '{{}}'::int[], '{{},{}}'::int[];
--! both 2202E 22P02
SELECT '{{1,2},{3}}'::int[];
--! refused 0A000
SELECT '[0:1]={1,2}'::int[];
SELECT '{t,f,true}'::bool[], '{1.50,2}'::numeric[], '{1e400}'::numeric[] IS NULL, '{2020-1-5}'::date[];
SELECT ARRAY[1, 2]::text, ARRAY['a b', 'c"d', '', NULL, 'null', 'x,y', '{']::text, ARRAY[1.50]::text, ARRAY[true]::text, ARRAY[[1, 2], [3, 4]]::text;
SELECT ARRAY[1, 2]::float8[], ARRAY[1.5, 2.5]::int[], ARRAY['1', '2']::int[], ARRAY[1, 2]::text[], ARRAY[1.5]::text[], ARRAY[true]::text[], ARRAY[1, 0]::bool[], ARRAY[[1.5], [2.5]]::int[];
--! both 22003
SELECT ARRAY[3000000000]::int[];
--! refused 0A000
SELECT ARRAY[1, 2]::numeric(5, 2)[];
--! refused 0A000
SELECT ARRAY['abc']::varchar(2)[];
--! refused 0A000
SELECT ARRAY[1, 2] @> ARRAY[1];
--! refused 0A000
SELECT ARRAY[1] && ARRAY[1];
SELECT array_to_string(ARRAY[DATE '2020-01-01'], ','), array_to_string(ARRAY[0.1::real], ','), array_to_string(ARRAY[1e300::float8], ',');
--! refused 42883
SELECT trim_array(ARRAY[1, 2, 3], 1);
SELECT string_to_array('1,2', ',')::int[];
SELECT array_agg(DISTINCT x) FROM (VALUES (2), (10), (1)) v(x);
SELECT x || 1 FROM (VALUES (ARRAY[1.5])) v(x);
SELECT x || y FROM (VALUES (ARRAY[1], 2.5)) v(x, y);
SELECT x || y FROM (VALUES (ARRAY['a'], 'b')) v(x, y);
CREATE TABLE ar (id int, x int[], y numeric[], z text[]);
INSERT INTO ar VALUES (1, '{1,2}', '{1.0}', '{a}'), (2, ARRAY[3], ARRAY[1, 2.50], NULL);
SELECT id FROM ar WHERE y = '{1.00}';
SELECT id FROM ar WHERE x = '{3}' OR 2 = ANY (x);
SELECT id FROM ar WHERE 1 = ANY (y) ORDER BY id;
UPDATE ar SET x[2] = 9 WHERE id = 1;
--! refused 2202E
UPDATE ar SET x[5] = 9 WHERE id = 1;
SELECT x FROM ar WHERE id = 1;
UPDATE ar SET x = x || 7, y = array_remove(y, 1) WHERE id = 2;
SELECT x, y FROM ar ORDER BY id;
SELECT array_length(x, 1) + 1, x[1], x[1:2], y[1] FROM ar ORDER BY id;
--! both 42809
SELECT 33 * ANY ('{1,2,3}');
--! both 54000
SELECT ('{}'::int[])[1][2][3][4][5][6][7];
--! both 2202E 22P02
SELECT '{{1,{2}},{2,3}}'::text[];
--! both 2202E
SELECT ARRAY[[1, 2], [3, 4, 5]];
--! both 2202E
SELECT ARRAY[[[1], [2]], [[3], [4, 5]]];
--! both 2202E
SELECT array_agg('{}'::int[]) FROM generate_series(1, 2);
--! both 22004
SELECT array_agg(NULL::int[]) FROM generate_series(1, 2);
-- The type of ARRAY[...], and casts of its elements.
CREATE TABLE kinds (id int PRIMARY KEY, r real, x double precision, v double precision[]);
INSERT INTO kinds VALUES (1, 0.1, 0.1, NULL), (2, 0.7, 0.7, NULL);
SELECT pg_typeof(ARRAY[r, 1]), pg_typeof(ARRAY[r, 0.1]), pg_typeof(ARRAY[r, x]), pg_typeof(ARRAY[0.1, r]), pg_typeof(ARRAY[r, '0.1']), pg_typeof(ARRAY[[r, 1], [0.1, 2]]), pg_typeof(ARRAY[1, 0.5]) FROM kinds;
SELECT ARRAY[r, 0.1]::double precision[], ARRAY[r, x]::real[], ARRAY[[r, 0.1], [x, 1]]::double precision[], ARRAY[x, 1]::int[], ARRAY[r, 0.1]::text[] FROM kinds ORDER BY id;
SELECT ARRAY['a', 1]::text[], ARRAY['1', '2.5']::numeric[], ARRAY[1, NULL]::bigint[];
SELECT ARRAY[ARRAY[1, 2]::int[], ARRAY[3, 4]]::real[], ARRAY['{1,2}'::int[], ARRAY[3, 4]]::bigint[];
UPDATE kinds SET v = ARRAY[r, 0.1] WHERE id = 1;
UPDATE kinds SET v = ARRAY[r, 0.1]::double precision[] WHERE id = 2;
SELECT * FROM kinds ORDER BY id;
INSERT INTO kinds VALUES (3, 0.1, 0.1, ARRAY[1, 0.25]), (4, 1, 1, '{1,2}');
SELECT v FROM kinds WHERE id > 2 ORDER BY id;
--! both 42804
UPDATE kinds SET v = ARRAY['1', '2'];
DROP TABLE kinds;
