package bind

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/columns"
	"github.com/relgrad/relgrad/store/definitions"
)

// A Binder turns one statement's tree into SQLite's text. It resolves every name itself and prints each FROM item under
// an alias of its own (t1, t2, …), so that SQLite's rules for names never matter. It knows the Postgres type of every
// expression.
//
// Inside the binder errors are panics of *sqlerr.Error. Catch turns them into errors at its border.
type Binder struct {
	session Session
	Context context.Context
	Text    *ast.Text // the text that positions point into
	Path    []string  // search path

	Params     []any               // values of ?1, ?2, …
	Runs       bool                // the query will be run: the engine may compute its views
	Literal    bool                // print constants, not parameters: the text goes into the schema
	aliases    int                 // number of aliases made
	Writes                         // the chunk columns and generated columns that are written
	Results    []*catalog.TableDef // temporary tables of this statement
	Deps       map[Dependency]bool
	fences     []*fence
	costlyRefs map[string]bool // printed references to costly columns
	expansion
	Unread   bool           // the result is not read now: materialized views need not have been filled
	Typed    *catalog.Typed // the types that Typed collects; else nil
	calls    int            // depth of functions being inlined
	seen     *seenScopes    // see ownsAggregate
	Volatile int            // number of calls of volatile functions, those in referenced views included
	needs    ast.Notes
}

// expansion is the state of the expansion of views.
type expansion struct {
	ctes  []string // printed views, in dependency order
	views map[*catalog.ViewDef]*Relation
	stack []string         // views being expanded
	Stars map[int][]string // columns of its stars, of the view being created; else nil
	fixed map[int][]string // columns of its stars, of the view being expanded; else nil
}

// Dependency is something that a view depends on: a relation or column that it reads, or a function that it calls.
type Dependency struct {
	definitions.Key
	Column   string
	Function bool
}

// Writes collects what a statement that writes must check or store at its end.
type Writes struct {
	Slots      []*columns.Slot
	slotTables []*catalog.TableDef // the tables of slots
	IDs        []*catalog.Identity // generated columns whose counters advance
	IDCols     []string
}

// Session is what binding needs of the session in which a statement runs.
type Session interface {
	// Definitions are the present ones: a statement may change them.
	Definitions() *definitions.Set
	SearchPath() []string
	// Tree is the parsed text of a view.
	Tree(v *catalog.ViewDef) (*ast.Select, *ast.Text, error)
	// Use announces that a table's content is read or written.
	Use(t *catalog.TableDef) error
	// Intrinsics are the engine's functions; nil: there is no engine.
	Intrinsics() Intrinsics
	// PutResult stores a result in a table that the statement can read. GiveResult frees that table.
	PutResult(r *catalog.Relation) (*catalog.TableDef, error)
	GiveResult(t *catalog.TableDef)
	// Objects lists what there is.
	Objects() (*catalog.Objects, error)
	// ShowsRuns reports whether it is known which runs a session trains now.
	ShowsRuns() bool
}

// New makes a Binder of a statement whose positions point into text.
func New(ctx context.Context, session Session, text *ast.Text) *Binder {
	path, fixed := session.SearchPath(), map[int][]string(nil)
	if text != nil && text.Path != nil { // text is part of a view
		path, fixed = text.Path, text.Stars
	}
	return &Binder{session: session, Context: ctx, Text: text, Path: path,
		expansion: expansion{fixed: fixed, views: map[*catalog.ViewDef]*Relation{}},
		Deps:      map[Dependency]bool{}, costlyRefs: map[string]bool{}}
}

// BindError returns the error of a panic of the binder. Any other panic is a fault of relgrad and becomes an internal
// error, so that no panic leaves the package.
func BindError(p any) error {
	if e, ok := p.(bindFailure); ok {
		return e.err
	}
	return sqlerr.FromPanic(p)
}

// bindFailure is a panic of an error that is not an *sqlerr.Error.
type bindFailure struct{ err error }

// Catch, deferred at the binder's border, turns panics into errors.
func (b *Binder) Catch(err *error) {
	if p := recover(); p != nil {
		*err = sqlerr.In(BindError(p), b.Text)
	}
}

// Fail ends the binding with an error at a position.
func (b *Binder) Fail(at ast.Pos, code, format string, args ...any) {
	b.FailHint(at, code, "", format, args...)
}

// FailHint is Fail with a hint, "" for none.
func (b *Binder) FailHint(at ast.Pos, code, hint, format string, args ...any) {
	e := sqlerr.At(int(at), code, format, args...)
	e.Hint, e.Text = hint, b.Text
	panic(e)
}

// Refuse is the error of a construct that Postgres supports and the embedded store does not. instead names a similar
// form that works, if any.
func (b *Binder) Refuse(at ast.Pos, what, instead string) {
	b.FailHint(at, sqlerr.FeatureNotSupported, instead, "%s is not supported by the embedded store", what)
}

// Check fails with err at a position unless err is nil.
func (b *Binder) Check(at ast.Pos, err error) {
	if err == nil {
		return
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		panic(bindFailure{err})
	}
	if e.Text == nil && e.Pos < 0 {
		c := *e
		c.Pos, c.Text = int(at), b.Text
		panic(&c)
	}
	panic(e)
}

// alias makes a new internal name.
func (b *Binder) alias(prefix string) string {
	b.aliases++
	return prefix + strconv.Itoa(b.aliases)
}

// param prints a value as a parameter of the statement.
func (b *Binder) param(v any) string {
	for i, p := range b.Params {
		switch p.(type) {
		case int64, float64, string, bool, nil:
			if p == v {
				return "?" + strconv.Itoa(i+1)
			}
		}
	}
	b.Params = append(b.Params, v)
	return "?" + strconv.Itoa(len(b.Params))
}

// Value is a bound expression.
type Value struct {
	SQL     string
	Type    catalog.Type
	Literal *ast.Literal // if it is a literal: for conversions at bind time
	bound   *ast.Bound   // if it is a value that relgrad put in: likewise
	At      ast.Pos
	NotNull bool
	mods    []int // the modifier of its type, such as that of numeric(5, 2); nil: none
}

// Collate prints v as it is compared, grouped and sorted: numerics as numbers, chunks by their bytes except for the
// sign of zero. others are what it is compared with.
func (v Value) Collate(others ...string) string {
	if v.Type.IsChunk() {
		return "rg_chunk_key(" + v.SQL + ")"
	}
	return columns.Collated(v.Type, v.SQL, others...)
}

// member prints v as a column of a set, in which each value occurs once: the printed text is the value and also how it
// is compared.
func (v Value) member() string {
	if v.Type.IsChunk() {
		return "rg_chunk_member(" + v.SQL + ")"
	}
	return columns.Collated(v.Type, v.SQL)
}

// Column is an output column of a FROM item or query.
type Column struct {
	Name     string
	Type     catalog.Type
	Mods     []int  // see Value
	SQL      string // how an expression refers to it
	NotNull  bool
	Relation *Relation // nil for a merged column of USING
	costly   bool      // costs much to compute: see fence
	uses     int       // references, counted for fences
}

// Relation is a FROM item with a name.
type Relation struct {
	Name, Schema string // the name by which it is referred to; the schema for schema.table.column
	Alias        string // in the printed text
	Columns      []*Column
	Table        *catalog.TableDef // nil for anything else
	fence        int               // number of a view's fence, in its template; 0: none
	costly       []bool
	scalar       bool // a function that returns one column: its name is also a value
}

// Scope resolves names inside one SELECT.
type Scope struct {
	Outer     *Scope
	Relations []*Relation
	Columns   []*Column // the namespace of unqualified names, in the order of *
	ctes      map[string]*cte
	Level     *Level
	// barred refuses references to columns of this scope: they are visible to the user but cannot be printed there.
	barred func(at ast.Pos)
	wall   bool // the scopes around it are barred too
}

// Level tracks aggregation of one SELECT.
type Level struct {
	inWindow             bool               // inside a window call
	Clause               string             // "WHERE", …: refuses aggregates; "" allows them
	windows              bool               // window functions are allowed
	InAgg                bool               // inside the arguments of an aggregate
	given                map[ast.Expr]Value // expressions that GROUP BY names by position or alias
	keys                 map[string]bool    // printed GROUP BY expressions
	keyCols              map[*Column]bool
	aggregates, windowed bool
	ungrouped            []*sqlerr.Error // columns outside GROUP BY and aggregates
	named                []ast.Window
}

// cte is a WITH item in scope.
type cte struct {
	name, alias string
	cols        []*Column
	fence       int // 0: none
	costly      []bool
	hidden      bool // not yet defined: WITH without RECURSIVE refers only backwards
}

func (s *Scope) cte(name string) *cte {
	for ; s != nil; s = s.Outer {
		if c := s.ctes[name]; c != nil && !c.hidden {
			return c
		}
	}
	return nil
}

// lookup resolves a column reference.
func (b *Binder) lookup(s *Scope, ref *ast.ColumnRef) (*Column, *Scope) {
	name := ref.Names[len(ref.Names)-1]
	qual := ref.Names[:len(ref.Names)-1]
	if len(qual) > 2 {
		b.Fail(ref.At, sqlerr.Syntax, "improper qualified name (too many dotted names): %s", strings.Join(ref.Names, "."))
	}
	if len(qual) > 0 {
		return lookupQualified(b, s, ref, qual, name)
	}
	for at := s; at != nil; at = at.Outer {
		var found *Column
		for _, c := range at.Columns {
			if c.Name == name {
				if found != nil {
					b.Fail(ref.At, sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
				}
				found = c
			}
		}
		if found != nil {
			return found, at
		}
	}
	for at := s; at != nil; at = at.Outer {
		for _, r := range at.Relations {
			if r.Name == name {
				if r.scalar {
					return r.Columns[0], at
				}
				b.Refuse(ref.At, "a whole row as a value", "Name its columns: "+name+".*.")
			}
		}
	}
	undefinedColumn(b, s, ref, name)
	return nil, nil
}

func lookupQualified(b *Binder, s *Scope, ref *ast.ColumnRef, qual []string, name string) (*Column, *Scope) {
	r, at := findRel(b, s, qual)
	if r == nil {
		missingFrom(b, s, ref.At, strings.Join(qual, "."))
	}
	var found *Column
	for _, c := range r.Columns {
		if c.Name == name {
			if found != nil {
				b.Fail(ref.At, sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
			}
			found = c
		}
	}
	if found == nil {
		undefinedColumn(b, s, ref, name)
	}
	return found, at
}

func findRel(b *Binder, s *Scope, qual []string) (*Relation, *Scope) {
	name := qual[len(qual)-1]
	for at := s; at != nil; at = at.Outer {
		for _, r := range at.Relations {
			if r.Name == name && (len(qual) == 1 || r.Schema == qual[0]) {
				return r, at
			}
		}
	}
	return nil, nil
}

func missingFrom(b *Binder, s *Scope, at ast.Pos, name string) {
	var names []string
	for sc := s; sc != nil; sc = sc.Outer {
		for _, r := range sc.Relations {
			names = append(names, r.Name)
			if r.Table != nil && r.Table.Name == name && r.Name != name {
				b.FailHint(at, sqlerr.UndefinedTable, fmt.Sprintf("Perhaps you meant to reference the table alias \"%s\".", r.Name),
					"invalid reference to FROM-clause entry for table \"%s\"", name)
			}
		}
	}
	hint := ""
	if near := sqlerr.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("Perhaps you meant \"%s\".", near)
	}
	b.FailHint(at, sqlerr.UndefinedTable, hint, "missing FROM-clause entry for table \"%s\"", name)
}

func undefinedColumn(b *Binder, s *Scope, ref *ast.ColumnRef, name string) {
	var names []string
	owner := map[string]string{}
	for sc := s; sc != nil; sc = sc.Outer {
		for _, r := range sc.Relations {
			for _, c := range r.Columns {
				names = append(names, c.Name)
				if owner[c.Name] == "" {
					owner[c.Name] = r.Name
				}
			}
		}
	}
	hint := ""
	if near := sqlerr.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("Perhaps you meant to reference the column \"%s.%s\".", owner[near], near)
	}
	full := "\"" + name + "\""
	if len(ref.Names) > 1 {
		full = strings.Join(ref.Names, ".")
	}
	b.FailHint(ref.At, sqlerr.UndefinedColumn, hint, "column %s does not exist", full)
}

// reach refuses a reference from scope s to a barred scope.
func (b *Binder) reach(s, to *Scope, at ast.Pos) {
	for ; s != nil; s = s.Outer {
		if s.barred != nil && (s == to || s.wall) {
			s.barred(at)
		}
		if s == to {
			return
		}
	}
}

// column binds a reference and records where GROUP BY does not allow it.
func (b *Binder) column(s *Scope, ref *ast.ColumnRef) Value {
	if ref.Star {
		b.Fail(ref.At, sqlerr.Syntax, "* is not allowed here")
	}
	c, at := b.lookup(s, ref)
	b.reach(s, at, ref.At)
	c.uses++
	if b.seen != nil {
		b.seen.at[at] = true
	}
	if l := at.Level; l != nil && !l.InAgg && !l.keys[c.SQL] {
		full := c.Name
		if c.Relation != nil && c.Relation.Name != "" {
			full = c.Relation.Name + "." + c.Name
		}
		if !l.dependent(c) {
			e := sqlerr.At(int(ref.At), sqlerr.Grouping,
				"column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", full)
			e.Text = b.Text
			l.ungrouped = append(l.ungrouped, e)
		}
	}
	if c.Relation != nil && c.Relation.Table != nil {
		b.Deps[Dependency{definitions.Key{Schema: c.Relation.Table.Schema, Name: c.Relation.Table.Name}, c.Name,
			false}] = true
	}
	noteColumn(b, ref, c)
	return Value{SQL: c.SQL, Type: c.Type, mods: c.Mods, At: ref.At, NotNull: c.NotNull}
}

// dependent reports whether GROUP BY contains the primary key of the column's table, on which the column depends.
func (l *Level) dependent(c *Column) bool {
	if c.Relation == nil || c.Relation.Table == nil || c.Relation.Table.PK == nil || len(l.keys) == 0 {
		return false
	}
	for _, k := range c.Relation.Table.PK.Cols {
		i := c.Relation.Table.Column(k)
		if i >= len(c.Relation.Columns) || !l.keys[c.Relation.Columns[i].SQL] {
			return false
		}
	}
	return true
}

// Finish prints a statement with the views that it uses before it.
func (b *Binder) Finish(with []string, body string) string {
	if all := append(append([]string(nil), b.ctes...), with...); len(all) > 0 {
		body = "WITH RECURSIVE " + strings.Join(all, ", ") + " " + body
	}
	return resolveFences(b, body)
}

// Release frees the tables of table functions.
func (b *Binder) Release() {
	for _, t := range b.Results {
		b.session.GiveResult(t)
	}
	b.Results = nil
}
