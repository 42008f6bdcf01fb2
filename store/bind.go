package store

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
)

// A binder turns one statement's tree into SQLite's text. It resolves every name itself and prints each
// FROM item under an alias of its own (t1, t2, …), so that SQLite's rules for names never matter, and it
// knows the Postgres type of every expression.
//
// Inside the binder errors travel as panics of *sqlerr.Error; bindError catches them at its border.
type binder struct {
	db   *DB
	ctx  context.Context
	text *ast.Text // the text that positions point into
	path []string  // search path

	params     []any    // values of ?1, ?2, …
	runs       bool     // the query is about to run: the engine may compute its views
	literal    bool     // print without parameters: the text goes into the schema
	ctes       []string // printed views, in dependency order
	views      map[*catalog.ViewDef]*relation
	stack      []string            // views being expanded
	n          int                 // aliases handed out
	writes                         // the chunk columns and generated columns that are written
	take       *taker              // the rows of RETURNING; nil: they go into the result
	plan       *string             // EXPLAIN: takes the printed statement, which is not run
	results    []*catalog.TableDef // temporary tables of this statement
	deps       map[dependency]bool
	fences     []*fence
	costlyRefs map[string]bool  // printed references to costly columns
	stars      map[int][]string // of the view that is being created, else nil
	fixed      map[int][]string // of the view that is being expanded, else nil
	unread     bool             // what is bound is not run now: a materialized view need have no rows
	typed      *Typed           // what Typed collects, else nil
	calls      int              // functions that are being inlined
	seen       *seenScopes      // see owner
	volatile   int              // calls of functions that give another value each time, in views that were referred to too
}

// dependency is a relation, or a column of one, that a view reads, or a function that it calls.
type dependency struct {
	objectKey
	col      string
	function bool
}

// writes is what the functions of a printed statement note of the table that it writes.
type writes struct {
	slots      []*columns.Slot
	slotTables []*catalog.TableDef // the tables of slots
	ids        []*catalog.Identity // generated columns, counted on
	idCols     []string
}

// statement is what functions need while a statement runs.
type statement struct {
	*writes
	outer    *statement
	proposed map[string]bool // keys of the rows of INSERT … ON CONFLICT DO UPDATE
}

func newBinder(ctx context.Context, db *DB, text *ast.Text) *binder {
	path, fixed := db.searchPath(), map[int][]string(nil)
	if text != nil && text.Path != nil { // a part of a view
		path, fixed = text.Path, text.Stars
	}
	return &binder{db: db, ctx: ctx, text: text, path: path, fixed: fixed, views: map[*catalog.ViewDef]*relation{},
		deps: map[dependency]bool{}, costlyRefs: map[string]bool{}}
}

// bindError turns a panic of the binder back into its error. Any other panic is a mistake of ours and becomes
// an internal error: none crosses the package's border.
func bindError(p any) error {
	if e, ok := p.(bindFailure); ok {
		return e.err
	}
	return sqlerr.FromPanic(p)
}

// bindFailure carries an error that is no *sqlerr.Error through the binder.
type bindFailure struct{ err error }

// catch is deferred at the binder's border.
func (b *binder) catch(err *error) {
	if p := recover(); p != nil {
		*err = sqlerr.In(bindError(p), b.text)
	}
}

func (b *binder) fail(at ast.Pos, code, format string, args ...any) {
	b.failHint(at, code, "", format, args...)
}

func (b *binder) failHint(at ast.Pos, code, hint, format string, args ...any) {
	e := sqlerr.At(int(at), code, format, args...)
	e.Hint, e.Text = hint, b.text
	panic(e)
}

// refuse reports something that Postgres can do and the embedded store cannot; instead names the nearest
// form that works, if any.
func (b *binder) refuse(at ast.Pos, what, instead string) {
	b.failHint(at, sqlerr.FeatureNotSupported, instead, "%s is not supported by the embedded store", what)
}

// check reports err at a position.
func (b *binder) check(at ast.Pos, err error) {
	if err == nil {
		return
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		panic(bindFailure{err})
	}
	if e.Text == nil && e.Pos < 0 {
		c := *e
		c.Pos, c.Text = int(at), b.text
		panic(&c)
	}
	panic(e)
}

// alias hands out an internal name.
func (b *binder) alias(prefix string) string {
	b.n++
	return prefix + strconv.Itoa(b.n)
}

// param prints a value as a parameter of the statement.
func (b *binder) param(v any) string {
	for i, p := range b.params {
		switch p.(type) {
		case int64, float64, string, bool, nil:
			if p == v {
				return "?" + strconv.Itoa(i+1)
			}
		}
	}
	b.params = append(b.params, v)
	return "?" + strconv.Itoa(len(b.params))
}

// val is a bound expression.
type val struct {
	sql     string
	typ     catalog.Type
	lit     *ast.Literal // the literal that it is, for conversions at bind time
	bound   *ast.Bound   // the value that relgrad put in, likewise
	at      ast.Pos
	notNull bool
	elems   []val // of ARRAY[…] with untyped elements
	mods    []int // the modifier of its type, as of numeric(5, 2); nil for none
}

// collate prints v for comparing, grouping and sorting: numerics compare as numbers.
// Chunks compare as their bytes but for the sign of zero.
func (v val) collate() string {
	if v.typ.IsChunk() {
		return "rg_chunk_key(" + v.sql + ")"
	}
	return columns.Collated(v.typ, v.sql)
}

// member prints v as a column of a set, which has each value once: it is the value and what it compares by in one.
func (v val) member() string {
	if v.typ.IsChunk() {
		return "rg_chunk_member(" + v.sql + ")"
	}
	return columns.Collated(v.typ, v.sql)
}

// column is an output column of a FROM item or query.
type column struct {
	name    string
	typ     catalog.Type
	mods    []int  // see val
	sql     string // how an expression refers to it
	notNull bool
	rel     *relation // nil for a merged column of USING
	costly  bool      // see fence
	uses    int       // references, counted for fences
}

// relation is a FROM item with a name.
type relation struct {
	name, schema string // the name it goes by; schema for schema.table.column
	alias        string // in the printed text
	cols         []*column
	table        *catalog.TableDef // nil for anything else
	fence        int               // of a view's template: see fence; 0 for none
	costly       []bool
	scalar       bool // a function that returns one column: its name is also a value
}

// scope is what names mean inside one SELECT.
type scope struct {
	up    *scope
	rels  []*relation
	cols  []*column // the namespace of unqualified names, in the order of *
	ctes  map[string]*cte
	level *level
	// barred refuses a reference to a column of this scope, which can be seen and cannot be printed.
	barred func(at ast.Pos)
	wall   bool // the scopes around it are barred, too
}

// level tracks aggregation of one SELECT.
type level struct {
	inWindow   bool            // inside a window call
	clause     string          // "WHERE", …: where aggregates are refused; "" where they are allowed
	windows    bool            // window functions are allowed
	inAgg      bool            // inside the arguments of an aggregate
	keys       map[string]bool // printed GROUP BY expressions
	keyCols    map[*column]bool
	aggregates bool
	windowed   bool
	ungrouped  []*sqlerr.Error // columns outside GROUP BY and aggregates
	named      map[string]*ast.Window
}

// cte is a WITH item in scope.
type cte struct {
	name, alias string
	cols        []*column
	fence       int // 0: none
	costly      []bool
	hidden      bool // not yet defined (WITH without RECURSIVE refers only backwards)
}

func (s *scope) cte(name string) *cte {
	for ; s != nil; s = s.up {
		if c := s.ctes[name]; c != nil && !c.hidden {
			return c
		}
	}
	return nil
}

// lookup resolves a column reference.
func (b *binder) lookup(s *scope, ref *ast.ColumnRef) (*column, *scope) {
	name := ref.Names[len(ref.Names)-1]
	qual := ref.Names[:len(ref.Names)-1]
	if len(qual) > 2 {
		b.fail(ref.At, sqlerr.Syntax, "improper qualified name (too many dotted names): %s", strings.Join(ref.Names, "."))
	}
	if len(qual) > 0 {
		return lookupQualified(b, s, ref, qual, name)
	}
	for at := s; at != nil; at = at.up {
		var found *column
		for _, c := range at.cols {
			if c.name == name {
				if found != nil {
					b.fail(ref.At, sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
				}
				found = c
			}
		}
		if found != nil {
			return found, at
		}
	}
	for at := s; at != nil; at = at.up {
		for _, r := range at.rels {
			if r.name == name {
				if r.scalar {
					return r.cols[0], at
				}
				b.refuse(ref.At, "a whole row as a value", "Name its columns: "+name+".*.")
			}
		}
	}
	undefinedColumn(b, s, ref, name)
	return nil, nil
}

func lookupQualified(b *binder, s *scope, ref *ast.ColumnRef, qual []string, name string) (*column, *scope) {
	r, at := findRel(b, s, qual)
	if r == nil {
		missingFrom(b, s, ref.At, strings.Join(qual, "."))
	}
	var found *column
	for _, c := range r.cols {
		if c.name == name {
			if found != nil {
				b.fail(ref.At, sqlerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
			}
			found = c
		}
	}
	if found == nil {
		undefinedColumn(b, s, ref, name)
	}
	return found, at
}

func findRel(b *binder, s *scope, qual []string) (*relation, *scope) {
	name := qual[len(qual)-1]
	for at := s; at != nil; at = at.up {
		for _, r := range at.rels {
			if r.name == name && (len(qual) == 1 || r.schema == qual[0]) {
				return r, at
			}
		}
	}
	return nil, nil
}

func missingFrom(b *binder, s *scope, at ast.Pos, name string) {
	var names []string
	for sc := s; sc != nil; sc = sc.up {
		for _, r := range sc.rels {
			names = append(names, r.name)
			if r.table != nil && r.table.Name == name && r.name != name {
				b.failHint(at, sqlerr.UndefinedTable, fmt.Sprintf("Perhaps you meant to reference the table alias \"%s\".", r.name),
					"invalid reference to FROM-clause entry for table \"%s\"", name)
			}
		}
	}
	hint := ""
	if near := sqlerr.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("Perhaps you meant \"%s\".", near)
	}
	b.failHint(at, sqlerr.UndefinedTable, hint, "missing FROM-clause entry for table \"%s\"", name)
}

func undefinedColumn(b *binder, s *scope, ref *ast.ColumnRef, name string) {
	var names []string
	owner := map[string]string{}
	for sc := s; sc != nil; sc = sc.up {
		for _, r := range sc.rels {
			for _, c := range r.cols {
				names = append(names, c.name)
				if owner[c.name] == "" {
					owner[c.name] = r.name
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
	b.failHint(ref.At, sqlerr.UndefinedColumn, hint, "column %s does not exist", full)
}

// reach refuses a reference from a scope to another that is barred.
func (b *binder) reach(s, to *scope, at ast.Pos) {
	for ; s != nil; s = s.up {
		if s.barred != nil && (s == to || s.wall) {
			s.barred(at)
		}
		if s == to {
			return
		}
	}
}

// column binds a reference and notes whether GROUP BY allows it.
func (b *binder) column(s *scope, ref *ast.ColumnRef) val {
	if ref.Star {
		b.fail(ref.At, sqlerr.Syntax, "* is not allowed here")
	}
	c, at := b.lookup(s, ref)
	b.reach(s, at, ref.At)
	c.uses++
	if b.seen != nil {
		b.seen.at[at] = true
	}
	if l := at.level; l != nil && !l.inAgg && !l.keys[c.sql] {
		full := c.name
		if c.rel != nil && c.rel.name != "" {
			full = c.rel.name + "." + c.name
		}
		if !l.dependent(c) {
			e := sqlerr.At(int(ref.At), sqlerr.Grouping,
				"column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", full)
			e.Text = b.text
			l.ungrouped = append(l.ungrouped, e)
		}
	}
	if c.rel != nil && c.rel.table != nil {
		b.deps[dependency{objectKey{c.rel.table.Schema, c.rel.table.Name}, c.name, false}] = true
	}
	b.typed.noteColumn(ref, c)
	return val{sql: c.sql, typ: c.typ, mods: c.mods, at: ref.At, notNull: c.notNull}
}

// dependent reports whether the grouping contains the primary key of the column's table.
func (l *level) dependent(c *column) bool {
	if c.rel == nil || c.rel.table == nil || c.rel.table.PK == nil || len(l.keys) == 0 {
		return false
	}
	for _, k := range c.rel.table.PK.Cols {
		i := c.rel.table.Column(k)
		if i >= len(c.rel.cols) || !l.keys[c.rel.cols[i].sql] {
			return false
		}
	}
	return true
}

// finish prints a statement with the views it uses in front.
func (b *binder) finish(with []string, body string) string {
	all := append(append([]string(nil), b.ctes...), with...)
	if len(all) > 0 {
		body = "WITH RECURSIVE " + strings.Join(all, ", ") + " " + body
	}
	return resolveFences(b, body)
}

// release gives the tables of table functions back.
func (b *binder) release() {
	for _, t := range b.results {
		giveResult(b.db, t)
	}
	b.results = nil
}
