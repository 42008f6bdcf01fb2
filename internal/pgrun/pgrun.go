// Package pgrun is the engine "generated SQL on Postgres" for tests.
//
// # What
//
// An Engine holds a connection to a server of its own (internal/pgcluster) with relgrad's extension or portable tier.
// Run copies the tables that a plan reads from a memdb into it, prints each root with sqlgen and returns its rows.
//
// # Invariants
//
// Each Run begins with an empty database. A result column has exactly the Postgres type of its relgrad type.
//
// # Errors
//
// Those of sqlgen and of the server, with the text; a NULL in a column that holds none; a value of another type or
// shape. Without a server on the machine the test is skipped (internal/need).
//
// # Where to add
//
// A type of columns is one row of types, and a case in value.
package pgrun

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/memdb"
	"github.com/relgrad/relgrad/internal/pgcluster"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlrun"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/migrations"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/ra/interp"
	"github.com/relgrad/relgrad/sqlfront/bind"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/tensor"
)

// Engine is used by one goroutine at a time.
type Engine struct {
	conn   *pgx.Conn
	tables []string
	InFrom bool // see sqlgen.Options
}

// New starts a server, which ends with the test, and connects. It has the extension.
func New(t testing.TB) *Engine {
	t.Helper()
	return connect(t, pgcluster.Start(t), func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE EXTENSION relgrad")
		return err
	})
}

// NewPortable is New with the portable tier in place of the extension.
func NewPortable(t testing.TB) *Engine {
	t.Helper()
	return connect(t, pgcluster.StartBare(t), func(ctx context.Context, conn *pgx.Conn) error {
		_, err := migrations.Apply(ctx, conn)
		return err
	})
}

func connect(t testing.TB, c *pgcluster.Cluster, install func(context.Context, *pgx.Conn) error) *Engine {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	if err := install(ctx, conn); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "SET jit = off"); err != nil { // compiling costs more than such small queries
		t.Fatal(err)
	}
	return &Engine{conn: conn}
}

// Run runs all roots of a plan; the rows of a root hold its wanted columns, in order.
func (e *Engine) Run(ctx context.Context, db *memdb.DB, plan *ra.Plan, env *kernels.Env) ([][]interp.Row, error) {
	if err := e.load(ctx, db, plan.Nodes()); err != nil {
		return nil, err
	}
	return sqlrun.Roots(ctx, plan, sqlgen.Postgres{}, sqlgen.Options{Env: env, InFrom: e.InFrom,
		Opaque: func(n *ra.Node) (string, error) { return series(n, env) }},
		func(text string, r ra.Root) ([]interp.Row, error) { return e.query(ctx, text, r) })
}

// series prints the rows of generate_series.
func series(n *ra.Node, env *kernels.Env) (string, error) {
	data, ok, err := bind.Rows(n, env)
	if err != nil || !ok || len(data) != 1 || data[0].Kind() != column.I64 {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "memdb runs no SQL").Wrap(err)
	}
	if len(data[0].I64()) == 0 {
		return "SELECT 0::bigint WHERE FALSE", nil
	}
	rows := lists.Map(data[0].I64(), func(i int64) string { return fmt.Sprintf("(%d::bigint)", i) })
	return "VALUES " + strings.Join(rows, ", "), nil
}

// types are the names and OIDs of the column types: of a scalar and of an array.
var types = map[kernels.Kind]struct {
	name          string
	scalar, array uint32
}{
	kernels.Float64: {"double precision", pgtype.Float8OID, pgtype.Float8ArrayOID},
	kernels.Float32: {"real", pgtype.Float4OID, pgtype.Float4ArrayOID},
	kernels.Int:     {"bigint", pgtype.Int8OID, pgtype.Int8ArrayOID},
	kernels.Bool:    {"boolean", pgtype.BoolOID, 0},
	kernels.Text:    {"text", pgtype.TextOID, 0},
}

// load replaces the tables by those that the plan scans.
func (e *Engine) load(ctx context.Context, db *memdb.DB, roots []*ra.Node) error {
	script := ""
	for _, t := range e.tables {
		script += "DROP TABLE " + t + "; "
	}
	e.tables = nil
	var scans []*ra.Table
	seen := map[string]bool{}
	ra.Walk(func(n *ra.Node) {
		if n.Op == ra.Scan && !seen[n.Table.Name] {
			seen[n.Table.Name] = true
			scans = append(scans, n.Table)
			script += create(n.Table)
		}
	}, roots...)
	if err := e.conn.PgConn().Exec(ctx, script).Close(); err != nil {
		return fmt.Errorf("pgrun: %w\n%s", err, script)
	}
	for _, t := range scans {
		name := sqlgen.Postgres{}.Table(t)
		e.tables = append(e.tables, name)
		if _, err := e.conn.PgConn().CopyFrom(ctx, rows(db.Data[t.Name], int(t.Rows)),
			"COPY "+name+" FROM STDIN"); err != nil {
			return fmt.Errorf("pgrun: table %s: %w", name, err)
		}
	}
	return nil
}

func create(t *ra.Table) string {
	d := sqlgen.Postgres{}
	var cols, key []string
	for i := range t.Cols {
		ty := types[t.Cols[i].Type.Kind].name
		if t.Cols[i].Type.IsChunk() {
			ty += "[]"
		}
		cols = append(cols, d.Ident(t.Cols[i].Name)+" "+ty)
	}
	for _, k := range t.Key {
		if k != ra.RowID {
			key = append(key, d.Ident(t.Cols[k].Name))
		}
	}
	if key != nil {
		cols = append(cols, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	return "CREATE UNLOGGED TABLE " + d.Table(t) + " (" + strings.Join(cols, ", ") + "); "
}

// rows writes a table's rows in COPY's text format.
func rows(data []*column.Column, n int) *bytes.Buffer {
	var b bytes.Buffer
	escape := strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r")
	for row := range n {
		for i, v := range data {
			if i > 0 {
				b.WriteByte('\t')
			}
			switch x := v.Value(row); {
			case x.Null:
				b.WriteString("\\N")
			case v.Type().Kind == kernels.Text:
				b.WriteString(escape.Replace(x.T))
			case v.Type().Shape == nil && v.Type().IsFloat():
				b.WriteString(tensor.FormatFloat(x.X, v.Type().Kind.DType()))
			default:
				b.WriteString(x.String())
			}
		}
		b.WriteByte('\n')
	}
	return &b
}

func (e *Engine) query(ctx context.Context, text string, r ra.Root) ([]interp.Row, error) {
	// no setting changes it
	result := e.conn.PgConn().ExecParams(ctx, text, nil, nil, nil, []int16{pgtype.BinaryFormatCode})
	var out []interp.Row
	var wrong error
	for result.NextRow() {
		row := make(interp.Row, len(r.Cols))
		for i, cell := range result.Values()[:min(len(r.Cols), len(result.Values()))] {
			c := r.Node.Col(r.Cols[i])
			v, err := value(cell, c.Type)
			if err != nil && wrong == nil {
				wrong = fmt.Errorf("column %s: %w", c.Name, err)
			}
			row[i] = v
		}
		out = append(out, row)
	}
	fields := slices.Clone(result.FieldDescriptions())
	if _, err := result.Close(); err != nil {
		return nil, err
	}
	if err := checkTypes(fields, r); err != nil {
		return nil, err
	}
	return out, wrong
}

func checkTypes(fields []pgconn.FieldDescription, r ra.Root) error {
	if len(fields) != len(r.Cols) {
		return fmt.Errorf("%d columns, not %d", len(fields), len(r.Cols))
	}
	for i, f := range fields {
		c := r.Node.Col(r.Cols[i])
		want := types[c.Type.Kind].scalar
		if c.Type.Shape != nil {
			want = types[c.Type.Kind].array
		}
		if f.DataTypeOID != want || f.Name != c.Name {
			return fmt.Errorf("column %s has the type %d, not %d as %v of column %s", f.Name,
				f.DataTypeOID, want, c.Type, c.Name)
		}
	}
	return nil
}

// value reads Postgres's binary form of a value.
func value(cell []byte, t kernels.Type) (v kernels.Value, err error) {
	v.Type = t
	read := func(to any) error {
		return pgtype.NewMap().Scan(types[t.Kind].scalar, pgtype.BinaryFormatCode, cell, to)
	}
	var b bool
	switch {
	case cell == nil && !t.Nullable:
		return v, fmt.Errorf("NULL where %v cannot be NULL", t)
	case cell == nil:
		return kernels.NullOf(t), nil
	case t.IsChunk():
		v.F, err = array[float64](cell, t)
	case t.Shape != nil:
		v.Ints, err = array[int64](cell, t)
	case t.IsFloat():
		err = read(&v.X)
	case t.Kind == kernels.Text:
		v.T = string(cell)
	case t.Kind == kernels.Bool:
		if err = read(&b); b {
			v.I = 1
		}
	default:
		err = read(&v.I)
	}
	return v, err
}

// array reads Postgres's binary form of an array, which must have the type's shape.
func array[T any](cell []byte, t kernels.Type) ([]T, error) {
	var x pgtype.Array[T]
	if err := pgtype.NewMap().Scan(types[t.Kind].array, pgtype.BinaryFormatCode, cell, &x); err != nil {
		return nil, err
	}
	shape := make(tensor.Shape, len(x.Dims))
	for i, d := range x.Dims {
		shape[i] = int(d.Length)
		if d.LowerBound != 1 {
			return nil, fmt.Errorf("lower bound %d in %s", d.LowerBound, cell)
		}
	}
	if !shape.Equal(t.Shape) {
		return nil, fmt.Errorf("shape %v where %v is expected", shape, t)
	}
	return x.Elements, nil
}
