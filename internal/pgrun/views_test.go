package pgrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/randquery"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
)

var viewsFlag = flag.Int64("views", 200, "number of random queries whose views are printed by Postgres")

// viewPaths are the search paths under which Postgres prints a view: as a user has it, and with every name qualified.
var viewPaths = []string{"public, relgrad", "pg_catalog"}

// viewServer holds views of one test at a time.
type viewServer struct {
	*Engine
	t *testing.T
}

func newViewServer(t *testing.T) *viewServer {
	s := &viewServer{New(t), t}
	s.exec("SET search_path = public, relgrad")
	// a loss may read a gradient; only its name and type are of interest here
	s.exec("DO $$ BEGIN IF to_regproc('relgrad.gradient') IS NULL THEN CREATE FUNCTION relgrad.gradient(loss text, " +
		"params anyelement) RETURNS SETOF anyelement LANGUAGE sql AS 'SELECT params WHERE false'; END IF; END $$")
	return s
}

func (s *viewServer) exec(sql string) {
	s.t.Helper()
	if err := s.try(sql); err != nil {
		s.t.Fatalf("%v\n%s", err, sql)
	}
}

func (s *viewServer) try(sql string) error {
	return s.conn.PgConn().Exec(context.Background(), sql).Close()
}

// clear drops all tables and views.
func (s *viewServer) clear() {
	s.t.Helper()
	s.exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public; SET search_path = public, relgrad")
}

// text is what pg_get_viewdef prints of a view.
func (s *viewServer) text(view, path string) string {
	s.t.Helper()
	ctx, out := context.Background(), ""
	s.exec("SET search_path = " + path)
	err := s.conn.QueryRow(ctx, "SELECT pg_get_viewdef(oid, true) FROM pg_class WHERE relname = $1 AND relkind = 'v'",
		view).Scan(&out)
	if err != nil {
		s.t.Fatalf("view %s: %v", view, err)
	}
	s.exec("SET search_path = public, relgrad")
	return strings.TrimSuffix(strings.TrimSpace(out), ";")
}

// reprint checks that what sqlfront prints of a query is the same query for Postgres.
func (s *viewServer) reprint(sql, path string) error {
	sel, err := parse.ParseSelect(&ast.Text{SQL: sql})
	if err != nil {
		return err
	}
	var texts [2]string
	for i, q := range []string{sql, print.Print(sel)} {
		s.exec("SET search_path = " + path)
		if err := s.try("CREATE VIEW public.reprinted AS " + q); err != nil {
			return fmt.Errorf("%w\n%s", err, q)
		}
		texts[i] = s.text("reprinted", path)
		s.exec("DROP VIEW public.reprinted")
	}
	if texts[0] != texts[1] {
		return fmt.Errorf("printed %s\nit is %s\nnot %s", print.Print(sel), texts[1], texts[0])
	}
	return nil
}

// results are a loss's value and the rows of its gradients.
type results struct {
	loss  kernels.Value
	grads [][]interp.Row
	types []string // of the loss and of the gradients' columns
}

// evaluate computes a loss and its gradients with the oracle.
func evaluate(db *memdb.DB, loss string, params []string) (*results, error) {
	ctx, env := context.Background(), &kernels.Env{Seed: 1, Step: 2}
	b, err := gradtest.Bind(ctx, db, loss, params)
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
	at := b.Loss.Index(b.LossCol)
	out := &results{loss: rows[0][at], types: []string{fmt.Sprint(b.Loss.Cols[at].Type)}}
	for _, g := range b.Grads {
		rows, err := in.Eval(ctx, g)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(rows, func(a, b interp.Row) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		out.grads = append(out.grads, rows)
		for _, c := range g.Cols {
			out.types = append(out.types, fmt.Sprint(c.Type))
		}
	}
	return out, nil
}

// same reports the first difference. Nullable types are not compared: Postgres's text may say less about them.
func (r *results) same(o *results) error {
	if a, b := strings.ReplaceAll(fmt.Sprint(r.types), "?", ""), strings.ReplaceAll(fmt.Sprint(o.types), "?", ""); a != b {
		return fmt.Errorf("types %s, not %s", b, a)
	}
	if err := close(r.loss, o.loss); err != nil {
		return fmt.Errorf("loss: %w", err)
	}
	for p := range r.grads {
		if len(r.grads[p]) != len(o.grads[p]) {
			return fmt.Errorf("gradient %d has %d rows, not %d", p, len(o.grads[p]), len(r.grads[p]))
		}
		for i, row := range r.grads[p] {
			for j, v := range row {
				if err := close(v, o.grads[p][i][j]); err != nil {
					return fmt.Errorf("gradient %d: row %d, %v: %w", p, i, row, err)
				}
			}
		}
	}
	return nil
}

func close(a, b kernels.Value) error {
	if a.Null != b.Null || !a.Type.IsFloat() && a.String() != b.String() {
		return fmt.Errorf("%v, not %v", b, a)
	}
	if a.Null || !a.Type.IsFloat() {
		return nil
	}
	x, y := a.Floats(), b.Floats()
	if len(x) != len(y) {
		return fmt.Errorf("%v, not %v", b, a)
	}
	for i := range x {
		if x[i] != y[i] && !(math.IsNaN(x[i]) && math.IsNaN(y[i])) &&
			!(math.Abs(x[i]-y[i]) <= 1e-9*math.Max(1, math.Abs(x[i]))) {
			return fmt.Errorf("%v, not %v", b, a)
		}
	}
	return nil
}

// check compares a loss, a view of db, with the loss whose views are the texts that Postgres prints.
func (s *viewServer) check(db *memdb.DB, loss string, params []string) error {
	want, err := evaluate(db, loss, params)
	if err != nil {
		return err
	}
	for _, path := range viewPaths {
		printed, texts := &memdb.DB{Tables: db.Tables, Data: db.Data, Views: maps.Clone(db.Views)}, ""
		for _, v := range slices.Sorted(maps.Keys(db.Views)) {
			text := s.text(v, path)
			texts += fmt.Sprintf("%s AS %s\nwas %s\n", v, text, db.Views[v].Text.SQL)
			err := errors.Join(printed.AddView(v, text), s.reprint(text, path))
			if path == viewPaths[0] {
				err = errors.Join(err, s.reprint(db.Views[v].Text.SQL, path))
			}
			if err != nil {
				return fmt.Errorf("path %s: %s\n%s", path, sqlerr.Render(err), texts)
			}
		}
		got, err := evaluate(printed, loss, params)
		if err == nil {
			err = want.same(got)
		}
		if err != nil {
			return fmt.Errorf("path %s: %s\n%s", path, sqlerr.Render(err), texts)
		}
	}
	return nil
}

// createViews creates db's views on the server, each after those that it reads.
func (s *viewServer) createViews(views map[string]string) error {
	left := maps.Clone(views)
	for len(left) > 0 {
		n := len(left)
		var last error
		for _, v := range slices.Sorted(maps.Keys(left)) {
			if err := s.try("CREATE VIEW " + v + " AS " + left[v]); err != nil {
				if !isUndefinedTable(err) {
					return fmt.Errorf("view %s: %w\n%s", v, err, left[v])
				}
				last = err
				continue
			}
			delete(left, v)
		}
		if len(left) == n {
			return last
		}
	}
	return nil
}

func isUndefinedTable(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == sqlerr.UndefinedTable
}

// TestPrintedLosses binds the losses that every engine is tested with from the text that Postgres prints.
func TestPrintedLosses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	graph := gradtest.Graph()
	script, texts := "", map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(graph.Tables)) {
		script += create(graph.Tables[name])
	}
	s.exec(script)
	for name, v := range graph.Views {
		texts[name] = v.Text.SQL
	}
	if err := s.createViews(texts); err != nil {
		t.Fatal(err)
	}
	for i, l := range gradtest.Losses {
		db, loss := graph, l.SQL
		if strings.Contains(loss, " ") {
			db, loss = &memdb.DB{Tables: graph.Tables, Data: graph.Data, Views: maps.Clone(graph.Views)},
				fmt.Sprintf("loss%d", i)
			if err := errors.Join(db.AddView(loss, l.SQL), s.try("CREATE VIEW "+loss+" AS "+l.SQL)); err != nil {
				t.Errorf("%s: %v", l.SQL, err)
				continue
			}
		}
		if err := s.check(db, loss, l.Params); err != nil {
			t.Errorf("%s: %v", l.SQL, err)
		}
	}
}

// TestPrintedRandom does so with random queries, every third over columns of type real.
func TestPrintedRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := newViewServer(t)
	done, refused := 0, 0
	for seed := *seedFlag; seed < *seedFlag+*viewsFlag; seed++ {
		q := randquery.Generate(seed, randquery.Options{})
		kind := kernels.Float64
		if seed%3 == 0 {
			kind = kernels.Float32
		}
		ok, err := s.random(q, kind)
		switch {
		case err != nil:
			t.Errorf("seed %d (go test ./internal/pgrun -run TestPrintedRandom -seed=%d -views=1): %v\n%s",
				seed, seed, err, q.Report())
			if !*allFlag {
				return
			}
		case ok:
			done++
		default:
			refused++
		}
	}
	t.Logf("%d queries, %d beyond Postgres", done, refused)
	if *viewsFlag >= 100 && done < int(*viewsFlag)*6/10 {
		t.Errorf("only %d of %d queries were compared", done, *viewsFlag)
	}
}

// beyond reports whether Postgres may refuse a query: it gives a function's result a type without knowing shapes, so
// that einsum to a scalar is an array there, and takes none of the forms that q.Plain tells.
func beyond(q *randquery.Query) bool {
	texts := q.Loss
	for _, v := range q.Views {
		texts += v.SQL
	}
	return !q.Plain() || strings.Contains(texts, "->'")
}

// random checks one query; ok is false for one that Postgres does not take or that has no gradient.
func (s *viewServer) random(q *randquery.Query, kind kernels.Kind) (ok bool, err error) {
	s.clear()
	db, err := q.Open(kind)
	if err != nil {
		return false, err
	}
	s.exec(strings.Join(q.DB.Script(kind), "\n"))
	views := map[string]string{}
	for _, v := range q.Views {
		views[v.Name] = v.SQL
	}
	loss := q.Loss
	if strings.Contains(loss, " ") {
		loss = "the_loss"
		views[loss] = q.Loss
		if err := db.AddView(loss, q.Loss); err != nil {
			return false, err
		}
	}
	if err := s.createViews(views); err != nil {
		if beyond(q) {
			return false, nil
		}
		return false, err
	}
	var params []string
	for _, p := range q.Params {
		if _, err := evaluate(db, loss, []string{p}); err == nil {
			params = append(params, p)
		}
	}
	if params == nil {
		return false, nil
	}
	return true, s.check(db, loss, params)
}
