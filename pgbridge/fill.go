package pgbridge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/ra"
)

// gradMark is the comment of a temporary table that backward() has made.
const gradMark = "a gradient, filled by backward()"

// Fill fills the temporary table of a gradient, which a comment marks as the engine's; false where another relation has
// its name.
func (s *Session) Fill(ctx context.Context, name string, r *catalog.Relation, key []string) (bool, error) {
	ok, err := s.makeGrad(ctx, name, r.Names, r.Types, key)
	if !ok || err != nil {
		return ok, err
	}
	b := &Block{}
	var items []string
	for i, v := range r.Cols {
		b.Rows = v.N
		b.Cols = append(b.Cols, Column{Name: r.Names[i], Data: v})
		items = append(items, "d."+sqltext.Ident(r.Names[i])+"::"+r.Types[i])
	}
	from, err := s.conn.Offer(ctx, b)
	if err != nil {
		return false, err
	}
	_, err = s.result(ctx, "INSERT INTO "+sqltext.Name("pg_temp", name)+" SELECT "+strings.Join(items, ", ")+" FROM "+from)
	return true, bare(err)
}

// FillFrom is Fill with the rows of a query, whose columns are the table's.
func (s *Session) FillFrom(ctx context.Context, name string, t *ra.Table, query string) (bool, error) {
	var names, types, key, items []string
	for _, c := range t.Cols {
		if c.NoType == ra.NoRight {
			continue
		}
		names, types = append(names, c.Name), append(types, c.PGType)
		items = append(items, "d."+sqltext.Ident(c.Name)+"::"+c.PGType)
	}
	for _, k := range t.Key {
		if k != ra.RowID {
			key = append(key, t.Cols[k].Name)
		}
	}
	ok, err := s.makeGrad(ctx, name, names, types, key)
	if !ok || err != nil {
		return ok, err
	}
	_, err = s.result(ctx, "INSERT INTO "+sqltext.Name("pg_temp", name)+" SELECT "+strings.Join(items, ", ")+
		" FROM (\n"+query+"\n) AS d")
	return true, bare(err)
}

// makeGrad makes the table, or empties the one that an earlier call made.
func (s *Session) makeGrad(ctx context.Context, name string, names, types, key []string) (bool, error) {
	if seen := s.find(nil, "", name); seen != nil {
		// not one that another role has made in this session: its triggers would run with the rights of who calls
		rows, err := s.texts(fmt.Sprintf("SELECT pg_catalog.obj_description(c.oid, 'pg_class') "+
			"FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) %d AND pg_catalog.pg_get_userbyid(c.relowner) "+
			"OPERATOR(pg_catalog.=) current_user "+
			"AND c.relnamespace OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()", seen.oid))
		if err != nil {
			return false, err
		}
		if len(rows) == 0 || rows[0][0] != gradMark || seen.table == nil {
			return false, nil
		}
		if sameColumns(seen, names, types, key) {
			return true, s.empty(ctx, name)
		}
		if _, err := s.result(ctx, "DROP TABLE "+sqltext.Name("pg_temp", name)); err != nil {
			return false, err
		}
	}
	var cols []string
	for i, n := range names {
		cols = append(cols, sqltext.Ident(n)+" "+types[i])
	}
	if len(key) > 0 {
		var quoted []string
		for _, k := range key {
			quoted = append(quoted, sqltext.Ident(k))
		}
		cols = append(cols, "PRIMARY KEY ("+strings.Join(quoted, ", ")+")")
	}
	for _, sql := range []string{"CREATE TEMP TABLE " + sqltext.Ident(name) + " (" + strings.Join(cols, ", ") + ")",
		"COMMENT ON TABLE " + sqltext.Name("pg_temp", name) + " IS " + sqltext.Text(gradMark)} {
		if _, err := s.result(ctx, sql); err != nil {
			return false, bare(err)
		}
	}
	s.forget()
	return true, nil
}

// deadBytes is how large a temporary table may become with rows that were deleted: none of its pages is used again
// without a VACUUM, which a transaction cannot run, and the planner takes them for full.
const deadBytes = 256 << 10

// empty deletes the rows of a temporary table, by TRUNCATE where it has become large, unless a query that runs reads it
// or a table of the user's refers to it.
func (s *Session) empty(ctx context.Context, name string) error {
	table := sqltext.Name("pg_temp", name)
	_, err := s.result(ctx, "DO "+sqltext.Text(fmt.Sprintf(`BEGIN
 IF pg_table_size(%s) > %d THEN
  BEGIN TRUNCATE %s; RETURN; EXCEPTION WHEN object_in_use OR feature_not_supported THEN NULL; END;
 END IF;
 DELETE FROM %[3]s;
END`, sqltext.Text(table), deadBytes, table)))
	return bare(err)
}

func sameColumns(seen *relation, names, types, key []string) bool {
	if len(seen.table.Cols) != len(types) || (seen.table.PK == nil) != (len(key) == 0) ||
		len(key) > 0 && !slices.Equal(seen.table.PK.Cols, key) {
		return false
	}
	for i, c := range seen.table.Cols {
		if c.Name != names[i] || strings.TrimRight(c.Type.String(), "[]") != strings.TrimRight(types[i], "[]") {
			return false
		}
	}
	return true
}

// dropTemp drops a temporary table without the NOTICE of IF EXISTS.
func dropTemp(name string) string {
	return "DO $$ BEGIN IF pg_catalog.to_regclass('pg_temp." + name + "') IS NOT NULL THEN DROP TABLE pg_temp." +
		name + "; END IF; END $$"
}

// FillTemp replaces the rows of a temporary table of the engine's, which it makes where create says so. Its columns are
// c1, c2, ….
func (s *Session) FillTemp(ctx context.Context, name string, cols []*ra.Vector, create bool) error {
	b := &Block{}
	for i, v := range cols {
		b.Rows = v.N
		b.Cols = append(b.Cols, Column{Name: fmt.Sprintf("c%d", i+1), Data: v})
	}
	from, err := s.conn.Offer(ctx, b)
	if err != nil {
		return err
	}
	if !create {
		if err := s.empty(ctx, name); err != nil {
			return err
		}
	}
	statements := []string{"INSERT INTO pg_temp." + name + " SELECT * FROM " + from}
	if create {
		statements = append([]string{dropTemp(name), "CREATE TEMP TABLE " + name + " (" + columnList(b) + ")"}, statements...)
	}
	for _, sql := range statements {
		if _, err := s.result(ctx, sql); err != nil {
			return bare(err)
		}
	}
	return nil
}

// OfferRows makes rows readable under a text for FROM.
func (s *Session) OfferRows(ctx context.Context, names []string, cols []*ra.Vector) (from string, err error) {
	b := &Block{}
	for i, v := range cols {
		b.Rows = v.N
		b.Cols = append(b.Cols, Column{Name: names[i], Data: v})
	}
	return s.conn.Offer(ctx, b)
}

// Append adds rows to a table; values are cast to the types of its columns.
func (s *Session) Append(ctx context.Context, schema, table string, names []string, cols []*ra.Vector) error {
	from, err := s.OfferRows(ctx, names, cols)
	if err != nil {
		return bare(err)
	}
	r := s.find(nil, schema, table)
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
