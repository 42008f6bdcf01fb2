package interop

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// parquetFile is a Parquet file, read column by column with the low-level reader: it works in the calling goroutine,
// so that its panics over malformed pages can be caught.
type parquetFile struct {
	*source
	r     *file.Reader
	mem   memory.Allocator
	cols  []Column
	leaf  []int // the leaf of each column
	about about
}

func openParquet(s *source) (Reader, error) {
	if err := checkParquet(s); err != nil {
		return nil, err
	}
	mem := newLimited(s)
	r, err := file.NewParquetReader(io.NewSectionReader(s, 0, s.size),
		file.WithReadProps(parquet.NewReaderProperties(mem)))
	if err != nil {
		return nil, s.malformed("not a readable parquet file: %v", err)
	}
	f := &parquetFile{source: s, r: r, mem: mem}
	meta := map[string]string{}
	if v := r.MetaData().KeyValueMetadata().FindValue(metaAbout); v != nil {
		meta[metaAbout] = *v
	}
	if f.about, err = s.aboutOf(meta); err != nil {
		return nil, err
	}
	f.columns()
	return f, s.someReadable(f.cols)
}

// columns finds the leaves that are columns: alone, or inside lists.
func (f *parquetFile) columns() {
	sc := f.r.MetaData().Schema
	leaves, durations := map[string][]int{}, f.durations()
	for i := range sc.NumColumns() {
		root := sc.ColumnRoot(i)
		leaves[root.Name()] = append(leaves[root.Name()], i)
	}
	for i := range sc.NumColumns() {
		root, leaf := sc.ColumnRoot(i), sc.Column(i)
		if of := leaves[root.Name()]; len(of) > 1 || grouped(root) {
			if of[0] == i {
				f.cols, f.leaf = append(f.cols, Column{Name: root.Name(), Refused: "structs or maps"}), append(f.leaf, i)
			}
			continue
		}
		typ := parquetType(leaf)
		if durations[root.Name()] {
			typ = ""
		}
		if typ == "" {
			what := leaf.PhysicalType().String()
			if durations[root.Name()] {
				what = "a duration"
			} else if l := leaf.LogicalType(); l != nil && !l.IsNone() {
				what = l.String()
			}
			f.cols, f.leaf = append(f.cols, Column{Name: root.Name(), Refused: "values of Parquet's type " + what}),
				append(f.leaf, i)
			continue
		}
		if t := f.about.Types[root.Name()]; t != "" && typ == "text" {
			typ = t
		}
		if leaf.MaxRepetitionLevel() > 0 {
			typ += "[]"
		}
		f.cols, f.leaf = append(f.cols, Column{Name: root.Name(), Type: typ}), append(f.leaf, i)
	}
}

// grouped reports whether a column is a struct, or a list of structs.
func grouped(n schema.Node) bool {
	for n.Type() == schema.Group {
		g := n.(*schema.GroupNode)
		if g.NumFields() != 1 || n.RepetitionType() != parquet.Repetitions.Repeated &&
			g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			return true
		}
		n = g.Field(0)
	}
	return false
}

// durations names the columns that were durations when the file was written. Parquet stores a number without its unit;
// the Arrow schema beside it has the type.
func (f *parquetFile) durations() map[string]bool {
	note := f.r.MetaData().KeyValueMetadata().FindValue("ARROW:schema")
	if note == nil {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(*note)
	if err != nil {
		return nil
	}
	r, err := ipc.NewReader(bytes.NewReader(text), ipc.WithAllocator(f.mem))
	if err != nil {
		return nil
	}
	defer r.Release()
	out := map[string]bool{}
	for _, x := range r.Schema().Fields() {
		t := x.Type
		for {
			l, ok := t.(arrow.ListLikeType)
			if !ok {
				break
			}
			t = l.Elem()
		}
		if d, ok := t.(*arrow.DictionaryType); ok {
			t = d.ValueType
		}
		out[x.Name] = t.ID() == arrow.DURATION
	}
	return out
}

// parquetType returns the Postgres type that holds a leaf's values exactly, "" where there is none.
func parquetType(c *schema.Column) string {
	switch l := c.LogicalType().(type) {
	case schema.StringLogicalType, *schema.StringLogicalType, schema.JSONLogicalType, *schema.JSONLogicalType,
		schema.EnumLogicalType, *schema.EnumLogicalType:
		return "text"
	case schema.DateLogicalType, *schema.DateLogicalType:
		return "date"
	case *schema.TimestampLogicalType:
		if l.IsAdjustedToUTC() {
			return "timestamp with time zone"
		}
		return "timestamp without time zone"
	case *schema.IntLogicalType:
		bits := int(l.BitWidth())
		if !l.IsSigned() {
			bits++ // the next larger type
		}
		switch {
		case bits <= 16:
			return "smallint"
		case bits <= 32:
			return "integer"
		}
		return "bigint"
	case schema.Float16LogicalType, *schema.Float16LogicalType:
		return "real"
	case nil, schema.NoLogicalType, *schema.NoLogicalType:
		return map[parquet.Type]string{parquet.Types.Boolean: "boolean", parquet.Types.Int32: "integer",
			parquet.Types.Int64: "bigint",
			parquet.Types.Float: "real", parquet.Types.Double: "double precision"}[c.PhysicalType()]
	}
	return ""
}

func (f *parquetFile) Columns() []Column { return f.cols }
func (f *parquetFile) Key() []string     { return f.about.Key }
func (f *parquetFile) Close() error      { return f.r.Close() }

// Rows implements Reader.
func (f *parquetFile) Rows(want []Column) (Rows, error) {
	at, err := f.pick(f.cols, want)
	if err != nil {
		return nil, err
	}
	r := &parquetRows{f: f}
	for i, k := range at {
		d := f.r.MetaData().Schema.Column(f.leaf[k])
		root := f.r.MetaData().Schema.ColumnRoot(f.leaf[k])
		r.cols = append(r.cols, &parquetColumn{name: want[i].Name, leaf: f.leaf[k], desc: d, b: newBuilder(want[i].Type),
			maxDef: d.MaxDefinitionLevel(), maxRep: d.MaxRepetitionLevel(),
			optional: root.RepetitionType() == parquet.Repetitions.Optional})
	}
	return r, nil
}

type parquetRows struct {
	f         *parquetFile
	cols      []*parquetColumn
	group     int
	row, rows int64
}

// Next implements Rows.
func (r *parquetRows) Next(dst []any) (err error) {
	defer guard(r.f.name, "parquet", &err)
	for r.row == r.rows {
		if r.group == r.f.r.NumRowGroups() {
			return io.EOF
		}
		g := r.f.r.RowGroup(r.group)
		r.row, r.rows, r.group = 0, g.NumRows(), r.group+1
		if r.rows == 0 { // it may have no pages
			continue
		}
		for _, c := range r.cols {
			pr, err := g.GetColumnPageReader(c.leaf)
			if err != nil {
				return r.f.malformed("column \"%s\": %v", c.name, err)
			}
			cr := file.NewColumnReader(c.desc, &pages{PageReader: pr, desc: c.desc}, r.f.mem, r.f.r.BufferPool())
			if err := c.begin(cr); err != nil {
				return r.f.malformed("column \"%s\": %v", c.name, err)
			}
		}
	}
	for i, c := range r.cols {
		if dst[i], err = c.next(); err != nil {
			return within(err,
				fmt.Sprintf("file \"%s\": column \"%s\", row %d of group %d: ", r.f.name, c.name, r.row+1, r.group))
		}
	}
	r.row++
	return nil
}

// parquetColumn reads one leaf, level by level. A value that is present has definition level maxDef; maxRep lists
// surround it.
type parquetColumn struct {
	name           string
	leaf           int
	desc           *schema.Column
	b              *builder
	maxDef, maxRep int16
	optional       bool

	read       func() (levels int64, err error)
	put        func(value int) error // adds value number value of the batch to the builder
	def, rep   []int16
	at, levels int
	values     int // values of the batch that have been read
	index      []int
}

// levelsRead is the number of levels read at a time.
const levelsRead = 4096

// batchOf reads batches of values of a Go type.
func batchOf[T any](c *parquetColumn, read func(int64, []T, []int16, []int16) (int64, int, error), put func(T) error) {
	vals, n := make([]T, levelsRead), 0
	c.read = func() (levels int64, err error) {
		levels, n, err = read(levelsRead, vals, c.def, c.rep)
		return levels, err
	}
	c.put = func(i int) error {
		if i >= n {
			return sqlerr.New(sqlerr.BadCopy, "its values end early")
		}
		return put(vals[i])
	}
}

// begin goes to the column's chunk in a row group.
func (c *parquetColumn) begin(r file.ColumnChunkReader) error {
	if c.maxRep >= 0 && c.def == nil {
		c.def, c.rep = make([]int16, levelsRead), make([]int16, levelsRead)
		c.index = make([]int, c.maxRep)
	}
	c.at, c.levels, c.values = 0, 0, 0
	switch x := r.(type) {
	case *file.BooleanColumnChunkReader:
		batchOf(c, x.ReadBatch, c.b.bool)
	case *file.Int32ColumnChunkReader:
		batchOf(c, x.ReadBatch, c.int32)
	case *file.Int64ColumnChunkReader:
		batchOf(c, x.ReadBatch, c.int64)
	case *file.Float32ColumnChunkReader:
		batchOf(c, x.ReadBatch, func(v float32) error { return c.b.float(float64(v), math.Float32bits(v), true) })
	case *file.Float64ColumnChunkReader:
		batchOf(c, x.ReadBatch, func(v float64) error { return c.b.float(v, 0, false) })
	case *file.ByteArrayColumnChunkReader:
		batchOf(c, x.ReadBatch, func(v parquet.ByteArray) error { return c.b.text(string(v)) })
	case *file.FixedLenByteArrayColumnChunkReader:
		batchOf(c, x.ReadBatch, func(v parquet.FixedLenByteArray) error {
			bits := halfBits(uint16(v[0]) | uint16(v[1])<<8)
			return c.b.float(float64(math.Float32frombits(bits)), bits, true)
		})
	default:
		return fmt.Errorf("values of type %s", r.Type())
	}
	return nil
}

func (c *parquetColumn) int32(v int32) error {
	switch l := c.desc.LogicalType().(type) {
	case schema.DateLogicalType, *schema.DateLogicalType:
		return c.b.date(int64(v))
	case *schema.IntLogicalType:
		if !l.IsSigned() {
			return c.b.int(int64(uint32(v)))
		}
	}
	return c.b.int(int64(v))
}

func (c *parquetColumn) int64(v int64) error {
	switch l := c.desc.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		unit := map[schema.TimeUnitType]time.Duration{schema.TimeUnitMillis: time.Millisecond,
			schema.TimeUnitMicros: time.Microsecond, schema.TimeUnitNanos: time.Nanosecond}[l.TimeUnit()]
		if unit == 0 {
			return sqlerr.New(sqlerr.BadCopy, "a timestamp of unknown unit")
		}
		return c.b.timestamp(v, unit, l.IsAdjustedToUTC())
	case *schema.IntLogicalType:
		if !l.IsSigned() && v < 0 {
			return outOfRange(uint64(v), "bigint")
		}
	}
	return c.b.int(v)
}

// peek makes the next level available. It returns false at the end of the row group.
func (c *parquetColumn) peek() (bool, error) {
	if c.at < c.levels {
		return true, nil
	}
	n, err := c.read()
	if err != nil {
		return false, sqlerr.New(sqlerr.BadCopy, "%v", err)
	}
	c.at, c.levels, c.values = 0, int(n), 0
	return n > 0, nil
}

// level takes a level: how many lists go on, and whether there is a value.
func (c *parquetColumn) level() (rep, def int16) {
	rep, def = 0, c.maxDef
	if c.maxRep > 0 {
		rep = c.rep[c.at]
	}
	if c.maxDef > 0 {
		def = c.def[c.at]
	}
	c.at++
	return rep, def
}

// next reads one row.
func (c *parquetColumn) next() (any, error) {
	if ok, err := c.peek(); err != nil || !ok {
		return nil, firstError(err, sqlerr.New(sqlerr.BadCopy, "the column ends early"))
	}
	c.b.reset()
	rep, def := c.level()
	if rep != 0 {
		return nil, sqlerr.New(sqlerr.BadCopy, "it begins within a list")
	}
	if def < c.maxDef && (c.maxRep == 0 || def == 0 && c.optional) {
		return nil, c.single()
	}
	clear(c.index)
	for {
		if def != c.maxDef {
			return nil, sqlerr.New(sqlerr.NullNotAllowed, "a list that is empty or has a NULL element").
				WithHint("A chunk is dense: use 0, or leave the row out.")
		}
		if err := c.put(c.values); err != nil {
			return nil, err
		}
		c.values++
		if c.maxRep == 0 {
			break
		}
		more, err := c.peek()
		if err != nil {
			return nil, err
		}
		if !more || c.rep[c.at] == 0 {
			break
		}
		if rep, def = c.level(); rep < 0 || rep > c.maxRep {
			return nil, sqlerr.New(sqlerr.BadCopy, "a repetition level of %d, the largest is %d", rep, c.maxRep)
		}
		if err := c.advance(int(rep) - 1); err != nil {
			return nil, err
		}
	}
	if err := c.advance(-1); err != nil {
		return nil, err
	}
	return c.b.value()
}

// single checks that a NULL is the only entry of its row.
func (c *parquetColumn) single() error {
	if c.maxRep == 0 {
		return nil
	}
	more, err := c.peek()
	if err == nil && more && c.rep[c.at] != 0 {
		err = sqlerr.New(sqlerr.BadCopy, "a list that is NULL and goes on")
	}
	return err
}

// advance begins the next element along an axis and ends the lists inside it, whose lengths must be equal. Axis -1 ends
// all lists.
func (c *parquetColumn) advance(axis int) error {
	for k := len(c.index) - 1; k > axis; k-- {
		n := c.index[k] + 1
		for len(c.b.dims) <= k {
			c.b.dims = append(c.b.dims, 0)
		}
		if c.b.dims[k] == 0 {
			c.b.dims[k] = n
		}
		if c.b.dims[k] != n {
			return sqlerr.New(sqlerr.ArraySubscript, "lists of %d and %d elements side by side", c.b.dims[k], n).
				WithHint("Lists must be of one length, and not empty.")
		}
		c.index[k] = 0
	}
	if axis >= 0 {
		c.index[axis]++
	}
	return nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
