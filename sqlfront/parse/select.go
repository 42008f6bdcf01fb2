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
func selectNode(c *Converter, n *pg.Node) *ast.Select {
	s := n.GetSelectStmt()
	if s == nil {
		c.refuse(-1, "a sub-query that is no SELECT", "Put the writing statement into WITH.")
	}
	return subSelect(c, s)
}

func selectStmt(c *Converter, s *pg.SelectStmt) *ast.Select {
	out := &ast.Select{Node: ast.Node{At: -1}, End: -1, All: s.All}
	out.With, out.Recursive = withClause(c, s.WithClause)
	if s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED {
		out.SetOp = map[pg.SetOperation]string{pg.SetOperation_SETOP_UNION: "union",
			pg.SetOperation_SETOP_INTERSECT: "intersect", pg.SetOperation_SETOP_EXCEPT: "except"}[s.Op]
		out.L, out.R = subSelect(c, s.Larg), subSelect(c, s.Rarg)
		out.At = out.L.At
	}
	for _, row := range s.ValuesLists {
		out.Values = append(out.Values, c.exprs(row.GetList().GetItems()))
	}
	distinctClause(c, out, s.DistinctClause)
	out.Targets = targetList(c, s.TargetList)
	for _, f := range s.FromClause {
		out.From = append(out.From, fromItem(c, f))
	}
	out.Where = c.optExpr(s.WhereClause)
	out.GroupBy = groupBy(c, s)
	out.Having = c.optExpr(s.HavingClause)
	for _, w := range s.WindowClause {
		out.Windows = append(out.Windows, windowDef(c, w.GetWindowDef()))
	}
	out.OrderBy = c.sortKeys(s.SortClause)
	out.Limit, out.Offset = limitOf(c, s), c.optExpr(s.LimitOffset)
	selectPosition(c, out, s)
	if s.IntoClause != nil {
		c.refuse(out.At, "SELECT … INTO here", "Write CREATE TABLE … AS SELECT ….")
	}
	if len(s.LockingClause) > 0 {
		c.refuse(out.At, "FOR UPDATE / FOR SHARE", "Leave it out: an embedded store has one writer.")
	}
	return out
}

// selectPosition takes the first known position inside: pg_query gives a SELECT none of its own.
func selectPosition(c *Converter, out *ast.Select, s *pg.SelectStmt) {
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

func distinctClause(c *Converter, out *ast.Select, list []*pg.Node) {
	if len(list) == 0 {
		return
	}
	if list[0].GetNode() == nil { // plain DISTINCT is a list of one empty node
		out.Distinct = true
		return
	}
	out.DistinctOn = c.exprs(list)
}

func groupBy(c *Converter, s *pg.SelectStmt) []ast.Expr {
	for _, g := range s.GroupClause {
		if gs := g.GetGroupingSet(); gs != nil {
			c.refuse(c.pos(gs.Location), "GROUPING SETS, ROLLUP, CUBE and GROUP BY ()",
				"Use one SELECT for each grouping and UNION ALL.")
		}
	}
	if s.GroupDistinct {
		c.refuse(-1, "GROUP BY DISTINCT", "Use a plain GROUP BY.")
	}
	return c.exprs(s.GroupClause)
}

func limitOf(c *Converter, s *pg.SelectStmt) ast.Expr {
	if s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		c.refuse(-1, "FETCH FIRST … WITH TIES", "Use LIMIT, or rank() OVER (ORDER BY …) and a WHERE.")
	}
	x := c.optExpr(s.LimitCount)
	if l, ok := x.(*ast.Literal); ok && l.Kind == ast.LitNull { // LIMIT ALL
		return nil
	}
	return x
}

func targetList(c *Converter, list []*pg.Node) []ast.Target {
	var out []ast.Target
	for _, n := range list {
		r := n.GetResTarget()
		out = append(out, ast.Target{Node: c.node(r.Location), X: c.expr(r.Val), Name: r.Name})
	}
	return out
}

func withClause(c *Converter, w *pg.WithClause) ([]ast.CTE, bool) {
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
			cte.Query = subSelect(c, q.SelectStmt)
		case *pg.Node_InsertStmt:
			cte.Query = insertStmt(c, q.InsertStmt)
		case *pg.Node_UpdateStmt:
			cte.Query = updateStmt(c, q.UpdateStmt)
		case *pg.Node_DeleteStmt:
			cte.Query = deleteStmt(c, q.DeleteStmt)
		default:
			c.refuse(cte.At, "this statement inside WITH", "Use SELECT, INSERT, UPDATE or DELETE.")
		}
		out = append(out, cte)
	}
	return out, w.Recursive
}

func aliasOf(c *Converter, a *pg.Alias) ast.Alias {
	if a == nil {
		return ast.Alias{}
	}
	return ast.Alias{Name: a.Aliasname, Cols: Strings(a.Colnames)}
}

func tableRef(c *Converter, r *pg.RangeVar) *ast.TableRef {
	if r.Catalogname != "" {
		c.refuse(c.pos(r.Location), "a database name in front of a table", "Name at most a schema and a table.")
	}
	return &ast.TableRef{Node: c.node(r.Location), Schema: r.Schemaname, Name: r.Relname, Only: !r.Inh,
		Alias: aliasOf(c, r.Alias)}
}

func fromItem(c *Converter, n *pg.Node) ast.FromItem {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		if f := fileTable(c, x.RangeVar); f != nil {
			return f
		}
		return tableRef(c, x.RangeVar)
	case *pg.Node_RangeSubselect:
		q := selectNode(c, x.RangeSubselect.Subquery)
		return &ast.SubSelect{Node: ast.Node{At: q.At}, Query: q, Lateral: x.RangeSubselect.Lateral,
			Alias: aliasOf(c, x.RangeSubselect.Alias)}
	case *pg.Node_RangeFunction:
		return rangeFunction(c, x.RangeFunction)
	case *pg.Node_JoinExpr:
		return joinExpr(c, x.JoinExpr)
	case *pg.Node_RangeTableSample:
		tableSample(c, x.RangeTableSample)
	}
	c.refuse(-1, "this item of FROM", "Use a table, a sub-query, a function or a join.")
	return nil
}

// tableSample refuses TABLESAMPLE and suggests a view that draws a sample, which a loss can repeat.
func tableSample(c *Converter, x *pg.RangeTableSample) {
	table, percent := "TABLE", "PERCENT"
	if r := x.Relation.GetRangeVar(); r != nil {
		table = r.Relname
	}
	if len(x.Args) == 1 {
		if k := x.Args[0].GetAConst().GetIval(); k != nil {
			percent = strconv.Itoa(int(k.Ival))
		}
	}
	c.refuse(c.pos(x.Location), "TABLESAMPLE", fmt.Sprintf(
		"A view samples: SELECT * FROM %s WHERE random_int(100, current_seed(), ARRAY[current_step(), KEY]) < %s, "+
			"KEY being the columns of its key; at each step of training it holds other rows.", table, percent))
}

func rangeFunction(c *Converter, r *pg.RangeFunction) ast.FromItem {
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
	return &ast.FuncFrom{Node: ast.Node{At: f.At}, Func: f, Ordinality: r.Ordinality, Lateral: r.Lateral,
		Alias: aliasOf(c, r.Alias)}
}

func joinExpr(c *Converter, j *pg.JoinExpr) ast.FromItem {
	out := &ast.JoinFrom{L: fromItem(c, j.Larg), R: fromItem(c, j.Rarg), Using: Strings(j.UsingClause),
		Natural: j.IsNatural, On: c.optExpr(j.Quals)}
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
	if j.Alias != nil {
		return namedJoin(out, aliasOf(c, j.Alias))
	}
	return out
}

// namedJoin is (a JOIN b) AS j, which hides a and b, as the sub-query that it means.
func namedJoin(j *ast.JoinFrom, alias ast.Alias) ast.FromItem {
	// the place of its right side, which no other join has, is the star's
	all := ast.Target{X: &ast.ColumnRef{Node: ast.Node{At: j.R.Position()}, Star: true}}
	return &ast.SubSelect{Node: j.Node, Alias: alias,
		Query: &ast.Select{Node: ast.Node{At: -1}, Targets: []ast.Target{all}, From: []ast.FromItem{j}, End: -1}}
}

func windowDef(c *Converter, w *pg.WindowDef) ast.Window {
	out := ast.Window{Node: c.node(w.Location), Name: w.Name, PartitionBy: c.exprs(w.PartitionClause),
		OrderBy: c.sortKeys(w.OrderClause), Extends: w.Refname}
	out.Frame = frameClause(c, w, out.At)
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

func frameClause(c *Converter, w *pg.WindowDef, at ast.Pos) string {
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
			c.refuse(at, "a window frame whose offset is no integer literal", "Write the offset as an integer, such as 2.")
		}
		n := strconv.Itoa(int(k.GetIval().Ival))
		if o&op != 0 {
			return n + " PRECEDING"
		}
		return n + " FOLLOWING"
	}
	start := bound(frameStartUnboundedPreceding, frameStartUnboundedFollowing, frameStartCurrentRow,
		frameStartOffsetPreceding, frameStartOffsetFollowing, w.StartOffset)
	if o&frameBetween == 0 {
		b.WriteString(start)
	} else {
		b.WriteString("BETWEEN " + start + " AND " + bound(frameEndUnboundedPreceding, frameEndUnboundedFollowing,
			frameEndCurrentRow, frameEndOffsetPreceding, frameEndOffsetFollowing, w.EndOffset))
	}
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

// queryStmt converts SELECT, INSERT, UPDATE and DELETE; nil for anything else.
func queryStmt(c *stmtConv, n *pg.Node) ast.Statement {
	switch x := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		if x.SelectStmt.IntoClause != nil {
			into := x.SelectStmt.IntoClause
			x.SelectStmt.IntoClause = nil
			return createTableAs(c, into, topSelect(c, x.SelectStmt), false, false)
		}
		return topSelect(c, x.SelectStmt)
	case *pg.Node_InsertStmt:
		s := insertStmt(c.Converter, x.InsertStmt)
		s.Node = c.here()
		return s
	case *pg.Node_UpdateStmt:
		s := updateStmt(c.Converter, x.UpdateStmt)
		s.Node = c.here()
		return s
	case *pg.Node_DeleteStmt:
		s := deleteStmt(c.Converter, x.DeleteStmt)
		s.Node = c.here()
		return s
	}
	return nil
}

func topSelect(c *stmtConv, s *pg.SelectStmt) *ast.Select {
	out := selectStmt(c.Converter, s)
	out.Node, out.End = c.here(), c.pos(int32(c.to))
	return out
}

func insertStmt(c *Converter, s *pg.InsertStmt) *ast.Insert {
	out := &ast.Insert{Node: c.node(s.Relation.Location), Schema: s.Relation.Schemaname, Name: s.Relation.Relname,
		Alias: s.Relation.Alias.GetAliasname()}
	with, recursive := withClause(c, s.WithClause)
	for _, n := range s.Cols {
		r := n.GetResTarget()
		if len(r.Indirection) > 0 {
			c.refuse(c.pos(r.Location), "inserting into a part of a column", "Insert the whole value.")
		}
		out.Cols = append(out.Cols, r.Name)
	}
	if s.SelectStmt != nil {
		out.Query = selectNode(c, s.SelectStmt)
	}
	switch {
	case !recursive:
		out.With = with
	case out.Query != nil && !out.Query.Recursive && len(out.Query.With) == 0:
		out.Query.With, out.Query.Recursive = with, true // INSERT's WITH moves to its query: the meaning is the same
	default:
		c.refuse(out.At, "WITH RECURSIVE in front of this INSERT",
			"Put the WITH inside: INSERT INTO t WITH RECURSIVE … SELECT ….")
	}
	switch s.Override {
	case pg.OverridingKind_OVERRIDING_SYSTEM_VALUE:
		out.Overriding = true
	case pg.OverridingKind_OVERRIDING_USER_VALUE:
		c.refuse(out.At, "OVERRIDING USER VALUE", "Leave the identity column out of the column list.")
	}
	if s.OnConflictClause != nil {
		out.OnConflict = onConflict(c, s.OnConflictClause)
	}
	out.Returning = targetList(c, s.ReturningList)
	return out
}

func onConflict(c *Converter, o *pg.OnConflictClause) *ast.OnConflict {
	out := &ast.OnConflict{Where: c.optExpr(o.WhereClause)}
	if i := o.Infer; i != nil {
		if i.Conname != "" || i.WhereClause != nil {
			c.refuse(c.pos(o.Location), "ON CONFLICT with a constraint name or a predicate",
				"Name the key columns: ON CONFLICT (k).")
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
		out.Set = assignments(c, o.TargetList)
	}
	return out
}

// assignments converts SET lists; (a, b) = (x, y) becomes two assignments.
func assignments(c *Converter, list []*pg.Node) []ast.Assign {
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

func updateStmt(c *Converter, s *pg.UpdateStmt) *ast.Update {
	out := &ast.Update{Node: c.node(s.Relation.Location), Schema: s.Relation.Schemaname, Name: s.Relation.Relname,
		Alias: s.Relation.Alias.GetAliasname()}
	var recursive bool
	if out.With, recursive = withClause(c, s.WithClause); recursive {
		c.refuse(out.At, "WITH RECURSIVE in front of UPDATE",
			"Put the recursive query into FROM (WITH RECURSIVE … SELECT …) s.")
	}
	out.Set = assignments(c, s.TargetList)
	for _, f := range s.FromClause {
		out.From = append(out.From, fromItem(c, f))
	}
	out.Where = c.optExpr(s.WhereClause)
	out.Returning = targetList(c, s.ReturningList)
	return out
}

func deleteStmt(c *Converter, s *pg.DeleteStmt) *ast.Delete {
	out := &ast.Delete{Node: c.node(s.Relation.Location), Schema: s.Relation.Schemaname, Name: s.Relation.Relname,
		Alias: s.Relation.Alias.GetAliasname()}
	var recursive bool
	if out.With, recursive = withClause(c, s.WithClause); recursive {
		c.refuse(out.At, "WITH RECURSIVE in front of DELETE",
			"Put the recursive query into USING (WITH RECURSIVE … SELECT …) s.")
	}
	for _, f := range s.UsingClause {
		out.Using = append(out.Using, fromItem(c, f))
	}
	out.Where = c.optExpr(s.WhereClause)
	out.Returning = targetList(c, s.ReturningList)
	return out
}
