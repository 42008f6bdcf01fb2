-- Regular expressions, and functions of texts.
SELECT substring('foo' FROM 'foo(bar)?') IS NULL;
SELECT substring('foobar' FROM 'foo(bar)?'), substring('foobar' FROM 'o(.)b'), substring('foobar' FROM 'z'), substring('foobar' FROM 'o(?:o)b');
SELECT substring('abc' FROM '(x)?(b)'), substring('abc' FROM '(b)(x)?');
SELECT regexp_match('foo', 'foo(bar)?'), regexp_match('foobar', 'foo(bar)?'), regexp_match('abc', '(x)?(b)');
SELECT regexp_match('foo', 'x'), regexp_match('foo', 'o+'), regexp_match('foo', '');
--! refused 42883
SELECT regexp_match('foo', 'FOO', 'i');
SELECT regexp_replace('foo', 'foo(bar)?', '[\1]');
SELECT regexp_replace('foobar', '(o)(o)', '\2x\1');
SELECT regexp_replace('foobar', 'o', '\0');
SELECT regexp_replace('foobar', 'o', '\&\&', 'g');
SELECT regexp_replace('foobar', 'o', '\\', 'g');
SELECT regexp_replace('foobar', 'o', '$1', 'g');
SELECT regexp_replace('foobar', 'o', '\3', 'g');
SELECT regexp_replace('foobar', 'o', '\x', 'g');
SELECT regexp_replace('foobar', 'o', 'x\', 'g');
SELECT regexp_replace('foobar', 'O', 'x', 'gi');
SELECT regexp_replace('foobar', 'O', 'x', 'ig');
--! both 22023
SELECT regexp_replace('foobar', 'O', 'x', 'z');
--! both 22023
SELECT regexp_replace('foobar', 'o', 'x', '1');
SELECT regexp_replace('foobar', 'o', 'x', '');
SELECT regexp_replace('foobar', 'o', 'x', 'c');
SELECT regexp_replace('foobar', 'o', 'x', 'ci');
SELECT regexp_replace('foobar', 'F', 'x', 'ic');
SELECT regexp_replace('foobar', '', 'x');
SELECT regexp_replace('foobar', '', 'x', 'g');
SELECT regexp_replace('foobar', 'x*', '-', 'g');
--! refused 0A000
SELECT regexp_replace('foobar', 'o*', '-', 'g');
--! refused 42883
SELECT regexp_replace('foobar', 'o', 'x', 2);
SELECT regexp_replace('foobar', 'o', 'x', NULL) IS NULL;
SELECT regexp_split_to_array('a,b,c', ','), regexp_split_to_array('abc', ''), regexp_split_to_array('', ','), regexp_split_to_array('a', 'x');
SELECT regexp_split_to_array(',a,', ','), regexp_split_to_array('a b', '\s+'), regexp_split_to_array('the quick', '\s*');
--! refused 42883
SELECT regexp_split_to_array('aBc', 'b', 'i');
SELECT * FROM regexp_split_to_table('a1b22c', '\d+') AS t;
SELECT * FROM regexp_split_to_table('abc', '') AS t;
SELECT 'abc' ~ 'B', 'abc' ~* 'B', 'abc' !~ 'b', 'abc' !~* 'B', 'abc' ~ '^b', 'abc' ~ 'c$';
SELECT E'a\nb' ~ '^b', E'a\nb' ~ 'a.b', E'a\nb' ~ 'a$', E'a\nb' ~ 'b$';
SELECT 'abc' ~ 'a{2}', 'aab' ~ 'a{2}', 'aab' ~ 'a{1,}b', 'aab' ~ 'a{,2}b';
--! refused 0A000
SELECT 'ab' ~ '(a)\1';
--! refused 0A000
SELECT 'aa' ~ '(a)\1';
--! refused 0A000
SELECT 'abc' ~ '(?=b)';
--! refused 0A000
SELECT 'abc' ~ 'a(?!c)';
--! refused 0A000
SELECT 'foo bar' ~ '\mbar\M';
SELECT 'foo bar' ~ '\yoo';
SELECT 'foobar' ~ '\Bb';
SELECT 'a' ~ '[[:alpha:]]', '1' ~ '[[:digit:]]', ' ' ~ '[[:space:]]', 'é' ~ '[[:alpha:]]', 'é' ~ '\w', 'a_1' ~ '^\w+$';
--! refused 0A000
SELECT 'a' ~ '[[:<:]]a';
SELECT 'a]' ~ '[]]', 'a-' ~ '[a-]', 'a^' ~ '[\^]', 'a\' ~ '[\\]';
--! refused 0A000
SELECT 'abc' ~ '***=b';
--! refused 0A000
SELECT 'a.c' ~ '***=a.c';
--! refused 0A000
SELECT 'abc' ~ '***:b';
SELECT 'abc' ~ '(?i)B';
--! refused 0A000
SELECT 'ABC' ~ '(?x) b c';
--! both 2201B
SELECT 'abc' ~ 'a|', 'abc' ~ '()', 'abc' ~ '*';
--! both 2201B
SELECT 'abc' ~ '(', 1;
--! both 2201B
SELECT 'abc' ~ '[', 1;
--! both 2201B
SELECT 'abc' ~ 'a**', 1;
SELECT 'abc' ~ 'a+?b', 'abc' ~ 'a??';
SELECT substring('xabcabc' FROM 'a.*c'), substring('xabcabc' FROM 'a.*?c'), substring('xabcabc' FROM '(a.*?)c');
SELECT substring('abcd' FROM 'a|ab');
--! refused 0A000
SELECT substring('abcd' FROM '(a|ab)(c|bcd)');
--! refused 0A000
SELECT substring('XY1234Z' FROM 'Y*?([0-9]{1,3})');
SELECT substring('foobar' FROM 'o|oo');
SELECT regexp_replace('foobar', 'o|oo', 'x');
SELECT regexp_match('abcd', 'a|ab|abc');
SELECT substring('aaa' FROM 'a{1,2}?');
SELECT substring('abbbc' FROM 'ab+?');
--! refused 0A000
SELECT substring('abbbc' FROM '(?:ab+?|x)b*');
SELECT regexp_like('abc', 'B'), regexp_like('abc', 'b');
--! refused 42883
SELECT regexp_like('abc', 'B', 'i');
--! refused 42883
SELECT regexp_count('abcabc', 'b');
--! refused 42883
SELECT regexp_instr('abc', 'b');
--! refused 42883
SELECT regexp_substr('abc', 'b');
SELECT 'a' ~ 'A\Z', E'a\n' ~ 'a\Z', E'a\n' ~ 'a$';
SELECT 'tab	x' ~ '\t';
--! refused 0A000
SELECT 'a' ~ '\x61';
--! refused 0A000
SELECT 'a' ~ '\u0061';
--! refused 0A000
SELECT 'a' ~ '\141';
SELECT 'abc' LIKE 'a%', 'abc' LIKE '_b_', 'abc' LIKE 'A%', 'abc' ILIKE 'A%', 'a%c' LIKE 'a\%c', 'a_c' LIKE 'a\_c', 'abc' LIKE 'a\bc';
--! refused 22025
SELECT 'abc' LIKE 'abc\';
SELECT 'abc' NOT LIKE 'a%', 'abc' LIKE '', '' LIKE '', '' LIKE '%', NULL LIKE 'a';
--! refused 42883
SELECT 'a%' LIKE 'a#%' ESCAPE '#';
--! refused 42883
SELECT 'ab' LIKE 'a#%' ESCAPE '#';
--! refused 42883
SELECT 'abc' SIMILAR TO 'a%';
--! refused 42883
SELECT 'abc' SIMILAR TO '(a|b)%';
SELECT length('é');
SELECT octet_length('é');
SELECT char_length('');
SELECT length(NULL);
--! refused 42883
SELECT bit_length('a');
SELECT substr('hello', 0), substr('hello', -1, 3), substr('hello', 2, 2), substr('hello', 10), substr('hello', 2, 0);
--! both 22011
SELECT substr('hello', 2, -1);
SELECT substr('hello', 2147483647, 2147483647), substr('hello', -2147483648, 2147483647);
SELECT left('hello', 2), left('hello', -2), left('hello', -9), right('hello', 2), right('hello', -2), right('hello', 0), right('hello', -9);
SELECT lpad('hi', 5), lpad('hi', 5, 'xy'), lpad('hello', 2), rpad('hi', 5, ''), lpad('hi', -1), rpad('hi', 5, 'xy');
SELECT ltrim('  a '), rtrim(' a  '), btrim(' a '), ltrim('xyxa', 'xy'), trim(both 'x' from 'xax'), trim(E'\t a');
SELECT replace('abcabc', 'b', 'xx'), replace('abc', '', 'x'), replace('', 'a', 'x'), translate('12345', '143', 'ax'), translate('abc', '', 'x');
SELECT position('b' in 'abc'), position('' in 'abc'), position('z' in 'abc'), strpos('abc', 'c'), strpos('é1', '1');
SELECT split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b,c', ',', 9), split_part('abc', '', 1), split_part('abc', '', 2), split_part('', ',', 1);
--! both 22023
SELECT split_part('a,b', ',', 0);
--! both 42883
SELECT concat('a', 1, NULL, true, 2.5, 1.0::float8), concat_ws(',', 'a', NULL, 'b'), concat_ws(NULL, 'a'), concat();
SELECT concat(ARRAY[1, 2], ARRAY[true], DATE '2020-01-01');
SELECT format('%s %I %L %%', 'a', 'b c', 'd''e'), format('%s', NULL), format('%L', NULL), format('%s', 1.5);
--! refused 22023
SELECT format('%2$s %1$s', 'a', 'b');
--! refused 22023
SELECT format('%-5s|%5s|', 'a', 'b');
--! refused 22023
SELECT format('%*s', 5, 'a');
--! both 22023
SELECT format('%x', 1);
--! both 22023
SELECT format('%s');
SELECT format('%I', 'select'), format('%I', 'user'), format('%I', 'Abc'), format('%I', 'abc'), format('%I', 'name');
SELECT quote_ident('select'), quote_ident('a b'), quote_ident('abc'), quote_ident('table'), quote_ident('a"b'), quote_ident('é'), quote_ident('a$b'), quote_ident('between');
SELECT quote_literal('a\b');
SELECT quote_literal('it''s');
--! refused 42883
SELECT quote_literal(5);
--! refused 42883
SELECT quote_nullable(NULL);
SELECT repeat('ab', 3), repeat('ab', 0), repeat('ab', -1), reverse('héllo'), starts_with('abc', 'ab'), starts_with('abc', '');
SELECT md5('abc'), md5(''), ascii('a'), ascii('é'), ascii(''), chr(65), chr(233);
--! both 54000
SELECT chr(0);
--! both 22023
SELECT chr(-1);
--! both 54000
SELECT chr(55296);
SELECT to_hex(255), to_hex(-1), to_hex(-1::bigint), to_hex(2147483648);
SELECT string_to_array('a,b,c', ','), string_to_array('abc', NULL), string_to_array('', ','), string_to_array('a,,c', ',', ''), string_to_array('abc', '');
SELECT array_to_string(ARRAY['a', NULL, 'c'], ','), array_to_string(ARRAY['a', NULL], ',', 'x'), array_to_string(ARRAY[1, 2], NULL), array_to_string('{}'::int[], ',');
SELECT array_to_string(ARRAY[true, false], ','), array_to_string(ARRAY[[1, 2], [3, 4]], ','), array_to_string(ARRAY[1.50, 2], ','), array_to_string(ARRAY[1::float8, 1e20], ',');
SELECT 'a' || 1, 1 || 'a', 'a' || NULL, 'a' || true, 'a' || 1.50, 'a' || DATE '2020-01-01';
SELECT true || 'a';
SELECT 'x' < 'X', 'a' < 'B', 'é' > 'z', '' < 'a', 'a' = 'a ';
SELECT 'abc'::varchar(2);
--! refused 0A000
SELECT 'abc'::char(2);
--! refused 0A000
SELECT 'a'::char(3) || 'b';
--! refused 42704
SELECT 'abc'::bytea;
--! refused 42883
SELECT overlay('abcdef' PLACING 'X' FROM 2 FOR 3);
SELECT substring('abcdef' FROM 2 FOR 3);
SELECT substring('abcdef' FOR 2);
--! refused 22P02
SELECT substring('abcdef' SIMILAR 'a#"%#"f' ESCAPE '#');
SELECT string_agg(x, ',') FROM (VALUES ('a'), (NULL), ('b')) v(x);
SELECT string_agg(x, NULL) FROM (VALUES ('a'), ('b')) v(x);
SELECT string_agg(x, x ORDER BY x DESC) FROM (VALUES ('a'), ('b'), ('c')) v(x);
SELECT string_agg(DISTINCT x, ',' ORDER BY x DESC) FROM (VALUES ('a'), ('b'), ('a')) v(x);
--! both 42P10
SELECT string_agg(DISTINCT x, ',' ORDER BY y) FROM (VALUES ('a', 1), ('b', 2)) v(x, y);
SELECT array_agg(DISTINCT x ORDER BY x DESC NULLS LAST) FROM (VALUES (1), (NULL), (2), (1)) v(x);
--! both 42P10
SELECT array_agg(DISTINCT x ORDER BY -x) FROM (VALUES (1), (2)) v(x);
SELECT count(DISTINCT x) FROM (VALUES (1.0), (1.00), (2)) v(x);
SELECT 1 + '1', '1' + 1, '1.5'::numeric + 1, 1 || '1';
--! both 22P02
SELECT '1_000'::int;
--! both 22P02
SELECT '0x10'::int;
--! refused 0A000
SELECT 'infinity'::numeric;
--! refused 22003
SELECT 'nan'::float8 IS NULL;
--! both 42601
SELECT 12abc;
--! both 42601
SELECT 1.5e;
SELECT ascii(chr(128512)), length(chr(128512)), reverse(chr(128512) || 'a'), upper(chr(128512));
SELECT upper('hello'), lower('ABC'), initcap('hello wORLD foo-bar baz_qux 3rd');
SELECT substring('foobar' FROM '(foo|bar)$');
--! refused 0A000
SELECT substring('foobar' FROM '(fo|foo)');
SELECT regexp_replace('a1b2', '([a-z])(\d)', '\2\1', 'g');
--! refused 0A000
SELECT regexp_replace('foo', '(fo|foo)', '<\1>');
SELECT regexp_replace('foo', 'fo|foo', '<\&>');
SELECT 'ab' ~ '\bab', 'a\b' ~ 'a\Bb', 'a b' ~ 'a\sb', 'a b' ~ '[\s]';
--! both 0A000 2201B
SELECT 'a' ~ '\c', 1;
--! refused 0A000
SELECT 'a' ~ '[[.a.]]';
--! both 2201B
SELECT 'a' ~ 'a{256}', 1;
--! both 2201B
SELECT 'a' ~ '^*', 1;
SELECT 'a{b' ~ 'a{b', 'a{' ~ 'a{';
--! both 0A000 2201B
SELECT 'ab' ~ 'a(?i)B', 1;
SELECT 'K' ~* 'k', 'straSSe' ~* 'STRASSE';
SELECT regexp_split_to_array('a|b', '|'), regexp_split_to_array('aXbXc', '[X]');
SELECT regexp_match('2024-05-06', '(\d+)-(\d+)-(\d+)'), substring('v1.22.3' FROM '\d+\.(\d+)');
SELECT '\' ~ '\\', 'a.b' ~ 'a\.b', 'a+b' ~ 'a\+b', 'x' ~ '[^a-c]', 'b' ~ '[^a-c]', ']' ~ '[]]', 'x' ~ '[^]]';
-- Texts and dates beside numerics that are compared.
CREATE TABLE priced (id int PRIMARY KEY, n numeric, d date, t text);
INSERT INTO priced VALUES (1,1.5,'2024-01-05','1.0'),(2,2.5,'2024-11-03','1'),(3,1.0,'2023-01-01','01');
SELECT (CASE WHEN 1.0=1 THEN 'B' END) <= 'Ab', 'Ab' >= (CASE WHEN 1.0=1 THEN 'B' END);
SELECT max(CASE WHEN n > 0.5 THEN d END), min(CASE WHEN n > 0.5 THEN t END) FROM priced;
SELECT (CASE WHEN n > 0.5 THEN t END) AS x, count(*) FROM priced GROUP BY 1 ORDER BY 1;
SELECT DISTINCT (CASE WHEN n > 0.5 THEN t END) AS x FROM priced ORDER BY x;
SELECT (CASE WHEN n > 0.5 THEN t END) AS x FROM priced UNION SELECT t FROM priced ORDER BY x DESC;
SELECT id FROM priced WHERE (CASE WHEN n > 0.5 THEN t END) IN ('1');
SELECT count(DISTINCT (CASE WHEN n > 0.5 THEN t END)) FROM priced;
SELECT greatest(CASE WHEN n > 0.5 THEN t END, '0.5'), nullif(CASE WHEN n > 0.5 THEN t END, '1') FROM priced ORDER BY id;
SELECT rank() OVER (ORDER BY CASE WHEN n > 0.5 THEN t END) FROM priced ORDER BY id;
SELECT max(n)::text < '10', (CASE max(n)::text WHEN '2.50' THEN 1 END) FROM priced;
SELECT array_agg(t ORDER BY CASE WHEN n > 0.5 THEN t END), string_agg(t, ',' ORDER BY CASE WHEN n > 0.5 THEN t END) FROM priced;
SELECT t FROM priced ORDER BY CASE WHEN n > 0.5 THEN t END;
SELECT (CASE WHEN n > 0.5 THEN t END) BETWEEN '1' AND '1' FROM priced ORDER BY id;
DROP TABLE priced;
