package relgrad

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// CopyFolder runs a \copy between a session on a server and a folder of this machine, by way of a temporary store.
// query is what COPY (query) TO reads, "" for a table; relative folders begin at dir. An error before the last
// statement leaves a transaction of the session as it was.
func CopyFolder(ctx context.Context, remote *conn.Remote, dir string, c *ast.Copy, text *ast.Text, query string) (
	_ *catalog.Result, failed error) {
	defer exported(&failed)
	local, err := Open("")
	if err != nil {
		return nil, err
	}
	defer local.Close()
	local.Dir = dir
	t := &Transfer{local, OnServer(remote), remote}
	if c.From {
		return t.fromFolder(ctx, c, text)
	}
	err = t.standardTexts(ctx, func() error { return t.fetchRows(ctx, c, text, query) })
	if err != nil {
		return nil, err
	}
	rows := *c
	if rows.Schema = ""; query != "" {
		rows.Query, rows.Name = nil, rowsTable
	}
	return local.copyFolder(ctx, &rows, text)
}

// rowsTable is the table of the temporary store that has the rows of a query.
const rowsTable = "query"

// fetchRows copies the rows that a \copy exports into the store: of a table under its name.
func (t *Transfer) fetchRows(ctx context.Context, c *ast.Copy, text *ast.Text, query string) error {
	if query == "" {
		def, err := t.columnsOf(ctx, c)
		if err != nil {
			return err
		}
		if def == nil {
			return noRelation(c, text)
		}
		here := *c
		here.Schema = ""
		if err := t.create(ctx, &here, def); err != nil {
			return err
		}
		return t.fetch(ctx, c, &here, text, def)
	}
	names, types, err := t.remote.Columns(ctx, query)
	if err != nil {
		return err
	}
	def := &serverTable{names: names, types: types}
	into := &ast.Copy{Name: rowsTable}
	if err := t.create(ctx, into, def); err != nil {
		return inFolder(err, c.Source)
	}
	return t.copyRows(ctx, query, into, text, names)
}

func noRelation(c *ast.Copy, text *ast.Text) error {
	return sqlerr.In(sqlerr.At(int(c.At), sqlerr.UndefinedTable, "relation \"%s\" does not exist", c.Name), text)
}

// fromFolder adds the rows of a folder to a table of the server.
func (t *Transfer) fromFolder(ctx context.Context, c *ast.Copy, text *ast.Text) (*catalog.Result, error) {
	def, err := t.columnsOf(ctx, &ast.Copy{Schema: c.Schema, Name: c.Name})
	if err != nil {
		return nil, err
	}
	if def == nil {
		return nil, noRelation(c, text)
	}
	def.key = nil // the server checks it
	here := *c
	here.Schema = ""
	if err := t.create(ctx, &here, def); err != nil {
		return nil, err
	}
	in, err := t.Local.openFolder(ctx, c)
	if err != nil {
		return nil, sqlerr.In(err, text)
	}
	defer in.Close()
	there := *t.Local.Definition("", c.Name)
	there.Cols = slices.Clone(there.Cols)
	for i := range there.Cols {
		if def.defaults[i] {
			there.Cols[i].Default = "DEFAULT" // the server knows which
		}
	}
	if here.Cols, err = columnsToLoad(in, c, &there, c.Source); err != nil {
		return nil, sqlerr.In(err, text)
	}
	if _, err := t.Local.load(ctx, &here, text, in, c.Source); err != nil {
		return nil, err
	}
	into := *c
	into.Cols = here.Cols
	n, err := t.send(ctx, &into, t.Local.Definition("", c.Name), "")
	if err != nil {
		return nil, err
	}
	return &catalog.Result{Tag: fmt.Sprintf("COPY %d", n), Count: n}, nil
}

// textSettings are settings of a session on which the texts of values depend, as a store reads them.
var textSettings = []struct{ name, value, is string }{
	{"datestyle", "ISO", "ISO, %"},
	{"intervalstyle", "postgres", "postgres"},
	{"extra_float_digits", "1", "_"},
	{"bytea_output", "hex", "hex"},
}

// standardTexts runs f while the session's texts are those that a store reads, and puts the user's settings back. A
// transaction that fails does that itself.
func (t *Transfer) standardTexts(ctx context.Context, f func() error) (err error) {
	ask := lists.Map(textSettings, func(s struct{ name, value, is string }) string {
		return "current_setting('" + s.name + "'), current_setting('" + s.name + "') LIKE '" + s.is + "'"
	})
	res, err := t.server.RunSQL(ctx, "SELECT "+strings.Join(ask, ", "))
	if err != nil {
		return err
	}
	var back []string
	for i, s := range textSettings {
		if row := res.Rows[0]; row[2*i+1] != true {
			back = append(back, "SET "+s.name+" = "+sqltext.Text(row[2*i].(string)))
			if err := t.remote.Script(ctx, "SET "+s.name+" = "+sqltext.Text(s.value)); err != nil {
				return err
			}
		}
	}
	defer func() {
		if len(back) == 0 || t.remote.Failed() {
			return
		}
		if e := t.remote.Script(context.WithoutCancel(ctx), strings.Join(back, "; ")); err == nil {
			err = e
		}
	}()
	return f()
}
