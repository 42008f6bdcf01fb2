package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// names are the definitions of relations and functions, for one state of the database. A definition that is the same in
// the next state keeps its pointer.
type names struct {
	*server
	path     *searchPath
	types    *types
	settings *settings
	facts    *facts
	watch    *watch
	found    map[string]*relation           // by path, schema and name, in the present state
	all      []string                       // names of tables and views
	byOID    map[int64]*relation            // the relations as last seen
	funcs    map[string]*ast.CreateFunction // by path, schema and name, in the present state
	byCode   map[string]*ast.CreateFunction
}

func (s *names) drop() {
	s.found, s.all, s.funcs = map[string]*relation{}, nil, map[string]*ast.CreateFunction{}
}

// relation is a table or a view of the server.
type relation struct {
	oid      int64
	print    string // all that the definition consists of
	kind     string // pg_class.relkind
	table    *catalog.TableDef
	view     *catalog.ViewDef
	declared []string // the columns' types as declared
	types    []serverType
	computed []bool // which columns are GENERATED ALWAYS AS (…)
	secured  string // tables with row-level security that a view reads for another owner; "" if there are none
	denied   string // what its owner or its caller may not read; "" if nothing
	// a user's operator = by which the view compares: the text of NULLIF and the like does not name it
	equal string
}

// relationQuery reads a relation's definition. The columns are: oid; kind (f also if some of the rows are foreign);
// schema; name; text of a view; for each column of the relation its name, type (see madeOf), NOT NULL, GENERATED and
// collation (see collates); the keys; tables with row-level security that a view of another owner reads; a user's
// operator = by which a view compares; what may not be read. A table from which others inherit has no keys, because
// they do not cover the others' rows. Functions and operators are qualified, so that those of a schema on the search
// path are not called.
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

// ofKinds ends relationQuery: only tables and views.
const ofKinds = " AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'v', 'm', 'p', 'f']::pg_catalog.\"char\"[])"

// find finds a relation by name; nil if there is none.
func (s *names) find(path []string, schema, name string) *relation {
	own := s.path.SearchPath()
	if s.err != nil {
		return nil
	}
	if path == nil {
		path = own
	}
	in := func(schema string) string { return "\x01" + schema + "\x01" + name }
	key := in(schema)
	if schema == "" {
		key = strings.Join(path, "\x00") + key
	}
	if r, ok := s.found[key]; ok {
		return r
	}
	where := inPath(path)
	switch {
	case schema == "pg_temp":
		where = "n.oid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()"
	case schema != "":
		where = "n.nspname OPERATOR(pg_catalog.=) " + sqltext.Text(schema)
	}
	rows, err := s.path.definitions(relationQuery + sqltext.Text(name) + ofKinds + " AND " + where + " LIMIT 1")
	if err != nil {
		s.fail(err)
		return nil
	}
	var r *relation
	if len(rows) > 0 {
		r = s.define(rows[0])
	}
	if s.found[key] = r; r != nil && r.table != nil {
		s.found[in(r.table.Schema)] = r
	}
	return r
}

// define makes a relation of a row of relationQuery, or returns the known one if it is the same.
func (s *names) define(row []string) *relation {
	r := &relation{print: strings.Join(row, "\x03"), kind: row[1], secured: row[7], equal: row[8], denied: row[9]}
	fmt.Sscan(row[0], &r.oid)
	if old := s.byOID[r.oid]; old != nil && old.print == r.print {
		return old
	}
	var names, types []string
	var notNull []bool
	for _, c := range split(row[5], "\x02") {
		f := strings.Split(c, "\x01")
		f[1] = ownName(f[1], f[4])
		names, types, notNull = append(names, f[0]), append(types, f[1]), append(notNull, f[5] != "")
		r.computed = append(r.computed, f[6] != "")
		r.types = append(r.types, s.types.typed(f[1:5], f[7:11]))
	}
	if r.kind == "v" {
		r.view = &catalog.ViewDef{Schema: row[2], Name: row[3],
			SQL: strings.TrimSuffix(strings.TrimSpace(row[4]), ";"), Path: s.path.viewPath()}
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
	s.byOID[r.oid] = r
	return r
}

func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

// Relation finds a table or view.
func (s *names) Relation(path []string, schema, name string) (*catalog.TableDef, *catalog.ViewDef) {
	r := s.find(path, schema, name)
	if r == nil {
		return nil, nil
	}
	s.readable(r)
	return r.table, r.view
}

// View finds a view.
func (s *names) View(path []string, schema, name string) (*catalog.ViewDef, bool) {
	r := s.find(path, schema, name)
	if r == nil || r.view == nil {
		return nil, false
	}
	s.readable(r)
	return r.view, true
}

// readable refuses views that the engine would read differently. The server reads the tables of a view with its owner's
// rights: what the owner may not read, the view reads for nobody.
func (s *names) readable(r *relation) {
	if r.view != nil && r.denied != "" {
		e := sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s", r.denied)
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
		s.fail(sqlerr.New(sqlerr.InsufficientPrivilege,
			"view %q of another owner reads %s, which has row-level security", r.view.Name, r.secured).
			WithDetail("Through the view the rows are those that its owner may see; the engine reads the tables as you.").
			WithHint("Let the view's owner call, or make it WITH (security_invoker = true)."))
	}
}

// Definition returns a table's definition, nil if there is no table of that name.
func (s *names) Definition(schema, name string) *catalog.TableDef {
	t, _ := s.Relation(nil, schema, name)
	if t == nil {
		return nil
	}
	f, err := s.facts.of(s.find(nil, schema, name))
	if err != nil {
		s.fail(err)
		return t
	}
	out := *t // with the shapes of the chunks in it
	out.Cols = slices.Clone(t.Cols)
	for i := range out.Cols {
		out.Cols[i].Shape = f.shape[i]
	}
	return &out
}

// Relations lists tables and views by the names that a statement would use.
func (s *names) Relations() []string {
	if s.all == nil {
		rows, err := s.texts(`SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname::pg_catalog.text
		  ELSE pg_catalog.concat(n.nspname, '.', c.relname) END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.<>) ALL (ARRAY['pg_catalog', 'information_schema', 'pg_toast']::pg_catalog.name[])
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')` + ofKinds + ` ORDER BY 1 LIMIT 10000`)
		if err != nil {
			s.fail(err)
		}
		for _, r := range rows {
			s.all = append(s.all, r[0])
		}
	}
	return s.all
}

// TableOn describes a table as it is now. It returns nil for a view, and an error if there is no relation of that name.
func (s *names) TableOn(path []string, schema, name string) (*ra.Table, error) {
	r := s.find(path, schema, name)
	if err := s.failed(); err != nil {
		return nil, err
	}
	if r == nil {
		e := sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name)
		if near := sqlerr.Nearest(name, s.Relations()); near != "" {
			e.Hint = "Perhaps you meant \"" + near + "\"."
		}
		return nil, e
	}
	if r.view != nil {
		return nil, nil
	}
	if err := s.watch.see(r.table.Schema, r.table.Name); err != nil {
		return nil, err
	}
	f, err := s.facts.of(r)
	if err != nil {
		return nil, bare(err)
	}
	t := &ra.Table{Schema: r.table.Schema, Name: r.table.Name, Rows: f.rows, Kind: keyless[r.kind]}
	for i, c := range r.table.Cols {
		tc := ra.TableColumn{Name: c.Name, PGType: c.Type.String(), Computed: r.computed[i],
			NotNull: c.NotNull && r.kind != "f"}
		tc.Type, tc.NoType = kernelType(c.Type, f.shape[i], s.types.named(r.types[i]))
		tc.Type.Nullable = f.valid[i] < f.rows
		if c.Type.Name == "numeric" && !c.Type.Array && !short(r.declared[i]) {
			tc.Type.Of = s.types.numerics(r.table, c.Name)
		}
		if f.denied[i] {
			tc.Type, tc.NoType = kernels.Type{Kind: kernels.Text}, ra.NoRight
		}
		t.Cols = append(t.Cols, tc)
	}
	t.Key, t.Declared = identity(r.table, f)
	return t, nil
}

// keyless are the kinds of relations (pg_class.relkind) that cannot have a declared key.
var keyless = map[string]string{"m": "materialized view", "f": "foreign table"}
