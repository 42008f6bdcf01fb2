package psql

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
)

// lister is a Session that lists its objects, for completion.
type lister interface {
	Objects() (*catalog.Objects, error)
	SearchPath() []string
}

// Describer is a Store that tells what it contains, for \d and similar commands.
type Describer interface {
	lister
	Path() string // the store's file, "" for a temporary one
}

// describeCommands are the commands of \d's family; a plus shows more.
func describeCommands() []backslash {
	entry := func(name, args, summary string, run func(r *Runner, d *described) error) backslash {
		f := func(r *Runner, ctx context.Context, _ *scanner, a *argScanner) error {
			plus := strings.HasSuffix(a.line[:a.start], "+")
			pat, _, err := a.next()
			if err != nil {
				return r.report(err)
			}
			if r.server != nil {
				return r.describeServer(ctx, name, strings.TrimSuffix(pat, ";"), plus)
			}
			d, err := describePattern(r, strings.TrimSuffix(pat, ";"), plus)
			if err != nil {
				return r.report(err)
			}
			return run(r, d)
		}
		return backslash{name + " " + name + "+", args, summary, f}
	}
	return []backslash{
		entry("d", "[NAME]", "tables, views and indexes; the columns of one. \\d+ shows chunks' shapes and a view's text",
			describeAny),
		entry("dt", "[PATTERN]", "tables", listKinds("table")),
		entry("dv", "[PATTERN]", "views", listKinds("view")),
		entry("di", "[PATTERN]", "indexes", listKinds("index")),
		entry("df", "[PATTERN]", "functions: those that were created and relgrad's own. \\df+ shows what they do",
			listFunctions),
		entry("dn", "[PATTERN]", "schemas", listSchemas),
	}
}

// relation is a table, view or index in a list.
type relation struct {
	schema, name, kind, table string
	temp                      bool
	show                      func() error // prints its columns
}

// described is the request of a \d command.
type described struct {
	pattern
	*catalog.Objects
	plus bool
	path []string
}

// describerOf is the session's catalogue.
func describerOf(r *Runner) (Describer, error) {
	if d, ok := r.session.(Describer); ok {
		return d, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "this session cannot list what it holds")
}

func describePattern(r *Runner, pat string, plus bool) (*described, error) {
	s, err := describerOf(r)
	if err != nil {
		return nil, err
	}
	o, err := s.Objects()
	return &described{newPattern(pat), o, plus, append(s.SearchPath(), "pg_temp")}, err
}

// relations lists the relations that match the pattern, by schema and name.
func (d *described) relations(r *Runner) []relation {
	var all []relation
	for _, t := range d.Tables {
		kind := "table"
		if t.Matview != nil {
			kind = "materialized view"
		}
		all = append(all, relation{t.Schema, t.Name, kind, "", t.Temp, func() error { return describeTable(r, d, t) }})
		for _, x := range indexes(t) {
			all = append(all,
				relation{t.Schema, x.Name, "index", t.Name, t.Temp, func() error { return describeIndex(r, t, x) }})
		}
	}
	for _, v := range d.Views {
		all = append(all, relation{v.Schema, v.Name, "view", "", v.Temp, func() error { return describeView(r, d, v) }})
	}
	first := map[string]int{} // position of the first schema on the path that has the name
	for _, x := range all {
		if i := slices.Index(d.path, x.schema); i >= 0 {
			if j, ok := first[x.name]; !ok || i < j {
				first[x.name] = i
			}
		}
	}
	all = slices.DeleteFunc(all, func(x relation) bool {
		i := slices.Index(d.path, x.schema)
		return !d.matches(x.schema, x.name, i >= 0 && first[x.name] == i)
	})
	slices.SortStableFunc(all, func(a, b relation) int {
		if c := strings.Compare(a.schema, b.schema); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return all
}

// foundNone is the error where nothing matches the pattern.
func foundNone(r *Runner, d *described) error {
	if d.text == "" {
		return r.fail(sqlerr.UndefinedTable, "", "did not find any relations")
	}
	names := lists.Map((&described{newPattern("*"), d.Objects, false, d.path}).relations(r),
		func(x relation) string { return x.name })
	hint := ""
	if near := sqlerr.Nearest(d.text, names); near != "" {
		hint = "Perhaps you meant \"" + near + "\"."
	}
	return r.fail(sqlerr.UndefinedTable, hint, "did not find any relation named \"%s\"", d.text)
}

// describeAny is \d: a list, or with a pattern the description of each match.
func describeAny(r *Runner, d *described) error {
	if d.text == "" {
		return listKinds("table", "view", "materialized view")(r, d)
	}
	found := d.relations(r)
	if len(found) == 0 {
		return foundNone(r, d)
	}
	for _, x := range found {
		if err := x.show(); err != nil {
			return err
		}
	}
	return nil
}

// listKinds lists the relations of some kinds.
func listKinds(kinds ...string) func(*Runner, *described) error {
	return func(r *Runner, d *described) error {
		found := slices.DeleteFunc(d.relations(r), func(x relation) bool { return !slices.Contains(kinds, x.kind) })
		if len(found) == 0 {
			return foundNone(r, d)
		}
		res := texts("Schema", "Name", "Type")
		index := slices.Equal(kinds, []string{"index"})
		if index {
			res.Cols = append(res.Cols, script.Col{Name: "Table", Type: "text"})
		}
		if d.plus {
			res.Cols = append(res.Cols, script.Col{Name: "Persistence", Type: "text"})
		}
		for _, x := range found {
			row := []any{x.schema, x.name, x.kind}
			if index {
				row = append(row, x.table)
			}
			if d.plus {
				row = append(row, map[bool]string{true: "temporary", false: "permanent"}[x.temp])
			}
			res.Rows = append(res.Rows, row)
		}
		return printSheet(r, "List of relations", res, nil)
	}
}

// texts is an empty result of text columns.
func texts(cols ...string) *script.Result {
	res := &script.Result{HasRows: true}
	for _, c := range cols {
		res.Cols = append(res.Cols, script.Col{Name: c, Type: "text"})
	}
	return res
}

// printSheet prints a result under a title. Lines in below replace the number of rows unless nil; the output is then
// never expanded.
func printSheet(r *Runner, title string, res *script.Result, below []string) error {
	p := *r.print
	p.title, p.footers, p.null = title, below, ""
	p.expanded = p.expanded && below == nil
	if err := p.print(r.out, res); err != nil {
		return r.fail(sqlerr.IO, "", "could not write the result: %v", err)
	}
	return nil
}

func describeTable(r *Runner, d *described, t *catalog.TableDef) error {
	res := texts("Column", "Type", "Collation", "Nullable", "Default")
	if d.plus {
		res.Cols = append(res.Cols, script.Col{Name: "Shape", Type: "text"})
	}
	for i := range t.Cols {
		c := &t.Cols[i]
		null := ""
		if c.NotNull {
			null = "not null"
		}
		row := []any{c.Name, c.TypeText(), "", null, c.DefaultText()}
		if d.plus {
			shape := ""
			if c.Shape != nil {
				shape = c.Shape.String()
			}
			row = append(row, shape)
		}
		res.Rows = append(res.Rows, row)
	}
	kind := "Table"
	if t.Matview != nil {
		kind = "Materialized view"
	}
	return printSheet(r, fmt.Sprintf("%s \"%s.%s\"", kind, t.Schema, t.Name), res, tableNotes(d, t))
}

// tableNotes are the lines below a table's columns.
func tableNotes(d *described, t *catalog.TableDef) []string {
	out := []string{}
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			out = append(append(out, title), lines...)
		}
	}
	var lines []string
	for _, x := range indexes(t) {
		line := fmt.Sprintf("    \"%s\" %sbtree (%s)", x.Name, x.kind, x.KeyText())
		if x.Where != "" {
			line += " WHERE " + x.Condition()
		}
		lines = append(lines, line)
	}
	section("Indexes:", lines)
	lines = nil
	for _, c := range t.Checks {
		lines = append(lines, fmt.Sprintf("    \"%s\" CHECK (%s)", c.Name, c.Text()))
	}
	section("Check constraints:", lines)
	lines = nil
	foreign := func(f catalog.Foreign) string {
		name := f.Name
		if f.Schema != "public" && f.Schema != "pg_temp" {
			name = f.Schema + "." + name
		}
		return fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s(%s)", strings.Join(f.Cols, ", "), name,
			strings.Join(f.RefCols, ", "))
	}
	for _, f := range t.Foreign {
		lines = append(lines, "    "+foreign(f))
	}
	section("Foreign-key constraints:", lines)
	lines = nil
	for _, o := range d.Tables {
		for _, f := range o.Foreign {
			if f.Schema == t.Schema && f.Name == t.Name {
				lines = append(lines, fmt.Sprintf("    TABLE \"%s\" %s", o.Name, foreign(f)))
			}
		}
	}
	section("Referenced by:", lines)
	return out
}

// index is an index or the constraint that one stands for.
type index struct {
	catalog.Index
	kind string // the words before its keys
}

// indexes lists a table's indexes: the primary key first, the others by name.
func indexes(t *catalog.TableDef) []index {
	var out []index
	for _, u := range t.Uniques {
		out = append(out, index{catalog.Index{Name: u.Name, Unique: true, Cols: u.Cols}, "UNIQUE CONSTRAINT, "})
	}
	for _, x := range t.Indexes {
		kind := ""
		if x.Unique {
			kind = "UNIQUE, "
		}
		out = append(out, index{x, kind})
	}
	slices.SortFunc(out, func(a, b index) int { return strings.Compare(a.Name, b.Name) })
	if t.PK != nil {
		out = slices.Insert(out, 0, index{catalog.Index{Name: t.PK.Name, Unique: true, Cols: t.PK.Cols}, "PRIMARY KEY, "})
	}
	return out
}

func describeIndex(r *Runner, t *catalog.TableDef, x index) error {
	res := texts("Column", "Type", "Key?", "Definition")
	for _, name := range x.Cols {
		res.Rows = append(res.Rows, []any{name, t.Cols[t.Column(name)].TypeText(), "yes", name})
	}
	if len(x.Cols) == 0 { // expressions have no names
		res.Rows = append(res.Rows, []any{"", "", "yes", x.KeyText()})
	}
	note := "btree, "
	switch {
	case strings.HasPrefix(x.kind, "PRIMARY"):
		note = "primary key, btree, "
	case x.Unique:
		note = "unique, btree, "
	}
	note += fmt.Sprintf("for table \"%s.%s\"", t.Schema, t.Name)
	if x.Where != "" {
		note += ", predicate (" + x.Condition() + ")"
	}
	return printSheet(r, fmt.Sprintf("Index \"%s.%s\"", t.Schema, x.Name), res, []string{note})
}

func describeView(r *Runner, d *described, v *catalog.ViewDef) error {
	res := texts("Column", "Type", "Collation", "Nullable", "Default")
	for _, c := range v.Cols {
		res.Rows = append(res.Rows, []any{c.Name, c.Type.String(), "", "", ""})
	}
	notes := []string{}
	if d.plus {
		notes = append(notes, "View definition:", " "+strings.TrimSpace(v.SQL)+";")
	}
	return printSheet(r, fmt.Sprintf("View \"%s.%s\"", v.Schema, v.Name), res, notes)
}

func listSchemas(r *Runner, d *described) error {
	res := texts("Name")
	for _, s := range d.Schemas {
		if d.name == nil || d.name.MatchString(s) {
			res.Rows = append(res.Rows, []any{s})
		}
	}
	return printSheet(r, "List of schemas", res, nil)
}

func listDatabases(r *Runner, ctx context.Context, _ *scanner, a *argScanner) error {
	if r.server != nil {
		pat, _, err := a.next()
		if err != nil {
			return r.report(err)
		}
		return r.describeServer(ctx, "l", pat, false)
	}
	s, err := describerOf(r)
	if err != nil {
		return r.report(err)
	}
	res := texts("Name", "Encoding", "File")
	name, file := "(temporary)", ""
	if path := s.Path(); path != "" {
		name, file = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path
	}
	res.Rows = [][]any{{name, "UTF8", file}}
	return printSheet(r, "List of databases", res, nil)
}

func connectionInfo(r *Runner, ctx context.Context, _ *scanner, _ *argScanner) error {
	if r.server != nil {
		return r.describeServer(ctx, "conninfo", "", false)
	}
	s, err := describerOf(r)
	if err != nil {
		return r.report(err)
	}
	text := "Statements run on a temporary store, which is gone when the session ends.\n"
	if path := s.Path(); path != "" {
		text = fmt.Sprintf("Statements run on the store \"%s\".\n", path)
	}
	_, err = io.WriteString(r.stdout, text)
	return err
}
