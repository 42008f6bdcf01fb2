package parse

import (
	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ParseQuery is ParseSelect for a database that can run sub-queries as text: Own is set where the trees cannot hold
// one.
func ParseQuery(t *ast.Text) (*ast.Select, error) {
	if err := CheckSize(t); err != nil {
		return nil, err
	}
	c := Converter{Text: t, Src: t.SQL, own: true}
	ps, err := c.Statements()
	if err != nil {
		return nil, err
	}
	return OnlySelect(t, 0, ps)
}

// subSelect converts a SELECT inside another one.
func subSelect(c *Converter, s *pg.SelectStmt) (out *ast.Select) {
	if !c.own {
		return selectStmt(c, s)
	}
	defer func() {
		if r := recover(); r != nil {
			ref, ok := r.(Refusal)
			if !ok || ref.Err.Code != sqlerr.FeatureNotSupported {
				panic(r)
			}
			out = ownSQL(c, s, ref)
		}
	}()
	return selectStmt(c, s)
}

// ownSQL keeps a SELECT as text. why is the construct that the trees cannot hold.
func ownSQL(c *Converter, s *pg.SelectStmt, why Refusal) *ast.Select {
	sql := textOf(c.Src, &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}})
	if sql == "" {
		panic(why)
	}
	out := &ast.Select{Node: ast.Node{At: -1}, End: -1, Own: &ast.OwnSQL{SQL: sql, Why: why.Err}}
	if why.Err.Pos >= 0 {
		out.At = ast.Pos(why.Err.Pos)
	}
	noteReads(c, s.ProtoReflect(), out.Own)
	return out
}

// noteReads lists the tables and calls below a node of pg_query.
func noteReads(c *Converter, m protoreflect.Message, own *ast.OwnSQL) {
	switch x := m.Interface().(type) {
	case *pg.RangeVar:
		own.Tables = append(own.Tables, &ast.TableRef{Node: c.node(x.Location), Schema: x.Schemaname, Name: x.Relname})
	case *pg.FuncCall:
		names := Strings(x.Funcname)
		f := &ast.FuncCall{Node: c.node(x.Location), Name: names[len(names)-1]}
		if len(names) > 1 {
			f.Schema = names[len(names)-2]
		}
		own.Calls = append(own.Calls, f)
	case *pg.RangeTableSample:
		if x.Repeatable == nil {
			e := sqlerr.At(int(c.pos(x.Location)), sqlerr.FeatureNotSupported,
				"TABLESAMPLE draws anew at every evaluation: a loss must be a function of its tables, seed and step").
				WithHint("TABLESAMPLE … REPEATABLE (seed) is one.")
			e.Text = c.Text
			panic(Refusal{e})
		}
	case *pg.InsertStmt, *pg.UpdateStmt, *pg.DeleteStmt, *pg.MergeStmt:
		e := sqlerr.New(sqlerr.FeatureNotSupported, "a writing WITH query cannot stand in a loss")
		e.Text, e.Pos = c.Text, -1
		panic(Refusal{e})
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				noteReads(c, v.List().Get(i).Message(), own)
			}
		default:
			noteReads(c, v.Message(), own)
		}
		return true
	})
}

// ParseDefinition is Parse for a server's text of a function, whose body may be unquoted SQL (SQL standard).
func ParseDefinition(t *ast.Text) ([]Parsed, error) {
	if err := CheckSize(t); err != nil {
		return nil, err
	}
	c := Converter{Text: t, Src: t.SQL, own: true}
	return c.Statements()
}

// sqlBody converts an unquoted body, RETURN x or BEGIN ATOMIC … END, to the text of a quoted one.
func sqlBody(c *Converter, n *pg.Node) string {
	if r := n.GetReturnStmt(); r != nil {
		target := &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: r.Returnval}}}
		return deparse(c, &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: &pg.SelectStmt{TargetList: []*pg.Node{target},
			LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}}})
	}
	text := ""
	for _, item := range n.GetList().GetItems() {
		if inner := item.GetList(); inner != nil {
			text += sqlBody(c, item)
		} else {
			text += deparse(c, item) + ";\n"
		}
	}
	return text
}

// deparse prints a statement of pg_query.
func deparse(c *Converter, n *pg.Node) string {
	sql := textOf("", n)
	if sql == "" {
		c.refuse(-1, "this statement of a function", "Write LANGUAGE sql AS $$ SELECT … $$.")
	}
	return sql
}
