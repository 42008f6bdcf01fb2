package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/pgbridge/wire"
	"github.com/relgrad/relgrad/ra"
)

// gradMark is the comment of a temporary table that backward() has made.
const gradMark = "a gradient, filled by backward()"

// Fill fills the temporary table of a gradient, which a comment marks as the engine's. It returns false if another
// relation has the table's name.
func (s *rows) Fill(ctx context.Context, name string, r *catalog.Relation, key []string) (bool, error) {
	return s.fill(ctx, name, r.Names, r.Types, key, func() (string, error) { return s.OfferRows(ctx, r.Names, r.Cols) })
}

// FillFrom is Fill with the rows of a query, whose columns are these of the table.
func (s *rows) FillFrom(ctx context.Context, name string, t *ra.Table, cols []int, query string) (bool, error) {
	var names, types, key []string
	for _, k := range cols {
		names, types = append(names, t.Cols[k].Name), append(types, t.Cols[k].PGType)
	}
	for _, k := range t.Key {
		if k != ra.RowID {
			key = append(key, t.Cols[k].Name)
		}
	}
	return s.fill(ctx, name, names, types, key, func() (string, error) { return "(\n" + query + "\n) AS d", nil })
}

// fill makes the table and fills it with the rows of from, an item of FROM.
func (s *rows) fill(ctx context.Context, name string, names, types, key []string,
	from func() (string, error)) (bool, error) {
	ok, err := s.makeGrad(ctx, name, names, types, key)
	if !ok || err != nil {
		return ok, err
	}
	rows, err := from()
	if err != nil {
		return false, err
	}
	var items []string
	for i, n := range names {
		items = append(items, "d."+sqltext.Ident(n)+"::"+types[i])
	}
	_, err = s.result(ctx, "INSERT INTO "+sqltext.Name("pg_temp", name)+" SELECT "+strings.Join(items, ", ")+" FROM "+rows)
	return true, bare(err)
}

// makeGrad makes the table, or empties the one that an earlier call made.
func (s *rows) makeGrad(ctx context.Context, name string, names, types, key []string) (bool, error) {
	if seen := s.names.find(nil, "", name); seen != nil {
		// not a table that another role has made in this session: its triggers would run with the caller's rights
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

// deadBytes is the size up to which a temporary table may keep deleted rows. Their pages are not used again before a
// VACUUM, which a transaction cannot run, and the planner thinks that they are full.
const deadBytes = 256 << 10

// EmptyTemp implements catalog.Filler. It leaves no dead rows, whose space the planner would take for rows: the plans
// that read the table, and so the order of sums, would change from step to step.
func (s *rows) EmptyTemp(ctx context.Context, name string) error {
	_, err := s.result(ctx, "TRUNCATE pg_temp."+name)
	return bare(err)
}

// DropTemp implements catalog.Filler.
func (s *rows) DropTemp(name string) string { return conn.DropTemp(name) }

// empty deletes the rows of a temporary table. A large one is truncated, unless a running query reads it or a table of
// the user's refers to it.
func (s *rows) empty(ctx context.Context, name string) error {
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

// FillTemp replaces the rows of a temporary table of the engine's, which it first makes if create is set. The columns
// are c1, c2, ….
func (s *rows) FillTemp(ctx context.Context, name string, cols []*column.Column, create bool) error {
	var names []string
	for i := range cols {
		names = append(names, fmt.Sprintf("c%d", i+1))
	}
	b := wire.BlockOf(names, cols)
	from, err := s.conn.Offer(ctx, b)
	if err != nil {
		return err
	}
	if !create {
		if err := s.EmptyTemp(ctx, name); err != nil {
			return err
		}
	}
	statements := []string{"INSERT INTO pg_temp." + name + " SELECT * FROM " + from}
	if create {
		statements = append([]string{conn.DropTemp(name),
			"CREATE TEMP TABLE " + name + " (" + wire.ColumnList(b) + ")"}, statements...)
	}
	for _, sql := range statements {
		if _, err := s.result(ctx, sql); err != nil {
			return bare(err)
		}
	}
	return nil
}
