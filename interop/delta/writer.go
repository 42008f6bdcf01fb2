package delta

import (
	"bytes"
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop"
)

// WriteOptions says how files are written.
type WriteOptions struct {
	FileBytes int // about the size at which a file is closed and the next begun; 0: 16 MiB
	Parquet   interop.ParquetOptions
}

const (
	fileBytes = 16 << 20
	mostOpen  = 64 // files of different partitions being written at once
)

// part is a file being written: of one partition, where the table has partitions.
type part struct {
	name   string
	values map[string]*string
	buf    fileBuffer
	w      *interop.ParquetWriter
	stats  *collector
}

// fileBuffer is a file in memory. What is no small file gets the room of a full one at once, which else would be copied
// each time that it doubles.
type fileBuffer struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *fileBuffer) Write(data []byte) (int, error) {
	if n := b.Len(); n > 0 && n+len(data) > b.Cap() && n+len(data) > fileBytes/32 {
		b.Grow(max(len(data), fileBytes+fileBytes/8-n))
	}
	return b.Buffer.Write(data)
}

// Write adds a row: a value for each of the table's columns, in their order and in the forms of interop.Field.
func (t *Tx) Write(row []any) (err error) {
	defer guard(&err)
	if t.err != nil {
		return t.err
	}
	defer func() {
		if err != nil {
			t.err = err
		}
	}()
	if len(row) != len(t.columns) {
		return sqlerr.Broken("delta", "a row of %d values for %d columns", len(row), len(t.columns))
	}
	p, values, err := t.part(row)
	if err != nil {
		return err
	}
	if err := p.w.Write(values); err != nil {
		return err
	}
	p.stats.add(values)
	return t.finishFull(p)
}

// finishFull completes a file that is large enough.
func (t *Tx) finishFull(p *part) error {
	full, err := p.w.Full(cmp.Or(t.o.FileBytes, fileBytes))
	if err == nil && full {
		err = t.finish(p)
	}
	return err
}

// WriteColumns adds n rows: of each of the table's columns n numbers, or a value that all have, as
// interop.ParquetWriter.WriteColumns takes them. The table must not be partitioned.
func (t *Tx) WriteColumns(n int, columns []any) (err error) {
	defer guard(&err)
	if t.err != nil {
		return t.err
	}
	defer func() {
		if err != nil {
			t.err = err
		}
	}()
	if len(columns) != len(t.columns) || len(t.meta.PartitionColumns) > 0 {
		return sqlerr.Broken("delta", "%d columns of numbers for %d columns in %d partitions", len(columns), len(t.columns),
			len(t.meta.PartitionColumns))
	}
	const step = 1 << 14 // then the size of the file is looked at
	some := make([]any, len(columns))
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		for i, c := range columns {
			some[i] = interop.CutColumn(c, from, to)
		}
		p, _, err := t.part(nil)
		if err != nil {
			return err
		}
		if err := p.w.WriteColumns(to-from, some); err != nil {
			return err
		}
		p.stats.addColumns(to-from, some)
		if err := t.finishFull(p); err != nil {
			return err
		}
	}
	return nil
}

// part finds the file to which a row belongs, and the values that the file holds of it.
func (t *Tx) part(row []any) (*part, []any, error) {
	if p := t.parts[""]; p != nil && len(t.meta.PartitionColumns) == 0 {
		return p, row, nil
	}
	values, keys := make([]any, 0, len(row)), map[string]*string{}
	key := ""
	for i := range row {
		c := &t.columns[i].Field
		if !contains(t.meta.PartitionColumns, c.Name) {
			values = append(values, row[i])
			continue
		}
		s, err := valueText(c, row[i])
		if err != nil {
			return nil, nil, err
		}
		if keys[c.Name] = s; s != nil {
			key += strings.ReplaceAll(*s, "/", "//") + "/+"
		} else {
			if c.Required {
				return nil, nil, sqlerr.New(sqlerr.NotNullViolation, "NULL in \"%s\", which must not be NULL", c.Name)
			}
			key += "/-"
		}
	}
	if p := t.parts[key]; p != nil {
		return p, values, nil
	}
	if len(t.parts) >= mostOpen {
		for _, p := range t.parts {
			if err := t.finish(p); err != nil {
				return nil, nil, err
			}
		}
	}
	name := "part-00000-" + unique() + "-c000.zstd.parquet"
	p := &part{name: path.Join(folder(t.meta.PartitionColumns, keys), name), values: keys}
	p.stats = newCollector(t.stored())
	var err error
	p.w, err = interop.CreateParquet(&p.buf, p.name, p.stats.fields, t.o.Parquet)
	if err != nil {
		return nil, nil, err
	}
	t.parts[key] = p
	return p, values, nil
}

// stored are the columns that files hold.
func (t *Tx) stored() (out []interop.Field) {
	for _, c := range t.columns {
		if !contains(t.meta.PartitionColumns, c.Name) {
			out = append(out, c.Field)
		}
	}
	return out
}

// finish completes a file and writes it where the table lies.
func (t *Tx) finish(p *part) error {
	for key, q := range t.parts {
		if p == q {
			delete(t.parts, key)
		}
	}
	if err := p.w.Close(); err != nil {
		return err
	}
	f := &File{Path: (&url.URL{Path: p.name}).EscapedPath(), name: p.name, PartitionValues: p.values,
		Size: int64(p.buf.Len()), DataChange: true, ModificationTime: time.Now().UnixMilli(), Stats: p.stats.text()}
	t.added = append(t.added, f) // before it is written, so that Abort deletes it
	if err := t.settle(); err != nil {
		return err
	}
	local, ok := t.base.store.(*Local)
	if !ok {
		return t.base.store.PutIfAbsent(p.name, p.buf.Bytes())
	}
	put := make(chan error, 1)
	t.putting = put
	go func() { put <- local.PutIfAbsent(p.name, p.buf.Bytes()) }()
	return nil
}

// settle waits for the file that is being written.
func (t *Tx) settle() (err error) {
	if t.putting != nil {
		err, t.putting = <-t.putting, nil
	}
	return err
}

// finishAll completes all files, in the order of their names' keys.
func (t *Tx) finishAll() error {
	keys := []string{}
	for key := range t.parts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := t.finish(t.parts[key]); err != nil {
			return err
		}
	}
	return t.settle()
}

// AddColumns adds columns to the table, which are NULL in the rows that it has. It must come before the first row. A
// column that is there already must be of the same type.
func (t *Tx) AddColumns(fields []interop.Field) error {
	if len(t.parts)+len(t.added) > 0 {
		return sqlerr.Broken("delta", "columns are added after rows")
	}
	cols := slices.Clone(t.columns)
	for _, f := range fields {
		i := slices.IndexFunc(cols, func(c column) bool { return strings.EqualFold(c.Name, f.Name) })
		switch {
		case i < 0 && f.Required:
			return sqlerr.New(sqlerr.InvalidParameter, "column \"%s\" is added, so it may be NULL", f.Name)
		case i < 0:
			cols = append(cols, column{Field: f})
		case cols[i].Name != f.Name || !same(&cols[i].Field, &f):
			return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" of type %s is there already, as \"%s\" of type %s",
				f.Name, f.Type, cols[i].Name, cols[i].Type).WithHint("Use another table for it.")
		}
	}
	if len(cols) == len(t.columns) {
		return nil
	}
	if err := checkColumns(cols); err != nil {
		return err
	}
	if p := protocolFor(cols); p.MinReaderVersion > t.protocol.MinReaderVersion {
		return unsupported("a column of type timestamp_ntz is added to a table whose protocol does not have it")
	}
	meta := *t.meta
	meta.SchemaString = schemaText(cols)
	t.columns, t.meta, t.changed = cols, &meta, true
	return nil
}

// Columns are the columns of the rows to be written.
func (t *Tx) Columns() []interop.Field {
	return lists.Map(t.columns, func(c column) interop.Field { return c.Field })
}

// Partitioned reports whether the table has partitions.
func (t *Tx) Partitioned() bool { return len(t.meta.PartitionColumns) > 0 }

// column finds a column by name, -1 where there is none.
func (t *Tx) column(name string) int {
	for i, c := range t.columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}
