package pgrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlgen"
)

var backendFlag = flag.Int64("backend", 250, "number of random queries whose gradients a backend computes")

// engineModes are the values of relgrad.engine that name an engine.
var engineModes = []string{"chunk", "sql"}

// oracle is what the interpreter says of a loss and of its gradient.
type oracle struct {
	loss kernels.Value
	grad ra.Root // with the columns that the table has
	rows []interp.Row
	key  []int // of grad's columns
}

// ask evaluates a loss over db, differentiated but not optimized, for one table.
func ask(db *memdb.DB, loss, table string) (*oracle, error) {
	ctx, env := context.Background(), &kernels.Env{Seed: 1, Step: 2, Epoch: 2}
	b, err := gradtest.Bind(ctx, db, loss, []string{table})
	if e := (*sqlerr.Error)(nil); err != nil && !errors.As(err, &e) { // the table is not scanned
		err = sqlerr.New(sqlerr.InvalidParameter, "the loss does not read it").Wrap(err)
	}
	if err != nil {
		return nil, err
	}
	in := interp.New(db, env)
	rows, err := in.Eval(ctx, b.Loss)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("the loss has %d rows", len(rows))
	}
	g := b.Grads[0]
	o := &oracle{loss: rows[0][b.Loss.Index(b.LossCol)], grad: ra.Root{Node: g}}
	full, err := in.Eval(ctx, g)
	if err != nil {
		return nil, err
	}
	o.rows = make([]interp.Row, len(full))
	for i, tc := range b.Scans[0].TableCols {
		if tc == ra.RowID {
			continue
		}
		if slices.Contains(b.Params[0].Key, tc) {
			o.key = append(o.key, len(o.grad.Cols))
		}
		o.grad.Cols = append(o.grad.Cols, g.Cols[i].ID)
		for r, row := range full {
			o.rows[r] = append(o.rows[r], row[i])
		}
	}
	return o, nil
}

// query is the call of gradient, its columns in the types in which Engine.query reads them.
func (o *oracle) query(loss, table string) string {
	var items []string
	d := sqlgen.Postgres{}
	for _, id := range o.grad.Cols {
		c := o.grad.Node.Col(id)
		item := "g." + d.Ident(c.Name)
		if c.Type.Kind == kernels.Int && c.Type.Shape == nil {
			item += "::bigint AS " + d.Ident(c.Name)
		}
		items = append(items, item)
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM gradient($loss$" + loss + "$loss$, NULL::" + table +
		", step => 2, seed => 1) AS g"
}

// wild reports a loss of which rounding leaves nothing.
func (o *oracle) wild() bool { return !o.loss.Null && !(math.Abs(o.loss.Float()) < 1e7) }

// compare reports the first row that is not the oracle's. Rows of a table without a key are matched in any order.
func (o *oracle) compare(got []interp.Row, tol float64) error {
	if len(got) != len(o.rows) {
		return fmt.Errorf("%d rows, not %d", len(got), len(o.rows))
	}
	scale := 1.0
	for _, row := range o.rows {
		for i, id := range o.grad.Cols {
			if o.grad.Node.Col(id).Type.IsFloat() && !slices.Contains(o.key, i) && !row[i].Null {
				for _, x := range row[i].Floats() {
					if !math.IsInf(x, 0) && !math.IsNaN(x) {
						scale = math.Max(scale, math.Abs(x))
					}
				}
			}
		}
	}
	left := slices.Clone(o.rows)
	for _, row := range got {
		at := slices.IndexFunc(left, func(w interp.Row) bool { return sameRow(row, w, tol*scale) })
		if at < 0 {
			return fmt.Errorf("row %v is none of the oracle's %v", row, left)
		}
		left = slices.Delete(left, at, at+1)
	}
	return nil
}

func sameRow(a, b interp.Row, tol float64) bool {
	for i := range a {
		if a[i].Null != b[i].Null {
			return false
		}
		if a[i].Null {
			continue
		}
		if !a[i].Type.IsFloat() {
			if a[i].String() != b[i].String() {
				return false
			}
			continue
		}
		x, y := a[i].Floats(), b[i].Floats()
		if len(x) != len(y) {
			return false
		}
		for j := range x {
			if x[j] != y[j] && !(math.IsNaN(x[j]) && math.IsNaN(y[j])) && !(math.Abs(x[j]-y[j]) <= tol) {
				return false
			}
		}
	}
	return true
}

// backend compares gradient() of a table, by each engine, with the oracle. ok is false where neither has an answer.
func (s *viewServer) backend(db *memdb.DB, loss, table string, tol float64) (ok bool, err error) {
	o, refused := ask(db, loss, table)
	if refused == nil && o.wild() {
		return false, nil
	}
	modes := engineModes
	if refused == nil && len(ra.Loops(o.grad.Node)) > 0 { // of which there is no text for the database
		modes = modes[:1]
	}
	for _, mode := range modes {
		s.exec("SET relgrad.engine = " + mode)
		if refused != nil || o.loss.Null {
			err := s.try("SELECT * FROM gradient($loss$" + loss + "$loss$, NULL::" + table + ", step => 2, seed => 1)")
			var e *pgconn.PgError
			switch {
			case err == nil:
				return false, fmt.Errorf("%s: no error; the oracle says %v", mode, refused)
			case !errors.As(err, &e) || e.Code == sqlerr.Internal || refused != nil && e.Code != sqlerr.Code(refused):
				return false, fmt.Errorf("%s: %v; the oracle says %v", mode, err, refused)
			}
			continue
		}
		rows, err := s.query(context.Background(), o.query(loss, table), o.grad)
		if err == nil {
			err = o.compare(rows, tol)
		}
		if err != nil {
			return false, fmt.Errorf("%s, gradient of %s: %w", mode, table, err)
		}
	}
	return refused == nil && !o.loss.Null, nil
}

// fill copies the rows of db's tables to the server.
func (s *viewServer) fill(db *memdb.DB) {
	s.t.Helper()
	for name, t := range db.Tables {
		if _, err := s.conn.PgConn().CopyFrom(context.Background(), rows(db.Data[name], int(t.Rows)),
			"COPY "+sqlgen.Postgres{}.Table(t)+" FROM STDIN"); err != nil {
			s.t.Fatalf("table %s: %v", name, err)
		}
	}
}

// TestBackendLosses compares the gradients that a backend gives of the losses that every engine is tested with.
func TestBackendLosses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	db, texts, script := gradtest.Graph(), map[string]string{}, ""
	for _, table := range db.Tables {
		script += create(table)
	}
	s.exec(script)
	s.fill(db)
	for name, v := range db.Views {
		texts[name] = v.Text.SQL
	}
	if err := s.createViews(texts); err != nil {
		t.Fatal(err)
	}
	for _, l := range slices.Concat(gradtest.Losses, gradtest.ServerRecursions) {
		for _, table := range tablesOf(l.Params) {
			if ok, err := s.backend(db, l.SQL, table, 1e-9); err != nil || !ok {
				t.Errorf("%s: compared %v: %v", l.SQL, ok, err)
			}
		}
	}
}

// tablesOf are the tables of parameters.
func tablesOf(params []string) []string {
	var out []string
	for _, p := range params {
		table, _, _ := strings.Cut(p, ".")
		if !slices.Contains(out, table) {
			out = append(out, table)
		}
	}
	return out
}

// TestBackendRandom does so with random queries, a share of them over columns of type real.
func TestBackendRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	compared, refused, beyond := 0, 0, 0
	for seed := *seedFlag; seed < *seedFlag+*backendFlag; seed++ {
		q := randquery.Generate(seed, randquery.Options{})
		kinds := []kernels.Kind{kernels.Float64}
		if seed%4 == 1 {
			kinds = append(kinds, kernels.Float32)
		}
		for _, kind := range kinds {
			c, r, b, err := s.backendRandom(q, kind)
			if compared, refused, beyond = compared+c, refused+r, beyond+b; err == nil {
				continue
			}
			t.Errorf("seed %d in %v (go test ./internal/pgrun -run TestBackendRandom -seed=%d -backend=1): %v\n%s", seed,
				kind, seed, err, q.Report())
			if !*allFlag {
				return
			}
		}
	}
	t.Logf("%d gradients by both engines, %d refused by all, %d beyond Postgres or the engine", compared, refused, beyond)
	if n := int(*backendFlag); n >= 50 && (compared < n/2 || beyond > n/10) {
		t.Errorf("only %d gradients of %d queries were compared, %d are beyond Postgres or the engine", compared, n, beyond)
	}
}

func (s *viewServer) backendRandom(q *randquery.Query, kind kernels.Kind) (compared, refused, beyond int, err error) {
	db, ok, err := s.open(q, kind)
	if err != nil || !ok {
		return 0, 0, 1, err
	}
	digits := kind
	if q.Uses["cast to real"] > 0 { // what differs in the last digit in double precision may round to another real
		digits = kernels.Float32
	}
	for _, table := range tablesOf(q.Params) {
		ok, err := s.backend(db, q.Loss, table, tolerance(digits))
		var e *pgconn.PgError
		if errors.As(err, &e) && e.Code == sqlerr.FeatureNotSupported {
			beyond++ // the catalogue of a database has sub-queries of which nothing is known; the oracle's has none
			continue
		}
		if err != nil {
			return compared, refused, 0, err
		}
		if ok {
			compared++
		} else {
			refused++
		}
	}
	return compared, refused, beyond, nil
}

// tolerance of gradients, relative to their largest value.
func tolerance(kind kernels.Kind) float64 {
	if kind == kernels.Float32 {
		return 1e-4
	}
	return 1e-9
}

// open makes a query's tables and views on the server; ok is false where Postgres does not take a view, though it is a
// loss.
func (s *viewServer) open(q *randquery.Query, kind kernels.Kind) (db *memdb.DB, ok bool, err error) {
	s.clear()
	if db, err = q.Open(kind); err != nil {
		return nil, false, err
	}
	s.exec(strings.Join(q.DB.Script(kind), "\n"))
	views := map[string]string{"the_loss": "SELECT * FROM " + q.Loss} // made for Postgres to judge it
	if strings.Contains(q.Loss, " ") {
		views["the_loss"] = q.Loss
	}
	for _, v := range q.Views {
		views[v.Name] = v.SQL
	}
	if err := s.createViews(views); err != nil {
		if q.Plain() {
			return nil, false, err
		}
		return nil, false, nil
	}
	return db, true, nil
}

// TestBackendNullChunks reads columns of chunks that begin with NULL, in one block and in several.
func TestBackendNullChunks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	for _, kind := range []kernels.Kind{kernels.Float64, kernels.Float32} {
		for _, first := range []int{1, 100_000} {
			n := first + 2
			id, v := column.New(kernels.Type{Kind: kernels.Int}, n), column.New(kernels.Type{Kind: kind, Shape: []int{2}}, n)
			for i := range n {
				id.I64()[i] = int64(i)
				if i < first || i == n-1 {
					v.SetNull(i)
				} else {
					v.Set(i, kernels.Value{Type: kernels.Type{Kind: kind, Shape: []int{2}}, F: []float64{1.5, -2}})
				}
			}
			db := memdb.New()
			db.Create("t", 1, memdb.Column{Name: "id", Data: id}, memdb.Column{Name: "v", Data: v})
			s.clear()
			s.exec(create(db.Tables["t"]))
			s.fill(db)
			if ok, err := s.backend(db, "SELECT sum(sqnorm(v)) FROM t WHERE id >= "+fmt.Sprint(first), "t", 1e-12); err != nil ||
				!ok {
				t.Errorf("%v, first chunk in row %d: compared %v: %v", kind, first, ok, err)
			}
		}
	}
}

// TestGradientTables: the table that backward fills again and again does not grow, and a query may be reading it.
func TestGradientTables(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	s.exec("CREATE TABLE w (id int PRIMARY KEY, v real[]); INSERT INTO w SELECT i, full(ARRAY[16], 0.5) " +
		"FROM generate_series(1, 2000) AS g(i)")
	const loss = "SELECT sum(sqnorm(v)) FROM w"
	for _, mode := range engineModes {
		s.exec("SET relgrad.engine = " + mode)
		for _, loop := range []string{
			"FOR step IN 1..20 LOOP PERFORM backward('" + loss + "', ARRAY['w']); COMMIT; END LOOP",
			"FOR step IN 1..20 LOOP PERFORM backward('" + loss + "', ARRAY['w']); END LOOP",
		} {
			s.exec("DO $$ BEGIN " + loop + "; END $$")
			s.gradientTable(mode + ": " + loop)
			var bytes int64
			if err := s.conn.QueryRow(context.Background(), "SELECT pg_table_size('w_grad')").Scan(&bytes); err != nil {
				t.Fatal(err)
			}
			if bytes > 1<<20 { // once the rows are 220 kB
				t.Errorf("%s: %s: the table has %d bytes", mode, loop, bytes)
			}
		}
		read := "DO $$ DECLARE r record; n int := 0; BEGIN FOR r IN SELECT * FROM w_grad LOOP n := n + 1; " +
			"IF n % 400 = 0 THEN PERFORM backward('" + loss +
			"', ARRAY['w']); END IF; END LOOP; IF n <> 2000 THEN RAISE '% rows', n; END IF; END $$"
		s.exec(read)
		s.gradientTable(mode + ": " + read)
	}
}

// gradientTable checks the rows of w_grad.
func (s *viewServer) gradientTable(what string) {
	s.t.Helper()
	var rows, right int
	if err := s.conn.QueryRow(context.Background(),
		"SELECT count(*), count(*) FILTER (WHERE v = full(ARRAY[16], 1)::real[]) FROM w_grad").
		Scan(&rows, &right); err != nil {
		s.t.Fatal(err)
	}
	if rows != 2000 || right != rows {
		s.t.Errorf("%s: %d rows, %d of them right", what, rows, right)
	}
}
