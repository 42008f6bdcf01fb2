package store

import (
	"context"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlgen"
	"github.com/relgrad/relgrad/store/bind"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
)

// Version returns a table's version in this session. Equal versions mean equal contents.
func (db *DB) Version(schema, name string) (catalog.Version, error) {
	if err := db.refresh(); err != nil {
		return catalog.Version{}, err
	}
	t, _ := db.cat.Relation(db.searchPath(), schema, name)
	if t == nil {
		return catalog.Version{}, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
	}
	if err := db.use(t); err != nil {
		return catalog.Version{}, err
	}
	v := db.versions[definitions.KeyOf(t)]
	return catalog.Version{Keys: v.Keys + db.epoch<<32, Values: v.Values + db.epoch<<32}, nil
}

// Table describes a stored table for the algebra; nil where the name is a view. The shapes of chunks come from the
// data.
func (db *DB) Table(schema, name string) (*ra.Table, error) {
	return db.TableOn(db.searchPath(), schema, name)
}

// TableOn is Table with a search path of its own.
func (db *DB) TableOn(path []string, schema, name string) (*ra.Table, error) {
	if err := db.refresh(); err != nil {
		return nil, err
	}
	t, v := db.cat.Relation(path, schema, name)
	if t == nil {
		if v != nil {
			return nil, nil
		}
		e := sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
		if near := sqlerr.Nearest(name, db.Relations()); near != "" {
			e.Hint = "Perhaps you meant \"" + near + "\"."
		}
		return nil, e
	}
	if err := db.use(t); err != nil {
		return nil, err
	}
	if err := definitions.CheckPopulated(t); err != nil {
		return nil, err
	}
	out := &ra.Table{Schema: t.Schema, Name: t.Name}
	if t.Matview != nil {
		out.Kind = "materialized view"
	}
	count, err := db.counted(t)
	if err != nil {
		return nil, db.translate(err)
	}
	out.Rows = count.Rows
	for i := range t.Cols {
		c := &t.Cols[i]
		tc := ra.TableColumn{Name: c.Name, PGType: c.Type.Declared()}
		tc.Type, tc.NoType = columns.KernelType(c.Type, c.Shape)
		tc.Type.Nullable = count.HasNull(c.Name)
		out.Cols = append(out.Cols, tc)
	}
	out.Key, out.Declared = definitions.IdentityOf(t, out.Rows)
	return out, nil
}

// Read implements ra.Source: columns of a table (ra.RowID is the hidden row id), all in row id order.
func (db *DB) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	return db.ReadInto(ctx, t, cols, nil)
}

// ReadInto implements ra.Roomy.
func (db *DB) ReadInto(ctx context.Context, t *ra.Table, cols []int, room ra.Room) ([]*column.Column, error) {
	def := db.cat.Tables[definitions.Key{Schema: t.Schema, Name: t.Name}]
	if def == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", t.Name)
	}
	if err := db.use(def); err != nil {
		return nil, err
	}
	names, types := make([]string, len(cols)), make([]catalog.Type, len(cols))
	for i, c := range cols {
		if c == ra.RowID {
			names[i], types[i] = definitions.RowidName(def), catalog.Int8
			continue
		}
		names[i], types[i] = definitions.Ident(def.Cols[c].Name), def.Cols[c].Type
	}
	if len(cols) == 0 {
		names = []string{"NULL"}
	}
	stop := db.watch(ctx)
	defer stop()
	defer db.restoreCache()
	if err := db.scanCache(); err != nil {
		return nil, db.translate(err)
	}
	r := columns.NewReader(types, int(t.Rows), room)
	for i, c := range cols {
		// a table with columns of all the names of the row id has no row id
		if c == ra.RowID || !isLarge(&def.Cols[c]) || def.Column(definitions.RowidName(def)) >= 0 {
			continue
		}
		b := db.c.Reader(definitions.Database(def), definitions.FileName(def), sqlgen.Mangle(def.Cols[c].Name))
		defer b.Close()
		r.Blobs[i], names[i] = b, "CASE WHEN typeof("+names[i]+") <> 'null' THEN "+definitions.RowidName(def)+" END"
	}
	err := db.c.Scan("SELECT "+strings.Join(names, ", ")+" FROM "+definitions.SQL(def)+" ORDER BY "+
		definitions.RowidName(def), func(c []lite.Cell) error { return r.Add(c) })
	return r.Vectors(), db.translate(err)
}

// largeChunk is the bytes from which a chunk is read directly into its place, because a processor's cache would not
// hold it between two copies.
const largeChunk = 1 << 20

func isLarge(c *catalog.Column) bool {
	return c.Type.IsChunk() && c.Shape.Size()*c.Type.DType().Size() >= largeChunk
}

// Query runs any SELECT and returns its columns; a chunk column must have one shape.
func (db *DB) Query(ctx context.Context, sel *ast.Select, text *ast.Text) (cols []catalog.ResultCol,
	data []*column.Column, err error) {
	var r *columns.Reader
	stop := db.watch(ctx)
	defer stop()
	err = selectEach(ctx, db, sel, text, func(oc []bind.OutputColumn) error {
		cols = resultCols(oc)
		r = columns.NewReader(bind.TypesOfColumns(oc), 0, nil)
		return nil
	}, func(_ []bind.OutputColumn, c []lite.Cell) error { return r.Add(c) })
	if err != nil {
		return nil, nil, sqlerr.In(db.translate(err), text)
	}
	return cols, r.Vectors(), nil
}

// Columns returns the names and types of a query's columns without running it.
func (db *DB) Columns(ctx context.Context, sel *ast.Select, text *ast.Text) (cols []catalog.ResultCol, err error) {
	b := newWriter(ctx, db, text)
	defer b.Catch(&err)
	defer b.Release()
	q := b.SelectQuery(sel, nil)
	q.Settle(b.Binder)
	return resultCols(q.Columns), nil
}

// WriteColumn replaces a value column's data in the rows with these row ids, in any order. It is the fast way to write
// trained parameters: one transaction (or savepoint) and one prepared statement. Chunks of a new shape must be written
// to all rows.
func (db *DB) WriteColumn(ctx context.Context, schema, name, col string, rowids []int64, data *column.Column) error {
	t, _ := db.cat.Relation(db.searchPath(), schema, name)
	if t == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
	}
	if err := definitions.CheckWritable(t); err != nil {
		return err
	}
	i := t.Column(col)
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", col, name)
	}
	if len(rowids) != data.Len() {
		return sqlerr.New(sqlerr.Internal, "internal error: %d row ids for %d rows of %s.%s", len(rowids), data.Len(),
			name, col)
	}
	stop := db.watch(ctx)
	defer stop()
	return db.atomically(true, func() error {
		b := newWriter(ctx, db, nil)
		c := &t.Cols[i]
		s, err := db.c.Prepare("UPDATE " + definitions.SQL(t) + " SET " + definitions.Ident(col) + " = ? WHERE " +
			definitions.RowidName(t) + " = ?")
		if err != nil {
			return err
		}
		defer s.Close()
		sl := b.Slots[b.AddSlot(t, c)]
		for k := range rowids {
			if err := columns.SetVector(s, 0, data, k, c.Type, sl); err != nil {
				return err
			}
			s.SetInt(1, rowids[k])
			if err := s.Run(); err != nil {
				return err
			}
		}
		db.bump(definitions.KeyOf(t), definitions.InKey(t, col))
		if now := db.cat.Tables[definitions.KeyOf(t)]; data.Valid() == nil && (now.Count == nil || !now.Count.HasNull(col)) {
			return checkSlots(b, t, 0) // no row is added, and none becomes NULL
		}
		return checkSlots(b, t, int64(data.Len()))
	})
}
