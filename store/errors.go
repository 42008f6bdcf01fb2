package store

import (
	"errors"
	"regexp"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/lite"
)

// translate turns an error of SQLite into one with an SQLSTATE. Messages that begin with an SQLSTATE
// come from native.c and tables.c.
func (d *catalogue) translate(err error) error {
	var le *lite.Error
	var done *sqlerr.Error
	if err == nil || errors.As(err, &done) || !errors.As(err, &le) {
		return err
	}
	msg := le.Msg
	if len(msg) > 6 && msg[5] == ' ' && isState(msg[:5]) {
		return sqlerr.New(msg[:5], "%s", msg[6:]).Wrap(err)
	}
	file := d.path
	if file == "" {
		file = "the temporary store"
	}
	if le.Primary() == lite.CodeConstraint {
		return d.constraint(le)
	}
	if le.Code == 517 { // BUSY_SNAPSHOT: another process committed since this transaction read
		return sqlerr.New("40001", "could not serialize access to %s: another process changed it during this transaction",
			file).WithHint("Run the transaction again.").Wrap(err)
	}
	if explain := failures[le.Primary()]; explain != nil {
		return explain(file, msg).Wrap(err)
	}
	if msg == "integer overflow" {
		return sqlerr.New(sqlerr.NumericOutOfRange, "bigint out of range").Wrap(err)
	}
	if strings.HasPrefix(msg, "foreign key mismatch") { // rebuild copies rows before it makes indexes
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"a foreign key to a unique index of its own table is not supported by the embedded store").
			WithHint("Declare the columns UNIQUE in CREATE TABLE instead of CREATE UNIQUE INDEX.").Wrap(err)
	}
	if strings.HasPrefix(msg, "too many") || strings.HasPrefix(msg, "at most") || strings.Contains(msg, "depth") ||
		strings.HasPrefix(msg, "parser stack") {
		return sqlerr.New(sqlerr.TooComplex, "statement too complex: %s", msg).
			WithHint("Split it into steps with CREATE TABLE … AS.").Wrap(err)
	}
	return sqlerr.New(sqlerr.Internal, "internal error: sqlite: %s", msg).Wrap(err)
}

// failures are SQLite's errors that concern the file; their messages name it.
var failures = map[int]func(file, msg string) *sqlerr.Error{
	lite.CodeBusy:   locked,
	lite.CodeLocked: locked,
	lite.CodeNoMem:  func(string, string) *sqlerr.Error { return sqlerr.New(sqlerr.OutOfMemory, "out of memory") },
	lite.CodeReadonly: func(file, _ string) *sqlerr.Error {
		return sqlerr.New("25006", "cannot write: %s is read-only", file)
	},
	lite.CodeInterrupt: func(string, string) *sqlerr.Error { return sqlerr.Canceled(nil) },
	lite.CodeIOErr: func(file, msg string) *sqlerr.Error {
		return sqlerr.New(sqlerr.IO, "input/output error on %s: %s", file, msg)
	},
	lite.CodeCorrupt: func(file, msg string) *sqlerr.Error {
		return sqlerr.New(sqlerr.DataCorrupted, "%s is corrupt: %s", file, msg).
			WithHint("Restore it from a copy; what can be read may be exported with COPY … TO.")
	},
	lite.CodeNotADB: func(file, _ string) *sqlerr.Error {
		return sqlerr.New(sqlerr.DataCorrupted, "%s is not a relgrad store", file)
	},
	lite.CodeFull: func(file, _ string) *sqlerr.Error {
		return sqlerr.New(sqlerr.DiskFull, "could not write to %s: no space left on the device", file).
			WithHint("The statement was undone; free some space and repeat it.")
	},
	lite.CodeCantOpen: func(file, msg string) *sqlerr.Error {
		return sqlerr.New(sqlerr.UndefinedFile, "could not open %s: %s", file, msg)
	},
	lite.CodeTooBig: func(_, msg string) *sqlerr.Error {
		return sqlerr.New(sqlerr.ProgramLimit, "value too large: %s", msg).WithDetail("A value holds at most 1 GB.")
	},
}

func locked(file, _ string) *sqlerr.Error {
	return sqlerr.New("55P03", "%s is locked by another process", file).
		WithHint("Wait until the other process has finished its transaction.")
}

func isState(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s[0] >= '0' && s[0] <= '9'
}

// constraint translates messages such as "UNIQUE constraint failed: t.a, t.b" to Postgres's.
func (d *catalogue) constraint(le *lite.Error) error {
	kind, what, _ := strings.Cut(le.Msg, " constraint failed: ")
	switch kind {
	case "UNIQUE":
		table, cols := splitColumns(what)
		t := d.cat.ByFileName(table)
		name, key := table+"_key", strings.Join(cols, ", ")
		if i, ok := strings.CutPrefix(what, "index '"); ok {
			name = d.cat.IndexName(strings.ReplaceAll(strings.TrimSuffix(i, "'"), "''", "'"))
			return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", name).Wrap(le)
		}
		if t != nil {
			name = definitions.UniqueName(t, cols)
		}
		return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", name).
			WithDetail("A key (%s) already exists.", key).Wrap(le)
	case "NOT NULL":
		table, cols := splitColumns(what)
		return definitions.ErrNull(table, cols[0]).Wrap(le)
	case "CHECK":
		return sqlerr.New(sqlerr.CheckViolation, "new row violates check constraint \"%s\"", what).Wrap(le)
	}
	if strings.HasPrefix(le.Msg, "FOREIGN KEY") {
		return sqlerr.New(sqlerr.ForeignKeyViolation, "insert, update or delete violates a foreign key constraint").Wrap(le)
	}
	return sqlerr.New(sqlerr.DatatypeMismatch, "%s", le.Msg).Wrap(le)
}

// notUnique is the error of existing rows that violate a new key or index. n is the table with that key.
func notUnique(err error, n *catalog.TableDef, index string) error {
	var le *lite.Error
	if !errors.As(err, &le) {
		return err
	}
	what, ok := strings.CutPrefix(le.Msg, "UNIQUE constraint failed: ")
	if !ok {
		return err
	}
	e := sqlerr.New(sqlerr.UniqueViolation, "could not create unique index \"%s\"", index)
	if !strings.HasPrefix(what, "index '") { // an index over expressions
		_, cols := splitColumns(what)
		if index == "" {
			e = sqlerr.New(sqlerr.UniqueViolation, "could not create unique index \"%s\"", definitions.UniqueName(n, cols))
		}
		e = e.WithDetail("A key (%s) occurs more than once.", strings.Join(cols, ", "))
	}
	return e.Wrap(le)
}

func splitColumns(s string) (table string, cols []string) {
	for _, p := range strings.Split(s, ", ") {
		i := strings.LastIndexByte(p, '.')
		table, cols = p[:max(i, 0)], append(cols, strings.ReplaceAll(p[i+1:], "^", ""))
	}
	return strings.TrimSuffix(table, definitions.Rebuilt), cols
}

var (
	operatorShapes = regexp.MustCompile(`^different shapes (\[[0-9,]*\]) ([-+*/^]) (\[[0-9,]*\])$`)
	kernelShapes   = regexp.MustCompile(`^different shapes (\[[0-9,]*\]) and (\[[0-9,]*\]) in ([a-z_]+)`)
)

// locate gives an error about shapes its position, and names the columns, where only one operator or call of the
// statement can have raised it. In a statement over a view it might be an operator of the view: then nothing is added.
func locate(db *DB, err error, st ast.Statement) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.ArraySubscript || e.Pos >= 0 || e.Text != nil {
		return err
	}
	var name, l, r string
	if m := operatorShapes.FindStringSubmatch(e.Message); m != nil {
		name, l, r = m[2], m[1], m[3]
	} else if m := kernelShapes.FindStringSubmatch(e.Message); m != nil {
		name, l, r = m[3], m[1], m[2]
	} else {
		return err
	}
	var found []ast.Tree
	var args []ast.Expr
	plain := true
	ast.Walk(st, func(t ast.Tree) bool {
		switch x := t.(type) {
		case *ast.TableRef:
			_, view := db.View(nil, x.Schema, x.Name)
			plain = plain && !view
		case *ast.Binary:
			if x.Op == name {
				found, args = append(found, x), []ast.Expr{x.L, x.R}
			}
		case *ast.FuncCall:
			if x.Name == name && len(x.Args) == 2 {
				found, args = append(found, x), x.Args
			}
		}
		return true
	})
	if !plain || len(found) != 1 {
		return err
	}
	e.Pos = int(found[0].Position())
	a, isCol := args[0].(*ast.ColumnRef)
	if b, isToo := args[1].(*ast.ColumnRef); isCol && isToo && e.Detail == "" {
		e.Detail = strings.Join(a.Names, ".") + " has shape " + l + ", " + strings.Join(b.Names, ".") + " has shape " + r +
			"."
	}
	return err
}
