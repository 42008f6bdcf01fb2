// Package sqlrun is the engine "generated SQL on SQLite" for tests.
//
// # What
//
// An Engine holds one SQLite connection in memory with relgrad's functions. Run copies the tables that a plan reads
// from a memdb into it, prints each root with sqlgen and returns its rows.
//
// # Invariants
//
// Each Run begins with an empty database. The hidden row id counts from 0, as memdb's does.
//
// # Errors
//
// Those of sqlgen and of the functions; a NULL in a column that holds none, which is what SQLite makes of NaN.
//
// # Where to add
//
// Another database is another engine beside this one.
package sqlrun

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/optimizer"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/store/lite"
	"github.com/relgrad/relgrad/store/lite/kernelfunc"
	"github.com/relgrad/relgrad/tensor"
)

// Engine is used by one goroutine at a time.
type Engine struct {
	c      *lite.Conn
	tables []string
	InFrom bool // see sqlgen.Options
}

// New opens the engine's connection.
func New() (*Engine, error) {
	c, err := lite.Open(":memory:", false)
	if err != nil {
		return nil, err
	}
	if err := kernelfunc.Register(c); err != nil {
		c.Close()
		return nil, err
	}
	return &Engine{c: c}, nil
}

// Close frees the connection.
func (e *Engine) Close() error { return e.c.Close() }

// Run runs all roots of a plan; the rows of a root hold its wanted columns, in order.
func (e *Engine) Run(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
	if err := e.load(db, plan.Nodes()); err != nil {
		return nil, err
	}
	return Roots(ctx, plan, sqlgen.SQLite{}, sqlgen.Options{Env: env, InFrom: e.InFrom,
		Opaque: func(n *ra.Node) (string, error) { return series(n, env) }}, e.query)
}

// Roots prints each root of a plan by itself and runs it by query.
func Roots(ctx context.Context, plan *ra.Plan, d sqlgen.Dialect, o sqlgen.Options,
	query func(string, ra.Root) ([]interp.Row, error)) ([][]interp.Row, error) {
	out := make([][]interp.Row, len(plan.Roots))
	for i, r := range plan.Roots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, _, err := optimizer.Alone(ctx, plan, i, optimizer.Options{})
		if err != nil {
			return nil, err
		}
		text, err := sqlgen.SQL(one, 0, d, o)
		if err != nil {
			return nil, err
		}
		if out[i], err = query(text, r); err != nil {
			return nil, fmt.Errorf("root %s: %w\n%s", r.Name, err, text)
		}
	}
	return out, nil
}

// series prints the rows of generate_series.
func series(n *ra.Node, env *kernels.Env) (string, error) {
	data, ok, err := bind.Rows(n, env)
	if err != nil || !ok || len(data) != 1 || data[0].Kind() != column.I64 {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "memdb runs no SQL").Wrap(err)
	}
	rows := lists.Map(data[0].I64(), func(i int64) string { return fmt.Sprintf("(%d)", i) })
	return "VALUES " + strings.Join(rows, ", "), nil
}

// load replaces the tables by those that the plan scans.
func (e *Engine) load(db *memdb.DB, roots []*ra.Node) error {
	for _, t := range e.tables {
		if err := e.c.Exec("DROP TABLE " + t); err != nil {
			return err
		}
	}
	e.tables = nil
	seen := map[string]bool{}
	var err error
	ra.Walk(func(n *ra.Node) {
		if err == nil && n.Op == ra.Scan && !seen[n.Table.Name] {
			seen[n.Table.Name] = true
			err = e.create(n.Table, db.Data[n.Table.Name])
		}
	}, roots...)
	return err
}

var storage = map[kernels.Kind]string{kernels.Float64: "REAL", kernels.Float32: "REAL", kernels.Int: "INTEGER",
	kernels.Bool: "INTEGER", kernels.Text: "TEXT"}

func (e *Engine) create(t *ra.Table, data []*column.Column) error {
	d := sqlgen.SQLite{}
	name := d.Table(t)
	var cols, key, names []string
	hidden := 0
	for i := range t.Cols {
		ty := storage[t.Cols[i].Type.Kind]
		if t.Cols[i].Type.IsChunk() {
			ty = "BLOB"
		}
		names = append(names, d.Ident(t.Cols[i].Name))
		cols = append(cols, names[i]+" "+ty)
	}
	for _, k := range t.Key {
		if k == ra.RowID {
			hidden, names = 1, append([]string{d.RowID(t)}, names...)
			continue
		}
		key = append(key, d.Ident(t.Cols[k].Name))
	}
	if key != nil {
		cols = append(cols, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	if err := e.c.Exec("CREATE TABLE " + name + " (" + strings.Join(cols, ", ") + ") STRICT"); err != nil {
		return err
	}
	e.tables = append(e.tables, name)
	s, err := e.c.Prepare("INSERT INTO " + name + " (" + strings.Join(names, ", ") + ") VALUES (?" +
		strings.Repeat(", ?", len(names)-1) + ")")
	if err != nil {
		return err
	}
	defer s.Close()
	for row := range int(t.Rows) {
		if hidden == 1 {
			s.SetInt(0, int64(row))
		}
		for i, v := range data {
			if err := set(s, hidden+i, v, row); err != nil {
				return fmt.Errorf("sqlrun: table %s: %w", t.Name, err)
			}
		}
		if err := s.Run(); err != nil {
			return err
		}
	}
	return nil
}

func set(s *lite.Stmt, i int, v *column.Column, row int) error {
	x := v.Value(row)
	switch {
	case x.Null:
		s.SetNull(i)
	case v.Type().IsChunk():
		s.SetBytes(i, lite.Blob, v.Tensor(row).Encode())
	case v.Type().IsFloat():
		if math.IsNaN(x.X) {
			return fmt.Errorf("a scalar is NaN")
		}
		s.SetFloat(i, x.X)
	case v.Type().Kind == kernels.Text:
		s.SetBytes(i, lite.Text, []byte(x.T))
	default:
		s.SetInt(i, x.I)
	}
	return nil
}

func (e *Engine) query(text string, r ra.Root) ([]interp.Row, error) {
	var out []interp.Row
	err := e.c.Query(text, nil, func(cells []lite.Cell) error {
		row := make(interp.Row, len(cells))
		for i := range cells {
			c := r.Node.Col(r.Cols[i])
			v, err := value(&cells[i], c.Type)
			if err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
			row[i] = v
		}
		out = append(out, row)
		return nil
	})
	return out, err
}

// value decodes a cell, which must be of the column's type.
func value(c *lite.Cell, t kernels.Type) (kernels.Value, error) {
	v := kernels.Value{Type: t}
	want := lite.Integer
	switch {
	case c.IsNull() && !t.Nullable:
		return v, fmt.Errorf("NULL where %v cannot be NULL", t)
	case c.IsNull():
		return kernels.NullOf(t), nil
	case t.IsChunk():
		x, err := tensor.Decode(c.Bytes())
		if err != nil {
			return v, err
		}
		if x.DType != t.Kind.DType() || !x.Shape.Equal(t.Shape) {
			return v, fmt.Errorf("%v%v where %v is expected", x.DType, x.Shape, t)
		}
		v.F = x.Data
		return v, nil
	case t.Shape != nil:
		return kernelfunc.Value(c, true)
	case t.IsFloat():
		v.X, want = c.Float(), lite.Float
	case t.Kind == kernels.Text:
		v.T, want = c.String(), lite.Text
	default:
		v.I = c.Int()
	}
	if c.Kind() != want {
		return v, fmt.Errorf("SQLite type %d where %v is expected", c.Kind(), t)
	}
	return v, nil
}
