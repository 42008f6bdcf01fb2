package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/wire"
	"github.com/relgrad/relgrad/ra"
)

// rows reads and writes the contents of tables.
type rows struct {
	*server
	settings *settings
	names    *names
	watch    *watch
	keys     map[string]keyPrint
	place    string // see placeHash; "": not known
}

// Read reads columns of a table in the order of its key. The column ra.RowID is the position in that order.
func (s *rows) Read(ctx context.Context, t *ra.Table, cols []int) ([]*column.Column, error) {
	if err := s.watch.see(t.Schema, t.Name); err != nil {
		return nil, err
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
	if err := s.settings.with(under, query); err != nil {
		return nil, bare(err)
	}
	data := c.data[:len(wanted)]
	for i, col := range wanted {
		if col == ra.RowID {
			continue
		}
		if got, want := data[i].Type(), t.Cols[col].Type; data[i].Len() == 0 {
			data[i] = column.New(want, 0)
		} else if want.IsChunk() && !got.Shape.Equal(want.Shape) {
			if v := data[i].Valid(); v == nil || slices.Contains(v, 1) {
				return nil, c.ragged(i, &wire.Odd{Row: 0, Why: 's', Shape: got.Shape}, want.Shape, nil)
			}
			data[i] = column.New(want, len(data[i].Valid())) // of a table's part, all of whose chunks are NULL
			data[i].SetValid(make([]byte, data[i].Len()))
		}
		data[i] = named(data[i], t.Cols[col].Type.Of)
	}
	if keyed {
		data = sorted(data, wanted, t.Key)
	}
	numberRows(wanted, data)
	return data[:len(cols)], nil
}

// readItems are the items of SELECT by which a query reads columns of a table.
func readItems(t *ra.Table, cols []int) (items []string) {
	for _, c := range cols {
		if c == ra.RowID {
			items = append(items, "0::bigint AS row")
			continue
		}
		items = append(items, notLong(&t.Cols[c], columnSQL(&t.Cols[c]), t.Name)+" AS "+sqltext.Ident(t.Cols[c].Name))
	}
	if len(items) == 0 {
		items = []string{"NULL::bigint AS none"}
	}
	return items
}

// columnSQL is SQL for a column's value in the algebra.
func columnSQL(c *ra.TableColumn) string {
	x := sqltext.Ident(c.Name)
	switch {
	case c.NoType != "":
		return x
	case c.Type.Shape != nil: // also casts a domain to its base type
		return x + "::" + wire.TypeName(c.Type)
	case c.PGType == "numeric":
		return x + "::double precision"
	case c.Type.Kind == kernels.Text:
		return c.Type.Of.SQL(x)
	}
	return x + "::" + c.PGType
}

// numberRows fills row numbers in: the positions.
func numberRows(cols []int, data []*column.Column) {
	for i, col := range cols {
		if col == ra.RowID {
			for row := range data[i].I64() {
				data[i].I64()[row] = int64(row)
			}
		}
	}
}

// sorted sorts rows by the values of the key.
func sorted(data []*column.Column, cols, key []int) []*column.Column {
	var keys []*column.Column
	for _, k := range key {
		keys = append(keys, data[slices.Index(cols, k)])
	}
	n := data[0].Len()
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
	out := make([]*column.Column, len(data))
	for i, v := range data {
		out[i] = column.Gather(v, rows)
	}
	return out
}

func compareCells(v *column.Column, a, b int) int {
	switch {
	case v.Kind() == column.I64:
		return compare(v.I64()[a], v.I64()[b])
	case v.Kind() == column.F64:
		return compare(v.F64()[a], v.F64()[b])
	case v.Kind() == column.F32:
		return compare(v.F32()[a], v.F32()[b])
	}
	return compare(v.Texts()[a], v.Texts()[b])
}

// compare orders values as the server does: NaN equals itself and is the greatest number.
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

// Write replaces the values of a column in all rows of a table.
func (s *rows) Write(ctx context.Context, t *ra.Table, col int, _ []int64, keys []*column.Column,
	data *column.Column) error {
	b := &wire.Block{Rows: data.Len()}
	var match []string
	for i, k := range t.Key {
		name := "k" + strconv.Itoa(i)
		b.Cols = append(b.Cols, wire.Column{Name: name, Data: keys[i].Plain()})
		match = append(match, "t."+sqltext.Ident(t.Cols[k].Name)+" OPERATOR(pg_catalog.=) d."+name+"::"+t.Cols[k].PGType)
	}
	b.Cols = append(b.Cols, wire.Column{Name: "v", Data: data})
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
	if err == nil && rows != int64(data.Len()) {
		err = sqlerr.New("40001", "%d of %d rows of %s were there to be written", rows, data.Len(), t.Name).
			WithDetail("Other rows, a policy or a trigger are in the way.")
	}
	return bare(err)
}

// OfferRows makes rows readable for statements. from is what to write in FROM.
func (s *rows) OfferRows(ctx context.Context, names []string, cols []*column.Column) (from string, err error) {
	return s.conn.Offer(ctx, wire.BlockOf(names, cols))
}

// Append adds rows to a table; values are cast to the types of its columns.
func (s *rows) Append(ctx context.Context, schema, table string, names []string, cols []*column.Column) error {
	from, err := s.OfferRows(ctx, names, cols)
	if err != nil {
		return bare(err)
	}
	r := s.names.find(nil, schema, table)
	if err := s.failed(); err != nil || r == nil || r.table == nil {
		return cmp.Or(err, error(sqlerr.New(sqlerr.UndefinedTable, "relation \"%s.%s\" does not exist", schema, table)))
	}
	var into, items []string
	for _, n := range names {
		k := r.table.Column(n)
		if k < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n, table)
		}
		into, items = append(into, sqltext.Ident(n)), append(items, "d."+sqltext.Ident(n)+"::"+r.declared[k])
	}
	_, err = s.result(ctx, "INSERT INTO "+sqltext.Name(schema, table)+" ("+strings.Join(into, ", ")+") SELECT "+
		strings.Join(items, ", ")+" FROM "+from)
	return bare(err)
}

// Present makes rows of a table readable and returns the query that reads them in the table's own types.
func (s *rows) Present(ctx context.Context, b *wire.Block, table string) (string, error) {
	items, err := s.casts(table)
	if err != nil {
		return "", err
	}
	from, err := s.conn.Offer(ctx, b)
	return "SELECT " + items + " FROM " + from, bare(err)
}

// PresentQuery is Present for the rows of a query.
func (s *rows) PresentQuery(query, table string) (string, error) {
	items, err := s.casts(table)
	return "SELECT " + items + " FROM (\n" + query + "\n) AS d", err
}

// casts are the items of SELECT that cast a table's columns to their own types.
func (s *rows) casts(table string) (string, error) {
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

// SeesHookReads returns false: the server does not say which tables a statement reads.
func (s *rows) SeesHookReads() bool { return false }
