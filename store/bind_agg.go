package store

import (
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/functions"
)

// bindAggregate binds an aggregate; over is the printed OVER clause of a window call, "" for a plain one.
func bindAggregate(b *binder, s *scope, e *ast.FuncCall, over string) val {
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
		agg, windows := l.inAgg, l.windows
		l.inAgg, l.clause, l.windows = true, "an aggregate", false
		defer func() { l.inAgg, l.clause, l.windows = agg, "", windows }()
	}
	seen := watchScopes(b, s)
	args := make([]val, len(e.Args))
	for i, x := range e.Args {
		args[i] = b.expr(s, x)
	}
	if ownsAggregate(b, e, s, seen) && over == "" {
		l.aggregates = true
	}
	tmpl, ret, conv := aggregateSQL(b, e, args)
	filter := ""
	if e.Filter != nil {
		filter = b.boolean(b.expr(s, e.Filter), "argument of FILTER").sql
	}
	order := ""
	if e.Distinct {
		tmpl, order, filter = distinctAggregate(b, e, tmpl, conv, filter)
	}
	tail := over
	if filter != "" {
		tail = " FILTER (WHERE " + filter + ")" + over
	}
	sql := fill(tmpl, conv, catalog.Type{})
	if len(e.OrderBy) > 0 {
		order = aggregateOrder(b, s, e, args)
	}
	if order != "" {
		i := strings.LastIndex(sql, ")@")
		sql = sql[:i] + " ORDER BY " + order + sql[i:]
	}
	sql = strings.ReplaceAll(sql, "@", tail)
	return val{sql: sql, typ: ret, at: e.At, notNull: e.Name == "count"}
}

// seenScopes are the scopes whose columns the arguments of an aggregate refer to.
type seenScopes struct {
	at        map[*scope]bool
	owners    map[*scope]bool // of the aggregates inside
	ungrouped map[*level]int  // how many columns outside of groups each level had before
	outer     *seenScopes
}

// watchScopes begins to note scopes.
func watchScopes(b *binder, s *scope) *seenScopes {
	seen := &seenScopes{map[*scope]bool{}, map[*scope]bool{}, map[*level]int{}, b.seen}
	for ; s != nil; s = s.up {
		if s.level != nil {
			seen.ungrouped[s.level] = len(s.level.ungrouped)
		}
	}
	b.seen = seen
	return seen
}

// ownsAggregate finds the query whose rows an aggregate is over: the innermost one to which its arguments refer. Where
// that is a query around the aggregate's own, the rules are those of the place there, and own is false.
func ownsAggregate(b *binder, e *ast.FuncCall, s *scope, seen *seenScopes) (own bool) {
	if b.seen = seen.outer; b.seen != nil {
		for at := range seen.at {
			b.seen.at[at] = true
		}
	}
	at := s
	for at != nil && !seen.at[at] {
		at = at.up
	}
	if at == nil { // it refers to nothing, or only within sub-queries of its own
		at = s
	}
	if b.seen != nil {
		b.seen.owners[at] = true
	}
	if seen.owners[at] && e.Over == nil {
		b.fail(e.At, sqlerr.Grouping, "aggregate function calls cannot be nested")
	}
	if at == s || at.level == nil {
		return true
	}
	switch l := at.level; {
	case l.clause == "an aggregate":
		b.fail(e.At, sqlerr.Grouping, "aggregate function calls cannot be nested")
	case l.clause != "":
		b.fail(e.At, sqlerr.Grouping, "aggregate functions are not allowed in %s", l.clause)
	default:
		l.aggregates = true
		l.ungrouped = l.ungrouped[:min(len(l.ungrouped), seen.ungrouped[l])]
	}
	return false
}

// aggregateOrder prints the ORDER BY inside an aggregate.
func aggregateOrder(b *binder, s *scope, e *ast.FuncCall, args []val) string {
	keys := make([]string, len(e.OrderBy))
	for i, k := range e.OrderBy {
		v := b.settle(b.expr(s, k.X))
		if e.Distinct && !slices.ContainsFunc(args, func(a val) bool { return a.sql == v.sql }) {
			b.fail(k.X.Position(), sqlerr.InvalidColumnRef,
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
		sortable(b, v)
		keys[i] = v.collate() + direction(k, v.notNull)
	}
	return strings.Join(keys, ", ")
}

// distinctAggregate puts DISTINCT in front of the argument. Postgres sorts to find duplicates, so array_agg and
// string_agg come out sorted. SQLite has DISTINCT for one argument only: string_agg collects an array first.
func distinctAggregate(b *binder, e *ast.FuncCall, tmpl string, conv []val, filter string) (string, string, string) {
	x := conv[0]
	equatable(b, x)
	x.sql = x.collate()
	if e.Name == "string_agg" {
		tmpl = "rg_array_to_string('text[]', " + arrayAgg(b, catalog.Text) + "@, " + conv[1].sql + ")"
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
		sortable(b, x)
		return tmpl, x.sql + " NULLS LAST", filter
	}
	return tmpl, "", filter
}

// aggregateSQL chooses the aggregate's template, its result type and converted arguments. The template ends
// its call with ")@".
func aggregateSQL(b *binder, e *ast.FuncCall, args []val) (string, catalog.Type, []val) {
	switch {
	case e.Star:
		if e.Name != "count" {
			b.fail(e.At, sqlerr.WrongObjectType, "%s(*) is not an aggregate", e.Name)
		}
		return "count(*)@", catalog.Int8, nil
	case e.Name == "array_agg" && len(args) == 1:
		a := b.settle(args[0])
		ret := a.typ
		ret.Array, ret.Rank = true, 0
		return arrayAgg(b, a.typ) + "@", ret, []val{a}
	case len(args) == 1 && args[0].typ.IsChunk() && functions.ChunkAggregates[e.Name] != "":
		t := args[0].typ
		t.Rank = 0
		return functions.ChunkAggregates[e.Name], t, args
	case len(args) == 1 && args[0].typ.IsChunk() && (e.Name == "min" || e.Name == "max"):
		b.failHint(e.At, sqlerr.UndefinedFunction, "Use "+e.Name+"_agg(x), element by element.",
			"function %s(%s) does not exist", e.Name, args[0].typ)
	case e.Name == "count" && len(args) == 1:
		return "count($1)@", catalog.Int8, []val{b.settle(args[0])}
	}
	sig, ambiguous := functions.Resolve(functions.Aggregates[e.Name], typesOf(args))
	if ambiguous || manyTypes(b, e.Name, args) {
		b.failHint(e.At, sqlerr.AmbiguousFunction,
			"Could not choose a best candidate function. You might need to add explicit type casts.",
			"function %s(unknown) is not unique", e.Name)
	}
	if sig == nil {
		noFunction(b, e, args)
	}
	conv := make([]val, len(args))
	for i, a := range args {
		conv[i] = b.coerce(a, sig.Arg(i))
	}
	return sig.SQL, sig.Ret, conv
}

// arrayAgg is the aggregate that collects values of a type.
func arrayAgg(b *binder, t catalog.Type) string {
	return sqltext.Ident("rg_array_agg "+t.String()) + "($1)"
}

// bindWindowCall binds f(…) OVER (…).
func bindWindowCall(b *binder, s *scope, e *ast.FuncCall) val {
	l := s.level
	if e.Over == nil {
		b.fail(e.At, sqlerr.WrongObjectType, "window function %s requires an OVER clause", e.Name)
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
	over := " OVER (" + windowText(b, s, e.Over) + ")"
	if functions.IsAggregate(e.Name) {
		if e.Distinct || len(e.OrderBy) > 0 {
			b.refuse(e.At, "DISTINCT or ORDER BY inside a window aggregate", "Aggregate in a sub-select and join it.")
		}
		return bindAggregate(b, s, e, over)
	}
	if !functions.WindowFunctions[e.Name] {
		b.fail(e.At, sqlerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function",
			e.Name)
	}
	args := callArgs(b, s, e)
	sig, ambiguous := functions.Resolve(functions.Signatures[e.Name], typesOf(args))
	if sig == nil || ambiguous {
		noFunction(b, e, args)
	}
	if n := len(args) - 1; functions.WindowStates[e.Name] != "" {
		if x, ok := constOf(args[n]); ok && x == nil {
			return val{sql: "NULL", typ: applySignature(b, e.At, sig, args).typ, at: e.At}
		}
		args[n] = b.coerce(args[n], catalog.Int4)
		args[n] = val{sql: "rg_window_count(" + args[n].sql + ", " + sqltext.Plain(e.Name) + ")", typ: catalog.Int4,
			at: args[n].at}
	}
	v := applySignature(b, e.At, sig, args)
	tail := over
	if e.Filter != nil {
		b.fail(e.At, sqlerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions")
	}
	v.sql = strings.Replace(v.sql, "@", tail, 1)
	v.notNull = e.Name == "row_number" || e.Name == "rank" || e.Name == "dense_rank"
	return v
}

// windowText prints the inside of OVER; a named window is put in.
func windowText(b *binder, s *scope, w *ast.Window) string {
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
			v := b.settle(b.expr(s, p))
			equatable(b, v)
			list[i] = v.collate()
		}
		out = append(out, "PARTITION BY "+strings.Join(list, ", "))
	}
	keys := make([]val, len(order))
	if len(order) > 0 {
		list := make([]string, len(order))
		for i, k := range order {
			v := b.settle(b.expr(s, k.X))
			sortable(b, v)
			keys[i], list[i] = v, v.collate()+direction(k, v.notNull)
		}
		out = append(out, "ORDER BY "+strings.Join(list, ", "))
	}
	checkFrame(b, w.At, frame, keys)
	if frame != "" {
		out = append(out, frame)
	}
	return strings.Join(out, " ")
}

// checkFrame refuses the frames that Postgres refuses, and distances of keys that SQLite does not measure.
func checkFrame(b *binder, at ast.Pos, frame string, keys []val) {
	mode, bounds, _ := strings.Cut(frame, " BETWEEN ")
	if mode == "GROUPS" && len(keys) == 0 {
		b.fail(at, windowing, "GROUPS mode requires an ORDER BY clause")
	}
	from, to, _ := strings.Cut(bounds, " AND ")
	for i, bound := range []string{from, to} {
		word, _, _ := strings.Cut(bound, " ")
		n, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		if mode == "RANGE" {
			rangeKey(b, at, keys)
		}
		switch {
		case n >= 0:
		case mode == "RANGE":
			b.fail(at, "22013", "invalid preceding or following size in window function")
		default:
			b.fail(at, "22013", "frame %s offset must not be negative", []string{"starting", "ending"}[i])
		}
	}
}

// rangeKey checks the key of a frame RANGE whose bound is a whole number.
func rangeKey(b *binder, at ast.Pos, keys []val) {
	if len(keys) != 1 {
		b.fail(at, windowing, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	switch t := keys[0].typ; {
	case t.Is(catalog.Numeric):
		b.refuse(keys[0].at, "RANGE with a distance of numerics", "Order by the key as an integer or double precision.")
	case t.IsTime():
		b.fail(keys[0].at, sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type integer", t)
	case !t.IsNumber():
		b.fail(keys[0].at, sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", t)
	}
}

// windowing is the SQLSTATE of a window that makes no sense.
const windowing = "42P20"

// funcFrom binds a function in FROM. s sees the items to its left.
func funcFrom(b *binder, s *scope, it *ast.FuncFrom) source {
	f := it.Func
	if t := tableIntrinsic(b, it); t != nil {
		r := b.tableRelation(t)
		r.name, r.schema, r.table = f.Name, "", nil
		nameRelation(b, it.At, r, it.Alias)
		return source{sql: sqlOf(t) + " AS " + r.alias, rels: []*relation{r}, cols: r.cols}
	}
	r := &relation{name: f.Name, alias: b.alias("t"), scalar: true}
	col := &column{name: f.Name, sql: r.alias + ".value", rel: r}
	if it.Alias.Name != "" {
		col.name = it.Alias.Name
	}
	r.cols = []*column{col}
	sql, ord := tableFunction(b, s, f, col, r.alias)
	if it.Ordinality {
		r.cols = append(r.cols, &column{name: "ordinality", typ: catalog.Int8, sql: ord, rel: r, notNull: true})
		r.scalar = false
	}
	nameRelation(b, it.At, r, it.Alias)
	return source{sql: sql + " AS " + r.alias, rels: []*relation{r}, cols: r.cols}
}

// tableFunction prints a set-returning function, sets the type of its column and gives its ordinality.
func tableFunction(b *binder, s *scope, f *ast.FuncCall, col *column, alias string) (sql, ord string) {
	ord = alias + ".ord"
	args := make([]val, len(f.Args))
	if functions.IsSetReturning(f.Name) {
		for i, x := range f.Args {
			args[i] = b.expr(s, x)
		}
	}
	wrong := func() { noFunction(b, f, args) }
	switch f.Name {
	case "unnest":
		if len(args) != 1 {
			b.refuse(f.At, "unnest of several arrays", "Unnest each WITH ORDINALITY and join on the ordinality.")
		}
		a := args[0]
		if !a.typ.Array {
			wrong()
		}
		col.typ = a.typ.Elem()
		return unnestSQL(a), ordinality(alias, a.typ)
	case "string_to_table", "regexp_split_to_table":
		if len(args) != 2 {
			wrong()
		}
		col.typ = catalog.Text
		name := map[string]string{"string_to_table": "rg_string_to_array",
			"regexp_split_to_table": "rg_regexp_split_to_array"}[f.Name]
		a := val{sql: name + "(" + b.coerce(args[0], catalog.Text).sql + ", " + b.coerce(args[1], catalog.Text).sql + ")",
			typ: catalog.ArrayOf(catalog.Text)}
		return unnestSQL(a), ordinality(alias, a.typ)
	case "generate_subscripts":
		if len(args) != 2 || !args[0].typ.Array {
			wrong()
		}
		col.typ, col.notNull = catalog.Int4, true
		return "rg_series(1, rg_array_length(" + args[0].sql + ", " + b.coerce(args[1], catalog.Int4).sql + "), 1)", ord
	case "generate_series":
		return bindSeries(b, f, args, col, alias)
	}
	// any other function yields one row
	volatile := b.volatile
	v := bindCall(b, s, f)
	col.typ = v.typ
	sql = "rg_once(" + v.sql + ")"
	if b.volatile > volatile && !anyColumn.MatchString(v.sql) { // called once, not for each row beside it
		sql = "(WITH m AS MATERIALIZED (SELECT value, ord FROM " + sql + ") SELECT * FROM m)"
	}
	return sql, ord
}

func bindSeries(b *binder, f *ast.FuncCall, args []val, col *column, alias string) (sql, ord string) {
	if len(args) != 2 && len(args) != 3 {
		noFunction(b, f, args)
	}
	t := b.commonType(args, "generate_series")
	if !slices.ContainsFunc(args, func(a val) bool { return !a.typ.IsUnknown() }) {
		b.fail(f.At, sqlerr.AmbiguousFunction, "function generate_series(%s) is not unique",
			strings.TrimSuffix(strings.Repeat("unknown, ", len(args)), ", "))
	}
	for _, a := range args {
		if a.typ.IsTime() {
			b.refuse(f.At, "generate_series over dates",
				"Use a date plus an integer: SELECT d + i FROM generate_series(0, 9) AS g(i).")
		}
	}
	if t.Is(catalog.Text) {
		t = catalog.Int4
	}
	step := val{sql: "1", typ: catalog.Int4, lit: &ast.Literal{Kind: ast.LitInt, Value: "1"}}
	if len(args) == 3 {
		step = args[2]
	}
	lo, hi := b.coerce(args[0], t), b.coerce(args[1], t)
	step = b.coerce(step, t)
	col.typ, col.notNull = t, true
	switch {
	case t.IsInt():
		return "rg_series(" + lo.sql + ", " + hi.sql + ", " + step.sql + ")", alias + ".ord"
	case t.Is(catalog.Numeric):
		return "json_each(rg_nseries(" + lo.sql + ", " + hi.sql + ", " + step.sql + "))", "(" + alias + ".key + 1)"
	}
	noFunction(b, f, args)
	return "", ""
}
