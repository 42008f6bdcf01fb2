package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// Missing rights are found before a run is computed, not at its first commit.

// rights asks for the user's rights.
type rights struct{ *server }

// recording are the rights that a run needs on relgrad's tables, and the function (has_…_privilege) that checks each.
var recording = []struct{ table, right, by string }{
	{"run", "SELECT", "any_column"}, {"run_row", "SELECT", "any_column"}, {"run_row", "INSERT", "any_column"},
	{"run_row", "UPDATE", "any_column"},
	{"loss", "SELECT", "any_column"}, {"loss", "INSERT", "any_column"},
	{"state", "SELECT", "any_column"}, {"state", "INSERT", "any_column"}, {"state", "DELETE", "table"},
	{"validation", "SELECT", "any_column"}, {"validation", "INSERT", "any_column"},
	{"run_id", "USAGE", "sequence"},
}

// MayRecord refuses a user who may not record a run, and a database without the tables for it.
func (s *rights) MayRecord(context.Context) error {
	var there, may []string
	for _, r := range recording {
		name := sqltext.Text("relgrad." + r.table)
		there = append(there, fmt.Sprintf("CASE WHEN pg_catalog.to_regclass(%s) IS NULL THEN '%s' END", name, r.table))
		may = append(may, fmt.Sprintf("CASE WHEN NOT pg_catalog.has_%s_privilege(%s, '%s') THEN '%s %s' END", r.by,
			name, r.right, r.right, r.table))
	}
	rows, err := s.texts("SELECT COALESCE(" + strings.Join(there, ", ") + ")")
	if err != nil {
		return bare(err)
	}
	if missing := rows[0][0]; missing != "" {
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"relgrad.%s\" does not exist, in which train records its runs",
			missing).WithHint("DROP EXTENSION relgrad, or the schema, and install relgrad again.")
	}
	if rows, err = s.texts("SELECT COALESCE(" + strings.Join(may, ", ") + ")"); err != nil {
		return bare(err)
	}
	if right, table, found := strings.Cut(rows[0][0], " "); found {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for relgrad.%s", table).
			WithDetail("train records its runs there, which needs the right to %s.", right).
			WithHint("GRANT %s ON relgrad.%s TO the role that trains.", right, table)
	}
	return nil
}

// triedUpdate is the SQLSTATE that ends a trial UPDATE, whose message says how many rows it would have changed.
const triedUpdate = "RG001"

// MayChange refuses a user who may not change these columns in all rows that the user sees. Under row-level security an
// UPDATE is tried and undone.
func (s *rights) MayChange(ctx context.Context, t *ra.Table, cols []string) error {
	name, items := sqltext.Name(t.Schema, t.Name), []string{"pg_catalog.row_security_active(" +
		sqltext.Text(sqltext.Name(t.Schema, t.Name)) + ")"}
	for _, c := range cols {
		items = append(items,
			fmt.Sprintf("pg_catalog.has_column_privilege(%s, %s, 'UPDATE')", sqltext.Text(name), sqltext.Text(c)))
	}
	rows, err := s.texts("SELECT " + strings.Join(items, ", "))
	if err != nil {
		return bare(err)
	}
	var lacks, named []string
	for i, c := range cols {
		if rows[0][1+i] != "true" {
			lacks, named = append(lacks, strconv.Quote(c)), append(named, print.QualifiedName("", c))
		}
	}
	if len(lacks) > 0 {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s", t.Name).
			WithDetail("train changes its column %s.", strings.Join(lacks, ", ")).
			WithHint("GRANT UPDATE (%s) ON %s TO the role that trains.", strings.Join(named, ", "),
				print.QualifiedName(t.Schema, t.Name))
	}
	if rows[0][0] != "true" {
		return nil
	}
	var set []string
	for _, c := range cols {
		set = append(set, sqltext.Ident(c)+" = "+sqltext.Ident(c))
	}
	_, err = s.result(ctx,
		"DO "+sqltext.Text("DECLARE n pg_catalog.int8; BEGIN UPDATE "+name+" SET "+strings.Join(set, ", ")+
			"; GET DIAGNOSTICS n = ROW_COUNT; RAISE EXCEPTION USING ERRCODE = '"+triedUpdate+"', MESSAGE = n; END"))
	if sqlerr.Code(err) != triedUpdate {
		return bare(err)
	}
	changed, _ := strconv.ParseInt(err.(*sqlerr.Error).Message, 10, 64)
	if changed != t.Rows {
		return sqlerr.New(sqlerr.InsufficientPrivilege,
			"row-level security lets you change %d of the %d rows of parameter %s that you see", changed, t.Rows, t.Name).
			WithHint("Train a table whose rows you may all change.")
	}
	return nil
}

// watch reports which tables are looked at to a function that the engine sets.
type watch struct {
	look func(schema, name string) error
}

func (s *watch) see(schema, name string) error {
	if s.look == nil {
		return nil
	}
	return s.look(schema, name)
}

// Watch has f called whenever a table is looked at.
func (s *watch) Watch(f func(schema, name string) error) func(schema, name string) error {
	before := s.look
	s.look = f
	return before
}
