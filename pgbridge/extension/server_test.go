package extension

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/internal/kernelsql"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/migrations"
)

// server is a connection to a server with the extension.
type server struct {
	*pgx.Conn
	ctx context.Context
}

// query returns a query's single row as texts; nil is NULL.
func (s *server) query(sql string) ([]*string, error) {
	results, err := s.PgConn().Exec(s.ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	last := results[len(results)-1]
	if len(last.Rows) != 1 {
		return nil, fmt.Errorf("%d rows of %s", len(last.Rows), sql)
	}
	return texts(last.Rows[0]), nil
}

func texts(row [][]byte) []*string {
	out := make([]*string, len(row))
	for i, b := range row {
		if b != nil {
			s := string(b)
			out[i] = &s
		}
	}
	return out
}

// connect starts a server, creates the extension and sets the search path of scripts.
func connect(t *testing.T, env ...string) *server {
	t.Helper()
	return connectTo(t, func() *pgcluster.Cluster { return pgcluster.Start(t, env...) }, func(s *server) error {
		_, err := s.query("CREATE EXTENSION relgrad; SELECT 1")
		return err
	})
}

// connectTo starts a server and installs relgrad's functions in the given way.
func connectTo(t *testing.T, start func() *pgcluster.Cluster, install func(*server) error) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	c := start()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	s := &server{conn, ctx}
	if err := install(s); err != nil {
		t.Fatal(err)
	}
	if _, err := s.query("SET search_path = public, relgrad; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	return s
}

// check is a group of tests on a server with relgrad's functions.
type check struct {
	name string
	test func(*testing.T, *server)
}

// both are the checks that the extension and the portable tier must pass.
var both = []check{{"Samples", samples}, {"Special", special}, {"Errors", refusals}, {"Calls", calls},
	{"Aggregates", aggregates}, {"Metrics", metrics}, {"Parallel", parallel},
	{"Draws", draws}, {"Storage", storage}, {"Cancel", cancel}}

func run(t *testing.T, s *server, list []check) {
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

func TestPostgres(t *testing.T) {
	run(t, connect(t), append([]check{{"Catalogue", catalogue}, {"Products", products}}, both...))
}

// TestPortable runs the same checks on the portable tier.
func TestPortable(t *testing.T) {
	run(t, connectTo(t, func() *pgcluster.Cluster { return pgcluster.StartBare(t) }, func(s *server) error {
		_, err := migrations.Apply(s.ctx, s.Conn)
		return err
	}), both)
}

// samples compares every sample of every kernel with the reference code, with the extension's schema after and before
// Postgres's in the search path.
func samples(t *testing.T, s *server) {
	n := 0
	kernelsql.Each(t, func(x *kernelsql.Sample) {
		if x.Def.Internal && !chunkOperator(x) {
			return // this form of SQL is Postgres's own
		}
		for _, path := range []string{"public, relgrad", "relgrad, pg_catalog, public"} {
			got, err := s.column(x, path)
			if scalar := x.Expr.Type.Shape == nil; scalar && (x.Def.Name == "matmul" || x.Def.Name == "einsum") &&
				slices.ContainsFunc(x.Call.Types, kernels.Type.IsChunk) {
				if err == nil || !strings.Contains(err.Error(), "is a scalar, not an array") {
					t.Errorf("%s of %v: %v", x.SQL, x.Call.Types, err)
				}
				continue
			}
			n++
			for row := 0; row < kernelsql.Rows && err == nil; row++ {
				var want kernels.Value
				if want, err = x.Value(row); err == nil {
					err = same(got[row][0], got[row][1], want)
				}
			}
			if err != nil {
				t.Errorf("%s of %v, search path %s: %v", x.SQL, x.Call.Types, path, err)
			}
		}
	})
	t.Logf("%d calls", n)
}

// chunkOperator reports whether the sample is an operator on chunks.
func chunkOperator(x *kernelsql.Sample) bool {
	for _, op := range operators {
		if op.kernel == x.Def.Name {
			return x.Expr.Type.IsChunk()
		}
	}
	return false
}

// column runs a sample; a row is the value and its type.
func (s *server) column(x *kernelsql.Sample, path string) ([][]*string, error) {
	results, err := s.PgConn().Exec(s.ctx, "SET search_path = public; "+x.Script()+" SET search_path = "+path+"; SELECT "+
		x.SQL+", pg_typeof("+x.SQL+") FROM t ORDER BY id").ReadAll()
	if err != nil {
		return nil, err
	}
	var out [][]*string
	for _, r := range results[len(results)-1].Rows {
		out = append(out, texts(r))
	}
	if len(out) != kernelsql.Rows {
		return nil, fmt.Errorf("%d rows", len(out))
	}
	return out, nil
}

// sameNumbers compares within the tolerance of a type: 1e-6 of real, 1e-12 of double precision; infinities and NaN
// exactly.
func sameNumbers(got, want []float64, kind kernels.Kind) bool {
	tol := 1e-12
	if kind == kernels.Float32 {
		tol = 1e-6
	}
	if len(got) != len(want) {
		return false
	}
	for i, y := range want {
		if kind == kernels.Float32 {
			y = float64(float32(y))
		}
		x := got[i]
		if x != y && !(math.IsNaN(x) && math.IsNaN(y)) &&
			!(math.Abs(x-y) <= tol*math.Max(1, math.Abs(y)) && !math.IsInf(y, 0)) {
			return false
		}
	}
	return true
}

// same compares Postgres's text of a value and its type with the reference code's value.
func same(text, typ *string, want kernels.Value) error {
	fail := func(got any) error {
		return fmt.Errorf("postgres gives %v of type %s, the reference code %v of type %v", got, *typ, want, want.Type)
	}
	if text == nil || want.Null {
		if text == nil && want.Null {
			return nil
		}
		return fail("NULL or not")
	}
	if wide := *typ == "integer" && want.Type.Kind == kernels.Int; *typ != sqlType(want.Type) && !wide {
		return fail(*text)
	}
	switch want.Type.Kind {
	case kernels.Text:
		if *text != want.T {
			return fail(*text)
		}
		return nil
	case kernels.Int:
		if *text != strconv.FormatInt(want.I, 10) {
			return fail(*text)
		}
		return nil
	}
	shape, got, err := parse(*text)
	if err != nil {
		return err
	}
	if !want.Type.Shape.Equal(shape) || !sameNumbers(got, want.Floats(), want.Type.Kind) {
		return fail(*text)
	}
	return nil
}

// parse reads a number (shape nil) or an array of numbers as Postgres prints it.
func parse(text string) (shape []int, x []float64, err error) {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == '{' || r == '}' || r == ',' }) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", text, err)
		}
		x = append(x, v)
	}
	depth, closed := 0, 0 // lengths are counted until the first array of a depth is closed
	for _, r := range text {
		switch {
		case r == '{':
			if depth++; depth > len(shape) {
				shape, closed = append(shape, 1), depth+1
			}
		case r == ',' && depth < closed:
			shape[depth-1]++
		case r == '}':
			closed = min(closed, depth)
			depth--
		}
	}
	return shape, x, nil
}

// refusal asserts the message, SQLSTATE and hint of a query that fails.
func (s *server) refusal(t *testing.T, sql, code, message, hint string) {
	t.Helper()
	_, err := s.query(sql)
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		t.Errorf("%s: %v, want the error %s", sql, err, message)
		return
	}
	if e.Code != code || e.Message != message || !strings.Contains(e.Hint, hint) {
		t.Errorf("%s:\n%s %s\nhint %s\nwant\n%s %s\nhint %s", sql, e.Code, e.Message, e.Hint, code, message, hint)
	}
}

// catalogue checks what CREATE EXTENSION makes: no restart is needed, all is in one schema, all functions are marked as
// they should be.
func catalogue(t *testing.T, s *server) {
	for sql, want := range map[string]string{
		"SHOW shared_preload_libraries": "",
		"SELECT count(*) FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'relgrad' " +
			"JOIN pg_proc p ON p.oid = d.objid WHERE pronamespace <> 'relgrad'::regnamespace": "0",
		"SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM pg_proc " +
			"WHERE pronamespace = 'relgrad'::regnamespace AND prokind = 'f' AND (NOT proisstrict OR provolatile <> 'i' OR " +
			"proparallel <> 's')": "agg_scatter backward check_gradient current_epoch current_seed current_step distribute " +
			"explain_gradient gen_member gen_rows gen_servers gradient impl_change_run undistribute",
		"SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM pg_proc " +
			"JOIN pg_aggregate ON aggfnoid = pg_proc.oid WHERE pronamespace = 'relgrad'::regnamespace AND proparallel = 's' " +
			"AND aggcombinefn <> 0 AND aggtranstype = 'double precision[]'::regtype": "accuracy auc avg f1 log_loss max_agg " +
			"min_agg ndcg rmse sum vector_agg",
		"SELECT count(*) FROM pg_operator WHERE oprnamespace = 'relgrad'::regnamespace": "32",
		"SELECT min(procost) >= 1 AND max(procost) > 100 FROM pg_proc WHERE pronamespace = 'relgrad'::regnamespace " +
			"AND prokind = 'f'": "t",
		"DROP EXTENSION relgrad; CREATE EXTENSION relgrad; SELECT 'again'": "again",
	} {
		if got, err := s.query(sql); err != nil || *got[0] != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
			if err == nil {
				t.Log(*got[0])
			}
		}
	}
}
