package interop

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// Parquet is an open Parquet file of nested values, whose row groups are read one by one.
type Parquet struct {
	*source
	columns *schema.Schema
	pool    *sync.Pool
	mem     memory.Allocator
	meta    fields
	root    []*inNode
}

// Group is a row group: its rows, and the statistics of its columns by name. Columns without any are not in Stats.
type Group struct {
	Rows  int64
	Stats map[string]Stats
}

// Stats are the smallest and the largest value of a column in a row group, nil where they are unknown; of floats, NaN
// is left out. Nulls is the number of NULLs, -1 where it is unknown; of a list, 0 says that there are none, nor in it.
type Stats struct {
	Min, Max any
	Nulls    int64
}

// OpenParquet reads the footer of a Parquet file of size bytes. It reads nothing else: the pages of a column are
// checked when they are read. name is for errors.
func OpenParquet(f io.ReaderAt, size int64, name string) (p *Parquet, err error) {
	defer guard(name, "parquet", &err)
	const tail = 1 << 16
	w := newTail(f, max(0, size-tail), min(size, tail))
	s := &source{File: w, name: name, size: size}
	meta, columns, err := checkFooter(s)
	if err != nil {
		return nil, err
	}
	m, err := metadata.NewFileMetaData(columns, nil)
	if err != nil {
		return nil, s.malformed("not a readable parquet file: %v", err)
	}
	p = &Parquet{source: s, mem: newLimited(s), meta: meta, columns: m.Schema}
	p.pool = &sync.Pool{New: func() any { return memory.NewResizableBuffer(p.mem) }}
	leaf := 0
	top := p.columns.Root()
	for i := range top.NumFields() {
		p.root = append(p.root, p.node(top.Field(i), 0, 0, &leaf))
	}
	for i, g := range meta.list(4) {
		group, _ := g.(fields)
		if n := len(group.list(1)); n != leaf {
			return nil, s.malformed("row group %d has %d columns, the schema %d", i+1, n, leaf)
		}
	}
	return p, nil
}

// Fields are the file's columns.
func (p *Parquet) Fields() []Field {
	out := make([]Field, len(p.root))
	for i, n := range p.root {
		out[i] = *n.field
	}
	return out
}

// Groups lists the row groups.
func (p *Parquet) Groups() []Group {
	var out []Group
	for _, g := range p.meta.list(4) {
		group, _ := g.(fields)
		x := Group{Rows: group.int(3), Stats: map[string]Stats{}}
		for _, n := range p.root {
			if n.leaf == nil && len(n.leaves) == 1 { // a list: NULLs in it count too
				chunk, _ := group.list(1)[n.leaves[0].index].(fields)
				x.Stats[n.field.Name] = Stats{Nulls: n.leaves[0].stats(chunk.get(3).get(12)).Nulls}
			}
			if n.leaf == nil || n.leaf.desc.MaxRepetitionLevel() > 0 {
				continue
			}
			chunk, _ := group.list(1)[n.leaf.index].(fields)
			x.Stats[n.field.Name] = n.leaf.stats(chunk.get(3).get(12))
		}
		out = append(out, x)
	}
	return out
}

// stats reads the statistics of a column chunk (parquet.thrift). Only the fields min_value and max_value are used,
// whose order is defined.
func (l *inLeaf) stats(f fields) Stats {
	out := Stats{Nulls: -1}
	if f.has(3) {
		out.Nulls = f.int(3)
	}
	low, _ := f[6].([]byte)
	high, _ := f[5].([]byte)
	if i, ok := l.desc.LogicalType().(*schema.IntLogicalType); ok && !i.IsSigned() {
		return out
	}
	out.Min, out.Max = l.plain(low, f.has(6)), l.plain(high, f.has(5))
	return out
}

// plain reads one value in the encoding PLAIN, nil where there is none or none with an order.
func (l *inLeaf) plain(b []byte, has bool) any {
	switch t := l.desc.PhysicalType(); {
	case !has:
	case t == parquet.Types.Int32 && len(b) == 4:
		v, err := l.fromInt(int64(int32(binary.LittleEndian.Uint32(b))))
		return orNil(v, err)
	case t == parquet.Types.Int64 && len(b) == 8:
		v, err := l.fromInt(int64(binary.LittleEndian.Uint64(b)))
		return orNil(v, err)
	case t == parquet.Types.Float && len(b) == 4:
		if x := math.Float32frombits(binary.LittleEndian.Uint32(b)); x == x { // NaN is no bound
			return x
		}
	case t == parquet.Types.Double && len(b) == 8:
		if x := math.Float64frombits(binary.LittleEndian.Uint64(b)); x == x {
			return x
		}
	case t == parquet.Types.ByteArray && l.field.Type == "string":
		return string(b)
	}
	return nil
}

// orNil leaves out decimals, whose texts have no order.
func orNil(v any, err error) any {
	if _, text := v.(string); text || err != nil {
		return nil
	}
	return v
}

// inNode is a field of the file: its values have at least the definition level def. Those of a list or map have
// elements at level item, and further ones at repetition level rep.
type inNode struct {
	field          *Field
	def, item, rep int16
	parts          []*inNode
	leaf           *inLeaf
	leaves         []*inLeaf // all below
}

// node finds the form of a field. See
// https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#nested-types
func (p *Parquet) node(n schema.Node, def, rep int16, leaf *int) *inNode {
	switch n.RepetitionType() {
	case parquet.Repetitions.Optional:
		def++
	case parquet.Repetitions.Repeated: // a list without a name of its own
		elem := p.form(n, def+1, rep+1, leaf)
		elem.field.Required = true
		return &inNode{field: &Field{Name: n.Name(), Type: "array", Required: true, Parts: []Field{*elem.field},
			Refused: elem.field.Refused}, def: def, item: def + 1, rep: rep + 1, parts: []*inNode{elem}, leaves: elem.leaves}
	}
	out := p.form(n, def, rep, leaf)
	out.field.Required = n.RepetitionType() == parquet.Repetitions.Required
	return out
}

// form finds the form of a field whose repetition is counted in def and rep already.
func (p *Parquet) form(n schema.Node, def, rep int16, leaf *int) *inNode {
	out := &inNode{field: &Field{Name: n.Name()}, def: def}
	g, group := n.(*schema.GroupNode)
	if !group {
		desc := p.columns.Column(*leaf)
		out.leaf = &inLeaf{index: *leaf, desc: desc, field: out.field}
		out.field.Type = deltaType(desc)
		if out.field.Type == "" {
			out.field.Refused = typeText(desc)
		}
		out.leaves = []*inLeaf{out.leaf}
		*leaf++
		return out
	}
	isMap := annotated(g, schema.MapLogicalType{}, &schema.MapLogicalType{}, schema.ConvertedTypes.Map,
		schema.ConvertedTypes.MapKeyValue)
	isList := annotated(g, schema.ListLogicalType{}, &schema.ListLogicalType{}, schema.ConvertedTypes.List)
	out.field.Type = "struct"
	parts := []schema.Node{}
	for i := range g.NumFields() {
		parts = append(parts, g.Field(i))
	}
	if (isMap || isList) && len(parts) == 1 && parts[0].RepetitionType() == parquet.Repetitions.Repeated {
		inner, ok := parts[0].(*schema.GroupNode)
		if isMap && ok && inner.NumFields() == 2 {
			out.field.Type, parts = "map", []schema.Node{inner.Field(0), inner.Field(1)}
		} else if isList && ok && inner.NumFields() == 1 && inner.Name() != "array" && inner.Name() != n.Name()+"_tuple" {
			out.field.Type, parts = "array", []schema.Node{inner.Field(0)}
		} else if isList { // of two levels, by old writers
			elem := p.form(parts[0], def+1, rep+1, leaf)
			elem.field.Required = true
			out.item, out.rep = def+1, rep+1
			out.field.Type = "array"
			out.adopt(elem)
			return out
		}
	}
	if out.field.Type != "struct" {
		def, rep = def+1, rep+1
		out.item, out.rep = def, rep
	}
	for _, part := range parts {
		out.adopt(p.node(part, def, rep, leaf))
	}
	if len(out.parts) == 0 {
		out.field.Refused = "structs without a readable field"
	}
	return out
}

// adopt adds a part. A struct is readable without its unreadable fields, a list or map is not.
func (n *inNode) adopt(part *inNode) {
	if n.field.Type == "struct" && part.field.Refused != "" {
		return
	}
	n.leaves = append(n.leaves, part.leaves...)
	if part.field.Refused != "" && n.field.Refused == "" {
		n.field.Refused = part.field.Refused
	}
	n.parts, n.field.Parts = append(n.parts, part), append(n.field.Parts, *part.field)
}

func annotated(g *schema.GroupNode, l, pointer schema.LogicalType, old ...schema.ConvertedType) bool {
	if x := g.LogicalType(); x != nil && !x.IsNone() {
		return x.Equals(l) || x.Equals(pointer)
	}
	return slices.Contains(old, g.ConvertedType())
}

// deltaType is the name of a leaf's type in Field.
func deltaType(c *schema.Column) string {
	l := c.LogicalType()
	if d, ok := l.(*schema.DecimalLogicalType); ok {
		f := Field{Type: "decimal(" + strconv.Itoa(int(d.Precision())) + "," + strconv.Itoa(int(d.Scale())) + ")"}
		if _, _, ok := f.Decimal(); ok {
			return f.Type
		}
		return ""
	}
	switch x := l.(type) {
	case *schema.IntLogicalType:
		if x.IsSigned() {
			return map[int8]string{8: "byte", 16: "short", 32: "integer", 64: "long"}[x.BitWidth()]
		}
	case *schema.TimestampLogicalType:
		if x.IsAdjustedToUTC() {
			return "timestamp"
		}
		return "timestamp_ntz"
	case nil, schema.NoLogicalType, *schema.NoLogicalType, schema.UnknownLogicalType, *schema.UnknownLogicalType:
		switch c.PhysicalType() {
		case parquet.Types.ByteArray:
			return "binary"
		case parquet.Types.Int96:
			return "timestamp"
		}
	case schema.Float16LogicalType, *schema.Float16LogicalType:
		return ""
	}
	return map[string]string{"smallint": "short", "integer": "integer", "bigint": "long", "real": "float",
		"double precision": "double", "text": "string", "date": "date", "boolean": "boolean"}[parquetType(c)]
}

func typeText(c *schema.Column) string {
	what := c.PhysicalType().String()
	if l := c.LogicalType(); l != nil && !l.IsNone() {
		what = l.String()
	}
	return "values of Parquet's type " + what
}

// Read reads columns of row groups, by name; the groups count from 0.
func (p *Parquet) Read(groups []int, want []string) (Rows, error) {
	out := &nestedRows{p: p, groups: groups}
	for _, name := range want {
		i := slices.IndexFunc(p.root, func(n *inNode) bool { return n.field.Name == name })
		if i < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "file \"%s\": there is no column \"%s\"", p.name, name)
		}
		if f := p.root[i].field; f.Refused != "" {
			return nil, refused(p.name, Column{Name: f.Name, Refused: f.Refused})
		}
		out.cols = append(out.cols, p.root[i].fresh(p.size))
	}
	for _, g := range groups {
		if n := len(p.meta.list(4)); g < 0 || g >= n {
			return nil, sqlerr.Broken("interop", "row group %d of %d", g, n)
		}
	}
	return out, nil
}

// nestedRows are the rows of some row groups.
type nestedRows struct {
	p      *Parquet
	groups []int
	cols   []*inNode
	left   int64
	group  int
	err    error // from Columns, for Next
}

// Next implements Rows.
func (r *nestedRows) Next(dst []any) (err error) {
	defer guard(r.p.name, "parquet", &err)
	if err := r.ahead(); err != nil {
		return err
	}
	r.left--
	for i, n := range r.cols {
		err := n.start()
		if err == nil {
			dst[i], err = n.read()
		}
		if err != nil {
			return within(err, fmt.Sprintf("file \"%s\": column \"%s\", group %d: ", r.p.name, n.field.Name, r.group+1))
		}
	}
	return nil
}

// ahead goes to the group of the next row.
func (r *nestedRows) ahead() error {
	for r.left == 0 && r.err == nil {
		if r.err = r.ended(); r.err != nil {
			break
		}
		if len(r.groups) == 0 {
			r.err = io.EOF
			break
		}
		r.group, r.groups = r.groups[0], r.groups[1:]
		r.err = r.begin()
	}
	return r.err
}

// begin goes to a row group.
func (r *nestedRows) begin() error {
	g, _ := r.p.meta.list(4)[r.group].(fields)
	r.left = g.int(3)
	list := g.list(1)
	for _, n := range r.cols {
		for _, l := range n.leaves {
			if r.left == 0 {
				break
			}
			chunk, _ := list[l.index].(fields)
			if err := l.open(r.p, chunk.get(3)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended checks that no column goes on after the last row of a group.
func (r *nestedRows) ended() error {
	for _, n := range r.cols {
		for _, l := range n.leaves {
			more, err := l.peek()
			if err != nil {
				return r.p.malformed("column \"%s\": %v", n.field.Name, err)
			}
			if more {
				return r.p.malformed("column \"%s\" has more rows than its group", n.field.Name)
			}
		}
	}
	return nil
}

// ColumnRows are rows that may also be read by columns.
type ColumnRows interface {
	Rows
	// Columns sets columns to the next rows, of each as []int64, []float32 or []float64, which are good until the next
	// call, and returns their number. It is 0 where the next row must be read by Next: where one of its values is NULL or
	// not a number, behind the last row, and before an error.
	Columns(columns []any) int
	// Ahead looks at the next rows without taking them: it sets the columns that are not nil to them, as Columns does, and
	// returns their number, 0 where the next row has none of the numbers, or for the reasons of Columns.
	Ahead(columns []any) int
	// Skip leaves out rows that Ahead has shown.
	Skip(rows int) error
	// Done reports whether there was no further row.
	Done() bool
}

var _ ColumnRows = (*nestedRows)(nil)

// Columns implements ColumnRows.
func (r *nestedRows) Columns(columns []any) (rows int) {
	defer func() {
		if r.err != nil {
			rows = 0
		}
	}()
	defer guard(r.p.name, "parquet", &r.err)
	if r.ahead() != nil {
		return 0
	}
	rows = int(min(r.left, levelsRead))
	for _, n := range r.cols {
		if rows = min(rows, n.plain()); rows == 0 {
			return 0
		}
	}
	if len(r.cols) == 0 {
		return 0
	}
	for i, n := range r.cols {
		l := n.leaf
		columns[i] = l.many(l.used, l.used+rows)
		l.at, l.used = l.at+rows, l.used+rows
	}
	r.left -= int64(rows)
	return rows
}

// Ahead implements ColumnRows.
func (r *nestedRows) Ahead(columns []any) (rows int) {
	defer func() {
		if r.err != nil {
			rows = 0
		}
	}()
	defer guard(r.p.name, "parquet", &r.err)
	if r.ahead() != nil {
		return 0
	}
	rows = int(min(r.left, levelsRead))
	for i, n := range r.cols {
		if columns[i] != nil {
			rows = min(rows, n.plain())
		}
	}
	for i, n := range r.cols {
		if l := n.leaf; columns[i] != nil && rows > 0 {
			columns[i] = l.many(l.used, l.used+rows)
		}
	}
	return rows
}

// Skip implements ColumnRows.
func (r *nestedRows) Skip(rows int) (err error) {
	defer guard(r.p.name, "parquet", &err)
	for _, n := range r.cols {
		for _, l := range n.leaves {
			if err := l.skip(rows); err != nil {
				return within(err, fmt.Sprintf("file \"%s\": column \"%s\", group %d: ", r.p.name, n.field.Name, r.group+1))
			}
		}
	}
	r.left -= int64(rows)
	return nil
}

// Done implements ColumnRows.
func (r *nestedRows) Done() bool { return r.err == io.EOF }
