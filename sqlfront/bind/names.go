package bind

import (
	"context"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/ra"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/sqlfront/print"
)

// Names of tables and views in texts, as arguments of gradient(), backward() and train().

// maxName bounds a name with schema and column in bytes, quotes included. A longer text is a query, which is limited
// elsewhere.
const maxName = 1 << 10

// LongNames lists the names in a text that are longer than an identifier can be.
func LongNames(sql string) []string {
	run, longest := 0, 0
	for i := range len(sql) {
		if c := sql[i]; parse.IsBlank(c) || strings.IndexByte("(),;'", c) >= 0 {
			run = 0
		}
		run++
		longest = max(longest, run)
	}
	if longest <= parse.MaxIdentifier { // nearly always
		return nil
	}
	var out []string
	for t := parse.Lex(sql, 0); t.Kind != parse.TokEOF && t.Kind != parse.TokUnfinished; t = parse.Lex(sql, t.End) {
		if t.Kind == parse.TokIdent && t.End-t.At > parse.MaxIdentifier {
			out = append(out, parse.LowerASCII(sql[t.At:t.End]))
		}
		if t.Kind == parse.TokQuoted && sql[t.At] == '"' && t.End-t.At > parse.MaxIdentifier+2 {
			out = append(out, strings.ReplaceAll(sql[t.At+1:t.End-1], `""`, `"`))
		}
	}
	return out
}

// nameParts splits a name of up to three identifiers with dots between them. As for Postgres's regclass, any word is an
// identifier, even one that is a keyword in queries.
func nameParts(s string) ([]string, bool) {
	if len(s) > maxName {
		return nil, false
	}
	var out []string
	for at := 0; ; {
		t := parse.Lex(s, at)
		if t.Kind != parse.TokIdent && (t.Kind != parse.TokQuoted || t.Word == "" || s[t.At] != '"') {
			return nil, false
		}
		out = append(out, t.Word)
		switch dot := parse.Lex(s, t.End); {
		case dot.Kind == parse.TokEOF:
			return out, len(out) <= 3
		case !dot.Is("."):
			return nil, false
		default:
			at = dot.End
		}
	}
}

// splitName splits a name into schema, if any, and identifier, each perhaps quoted.
func splitName(s string) (schema, name string, ok bool) {
	switch n, ok := nameParts(s); {
	case !ok || len(n) > 2:
		return "", "", false
	case len(n) == 2:
		return n[0], n[1], true
	default:
		return "", n[0], true
	}
}

// paramTable finds the table that a parameter names: table, schema.table, table.column or schema.table.column.
func paramTable(ctx context.Context, cat Catalog, n []string) (ParamRef, *ra.Table, error) {
	var refs []ParamRef
	switch len(n) {
	case 1:
		refs = []ParamRef{{Table: n[0]}}
	case 2:
		refs = []ParamRef{{Schema: n[0], Table: n[1]}, {Table: n[0], Column: n[1]}}
	default:
		refs = []ParamRef{{Schema: n[0], Table: n[1], Column: n[2]}}
	}
	for _, ref := range refs {
		if t, err := cat.Table(ctx, nil, ref.Schema, ref.Table); t != nil || err != nil {
			return ref, t, err
		}
	}
	return refs[0], nil, nil
}

// noParam is the error of a parameter that names no table.
func noParam(ctx context.Context, cat Catalog, s string, ref ParamRef) error {
	if v, err := cat.View(ctx, nil, ref.Schema, ref.Table); err == nil && v != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "parameter %q is a view, not a table", s).
			WithHint("Name the tables that it reads: only what is stored can be trained.")
	}
	e := sqlerr.New(sqlerr.UndefinedTable, "parameter %q does not exist", s)
	switch n := sqlerr.Nearest(s, cat.Names(ctx)); {
	case n == "":
	case print.QualifiedName("", n) == n, strings.Contains(n, "."):
		e = e.WithHint("Perhaps you meant %q.", n)
	default: // it needs quotes
		e = e.WithHint("Perhaps you meant '%s': a name with capitals or spaces is quoted.", print.QualifiedName("", n))
	}
	return e
}
