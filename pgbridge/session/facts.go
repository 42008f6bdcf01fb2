package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/tensor"
)

// facts are what is known about the contents of tables.
type facts struct {
	*server
	servers *servers
	tables  map[string]*tableFacts // by schema and name, for the present state of the database
}

func (s *facts) drop() { s.tables = map[string]*tableFacts{} }

// tableFacts are the facts about one table.
type tableFacts struct {
	rows   int64
	valid  []int64
	shape  []tensor.Shape
	denied []bool   // columns that the user may not read
	key    []string // of a table at several servers: the primary key that all of its parts have; nil: none
}

// identity finds the columns that identify a row, among those that the user may read.
func identity(t *catalog.TableDef, f *tableFacts) (key []int, declared bool) {
	keys := t.Keys()
	if f.key != nil {
		keys = append(keys, f.key)
	}
	for _, names := range keys {
		key = nil
		for _, n := range names {
			if c := t.Column(n); !f.denied[c] {
				key = append(key, c)
			}
		}
		if len(key) == len(names) {
			return key, true
		}
	}
	if f.rows == 1 {
		return nil, true
	}
	return []int{ra.RowID}, false
}

// of counts a table's rows and finds the shapes of its chunks, in the columns that the user may read.
func (s *facts) of(r *relation) (*tableFacts, error) {
	key := r.table.Schema + "\x00" + r.table.Name
	if f := s.tables[key]; f != nil {
		return f, nil
	}
	f := &tableFacts{denied: make([]bool, len(r.table.Cols))}
	err := s.count(r, f)
	if sqlerr.Code(err) == sqlerr.InsufficientPrivilege {
		if err = s.granted(r, f, err); err == nil {
			err = s.count(r, f)
		}
	}
	if err != nil {
		return nil, err
	}
	s.tables[key] = f
	return f, nil
}

// granted finds the columns that the user may read if the table is not readable as a whole. If there are none, it
// returns err.
func (s *facts) granted(r *relation, f *tableFacts, err error) error {
	var items []string
	for _, c := range r.table.Cols {
		items = append(items,
			fmt.Sprintf("pg_catalog.has_column_privilege(%d::pg_catalog.oid, %s, 'SELECT')", r.oid, sqltext.Text(c.Name)))
	}
	rows, e := s.texts("SELECT " + strings.Join(items, ", "))
	if e != nil {
		return e
	}
	for i, may := range rows[0] {
		f.denied[i] = may != "true"
	}
	// all or nothing may be read: something else is missing, such as the right to the schema
	if !slices.Contains(f.denied, true) || !slices.Contains(f.denied, false) {
		err.(*sqlerr.Error).Hint = "The engine reads the tables of a loss, also those behind its views, with the rights of " +
			"who calls: GRANT SELECT ON them."
		return err
	}
	return nil
}

// count finds the facts about the columns that may be read. Where parts of the table lie at other servers, these count
// their rows.
func (s *facts) count(r *relation, f *tableFacts) error {
	at, err := s.servers.of(r)
	if err != nil {
		return err
	}
	parts := at.parts
	// no statement reads the table here, which would be refused
	if parts != nil && !at.here && !slices.Contains(f.denied, true) {
		if err := s.servers.mayRead(r); err != nil {
			return err
		}
	}
	if parts == nil {
		parts = []catalog.Part{{Schema: r.table.Schema, Name: r.table.Name}}
	}
	f.rows, f.valid, f.shape = 0, make([]int64, len(r.table.Cols)), make([]tensor.Shape, len(r.table.Cols))
	if at.here {
		err := s.add(r, f, catalog.Part{Schema: r.table.Schema, Name: r.table.Name})
		if at.citus && sqlerr.Code(err) == sqlerr.FeatureNotSupported {
			return sqlerr.New(sqlerr.FeatureNotSupported, "table \"%s\": %s, and Citus cannot count what its columns hold",
				r.table.Name, at.cause).WithHint("%s", at.hint).Wrap(err)
		}
		if err != nil {
			return err
		}
	}
	keyed := at.by != ""
	for i, p := range parts {
		if !at.here {
			if err := s.add(r, f, p); err != nil {
				return err
			}
		}
		if !keyed {
			continue
		}
		key, err := s.keyOf(p)
		if err != nil {
			return err
		}
		if i == 0 {
			f.key = key
		}
		if !slices.Equal(f.key, key) || !slices.Contains(key, at.by) { // else no two servers have rows of one key
			f.key, keyed = nil, false
		}
	}
	return nil
}

// mayRead refuses a table that the role may not read here.
func (s *servers) mayRead(r *relation) error {
	rows, err := s.texts(fmt.Sprintf("SELECT pg_catalog.has_table_privilege(c.oid, 'SELECT') AND "+
		"pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE') FROM pg_catalog.pg_class c WHERE c.oid "+
		"OPERATOR(pg_catalog.=) %d", r.oid))
	if err != nil {
		return err
	}
	if len(rows) == 0 || rows[0][0] != "true" {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s", r.table.Name)
	}
	return nil
}

// keyOf are the columns of a part's primary key.
func (s *facts) keyOf(p catalog.Part) (key []string, err error) {
	rows, err := s.servers.ask(p.Server, "SELECT a.attname FROM pg_catalog.pg_index i, "+
		"pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k(att, n), pg_catalog.pg_attribute a "+
		"WHERE i.indisprimary AND i.indrelid OPERATOR(pg_catalog.=) "+
		sqltext.Text(sqltext.Name(p.Schema, p.Name))+"::pg_catalog.regclass AND a.attrelid OPERATOR(pg_catalog.=) "+
		"i.indrelid AND a.attnum OPERATOR(pg_catalog.=) k.att AND k.n OPERATOR(pg_catalog.<=) i.indnkeyatts ORDER BY k.n")
	for _, row := range rows {
		key = append(key, row[0])
	}
	return key, err
}

// add adds the facts about a part of a table.
func (s *facts) add(r *relation, f *tableFacts, part catalog.Part) error {
	items, from := []string{"pg_catalog.count(*)"}, sqltext.Name(part.Schema, part.Name)
	for i, c := range r.table.Cols {
		if f.denied[i] {
			continue
		}
		col := sqltext.Ident(c.Name)
		items = append(items, "pg_catalog.count("+col+")")
		if c.Type.Array {
			items = append(items, "(SELECT pg_catalog.array_dims(x."+col+") FROM "+from+" AS x WHERE x."+col+
				" IS NOT NULL LIMIT 1)")
		}
	}
	rows, err := s.servers.ask(part.Server, "SELECT "+strings.Join(items, ", ")+" FROM "+from)
	if err != nil {
		return err
	}
	all, _ := strconv.ParseInt(rows[0][0], 10, 64)
	f.rows += all
	at := 1
	next := func() string { at++; return rows[0][at-1] }
	for i, c := range r.table.Cols {
		n, shape := all, tensor.Shape(nil)
		if !f.denied[i] {
			n, _ = strconv.ParseInt(next(), 10, 64)
			if c.Type.Array {
				shape = readDims(next())
			}
		}
		if f.valid[i] += n; f.shape[i] == nil {
			f.shape[i] = shape
		}
	}
	return nil
}

// sampled is about how many values of a column are read to count all.
const sampled = 1 << 15

// Distinct implements catalog.Parted. Of the values' hashes some are read: those that leave no rest when divided. A
// server's statistics would do for an estimate, but they change with time, and a plan must not.
func (s *servers) Distinct(schema, name, column string, rows int64) (float64, error) {
	r := s.names.find(nil, schema, name)
	if err := s.failed(); err != nil || r == nil {
		return 0, err
	}
	p, err := s.of(r)
	if err != nil {
		return 0, err
	}
	part, seen := max(rows/sampled, 1), map[string]bool{}
	for _, at := range p.parts {
		found, err := s.ask(at.Server, fmt.Sprintf("SELECT DISTINCT x.h FROM (SELECT pg_catalog.hashint8extended(t.%s, 0) "+
			"AS h FROM %s t) x WHERE x.h OPERATOR(pg_catalog.%%) %d OPERATOR(pg_catalog.=) 0", sqltext.Ident(column),
			sqltext.Name(at.Schema, at.Name), part))
		if err != nil {
			return 0, err
		}
		for _, row := range found {
			seen[row[0]] = true
		}
	}
	return float64(max(len(seen), 1)) * float64(part), nil
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

// systemOrder is the order of rows without a key: by their places in the table.
const systemOrder = "tableoid, ctid"

// rowOrder is the order of the rows of a table without a key. Only a user who may read the whole table sees the rows'
// places. For others rows are in the order of all that they may read; rows that are equal in that look the same to
// them.
func rowOrder(t *ra.Table) string {
	var cols []string
	for _, c := range t.Cols {
		if c.NoType != ra.NoRight {
			cols = append(cols, sqltext.Ident(c.Name))
		}
	}
	if len(cols) == len(t.Cols) {
		return systemOrder
	}
	return "ROW(" + strings.Join(cols, ", ") + ")::pg_catalog.text COLLATE pg_catalog.\"C\""
}
