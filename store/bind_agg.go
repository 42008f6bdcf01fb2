package store

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/sqlfront"
)

// aggregate binds an aggregate; over is the printed OVER clause of a window call, "" for a plain one.
func (b *binder) aggregate(s *scope, e *sqlfront.FuncCall, over string) val {
	l := s.level
	if over == "" {
		if l == nil {
			b.fail(e.At, sqlerr.Grouping, "aggregate functions are not allowed here")
		}
		if l.clause == "an aggregate" {
			b.fail(e.At, sqlerr.Grouping, "aggregate function calls cannot be nested")
		}
		if l.clause != "" {
			b.fail(e.At, sqlerr.Grouping, "aggregate functions are not allowed in %s", l.clause)
		}
		l.aggregates = true
		agg, windows := l.inAgg, l.windows
		l.inAgg, l.clause, l.windows = true, "an aggregate", false
		defer func() { l.inAgg, l.clause, l.windows = agg, "", windows }()
	}
	args := make([]val, len(e.Args))
	for i, x := range e.Args {
		args[i] = b.expr(s, x)
	}
	tmpl, ret, conv := b.aggregateSQL(e, args)
	filter := ""
	if e.Filter != nil {
		filter = b.boolean(b.expr(s, e.Filter), "argument of FILTER").sql
	}
	order := ""
	if e.Distinct {
		tmpl, order, filter = b.distinctAggregate(e, tmpl, conv, filter)
	}
	tail := over
	if filter != "" {
		tail = " FILTER (WHERE " + filter + ")" + over
	}
	sql := fill(tmpl, conv, Type{})
	if len(e.OrderBy) > 0 {
		order = b.aggregateOrder(s, e)
	}
	if order != "" {
		i := strings.LastIndex(sql, ")@")
		sql = sql[:i] + " ORDER BY " + order + sql[i:]
	}
	sql = strings.Replace(sql, "@", tail, 1)
	return val{sql: sql, typ: ret, at: e.At, notNull: e.Name == "count"}
}

// aggregateOrder prints the ORDER BY inside an aggregate.
func (b *binder) aggregateOrder(s *scope, e *sqlfront.FuncCall) string {
	keys := make([]string, len(e.OrderBy))
	for i, k := range e.OrderBy {
		v := b.settle(b.expr(s, k.X))
		b.sortable(v)
		keys[i] = v.collate() + direction(k, v.notNull)
	}
	return strings.Join(keys, ", ")
}

// distinctAggregate puts DISTINCT in front of the argument. Postgres sorts to find duplicates, so array_agg and
// string_agg come out sorted. SQLite has DISTINCT for one argument only: string_agg collects an array first.
func (b *binder) distinctAggregate(e *sqlfront.FuncCall, tmpl string, conv []val, filter string) (string, string, string) {
	x := conv[0]
	x.sql = x.collate()
	if e.Name == "string_agg" {
		tmpl = "rg_array_to_string('text[]', " + b.arrayAgg(tText) + "@, " + conv[1].sql + ")"
		present := "(" + x.sql + " IS NOT NULL)"
		if filter != "" {
			present += " AND " + filter
		}
		filter = present
	} else if len(conv) > 1 {
		b.refuse(e.At, "DISTINCT in an aggregate of several arguments", "Use SELECT DISTINCT in a sub-select.")
	}
	conv[0].sql = "DISTINCT " + x.sql
	if e.Name == "string_agg" || e.Name == "array_agg" {
		b.sortable(x)
		return tmpl, x.sql + " NULLS LAST", filter
	}
	return tmpl, "", filter
}

// aggregateSQL chooses the aggregate's template, its result type and converted arguments. The template ends
// its call with ")@".
func (b *binder) aggregateSQL(e *sqlfront.FuncCall, args []val) (string, Type, []val) {
	switch {
	case e.Star:
		if e.Name != "count" {
			b.fail(e.At, sqlerr.WrongObjectType, "%s(*) is not an aggregate", e.Name)
		}
		return "count(*)@", tInt8, nil
	case e.Name == "array_agg" && len(args) == 1:
		a := b.settle(args[0])
		ret := a.typ
		ret.Array, ret.Rank = true, 0
		return b.arrayAgg(a.typ) + "@", ret, []val{a}
	case len(args) == 1 && args[0].typ.isChunk() && chunkAggregates[e.Name] != "":
		t := args[0].typ
		t.Rank = 0
		return chunkAggregates[e.Name], t, args
	case len(args) == 1 && args[0].typ.isChunk() && (e.Name == "min" || e.Name == "max"):
		b.failHint(e.At, sqlerr.UndefinedFunction, "Use "+e.Name+"_agg(x), element by element.", "function %s(%s) does not exist", e.Name, args[0].typ)
	case e.Name == "count" && len(args) == 1:
		return "count($1)@", tInt8, []val{b.settle(args[0])}
	}
	sig, ambiguous := resolve(aggregates[e.Name], args)
	if sig == nil || ambiguous {
		b.noFunction(e, args)
	}
	conv := make([]val, len(args))
	for i, a := range args {
		conv[i] = b.coerce(a, sig.arg(i))
	}
	return sig.sql, sig.ret, conv
}

// arrayAgg is the aggregate that collects values of a type.
func (b *binder) arrayAgg(t Type) string { return quote("rg_array_agg "+t.String()) + "($1)" }

// windowCall binds f(…) OVER (…).
func (b *binder) windowCall(s *scope, e *sqlfront.FuncCall) val {
	l := s.level
	if e.Over == nil {
		b.fail(e.At, sqlerr.Syntax, "window function %s requires an OVER clause", e.Name)
	}
	if l != nil && l.inWindow {
		b.failHint(e.At, "42P20", "Compute the inner one in a sub-select of FROM.", "window function calls cannot be nested")
	}
	if l == nil || !l.windows || l.clause != "" {
		clause := "this clause"
		if l != nil && l.clause != "" {
			clause = l.clause
		} else if l != nil {
			clause = "HAVING"
		}
		b.fail(e.At, "42P20", "window functions are not allowed in %s", clause)
	}
	l.windowed = true
	l.windows, l.inWindow = false, true
	defer func() { l.windows, l.inWindow = true, false }()
	over := " OVER (" + b.window(s, e.Over) + ")"
	if isAggregate(e.Name) {
		if e.Distinct || len(e.OrderBy) > 0 {
			b.refuse(e.At, "DISTINCT or ORDER BY inside a window aggregate", "Aggregate in a sub-select and join it.")
		}
		return b.aggregate(s, e, over)
	}
	if !windowFunctions[e.Name] {
		b.fail(e.At, sqlerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function", e.Name)
	}
	args := b.callArgs(s, e)
	sig, ambiguous := resolve(signatures[e.Name], args)
	if sig == nil || ambiguous {
		b.noFunction(e, args)
	}
	v := b.apply(e.At, sig, args)
	tail := over
	if e.Filter != nil {
		b.fail(e.At, sqlerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions")
	}
	v.sql = strings.Replace(v.sql, "@", tail, 1)
	v.notNull = e.Name == "row_number" || e.Name == "rank" || e.Name == "dense_rank"
	return v
}

// window prints the inside of OVER; a named window is put in.
func (b *binder) window(s *scope, w *sqlfront.Window) string {
	part, order, frame := w.PartitionBy, w.OrderBy, w.Frame
	if w.Name != "" {
		def := s.level.named[w.Name]
		if def == nil {
			b.fail(w.At, sqlerr.UndefinedObject, "window \"%s\" does not exist", w.Name)
		}
		part = def.PartitionBy
		if len(order) == 0 {
			order = def.OrderBy
		}
		if frame == "" {
			frame = def.Frame
		}
	}
	var out []string
	if len(part) > 0 {
		list := make([]string, len(part))
		for i, p := range part {
			list[i] = b.settle(b.expr(s, p)).collate()
		}
		out = append(out, "PARTITION BY "+strings.Join(list, ", "))
	}
	if len(order) > 0 {
		list := make([]string, len(order))
		for i, k := range order {
			v := b.settle(b.expr(s, k.X))
			b.sortable(v)
			list[i] = v.collate() + direction(k, v.notNull)
		}
		out = append(out, "ORDER BY "+strings.Join(list, ", "))
	}
	if frame != "" {
		out = append(out, frame)
	}
	return strings.Join(out, " ")
}

// funcFrom binds a function in FROM. s sees the items to its left.
func (b *binder) funcFrom(s *scope, it *sqlfront.FuncFrom) source {
	f := it.Func
	if t := b.tableIntrinsic(it); t != nil {
		r := b.tableRelation(t)
		r.name, r.schema, r.table = f.Name, "", nil
		b.named(it.At, r, it.Alias)
		return source{sql: t.sql() + " AS " + r.alias, rels: []*relation{r}, cols: r.cols}
	}
	r := &relation{name: f.Name, alias: b.alias("t"), scalar: true}
	col := &column{name: f.Name, sql: r.alias + ".value", rel: r}
	if it.Alias.Name != "" {
		col.name = it.Alias.Name
	}
	r.cols = []*column{col}
	sql, ord := b.tableFunction(s, f, col, r.alias)
	if it.Ordinality {
		r.cols = append(r.cols, &column{name: "ordinality", typ: tInt8, sql: ord, rel: r, notNull: true})
		r.scalar = false
	}
	b.named(it.At, r, it.Alias)
	return source{sql: sql + " AS " + r.alias, rels: []*relation{r}, cols: r.cols}
}

// tableFunction prints a set-returning function, sets the type of its column and gives its ordinality.
func (b *binder) tableFunction(s *scope, f *sqlfront.FuncCall, col *column, alias string) (sql, ord string) {
	ord = alias + ".ord"
	args := make([]val, len(f.Args))
	if isSetReturning(f.Name) {
		for i, x := range f.Args {
			args[i] = b.expr(s, x)
		}
	}
	wrong := func() { b.noFunction(f, args) }
	switch f.Name {
	case "unnest":
		if len(args) != 1 {
			b.refuse(f.At, "unnest of several arrays", "Unnest each WITH ORDINALITY and join on the ordinality.")
		}
		a := args[0]
		if !a.typ.Array {
			wrong()
		}
		col.typ = a.typ.elem()
		return unnestSQL(a), ordinality(alias, a.typ)
	case "string_to_table", "regexp_split_to_table":
		if len(args) != 2 {
			wrong()
		}
		col.typ = tText
		name := map[string]string{"string_to_table": "rg_string_to_array", "regexp_split_to_table": "rg_regexp_split_to_array"}[f.Name]
		a := val{sql: name + "(" + b.coerce(args[0], tText).sql + ", " + b.coerce(args[1], tText).sql + ")", typ: arrayOf(tText)}
		return unnestSQL(a), ordinality(alias, a.typ)
	case "generate_subscripts":
		if len(args) != 2 || !args[0].typ.Array {
			wrong()
		}
		col.typ, col.notNull = tInt4, true
		return "rg_series(1, rg_array_length(" + args[0].sql + ", " + b.coerce(args[1], tInt4).sql + "), 1)", ord
	case "generate_series":
		return b.series(f, args, col, alias)
	}
	// any other function yields one row
	v := b.call(s, f)
	col.typ = v.typ
	return "rg_once(" + v.sql + ")", ord
}

func (b *binder) series(f *sqlfront.FuncCall, args []val, col *column, alias string) (sql, ord string) {
	if len(args) != 2 && len(args) != 3 {
		b.noFunction(f, args)
	}
	t := b.commonType(args, "generate_series")
	for _, a := range args {
		if a.typ.isTime() {
			b.refuse(f.At, "generate_series over dates", "Use a date plus an integer: SELECT d + i FROM generate_series(0, 9) AS g(i).")
		}
	}
	if t.is(tText) {
		t = tInt4
	}
	step := val{sql: "1", typ: tInt4, lit: &sqlfront.Literal{Kind: sqlfront.LitInt, Value: "1"}}
	if len(args) == 3 {
		step = args[2]
	}
	lo, hi := b.coerce(args[0], t), b.coerce(args[1], t)
	step = b.coerce(step, t)
	col.typ, col.notNull = t, true
	switch {
	case t.isInt():
		return "rg_series(" + lo.sql + ", " + hi.sql + ", " + step.sql + ")", alias + ".ord"
	case t.is(tNumeric):
		return "json_each(rg_nseries(" + lo.sql + ", " + hi.sql + ", " + step.sql + "))", "(" + alias + ".key + 1)"
	}
	b.noFunction(f, args)
	return "", ""
}
