package parse

import (
	"fmt"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront/ast"
)

// selectNode converts a node that must be a SELECT.
func (c *Converter) selectNode(n *pg.Node) *ast.Select {
	s := n.GetSelectStmt()
	if s == nil {
		c.refuse(-1, "a sub-query that is no SELECT", "Put the writing statement into WITH.")
	}
	return c.subSelect(s)
}

func (c *Converter) selectStmt(s *pg.SelectStmt) *ast.Select {
	out := &ast.Select{Node: ast.Node{At: -1}, End: -1, All: s.All}
	out.With, out.Recursive = c.with(s.WithClause)
	if s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED {
		out.SetOp = map[pg.SetOperation]string{pg.SetOperation_SETOP_UNION: "union",
			pg.SetOperation_SETOP_INTERSECT: "intersect", pg.SetOperation_SETOP_EXCEPT: "except"}[s.Op]
		out.L, out.R = c.subSelect(s.Larg), c.subSelect(s.Rarg)
		out.At = out.L.At
	}
	for _, row := range s.ValuesLists {
		out.Values = append(out.Values, c.exprs(row.GetList().GetItems()))
	}
	c.distinct(out, s.DistinctClause)
	out.Targets = c.targets(s.TargetList)
	for _, f := range s.FromClause {
		out.From = append(out.From, c.fromItem(f))
	}
	out.Where = c.optExpr(s.WhereClause)
	out.GroupBy = c.groupBy(s)
	out.Having = c.optExpr(s.HavingClause)
	for _, w := range s.WindowClause {
		out.Windows = append(out.Windows, c.window(w.GetWindowDef()))
	}
	out.OrderBy = c.sortKeys(s.SortClause)
	out.Limit, out.Offset = c.limit(s), c.optExpr(s.LimitOffset)
	c.selectPosition(out, s)
	if s.IntoClause != nil {
		c.refuse(out.At, "SELECT … INTO here", "Write CREATE TABLE … AS SELECT ….")
	}
	if len(s.LockingClause) > 0 {
		c.refuse(out.At, "FOR UPDATE / FOR SHARE", "Leave it out: an embedded store has one writer.")
	}
	return out
}

// selectPosition takes the first position known: pg_query gives a SELECT none of its own.
func (c *Converter) selectPosition(out *ast.Select, s *pg.SelectStmt) {
	switch {
	case s.WithClause != nil:
		out.At = c.pos(s.WithClause.Location)
	case out.At >= 0:
	case len(out.Targets) > 0:
		out.At = out.Targets[0].At
	case len(out.Values) > 0 && len(out.Values[0]) > 0:
		out.At = out.Values[0][0].Position()
	case len(out.From) > 0:
		out.At = out.From[0].Position()
	}
}

func (c *Converter) distinct(out *ast.Select, list []*pg.Node) {
	if len(list) == 0 {
		return
	}
	if list[0].GetNode() == nil { // plain DISTINCT is a list of one empty node
		out.Distinct = true
		return
	}
	out.DistinctOn = c.exprs(list)
}

func (c *Converter) groupBy(s *pg.SelectStmt) []ast.Expr {
	for _, g := range s.GroupClause {
		if gs := g.GetGroupingSet(); gs != nil {
			c.refuse(c.pos(gs.Location), "GROUPING SETS, ROLLUP, CUBE and GROUP BY ()", "Use one SELECT for each grouping and UNION ALL.")
		}
	}
	if s.GroupDistinct {
		c.refuse(-1, "GROUP BY DISTINCT", "Use a plain GROUP BY.")
	}
	return c.exprs(s.GroupClause)
}

func (c *Converter) limit(s *pg.SelectStmt) ast.Expr {
	if s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		c.refuse(-1, "FETCH FIRST … WITH TIES", "Use LIMIT, or rank() OVER (ORDER BY …) and a WHERE.")
	}
	x := c.optExpr(s.LimitCount)
	if l, ok := x.(*ast.Literal); ok && l.Kind == ast.LitNull { // LIMIT ALL
		return nil
	}
	return x
}

func (c *Converter) targets(list []*pg.Node) []ast.Target {
	var out []ast.Target
	for _, n := range list {
		r := n.GetResTarget()
		out = append(out, ast.Target{Node: c.node(r.Location), X: c.expr(r.Val), Name: r.Name})
	}
	return out
}

func (c *Converter) with(w *pg.WithClause) ([]ast.CTE, bool) {
	if w == nil {
		return nil, false
	}
	var out []ast.CTE
	for _, n := range w.Ctes {
		e := n.GetCommonTableExpr()
		if e.SearchClause != nil || e.CycleClause != nil {
			c.refuse(c.pos(e.Location), "SEARCH and CYCLE", "Carry the path in an array column.")
		}
		cte := ast.CTE{Node: c.node(e.Location), Name: e.Ctename, Cols: Strings(e.Aliascolnames)}
		switch e.Ctematerialized {
		case pg.CTEMaterialize_CTEMaterializeAlways:
			cte.Materialized = "yes"
		case pg.CTEMaterialize_CTEMaterializeNever:
			cte.Materialized = "no"
		}
		switch q := e.Ctequery.GetNode().(type) {
		case *pg.Node_SelectStmt:
			cte.Query = c.subSelect(q.SelectStmt)
		case *pg.Node_InsertStmt:
			cte.Query = c.insert(q.InsertStmt)
		case *pg.Node_UpdateStmt:
			cte.Query = c.update(q.UpdateStmt)
		case *pg.Node_DeleteStmt:
			cte.Query = c.delete(q.DeleteStmt)
		default:
			c.refuse(cte.At, "this statement inside WITH", "Use SELECT, INSERT, UPDATE or DELETE.")
		}
		out = append(out, cte)
	}
	return out, w.Recursive
}

func (c *Converter) alias(a *pg.Alias) ast.Alias {
	if a == nil {
		return ast.Alias{}
	}
	return ast.Alias{Name: a.Aliasname, Cols: Strings(a.Colnames)}
}

func (c *Converter) tableRef(r *pg.RangeVar) *ast.TableRef {
	if r.Catalogname != "" {
		c.refuse(c.pos(r.Location), "a database name in front of a table", "Name at most a schema and a table.")
	}
	return &ast.TableRef{Node: c.node(r.Location), Schema: r.Schemaname, Name: r.Relname, Alias: c.alias(r.Alias)}
}

func (c *Converter) fromItem(n *pg.Node) ast.FromItem {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return c.tableRef(x.RangeVar)
	case *pg.Node_RangeSubselect:
		q := c.selectNode(x.RangeSubselect.Subquery)
		return &ast.SubSelect{Node: ast.Node{At: q.At}, Query: q, Lateral: x.RangeSubselect.Lateral, Alias: c.alias(x.RangeSubselect.Alias)}
	case *pg.Node_RangeFunction:
		return c.rangeFunction(x.RangeFunction)
	case *pg.Node_JoinExpr:
		return c.join(x.JoinExpr)
	case *pg.Node_RangeTableSample:
		c.tableSample(x.RangeTableSample)
	}
	c.refuse(-1, "this item of FROM", "Use a table, a sub-query, a function or a join.")
	return nil
}

// tableSample refuses TABLESAMPLE and names the view that samples in its place, by a draw that a loss can repeat.
func (c *Converter) tableSample(x *pg.RangeTableSample) {
	table, percent := "TABLE", "PERCENT"
	if r := x.Relation.GetRangeVar(); r != nil {
		table = r.Relname
	}
	if len(x.Args) == 1 {
		if k := x.Args[0].GetAConst().GetIval(); k != nil {
			percent = strconv.Itoa(int(k.Ival))
		}
	}
	c.refuse(c.pos(x.Location), "TABLESAMPLE", fmt.Sprintf("A view samples: SELECT * FROM %s WHERE random_int(100, current_seed(), ARRAY[current_step(), KEY]) < %s, "+
		"KEY being the columns of its key; at each step of training it holds other rows.", table, percent))
}

func (c *Converter) rangeFunction(r *pg.RangeFunction) ast.FromItem {
	if r.IsRowsfrom && len(r.Functions) != 1 {
		c.refuse(-1, "ROWS FROM with several functions", "Join the functions WITH ORDINALITY on their ordinality.")
	}
	items := r.Functions[0].GetList().GetItems()
	f, ok := c.expr(items[0]).(*ast.FuncCall)
	if !ok {
		c.refuse(-1, "an expression in FROM that is no function call", "Use (SELECT …) AS t.")
	}
	if len(r.Coldeflist) > 0 || len(items) > 1 && items[1].GetNode() != nil && len(items[1].GetList().GetItems()) > 0 {
		c.refuse(f.At, "a column definition list", "Use a function with a declared result.")
	}
	return &ast.FuncFrom{Node: ast.Node{At: f.At}, Func: f, Ordinality: r.Ordinality, Lateral: r.Lateral, Alias: c.alias(r.Alias)}
}

func (c *Converter) join(j *pg.JoinExpr) ast.FromItem {
	out := &ast.JoinFrom{L: c.fromItem(j.Larg), R: c.fromItem(j.Rarg), Using: Strings(j.UsingClause), Natural: j.IsNatural,
		On: c.optExpr(j.Quals), Alias: c.alias(j.Alias)}
	out.At = out.L.Position()
	switch j.Jointype {
	case pg.JoinType_JOIN_INNER:
	case pg.JoinType_JOIN_LEFT:
		out.Kind = ast.JoinLeft
	case pg.JoinType_JOIN_RIGHT:
		out.Kind = ast.JoinRight
	case pg.JoinType_JOIN_FULL:
		out.Kind = ast.JoinFull
	default:
		c.refuse(out.At, "this kind of join", "Use JOIN, LEFT, RIGHT or FULL JOIN.")
	}
	if j.JoinUsingAlias != nil {
		c.refuse(out.At, "USING (…) AS alias", "Leave the alias out.")
	}
	return out
}

func (c *Converter) window(w *pg.WindowDef) ast.Window {
	out := ast.Window{Node: c.node(w.Location), Name: w.Name, PartitionBy: c.exprs(w.PartitionClause), OrderBy: c.sortKeys(w.OrderClause)}
	if w.Refname != "" { // OVER (w …) would extend the definition; grammar gives OVER w as Name
		c.refuse(out.At, "a window that extends another window", "Write the whole window out.")
	}
	out.Frame = c.frame(w, out.At)
	return out
}

// Bits of WindowDef.frameOptions (nodes/parsenodes.h).
const (
	frameNonDefault = 1 << iota
	frameRange
	frameRows
	frameGroups
	frameBetween
	frameStartUnboundedPreceding
	frameEndUnboundedPreceding
	frameStartUnboundedFollowing
	frameEndUnboundedFollowing
	frameStartCurrentRow
	frameEndCurrentRow
	frameStartOffsetPreceding
	frameEndOffsetPreceding
	frameStartOffsetFollowing
	frameEndOffsetFollowing
	frameExcludeCurrentRow
	frameExcludeGroup
	frameExcludeTies
)

func (c *Converter) frame(w *pg.WindowDef, at ast.Pos) string {
	o := w.FrameOptions
	if o&frameNonDefault == 0 {
		return ""
	}
	var b strings.Builder
	switch {
	case o&frameRows != 0:
		b.WriteString("ROWS ")
	case o&frameGroups != 0:
		b.WriteString("GROUPS ")
	default:
		b.WriteString("RANGE ")
	}
	bound := func(up, uf, cr, op, of int32, offset *pg.Node) string {
		switch {
		case o&up != 0:
			return "UNBOUNDED PRECEDING"
		case o&uf != 0:
			return "UNBOUNDED FOLLOWING"
		case o&cr != 0:
			return "CURRENT ROW"
		}
		k := offset.GetAConst()
		if k == nil || k.GetIval() == nil {
			c.refuse(at, "a window frame whose offset is no integer literal", "Write the offset as a number.")
		}
		n := strconv.Itoa(int(k.GetIval().Ival))
		if o&op != 0 {
			return n + " PRECEDING"
		}
		return n + " FOLLOWING"
	}
	start := bound(frameStartUnboundedPreceding, frameStartUnboundedFollowing, frameStartCurrentRow, frameStartOffsetPreceding, frameStartOffsetFollowing, w.StartOffset)
	end := bound(frameEndUnboundedPreceding, frameEndUnboundedFollowing, frameEndCurrentRow, frameEndOffsetPreceding, frameEndOffsetFollowing, w.EndOffset)
	b.WriteString("BETWEEN " + start + " AND " + end)
	switch {
	case o&frameExcludeCurrentRow != 0:
		b.WriteString(" EXCLUDE CURRENT ROW")
	case o&frameExcludeGroup != 0:
		b.WriteString(" EXCLUDE GROUP")
	case o&frameExcludeTies != 0:
		b.WriteString(" EXCLUDE TIES")
	}
	return b.String()
}

// query converts SELECT, INSERT, UPDATE and DELETE; nil for anything else.
func (c *stmtConv) query(n *pg.Node) ast.Statement {
	switch x := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		if x.SelectStmt.IntoClause != nil {
			into := x.SelectStmt.IntoClause
			x.SelectStmt.IntoClause = nil
			return c.createTableAs(into, c.topSelect(x.SelectStmt), false, false)
		}
		return c.topSelect(x.SelectStmt)
	case *pg.Node_InsertStmt:
		s := c.insert(x.InsertStmt)
		s.Node = c.here()
		return s
	case *pg.Node_UpdateStmt:
		s := c.update(x.UpdateStmt)
		s.Node = c.here()
		return s
	case *pg.Node_DeleteStmt:
		s := c.delete(x.DeleteStmt)
		s.Node = c.here()
		return s
	}
	return nil
}

func (c *stmtConv) topSelect(s *pg.SelectStmt) *ast.Select {
	out := c.selectStmt(s)
	out.Node, out.End = c.here(), c.pos(int32(c.to))
	return out
}

func (c *Converter) insert(s *pg.InsertStmt) *ast.Insert {
	out := &ast.Insert{Node: c.node(s.Relation.Location), Schema: s.Relation.Schemaname, Name: s.Relation.Relname, Alias: s.Relation.Alias.GetAliasname()}
	with, recursive := c.with(s.WithClause)
	for _, n := range s.Cols {
		r := n.GetResTarget()
		if len(r.Indirection) > 0 {
			c.refuse(c.pos(r.Location), "inserting into a part of a column", "Insert the whole value.")
		}
		out.Cols = append(out.Cols, r.Name)
	}
	if s.SelectStmt != nil {
		out.Query = c.selectNode(s.SelectStmt)
	}
	switch {
	case !recursive:
		out.With = with
	case out.Query != nil && !out.Query.Recursive && len(out.Query.With) == 0:
		out.Query.With, out.Query.Recursive = with, true // the same meaning
	default:
		c.refuse(out.At, "WITH RECURSIVE in front of this INSERT", "Put the WITH inside: INSERT INTO t WITH RECURSIVE … SELECT ….")
	}
	switch s.Override {
	case pg.OverridingKind_OVERRIDING_SYSTEM_VALUE:
		out.Overriding = true
	case pg.OverridingKind_OVERRIDING_USER_VALUE:
		c.refuse(out.At, "OVERRIDING USER VALUE", "Leave the identity column out of the column list.")
	}
	if s.OnConflictClause != nil {
		out.OnConflict = c.onConflict(s.OnConflictClause)
	}
	out.Returning = c.targets(s.ReturningList)
	return out
}

func (c *Converter) onConflict(o *pg.OnConflictClause) *ast.OnConflict {
	out := &ast.OnConflict{Where: c.optExpr(o.WhereClause)}
	if i := o.Infer; i != nil {
		if i.Conname != "" || i.WhereClause != nil {
			c.refuse(c.pos(o.Location), "ON CONFLICT with a constraint name or a predicate", "Name the key columns: ON CONFLICT (k).")
		}
		for _, n := range i.IndexElems {
			e := n.GetIndexElem()
			if e.Name == "" {
				c.refuse(c.pos(o.Location), "ON CONFLICT on an expression", "Name key columns.")
			}
			out.Cols = append(out.Cols, e.Name)
		}
	}
	if o.Action == pg.OnConflictAction_ONCONFLICT_UPDATE {
		out.Set = c.assigns(o.TargetList)
	}
	return out
}

// assigns converts SET lists; (a, b) = (x, y) becomes two assignments.
func (c *Converter) assigns(list []*pg.Node) []ast.Assign {
	var out []ast.Assign
	for _, n := range list {
		r := n.GetResTarget()
		a := ast.Assign{Node: c.node(r.Location), Col: r.Name, Indices: c.indices(r.Indirection, c.pos(r.Location))}
		v := r.Val
		if m := v.GetMultiAssignRef(); m != nil {
			row := m.Source.GetRowExpr()
			if row == nil || len(row.Args) != int(m.Ncolumns) {
				c.fail(a.At, sqlerr.FeatureNotSupported, "Write UPDATE … SET a = s.a, b = s.b FROM (SELECT …) s.",
					"SET (…) = with anything but a row of as many expressions is not supported")
			}
			v = row.Args[m.Colno-1]
		}
		if v.GetSetToDefault() == nil {
			a.X = c.expr(v)
		}
		out = append(out, a)
	}
	return out
}

func (c *Converter) update(s *pg.UpdateStmt) *ast.Update {
	out := &ast.Update{Node: c.node(s.Relation.Location), Schema: s.Relation.Schemaname, Name: s.Relation.Relname, Alias: s.Relation.Alias.GetAliasname()}
	var recursive bool
	if out.With, recursive = c.with(s.WithClause); recursive {
		c.refuse(out.At, "WITH RECURSIVE in front of UPDATE", "Put the recursive query into FROM (WITH RECURSIVE … SELECT …) s.")
	}
	out.Set = c.assigns(s.TargetList)
	for _, f := range s.FromClause {
		out.From = append(out.From, c.fromItem(f))
	}
	out.Where = c.optExpr(s.WhereClause)
	out.Returning = c.targets(s.ReturningList)
	return out
}

func (c *Converter) delete(s *pg.DeleteStmt) *ast.Delete {
	out := &ast.Delete{Node: c.node(s.Relation.Location), Schema: s.Relation.Schemaname, Name: s.Relation.Relname, Alias: s.Relation.Alias.GetAliasname()}
	var recursive bool
	if out.With, recursive = c.with(s.WithClause); recursive {
		c.refuse(out.At, "WITH RECURSIVE in front of DELETE", "Put the recursive query into USING (WITH RECURSIVE … SELECT …) s.")
	}
	for _, f := range s.UsingClause {
		out.Using = append(out.Using, c.fromItem(f))
	}
	out.Where = c.optExpr(s.WhereClause)
	out.Returning = c.targets(s.ReturningList)
	return out
}
