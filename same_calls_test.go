package relgrad

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/tensor"
)

const sameTables = `
CREATE TABLE w (id int PRIMARY KEY, a double precision);
INSERT INTO w VALUES (1, 2), (2, 3);
CREATE VIEW l AS SELECT sum(a * a) AS loss FROM w;
`

// sameCalls are statements with what they give on the store and on a server: numbers, to 1e-12, or an error's SQLSTATE.
var sameCalls = []struct {
	sql  string
	want []float64
	code string
}{
	{sql: "SELECT backward('l', 'w')", want: []float64{13}},
	{sql: "SELECT backward('l', '{w}')", want: []float64{13}},
	{sql: "SELECT backward('l', '{\"w\"}', NULL, NULL)", want: []float64{13}},
	{sql: "SELECT backward('l', 'w'::text)", want: []float64{13}},
	{sql: "SELECT backward('l', 'w.a', step => 3)", want: []float64{13}},
	{sql: "SELECT backward(params => 'w', loss => 'l', seed => NULL)", want: []float64{13}},
	{sql: "SELECT backward('l', ARRAY['w'], step => 1::smallint)", want: []float64{13}},
	{sql: "SELECT count(*) FROM check_gradient('l', 'w', samples => 5, step => NULL, seed => NULL, batch => NULL, " +
		"batch_size => NULL)", want: []float64{2}},
	{sql: "SELECT count(*) FROM check_gradient('l', ARRAY['w'])", want: []float64{2}},
	{sql: "SELECT length(explain_gradient('l', ARRAY['w'])) - length(explain_gradient('l', 'w', NULL))",
		want: []float64{0}},
	{sql: "SELECT a FROM gradient('l', NULL::w, NULL, NULL) ORDER BY id", want: []float64{4, 6}},
	{sql: "CALL train('l', 'w', epochs => 0)"},
	{sql: "CALL train(loss => 'l', params => 'w', epochs => '0')"},
	{sql: "CALL train('l', '{w}', epochs => 0, lr => '0.5')"},
	{sql: "CALL train('l', 'w', lr => NULL, epochs => 0)"},
	{sql: `CALL train('l', 'w', epochs => 0, optimizer => NULL, momentum => NULL, schedule => NULL, warmup => NULL,
    nonnegative => NULL,
  project => NULL, options => NULL, sparse => NULL::boolean, batch => NULL, batch_size => NULL, before_step => NULL,
    seed => NULL, validate => NULL,
  every => NULL, patience => NULL, tolerance => NULL, max_seconds => NULL, resume => NULL)`},
	{sql: "CALL train(resume => 99, lr => NULL)", code: sqlerr.UndefinedObject},
	{sql: "CALL train(NULL, 'w')", code: "42883"},
	{sql: "CALL train('l', NULL)", code: "42883"}, {sql: "CALL train('l', NULL, lr => NULL)", code: "42883"},
	{sql: "CALL train('l'::varchar, 'w'::varchar, epochs => 0)"},

	{sql: "SELECT backward(NULL, NULL)", code: "22004"}, {sql: "SELECT backward('l', NULL)", code: "22004"},
	{sql: "SELECT backward(NULL, 'w')", code: "22004"},
	{sql: "SELECT backward('', 'w')", code: sqlerr.InvalidParameter},
	{sql: "SELECT backward(' ', ARRAY['w'])", code: sqlerr.InvalidParameter},
	{sql: "SELECT backward('l', '')", code: sqlerr.InvalidParameter},
	{sql: "SELECT backward('l', '{}')", code: sqlerr.InvalidParameter},
	{sql: "SELECT backward('l', ARRAY[NULL]::text[])", code: "22004"},
	{sql: "SELECT * FROM check_gradient(NULL, 'w')", code: "22004"},
	{sql: "SELECT * FROM check_gradient('l', NULL)", code: "22004"},
	{sql: "SELECT * FROM check_gradient('l', ARRAY['w', 'w'])", code: sqlerr.InvalidParameter},
	{sql: "SELECT explain_gradient(NULL, 'w')", code: "22004"}, {sql: "SELECT explain_gradient('l', NULL)", code: "22004"},
	{sql: "SELECT explain_gradient('l', 'w', '')", code: sqlerr.InvalidParameter},
	{sql: "CALL train('', 'w')", code: "42883"}, {sql: "CALL train('l', '{}')", code: "42883"},
	{sql: "CALL train('l', '')", code: sqlerr.InvalidParameter},
	{sql: "CALL train(resume => 99)", code: sqlerr.UndefinedObject}, {sql: "CALL train()", code: "42883"},
	{sql: "CALL train('l')", code: "42883"},

	{sql: "SELECT softmax(ARRAY[1, 2, 3])", want: []float64{0.09003057317038046, 0.24472847105479764, 0.6652409557748218}},
	{sql: "SELECT softmax(ARRAY[1, 2, 3]::numeric[])",
		want: []float64{0.09003057317038046, 0.24472847105479764, 0.6652409557748218}},
	{sql: "SELECT softmax(ARRAY[1, 2, 3]::bigint[])",
		want: []float64{0.09003057317038046, 0.24472847105479764, 0.6652409557748218}},
	{sql: "SELECT softmax(ARRAY[1, 2, 3]::smallint[])",
		want: []float64{0.09003057317038046, 0.24472847105479764, 0.6652409557748218}},
	{sql: "SELECT dot(ARRAY[1, 2], ARRAY[3, 4])", want: []float64{11}},
	{sql: "SELECT dot(ARRAY[1, 2], ARRAY[0.5, 1])", want: []float64{2.5}},
	{sql: "SELECT dot(ARRAY[0.5, 1], ARRAY[1, 2])", want: []float64{2.5}},
	{sql: "SELECT dot(ARRAY[1, 2]::real[], ARRAY[3, 4])", want: []float64{11}},
	{sql: "SELECT sqnorm(ARRAY[3, 4])", want: []float64{25}}, {sql: "SELECT norm(ARRAY[3.0, 4.0])", want: []float64{5}},
	{sql: "SELECT sum_elements(ARRAY[1, 2])", want: []float64{3}},
	{sql: "SELECT mean_elements(ARRAY[[1, 2], [3, 4]])", want: []float64{2.5}},
	{sql: "SELECT max_elements(ARRAY[1, 2.5])", want: []float64{2.5}},
	{sql: "SELECT logsumexp(ARRAY[0, 0])", want: []float64{math.Ln2}},
	{sql: "SELECT argmax(ARRAY[1, 2])", want: []float64{1}},
	{sql: "SELECT matmul(ARRAY[[1, 2], [3, 4]], ARRAY[1, 1])", want: []float64{3, 7}},
	{sql: "SELECT transpose(ARRAY[[1, 2], [3, 4]])", want: []float64{1, 3, 2, 4}},
	{sql: "SELECT outer(ARRAY[1, 2], ARRAY[1, 2])", want: []float64{1, 2, 2, 4}},
	{sql: "SELECT mse(ARRAY[1, 2], ARRAY[1, 3])", want: []float64{0.5}},
	{sql: "SELECT clip(ARRAY[5, -1], 0, 1)", want: []float64{1, 0}},
	{sql: "SELECT relu(ARRAY[-1, 2])", want: []float64{0, 2}}, {sql: "SELECT relu(-1)", want: []float64{0}},
	{sql: "SELECT l2_normalize(ARRAY[3, 4])", want: []float64{0.6, 0.8}},
	{sql: "SELECT layer_norm(ARRAY[1, 1])", want: []float64{0, 0}},
	{sql: "SELECT huber(1.5, 1)", want: []float64{1}}, {sql: "SELECT maximum(1, 2)", want: []float64{2}},
	{sql: "SELECT full(ARRAY[2], 1)", want: []float64{1, 1}},
}

// TestSameCalls: what works on the store works on a server, and what does not is the same kind of error.
func TestSameCalls(t *testing.T) {
	ctx := context.Background()
	db := open(t, "")
	mustRun(t, db, sameTables)
	for _, c := range sameCalls {
		res, err := db.Run(ctx, c.sql)
		var rows [][]any
		if err == nil {
			rows = res.Rows
		}
		sameCall(t, "the store", c.sql, rows, err, c.want, c.code)
	}
	if testing.Short() {
		return
	}
	s := startServer(t)
	runAll(t, s, "CREATE TABLE w (id int PRIMARY KEY, a double precision)", "INSERT INTO w VALUES (1, 2), (2, 3)",
		"CREATE VIEW l AS SELECT sum(a * a) AS loss FROM w")
	for _, c := range sameCalls {
		res, err := s.RunSQL(ctx, c.sql)
		var rows [][]any
		if err == nil {
			rows = res.Rows
		}
		sameCall(t, "the server", c.sql, rows, err, c.want, c.code)
	}
}

func sameCall(t *testing.T, where, sql string, rows [][]any, err error, want []float64, code string) {
	t.Helper()
	if code != "" || err != nil {
		if sqlerr.Code(err) != code {
			t.Errorf("%s, %s: %v (%s), expected the error %q", where, sql, err, sqlerr.Code(err), code)
		}
		return
	}
	var got []float64
	for _, r := range rows {
		switch x := r[0].(type) {
		case *tensor.Tensor:
			got = append(got, x.Data...)
		case int64:
			got = append(got, float64(x))
		case float64:
			got = append(got, x)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s, %s gives %v, expected %v", where, sql, rows, want)
		return
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%s, %s gives %v, expected %v", where, sql, fmt.Sprint(got), want)
		}
	}
}
