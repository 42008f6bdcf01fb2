package psql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// listFunctions is \df.
func listFunctions(r *Runner, d *described) error {
	res := texts("Schema", "Name", "Result data type", "Argument data types", "Type")
	if d.plus {
		res.Cols = append(res.Cols, script.Col{Name: "Volatility", Type: "text"}, script.Col{Name: "Language", Type: "text"},
			script.Col{Name: "Source code", Type: "text"}, script.Col{Name: "Description", Type: "text"})
	}
	add := func(schema, name string, row ...any) {
		if d.matches(schema, name, slices.Contains(d.path, schema)) {
			res.Rows = append(res.Rows, append([]any{schema, name}, row...)[:len(res.Cols)])
		}
	}
	for _, f := range d.Functions {
		kind := "func"
		if f.Procedure {
			kind = "proc"
		}
		add(f.Schema, f.Name, resultText(f), paramsText(f.Params, f.Procedure), kind, f.Volatility, f.Language, f.Body, "")
	}
	for _, f := range relgrad.Surface {
		kind := "func"
		if f.Procedure {
			kind = "proc"
		}
		add("relgrad", f.Name, f.Result, f.Args, kind, "", "internal", "", f.Doc)
	}
	for _, k := range kernels.All() {
		if !k.Internal {
			add("relgrad", k.Name, "", k.Args, "kernel", "", "internal", "", k.Doc)
		}
	}
	for _, a := range kernels.Aggregates() {
		if a.Instead != "" || slices.Contains([]string{"max_agg", "min_agg", "product", "vector_agg"}, a.Name) {
			add("relgrad", a.Name, "", a.Args, "agg", "", "internal", "", a.Doc) // Postgres has the others
		}
	}
	slices.SortStableFunc(res.Rows, func(a, b []any) int {
		if c := strings.Compare(a[0].(string), b[0].(string)); c != 0 {
			return c
		}
		return strings.Compare(a[1].(string), b[1].(string))
	})
	return printSheet(r, "List of functions", res, nil)
}

// resultText is a function's result type.
func resultText(f catalog.Function) string {
	switch {
	case len(f.Table) > 0:
		cols := lists.Map(f.Table, func(c ast.FuncParam) string { return c.Name + " " + typeText(c.Type) })
		return "TABLE(" + strings.Join(cols, ", ") + ")"
	case f.Procedure:
		return ""
	case f.Returns == nil:
		return "void"
	case f.SetOf:
		return "SETOF " + typeText(*f.Returns)
	}
	return typeText(*f.Returns)
}

func typeText(t ast.TypeName) string { return catalog.Type{Name: t.Name, Array: t.Dims > 0}.String() }

// paramsText lists parameters; a procedure's show their mode, as psql does.
func paramsText(params []ast.FuncParam, procedure bool) string {
	var out []string
	for _, p := range params {
		text := strings.TrimSpace(p.Name + " " + typeText(p.Type))
		if procedure || p.Mode != "in" && p.Mode != "" {
			text = strings.ToUpper(p.Mode) + " " + text
		}
		if p.Default != nil {
			text += " DEFAULT " + defaultText(p.Default)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// defaultText prints a parameter's default; only constants have a short form.
func defaultText(x ast.Expr) string {
	l, ok := x.(*ast.Literal)
	switch {
	case !ok:
		return "…"
	case l.Kind == ast.LitString:
		return quoteLiteral(l.Value)
	case l.Kind == ast.LitNull:
		return "NULL"
	}
	return l.Value
}

const manual = "https://github.com/relgrad/relgrad/blob/main/docs/"

// sqlHelp is \h [name].
func sqlHelp(r *Runner, _ context.Context, _ *scanner, args []string) error {
	name := strings.ToLower(strings.TrimSuffix(strings.Join(args, " "), ";"))
	if name == "" {
		_, err := fmt.Fprintf(r.stdout, `SQL is PostgreSQL's:        https://www.postgresql.org/docs/15/sql-commands.html
Gradients and training:     %[1]straining.md
Functions in a loss:        %[1]skernels.md
Errors:                     %[1]serrors.md
The command and the shell:  %[1]scommands.md
\h NAME tells what a function of relgrad computes, \df relgrad.* lists them, \? lists the backslash commands.
`, manual)
		return err
	}
	names := []string{}
	for _, f := range relgrad.Surface {
		if f.Name == name {
			page := "training.md"
			switch {
			case f.Name == "file_table":
				page = "interop.md"
			case f.Client:
				page = "delta.md"
			}
			_, err := fmt.Fprintf(r.stdout, "%s(%s)\n%s\nManual: %s%s\n", f.Name, f.Args, f.Doc, manual, page)
			return err
		}
		names = append(names, f.Name)
	}
	if k := kernels.Find(name); k != nil {
		_, err := fmt.Fprintf(r.stdout, "%s(%s)\n%s\nManual: %skernels.md\n", k.Name, k.Args, k.Doc, manual)
		return err
	}
	for _, a := range kernels.Aggregates() {
		these := strings.Split(a.Name, ", ")
		if names = append(names, these...); slices.Contains(these, name) {
			doc := a.Doc
			if a.Instead != "" {
				doc += " A metric: no part of a loss, which takes " + a.Instead + "."
			}
			_, err := fmt.Fprintf(r.stdout, "%s(%s)\n%s\nManual: %skernels.md\n", name, a.Args, doc, manual)
			return err
		}
	}
	for _, k := range kernels.All() {
		if !k.Internal {
			names = append(names, k.Name)
		}
	}
	hint := "SQL is PostgreSQL's: https://www.postgresql.org/docs/15/sql-commands.html"
	if near := sqlerr.Nearest(name, names); near != "" {
		hint = "Perhaps you meant \\h " + near + "."
	}
	return r.fail(sqlerr.UndefinedObject, hint, "no help available for \"%s\"", strings.Join(args, " "))
}
