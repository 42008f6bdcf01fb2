CREATE TABLE t (id int PRIMARY KEY, name text, v real[]);
COPY t FROM STDIN;
1	one	{1,2}
2	\N	{3,4}
3	a\tb\\c	\N
\.
SELECT * FROM t ORDER BY id;
COPY t TO STDOUT;
COPY t (id, name) TO STDOUT WITH (FORMAT csv, HEADER, NULL 'none');
COPY (SELECT id, v[1] FROM t ORDER BY id DESC) TO STDOUT (DELIMITER ';');
COPY t FROM STDIN WITH (FORMAT csv);
4,"four, with comma","{5,6}"
5,,
\.
COPY t FROM STDIN;
6	six	{1}
7	bad number	{x}
8	eight	{1}
\.
COPY t FROM STDIN;
1	again	{1}
\.
COPY t FROM STDIN;
too few
\.
COPY t (nocolumn) TO STDOUT;
SELECT 'the script goes on' AS here, count(*) FROM t;
\copy t to 'copy_out.tmp' csv header
\! cat copy_out.tmp
CREATE TABLE u (LIKE t);
\copy u from 'copy_out.tmp' with (format csv, header)
\copy (select id, name from u order by id) to stdout
\copy u (id, name) from stdin csv
10,ten
11,"el
even"
\.
\copy u to program 'cat > copy_out.tmp'
\copy u from program 'printf "20\tx\t{1}\n"'
\copy nowhere from 'copy_out.tmp'
\copy u from 'copy_out.tmp' (format nonsense)
\! rm copy_out.tmp
SELECT count(*), :ROW_COUNT AS rows_before FROM u;
\echo :ROW_COUNT
INSERT INTO u VALUES (30)\; COPY u (id) FROM STDIN\; SELECT count(*) FROM u;
31
32
\.
BEGIN;
COPY u (id) FROM STDIN;
33
\.
COPY u (id) FROM STDIN;
x
\.
ROLLBACK;
SELECT count(*) FROM u;
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row %', NEW.id; RETURN NEW; END $$;
CREATE TRIGGER shout BEFORE INSERT ON u FOR EACH ROW EXECUTE FUNCTION shout();
COPY u (id) FROM STDIN;
41
42
\.
COPY u (id) FROM STDIN;
51
