package relgrad

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// Transfer moves tables between a server and files of this machine, by way of a temporary store: the server needs no
// relgrad, and names no file.
type Transfer struct {
	Local  *DB // the temporary store
	server *Server
	remote *conn.Remote
}

// NewTransfer connects to a server.
func NewTransfer(ctx context.Context, dsn string) (_ *Transfer, failed error) {
	defer exported(&failed)
	remote, err := conn.Dial(ctx, dsn, nil)
	if err != nil {
		return nil, err
	}
	local, err := Open("")
	if err != nil {
		remote.Close()
		return nil, err
	}
	return &Transfer{local, OnServer(remote), remote}, nil
}

// Close ends the connection and deletes the store.
func (t *Transfer) Close() error {
	err := t.Local.Close()
	if e := t.remote.Close(); err == nil {
		err = e
	}
	return err
}

// Fetch copies tables of the server, given as in COPY, into the store, all of the same state.
func (t *Transfer) Fetch(ctx context.Context, tables ...string) (failed error) {
	defer func() { failed = sqlerr.From(unplaced(failed)) }()
	if err := t.remote.Begin(ctx); err != nil {
		return err
	}
	for _, table := range tables {
		c, text, err := copyOf(table, "", FileOptions{Format: "csv"})
		if err != nil {
			return err
		}
		def, err := t.define(ctx, c)
		if err != nil {
			return err
		}
		if def == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", c.Name)
		}
		if err := t.fetch(ctx, c, c, text, def); err != nil {
			return err
		}
	}
	return t.remote.Commit(ctx)
}

// fetch copies the rows of one table of the server into one of the store.
func (t *Transfer) fetch(ctx context.Context, c, here *ast.Copy, text *ast.Text, def *serverTable) error {
	cols := def.names
	if c.Cols != nil {
		cols = c.Cols
	}
	list := strings.Join(lists.Map(cols, sqltext.Ident), ", ")
	query := "SELECT " + list + " FROM " + qualified(c)
	if len(def.key) > 0 {
		query += " ORDER BY " + strings.Join(lists.Map(def.key, sqltext.Ident), ", ")
	}
	return t.copyRows(ctx, query, here, text, cols)
}

// copyRows copies the rows of a query of the server into columns of a table of the store.
func (t *Transfer) copyRows(ctx context.Context, query string, here *ast.Copy, text *ast.Text, cols []string) error {
	in, out := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := t.remote.CopyOut(ctx, "COPY ("+query+") TO STDOUT", out)
		out.CloseWithError(err)
		sent <- err
	}()
	into := &ast.Copy{Schema: here.Schema, Name: here.Name, Cols: cols, From: true,
		Options: ast.CopyOptions{Format: "text"}}
	_, err := t.Local.DB.CopyIn(ctx, into, text, in, "table "+here.Name)
	_, _ = io.Copy(io.Discard, in) // a connection whose rows nobody reads would be lost
	if e := <-sent; e != nil {
		return e // of which err speaks too
	}
	return err
}

// serverTable describes a table of the server.
type serverTable struct {
	names, types, key []string
	defaults          []bool // by column: it has a value where none is given
}

// define creates the table of the server in the store, without rows; nil: there is none on the server.
func (t *Transfer) define(ctx context.Context, c *ast.Copy) (*serverTable, error) {
	def, err := t.columnsOf(ctx, c)
	if err != nil || def == nil {
		return nil, err
	}
	if c.Schema != "" && c.Schema != "public" {
		if _, err := t.Local.Run(ctx, "CREATE SCHEMA IF NOT EXISTS "+sqltext.Ident(c.Schema)); err != nil {
			return nil, err
		}
	}
	return def, t.create(ctx, c, def)
}

// columnsOf describes a table of the server, of which a COPY names columns; nil: there is none.
func (t *Transfer) columnsOf(ctx context.Context, c *ast.Copy) (*serverTable, error) {
	name := sqltext.Text(qualified(c))
	res, err := t.server.RunSQL(ctx, "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), "+
		"coalesce(a.attnum = ANY (SELECT unnest(i.indkey) FROM pg_index i WHERE i.indrelid = a.attrelid AND "+
		"i.indisprimary), false), a.atthasdef OR a.attidentity <> '' FROM pg_attribute a WHERE a.attrelid = to_regclass("+
		name+") AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum")
	if err != nil || len(res.Rows) == 0 {
		return nil, err
	}
	out := &serverTable{}
	for _, row := range res.Rows {
		col := row[0].(string)
		if row[2] == true {
			out.key = append(out.key, col)
		}
		if c.Cols == nil || slices.Contains(c.Cols, col) {
			out.names, out.types = append(out.names, col), append(out.types, row[1].(string))
			out.defaults = append(out.defaults, row[3] == true)
		}
	}
	return out, nil
}

// create creates a table in the store. A type that the store does not have is text there.
func (t *Transfer) create(ctx context.Context, c *ast.Copy, def *serverTable) error {
	list := ""
	for i, col := range def.names {
		typ := def.types[i]
		if _, err := t.Local.Run(ctx, "SELECT NULL::"+typ); err != nil {
			typ = "text"
		}
		list += sqltext.Ident(col) + " " + typ + ", "
	}
	if has := func(k string) bool { return slices.Contains(def.names, k) }; len(def.key) > 0 &&
		len(slices.DeleteFunc(slices.Clone(def.key), has)) == 0 {
		list += "PRIMARY KEY (" + strings.Join(lists.Map(def.key, sqltext.Ident), ", ") + "), "
	}
	_, err := t.Local.Run(ctx, "CREATE TABLE "+qualified(c)+" ("+strings.TrimSuffix(list, ", ")+")")
	return unplaced(err) // nobody has written this statement
}

// Expect creates in the store the table into which a file is to be read, if the server has it.
func (t *Transfer) Expect(ctx context.Context, table string) (exists bool, failed error) {
	defer func() { failed = sqlerr.From(unplaced(failed)) }()
	c, _, err := copyOf(table, "", FileOptions{Format: "csv"})
	if err != nil {
		return false, err
	}
	def, err := t.define(ctx, c)
	return def != nil, err
}

// Send adds the rows of a table of the store to the server's, which is created if it is missing. An error leaves the
// server as it was.
func (t *Transfer) Send(ctx context.Context, table string, exists bool) (n int64, failed error) {
	defer func() { failed = sqlerr.From(unplaced(failed)) }()
	c, _, err := copyOf(table, "", FileOptions{Format: "csv"})
	if err != nil {
		return 0, err
	}
	def := t.Local.Definition(c.Schema, c.Name)
	if def == nil {
		return 0, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", c.Name)
	}
	if err := t.remote.Begin(ctx); err != nil {
		return 0, err
	}
	create := "CREATE TABLE"
	if exists {
		create = ""
	}
	if n, err = t.send(ctx, c, def, create); err != nil {
		_ = t.remote.Rollback(ctx) // the error is the server's, or the connection is lost
		return 0, err
	}
	return n, t.remote.Commit(ctx)
}

// FillTemp creates a temporary table in a session on a server and fills it with the rows of a query that a temporary
// store runs: those of delta_table() and its like, which a server does not have. Relative folders begin at dir.
func FillTemp(ctx context.Context, remote *conn.Remote, dir, name, query string) (failed error) {
	defer exported(&failed)
	local, err := Open("")
	if err != nil {
		return err
	}
	defer local.Close()
	local.Dir = dir
	if _, err := local.Run(ctx, "CREATE TABLE "+name+" AS "+query); err != nil {
		return err
	}
	t := &Transfer{local, OnServer(remote), remote}
	_, err = t.send(ctx, &ast.Copy{Name: name}, local.Definition("", name), "CREATE TEMP TABLE")
	return err
}

// send copies the rows of a table of the store. create, unless it is empty, creates the server's first.
func (t *Transfer) send(ctx context.Context, c *ast.Copy, def *catalog.TableDef, create string) (int64, error) {
	cols := lists.Map(def.Cols, func(x catalog.Column) string { return x.Name })
	if create != "" {
		list := lists.Map(def.Cols, func(x catalog.Column) string {
			return sqltext.Ident(x.Name) + " " + x.Type.Declared()
		})
		if def.PK != nil {
			list = append(list, "PRIMARY KEY ("+strings.Join(lists.Map(def.PK.Cols, sqltext.Ident), ", ")+")")
		}
		if _, err := t.server.RunSQL(ctx, create+" "+qualified(c)+" ("+strings.Join(list, ", ")+")"); err != nil {
			return 0, err
		}
	} else if c.Cols != nil {
		cols = c.Cols
	}
	in, out := io.Pipe()
	from := &ast.Copy{Schema: def.Schema, Name: def.Name, Cols: cols, Options: ast.CopyOptions{Format: "text"}}
	failed := make(chan error, 1)
	go func() {
		_, err := t.Local.DB.CopyOut(ctx, from, &ast.Text{}, out)
		out.CloseWithError(err)
		failed <- err
	}()
	n, err := t.remote.CopyIn(ctx, "COPY "+qualified(c)+" ("+strings.Join(lists.Map(cols, sqltext.Ident), ", ")+
		") FROM STDIN", in)
	in.CloseWithError(io.ErrClosedPipe)
	if e := <-failed; e != nil && err != nil && e != io.ErrClosedPipe {
		if sqlerr.Code(err) == sqlerr.QueryCanceled {
			err = e
		}
	}
	return n, err
}
