package bind

import (
	"encoding/json"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Uses are the names used in a SQL text of any kind. A name may refer to several things, or to none.
type Uses struct {
	Tables, Calls, Operators []QName
	Fields                   []string // names after a dot: x.f may be a call of f
	Unseen                   string   // what runs a query that is not in the text; "": nothing
}

// QName is a name with the schema written before it, or "".
type QName struct{ Schema, Name string }

// takesQuery are functions of Postgres and its extensions that run queries given as texts, or read tables given by
// name.
var takesQuery = []string{"query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "cursor_to_xml",
	"cursor_to_xmlschema", "table_to_xml", "table_to_xmlschema",
	"table_to_xml_and_xmlschema", "schema_to_xml", "schema_to_xmlschema", "schema_to_xml_and_xmlschema", "database_to_xml",
	"database_to_xmlschema", "database_to_xml_and_xmlschema",
	"ts_stat", "ts_rewrite", "crosstab", "crosstab2", "crosstab3", "crosstab4", "connectby", "xpath_table"}

// TakesQuery reports whether UsesOf looks into the arguments of a function.
func TakesQuery(name string) bool { return slices.Contains(takesQuery, name) }

// UsesOf parses statements and lists the names in them.
func UsesOf(sql string) (*Uses, error) {
	tree, err := pg.Parse(sql)
	if err != nil {
		return nil, err
	}
	u := &Uses{}
	u.walk(tree.ProtoReflect())
	return u, nil
}

// UsesOfFunction does so for the definition of a function in LANGUAGE sql or plpgsql. bound: its body was parsed when
// it was made, so that the search_path does not change what its names refer to.
func UsesOfFunction(definition string) (u *Uses, bound bool) {
	tree, err := pg.Parse(definition)
	if err != nil || len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetCreateFunctionStmt() == nil {
		return &Uses{Unseen: "its definition cannot be read"}, false
	}
	fn := tree.Stmts[0].Stmt.GetCreateFunctionStmt()
	u = &Uses{}
	u.walk(fn.ProtoReflect())
	if fn.SqlBody != nil {
		return u, true
	}
	body, language := "", ""
	for _, o := range fn.Options {
		switch d := o.GetDefElem(); d.Defname {
		case "as":
			body = d.Arg.GetList().GetItems()[0].GetString_().GetSval()
		case "language":
			language = d.Arg.GetString_().GetSval()
		}
	}
	if language == "plpgsql" {
		u.plpgsql(definition)
	} else {
		u.text(body)
	}
	return u, false
}

// text adds the names in a text.
func (u *Uses) text(sql string) {
	inner, err := UsesOf(sql)
	if err != nil {
		u.Unseen = "its body cannot be read"
		return
	}
	u.add(inner)
}

func (u *Uses) add(v *Uses) {
	u.Tables, u.Calls, u.Operators, u.Fields = append(u.Tables, v.Tables...), append(u.Calls, v.Calls...),
		append(u.Operators, v.Operators...), append(u.Fields, v.Fields...)
	if u.Unseen == "" {
		u.Unseen = v.Unseen
	}
}

// plpgsql adds the names in a body of PL/pgSQL.
func (u *Uses) plpgsql(definition string) {
	text, err := pg.ParsePlPgSqlToJSON(definition)
	var tree any
	if err == nil {
		err = json.Unmarshal([]byte(text), &tree)
	}
	if err != nil {
		u.Unseen = "its body cannot be read"
		return
	}
	u.statements(tree)
}

func (u *Uses) statements(tree any) {
	switch x := tree.(type) {
	case []any:
		for _, e := range x {
			u.statements(e)
		}
	case map[string]any:
		for key, e := range x {
			if key == "PLpgSQL_stmt_dynexecute" || key == "PLpgSQL_stmt_dynfors" || key == "dynquery" {
				u.Unseen = "it runs what EXECUTE is given"
			}
			if query, ok := e.(string); ok && key == "query" {
				u.expression(query)
			} else {
				u.statements(e)
			}
		}
	}
}

// expression adds the names in a statement, expression or assignment of PL/pgSQL.
func (u *Uses) expression(query string) {
	_, value, assigns := strings.Cut(query, "=")
	for _, sql := range []string{query, "SELECT " + query, "SELECT " + value} {
		if inner, err := UsesOf(sql); err == nil {
			u.add(inner)
			if target := strings.TrimSuffix(query[:len(query)-len(value)], "="); assigns && sql == "SELECT "+value {
				if inner, err := UsesOf("SELECT " + strings.TrimSuffix(target, ":")); err == nil { // a[f(i)] := …
					u.add(inner)
				}
			}
			return
		}
	}
	u.Unseen = "its body cannot be read"
}

// walk adds the names in a tree of pg_query.
func (u *Uses) walk(m protoreflect.Message) {
	if !m.IsValid() {
		return
	}
	switch x := m.Interface().(type) {
	case *pg.RangeVar:
		u.Tables = append(u.Tables, QName{x.Schemaname, x.Relname})
	case *pg.FuncCall:
		u.Calls = append(u.Calls, qname(parse.Strings(x.Funcname)))
		u.given(x)
	case *pg.A_Expr:
		u.operator(x.Name)
	case *pg.SortBy:
		u.operator(x.UseOp)
	case *pg.SubLink:
		u.operator(x.OperName)
	case *pg.ColumnRef:
		if names := x.Fields; len(names) > 1 {
			u.Fields = append(u.Fields, names[len(names)-1].GetString_().GetSval())
		}
	case *pg.A_Indirection:
		for _, f := range x.Indirection {
			if name := f.GetString_().GetSval(); name != "" {
				u.Fields = append(u.Fields, name)
			}
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				u.walk(v.List().Get(i).Message())
			}
		default:
			u.walk(v.Message())
		}
		return true
	})
}

func (u *Uses) operator(names []*pg.Node) {
	if len(names) > 0 {
		u.Operators = append(u.Operators, qname(parse.Strings(names)))
	}
}

// given adds the names in queries that a call gets as texts.
func (u *Uses) given(c *pg.FuncCall) {
	name := qname(parse.Strings(c.Funcname)).Name
	if !TakesQuery(name) {
		return
	}
	for _, a := range c.Args {
		for a.GetTypeCast() != nil {
			a = a.GetTypeCast().Arg
		}
		k := a.GetAConst()
		switch {
		case k == nil:
			u.Unseen = name + "() runs a query that it is given"
		case k.GetSval() == nil:
		default:
			text := k.GetSval().Sval
			if inner, err := UsesOf(text); err == nil {
				u.add(inner)
			} else if inner, err := UsesOf("TABLE " + text); err == nil {
				u.add(inner)
			}
		}
	}
	if strings.HasPrefix(name, "schema_") || strings.HasPrefix(name, "database_") || strings.HasPrefix(name, "cursor_") {
		u.Unseen = name + "() reads tables that it does not name"
	}
}

func qname(names []string) QName {
	if len(names) == 1 {
		return QName{"", names[0]}
	}
	return QName{names[len(names)-2], names[len(names)-1]}
}
