package pgrun

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/gradtest"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/migrations"
	"github.com/relgrad/relgrad/tensor"
)

// compiledServer is a server with the portable tier, and the session from outside that compiles for it.
type compiledServer struct {
	*viewServer
	outside *relgrad.Server
}

func newCompiledServer(t *testing.T) *compiledServer {
	t.Helper()
	ctx, cluster := context.Background(), pgcluster.StartBare(t)
	e := connect(t, cluster, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := migrations.Apply(ctx, conn)
		return err
	})
	s := &compiledServer{viewServer: &viewServer{e, t}}
	s.exec("SET search_path = public, relgrad")
	var err error
	if s.outside, err = relgrad.Dial(ctx, cluster.DSN, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.outside.Close() })
	for _, sql := range []string{"SET search_path = public, relgrad", "SET jit = off"} {
		if _, err := s.outside.RunSQL(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestCompiledLosses compares compiled gradients on the portable tier with the executor's, for the losses that every
// engine is tested with, at one step and seed.
func TestCompiledLosses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx, s := context.Background(), newCompiledServer(t)
	graph := gradtest.Graph()
	script := ""
	for _, name := range slices.Sorted(maps.Keys(graph.Tables)) {
		script += create(graph.Tables[name])
	}
	s.exec(script)
	s.fill(graph)
	texts := map[string]string{}
	for name, v := range graph.Views {
		texts[name] = v.Text.SQL
	}
	if err := s.createViews(texts); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, l := range gradtest.Losses {
		loss := l.SQL
		if strings.Contains(loss, " ") {
			loss = fmt.Sprintf("loss%d", i)
			s.exec("CREATE VIEW " + loss + " AS " + l.SQL)
		}
		for _, p := range l.Params {
			if err := compareCompiled(ctx, s.outside, loss, p); err != nil {
				t.Errorf("%s with respect to %s: %v", l.SQL, p, err)
			}
			n++
		}
	}
	t.Logf("%d gradients", n)
}

func compareCompiled(ctx context.Context, s *relgrad.Server, loss, param string) error {
	step := int64(2)
	want, err := s.Gradient(ctx, loss, param, &step, 1)
	if err != nil {
		return err
	}
	table, column, _ := strings.Cut(param, ".")
	if err := s.CompileText(ctx, loss, param); err != nil {
		return err
	}
	from := fmt.Sprintf("gradient('%s', NULL::%s, step => 2, seed => 1)", loss, table)
	if column != "" {
		if _, err := s.RunSQL(ctx,
			fmt.Sprintf("SELECT backward('%s', ARRAY['%s'], step => 2, seed => 1)", loss, param)); err != nil {
			return err
		}
		from = "pg_temp." + table + "_grad"
	}
	res, err := s.RunSQL(ctx, "SELECT * FROM "+from)
	if err != nil {
		return err
	}
	got := res.Rows
	slices.SortFunc(got, func(a, b []any) int { return cmp.Or(order(a[0], b[0]), order(a[1], b[1])) })
	wanted := values(want)
	slices.SortFunc(wanted, func(a, b []any) int { return cmp.Or(order(a[0], b[0]), order(a[1], b[1])) })
	if len(got) != len(wanted) {
		return fmt.Errorf("%d rows, not %d", len(got), len(wanted))
	}
	for i := range got {
		for j := range got[i] {
			if !alike(got[i][j], wanted[i][j]) {
				return fmt.Errorf("row %v, not %v", got[i], wanted[i])
			}
		}
	}
	return nil
}

// order compares whole numbers; others are the same.
func order(a, b any) int {
	x, ok := a.(int64)
	if !ok {
		return 0
	}
	return cmp.Compare(x, b.(int64))
}

// values are a relation's rows as a session gives those of a query.
func values(r *catalog.Relation) [][]any {
	out := make([][]any, r.Cols[0].Len())
	for i := range out {
		for _, c := range r.Cols {
			switch v := c.Value(i); {
			case v.Null:
				out[i] = append(out[i], nil)
			case v.Type.IsChunk():
				out[i] = append(out[i], &tensor.Tensor{DType: v.Type.Kind.DType(), Shape: v.Type.Shape, Data: v.F})
			case v.Type.IsFloat():
				out[i] = append(out[i], v.X)
			default:
				out[i] = append(out[i], v.I)
			}
		}
	}
	return out
}

func alike(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) <= 1e-10*math.Max(1, math.Abs(y)))
	case *tensor.Tensor:
		y, ok := b.(*tensor.Tensor)
		return ok && x.Shape.Equal(y.Shape) && slices.EqualFunc(x.Data, y.Data, func(p, q float64) bool {
			return alike(p, q)
		})
	}
	return a == b
}
