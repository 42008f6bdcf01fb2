SELECT 1, 1.5, 'a', true, NULL, 1::int, 2.5::real, '3'::int8, date '2020-02-03'
----
?column?|?column?|?column?|?column?|?column?|int4|float4|int8|date
1|1.5|a|t|NULL|1|2.5|3|2020-02-03

SELECT 7/2, -7/2, 7%3, -7%3, 7.0/2, 7/2.0, 2^3, 2::real*1.5, 1e3, 0.1+0.2, 1/3.0
----
?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?
3|-3|1|-1|3.5000000000000000|3.5000000000000000|8|3|1000|0.3|0.33333333333333333333

SELECT 1/0
----
ERROR 22012

SELECT 1.0/0
----
ERROR 22012

SELECT 1.0::float8/0
----
ERROR 22012

SELECT 2147483647 + 1
----
ERROR 22003

SELECT 9223372036854775807 + 1
----
ERROR 22003

SELECT 32767::smallint + 1::smallint
----
ERROR 22003

SELECT 2.5::float8::int, 3.5::float8::int, (-2.5)::float8::int, 2.5::int, 3.5::numeric::int
----
int4|int4|int4|int4|int4
2|4|-2|3|4

SELECT 'x'::int
----
ERROR 22P02

SELECT ''::int
----
ERROR 22P02

SELECT '12 '::int, ' 7'::bigint, '1e2'::float8, 'inf'::float8, '-Infinity'::real
----
int4|int8|float8|float8|float4
12|7|100|Infinity|-Infinity

SELECT '99999999999'::int
----
ERROR 22003

SELECT 1.5::text, true::text, 1e20::float8::text, 1e-5::float8, 123456789012345678::float8, 0.1::real, 1e10::real, 100000::real
----
text|text|text|float8|float8|float4|float4|float4
1.5|true|1e+20|1e-05|1.2345678901234568e+17|0.1|1e+10|100000

SELECT round(2.5), round(-2.5), round(2.345, 2), round(2.5::float8), round(3.5::float8), round(1.00001::numeric, 3)
----
round|round|round|round|round|round
3|-3|2.35|2|4|1.000

SELECT coalesce(NULL, 1, 2), nullif(1, 1), greatest(1, 2.5, NULL), least(3, NULL, 1)
----
coalesce|nullif|greatest|least
1|NULL|2.5|1

SELECT CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END, CASE 1 WHEN 1 THEN 1.5 ELSE 2 END, CASE WHEN false THEN 1 END
----
case|case|case
b|1.5|NULL

SELECT 1 IN (1, 2), 3 NOT IN (1, NULL), NULL IN (1), 'a' IN ('a', 'b'), 1.0 IN (1, 2)
----
?column?|?column?|?column?|?column?|?column?
t|NULL|NULL|t|t

SELECT 1 = ANY(ARRAY[1, 2]), 3 = ANY('{1,2}'), 2 > ALL(ARRAY[1, NULL]), 2 = ANY(ARRAY[]::int[]), 2 = ALL(ARRAY[]::int[])
----
?column?|?column?|?column?|?column?|?column?
t|f|NULL|f|t

SELECT 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3, 'b' LIKE 'b%', 'Abc' ILIKE 'a_C', 'abc' LIKE 'b', 'abc' ~ '^a.c$', 'abc' !~* 'B'
----
?column?|?column?|?column?|?column?|?column?|?column?|?column?
t|f|t|t|f|t|f

SELECT 'a' || 'b', 'a' || 1, 1 || 'x', NULL || 'a', 'a' || 1.50
----
?column?|?column?|?column?|?column?|?column?
ab|a1|1x|NULL|a1.50

SELECT upper('ab'), lower('AB'), length('aäb'), substr('hello', 2, 3), substring('hello' from 2 for 2), position('l' in 'hello'), trim('  x '), ltrim('xxa', 'x'), replace('aXa', 'X', 'b'), left('abc', 2), right('abc', -1), lpad('7', 3, '0'), repeat('ab', 2), reverse('abc'), split_part('a,b,c', ',', 2), initcap('hello world'), strpos('abc', 'c')
----
upper|lower|length|substr|substring|position|btrim|ltrim|replace|left|right|lpad|repeat|reverse|split_part|initcap|strpos
AB|ab|3|ell|el|3|x|a|aba|ab|bc|007|abab|cba|b|Hello World|3

SELECT concat('a', NULL, 1, true), concat_ws('-', 'a', NULL, 2), format('%s-%I-%L', 'a', 'B', 'c''d'), md5('a'), ascii('A'), chr(65)
----
concat|concat_ws|format|md5|ascii|chr
a1t|a-2|a-"B"-'c''d'|0cc175b9c0f1b6a831c399e269772661|65|A

SELECT substr('hello', -1, 3), substr('hello', 0), substring('foobar' from 'o.b'), regexp_replace('abcabc', 'b', 'X'), regexp_replace('abcabc', '(b)', '<\1>', 'g'), translate('12345', '143', 'ax')
----
substr|substr|substring|regexp_replace|regexp_replace|translate
h|hello|oob|aXcabc|a<b>ca<b>c|a2x5

SELECT abs(-3), abs(-2.5), sign(-2.0), ceil(1.2), floor(-1.2), trunc(1.29, 1), sqrt(2), sqrt(2.0), exp(1), exp(1.0), ln(2), ln(2.0), log(100), log(2.0, 8), power(2, 3), power(2.0, 3), mod(7, 3), pi()
----
abs|abs|sign|ceil|floor|trunc|sqrt|sqrt|exp|exp|ln|ln|log|log|power|power|mod|pi
3|2.5|-1|2|-2|1.2|1.4142135623730951|1.414213562373095|2.718281828459045|2.7182818284590452|0.6931471805599453|0.6931471805599453|2|3.0000000000000000|8|8.0000000000000000|1|3.141592653589793

SELECT sqrt(-1)
----
ERROR 2201F

SELECT ln(0)
----
ERROR 2201E

SELECT sqrt(16::int), degrees(pi()), sin(1), atan2(1, 2), tanh(0.5), 2 ^ 0.5, 2.0 ^ 0.5
----
sqrt|degrees|sin|atan2|tanh|?column?|?column?
4|180|0.8414709848078965|0.4636476090008061|0.46211715726000974|1.4142135623730950|1.4142135623730950

SELECT generate_series(1, 3)
----
generate_series
1
2
3

SELECT * FROM generate_series(1, 10, 4) AS g(i)
----
i
1
5
9

SELECT i FROM generate_series(3, 1, -1) i
----
i
3
2
1

SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS t(v, o)
----
v|o
1|1
2|2
3|3

SELECT * FROM generate_series(1.0, 2.0, 0.5) x
----
x
1.0
1.5
2.0

SELECT * FROM unnest(ARRAY['a', 'b', NULL]) WITH ORDINALITY
----
unnest|ordinality
a|1
b|2
NULL|3

SELECT unnest('{1,2,3}'::int[]) AS u, 'k' AS k
----
u|k
1|k
2|k
3|k

SELECT a, unnest(string_to_array(bs, ' ')::int[]) FROM (VALUES (0, '1 2 3'), (1, '4')) AS l(a, bs)
----
a|unnest
0|1
0|2
0|3
1|4

SELECT ARRAY[1, 2, 3], ARRAY[1.5, 2], ARRAY['a', NULL, 'b c'], ARRAY[[1, 2], [3, 4]], '{}'::int[], ARRAY[true, false]
----
array|array|array|array|int4|array
{1,2,3}|{1.5,2}|{a,NULL,"b c"}|{{1,2},{3,4}}|{}|{t,f}

SELECT (ARRAY[10, 20, 30])[2], (ARRAY[10, 20, 30])[4], (ARRAY[[1, 2], [3, 4]])[2][1], (ARRAY[1, 2, 3, 4])[2:3], (ARRAY[1, 2, 3])[:2], (ARRAY['a', 'b'])[1]
----
array|array|array|array|array|array
20|NULL|3|{2,3}|{1,2}|a

SELECT string_to_array('a,b,c', ','), array_to_string(ARRAY[1, 2, NULL], '-'), array_to_string(ARRAY[1, NULL, 3], ',', '*'), array_length(ARRAY[1, 2], 1), array_length('{}'::int[], 1), cardinality(ARRAY[[1, 2], [3, 4]]), array_ndims(ARRAY[[1], [2]]), array_dims(ARRAY[[1, 2]]), array_upper(ARRAY[5, 6], 1)
----
string_to_array|array_to_string|array_to_string|array_length|array_length|cardinality|array_ndims|array_dims|array_upper
{a,b,c}|1-2|1,*,3|2|NULL|4|2|[1:1][1:2]|2

SELECT ARRAY[1, 2] || 3, 0 || ARRAY[1], ARRAY[1] || ARRAY[2, 3], array_append(ARRAY['a'], 'b'), array_prepend(1, ARRAY[2]), array_cat(ARRAY[1], ARRAY[2]), array_position(ARRAY['a', 'b'], 'b'), array_remove(ARRAY[1, 2, 1], 1)
----
?column?|?column?|?column?|array_append|array_prepend|array_cat|array_position|array_remove
{1,2,3}|{0,1}|{1,2,3}|{a,b}|{1,2}|{1,2}|2|{2}

SELECT ARRAY[1, 2] = ARRAY[1, 2], ARRAY[1, 2] <> '{1,2}', ARRAY['a'] = ARRAY['b']
----
?column?|?column?|?column?
t|f|f

SELECT '1 2 3'::text, 'abc'::varchar(2), 12.345::numeric(5, 1), 12.345::numeric(6, 2), 'true'::bool, 'off'::boolean, 0::bool, true::int
----
text|varchar|numeric|numeric|bool|bool|bool|int4
1 2 3|ab|12.3|12.35|t|f|f|1

SELECT 1 < 2, 1 < NULL, NOT true, true AND NULL, false AND NULL, true OR NULL, NULL IS NULL, 1 IS NOT NULL, NULL IS DISTINCT FROM 1, 1 IS NOT DISTINCT FROM 1, (1 > 2) IS FALSE, NULL::bool IS UNKNOWN
----
?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?|?column?
t|NULL|f|NULL|f|t|t|t|t|t|t|t

SELECT pg_typeof(1), pg_typeof(1.5), pg_typeof(1::real + 1), pg_typeof(1 + 1.5), pg_typeof('a'), pg_typeof(2 ^ 2), pg_typeof(1::real * 2::real), pg_typeof(1::real + 1.5), pg_typeof(sqrt(2)), pg_typeof(count(*)), pg_typeof(sum(1)), pg_typeof(avg(1)), pg_typeof(ARRAY[1.5])
----
pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof
integer|numeric|double precision|numeric|unknown|double precision|real|double precision|double precision|bigint|bigint|numeric|numeric[]

SELECT pg_typeof(sum(1::bigint)), pg_typeof(sum(1.5::real)), pg_typeof(avg(1.5::real)), pg_typeof(round(1.5::real)), pg_typeof(coalesce(1, 1.5)), pg_typeof(row_number() OVER ()), pg_typeof(stddev_pop(1)), pg_typeof(stddev_pop(1.0::real))
----
pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof|pg_typeof
numeric|real|double precision|double precision|numeric|bigint|numeric|double precision

SELECT date '2024-01-31' + 1, date '2024-03-01' - date '2024-02-01', extract(year FROM date '2024-05-06'), date_trunc('month', timestamp '2024-05-06 07:08:09'), date '2024-01-01' < date '2024-01-02', '2024-01-01'::date::text, extract(dow FROM date '2024-05-06')
----
?column?|?column?|extract|date_trunc|?column?|text|extract
2024-02-01|29|2024|2024-05-01 00:00:00|t|2024-01-01|1

SELECT '2024-13-01'::date
----
ERROR 22008

SELECT nosuch FROM generate_series(1, 2) g
----
ERROR 42703

SELECT * FROM nosuch
----
ERROR 42P01

SELECT nosuch(1)
----
ERROR 42883

SELECT 'a' + 1
----
ERROR 22P02

SELECT true + 1
----
ERROR 42883

SELECT 1 + ARRAY['a']
----
ERROR 42883

SELECT x.y FROM generate_series(1, 2) g
----
ERROR 42P01

SELECT sum(g), count(*) FROM generate_series(1, 4) g WHERE sum(g) > 1
----
ERROR 42803

SELECT g, sum(g) FROM generate_series(1, 4) g
----
ERROR 42803

SELECT CASE WHEN true THEN 1 ELSE 'x' END
----
ERROR 22P02

SELECT (SELECT g FROM generate_series(1, 2) g)
----
ERROR 21000

SELECT (SELECT max(g) FROM generate_series(1, 2) g), EXISTS (SELECT 1), ARRAY(SELECT g FROM generate_series(1, 3) g), 2 IN (SELECT generate_series(1, 3)), 5 > ALL (SELECT generate_series(1, 3))
----
max|exists|array|?column?|?column?
2|t|{1,2,3}|t|t

SELECT 1.5 = 1.50, 10 > 9.5, 1::real = 1, 0.1::real = 0.1, 0.5::real = 0.5, 'a' < 'b', 100::numeric > 20::numeric
----
?column?|?column?|?column?|?column?|?column?|?column?|?column?
t|t|t|f|t|t|t

SELECT 1 AS a, 2 AS "B", 3 AS "c d"
----
a|B|c d
1|2|3

VALUES (1, 'a'), (2, NULL)
----
column1|column2
1|a
2|NULL

SELECT * FROM (VALUES (1, 'a'), (2.5, NULL)) AS v(n, t) ORDER BY n DESC
----
n|t
2.5|NULL
1|a

SELECT 12345.678::numeric(10, 2), 1e400::numeric > 1, (-5)::numeric % 3, 7.5 % 2, div(7.5, 2), scale(1.500)
----
numeric|?column?|?column?|?column?|div|scale
12345.68|t|-2|1.5|3|3
