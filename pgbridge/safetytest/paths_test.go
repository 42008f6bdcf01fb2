package safetytest

import (
	"fmt"
	"strings"
)

func literal(s string) string {
	return "E'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "'"
}

// letters makes a name out of a type's name.
func letters(r rune) rune {
	if strings.ContainsRune(" []\"", r) {
		return '_'
	}
	return r
}

// traps makes functions, aggregates and operators with the names of Postgres's and relgrad's own, for types that fit
// better. Each raises an error when it is called.
func traps(e *env) {
	e.must("CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC")
	function := func(name, args, result, value string) {
		e.must(fmt.Sprintf("CREATE FUNCTION evil.%s(%s) RETURNS %s LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "+
			"'%[1]s(%[2]s) is called'; RETURN %[4]s; END $$", name, args, result, value))
	}
	for _, op := range []struct{ sign, left, right, result, value string }{
		{"=", "name", "name", "boolean", "true"}, {"=", "oid", "oid", "boolean", "true"},
		{"=", "oid", "regclass", "boolean", "true"}, {"=", "text", "text", "boolean", "true"},
		{"=", "name", "text", "boolean", "true"}, {"=", "bigint", "integer", "boolean", "true"},
		{"=", "bigint", "bigint", "boolean", "true"}, {"=", "integer", "integer", "boolean", "true"},
		{"=", "smallint", "smallint", "boolean", "true"}, {"=", `"char"`, `"char"`, "boolean", "true"},
		{"=", "smallint", "integer", "boolean", "true"},
		{"<>", "name", "name", "boolean", "true"}, {"<>", "name", "text", "boolean", "true"},
		{"<>", "text", "text", "boolean", "true"},
		{">", "smallint", "integer", "boolean", "true"}, {"<=", "bigint", "integer", "boolean", "true"},
		{"<=", "bigint", "smallint", "boolean", "true"},
		{"||", "text", "text", "text", "$1"}, {"||", "name", "text", "text", "$2"}, {"||", "text", "name", "text", "$1"},
		{"~~", "text", "text", "boolean", "true"},
		{"+", "double precision", "double precision", "double precision", "666"},
		{"*", "double precision", "double precision", "double precision", "666"},
		{"-", "double precision", "double precision", "double precision", "666"},
		{"/", "double precision", "double precision", "double precision", "666"},
		{"^", "double precision", "double precision", "double precision", "666"},
		{"+", "double precision[]", "double precision[]", "double precision[]", "$1"},
		{"*", "double precision", "double precision[]", "double precision[]", "$2"}, {"*", "double precision[]",
			"double precision", "double precision[]", "$1"}, {"*", "bigint", "bigint", "bigint", "666"},
		{"+", "bigint", "integer", "bigint", "666"},
	} {
		name := fmt.Sprintf("op_%x_%s", op.sign, strings.Map(letters, op.left+"_"+op.right))
		function(name, op.left+", "+op.right, op.result, op.value)
		e.must(fmt.Sprintf("CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%s)", op.sign,
			op.left, op.right, name))
	}
	for _, f := range []struct{ name, args, result, value string }{
		{"format", "text, name, text", "text", "$1"}, {"format", "text, name, text, text, text, text", "text", "$1"},
		{"format", "text, text, text", "text", "$1"},
		{"array_position", "text[], text", "integer", "1"}, {"format_type", "oid, integer", "text", "'text'"},
		{"pg_get_viewdef", "oid, boolean", "text", "'SELECT 666'"},
		{"pg_get_functiondef", "oid", "text", "''"}, {"current_schemas", "boolean", "name[]", "ARRAY['evil']::name[]"},
		{"pg_my_temp_schema", "", "oid", "0::oid"},
		{"pg_has_role", "oid, text", "boolean", "true"}, {"has_table_privilege", "oid, text", "boolean", "true"},
		{"pg_table_is_visible", "oid", "boolean", "true"},
		{"set_config", "text, text, boolean", "text", "$2"}, {"current_setting", "text, boolean", "text", "$1"},
		{"nextval", "text", "bigint", "666"}, {"nextval", "regclass", "bigint", "666"},
		{"pg_try_advisory_lock", "integer, integer", "boolean", "true"},
		{"pg_advisory_unlock", "integer, integer", "boolean", "true"}, {"obj_description", "oid, name", "text", "'a'"},
		{"obj_description", "integer, name", "text", "'a'"}, {"to_regclass", "text", "regclass", "NULL"},
		{"array_dims", "double precision[]", "text", "'[1:9]'"}, {"array_dims", "real[]", "text", "'[1:9]'"},
		{"dot", "double precision[], double precision[]", "double precision", "666"},
		{"sqnorm", "double precision[]", "double precision", "666"}, {"gen_rows", "", "record", "NULL"},
		{"gradient", "text, text", "text", "$1"}, {"gen_div", "double precision, double precision", "double precision",
			"666"}, {"abs", "double precision", "double precision", "666"},
		{"coalesce_", "text", "text", "$1"}, {"row_number_", "", "bigint", "1"}, {"md5", "text", "text", "$1"},
		{"unnest_", "name[]", "name", "$1[1]"},
	} {
		function(f.name, f.args, f.result, f.value)
	}
	for _, a := range []struct{ name, typ string }{{"sum", "double precision"}, {"avg", "double precision"},
		{"sum", "double precision[]"}, {"count", "double precision"}, {"count", "double precision[]"}, {"count", "integer"},
		{"max", "bigint"}, {"max", "double precision"}, {"min", "bigint"}} {
		function("state_"+a.name, "bigint, "+a.typ, "bigint", "0")
		e.must(fmt.Sprintf("CREATE AGGREGATE evil.%s(%s) (SFUNC = evil.state_%[1]s, STYPE = bigint, INITCOND = '0')", a.name,
			a.typ))
	}
	function("state_agg", "text, text, text", "text", "$1")
	e.must("CREATE AGGREGATE evil.string_agg(text, text) (SFUNC = evil.state_agg, STYPE = text, INITCOND = '')")
	for _, typ := range []string{"text", "regclass", "int2", "float8", "name"} {
		e.must("CREATE DOMAIN evil." + typ + " AS pg_catalog." + typ + " CHECK (false)")
	}
	for _, table := range []string{"pg_class", "pg_proc", "pg_attribute", "pg_namespace", "run",
		"loss", "state", "validation", "run_id"} {
		e.must("CREATE VIEW evil." + table + " AS SELECT 1 / 0 AS oid, 1 / 0 AS run")
	}
}

// paths calls as a user with another user's schema in the search path: nothing in it may run with the caller's rights.
// Names and operators in views were resolved when the views were made. A schema before Postgres's own is an error.
func paths(e *env) {
	traps(e)
	e.must("CREATE ROLE victim LOGIN; CREATE TABLE vec (k int PRIMARY KEY, v double precision[], n double precision); " +
		"INSERT INTO vec VALUES (1, '{1,2}', 0.5), (2, '{3,4}', 1.5);" +
		"CREATE VIEW length AS SELECT sum(dot(v, v) * n) + avg(n / 2) AS loss FROM vec; " +
		"GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO victim;")
	v := e.another("user=victim")
	want := v.must("SELECT id, slope::real, shift::real FROM gradient('loss', NULL::trend)")
	vec := v.must("SELECT k, v, n FROM gradient('length', NULL::vec)")
	for _, path := range []string{"evil", "evil, public, relgrad", "pg_catalog, evil", "relgrad, pg_catalog, evil"} {
		for _, engine := range []string{"chunk", "sql"} {
			v.must("RESET search_path; SET relgrad.engine = " + engine + "; SET search_path = " + path)
			v.gives("SELECT id, slope::real, shift::real FROM relgrad.gradient('public.loss', NULL::public.trend)", want)
			v.gives("SELECT k, v, n FROM relgrad.gradient('public.length', NULL::public.vec)", vec)
			v.gives("SELECT relgrad.backward('public.length', ARRAY['public.vec'])", "40.5")
			v.gives("SELECT relgrad.explain_gradient('public.length', 'public.vec') IS NULL", "f")
			v.gives("SELECT ok FROM relgrad.check_gradient('public.loss', 'public.trend', samples => 1)", "t")
			v.gives("CALL relgrad.train('public.length', ARRAY['public.vec'], epochs => 2, lr => 1e-300)", "")
			v.gives("CALL relgrad.train('public.loss', ARRAY['public.trend'], epochs => 2, lr => 1e-300)", "")
		}
	}
	const refused = "search_path names schema \"evil\" before pg_catalog"
	v.must("SET search_path = evil, pg_catalog")
	v.fails("SELECT * FROM relgrad.gradient('public.loss', NULL::public.trend)", "55000", refused)
	v.fails("SELECT * FROM relgrad.gradient('public.loss', NULL::public.trend)", "55000", refused)
	v.fails("SELECT relgrad.backward('public.length', ARRAY['public.vec'])", "55000", refused)
	v.fails("SELECT relgrad.explain_gradient('public.length', 'public.vec')", "55000", refused)
	v.fails("SELECT * FROM relgrad.check_gradient('public.loss', 'public.trend')", "55000", refused)
	v.fails("CALL relgrad.train('public.loss', ARRAY['public.trend'])", "55000", refused)
	v.must("RESET search_path")
	v.gives("SELECT count(*), max(run) < 100 FROM relgrad.run", "16|t")
	v.Close(e.t.Context())
	e.must("DROP OWNED BY victim; DROP ROLE victim")
}

// builtin asserts that relgrad's SQL functions call nothing by a name that the search path resolves.
func builtin(e *env) {
	e.gives("SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "+
		"JOIN pg_language l ON l.oid = p.prolang WHERE n.nspname = 'relgrad' AND l.lanname <> 'c' AND p.prokind <> 'a' AND "+
		"p.prosqlbody IS NULL AND NOT coalesce('search_path=pg_catalog' = ANY (p.proconfig), false)", "0")
	e.gives("SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "+
		"WHERE n.nspname = 'relgrad' AND (p.prosecdef OR p.proacl IS NOT NULL)", "0")
}
