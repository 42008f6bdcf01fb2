package pgrun

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/tensor"
)

// mirror is a session of a store that defines its tables, views and functions on a server, too. The server holds no
// rows; it prints the views.
type mirror struct {
	script.Store
	t        *testing.T
	db       *relgrad.DB
	s        *viewServer
	views    []*ast.CreateView
	compared map[string]bool // losses
	train    *gradientCall   // where the script trains
	words    bool            // the views hold calls such as EXTRACT(x FROM y), which Postgres prints unlike extract(x, y)
}

func newMirror(s *viewServer) *mirror {
	db, err := relgrad.Open("")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	return &mirror{Store: script.Embedded(db), t: s.t, db: db, s: s, compared: map[string]bool{}}
}

// gradientCall is a call that needs the gradients of a loss.
type gradientCall struct {
	loss   string
	params []string
	train  bool   // it is made again and again
	before string // a statement to run before
}

// errTrains ends a script where it begins to train.
var errTrains = errors.New("the script trains")

// Exec implements script.Store. In front of a statement that reads a gradient the loss is compared.
func (m *mirror) Exec(ctx context.Context, stmt ast.Statement, text *ast.Text) (*script.Result, error) {
	switch c := findGradient(stmt); {
	case c == nil:
	case c.train:
		m.train = c
		return nil, errTrains
	default:
		m.compare(c.loss, c.params)
	}
	res, err := m.Store.Exec(ctx, stmt, text)
	if err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *ast.CreateView:
		m.views = append(m.views, s)
	case *ast.Drop:
		m.views = slices.DeleteFunc(m.views, func(v *ast.CreateView) bool { return v.Name == s.Names[0].Name })
	case *ast.Set:
		if s.Name == "search_path" { // the server's is set for each view
			return res, nil
		}
	case *ast.CreateTable, *ast.CreateTableAs, *ast.CreateFunction, *ast.AlterTable:
	default:
		return res, nil
	}
	if err := m.s.try(text.SQL); err != nil {
		m.t.Errorf("Postgres: %v\n%s", err, text.SQL)
	}
	return res, nil
}

// findGradient finds such a call in a statement that runs it; nil: there is none.
func findGradient(stmt ast.Statement) (out *gradientCall) {
	if _, ok := stmt.(*ast.CreateView); ok {
		return nil
	}
	ast.Walk(stmt, func(t ast.Tree) bool {
		c, ok := t.(*ast.FuncCall)
		if !ok || out != nil {
			return out == nil
		}
		switch c.Name {
		case "train", "backward":
			if list, ok := c.Args[1].(*ast.ArrayLit); ok {
				out = &gradientCall{loss: c.Args[0].(*ast.Literal).Value, train: true}
				for _, e := range list.Elems {
					out.params = append(out.params, e.(*ast.Literal).Value)
				}
				if i := slices.Index(c.ArgNames, "before_step"); i >= 0 {
					out.before = c.Args[i].(*ast.Literal).Value
				}
			}
		case "gradient":
			if table, ok := bind.RowParam(c.Args[1]); ok {
				out = &gradientCall{loss: c.Args[0].(*ast.Literal).Value, params: []string{table}}
			}
		}
		return true
	})
	return out
}

// compare compares a loss and its gradients with those of the views that Postgres prints.
func (m *mirror) compare(loss string, params []string) {
	m.t.Helper()
	want, err := m.results(loss, params)
	if err != nil {
		m.t.Errorf("%s: %s", loss, sqlerr.Render(err))
		return
	}
	if m.compared[loss] = true; len(m.views) == 0 {
		m.t.Errorf("%s reads no view", loss)
	}
	for _, path := range viewPaths {
		texts := ""
		for _, v := range m.views {
			text := m.s.text(v.Name, path)
			texts += fmt.Sprintf("%s AS %s\n\twas %s\n", v.Name, text, v.SQL)
			_, err := m.db.Run(context.Background(), "CREATE OR REPLACE VIEW "+v.Name+" AS "+text)
			if !m.words {
				err = errors.Join(err, m.s.reprint(text, path))
			}
			if err != nil {
				m.t.Errorf("path %s: %s\n%s", path, sqlerr.Render(err), texts)
			}
		}
		got, err := m.results(loss, params)
		if err == nil {
			err = sameResults(got, want)
		}
		if err != nil {
			m.t.Errorf("path %s: %s\n%s", path, sqlerr.Render(err), texts)
		}
	}
	for _, v := range m.views {
		cols := ""
		if v.Cols != nil {
			cols = " (" + strings.Join(v.Cols, ", ") + ")"
		}
		if _, err := m.db.Run(context.Background(), "CREATE OR REPLACE VIEW "+v.Name+cols+" AS "+v.SQL); err != nil {
			m.t.Fatal(err)
		}
	}
}

// results are the rows of the gradients, and the loss.
func (m *mirror) results(loss string, params []string) (out [][]any, err error) {
	ctx := context.Background()
	for _, p := range params {
		r, err := m.db.Run(ctx, fmt.Sprintf("SELECT * FROM gradient('%s', NULL::%s, step => 1, seed => 2)", loss, p))
		if err != nil {
			return nil, err
		}
		out = append(out, r.Rows...)
	}
	r, err := m.db.Run(ctx,
		fmt.Sprintf("SELECT backward('%s', ARRAY['%s'], step => 1, seed => 2)", loss, strings.Join(params, "', '")))
	if err != nil {
		return nil, err
	}
	return append(out, r.Rows...), nil
}

func sameResults(got, want [][]any) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d rows, not %d", len(got), len(want))
	}
	for i := range want {
		for j, w := range want[i] {
			if !sameDatum(got[i][j], w) {
				return fmt.Errorf("row %d, column %d: %v, not %v", i, j, got[i][j], w)
			}
		}
	}
	return nil
}

// sameDatum compares values up to the rounding of their type: Postgres prints a view with other casts and parentheses,
// whose plan may add in another order.
func sameDatum(a, b any) bool {
	tol := 1e-9
	if t, ok := b.(*tensor.Tensor); ok && t.DType == tensor.Float32 {
		tol = 1e-6
	}
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) <= tol*math.Max(1, math.Abs(y)) }
	switch y := b.(type) {
	case float64:
		x, ok := a.(float64)
		return ok && near(x, y)
	case *tensor.Tensor:
		x, ok := a.(*tensor.Tensor)
		return ok && x.Shape.Equal(y.Shape) && slices.EqualFunc(x.Data, y.Data, near)
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}
