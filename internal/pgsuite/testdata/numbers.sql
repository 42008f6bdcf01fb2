-- Numbers: arithmetic, functions, casts, comparisons of different types.
SELECT 7 / 2, -7 / 2, 7 % 3, -7 % 3, 7 % -3, 7.5 / 2, 7.5 % 2, -7.5 % 2, 1.0 / 3, 10.0 / 3, 1 / 3.0, 2 / 3.0;
--! both 22012
SELECT 1 / 0;
--! both 22012
SELECT 1 % 0;
--! both 22012
SELECT 1.0 / 0;
--! both 22012
SELECT 1::float8 / 0;
--! both 22012
SELECT 1.0 % 0;
--! both 22003
SELECT 2147483647 + 1;
--! both 22003
SELECT -2147483648 - 1;
--! both 22003
SELECT 2147483647 * 2;
--! both 22003
SELECT 9223372036854775807 + 1;
--! both 22003
SELECT (-2147483648) / -1;
--! both 22003
SELECT (-9223372036854775808) / -1;
SELECT (-9223372036854775808) % -1;
--! both 22003
SELECT 32767::smallint + 1::smallint;
SELECT 32767::smallint + 1;
--! both 22003
SELECT -(-32768)::smallint;
SELECT -(-2147483648);
--! both 22003
SELECT - (-2147483648)::int;
--! both 22003
SELECT abs(-2147483648);
SELECT abs(-5), abs(-5.50), abs(-5::float8), abs(-5::smallint), abs('-0'::float8);
SELECT 2 ^ 10, 2 ^ -1, 2.0 ^ 10, 2::float8 ^ 0.5, (-8) ^ 3, 2 ^ 0.5, 0 ^ 0, 2.0 ^ 0.5;
--! both 2201F
SELECT (-8.0) ^ 0.5;
--! both 2201F
SELECT (-8::float8) ^ 0.5;
--! both 2201F
SELECT 0.0 ^ -1;
--! both 2201F
SELECT 0::float8 ^ -1;
--! both 22003
SELECT 10::float8 ^ 400;
SELECT power(2, 3), power(2.0, 3), power(2::float8, 'inf'), power('inf'::float8, 0), power(1::float8, 'inf'), power('-inf'::float8, 3), power(0.5::float8, 'inf'), power('-inf'::float8, -3);
SELECT 5 & 3;
SELECT 5 | 3;
SELECT 5 # 3;
--! refused 0A000
SELECT ~5;
SELECT 1 << 3;
SELECT 16 >> 2;
SELECT -1 >> 1;
--! refused 22003
SELECT 1 << 31;
SELECT 1::bigint << 40;
SELECT 1 << 32;
SELECT 1 << 33;
SELECT 1::bigint << 64;
SELECT 1::bigint << 65;
--! refused 22003
SELECT 1 << -1;
SELECT 8 >> 33;
SELECT 8 >> -1;
SELECT round(2.5), round(-2.5), round(2.5::float8), round(3.5::float8), round(-2.5::float8), round(2.345, 2), round(2345, -2), round(0.5::float8), round(1e20::float8), round(12.5, 0), round(5);
SELECT trunc(2.7), trunc(-2.7), trunc(2.789, 2), trunc(-2.7::float8), trunc(1234, -2), floor(-2.5), floor(2.5::float8), ceil(-2.5), ceil(2.5::float8), ceiling(2.1), ceil(-0.5), ceil(-0.5::float8), round(-0.4), round(-0.4::float8), trunc(-0.5::float8);
SELECT floor(5), ceil(5), round(5::bigint), trunc(5::smallint), sign(-5), sign(-5.5), sign(0), sign('-0'::float8), sign(0.0);
SELECT sqrt(2), sqrt(2.0), sqrt(4), sqrt(4.0), sqrt(0), cbrt(27), cbrt(-8), exp(1), exp(1.0), exp(0), ln(2), ln(2.0), log(100), log(100.0), log(2, 8), log(2.0, 64.0), log10(1000);
--! both 2201F
SELECT sqrt(-1);
--! both 2201F
SELECT sqrt(-1.0);
--! both 2201E
SELECT ln(0);
--! both 2201E
SELECT ln(-1.0);
--! both 2201E
SELECT log(0.0);
--! both 22012
SELECT log(1.0, 2.0);
--! both 22003
SELECT exp(1000);
--! both 22003
SELECT exp(-1000);
SELECT exp(-1000.0);
--! both 22003
SELECT exp(10000.0);
SELECT exp('-inf'::float8), exp('inf'::float8), ln('inf'::float8), sqrt('inf'::float8), atan('inf'::float8), tanh('inf'::float8);
--! both 22003
SELECT sin('inf'::float8);
--! both 22003
SELECT asin(2);
--! both 22003
SELECT acosh(0.5);
--! refused 22003
SELECT atanh(1);
--! refused 22003
SELECT atanh(-1);
--! both 22003
SELECT atanh(2);
SELECT sin(1), cos(1), tan(1), cot(1), asin(1), acos(0), atan(1), atan2(1, 2), sinh(1), cosh(1), tanh(1), asinh(1), acosh(2), atanh(0.5), degrees(1), radians(180), pi();
--! refused 22003
SELECT cot(0);
SELECT atan2(0, -1);
SELECT atan2('-0'::float8, -1);
--! refused 22003
SELECT cosh(800);
--! refused 22003
SELECT sinh(800);
SELECT sind(30);
SELECT cosd(60);
SELECT tand(45);
SELECT mod(7, 3);
SELECT mod(-7, 3);
SELECT mod(7.5, 2);
SELECT mod(7::bigint, 3);
SELECT mod(7::smallint, 3::smallint), pg_typeof(mod(7::smallint, nullif(3::smallint, 0)));
SELECT mod((-32768)::smallint, (-1)::smallint);
SELECT div(7.5, 2);
SELECT div(-7.5, 2);
SELECT div(7, 2);
--! both 22012
SELECT mod(1, 0);
--! both 22012
SELECT div(1, 0);
SELECT gcd(12, 18), gcd(-12, 18), gcd(0, 0), lcm(4, 6), lcm(-4, 6), lcm(0, 5), gcd(12::bigint, 18);
--! refused 42883
SELECT gcd(1.5, 0.5);
SELECT factorial(5), factorial(0), factorial(20), factorial(25);
--! both 22003
SELECT factorial(-1);
SELECT scale(1.500);
SELECT scale(5);
--! refused 42883
SELECT min_scale(1.500);
--! refused 42883
SELECT trim_scale(1.500);
SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(-1::float8, 0, 10, 5), width_bucket(10::float8, 0, 10, 5), width_bucket(0::float8, 0, 10, 5), width_bucket(5::float8, 10, 0, 5), width_bucket(10::float8, 10, 0, 5), width_bucket(0::float8, 10, 0, 5);
--! both 2201G
SELECT width_bucket(5, 0, 10, 0);
--! both 2201G
SELECT width_bucket(5, 10, 10, 5);
--! both 22003 2201G
SELECT width_bucket('nan'::float8, 0, 10, 5);
SELECT width_bucket('inf'::float8, 0, 10, 5), width_bucket('-inf'::float8, 0, 10, 5);
SELECT width_bucket(5::float8, 0, 10, 2147483647);
SELECT width_bucket(0.3::float8, 0, 1, 10), width_bucket(0.7::float8, 0, 1, 10), width_bucket(0.6::float8, 0, 1, 10);
SELECT 0.1 + 0.2, 0.1::float8 + 0.2, 0.1::real + 0.2::real, 0.1::real + 0.2::float8, 0.1::real + 1, 0.1::real = 0.1, 0.1::real = 0.1::float8, 0.1::float8 = 0.1, 1 = 1.0, 1::float8 = 1.0, 0.1::real::numeric, 0.1::real::float8, 0.3::float8::real;
SELECT 1e10, 1.5e3, 1e-5, .5, 5., 123456789012345678901234567890, 1e400, 0.000, -0.0, +5;
SELECT 1e10::float8, 1e15::float8, 1e16::float8, 123456789.0::float8, 0.0001::float8, 0.00001::float8, 1e-300::float8, 1e300::float8, 100000::real, 1000000::real, 1e7::real, 1e-5::real, 3.14::real, 1.0::float8, '-0'::float8, '-0'::real;
SELECT 'inf'::float8, '-infinity'::real, 'Infinity'::float8 = 'inf', 'inf'::float8 > 1e308, 'inf'::float8 - 1;
--! refused 22003
SELECT 'inf'::float8 - 'inf'::float8 IS NULL;
--! refused 22003
SELECT 'nan'::float8 > 1;
--! refused 22003
SELECT 'inf'::float8 * 0 IS NULL;
--! both 22003
SELECT '1e400'::float8;
--! both 22003
SELECT '1e-400'::float8;
--! both 22003
SELECT '1e39'::real;
--! both 22003
SELECT 1e39::float8::real;
--! both 22003
SELECT 1e-50::float8::real;
--! both 22P02
SELECT ''::int;
SELECT ' 5 '::int, '+5'::int, '-5'::int, '5.'::numeric, '.5'::numeric, '1e3'::numeric, ' 1.50 '::numeric, '1e-2'::numeric, '0x1'::text;
--! both 22P02
SELECT '5.5'::int;
--! both 22P02
SELECT '1e3'::int;
--! both 22003
SELECT '99999999999'::int;
--! both 22P02
SELECT '1 2'::int;
SELECT 2.5::int, 3.5::int, -2.5::int, 2.5::float8::int, 3.5::float8::int, -2.5::float8::int, 0.5::float8::int, 1.5::real::int, 2.5::numeric::bigint, 2.4999::float8::int;
--! both 22003
SELECT 3e9::int;
--! both 22003
SELECT 3e9::float8::int;
--! both 22003
SELECT 1e20::float8::bigint;
--! both 22003
SELECT 'inf'::float8::int;
--! refused 0A000
SELECT 'inf'::float8::numeric;
--! both 22003
SELECT 70000::smallint;
SELECT true::int, 0::bool, 5::bool, 1::text::bool, 't'::bool, 'yes'::bool, 'off'::bool, ' true '::bool, 'n'::bool;
--! both 22P02
SELECT 'o'::bool;
--! both 22P02
SELECT 2::text::bool;
--! both 42846
SELECT 1.0::bool;
--! both 42846
SELECT true::text, false::text, true::float8;
SELECT 1.5::numeric(5, 1), 1.55::numeric(5, 1), 1.45::numeric(5, 1), 123.456::numeric(5, 2), 5::numeric(3), 5.5::numeric(3), 5::numeric(5, 2);
--! both 22003
SELECT 1234.5::numeric(5, 2);
SELECT 0.1::float8::numeric, 1e20::float8::numeric, 123456.789::float8::numeric, 0.123456789012345678::float8::numeric, 1e-10::float8::numeric, 3.14::real::numeric, 1234567::real::numeric;
SELECT 1.10 + 2.2, 1.10 * 2.2, 1.1 - 1.10, 2.50 / 0.5, 1.0000 * 1, 5.0 / 2, 100.0 / 3, 1e10 / 3, 1 / 7.0, 0.00001 / 3, 12345678901234567890.5 / 7;
SELECT 1.50 = 1.5, 1.50::text = 1.5::text, 1.5 > 1, 10.0 > 9, 10 > 9.5, '10' > '9', '10'::numeric > 9, 2 < 10::float8, 9007199254740993 = 9007199254740992::float8, 9007199254740993 > 9007199254740992::float8, 0.1 < 0.1::float8, 9223372036854775807 = 9223372036854775808::float8;
SELECT 16777217 = 16777216::real, 16777217::bigint = 16777216::real, 0.1::real < 0.1::float8, 0.1::real IN (0.1, 0.2), 0.1::real IN (0.1::float8), 1 IN (1.0, 2), 1 IN (0.5, 1::float8), 1.5 IN (1, 2);
SELECT 5 BETWEEN 1 AND 10;
SELECT 5 BETWEEN 10 AND 1;
SELECT 5 BETWEEN SYMMETRIC 10 AND 1;
SELECT 5 NOT BETWEEN 1 AND 3;
SELECT 1.5 BETWEEN 1 AND 2;
SELECT NULL BETWEEN 1 AND 2;
SELECT 5 BETWEEN NULL AND 3;
SELECT greatest(1, 2.5), greatest(1, 2.5::float8), least(1, NULL, 3), greatest(NULL, NULL), greatest(1.0, 1.00), greatest('a', 'b'), least(true, false), greatest(1, '5');
SELECT coalesce(NULL, 1, 2.5), coalesce(1, 2.5), coalesce(NULL, NULL), coalesce('a', 'b'), coalesce(1, '2'), nullif(1, 1), nullif(1, 2), nullif(1.0, 1), nullif(1, 1.5), nullif('a', 'a'), nullif(NULL, 1);
SELECT CASE WHEN true THEN 1 ELSE 2.5 END, CASE WHEN false THEN 1 END, CASE 1 WHEN 1.0 THEN 'a' END, CASE NULL WHEN NULL THEN 1 ELSE 2 END, CASE WHEN NULL THEN 1 ELSE 2 END;
SELECT pg_typeof(1), pg_typeof(1.5), pg_typeof('a'), pg_typeof(NULL), pg_typeof(1 + 1.5), pg_typeof(1::smallint + 1::bigint), pg_typeof(1::real + 1), pg_typeof(1::real + 1::real), pg_typeof(1 / 2), pg_typeof(3000000000), pg_typeof(sum(1)), pg_typeof(avg(1)), pg_typeof(count(*)), pg_typeof(ARRAY[1]), pg_typeof(1 = 1), pg_typeof(now()), pg_typeof(current_date), pg_typeof(2 ^ 2), pg_typeof(round(1.5::float8)), pg_typeof(floor(5)), pg_typeof(abs(1::real)), pg_typeof(1::real * 2.5), pg_typeof(sqrt(4)), pg_typeof(mod(5::smallint, 3));
SELECT TRUE AND NULL, FALSE AND NULL, TRUE OR NULL, NOT NULL, NULL = NULL, NULL <> 1, 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL, NULL IS NULL, 1 IS NOT NULL, (NULL IS TRUE), (true IS NOT FALSE), (NULL::bool IS UNKNOWN);
--! both 42883
SELECT 1 = TRUE;
--! both 42804
SELECT 1 AND 2;
--! both 42804
SELECT NOT 1;
SELECT true = 't', true > false, true IN ('t', 'f');
--! both 22P02
SELECT 'a' = 1;
--! both 42883
SELECT 'abc'::text = 1;
SELECT '1' = 1, '1.0' = 1.0, 1 < '2';
--! both 22P02
SELECT '1.5' = 1;
SELECT ROW(1, 2) = ROW(1, 2);
SELECT ROW(1, 2) < ROW(1, 3);
SELECT (1, 2) <> (1, 3);
SELECT (1, NULL) = (1, 2);
SELECT (1, NULL) = (2, 2);
SELECT (1, 2) >= (1, 1);
SELECT (NULL, 1) < (1, 2);
SELECT (2, NULL) > (1, 5);
--! both 0A000
SELECT ROW() = ROW();
--! both 42601
SELECT ROW(1) = ROW(1, 2);
SELECT ROW(1) = ROW(1), ROW(1.0) = ROW(1);
SELECT ROW(1, 2) IS NULL;
SELECT ROW(NULL, NULL) IS NULL;
SELECT ROW(1, NULL) IS NOT NULL;
SELECT ROW(1, 2) IN (ROW(1, 2), ROW(3, 4)), (1, 2) NOT IN ((1, 3)), (1, NULL) IN ((1, 2)), ROW(1, 2) IS DISTINCT FROM ROW(1, 2);
SELECT (1, 2) IN (SELECT 1, 2);
SELECT (1, NULL) IN (SELECT 1, 2);
SELECT (1, 3) NOT IN (SELECT 1, 2);
--! refused 0A000
SELECT (1, 2) = (SELECT 1, 2);
--! refused 0A000
SELECT (1, 2) < (SELECT 1, 3);
SELECT (1, 2) = ANY (SELECT 1, 2);
SELECT (1, 2) <> ALL (SELECT 1, 3);
--! refused 0A000
SELECT (1, 2) < ANY (SELECT 1, 3);
--! both 42883
SELECT 1 IN (SELECT NULL), 1 NOT IN (SELECT NULL::int), 1 IN (SELECT 1 WHERE false), 1 NOT IN (SELECT 1 WHERE false), NULL IN (SELECT 1 WHERE false), 1.0 IN (SELECT 1), 1 IN (SELECT 1.00), 'a' IN (SELECT 'a');
SELECT 1 < ANY (SELECT 2), 1 < ALL (SELECT NULL::int), 1 > ALL (SELECT 1 WHERE false), 1 = ANY (SELECT 1.0), NULL < ANY (SELECT 1), 3 > ALL (SELECT x FROM (VALUES (1), (2)) v(x));
SELECT (SELECT 1 WHERE false) IS NULL, (SELECT 1) + 1;
--! both 21000
SELECT (SELECT x FROM (VALUES (1), (2)) v(x));
--! both 42601
SELECT (SELECT 1, 2);
SELECT 1 LIMIT 0;
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT 2 OFFSET 1;
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT NULL OFFSET NULL;
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT ALL;
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT 1.5;
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT 2.5 OFFSET 0.5;
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT '2';
--! both 2201W
SELECT x FROM generate_series(1, 5) x LIMIT -1;
--! both 2201X
SELECT x FROM generate_series(1, 5) x OFFSET -1;
--! both 22P02
SELECT x FROM generate_series(1, 5) x LIMIT 'a';
--! both 2201W
SELECT x FROM generate_series(1, 5) x LIMIT (SELECT -1);
--! both 2201X
SELECT x FROM generate_series(1, 5) x OFFSET (SELECT -1);
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT (SELECT 2);
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT (SELECT NULL::int) OFFSET (SELECT NULL::int);
SELECT x FROM generate_series(1, 5) x ORDER BY x LIMIT CASE WHEN true THEN NULL ELSE 1 END;
--! both 42P10
SELECT x FROM generate_series(1, 5) x LIMIT x;
SELECT x FROM generate_series(1, 5) x ORDER BY x FETCH FIRST 2 ROWS ONLY;
--! refused 0A000
SELECT x FROM generate_series(1, 5) x ORDER BY x FETCH FIRST 2 ROWS WITH TIES;
SELECT * FROM generate_series(1, 3), generate_series(5, 1, -2) AS g;
--! both 22023
SELECT * FROM generate_series(1, 3, 0);
--! both 42712
SELECT * FROM generate_series(3, 1), generate_series(1, 2);
SELECT * FROM generate_series(NULL, 3);
SELECT * FROM generate_series(1, 2.5, 0.5);
--! both 22023
SELECT * FROM generate_series(1.0, 2.0, 0.0);
--! both 42883
SELECT * FROM generate_series(1::float8, 2);
--! both 42725
SELECT * FROM generate_series('1', '3');
SELECT count(*) FROM generate_series(2147483646, 2147483647);
SELECT count(*) FROM generate_series(9223372036854775806, 9223372036854775807);
SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS t(a, b);
VALUES (1, 2), (3, 4 + 4), (7, 77.7) UNION ALL SELECT 2 + 2, 57 UNION ALL SELECT 1, 1;
SELECT 1 UNION ALL SELECT 2.5 ORDER BY 1;
SELECT 1 AS x UNION SELECT 2 ORDER BY x DESC;
--! both 22P02
SELECT 1 UNION SELECT 'a';
SELECT '1' UNION SELECT 2 ORDER BY 1;
SELECT NULL UNION SELECT 1 ORDER BY 1;
SELECT 1 INTERSECT SELECT 1.0;
SELECT 1.00 EXCEPT SELECT 1;
--! both 42601
SELECT 1, 2 UNION SELECT 1;
SELECT * FROM (VALUES (1), (2.5), (NULL)) v(x) ORDER BY x DESC;
--! both 22P02
SELECT * FROM (VALUES (1), ('a')) v(x);
SELECT x FROM (VALUES (2.0), (10), (1.5)) v(x) ORDER BY x;
SELECT x FROM (VALUES ('2'), ('10')) v(x) ORDER BY x;
SELECT DISTINCT x FROM (VALUES (1.0), (1), (2)) v(x) ORDER BY x;
SELECT x FROM (VALUES (1), (NULL), (3)) v(x) ORDER BY x NULLS FIRST;
SELECT x FROM (VALUES (1), (NULL), (3)) v(x) ORDER BY x DESC;
SELECT x FROM (VALUES (1), (NULL), (3)) v(x) ORDER BY x DESC NULLS LAST;
--! both 42703
SELECT x AS a FROM (VALUES (3), (1)) v(x) ORDER BY a + 1;
--! both 42P10
SELECT x FROM (VALUES (3), (1)) v(x) ORDER BY 2;
--! both 42601
SELECT x FROM (VALUES (3), (1)) v(x) ORDER BY 'a';
--! both 42601
SELECT x FROM (VALUES (3), (1)) v(x) ORDER BY NULL;
--! refused 0A000
SELECT x FROM (VALUES (3), (1)) v(x) GROUP BY x ORDER BY x USING >;
--! both 42P10
SELECT DISTINCT x FROM (VALUES (3, 1), (1, 2)) v(x, y) ORDER BY y;
SELECT DISTINCT ON (x) x, y FROM (VALUES (1, 2), (1, 1), (2, 5)) v(x, y) ORDER BY x, y;
--! both 42P10
SELECT DISTINCT ON (y) x, y FROM (VALUES (1, 2), (1, 1), (2, 5)) v(x, y) ORDER BY x, y;
SELECT DISTINCT ON (x) x, y FROM (VALUES (1.0, 2), (1.00, 1), (2, 5)) v(x, y) ORDER BY x, y;
SELECT DISTINCT ON (x) x, y FROM (VALUES (1, 2), (1, 1), (2, 5)) v(x, y) ORDER BY x, y LIMIT 1;
SELECT num_nulls(1, NULL, 2), num_nonnulls(1, NULL, 2);
--! both 42883
SELECT random() BETWEEN 0 AND 1, random(1, 2);
--! refused 42883
SELECT numeric_inc(1);
--! refused 42883
SELECT int4pl(1, 2);
--! both 42883
SELECT substring(5 FROM 1);
--! both 42883
SELECT nosuch(1);
--! both 42703
SELECT nosuchcol;
--! both 42P01
SELECT x.y;
SELECT log(10), ln(10), exp(2.5), power(2.5, 1.5), sqrt(10.5), 2.5 ^ 3, 10 ^ -2.0, 1.1 ^ 10, 0.5 ^ 0.5;
SELECT 1.23456789012345678901234567890 * 2, 1e-30 * 1e-30, 1e30 * 1e30, 99999999999999999999 + 1, -1.5 % 1, 5.5 % -2;
SELECT 3.7::numeric::int, (-3.7)::int, 1e2::int, 123.0::text, 1e2::text, 1.50::text, 100::numeric::text, 1e-7::numeric::text, 1e25::float8::text, 1e5::float8::text, 1.5::real::text;
--! both 42883
SELECT 1 != 2, 1 <> 2, not true, 5 !~ '5';
--! both 42601
SELECT @ -5, |/ 4, ||/ 27, 5 !;
SELECT cast('5' AS int), int '5', '5'::integer, float8 '1.5', numeric '2.50', boolean 't';
SELECT 5::int4, 5::int8, 5::int2, 5::float4, 5::float8, 5::decimal, 5::float, 5::float(10), 5::double precision, 5::bigint;
SELECT 1 AS one, 2 two, 'x' AS "Q y";
-- logarithms and powers of numbers that no double can tell from 1, or hold
select round(((1 - 1.500012345678e-1000) ^ 1.45e1003) * 1e1000);
select (1 + 1e-400) ^ 1e400, (1 + 1e-900) ^ (-3e900), (1 - 1e-400) ^ 1e-400;
select ln(1 + 1e-400), ln(1.05 + 1e-500), log(1 + 1e-350, 3), log(1 + 1e-330, 1e3);
select 1::numeric ^ 1e1000, (-1)::numeric ^ 1e1000, 1e-400 ^ 1.5;

-- Comparisons of two types of numbers.
SELECT 0.1::real IN (SELECT 0.1), 0.1 = ANY (SELECT 0.1::real), 16777217::bigint IN (SELECT 16777216::real), (16777217, 1) IN (SELECT 16777216::real, 1), 0.1::real <> ALL (SELECT 0.10), 0.5::real IN (SELECT 0.50), 3 IN (SELECT 3.0), 3::real NOT IN (SELECT 3);
SELECT x > 9007199254740992::float8, x = 9007199254740992::float8, x IN (9007199254740992::float8), x = ANY (SELECT 9007199254740992::float8), x BETWEEN 9007199254740992::float8 AND 9007199254740992::float8 FROM (VALUES (9007199254740993)) v(x);
SELECT x FROM (VALUES (9007199254740993)) v(x) WHERE x = 9007199254740992::float8;
SELECT x, y FROM (VALUES (9007199254740993)) v(x) JOIN (VALUES (9007199254740992::float8)) w(y) ON x = y;
SELECT x FROM (VALUES (9007199254740993)) v(x) JOIN (VALUES (9007199254740992::float8)) w(x) USING (x);
