package sqlgen_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/pgrun"
	"github.com/relgrad/relgrad/internal/sqlrun"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/optimizer/rules"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlgen"
)

var env = &kernels.Env{Seed: 1, Step: 2}

// dialects by the file of their expected texts.
var dialects = map[string]sqlgen.Dialect{"testdata/sqlite": sqlgen.SQLite{}, "testdata/postgres": sqlgen.Postgres{}}

// TestText prints losses over gradtest.Graph: "sql params=(w0) [root=1] [opt]".
func TestText(t *testing.T) {
	for file, dialect := range dialects {
		db := gradtest.Graph()
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			var params []string
			d.ScanArgs(t, "params", &params)
			opt := optimizer.Options{Verify: true}
			if !d.HasArg("opt") {
				for _, r := range rules.All() {
					opt.Disable = append(opt.Disable, r.Name)
				}
			}
			res, err := gradtest.Optimize(context.Background(), db, d.Input, params, opt)
			if err != nil {
				return err.Error() + "\n"
			}
			root := 0
			d.MaybeScanArgs(t, "root", &root)
			s, err := sqlgen.SQL(res.Plan, root, dialect, sqlgen.Options{Env: env})
			if err != nil {
				return err.Error() + "\n"
			}
			return renumber(s)
		})
	}
}

var columns = regexp.MustCompile(`\bc[0-9]+\b`)

// renumber counts the columns in the order of the text, so that it does not depend on how many a binder or a
// rule made before.
func renumber(s string) string {
	seen := map[string]string{}
	return columns.ReplaceAllStringFunc(s, func(c string) string {
		if seen[c] == "" {
			seen[c] = fmt.Sprintf("c%d", len(seen)+1)
		}
		return seen[c]
	})
}

// target is a database that texts run on.
type target struct {
	dialect sqlgen.Dialect
	run     func(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error)
	nan     bool // scalars may be NaN
	rounds  bool // results of type real are rounded, scalars too
	inFrom  *bool
}

func sqlite(t *testing.T) *target {
	t.Helper()
	e, err := sqlrun.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &target{dialect: sqlgen.SQLite{}, run: e.Run, inFrom: &e.InFrom}
}

// TestPostgres runs the tests of texts on a server.
func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	runPostgres(t, pgrun.New(t))
}

// TestPortable runs them where SQL and PL/pgSQL stand for the extension.
func TestPortable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	runPostgres(t, pgrun.NewPortable(t))
}

func runPostgres(t *testing.T, server *pgrun.Engine) {
	e := &target{dialect: sqlgen.Postgres{}, run: server.Run, nan: true, rounds: true, inFrom: &server.InFrom}
	t.Run("Losses", func(t *testing.T) { runLosses(t, e) })
	t.Run("Operators", func(t *testing.T) { runOperators(t, e) })
	t.Run("Order", func(t *testing.T) { runOrder(t, e) })
	t.Run("Nodes", func(t *testing.T) { runNodes(t, e) })
	t.Run("Shared", func(t *testing.T) { runShared(t, e) })
	t.Run("Kernels", func(t *testing.T) { runKernels(t, e) })
}

// compare runs a plan on a target and by the oracle.
func compare(t *testing.T, e *target, db *memdb.DB, plan *ra.Plan, tol float64) {
	t.Helper()
	ctx := context.Background()
	got, err := e.run(ctx, db, plan, env)
	if err != nil {
		t.Error(err)
		return
	}
	for i, r := range plan.Roots {
		rows, err := interp.New(db, env).Eval(ctx, r.Node)
		if err != nil {
			t.Error(err)
			return
		}
		want := make([]interp.Row, len(rows))
		for j, row := range rows {
			for _, id := range r.Cols {
				want[j] = append(want[j], row[r.Node.Index(id)])
			}
		}
		if err := gradtest.Compare(gradtest.Keyed(got[i]), gradtest.Keyed(want), tol); err != nil {
			s, _ := sqlgen.SQL(plan, i, e.dialect, sqlgen.Options{Env: env})
			t.Errorf("root %s: %v\n%s", r.Name, err, s)
		}
	}
}

// TestLosses compares losses and gradients, as differentiated and optimized, with the oracle, also with queries in
// FROM.
func TestLosses(t *testing.T) { runLosses(t, sqlite(t)) }

func runLosses(t *testing.T, e *target) {
	db, ctx := gradtest.Graph(), context.Background()
	var none []string
	for _, r := range rules.All() {
		none = append(none, r.Name)
	}
	for _, c := range gradtest.Losses {
		for _, opt := range []optimizer.Options{{Disable: none}, {}} {
			res, err := gradtest.Optimize(ctx, db, c.SQL, c.Params, opt)
			if err != nil {
				t.Errorf("%s: %v", c.SQL, err)
				continue
			}
			t.Run(strings.Map(func(r rune) rune {
				if r == '/' {
					return ':'
				}
				return r
			}, c.SQL), func(t *testing.T) {
				compare(t, e, db, res.Plan, 1e-12)
				*e.inFrom = true
				compare(t, e, db, res.Plan, 1e-12)
				*e.inFrom = false
			})
		}
	}
}
