package sqlfront

import (
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/ra"
)

// Dates, times and json are texts in the algebra, in the form that is stored. Where they meet a literal it must be
// brought into that form, and where two types meet, into one.

const (
	pgDate      = "date"
	pgTimestamp = "timestamp without time zone"
)

// declared is the Postgres type of a text expression that is kept as it is stored: of a column, or of what chooses
// among columns. "" for anything else.
func (s *scope) declared(x *kernels.Expr) string {
	switch {
	case x.Type.Kind != kernels.Text || x.IsConst():
		return ""
	case x.IsCol:
		return columnType(s.inputs[x.Col.Input].node, x.Col.ID)
	}
	switch x.Def.Name {
	case "case", "coalesce", "greatest", "least", "nullif":
		for _, a := range x.Args {
			if t := s.declared(a); t != "" {
				return t
			}
		}
	}
	return ""
}

// columnType follows a column to where it is stored.
func columnType(n *ra.Node, id ra.ColumnID) string {
	i := n.Index(id)
	switch n.Op {
	case ra.Scan:
		if t := n.TableCols[i]; t != ra.RowID {
			return n.Table.Cols[t].PGType
		}
	case ra.Gradient:
		if i < len(n.TableCols) && n.TableCols[i] != ra.RowID {
			return n.Table.Cols[n.TableCols[i]].PGType
		}
	case ra.Opaque:
		if q := n.Query.(*OpaqueQuery); i < len(q.Types) {
			return q.Types[i]
		}
	case ra.Select, ra.Join:
		sub := &scope{}
		for _, in := range n.Inputs {
			sub.inputs = append(sub.inputs, &relation{node: in})
		}
		return sub.declared(n.Out[i])
	case ra.Aggregate:
		if i < len(n.Group) {
			return columnType(n.Inputs[0], n.Group[i])
		}
		if a := n.Aggs[i-len(n.Group)]; a.Fn == ra.Min || a.Fn == ra.Max {
			return columnType(n.Inputs[0], a.Arg)
		}
	case ra.Union:
		for _, in := range n.Inputs {
			if t := columnType(in, in.Cols[i].ID); t != "" {
				return t
			}
		}
	case ra.SemiJoin, ra.AntiJoin:
		return columnType(n.Inputs[0], n.Inputs[0].Cols[i].ID)
	}
	return ""
}

// oneType gives texts that meet one form: literals that of the column beside them, dates that of timestamps.
func (s *scope) oneType(args []*kernels.Expr, at Tree) error {
	want := ""
	for _, a := range args {
		t := s.declared(a)
		switch {
		case t == "" || t == want || t == pgDate && want == pgTimestamp:
		case want == "" || want == pgDate && t == pgTimestamp:
			want = t
		default:
			return s.f.fail(at, sqlerr.FeatureNotSupported, "%s and %s meet, which is not supported in a loss", want, t).
				WithHint("Compare them in a sub-query that reads no parameter.")
		}
	}
	if want == "" || want == "text" {
		return nil
	}
	for i, a := range args {
		switch {
		case a.Type.Kind != kernels.Text || a.IsConst() && a.Const.Null:
		case a.IsConst():
			text, err := s.b.cat.Literal(want, a.Const.T)
			if err != nil {
				return s.f.at(err, at)
			}
			args[i] = kernels.Const(kernels.TextValue(text))
		case s.declared(a) == pgDate && want == pgTimestamp:
			args[i] = kernels.Build("textcat", a, kernels.Const(kernels.TextValue(" 00:00:00")))
		}
	}
	return nil
}
