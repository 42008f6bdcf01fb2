package pgbridge

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// pgTypes names the server's types of result columns.
var pgTypes = map[uint32]string{
	pgtype.BoolOID: "boolean", pgtype.Int2OID: "smallint", pgtype.Int4OID: "integer", pgtype.Int8OID: "bigint",
	pgtype.OIDOID:    "bigint",
	pgtype.Float4OID: "real", pgtype.Float8OID: "double precision", pgtype.NumericOID: "numeric", pgtype.TextOID: "text",
	pgtype.VarcharOID: "text",
	pgtype.NameOID:    "text", pgtype.DateOID: "date", pgtype.TimestampOID: "timestamp",
	pgtype.TimestamptzOID: "timestamp with time zone",
	pgtype.Float4ArrayOID: "real[]", pgtype.Float8ArrayOID: "double precision[]", pgtype.Int8ArrayOID: "bigint[]",
	pgtype.Int4ArrayOID: "integer[]",
	pgtype.TextArrayOID: "text[]",
}

// TableOn describes a table as it is now: nil for a view, an error where there is nothing of that name.
func (s *Session) TableOn(path []string, schema, name string) (*ra.Table, error) {
	r := s.find(path, schema, name)
	if err := s.failed(); err != nil {
		return nil, err
	}
	if r == nil {
		e := sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
		if near := sqlerr.Nearest(name, s.Relations()); near != "" {
			e.Hint = "Perhaps you meant \"" + near + "\"."
		}
		return nil, e
	}
	if r.view != nil {
		return nil, nil
	}
	if s.watch != nil {
		if err := s.watch(r.table.Schema, r.table.Name); err != nil {
			return nil, err
		}
	}
	f, err := s.facts(r)
	if err != nil {
		return nil, bare(err)
	}
	t := &ra.Table{Schema: r.table.Schema, Name: r.table.Name, Rows: f.rows, Kind: keyless[r.kind]}
	for i, c := range r.table.Cols {
		tc := ra.TableColumn{Name: c.Name, PGType: c.Type.String(), Computed: r.computed[i],
			NotNull: c.NotNull && r.kind != "f"}
		tc.Type, tc.NoType = kernelType(c.Type, f.shape[i], s.named(r.types[i]))
		tc.Type.Nullable = f.valid[i] < f.rows
		if c.Type.Name == "numeric" && !c.Type.Array && !short(r.declared[i]) {
			tc.Type.Of = s.numerics(r.table, c.Name)
		}
		if f.denied[i] {
			tc.Type, tc.NoType = kernels.Type{Kind: kernels.Text}, ra.NoRight
		}
		t.Cols = append(t.Cols, tc)
	}
	t.Key, t.Declared = identity(r.table, f)
	return t, nil
}

// keyless are the kinds of relations of which no key can be declared, by pg_class.relkind.
var keyless = map[string]string{"m": "materialized view", "f": "foreign table"}

// kernelType is a column's type in the algebra, of a text that of being one; why says why it has none.
func kernelType(t catalog.Type, shape tensor.Shape, of *kernels.Named) (k kernels.Type, why string) {
	floats := map[string]kernels.Kind{"real": kernels.Float32, "double precision": kernels.Float64}
	kind, float := floats[t.Name]
	switch {
	case t.Array && float && shape == nil:
		return kernels.Type{Kind: kind}, "it holds no chunk yet, so its shape is not known"
	case t.Array && float:
		return kernels.Type{Kind: kind, Shape: shape}, ""
	case t.Array:
		return kernels.Type{Kind: kernels.Text, Of: of}, ""
	case float:
		return kernels.Type{Kind: kind}, ""
	}
	switch t.Name {
	case "numeric":
		k.Kind = kernels.Float64
	case "smallint", "integer", "bigint", "oid":
		k.Kind = kernels.Int
	case "boolean":
		k.Kind = kernels.Bool
	default:
		k.Kind, k.Of = kernels.Text, of
	}
	return k, ""
}

// readDims reads "[1:2][1:3]"; nil for an empty array.
func readDims(dims string) tensor.Shape {
	var shape tensor.Shape
	for _, d := range split(strings.TrimSuffix(strings.TrimPrefix(dims, "["), "]"), "][") {
		low, high, _ := strings.Cut(d, ":")
		l, _ := strconv.Atoi(low)
		h, _ := strconv.Atoi(high)
		shape = append(shape, h-l+1)
	}
	return shape
}

// Read reads columns of a table in the order of its key, ra.RowID as the position in that order.
func (s *Session) Read(ctx context.Context, t *ra.Table, cols []int) ([]*ra.Vector, error) {
	if s.watch != nil {
		if err := s.watch(t.Schema, t.Name); err != nil {
			return nil, err
		}
	}
	keyed := t.Declared && len(t.Key) > 0
	wanted := slices.Clone(cols)
	for _, k := range t.Key {
		if keyed && !slices.Contains(wanted, k) {
			wanted = append(wanted, k)
		}
	}
	items := readItems(t, wanted)
	order := ""
	if !keyed {
		order = " ORDER BY " + rowOrder(t)
	}
	c := collector{what: fmt.Sprintf("table \"%s\"", t.Name), table: t, cols0: wanted, rows: int(t.Rows)}
	query := func() error {
		_, _, err := s.conn.Query(ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+sqltext.Name(t.Schema, t.Name)+order,
			true, c.add)
		return err
	}
	under := map[string]string(nil)
	for _, col := range wanted {
		if col != ra.RowID && t.Cols[col].Type.Of != nil && t.Cols[col].Type.Of.Loose {
			under = exact
		}
	}
	if err := s.with(under, query); err != nil {
		return nil, bare(err)
	}
	data := c.data[:len(wanted)]
	for i, col := range wanted {
		if col == ra.RowID {
			continue
		}
		if got, want := data[i].Type, t.Cols[col].Type; data[i].N == 0 {
			data[i] = ra.NewVector(want, 0)
		} else if want.IsChunk() && !got.Shape.Equal(want.Shape) {
			return nil, c.ragged(i, &Odd{Row: 0, Why: 's', Shape: got.Shape}, want.Shape, nil)
		}
		data[i].Type.Of = t.Cols[col].Type.Of
	}
	if keyed {
		data = sorted(data, wanted, t.Key)
	}
	numberRows(wanted, data)
	return data[:len(cols)], nil
}

// readItems are the columns of a table as a query that reads them lists them.
func readItems(t *ra.Table, cols []int) (items []string) {
	for _, c := range cols {
		if c == ra.RowID {
			items = append(items, "0::bigint AS row")
			continue
		}
		items = append(items, notLong(&t.Cols[c], column(&t.Cols[c]), t.Name)+" AS "+sqltext.Ident(t.Cols[c].Name))
	}
	if len(items) == 0 {
		items = []string{"NULL::bigint AS none"}
	}
	return items
}

// column reads a column in the form of its type in the algebra.
func column(c *ra.TableColumn) string {
	x := sqltext.Ident(c.Name)
	switch {
	case c.NoType != "":
		return x
	case c.Type.Shape != nil: // a domain's values come as what it is made of
		return x + "::" + typeName(c.Type)
	case c.PGType == "numeric":
		return x + "::double precision"
	case c.Type.Kind == kernels.Text:
		return c.Type.Of.SQL(x)
	}
	return x + "::" + c.PGType
}

// sorted puts rows in the order of the key's values.
func sorted(data []*ra.Vector, cols, key []int) []*ra.Vector {
	var keys []*ra.Vector
	for _, k := range key {
		keys = append(keys, data[slices.Index(cols, k)])
	}
	n := data[0].N
	less := func(a, b int) bool {
		for _, k := range keys {
			if c := compareCells(k, a, b); c != 0 {
				return c < 0
			}
		}
		return a < b
	}
	rows := make([]int, n)
	inOrder := true
	for i := range rows {
		rows[i] = i
		inOrder = inOrder && (i == 0 || !less(i, i-1))
	}
	if inOrder {
		return data
	}
	sort.Slice(rows, func(i, j int) bool { return less(rows[i], rows[j]) })
	out := make([]*ra.Vector, len(data))
	for i, v := range data {
		out[i] = pick(v, rows)
	}
	return out
}

func compareCells(v *ra.Vector, a, b int) int {
	switch {
	case v.Ints != nil:
		return compare(v.Ints[a], v.Ints[b])
	case v.F64 != nil:
		return compare(v.F64[a], v.F64[b])
	case v.F32 != nil:
		return compare(v.F32[a], v.F32[b])
	}
	return compare(v.Texts[a], v.Texts[b])
}

// compare orders values as the server does: NaN, which is equal to itself, is the greatest number.
func compare[T int64 | float64 | float32 | string](a, b T) int {
	switch nanA, nanB := a != a, b != b; {
	case nanA && nanB:
		return 0
	case a < b || nanB:
		return -1
	case a > b || nanA:
		return 1
	}
	return 0
}

// pick gathers rows.
func pick(v *ra.Vector, rows []int) *ra.Vector {
	out := &ra.Vector{Type: v.Type, N: len(rows), Ints: gather(v.Ints, rows, v.Type.Size()),
		F64: gather(v.F64, rows, v.Type.Size()),
		F32: gather(v.F32, rows, v.Type.Size()), Texts: gather(v.Texts, rows, 1), Valid: gather(v.Valid, rows, 1)}
	return out
}

func gather[T any](x []T, rows []int, size int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, 0, len(rows)*size)
	for _, r := range rows {
		out = append(out, x[r*size:(r+1)*size]...)
	}
	return out
}

// Write replaces the values of a column in all rows of a table.
func (s *Session) Write(ctx context.Context, t *ra.Table, col int, _ []int64, keys []*ra.Vector,
	data *ra.Vector) error {
	b := &Block{Rows: data.N}
	var match []string
	for i, k := range t.Key {
		name := "k" + strconv.Itoa(i)
		b.Cols = append(b.Cols, Column{Name: name, Data: keys[i].Plain()})
		match = append(match, "t."+sqltext.Ident(t.Cols[k].Name)+" OPERATOR(pg_catalog.=) d."+name+"::"+t.Cols[k].PGType)
	}
	b.Cols = append(b.Cols, Column{Name: "v", Data: data})
	from, err := s.conn.Offer(ctx, b)
	if err != nil {
		return bare(err)
	}
	sql := "UPDATE " + sqltext.Name(t.Schema, t.Name) + " AS t SET " +
		sqltext.Ident(t.Cols[col].Name) + " = d.v FROM " + from
	if len(match) > 0 {
		sql += " WHERE " + strings.Join(match, " AND ")
	}
	_, rows, err := s.conn.Query(ctx, sql, false, nil)
	if err == nil && rows != int64(data.N) {
		err = sqlerr.New("40001", "%d of %d rows of %s were there to be written", rows, data.N, t.Name).
			WithDetail("Other rows, a policy or a trigger are in the way.")
	}
	return bare(err)
}

// collector puts blocks together.
type collector struct {
	what  string    // in messages
	table *ra.Table // nil: a query
	cols0 []int     // of the table
	rows  int       // that are expected; 0: not known
	cols  []Column
	data  []*ra.Vector
}

// add implements the argument of Conn.Query. A block's memory is not kept.
func (c *collector) add(b *Block) error {
	if c.cols == nil {
		c.cols = b.Cols
		for _, col := range b.Cols {
			c.data = append(c.data, &ra.Vector{Type: kernels.Type{Kind: col.Data.Type.Kind}})
		}
	}
	for i, col := range b.Cols {
		v, x := c.data[i], col.Data
		chunks := binaryKinds[col.OID] == colChunk32 || binaryKinds[col.OID] == colChunk64 || binaryKinds[col.OID] == colInts
		switch {
		case col.Odd != nil:
			return c.ragged(i, col.Odd, x.Type.Shape, b)
		case chunks && v.Type.Shape == nil && x.Type.Shape != nil:
			v.Type.Shape = slices.Clone(x.Type.Shape)
			grow(v, v.N)
		case chunks && x.Type.Shape != nil && !x.Type.Shape.Equal(v.Type.Shape):
			return c.ragged(i, &Odd{Row: 0, Why: 's', Shape: x.Type.Shape}, v.Type.Shape, b)
		}
		if x.Valid != nil && v.Valid == nil {
			v.Type.Nullable, v.Valid = true, make([]bool, v.N)
			for row := range v.Valid {
				v.Valid[row] = true
			}
		}
		switch {
		case x.Valid != nil:
			v.Valid = append(v.Valid, x.Valid...)
		case v.Valid != nil:
			for range b.Rows {
				v.Valid = append(v.Valid, true)
			}
		}
		if chunks && x.Type.Shape == nil { // all are NULL
			if v.Type.Shape != nil {
				grow(v, b.Rows)
			}
		} else {
			n := c.rows * v.Type.Size()
			v.Ints, v.F64, v.F32, v.Texts = extend(v.Ints, x.Ints, n), extend(v.F64, x.F64, n), extend(v.F32, x.F32, n),
				extend(v.Texts, x.Texts, c.rows)
		}
		v.N += b.Rows
	}
	return nil
}

// extend appends y to x, which gets memory for n values at once: growing step by step copies all of them again and
// again.
func extend[T any](x, y []T, n int) []T {
	if len(y) == 0 {
		return x
	}
	return append(slices.Grow(x, max(len(y), n-len(x))), y...)
}

// grow appends zero chunks.
func grow(v *ra.Vector, rows int) {
	n := rows * v.Type.Size()
	switch v.Type.Kind {
	case kernels.Float32:
		v.F32 = append(v.F32, make([]float32, n)...)
	case kernels.Float64:
		v.F64 = append(v.F64, make([]float64, n)...)
	default:
		v.Ints = append(v.Ints, make([]int64, n)...)
	}
}

// ragged is the error of a chunk that is not as the others, in the words of the embedded store, which refuses such
// chunks when they are written.
func (c *collector) ragged(col int, odd *Odd, want tensor.Shape, b *Block) error {
	name := ""
	if c.table != nil && col < len(c.cols0) {
		name = c.table.Cols[c.cols0[col]].Name
	} else if col < len(c.cols) {
		name = c.cols[col].Name
	}
	of := "a chunk"
	if c.table != nil && b != nil {
		var keys, values []string
		for i, k := range c.cols0 {
			if slices.Contains(c.table.Key, k) && k != ra.RowID {
				keys, values = append(keys, c.table.Cols[k].Name), append(values, b.Cols[i].Data.Value(odd.Row).String())
			}
		}
		if len(keys) > 0 {
			of = "the chunk of (" + strings.Join(keys, ", ") + ")=(" + strings.Join(values, ", ") + ")"
		}
	}
	of = fmt.Sprintf("%s, column \"%s\": %s", c.what, name, of)
	switch odd.Why {
	case 'n':
		return sqlerr.New(sqlerr.NullNotAllowed, "%s has NULL elements", of).
			WithHint("A chunk is dense: use 0, or leave the row out.")
	case 'l':
		return sqlerr.New(sqlerr.ArraySubscript, "%s has subscripts that do not begin at 1", of).
			WithHint("%s%s has the same elements with subscripts from 1.", sqltext.Ident(name),
				strings.Repeat("[:]", len(odd.Shape)))
	case 'e':
		return sqlerr.New(sqlerr.DataException, "%s is empty", of).WithHint("A chunk has at least one element.")
	}
	return sqlerr.New(sqlerr.ArraySubscript, "%s has shape %v, one before it has shape %v", of, odd.Shape, want).
		WithDetail("All chunks of a column have one shape.")
}

// numeric makes double precision of a column of numeric, which comes as text.
func numeric(v *ra.Vector) (*ra.Vector, error) {
	out := &ra.Vector{Type: kernels.Type{Kind: kernels.Float64, Nullable: v.Type.Nullable}, N: v.N, Valid: v.Valid,
		F64: make([]float64, v.N)}
	for i, s := range v.Texts {
		if v.IsNull(i) {
			continue
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, sqlerr.New(sqlerr.NumericOutOfRange, "%s is out of the range of double precision", s)
		}
		out.F64[i] = x
		if len(strings.Trim(strings.NewReplacer(".", "", "-", "").Replace(s), "0")) > maxDigits {
			out.Type.Of = longNumeric
		}
	}
	if out.Type.Of == nil {
		out.Type.Of = shortNumeric()
	}
	return out, nil
}

// keyPrint is what Version knows of a table.
type keyPrint struct {
	values, keys uint64
	print        string
}

// Version tells whether a table's content has changed: the places and the transactions of its rows tell one content
// from another, and what is not floats decides whether the keys have changed.
func (s *Session) Version(schema, name string) (catalog.Version, error) {
	r := s.find(nil, schema, name)
	if err := s.failed(); err != nil {
		return catalog.Version{}, err
	}
	if r == nil || r.table == nil {
		return catalog.Version{}, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
	}
	if s.watch != nil {
		if err := s.watch(r.table.Schema, r.table.Name); err != nil {
			return catalog.Version{}, err
		}
	}
	always := func() catalog.Version { // as if it had changed
		s.begun++
		return catalog.Version{Keys: s.begun, Values: s.begun}
	}
	if r.kind != "r" && r.kind != "m" && r.kind != "p" { // its rows have no places
		return always(), nil
	}
	from := sqltext.Name(r.table.Schema, r.table.Name)
	place, err := s.placeHash()
	if err != nil {
		return catalog.Version{}, bare(err)
	}
	rows, err := s.texts("SELECT pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.bit_xor(" +
		place + ")) FROM " + from)
	// places belong to the whole table, of which columns are granted one by one
	if sqlerr.Code(err) == insufficientPrivilege {
		return always(), nil
	}
	if err != nil {
		return catalog.Version{}, bare(err)
	}
	was, seen := s.keys[from]
	if seen && was.print == rows[0][0]+r.print {
		return catalog.Version{Keys: was.keys, Values: was.values}, nil
	}
	var cols []string
	for _, c := range r.table.Cols {
		if c.Type.Name != "real" && c.Type.Name != "double precision" ||
			slices.ContainsFunc(r.table.Keys(), func(k []string) bool { return slices.Contains(k, c.Name) }) {
			cols = append(cols, sqltext.Ident(c.Name))
		}
	}
	keys, err := s.texts(
		"SELECT pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.sum(pg_catalog.hashtextextended(ROW(" +
			strings.Join(cols, ", ") + ")::pg_catalog.text, 0))) FROM " + from)
	if err != nil {
		return catalog.Version{}, bare(err)
	}
	now := keyPrint{values: hash(rows[0][0] + r.print), keys: hash(keys[0][0] + r.print), print: rows[0][0] + r.print}
	s.keys[from] = now
	return catalog.Version{Keys: now.keys, Values: now.values}, nil
}

// placeHash is a hash of a row's place and transaction: the extension's, else the server's own of a record, which takes
// three times as long.
func (s *Session) placeHash() (string, error) {
	if s.place != "" {
		return s.place, nil
	}
	rows, err := s.texts("SELECT pg_catalog.to_regprocedure('relgrad.gen_place(oid, tid, xid, cid)') IS NOT NULL")
	if err != nil {
		return "", err
	}
	s.place = "pg_catalog.hash_record_extended(ROW(tableoid, ctid, xmin, cmin), 0)"
	if rows[0][0] == "true" {
		s.place = "relgrad.gen_place(tableoid, ctid, xmin, cmin)"
	}
	return s.place, nil
}

// hash is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/).
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// Present offers rows of a table's columns and gives the query that reads them in the table's own types.
func (s *Session) Present(ctx context.Context, b *Block, table string) (string, error) {
	items, err := s.casts(table)
	if err != nil {
		return "", err
	}
	from, err := s.conn.Offer(ctx, b)
	return "SELECT " + items + " FROM " + from, bare(err)
}

// PresentQuery is Present for the rows of a query.
func (s *Session) PresentQuery(query, table string) (string, error) {
	items, err := s.casts(table)
	return "SELECT " + items + " FROM (\n" + query + "\n) AS d", err
}

// casts gives the columns of a table's rows their own types.
func (s *Session) casts(table string) (string, error) {
	rows, err := s.texts("SELECT pg_catalog.string_agg(pg_catalog.format(CASE " +
		"WHEN pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') THEN 'd.%I::%s' ELSE 'NULL::%2$s AS %1$I' " +
		"END, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum) FROM " +
		"pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) " +
		sqltext.Text(table) + "::pg_catalog.regclass AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped")
	if err != nil {
		return "", bare(err)
	}
	return rows[0][0], nil
}

// Interrupted notes which of the caller's runs are not trained any more, though relgrad.run says so; not where nothing
// can be written.
func (s *Session) Interrupted(ctx context.Context, running, interrupted string) error {
	res, err := s.result(ctx, "SELECT run FROM relgrad.run_row "+
		"WHERE pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'off' AND status "+
		"OPERATOR(pg_catalog.=) "+sqltext.Text(running))
	if err != nil {
		return bare(err)
	}
	for _, r := range res.Rows {
		run := r[0].(int64)
		unlock, err := s.LockRun(run, nil)
		if sqlerr.Code(err) == sqlerr.ObjectNotPrereqState {
			continue
		}
		if err == nil {
			_, err = s.result(ctx, fmt.Sprintf("UPDATE relgrad.run_row SET status = %s WHERE run OPERATOR(pg_catalog.=) %d",
				sqltext.Text(interrupted), run))
			unlock()
		}
		if err != nil {
			return bare(err)
		}
	}
	return nil
}
