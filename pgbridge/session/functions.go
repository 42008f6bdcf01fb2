package session

import (
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
)

// FunctionOn finds a function that a user has made. A name that may mean several functions is an error.
func (s *names) FunctionOn(path []string, schema, name string) (*ast.CreateFunction, error) {
	if path == nil {
		path = s.path.SearchPath()
	}
	key := strings.Join(path, "\x00") + "\x01" + schema + "\x01" + name
	if f, ok := s.funcs[key]; ok {
		return f, nil
	}
	f, err := s.findFunction(path, schema, name)
	if err == nil {
		err = s.failed()
	}
	if err != nil {
		return nil, bare(err)
	}
	s.funcs[key] = f
	return f, nil
}

// findFunction reads a function's definition. It is an error if several functions have the name, or if the name may
// also mean one of Postgres's own.
func (s *names) findFunction(path []string, schema, name string) (*ast.CreateFunction, error) {
	if what := s.path.captures()[name]; what != "" && schema == "" && slices.Equal(path, s.path.SearchPath()) {
		hint := "Write pg_catalog." + name + " or relgrad." + name + ", or that function's own schema before its name."
		if !isName(name) {
			hint = "Write OPERATOR(pg_catalog." + name + "), or take the schema off the search_path."
		}
		return nil, ambiguous(name, what, hint)
	}
	if !isName(name) {
		return nil, nil
	}
	where := notHidden(path) + inPath(path) + ", p.oid"
	if schema != "" {
		where = "n.nspname OPERATOR(pg_catalog.=) " + sqltext.Text(schema) + " ORDER BY p.oid"
	}
	rows, err := s.path.definitions(strings.ReplaceAll(`SELECT CASE WHEN p.prokind = 'f'
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
	for _, r := range rows[1:] { // one with the same arguments later in the path is never called
		if r[1] != rows[0][1] {
			return nil, ambiguous(name, rows[0][2]+" or "+r[2], "Give the function that the loss calls a name of its own.")
		}
	}
	if s.settings.current()["standard_conforming_strings"] == "off" && strings.Contains(rows[0][0], `\`) {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"function %s has a backslash in it, which is not supported in a loss while standard_conforming_strings is off",
			name).
			WithHint("SET standard_conforming_strings = on.")
	}
	return s.parseFunction(rows[0][0], name, rows[0][3]), nil
}

// isName reports whether a name is a function's, not an operator's.
func isName(name string) bool { return strings.Trim(name, "+-*/<>=~!@#%^&|`?") != "" }

// parseFunction parses a definition; nil if a loss cannot contain it. guarded names the function's own rights or
// settings; "" if it has none.
func (s *names) parseFunction(code, name, guarded string) *ast.CreateFunction {
	if f, ok := s.byCode[code]; ok {
		return f
	}
	var f *ast.CreateFunction
	if stmts, err := parse.ParseDefinition(&ast.Text{SQL: code}); err == nil && len(stmts) == 1 {
		if f, _ = stmts[0].Stmt.(*ast.CreateFunction); f != nil {
			f.Language += guarded // so that its body does not replace the call
		}
	}
	if f == nil && guarded != "" {
		f = &ast.CreateFunction{Name: name, Language: "sql" + guarded}
	}
	s.byCode[code] = f
	return f
}

// ambiguous is the error of a name whose meaning depends on the types of its arguments.
func ambiguous(name, what, where string) error {
	e := sqlerr.New(sqlerr.AmbiguousFunction, "%s may mean %s", name, what).
		WithDetail("Which one the server calls depends on the types of the arguments; a loss knows one meaning of a name.")
	return e.WithHint("%s", where)
}
