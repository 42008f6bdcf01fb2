package store

import (
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// check runs statements and compares what show prints.
func check(t *testing.T, db *DB, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		if got := show(db, c[0]); got != c[1] {
			t.Errorf("%s\n got: %s\nwant: %s", c[0], got, c[1])
		}
	}
}

func TestChunks(t *testing.T) {
	db := openTemp(t)
	check(t, db, [][2]string{
		{"SELECT ARRAY[1, 2]::real[] + 1 AS x, 2 * ARRAY[1.5, 2]::real[] AS y, -ARRAY[1, 2]::double precision[] AS z",
			"x|y|z\n{2,3}|{3,4}|{-1,-2}"},
		{"SELECT '{{1,2},{3,4}}'::real[] * '{{1,2},{3,4}}'::real[] AS x, ARRAY[4, 9]::real[] ^ 0.5 AS y, ARRAY[1, " +
			"2]::real[] / ARRAY[2, 4]::real[] AS z", "x|y|z\n{{1,4},{9,16}}|{2,3}|{0.5,0.5}"},
		{"SELECT pg_typeof(ARRAY[1]::real[] * 2.5), pg_typeof(ARRAY[1]::real[] + ARRAY[1]::double precision[]), " +
			"pg_typeof(2::real * ARRAY[1]::double precision[])",
			"pg_typeof|pg_typeof|pg_typeof\nreal[]|double precision[]|double precision[]"},
		{"SELECT ARRAY[1, 2]::real[] || ARRAY[3]::real[] AS x, (ARRAY[5, 6, 7]::real[])[2] AS y, (ARRAY[5, 6, " +
			"7]::real[])[2:3] AS z, (ARRAY[[1, 2], [3, 4]]::real[])[2:2][1:1] AS w", "x|y|z|w\n{1,2,3}|6|{6,7}|{{3}}"},
		{"SELECT matmul('{{1,2},{3,4}}'::real[], '{1,1}'::real[]) AS m, norm('{3,4}'::real[]), sqnorm('{3,4}'::real[]), " +
			"dot('{1,2}'::real[], '{3,4}'::real[]), argmax('{1,5,2}'::real[]), relu('{-1,2}'::real[]), " +
			"transpose('{{1,2},{3,4}}'::real[])",
			"m|norm|sqnorm|dot|argmax|relu|transpose\n{3,7}|5|25|11|1|{0,2}|{{1,3},{2,4}}"},
		{"SELECT sum_elements('{{1,2},{3,4}}'::real[]) AS a, sum_elements('{{1,2},{3,4}}'::real[], 2) AS b, " +
			"softmax('{0,0}'::real[]) AS c, sigmoid(0) AS d, one_hot(1, 3) AS e, zeros(ARRAY[2]) AS f, einsum('ij,jk->ik', " +
			"'{{1,2},{3,4}}'::real[], '{{1,0},{0,1}}'::real[]) AS g",
			"a|b|c|d|e|f|g\n10|{{3},{7}}|{0.5,0.5}|0.5|{0,1,0}|{0,0}|{{1,2},{3,4}}"},
		{"SELECT random_uniform(ARRAY[3], 1, ARRAY[2]) = random_uniform(ARRAY[3], 1, ARRAY[2]) AS same, " +
			"random_uniform(ARRAY[3], 1, ARRAY[2]) = random_uniform(ARRAY[3], 1, ARRAY[3]) AS other", "same|other\nt|f"},
		{"SELECT array_length(random_normal(ARRAY[2, 5], 1), 2) AS n, random_int(10, 1, ARRAY[1]) BETWEEN 0 AND 9 AS ok",
			"n|ok\n5|t"},
		{"SELECT sum(x), avg(x), max_agg(x), min_agg(x), array_agg(x ORDER BY i) FROM (VALUES (1, ARRAY[1, 5]::real[]), " +
			"(2, ARRAY[3, 1]::real[]), (3, NULL)) v(i, x) WHERE i < 3",
			"sum|avg|max_agg|min_agg|array_agg\n{4,6}|{2,3}|{3,5}|{1,1}|{{1,5},{3,1}}"},
		{"SELECT sum(x) AS s, count(x) FROM (VALUES (NULL::real[])) v(x)", "s|count\nNULL|0"},
		{"SELECT vector_agg(i, v, 4) AS v, array_agg(v ORDER BY i DESC) AS a FROM (VALUES (0, 1.5::real), (2, 2.5::real)) " +
			"t(i, v)", "v|a\n{1.5,0,2.5,0}|{2.5,1.5}"},
		{"SELECT i, sum(x) OVER (PARTITION BY i % 2) AS s, max_agg(x) OVER (ORDER BY i) AS m FROM (VALUES (1, ARRAY[1, " +
			"2]::real[]), (2, ARRAY[5, 0]::real[]), (3, ARRAY[3, 1]::real[])) v(i, x) ORDER BY i",
			"i|s|m\n1|{4,3}|{1,2}\n2|{5,0}|{5,2}\n3|{4,3}|{5,2}"},
		{"SELECT k, v FROM unnest('{{1,2},{3,4}}'::real[]) WITH ORDINALITY AS u(v, k) WHERE k > 2", "k|v\n3|3\n4|4"},
		{"SELECT c[1]::int AS a, c[2:3]::real[] AS b FROM (SELECT string_to_array('7,1.5,2', ',') AS c) s", "a|b\n7|{1.5,2}"},
		{"SELECT ARRAY[1, NULL]::real[]", "ERROR 22004"},
		{"SELECT '{1,x}'::real[]", "ERROR 22P02"},
		{"SELECT '{{1},{2,3}}'::real[]", "ERROR 2202E"},
		{"SELECT 'a'::text + ARRAY[1]::real[]", "ERROR 42883"},
		{"SELECT ARRAY[1]::real[] % 2", "ERROR 42883"},
		{"SELECT ARRAY[1, 2]::real[] + ARRAY[1, 2, 3]::real[]", "ERROR 2202E"},
		{"SELECT min(x) FROM (VALUES (ARRAY[1]::real[])) v(x)", "ERROR 42883"},
		{"SELECT ARRAY[1]::real[] < ARRAY[2]::real[]", "ERROR 0A000"},
		{"SELECT matmul('{1,2}'::real[], '{1,2,3}'::real[])", "ERROR 2202E"},
		{"SELECT greatest(ARRAY[1]::real[], ARRAY[2]::real[])", "ERROR 42809"},
		{"SELECT stop_gradient(ARRAY[1]::real[]), dropout(2.5::real, 0.5), dropout(1.0::float8, 1.5)", "ERROR 22023"},
	})
}

func TestLawOneShape(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db, `CREATE TABLE w (i int, j int, v real[], m double precision[][], PRIMARY KEY (i, j));
INSERT INTO w VALUES (1, 1, '{1,2}', '{{1}}'), (1, 2, NULL, NULL), (2, 1, '{3,4}', '{{2}}')`)
	before := show(db, "SELECT * FROM w ORDER BY i, j")
	for _, c := range []struct{ sql, code, message string }{
		{"INSERT INTO w VALUES (3, 1, '{1,2,3}', NULL)", sqlerr.ArraySubscript,
			`table "w", column "v": the chunk of (i, j)=(3, 1) has shape [3], that of (i, j)=(1, 1) has shape [2]`},
		{"INSERT INTO w VALUES (4, 1, '{1,2}', NULL), (4, 2, '{1}', NULL)", sqlerr.ArraySubscript,
			`table "w", column "v": the chunk of (i, j)=(1, 1) has shape [2], that of (i, j)=(4, 2) has shape [1]`},
		{"UPDATE w SET v = v[1:1] WHERE i = 1", sqlerr.ArraySubscript, `shape [2]`},
		{"UPDATE w SET v = '{}'", sqlerr.DataException, `table "w", column "v": a chunk must not be empty`},
		{"UPDATE w SET m = '{1}'", sqlerr.ArraySubscript,
			`a chunk of shape [1] has 1 dimensions, the column is declared with 2`},
		{"INSERT INTO w VALUES (5, 1, ARRAY[1, NULL], NULL)", sqlerr.NullNotAllowed, "NULL"},
		{"INSERT INTO w VALUES (5, 1, '{1,2}', NULL), (1, 1, '{1,2}', NULL)", sqlerr.UniqueViolation,
			`duplicate key value violates unique constraint "w_pkey"`},
	} {
		_, err := run(db, c.sql)
		if sqlerr.Code(err) != c.code || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %s %v", c.sql, sqlerr.Code(err), err)
		}
		if after := show(db, "SELECT * FROM w ORDER BY i, j"); after != before {
			t.Fatalf("%s changed the table:\n%s", c.sql, after)
		}
	}
	check(t, db, [][2]string{
		{"UPDATE w SET v = v[1:1]; SELECT v FROM w ORDER BY i, j", "v\n{1}\nNULL\n{3}"}, // all rows at once may change shape
		{"DELETE FROM w; INSERT INTO w VALUES (1, 1, '{1,2,3}', NULL); SELECT v FROM w", "v\n{1,2,3}"},
		{"UPDATE w SET v[2] = 9; SELECT v FROM w", "v\n{1,9,3}"},
		{"CREATE TABLE l (LIKE w INCLUDING ALL); INSERT INTO l VALUES (1, 1, '{7}', NULL); SELECT v FROM l", "v\n{7}"},
		{"CREATE TABLE c AS SELECT i, 0 * v AS z FROM w; SELECT * FROM c", "i|z\n1|{0,0,0}"},
		{"ALTER TABLE c ADD COLUMN s real[] DEFAULT '{1}'; INSERT INTO c (i) VALUES (2); SELECT * FROM c",
			"i|z|s\n1|{0,0,0}|{1}\n2|NULL|{1}"},
		{"INSERT INTO c (i, s) VALUES (3, '{1,2}')", "ERROR 2202E"},
	})
}

func TestNaN(t *testing.T) {
	db := openTemp(t)
	check(t, db, [][2]string{
		{"CREATE TABLE f (x real, y double precision, v real[])", ""},
		{"INSERT INTO f VALUES ('NaN', 1, NULL)", "ERROR 22003"},
		{"INSERT INTO f VALUES ('Infinity', '-inf', '{NaN,Infinity,1}')", ""},
		{"SELECT * FROM f", "x|y|v\nInfinity|-Infinity|{NaN,Infinity,1}"},
		{"SELECT y - y FROM f", "ERROR 22003"},
		{"UPDATE f SET x = 1e39", "ERROR 22003"},
		{"SELECT v[1] FROM f", "ERROR 22003"},
		{"UPDATE f SET x = 0.1::double precision RETURNING x, x = 0.1::real AS same, x::double precision AS d",
			"x|same|d\n0.1|t|0.10000000149011612"},
	})
}
