package relgrad

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

// TestQuery: each kind of argument arrives with its type and value.
func TestQuery(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Run(context.Background(), `CREATE TABLE w (id int PRIMARY KEY, v real[]);
		INSERT INTO w VALUES (1, '{1,2}'), (2, '{3,4}');
		CREATE VIEW loss AS SELECT sum(sqnorm(v)) FROM w;`); err != nil {
		t.Fatal(sqlerr.Render(err))
	}
	day := time.Date(2024, 2, 29, 12, 30, 0, 500e6, time.UTC)
	for _, c := range []struct {
		sql  string
		args []any
		want string
	}{
		{"SELECT $1 + $2", []any{1, int64(math.MaxInt32) + 1}, "[2147483649]"},
		{"SELECT $1 / 2, pg_typeof($1), pg_typeof($2), pg_typeof($3)", []any{int32(3), float32(1), 2.5},
			"[1 integer real double precision]"},
		{"SELECT $1 IS NULL, $2, NOT $2, $3 || '!'", []any{nil, true, "O'Neil"}, "[true true false O'Neil!]"},
		{"SELECT $1::date + 1, $1::timestamp", []any{day}, "[2024-03-01 2024-02-29 12:30:00.5]"},
		{"SELECT $1::date", []any{"2024-02-29"}, "[2024-02-29]"},
		{"SELECT sum(sqnorm($1 - v)) FROM w WHERE id = ANY ($2)", []any{[]float32{1, 1}, []int64{2, 5}}, "[13]"},
		{"SELECT count(*) FROM w WHERE 'a\"b' = ANY ($1)", []any{[]string{`a"b`, `\`}}, "[2]"},
		{"SELECT matmul($1, $2)", []any{[][]float64{{1, 2}, {3, 4}}, mat.NewVecDense(2, []float64{1, 1})}, "[{{3},{7}}]"},
		{"SELECT $1", []any{&tensor.Tensor{DType: tensor.Float32, Shape: tensor.Shape{1}, Data: []float64{0.5}}}, "[{0.5}]"},
		{"SELECT v FROM gradient('loss', NULL::w) WHERE id = $1", []any{2}, "[{6,8}]"},
		{"INSERT INTO w VALUES ($1, $2) RETURNING v", []any{3, []float64{5, 6}}, "[{5,6}]"},
		{"UPDATE w SET v = v * $1 WHERE id = $2 RETURNING v[1]", []any{2, 3}, "[10]"},
	} {
		r, err := db.Query(context.Background(), c.sql, c.args...)
		if err != nil {
			t.Errorf("%s: %s", c.sql, sqlerr.Render(err))
		} else if got := fmt.Sprint(r.Rows[0]); got != c.want {
			t.Errorf("%s: %s, not %s", c.sql, got, c.want)
		}
	}
	for _, c := range []struct {
		sql  string
		args []any
		want string
	}{
		{"SELECT $2", []any{1}, "there is no parameter $2"},
		{"SELECT $1", []any{1, 2}, "2 arguments for a statement with 1 parameters"},
		{"SELECT 1; SELECT 2", nil, "2 statements, not one"},
		{"SELECT $1", []any{struct{}{}}, "$1: no value of SQL is made of struct {}"},
		{"SELECT $1", []any{[]float64{}}, "$1: a chunk has elements"},
		{"SELECT $1", []any{(*mat.Dense)(nil)}, "internal error"},
		{"SELECT $1", []any{[][]float64{{1}, {1, 2}}}, "$1: row 1 has 2 numbers, row 0 has 1"},
		{"CREATE VIEW x AS SELECT $1::int AS a", []any{1}, "there is no parameter $1"},
	} {
		if _, err := db.Query(context.Background(), c.sql, c.args...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.sql, err, c.want)
		}
	}
}

// TestDense: chunks of one and two axes are matrices, other values are none.
func TestDense(t *testing.T) {
	for _, shape := range []tensor.Shape{{3}, {2, 3}} {
		c := tensor.New(tensor.Float32, shape...)
		c.Data[1] = 7
		m, err := Dense(c)
		if err != nil {
			t.Fatal(err)
		}
		if rows, cols := m.Dims(); rows != shape.Size()/3 || cols != 3 || m.At(0, 1) != 7 {
			t.Errorf("%v: %d x %d, %v", shape, rows, cols, m)
		}
	}
	for _, v := range []any{nil, 1.5, tensor.New(tensor.Float64, 1, 2, 3)} {
		if _, err := Dense(v); sqlerr.Code(err) != sqlerr.DatatypeMismatch {
			t.Errorf("%v: %v", v, err)
		}
	}
}
