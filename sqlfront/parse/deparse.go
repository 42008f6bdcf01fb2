package parse

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// pg_query does not print every tree as a text that means the same: (ARRAY[1, 2])[1] loses its parentheses. So its text
// is used only if parsing it gives the same tree; otherwise the user's own text is searched for.

// textOf prints a statement of pg_query that is part of src, "" where that cannot be done.
func textOf(src string, n *pg.Node) string {
	want := placeless(n)
	if sql, err := pg.Deparse(&pg.ParseResult{Stmts: []*pg.RawStmt{{Stmt: n}}}); err == nil && means(sql, want) {
		return sql
	}
	for _, sql := range groups(src, n) {
		if means(sql, want) {
			return sql
		}
	}
	return ""
}

// means reports whether a text parses as one statement with this tree, which has no positions.
func means(sql string, want proto.Message) bool {
	r, err := pg.Parse(sql)
	return err == nil && len(r.Stmts) == 1 && proto.Equal(placeless(r.Stmts[0].Stmt), want)
}

// groups are the texts in parentheses that may be n, inner ones first, and at last the whole text.
func groups(src string, n *pg.Node) []string {
	first := -1
	locations(n.ProtoReflect(), func(m protoreflect.Message, f protoreflect.FieldDescriptor) {
		if at := int(m.Get(f).Int()); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	})
	var open []int
	var spans [][2]int
	for t := Lex(src, 0); t.Kind != TokEOF && t.Kind != TokUnfinished; t = Lex(src, t.End) {
		switch src[t.At:t.End] {
		case "(":
			open = append(open, t.End)
		case ")":
			if len(open) == 0 {
				return nil
			}
			from := open[len(open)-1]
			if open = open[:len(open)-1]; from <= first && first < t.At {
				spans = append(spans, [2]int{from, t.At})
			}
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Compare(b[0], a[0]) })
	var out []string
	for _, s := range spans {
		out = append(out, strings.TrimSpace(src[s[0]:s[1]]))
	}
	return append(out, strings.TrimRight(strings.TrimSpace(src), ";"))
}

// placeless is a copy of a tree without positions.
func placeless(n *pg.Node) proto.Message {
	out := proto.Clone(n)
	locations(out.ProtoReflect(), func(m protoreflect.Message, f protoreflect.FieldDescriptor) { m.Clear(f) })
	return out
}

// locations calls f for each field of a tree that holds a position.
func locations(m protoreflect.Message, f func(protoreflect.Message, protoreflect.FieldDescriptor)) {
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case d.Name() == "location" && d.Kind() == protoreflect.Int32Kind:
			f(m, d)
		case d.Kind() != protoreflect.MessageKind:
		case d.IsList():
			for i := range v.List().Len() {
				locations(v.List().Get(i).Message(), f)
			}
		default:
			locations(v.Message(), f)
		}
		return true
	})
}
