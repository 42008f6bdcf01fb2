package pgsession

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta"
	"github.com/relgrad/relgrad/interop/delta/places"
	"github.com/relgrad/relgrad/pgbridge/conn"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/script/psql"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// Folders is a Server whose texts may read tables of Delta Lake that lie on this machine. The server knows no function
// delta_table or delta_tensor and opens no file: this process reads the folder and fills a temporary table of the
// session, whose name takes the place of the call. A table is filled once for a version and what a statement needs
// of it.
type Folders struct {
	psql.Server
	remote *conn.Remote
	dir    string            // where relative folders begin; "" is the process's
	tables map[string]string // names of temporary tables, by what is in them
	made   int
}

// NewFolders adds this to a server, which is a session or has one.
func NewFolders(server psql.Server, session *Session) *Folders {
	return &Folders{Server: server, remote: conn.Attach(session.conn), tables: map[string]string{}}
}

// MoveTo makes a folder the one where relative names of folders begin.
func (f *Folders) MoveTo(dir string) { f.dir = dir }

// CopyFolder implements psql.FolderCopier.
func (f *Folders) CopyFolder(ctx context.Context, c *ast.Copy, text *ast.Text, query string) (*script.Result, error) {
	if query != "" {
		var err error
		if query, err = f.rewrite(ctx, query); err != nil {
			return nil, shown(err)
		}
	}
	res, err := relgrad.CopyFolder(ctx, f.remote, f.dir, c, text, query)
	if err != nil {
		return nil, shown(err)
	}
	out := script.ResultOf(res)
	if res.Notice != "" {
		out.Notices = []script.Notice{{Level: "NOTICE", Message: res.Notice}}
	}
	return out, nil
}

// Reconnect implements psql.Server.
func (f *Folders) Reconnect(ctx context.Context) error {
	f.tables = map[string]string{} // they ended with the connection
	return f.Server.Reconnect(ctx)
}

// Run implements psql.Server.
func (f *Folders) Run(ctx context.Context, sql string, c *psql.Client) error {
	if err := noFile(sql); err != nil {
		return shown(err)
	}
	if !slices.ContainsFunc(ast.Ranges, func(name string) bool { return strings.Contains(strings.ToLower(sql), name) }) ||
		f.Failed() {
		return f.Server.Run(ctx, sql, c)
	}
	text, err := f.rewrite(ctx, sql)
	if err != nil {
		return shown(err)
	}
	return f.Server.Run(ctx, text, c)
}

// noFile refuses a file in FROM, of which the server would say no more than that its syntax is wrong.
func noFile(sql string) error {
	var before parse.Token
	for t := parse.Lex(sql, 0); t.Kind != parse.TokEOF && t.Kind != parse.TokUnfinished; t = parse.Lex(sql, t.End) {
		if t.Kind == parse.TokString && (before.Is("from") || before.Is("join")) {
			needs, _ := needsIn(sql) // it may be trim(FROM 'x')
			for at := range needs {
				if sql[at] == '\'' {
					return sqlerr.In(errFile(at), &ast.Text{SQL: sql})
				}
			}
			return nil
		}
		before = t
	}
	return nil
}

func errFile(at int) *sqlerr.Error {
	return sqlerr.At(at, sqlerr.FeatureNotSupported, "a server reads no file of this machine in FROM").
		WithHint("relgrad import --db DSN FILE TABLE makes a table of it; on an embedded store it can be read as it is.")
}

// rewrite replaces the calls in a text, those in texts of losses too.
func (f *Folders) rewrite(ctx context.Context, sql string) (string, error) {
	var out strings.Builder
	done, before := 0, [2]parse.Token{}
	needs, parsed := needsIn(sql)
	for at := 0; ; {
		t := parse.Lex(sql, at)
		if t.Kind == parse.TokEOF {
			out.WriteString(sql[done:])
			return out.String(), nil
		}
		at = t.End
		end, text := t.End, ""
		loss := isLoss(sql, before)
		before[0], before[1] = before[1], t
		switch {
		case t.Kind == parse.TokString && sql[t.At] == '\'' && loss:
			inner := strings.ReplaceAll(sql[t.At+1:t.End-1], "''", "'")
			now, err := f.rewrite(ctx, inner)
			if err != nil {
				return "", err
			}
			if now == inner {
				continue
			}
			text = "'" + strings.ReplaceAll(now, "'", "''") + "'"
		case t.Kind == parse.TokIdent && slices.Contains(ast.Ranges, t.Word):
			n, inFrom := needs[t.At]
			if end = closing(sql, parse.Lex(sql, t.End)); end < 0 || parsed && !inFrom {
				continue // the server says what it thinks of it
			}
			name, err := f.fill(ctx, sql, t.At, end, n)
			if err != nil {
				return "", err
			}
			if text = "pg_temp." + name; !aliased(sql, end) {
				text += " AS " + t.Word
			}
		default:
			continue
		}
		out.WriteString(sql[done:t.At] + text)
		done, at = end, end
	}
}

// isLoss reports whether a string after two tokens is the text of a loss: the first argument of a function of relgrad,
// or the option validate of train. Other strings are data.
func isLoss(sql string, before [2]parse.Token) bool {
	switch sql[before[1].At:before[1].End] {
	case "(":
		return slices.Contains([]string{"gradient", "backward", "train", "check_gradient", "explain_gradient"},
			before[0].Word)
	case "=>":
		return slices.Contains([]string{"loss", "validate"}, before[0].Word)
	}
	return false
}

// needed is a call in FROM and what its query needs of it.
type needed struct {
	from  *ast.FuncFrom
	needs ast.Needs
}

// needsIn finds the calls in FROM clauses of a text by their positions; false: only the server can parse the text.
func needsIn(sql string) (map[int]needed, bool) {
	stmts, err := parse.Parse(&ast.Text{SQL: sql})
	if err != nil {
		return nil, false
	}
	out := map[int]needed{}
	var notes ast.Notes
	for _, s := range stmts {
		ast.Each(s.Stmt, func(sel *ast.Select) {
			notes.With(sel)
			notes.Note(sel)
		})
	}
	for it, n := range notes.Funcs {
		out[int(it.Func.At)] = needed{it, n}
	}
	return out, true
}

// aliased reports whether an item of FROM that ends at a place has an alias.
func aliased(sql string, end int) bool {
	t := parse.Lex(sql, end)
	if t.Kind == parse.TokQuoted {
		return true
	}
	return t.Kind == parse.TokIdent && !slices.Contains([]string{"where", "join", "inner", "left", "right", "full",
		"cross", "natural", "on", "using", "group", "order", "having", "limit", "offset", "fetch", "union",
		"intersect", "except", "window", "for", "tablesample", "returning", "with"}, t.Word)
}

// fill fills the temporary table of a call and returns its name.
func (f *Folders) fill(ctx context.Context, sql string, at, end int, n needed) (string, error) {
	text := &ast.Text{SQL: sql}
	call, err := parse.ParseExpr(&ast.Text{SQL: sql[at:end]})
	c, ok := call.(*ast.FuncCall)
	if ok && c.Name == "file_table" {
		return "", sqlerr.In(errFile(at), text)
	}
	if err != nil || !ok || len(c.Args) == 0 {
		return "", sqlerr.In(sqlerr.At(at, sqlerr.UndefinedFunction, "%s takes the name of a folder", sql[at:end]), text)
	}
	s, err := openFolder(ctx, f.dir, c)
	if err != nil {
		return "", there(err, at+int(c.Args[0].Position()), text)
	}
	query := "SELECT * FROM " + sql[at:end]
	if n.from != nil {
		sel := &ast.Select{Node: n.from.Node, From: []ast.FromItem{n.from}, End: -1}
		for _, col := range s.Columns() {
			if c.Name == "delta_table" && n.needs.Cols[col.Name] {
				sel.Targets = append(sel.Targets, ast.Target{X: &ast.ColumnRef{Names: []string{col.Name}}})
			}
		}
		if len(sel.Targets) == 0 {
			sel.Targets = []ast.Target{{X: &ast.ColumnRef{Star: true}}}
		}
		for _, w := range n.needs.Where {
			if sel.Where == nil {
				sel.Where = w.Tree
			} else {
				sel.Where = &ast.Binary{Op: "and", L: sel.Where, R: w.Tree}
			}
		}
		query = print.Print(sel)
	}
	dir, _ := folderOf(c)
	dir = places.Resolve(f.dir, dir)
	if !places.IsURL(dir) {
		if dir, err = filepath.Abs(dir); err != nil {
			return "", err
		}
	}
	key := fmt.Sprintf("%s@%d %s", dir, s.Version, query)
	if name := f.tables[key]; name != "" && f.exists(ctx, name) {
		return name, nil
	}
	f.made++
	name := fmt.Sprintf("delta_rows_%d", f.made)
	if err := relgrad.FillTemp(ctx, f.remote, f.dir, name, query); err != nil {
		return "", there(err, at, text)
	}
	f.tables[key] = name
	return name, nil
}

// openFolder opens the table that a call reads.
func openFolder(ctx context.Context, in string, c *ast.FuncCall) (*delta.Snapshot, error) {
	dir, version := folderOf(c)
	return relgrad.OpenDelta(ctx, in, dir, version)
}

// there puts an error at a place of a text.
func there(err error, at int, text *ast.Text) error {
	e, ok := sqlerr.From(err).(*sqlerr.Error)
	if !ok {
		return err
	}
	out := *e
	out.Pos, out.Text = at, text
	return &out
}

// folderOf are the folder and the version of a call, "" where it names none.
func folderOf(c *ast.FuncCall) (dir, version string) {
	dir, _ = ast.ConstantText(c.Args[0])
	at := map[string]int{"delta_table": 1, "delta_tensor": 3}[c.Name]
	for i, x := range c.Args {
		if i < len(c.ArgNames) && c.ArgNames[i] == "version" || i == at && (len(c.ArgNames) <= i || c.ArgNames[i] == "") {
			version, _ = ast.ConstantText(x)
		}
	}
	return dir, version
}

// exists reports whether a temporary table is there: a rollback may have dropped it.
func (f *Folders) exists(ctx context.Context, name string) bool {
	res, err := relgrad.OnServer(f.remote).RunSQL(ctx, "SELECT to_regclass('pg_temp."+name+"') IS NOT NULL")
	return err == nil && res.Rows[0][0] == true
}
