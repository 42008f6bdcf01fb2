package psql

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
)

const interruptTables = `
CREATE TABLE big AS SELECT i AS id, (i::bigint * 7919) % 1000003 AS k, 'text ' || (i::bigint * 7919) % 1000003
AS t, i * 0.5::float8 AS x FROM generate_series(1, 100000) AS g(i);
CREATE TABLE sink (id bigint, k bigint, t text, x float8);
CREATE TABLE w (id integer PRIMARY KEY, x double precision);
INSERT INTO w SELECT i, 1.0 / i FROM generate_series(1, 1500) AS g(i);
CREATE VIEW pairs AS SELECT sum(a.x * b.x * c.x) FROM w a JOIN w b ON a.id <> b.id JOIN w c ON c.id > b.id;
CREATE TABLE e (i integer, j integer, PRIMARY KEY (i, j));
INSERT INTO e SELECT i, j FROM generate_series(1, 1000) AS a(i), generate_series(1, 300) AS b(j);
CREATE VIEW wide AS SELECT sum(tanh(a.x * b.x) * exp(a.x) * sin(b.x)) FROM e JOIN w a ON a.id = e.i
JOIN w b ON b.id = e.j;
CREATE TABLE m (id integer PRIMARY KEY, v double precision[]);
INSERT INTO m SELECT i, random_normal(ARRAY[500, 500], i) FROM generate_series(1, 4) AS g(i);
CREATE VIEW chunks AS SELECT sum(sqnorm(matmul(a.v, matmul(b.v, matmul(a.v, b.v))))) FROM m a JOIN m b ON a.id <> b.id;
CREATE FUNCTION spin(n bigint) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE s bigint := 0;
BEGIN FOR i IN 1..n LOOP s := s + i % 7; END LOOP; RETURN s; END $$;
COPY (SELECT a.* FROM big a, generate_series(1, 20)) TO 'DIR/in.csv' WITH (FORMAT csv);
COPY (SELECT a.* FROM big a, generate_series(1, 20)) TO 'DIR/in.txt';
COPY (SELECT a.* FROM big a, generate_series(1, 20)) TO 'DIR/in.parquet' WITH (FORMAT parquet);
`

// endless are statements that would run for seconds to hours; calls of a function that is left behind take less than a
// second, and memory that every machine has.
var endless = []string{
	// SQLite's own work
	"SELECT count(*) FROM generate_series(1, 100000) a(i), generate_series(1, 1000000) b(j) WHERE i + j = -1",
	"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
	"WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT max(n) FROM r",
	"INSERT INTO sink SELECT a.id, b.k, a.t, b.x FROM big a, big b",
	"UPDATE big SET t = t || (SELECT count(*) FROM big b WHERE b.k < big.k)",
	"DELETE FROM big WHERE (SELECT count(*) FROM big b WHERE b.k < big.k) < 10",
	"CREATE TABLE copy AS SELECT a.* FROM big a, big b",
	"CREATE INDEX late ON big ((power(1.0000001, k::numeric) + power(1.0000002, k::numeric)))",
	"SELECT i FROM generate_series(1, 100000) a(i), generate_series(1, 100000) b(j) ORDER BY i + j",
	"SELECT DISTINCT a.t || g.i FROM big a, generate_series(1, 1000) g(i)",
	"SELECT a.t || g.i, count(*) FROM big a, generate_series(1, 1000) g(i) GROUP BY 1",
	"SELECT rank() OVER (ORDER BY a.t || g.i) FROM big a, generate_series(1, 1000) g(i)",
	"SELECT i FROM generate_series(1, 2000000000) g(i) WHERE i < 0",
	"SELECT i FROM generate_series(1, 2000000000) g(i)",
	// aggregates
	"SELECT length(string_agg(a.t, ',')) FROM big a, generate_series(1, 1000)",
	"SELECT length(string_agg(a.t, ',' ORDER BY a.t DESC)) FROM big a, generate_series(1, 1000)",
	"SELECT array_length(array_agg(a.k), 1) FROM big a, generate_series(1, 60)",
	"SELECT array_length(array_agg(a.t ORDER BY a.t || a.k), 1) FROM big a, generate_series(1, 60)",
	"SELECT sum(a.x::numeric * g.i) FROM big a, generate_series(1, 1000) g(i)",
	"SELECT variance(a.x * g.i), corr(a.x, g.i), regr_slope(a.x, g.i) FROM big a, generate_series(1, 1000) g(i)",
	// functions of long texts, numerics and arrays
	"SELECT length(repeat('abcdefghij', 10000000)) FROM generate_series(1, 100)",
	"SELECT count(*) FROM regexp_split_to_table(repeat('a,b', 1000000), ',')",
	"SELECT length(regexp_replace(repeat('aaaaaaaaab', 3000000), '(a+)+c', 'x', 'g'))",
	"SELECT repeat('a', 200000) ~ (repeat('a?', 900) || 'b')",
	"SELECT length(replace(repeat('ab', 10000000), 'a', 'ccccc'))",
	"SELECT length(replace(repeat('a', 10000000), repeat('a', 100000) || 'b', 'c'))",
	"SELECT position(repeat('a', 500000) || 'b' IN repeat('a', 30000000))",
	"SELECT length(reverse(repeat('abc', 10000000)))",
	"SELECT md5(repeat('abc', 20000000))",
	"SELECT length(upper(repeat('äbc', 10000000)))",
	"SELECT length(translate(repeat('abc', 5000000), 'abc', 'xyz'))",
	"SELECT length(lpad('x', 20000000, 'äbc'))",
	"SELECT array_length(string_to_array(repeat('a,b', 1000000), ','), 1)",
	"SELECT length(split_part(repeat('a,', 10000000), ',', 10000000))",
	"SELECT length(factorial(g)::text) FROM generate_series(20000, 30000) AS g",
	"SELECT sqrt(2::numeric(1000, 990)) FROM generate_series(1, 1000000)",
	"SELECT ln(10::numeric ^ 100000 + g) FROM generate_series(1, 10000) AS g",
	"SELECT exp(1.5::numeric(1000, 900) + g) FROM generate_series(1, 100000) AS g",
	"SELECT (1.5::numeric(1000, 900) ^ (100.5 + g)) FROM generate_series(1, 100000) AS g",
	"SELECT count(*) FROM generate_series(1.0, 900000.0)",
	"SELECT array_length(array_fill(1.5::float8, ARRAY[20000000]), 1)",
	"SELECT length(array_to_string(array_fill(1.5::float8, ARRAY[1000000]), ','))",
	"SELECT length(array_fill(1.5::float8, ARRAY[1000000])::text)",
	"SELECT array_length(('{' || repeat('1.25,', 3000000) || '1}')::float8[], 1)",
	"SELECT length((('[' || repeat('1,', 20000000) || '1]')::jsonb)::text)",
	// kernels
	"SELECT sum_elements(random_normal(ARRAY[10000000], 1))",
	"SELECT sum_elements(tanh(exp(sin(random_uniform(ARRAY[5000000], 1)))))",
	"SELECT sum_elements(power(random_uniform(ARRAY[5000000], 1), 1.5))",
	"SELECT sum_elements(matmul(random_uniform(ARRAY[1500,1500], 1), random_uniform(ARRAY[1500,1500], 2)))",
	"SELECT sum_elements(einsum('ij,jk->ki', random_uniform(ARRAY[500,500], 1), random_uniform(ARRAY[500,500], 2))) " +
		"FROM generate_series(1, 100)",
	"SELECT sum_elements(einsum('i,j,k->ijk', random_uniform(ARRAY[250], 1), random_uniform(ARRAY[250], 1), " +
		"random_uniform(ARRAY[250], 1)))",
	"SELECT sum_elements(softmax(random_uniform(ARRAY[2000,4000], 1)))",
	"SELECT sum_elements(layer_norm(random_uniform(ARRAY[2000,4000], 1)))",
	"SELECT sum_elements(outer(random_uniform(ARRAY[4000], 1), random_uniform(ARRAY[4000], 1)))",
	"SELECT sum_elements(transpose(random_uniform(ARRAY[4000,4000], 1)))",
	"SELECT sum_elements(random_uniform(ARRAY[4000,1], 1) + random_uniform(ARRAY[1,4000], 1))",
	"SELECT sum_elements(sum(random_uniform(ARRAY[2000000], g))) FROM generate_series(1, 100) AS g",
	// the engine
	"SELECT * FROM pairs",
	"SELECT * FROM gradient('pairs', NULL::w)",
	"SELECT * FROM gradient('chunks', NULL::m)",
	"SELECT backward('chunks', 'm')",
	"SELECT * FROM check_gradient('wide', NULL::w)",
	"SELECT * FROM check_gradient('chunks', NULL::m)",
	"CALL train('wide', ARRAY['w'], epochs => 1000000, lr => 0)",
	"CALL train('chunks', ARRAY['m'], epochs => 1000000, lr => 0)",
	"CALL train('pairs', ARRAY['w'], epochs => 1000000, lr => 0)",
	"CALL train('wide', ARRAY['w'], epochs => 1000000, lr => 0, before_step => 'SELECT count(*) FROM big a, big b " +
		"WHERE a.k + b.k < 0')",
	"CALL train('wide', ARRAY['w'], epochs => 1000000, lr => 0, validate => 'SELECT count(*) FROM big a, big b " +
		"WHERE a.k + b.k < 0')",
	// COPY
	"COPY (SELECT a.* FROM big a, big b) TO 'DIR/out.csv' WITH (FORMAT csv)",
	"COPY (SELECT a.* FROM big a, big b) TO 'DIR/out.txt'",
	"COPY (SELECT a.* FROM big a, big b) TO 'DIR/out.parquet' WITH (FORMAT parquet)",
	"COPY sink FROM 'DIR/in.csv' WITH (FORMAT csv)",
	"COPY sink FROM 'DIR/in.txt'",
	"COPY sink FROM 'DIR/in.parquet' WITH (FORMAT parquet)",
	"COPY sink FROM PROGRAM 'sleep 3'",
	"COPY (SELECT 1) TO PROGRAM 'sleep 3'",
	"COPY (SELECT a.* FROM big a, big b) TO PROGRAM 'sleep 3'",
	// PL/pgSQL
	"SELECT spin(1000000000)",
	"DO $$ BEGIN LOOP NULL; END LOOP; END $$",
	"DO $$ BEGIN LOOP BEGIN RAISE division_by_zero; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END $$",
	"DO $$ DECLARE r record; BEGIN FOR r IN SELECT a.* FROM big a, big b LOOP NULL; END LOOP; END $$",
	"DO $$ DECLARE s text := ''; BEGIN FOR i IN 1..1000000 LOOP s := s || repeat('x', 1000); END LOOP; END $$",
}

// interruptLimit has a margin for a busy machine: alone all end within 100 ms.
const interruptLimit = 500 * time.Millisecond

// TestInterrupts: a cancelled context and statement_timeout end whatever runs, with their error, and leave the store as
// it was.
func TestInterrupts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs what takes long")
	}
	dir := t.TempDir()
	db, err := relgrad.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(ctx context.Context, sql string) error {
		r := NewRunner(script.Embedded(db),
			Options{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Quiet: true, Dir: dir})
		return r.RunReader(ctx, "", strings.NewReader(strings.ReplaceAll(sql, "DIR", dir)+";\n"))
	}
	if err := exec(t.Context(), interruptTables); err != nil {
		t.Fatal(err)
	}
	tables := "SELECT count(*), sum(k), sum(x), min(length(t)) FROM big UNION ALL SELECT count(*), sum(k), sum(x), 0 " +
		"FROM sink UNION ALL SELECT count(*), 0, sum(x), 0 FROM w"
	before := printed(t, db, tables)
	for _, sql := range endless {
		for _, way := range []string{"cancel", "timeout"} {
			late := time.Hour
			for try := 0; try < 6 && late > interruptLimit; try++ { // a busy machine may be late itself
				took, err := interrupted(t, exec, way, sql)
				if err != nil {
					t.Fatalf("%s: %s: %v", way, sql, err)
				}
				late = min(late, took)
				if got := printed(t, db, tables); got != before {
					t.Fatalf("%s: %s left\n%snot\n%s", way, sql, got, before)
				}
			}
			if late > interruptLimit {
				t.Errorf("%s: %s: ended after %v", way, sql, late)
			}
			t.Logf("%7.1f ms %s: %.80s", float64(late.Microseconds())/1000, way, sql)
		}
	}
}

// interrupted ends a statement after 60 ms in one of two ways and returns how much later it ended, or an error where it
// did not end so.
func interrupted(t *testing.T, exec func(context.Context, string) error, way,
	sql string) (late time.Duration, err error) {
	const after = 60 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	message := "canceling statement due to user request"
	if way == "timeout" {
		message = "canceling statement due to statement timeout"
		err = exec(t.Context(), "SET statement_timeout = '60ms'")
	} else {
		time.AfterFunc(after, cancel)
	}
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	err = exec(ctx, sql)
	late = time.Since(begin) - after
	// the second waits for what was left behind
	if e := exec(t.Context(), "SET statement_timeout = 0; SELECT repeat('x', 3)"); e != nil {
		return 0, e
	}
	if err == nil {
		if late > interruptLimit {
			return 0, errors.New("it was not interrupted")
		}
		return late, nil // it was over, on a quick machine
	}
	training := strings.HasPrefix(sql, "CALL") && strings.Contains(err.Error(), "training was cancelled")
	if sqlerr.Code(err) != sqlerr.QueryCanceled || !strings.Contains(err.Error(), message) && !training {
		return 0, err
	}
	return late, nil
}

func printed(t *testing.T, db *relgrad.DB, sql string) string {
	t.Helper()
	var out strings.Builder
	r := NewRunner(script.Embedded(db),
		Options{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Quiet: true, Format: FormatCSV})
	if err := r.RunReader(context.Background(), "", strings.NewReader(sql+";\n")); err != nil {
		t.Fatal(err, out.String())
	}
	return out.String()
}
