package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/pgbridge/session/citus"
)

// Distribute makes a table lie at servers, by the hash of a column: it becomes a partitioned table of the same name,
// whose partitions are tables of its columns there; its rows go to them, in the transaction. Views that read it read
// the new one. names are the servers; none: all that the role has a user mapping for, or where the database has Citus,
// what Citus does. Tables that are made at servers stay when the transaction is undone, without rows; one that is there
// already is taken if it has none.
func (s *servers) Distribute(ctx context.Context, what, by string, names []string) error {
	if names == nil {
		if there, err := s.hasCitus(); err != nil {
			return err
		} else if there {
			return s.move(ctx, &storedTable{}, []string{strings.NewReplacer("$1", sqltext.Text(what), "$2",
				sqltext.Text(by)).Replace(citus.Distribute)})
		}
	}
	t, err := s.stored(what, "r")
	if err != nil {
		return err
	}
	if err := t.mayLieBy(by); err != nil {
		return err
	}
	if err := s.batched(t); err != nil {
		return err
	}
	if names == nil {
		if names, err = s.mapped(); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := s.make(ctx, name, t); err != nil {
			return err
		}
	}
	return s.move(ctx, t, t.statements(by, names))
}

// move runs the statements that put a table in another one's place. All rows must go over.
func (s *servers) move(ctx context.Context, t *storedTable, statements []string) error {
	defer s.forget()
	for _, sql := range statements {
		done, err := s.result(ctx, sql)
		if err != nil {
			return bare(err)
		}
		if strings.HasPrefix(sql, "INSERT") && done.Count != t.rows {
			return sqlerr.New(sqlerr.SerializationFailure, "%d of %d rows of table \"%s\" arrive", done.Count, t.rows, t.name).
				WithDetail("A trigger or a policy is in the way, or rows have changed meanwhile.")
		}
	}
	return nil
}

// nodes are the worker nodes of Citus.
func (s *servers) nodes() (names []string, err error) {
	if there, err := s.hasCitus(); err != nil || !there {
		return nil, err
	}
	rows, err := s.texts(citus.Nodes)
	for _, r := range rows {
		names = append(names, r[0])
	}
	return names, bare(err)
}

// mapped are the servers of postgres_fdw that the role has a user mapping for.
func (s *servers) mapped() (names []string, err error) {
	rows, err := s.texts("SELECT s.srvname FROM pg_catalog.pg_foreign_server s JOIN " +
		"pg_catalog.pg_foreign_data_wrapper w ON w.oid OPERATOR(pg_catalog.=) s.srvfdw AND w.fdwname " +
		"OPERATOR(pg_catalog.=) 'postgres_fdw' WHERE EXISTS (" +
		"SELECT FROM pg_catalog.pg_user_mappings m WHERE m.srvid OPERATOR(pg_catalog.=) s.oid AND (m.umuser " +
		"OPERATOR(pg_catalog.=) 0 OR m.usename OPERATOR(pg_catalog.=) current_user)) ORDER BY 1")
	if err != nil {
		return nil, bare(err)
	}
	for _, r := range rows {
		names = append(names, r[0])
	}
	if names == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "there is no server with a user mapping of yours").
			WithHint("CREATE SERVER s1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '…', dbname '…'); CREATE USER " +
				"MAPPING FOR CURRENT_USER SERVER s1 OPTIONS (user '…', password '…').")
	}
	return names, nil
}

// storedTable is a table that is to lie at servers.
type storedTable struct {
	schema, name string
	owner        string // quoted; "" if it is the role
	columns      []storedColumn
	key          []string
	views        [][2]string // those that read it: their names and texts
	grants       [][2]string // the right, and to whom
	rows         int64
	batch        string // how many rows go to a server at once, as an option; "": postgres_fdw's default
}

type storedColumn struct{ name, definition, otherwise string }

// why lists what keeps a table from moving to servers, or back, as SQL of pg_class c; the text says what is in the way.
var why = []struct{ cond, text string }{
	{"NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')", "you are not its owner"},
	{"c.relpersistence OPERATOR(pg_catalog.=) 't'", "it is a temporary table"},
	{"c.relrowsecurity", "it has row-level security"},
	{"EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid OPERATOR(pg_catalog.=) i.inhrelid OR c.oid " +
		"OPERATOR(pg_catalog.=) i.inhparent AND c.relkind OPERATOR(pg_catalog.<>) 'p')",
		"it inherits, or is inherited from"},
	{"EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND NOT " +
		"g.tgisinternal)", "it has a trigger"},
	{"EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.contype OPERATOR(pg_catalog.=) 'f' AND c.oid " +
		"OPERATOR(pg_catalog.=) ANY (ARRAY[k.conrelid, k.confrelid]))", "it has a foreign key, or is referred to by one"},
	{"EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.contype OPERATOR(pg_catalog.=) ANY (ARRAY['c', 'u', " +
		"'x']::pg_catalog.\"char\"[]) AND c.oid OPERATOR(pg_catalog.=) k.conrelid)",
		"it has a constraint that is no primary key"},
	{"EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND NOT " +
		"a.attisdropped AND pg_catalog.concat(a.attidentity, a.attgenerated) OPERATOR(pg_catalog.<>) '')",
		"it has a column that is generated"},
	{"EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid OPERATOR(pg_catalog.=) d.objid " +
		"AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass JOIN pg_catalog.pg_class v " +
		"ON v.oid OPERATOR(pg_catalog.=) r.ev_class WHERE d.refobjid OPERATOR(pg_catalog.=) c.oid AND v.relkind " +
		"OPERATOR(pg_catalog.<>) 'v')", "a materialized view or a rule reads it"},
}

// batched sets how many rows go to a server at once: some hundred, or fewer long ones. By itself postgres_fdw sends one
// by one; versions before 14 do only that.
func (s *servers) batched(t *storedTable) error {
	const most, bytes = 500, 4 << 20
	full := sqltext.Name(t.schema, t.name)
	rows, err := s.texts("SELECT pg_catalog.count(*), pg_catalog.pg_total_relation_size(" + sqltext.Text(full) +
		"), pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 140000 FROM " + full)
	if err != nil {
		return bare(err)
	}
	t.rows, _ = strconv.ParseInt(rows[0][0], 10, 64)
	size, _ := strconv.ParseInt(rows[0][1], 10, 64)
	if rows[0][2] == "true" {
		t.batch = fmt.Sprintf(", batch_size '%d'", max(1, min(most, bytes*max(t.rows, 1)/max(size, 1))))
	}
	return nil
}

// kinds are the relations (pg_class.relkind) that move.
var kinds = map[string]string{"r": "ordinary table", "p": "partitioned table"}

// stored reads what a table of a kind is made of.
func (s *servers) stored(what, kind string) (*storedTable, error) {
	oid := sqltext.Text(what) + "::pg_catalog.regclass"
	items := []string{"n.nspname::pg_catalog.text", "c.relname::pg_catalog.text", "CASE WHEN pg_catalog.pg_get_userbyid(" +
		"c.relowner) OPERATOR(pg_catalog.<>) current_user THEN pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(" +
		"c.relowner)) END", "c.relkind::pg_catalog.text"}
	for _, w := range why {
		items = append(items, w.cond)
	}
	rows, err := s.texts("SELECT " + strings.Join(items, ", ") + " FROM pg_catalog.pg_class c JOIN " +
		"pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace WHERE c.oid OPERATOR(pg_catalog.=) " + oid)
	if err != nil {
		return nil, bare(err)
	}
	t := &storedTable{schema: rows[0][0], name: rows[0][1], owner: rows[0][2]}
	cannot := func(why string) error {
		do := map[string]string{"r": "lie at other servers", "p": "come back from other servers"}[kind]
		return sqlerr.New(sqlerr.WrongObjectType, "table \"%s\" cannot %s: %s", t.name, do, why)
	}
	if rows[0][3] != kind {
		return nil, cannot("it is no " + kinds[kind])
	}
	for i, w := range why {
		if rows[0][4+i] == "true" {
			return nil, cannot(w.text)
		}
	}
	for _, read := range []struct {
		sql string
		add func(r []string)
	}{
		{columnsOf(oid), func(r []string) { t.columns = append(t.columns, storedColumn{r[0], r[1], r[2]}) }},
		{"SELECT DISTINCT pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(v.relname), " +
			"CASE WHEN v.reloptions IS NOT NULL THEN pg_catalog.concat(' WITH (', pg_catalog.array_to_string(v.reloptions, " +
			"', '), ')') END), pg_catalog.pg_get_viewdef(v.oid) FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON " +
			"r.oid OPERATOR(pg_catalog.=) d.objid AND d.classid OPERATOR(pg_catalog.=) " +
			"'pg_catalog.pg_rewrite'::pg_catalog.regclass JOIN pg_catalog.pg_class v ON v.oid " +
			"OPERATOR(pg_catalog.=) r.ev_class JOIN " +
			"pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) v.relnamespace WHERE d.refobjid " +
			"OPERATOR(pg_catalog.=) " + oid + " ORDER BY 1",
			func(r []string) { t.views = append(t.views, [2]string{r[0], strings.TrimSuffix(r[1], ";")}) }},
		{"SELECT x.privilege_type, CASE WHEN x.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(" +
			"pg_catalog.pg_get_userbyid(x.grantee)) END, CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' END " +
			"FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) x WHERE c.oid OPERATOR(pg_catalog.=) " + oid +
			" AND x.grantee OPERATOR(pg_catalog.<>) c.relowner",
			func(r []string) { t.grants = append(t.grants, [2]string{r[0], r[1] + r[2]}) }},
	} {
		rows, err := s.texts(read.sql)
		if err != nil {
			return nil, bare(err)
		}
		for _, r := range rows {
			read.add(r)
		}
	}
	t.key, err = s.names.facts.keyOf(catalog.Part{Schema: t.schema, Name: t.name})
	return t, err
}

// mayLieBy refuses a column by whose hash a table cannot be spread.
func (t *storedTable) mayLieBy(by string) error {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	if !slices.Contains(names, by) {
		e := sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", by, t.name)
		if near := sqlerr.Nearest(by, names); near != "" {
			e.Hint = "Perhaps you meant \"" + near + "\"."
		}
		return e
	}
	if t.key != nil && !slices.Contains(t.key, by) {
		return sqlerr.New(sqlerr.InvalidParameter, "\"%s\" is not in the primary key of \"%s\", (%s)", by, t.name,
			strings.Join(t.key, ", ")).WithDetail("Servers keep a key each for its own rows, so equal keys must lie at one.")
	}
	return nil
}

// definitions are the columns for CREATE TABLE, with the primary key, which a partitioned table does not have, or with
// defaults, which need what may not be at a server.
func (t *storedTable) definitions(keyed, defaults bool) string {
	var out []string
	for _, c := range t.columns {
		text := c.definition
		if c.otherwise != "" && defaults {
			text += " DEFAULT " + c.otherwise
		}
		out = append(out, text)
	}
	if keyed && t.key != nil {
		var key []string
		for _, k := range t.key {
			key = append(key, sqltext.Ident(k))
		}
		out = append(out, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	return strings.Join(out, ", ")
}

// columnsOf is a query of the columns of a table: the name, the definition, the default.
func columnsOf(oid string) string {
	return "SELECT a.attname, pg_catalog.concat(pg_catalog.quote_ident(a.attname), ' ', pg_catalog.format_type(" +
		"a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' END), pg_catalog.pg_get_expr(d.adbin, " +
		"d.adrelid) FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid " +
		"OPERATOR(pg_catalog.=) a.attrelid AND d.adnum OPERATOR(pg_catalog.=) a.attnum WHERE a.attrelid " +
		"OPERATOR(pg_catalog.=) " + oid + " AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped ORDER BY a.attnum"
}

// print are the columns and the primary key, as texts.
func (t *storedTable) print() (columns, key string) {
	var cols []string
	for _, c := range t.columns {
		cols = append(cols, c.definition)
	}
	return strings.Join(cols, ", "), strings.Join(t.key, ", ")
}

// at describes the columns and the primary key of a table of its name at a server.
func (t *storedTable) at(s *servers, server string) (*storedTable, error) {
	out := &storedTable{}
	rows, err := s.ask(server, columnsOf(sqltext.Text(sqltext.Name(t.schema, t.name))+"::pg_catalog.regclass"))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		out.columns = append(out.columns, storedColumn{r[0], r[1], r[2]})
	}
	out.key, err = s.names.facts.keyOf(catalog.Part{Server: server, Schema: t.schema, Name: t.name})
	return out, err
}

// make makes the table at a server.
func (s *servers) make(ctx context.Context, name string, t *storedTable) error {
	if err := s.Connect(ctx, name); err != nil {
		return err
	}
	full := sqltext.Name(t.schema, t.name)
	rows, err := s.ask(name, "SELECT pg_catalog.to_regclass("+sqltext.Text(full)+") IS NOT NULL")
	if err != nil {
		return err
	}
	if rows[0][0] == "true" {
		if rows, err = s.ask(name, "SELECT EXISTS (SELECT FROM "+full+")"); err != nil {
			return err
		}
		if rows[0][0] == "true" {
			return sqlerr.New("42P07", "server \"%s\" has a table %s with rows", name, full).
				WithHint("Drop or rename it there.")
		}
		there, err := t.at(s, name)
		if err != nil {
			return err
		}
		columns, key := there.print()
		if own, ownKey := t.print(); columns != own || key != ownKey {
			return sqlerr.New("42P07", "server \"%s\" has another table %s: (%s), primary key (%s)", name, full, columns,
				key).WithDetail("Here it is (%s), primary key (%s).", own, ownKey).
				WithHint("Drop or rename it there.")
		}
		return nil
	}
	inner, cancel := s.within(ctx)
	defer cancel()
	err = s.lines[name].Script(inner, "CREATE SCHEMA IF NOT EXISTS "+sqltext.Ident(t.schema)+"; CREATE TABLE "+full+
		" ("+t.definitions(true, false)+")")
	if err != nil {
		return s.at(name, inner, bare(err))
	}
	return nil
}

// Undistribute brings a table's rows back: it becomes an ordinary table of the same name, with the primary key that all
// parts have, in the transaction. The tables at servers stay, with their rows: servers commit one after the other, and
// what one had deleted would be lost if this one then failed. Citus brings its own tables back, whose shards then go.
func (s *servers) Undistribute(ctx context.Context, what string) error {
	if there, err := s.hasCitus(); err != nil {
		return err
	} else if there {
		known, err := s.texts(strings.ReplaceAll(citus.Method, "$1", sqltext.Text(what)+"::pg_catalog.regclass"))
		if err != nil {
			return bare(err)
		}
		if len(known) > 0 {
			return s.move(ctx, &storedTable{}, []string{strings.ReplaceAll(citus.Undistribute, "$1", sqltext.Text(what))})
		}
	}
	t, err := s.stored(what, "p")
	if err != nil {
		return err
	}
	r := s.names.find(nil, t.schema, t.name)
	if err := s.failed(); err != nil {
		return err
	}
	p, err := s.of(r)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.parts, func(p catalog.Part) bool { return p.Server != "" }) { // nor does one know the key
		return sqlerr.New(sqlerr.WrongObjectType, "table \"%s\" cannot come back from other servers: %s", t.name,
			"no partition lies there, one is of another foreign data wrapper, or a column has another name there")
	}
	if t.key, err = s.commonKey(p); err != nil {
		return err
	}
	full, old := sqltext.Name(t.schema, t.name), sqltext.Name(t.schema, t.name+"_distributed")
	if _, err := s.result(ctx, "LOCK TABLE "+full+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return bare(err)
	}
	if err := s.batched(t); err != nil {
		return err
	}
	return s.move(ctx, t, slices.Concat([]string{fmt.Sprintf("ALTER TABLE %s RENAME TO %s", full,
		sqltext.Ident(t.name+"_distributed")), fmt.Sprintf("CREATE TABLE %s (%s)", full, t.definitions(true, true))},
		t.moved(full, old), []string{"DROP TABLE " + old}))
}

// commonKey is the primary key that all parts of a table have; nil: they have none, or others.
func (s *servers) commonKey(p *partition) (key []string, err error) {
	for i, part := range p.parts {
		own, err := s.names.facts.keyOf(part)
		if err != nil {
			return nil, err
		}
		if i > 0 && !slices.Equal(own, key) {
			return nil, nil
		}
		key = own
	}
	return key, nil
}

// statements make the table lie at servers where there are tables for its rows.
func (t *storedTable) statements(by string, names []string) (out []string) {
	full, old := sqltext.Name(t.schema, t.name), sqltext.Name(t.schema, t.name+"_undistributed")
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("ALTER TABLE %s RENAME TO %s", full, sqltext.Ident(t.name+"_undistributed"))
	add("CREATE TABLE %s (%s) PARTITION BY HASH (%s)", full, t.definitions(false, true), sqltext.Ident(by))
	for i, name := range names {
		add("CREATE FOREIGN TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d) SERVER %s OPTIONS "+
			"(schema_name %s, table_name %s%s)", sqltext.Name(t.schema, t.name+"_"+name), full, len(names), i,
			sqltext.Ident(name), sqltext.Text(t.schema), sqltext.Text(t.name), t.batch)
	}
	return append(append(out, t.moved(full, old)...), "DROP TABLE "+old)
}

// moved fill a table with the rows of another one, in whose place it is from then on.
func (t *storedTable) moved(full, old string) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("INSERT INTO %s SELECT * FROM %s", full, old)
	for _, v := range t.views {
		add("CREATE OR REPLACE VIEW %s AS %s", v[0], v[1])
	}
	for _, g := range t.grants {
		add("GRANT %s ON TABLE %s TO %s", g[0], full, g[1])
	}
	if t.owner != "" {
		add("ALTER TABLE %s OWNER TO %s", full, t.owner)
	}
	return out
}

// partsAtQuery lists the foreign tables of the server $1 that are partitions: the table, its schema and name there.
const partsAtQuery = `SELECT pg_catalog.pg_partition_root(c.oid)::pg_catalog.regclass::pg_catalog.text,
 coalesce((SELECT o.option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) o
   WHERE o.option_name OPERATOR(pg_catalog.=) 'schema_name'), n.nspname::pg_catalog.text),
 coalesce((SELECT o.option_value FROM pg_catalog.pg_options_to_table(f.ftoptions) o
   WHERE o.option_name OPERATOR(pg_catalog.=) 'table_name'), c.relname::pg_catalog.text)
FROM pg_catalog.pg_foreign_table f JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) f.ftrelid
 JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
 JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) f.ftserver
WHERE c.relispartition AND s.srvname OPERATOR(pg_catalog.=) $1 ORDER BY 1, 2, 3`

// serverColumns are those of relgrad.servers.
var serverColumns = []string{"name", "state", "version", "table", "rows", "bytes"}

// ListServers lists the servers of postgres_fdw that the role has a user mapping for, and the nodes of Citus, one
// row for each table of which parts lie there, or one without: the state (ready, or what is wrong), the extension's
// version there, the rows and bytes by the statistics there.
func (s *servers) ListServers(ctx context.Context) (names []string, cols []*column.Column, err error) {
	servers, err := s.mapped()
	if err != nil && sqlerr.Code(err) != sqlerr.UndefinedObject {
		return nil, nil, err
	}
	nodes, err := s.nodes()
	if err != nil {
		return nil, nil, err
	}
	var rows [][]string
	for _, name := range append(servers, nodes...) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		own, err := s.listed(name)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, own...)
	}
	for i := range serverColumns {
		t := kernels.Type{Kind: kernels.Text, Nullable: true}
		if i > 3 {
			t.Kind = kernels.Int
		}
		c := column.New(t, len(rows))
		for r, row := range rows {
			v := kernels.NullOf(t)
			if row[i] != "" {
				v.Null, v.T = false, row[i]
				v.I, _ = strconv.ParseInt(row[i], 10, 64)
			}
			c.Set(r, v)
		}
		cols = append(cols, c)
	}
	return serverColumns, cols, nil
}

// listed are the rows of relgrad.servers of one server, "" for NULL.
func (s *servers) listed(name string) (out [][]string, err error) {
	query := strings.ReplaceAll(partsAtQuery, "$1", sqltext.Text(name))
	if strings.HasPrefix(name, citus.Node) {
		query = strings.ReplaceAll(citus.At, "$1", sqltext.Text(name))
	}
	parts, err := s.texts(query)
	if err != nil {
		return nil, bare(err)
	}
	items := []string{"(SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) " +
		"'relgrad')"}
	for _, p := range parts {
		of := "pg_catalog.to_regclass(" + sqltext.Text(sqltext.Name(p[1], p[2])) + ")"
		items = append(items, "(SELECT c.reltuples::pg_catalog.int8 FROM pg_catalog.pg_class c WHERE c.oid "+
			"OPERATOR(pg_catalog.=) "+of+")", "pg_catalog.pg_total_relation_size("+of+")")
	}
	there, err := s.ask(name, "SELECT "+strings.Join(items, ", "))
	state, version := "ready", ""
	switch {
	case err != nil:
		state = strings.TrimPrefix(err.Error(), "server \""+name+"\": ")
	case there[0][0] == "":
		state = "relgrad is not installed"
	default:
		version = there[0][0]
	}
	of := map[string]int{}
	for i, p := range parts {
		at, ok := of[p[0]]
		if !ok {
			at, of[p[0]] = len(out), len(out)
			out = append(out, []string{name, state, version, p[0], "", ""})
		}
		for k := 0; k < 2 && err == nil; k++ {
			n, e := strconv.ParseInt(there[0][1+2*i+k], 10, 64)
			if e != nil || n < 0 { // no such table, or it has no statistics
				continue
			}
			was, _ := strconv.ParseInt(out[at][4+k], 10, 64)
			out[at][4+k] = strconv.FormatInt(was+n, 10)
		}
	}
	if out == nil {
		out = [][]string{{name, state, version, "", "", ""}}
	}
	return out, nil
}
