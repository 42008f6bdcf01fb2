package pgbridge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// definitions are what names mean. They hold for one state of the database; what was read before keeps its pointers
// where it is the same.
type definitions struct {
	names    map[string]*relation // by path, schema and name, in the present state
	path     []string             // the present search path
	all      []string             // names of tables and views
	byOID    map[int64]*relation  // as last seen
	byCode   map[string]*ast.CreateFunction
	funcs    map[string]*ast.CreateFunction // by path, schema and name, in the present state
	queries  map[string]*subQuery           // sub-queries by their text, in the present state
	collates string                         // how the database's collation compares: see byteOrder
	captures map[string]string              // what might be meant by a name of Postgres's own; nil: not known
	reached  map[string][][]string          // answers of reachQuery, in the present state
	state    string                         // what the server says of its catalogues; "" where it does not
}

// relation is a table or a view of the server.
type relation struct {
	oid      int64
	print    string // all that makes the definition
	kind     string // pg_class.relkind
	table    *catalog.TableDef
	view     *catalog.ViewDef
	declared []string // the columns' types as declared
	types    []serverType
	computed []bool // which columns are GENERATED ALWAYS AS (…)
	secured  string // tables with row-level security that it reads for another owner; "" where there are none
	denied   string // what its owner, or who calls, may not read; "" where they may
	// an operator = of a user's that the view compares by; the text of NULLIF and the like does not name it
	equal string
}

// forget drops what may have changed.
func (s *Session) forget() {
	s.defs.names, s.defs.funcs, s.defs.path, s.defs.all, s.defs.state = map[string]*relation{},
		map[string]*ast.CreateFunction{}, nil, nil, ""
	s.defs.captures, s.values = nil, nil
	s.defs.queries, s.defs.reached, s.defs.collates = map[string]*subQuery{}, map[string][][]string{}, ""
	s.tables = map[string]*tableFacts{}
}

// SearchPath returns the schemas that unqualified names are looked up in, that of temporary tables first where it
// exists. A path that has a schema before Postgres's own, whose functions and operators views and generated SQL mean,
// is an error.
func (s *Session) SearchPath() []string {
	if s.defs.path != nil {
		return s.defs.path
	}
	rows, err := s.texts(
		"SELECT n FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS s(n, i) ORDER BY i")
	if err != nil {
		s.fail(err)
		return []string{}
	}
	path := []string{}
	builtin := false
	for _, r := range rows {
		switch name := r[0]; {
		case name == "pg_catalog":
			builtin = true
			continue
		case !builtin && name != "relgrad" && !strings.HasPrefix(name, "pg_temp_"):
			s.fail(sqlerr.New(sqlerr.ObjectNotPrereqState, "search_path names schema \"%s\" before pg_catalog", name).
				WithDetail("Functions and operators of that schema could take the place of Postgres's own.").
				WithHint("SET search_path = public, relgrad; pg_catalog is first where it is not named."))
			return []string{}
		}
		path = append(path, r[0])
	}
	s.defs.path = path
	return path
}

// relationQuery reads what makes a relation's definition. The columns are oid, kind (f also where part of the rows is
// foreign), schema, name, view text, and for each column of the relation name, type (see madeOf), whether it cannot be
// NULL, whether it is generated from others, its collation (see collates); then the keys, none where tables inherit
// from it, whose rows it has too but its indexes have not; and the tables whose rows are only for some that a view of
// another owner reads; and an operator = of a user's that a view compares by. Functions and operators are qualified:
// whoever owns a schema of the search path must not be called.
var relationQuery = strings.NewReplacer(" = ", " OPERATOR(pg_catalog.=) ", " || ", " OPERATOR(pg_catalog.||) ", " > ",
	" OPERATOR(pg_catalog.>) ", " <= ", " OPERATOR(pg_catalog.<=) ").Replace(
	`SELECT c.oid::pg_catalog.int8, CASE WHEN EXISTS (
   WITH RECURSIVE below(oid) AS (SELECT h.inhrelid FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid
   UNION ALL SELECT h.inhrelid FROM below JOIN pg_catalog.pg_inherits h ON h.inhparent = below.oid)
   SELECT FROM below JOIN pg_catalog.pg_class k ON k.oid = below.oid AND k.relkind = 'f') THEN 'f'
   ELSE c.relkind::pg_catalog.text END, n.nspname::pg_catalog.text, c.relname::pg_catalog.text,
 CASE WHEN c.relkind = 'v' OR c.relkind = 'm' THEN pg_catalog.pg_get_viewdef(c.oid, true) END,
 (SELECT pg_catalog.string_agg(pg_catalog.concat(a.attname, E'\x01',
   ` + madeOf("a.atttypid", "a.atttypmod") + `,
   E'\x01', CASE WHEN a.attnotnull THEN 'n' END,
   E'\x01', CASE WHEN a.attgenerated OPERATOR(pg_catalog.<>) '' THEN 'g' END,
   E'\x01', ` + collates + `), E'\x02' ORDER BY a.attnum)
  FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_collation k ON k.oid = a.attcollation WHERE a.attrelid = c.oid
    AND a.attnum > 0 AND NOT a.attisdropped),
 (SELECT pg_catalog.string_agg(pg_catalog.concat(CASE WHEN i.indisprimary THEN 'p'
   ELSE 'u' END, (SELECT pg_catalog.string_agg(pg_catalog.concat(E'\x01', a.attname), '' ORDER BY k.n)
    FROM pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k(att, n)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.att WHERE k.n <= i.indnkeyatts)), E'\x02'
    ORDER BY i.indisprimary DESC, i.indexrelid)
  FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
    AND i.indexprs IS NULL
   AND NOT (c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))),
 (SELECT pg_catalog.string_agg(DISTINCT b.oid::pg_catalog.regclass::pg_catalog.text, ', ') FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    JOIN pg_catalog.pg_class b ON b.oid = d.refobjid AND b.relrowsecurity
  WHERE r.ev_class = c.oid AND c.relkind = 'v' AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) o WHERE o.option_name = 'security_invoker'
    AND o.option_value::pg_catalog.bool)),
 CASE WHEN c.relkind = 'v' THEN (SELECT pg_catalog.min(o.oid::pg_catalog.regoperator::pg_catalog.text)
   FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass
    JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid AND o.oprname = '='
    AND o.oprleft = ANY (` + plainTypes + `) AND o.oprright = ANY (` + plainTypes + `)
    JOIN pg_catalog.pg_namespace m ON m.oid = o.oprnamespace AND NOT (m.nspname = 'pg_catalog' OR m.nspname = 'relgrad')
  WHERE r.ev_class = c.oid) END,
 CASE WHEN c.relkind = 'v' AND NOT pg_catalog.has_any_column_privilege(c.oid, 'SELECT') THEN pg_catalog.concat('view ',
   c.relname) ELSE
 (SELECT pg_catalog.min(pg_catalog.concat(CASE WHEN b.relkind = 'v' THEN 'view ' ELSE 'table ' END, b.relname))
   FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    JOIN pg_catalog.pg_class b ON b.oid = d.refobjid AND NOT b.oid = c.oid
    AND b.relkind = ANY (ARRAY['r', 'v', 'm', 'p', 'f']::pg_catalog."char"[])
  WHERE r.ev_class = c.oid AND c.relkind = 'v' AND NOT pg_catalog.pg_get_userbyid(c.relowner) = current_user
    AND NOT CASE WHEN d.refobjsubid > 0 THEN pg_catalog.has_column_privilege(c.relowner, b.oid,
    d.refobjsubid::pg_catalog.int2, 'SELECT') ELSE pg_catalog.has_any_column_privilege(c.relowner, b.oid, 'SELECT') END
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) o WHERE o.option_name = 'security_invoker'
    AND o.option_value::pg_catalog.bool)) END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = `)

// ofKinds ends it: tables and views.
const ofKinds = " AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'v', 'm', 'p', 'f']::pg_catalog.\"char\"[])"

// find looks a name up; nil where there is nothing of that name.
func (s *Session) find(path []string, schema, name string) *relation {
	own := s.SearchPath()
	if s.err != nil {
		return nil
	}
	if path == nil {
		path = own
	}
	key := strings.Join(path, "\x00") + "\x01" + schema + "\x01" + name
	if r, ok := s.defs.names[key]; ok {
		return r
	}
	where := inPath(path)
	switch {
	case schema == "pg_temp":
		where = "n.oid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()"
	case schema != "":
		where = "n.nspname OPERATOR(pg_catalog.=) " + sqltext.Text(schema)
	}
	rows, err := s.definitions(relationQuery + sqltext.Text(name) + ofKinds + " AND " + where + " LIMIT 1")
	if err != nil {
		s.fail(err)
		return nil
	}
	var r *relation
	if len(rows) > 0 {
		r = s.define(rows[0])
	}
	s.defs.names[key] = r
	return r
}

// inPath restricts schemas to those of a path and puts them in its order.
func inPath(path []string) string {
	list := names(path)
	return "n.nspname OPERATOR(pg_catalog.=) ANY (" + list +
		") ORDER BY pg_catalog.array_position(" + list + ", n.nspname)"
}

func names(path []string) string {
	var q []string
	for _, t := range path {
		q = append(q, sqltext.Text(t))
	}
	return "ARRAY[" + strings.Join(q, ", ") + "]::pg_catalog.name[]"
}

// notHidden restricts functions to those that no other one of the same arguments hides, Postgres's own or, where it
// comes first in the path, relgrad's.
func notHidden(path []string) string {
	first := names(path[:max(slices.Index(path, "relgrad"), 0)])
	return strings.ReplaceAll("NOT EXISTS (SELECT FROM pg_catalog.pg_proc q JOIN pg_catalog.pg_namespace m ON m.oid = "+
		"q.pronamespace WHERE q.proname = p.proname AND q.proargtypes = p.proargtypes AND "+
		"(m.nspname = 'pg_catalog' OR m.nspname = 'relgrad' AND "+fmt.Sprint(slices.Contains(path, "relgrad"))+
		" AND NOT n.nspname = ANY ("+first+"))) AND ", " = ", " OPERATOR(pg_catalog.=) ")
}

// define makes a relation of its row, or finds it again.
func (s *Session) define(row []string) *relation {
	r := &relation{print: strings.Join(row, "\x03"), kind: row[1], secured: row[7], equal: row[8], denied: row[9]}
	fmt.Sscan(row[0], &r.oid)
	if old := s.defs.byOID[r.oid]; old != nil && old.print == r.print {
		return old
	}
	var names, types []string
	var notNull []bool
	for _, c := range split(row[5], "\x02") {
		f := strings.Split(c, "\x01")
		f[1] = ownName(f[1], f[4])
		names, types, notNull = append(names, f[0]), append(types, f[1]), append(notNull, f[5] != "")
		r.computed = append(r.computed, f[6] != "")
		r.types = append(r.types, s.typed(f[1:5], f[7:11]))
	}
	if r.kind == "v" {
		r.view = &catalog.ViewDef{Schema: row[2], Name: row[3],
			SQL: strings.TrimSuffix(strings.TrimSpace(row[4]), ";"), Path: s.viewPath()}
		for i := range names {
			r.view.Cols = append(r.view.Cols, catalog.ViewColumn{Name: names[i], Type: typeOf(types[i])})
		}
	} else {
		r.table = &catalog.TableDef{Schema: row[2], Name: row[3]}
		for i := range names {
			r.table.Cols = append(r.table.Cols, catalog.Column{Name: names[i], Type: typeOf(types[i]), NotNull: notNull[i]})
		}
		for _, k := range split(row[6], "\x02") {
			u := catalog.Unique{Cols: strings.Split(k, "\x01")[1:]}
			if k[0] == 'p' {
				r.table.PK = &u
			} else {
				r.table.Uniques = append(r.table.Uniques, u)
			}
		}
	}
	r.declared = types
	s.defs.byOID[r.oid] = r
	return r
}

func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

// typeOf reads the name that format_type gives to a type. Types that the engine has no form for are kept by name; what
// has a modifier, as numeric(10,2), is that type.
func typeOf(name string) catalog.Type {
	t := catalog.Type{Array: strings.HasSuffix(name, "[]")}
	t.Name = strings.TrimSuffix(name, "[]")
	quoted := strings.LastIndexByte(t.Name, '"') + 1
	if i := strings.IndexByte(t.Name[quoted:], '('); i >= 0 {
		end := strings.IndexByte(t.Name[quoted:], ')')
		t.Name = strings.TrimSpace(t.Name[:quoted+i]) + t.Name[quoted+end+1:]
	}
	if t.Array {
		t.Rank = 1
	}
	switch {
	case t.Name == "timestamp without time zone":
		t.Name = "timestamp"
	case t.Name == "character": // the word alone is character(1)
		t.Name = "bpchar"
	case t.Name == "bit":
		t.Name = `"bit"`
	case strings.HasPrefix(t.Name, "interval "):
		t.Name = "interval"
	}
	return t
}

// Relation finds a table or view.
func (s *Session) Relation(path []string, schema, name string) (*catalog.TableDef, *catalog.ViewDef) {
	r := s.find(path, schema, name)
	if r == nil {
		return nil, nil
	}
	s.readable(r)
	return r.table, r.view
}

// View finds a view.
func (s *Session) View(path []string, schema, name string) (*catalog.ViewDef, bool) {
	r := s.find(path, schema, name)
	if r == nil || r.view == nil {
		return nil, false
	}
	s.readable(r)
	return r.view, true
}

// readable refuses views whose rows are not those that the engine would read. A server reads the tables of a view with
// the rights of its owner: what he may not read, nobody reads for him.
func (s *Session) readable(r *relation) {
	if r.view != nil && r.denied != "" {
		e := sqlerr.New(insufficientPrivilege, "permission denied for %s", r.denied)
		if r.denied != "view "+r.view.Name {
			e = e.WithDetail("View \"%s\" reads it for its owner, who may not.", r.view.Name)
		}
		s.fail(e)
		return
	}
	if r.view != nil && r.equal != "" {
		s.fail(sqlerr.New(sqlerr.FeatureNotSupported, "view %q compares by the operator %s, which is not supported in a loss",
			r.view.Name, r.equal).WithHint("Make the view while the operator's schema is not on the search_path."))
	}
	if r.view != nil && r.secured != "" {
		s.fail(sqlerr.New("42501", "view %q of another owner reads %s, which has row-level security", r.view.Name, r.secured).
			WithDetail("Through the view the rows are those that its owner may see; the engine reads the tables as you.").
			WithHint("Let the view's owner call, or make it WITH (security_invoker = true)."))
	}
}

// Definition returns a table's definition, nil where there is none of that name.
func (s *Session) Definition(schema, name string) *catalog.TableDef {
	t, _ := s.Relation(nil, schema, name)
	if t == nil {
		return nil
	}
	f, err := s.facts(s.find(nil, schema, name))
	if err != nil {
		s.fail(err)
		return t
	}
	out := *t // with the shapes of what it holds
	out.Cols = slices.Clone(t.Cols)
	for i := range out.Cols {
		out.Cols[i].Shape = f.shape[i]
	}
	return &out
}

// Relations lists tables and views as a statement would name them.
func (s *Session) Relations() []string {
	if s.defs.all == nil {
		rows, err := s.texts(`SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::pg_catalog.text
		  ELSE pg_catalog.concat(n.nspname, '.', c.relname) END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', 'pg_toast']::pg_catalog.name[])
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')` + ofKinds + ` ORDER BY 1 LIMIT 10000`)
		if err != nil {
			s.fail(err)
		}
		for _, r := range rows {
			s.defs.all = append(s.defs.all, r[0])
		}
	}
	return s.defs.all
}

// FunctionOn finds a function that the user made. A name that may mean several is an error.
func (s *Session) FunctionOn(path []string, schema, name string) (*ast.CreateFunction, error) {
	if path == nil {
		path = s.SearchPath()
	}
	key := strings.Join(path, "\x00") + "\x01" + schema + "\x01" + name
	if f, ok := s.defs.funcs[key]; ok {
		return f, nil
	}
	f, err := s.findFunction(path, schema, name)
	if err == nil {
		err = s.failed()
	}
	if err != nil {
		return nil, bare(err)
	}
	s.defs.funcs[key] = f
	return f, nil
}

// findFunction reads a function. One that is one of several, or may be meant by a name of Postgres's own, is an error.
func (s *Session) findFunction(path []string, schema, name string) (*ast.CreateFunction, error) {
	if what := s.captures()[name]; what != "" && schema == "" && slices.Equal(path, s.SearchPath()) {
		return nil, ambiguous(name, what, "Write pg_catalog."+name+" or relgrad."+name+
			", for an operator OPERATOR(pg_catalog."+name+"), or take the schema off the search_path.")
	}
	if !isName(name) {
		return nil, nil
	}
	where := notHidden(path) + inPath(path) + ", p.oid"
	if schema != "" {
		where = "n.nspname OPERATOR(pg_catalog.=) " + sqltext.Text(schema) + " ORDER BY p.oid"
	}
	rows, err := s.definitions(strings.ReplaceAll(`SELECT CASE WHEN p.prokind = 'f'
	  AND (l.lanname = 'sql' OR l.lanname = 'plpgsql') THEN pg_catalog.pg_get_functiondef(p.oid) END,
	    p.proargtypes::pg_catalog.text, p.oid::pg_catalog.regprocedure::pg_catalog.text,
 CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' WHEN p.proconfig IS NOT NULL THEN ' with SET' END
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE NOT (n.nspname = 'pg_catalog' OR n.nspname = 'relgrad')
  AND p.proname = `, " = ", " OPERATOR(pg_catalog.=) ") + sqltext.Text(name) + " AND " + where)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	for _, r := range rows[1:] { // one of the same arguments further behind in the path is never called
		if r[1] != rows[0][1] {
			return nil, ambiguous(name, rows[0][2]+" or "+r[2], "Give the function that the loss calls a name of its own.")
		}
	}
	if s.current()["standard_conforming_strings"] == "off" && strings.Contains(rows[0][0], `\`) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"function %s has a backslash in it, which is not supported in a loss while standard_conforming_strings is off",
			name).
			WithHint("SET standard_conforming_strings = on.")
	}
	return s.parseFunction(rows[0][0], name, rows[0][3]), nil
}

// isName tells a function's name from an operator's.
func isName(name string) bool { return strings.Trim(name, "+-*/<>=~!@#%^&|`?") != "" }

// parseFunction reads a definition; nil where it is beyond a loss. guarded says what else than an expression of its
// caller's it is.
func (s *Session) parseFunction(code, name, guarded string) *ast.CreateFunction {
	if f, ok := s.defs.byCode[code]; ok {
		return f
	}
	var f *ast.CreateFunction
	if stmts, err := parse.ParseDefinition(&ast.Text{SQL: code}); err == nil && len(stmts) == 1 {
		if f, _ = stmts[0].Stmt.(*ast.CreateFunction); f != nil {
			f.Language += guarded // its body is no expression of its caller's: it has other rights or settings
		}
	}
	if f == nil && guarded != "" {
		f = &ast.CreateFunction{Name: name, Language: "sql" + guarded}
	}
	s.defs.byCode[code] = f
	return f
}

// texts runs a query of our own on the catalogues and returns its values as texts, NULL as "".
func (s *Session) texts(sql string) (out [][]string, err error) {
	_, _, err = s.conn.Query(context.Background(), sql, true, func(b *Block) error {
		for row := range b.Rows {
			r := make([]string, len(b.Cols))
			for i, c := range b.Cols {
				if !c.Data.IsNull(row) {
					r[i] = c.Data.Value(row).String()
				}
				if c.Data.Texts != nil {
					r[i] = c.Data.Texts[row]
				}
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}
