package store

import (
	"runtime"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// TestArraysAreBounded asks for arrays beyond the limits of chunks: they are refused before there is memory for them.
func TestArraysAreBounded(t *testing.T) {
	db := openTemp(t)
	for _, c := range []struct{ sql, code string }{
		{"SELECT array_fill(1.0::double precision, ARRAY[16000000, 17])", sqlerr.ProgramLimit},
		{"SELECT array_fill(1.0::real, ARRAY[300000000])", sqlerr.ProgramLimit},
		{"SELECT array_fill(1.0::real, ARRAY[2000000000, 2000000000, 4])", sqlerr.ProgramLimit},
		{"SELECT array_fill(7, ARRAY[9000000])", sqlerr.ProgramLimit},
		{"SELECT array_fill('x'::text, ARRAY[3000, 3000])", sqlerr.ProgramLimit},
		{"SELECT zeros(ARRAY[20000, 20000])", sqlerr.InvalidParameter},
		{"SELECT full(ARRAY[300000000], 1)", sqlerr.InvalidParameter},
		{"SELECT random_normal(ARRAY[300000000], 1)", sqlerr.InvalidParameter},
		{"SELECT random_uniform(ARRAY[20000, 20000], 1)", sqlerr.InvalidParameter},
		{"SELECT one_hot(1, 300000000)", sqlerr.InvalidParameter},
		{"SELECT vector_agg(1, 1.0::double precision, 300000000)", sqlerr.InvalidParameter},
		{"SELECT outer(zeros(ARRAY[20000]), zeros(ARRAY[20000]))", sqlerr.ProgramLimit},
		{"SELECT diag(zeros(ARRAY[20000]))", sqlerr.ProgramLimit},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := run(db, c.sql)
		runtime.ReadMemStats(&after)
		if sqlerr.Code(err) != c.code {
			t.Errorf("%s: %v", c.sql, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s took %d MB before it was refused", c.sql, took>>20)
		}
	}
	for sql, want := range map[string]string{
		"SELECT array_fill(1.5::real, ARRAY[2, 2])":            "{{1.5,1.5},{1.5,1.5}}",
		"SELECT array_fill(1.5::double precision, ARRAY[3])":   "{1.5,1.5,1.5}",
		"SELECT array_fill(7, ARRAY[2])":                       "{7,7}",
		"SELECT array_fill('x'::text, ARRAY[1, 2])":            "{{x,x}}",
		"SELECT array_fill(1.5::double precision, ARRAY[0])":   "{}",
		"SELECT sum_elements(array_fill(1::real, ARRAY[2,3]))": "6",
	} {
		if got := show(db, sql+" AS x"); got != "x\n"+want {
			t.Errorf("%s: %s, not %s", sql, got, want)
		}
	}
}

// TestEinsumOfManyDimensions runs einsum of chunks of up to six dimensions in statements and views.
func TestEinsumOfManyDimensions(t *testing.T) {
	db := openTemp(t)
	mustRun(t, db, `CREATE VIEW five AS SELECT sum_elements(einsum('abcde,ef->abcdf', full(ARRAY[2,1,2,1,2], 3),
	full(ARRAY[2,3], 1))) AS s;
CREATE VIEW six AS SELECT einsum('abcdef->fa', full(ARRAY[2,1,1,1,1,2], 1.5)) AS s`)
	for sql, want := range map[string]string{
		"SELECT (SELECT s FROM five)": "72", "SELECT (SELECT s FROM six)": "{{1.5,1.5},{1.5,1.5}}",
		"SELECT einsum('abcdef,abcdef->', full(ARRAY[1,2,1,2,1,2], 2), full(ARRAY[1,2,1,2,1,2], 2))": "32",
		"SELECT einsum(',,->', 2, 3.5, 4)": "28", "SELECT einsum('->', 2.5)": "2.5",
		"SELECT einsum(',a->a', 2, '{1,2}'::double precision[])": "{2,4}",
	} {
		if got := show(db, sql+" AS x"); got != "x\n"+want {
			t.Errorf("%s: %s, not %s", sql, got, want)
		}
	}
}
