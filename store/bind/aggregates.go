package bind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/lists"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqltext"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/store/definitions"
	"github.com/relgrad/relgrad/store/functions"
)

// bindAggregate binds an aggregate; over is the printed OVER clause of a window call, "" for a plain one.
func bindAggregate(b *Binder, s *Scope, e *ast.FuncCall, over string) Value {
	l := s.Level
	if over == "" {
		if l == nil {
			b.Fail(e.At, sqlerr.Grouping, "aggregate functions are not allowed here")
		}
		if l.Clause == "an aggregate" {
			b.Fail(e.At, sqlerr.Grouping, "aggregate function calls cannot be nested")
		}
		if l.Clause != "" {
			b.Fail(e.At, sqlerr.Grouping, "aggregate functions are not allowed in %s", l.Clause)
		}
		agg, windows := l.InAgg, l.windows
		l.InAgg, l.Clause, l.windows = true, "an aggregate", false
		defer func() { l.InAgg, l.Clause, l.windows = agg, "", windows }()
	}
	args, own := aggregateArgs(b, s, e, over)
	if own && over == "" {
		l.aggregates = true
	}
	tmpl, ret, conv := aggregateSQL(b, e, args)
	filter := ""
	if e.Filter != nil {
		filter = b.boolean(b.Expr(s, e.Filter), "argument of FILTER").SQL
	}
	order := ""
	if e.Distinct {
		tmpl, order, filter = distinctAggregate(b, e, tmpl, conv, filter)
	}
	if e.WithinGroup {
		tmpl = strings.ReplaceAll(tmpl, "$desc", map[bool]string{true: "1", false: "0"}[e.OrderBy[0].Desc])
	}
	tmpl = strings.ReplaceAll(tmpl, "$frame", map[bool]string{true: "_frame", false: ""}[over != ""])
	tail := over
	if filter != "" {
		tail = " FILTER (WHERE " + filter + ")" + over
	}
	sql := fill(tmpl, conv, catalog.Type{})
	if len(e.OrderBy) > 0 && !e.WithinGroup {
		order = aggregateOrder(b, s, e, args)
	}
	if order != "" {
		i := strings.LastIndex(sql, ")@")
		sql = sql[:i] + " ORDER BY " + order + sql[i:]
	}
	sql = strings.ReplaceAll(sql, "@", tail)
	return Value{SQL: sql, Type: ret, At: e.At, NotNull: e.Name == "count"}
}

// aggregateArgs binds the arguments of an aggregate, and decides whether it belongs to the query in which it stands.
func aggregateArgs(b *Binder, s *Scope, e *ast.FuncCall, over string) (args []Value, own bool) {
	bind := func(x ast.Expr) Value { return b.Expr(s, x) }
	if !orderedSet(b, e, over) {
		seen := watchScopes(b, s)
		args = lists.Map(e.Args, bind)
		return args, ownsAggregate(b, e, s, seen)
	}
	direct := watchScopes(b, s) // they do not decide
	args = lists.Map(e.Args, bind)
	b.seen = direct.outer
	seen := watchScopes(b, s)
	args = append(args, bind(e.OrderBy[0].X))
	if own = ownsAggregate(b, e, s, seen); !own && direct.at[s] {
		b.Fail(e.At, sqlerr.Grouping, "outer-level aggregate cannot contain a lower-level variable in its direct arguments")
	}
	for at := range direct.at {
		if b.seen != nil {
			b.seen.at[at] = true
		}
	}
	return args, own
}

// orderedSet reports whether a call aggregates what stands in WITHIN GROUP (ORDER BY …), behind its other arguments.
func orderedSet(b *Binder, e *ast.FuncCall, over string) bool {
	switch own := e.Name == "percentile_cont" || e.Name == "percentile_disc"; {
	case own && !e.WithinGroup:
		b.FailHint(e.At, sqlerr.UndefinedFunction, "Write "+e.Name+"(0.5) WITHIN GROUP (ORDER BY x).",
			"%s needs WITHIN GROUP", e.Name)
	case e.WithinGroup && over != "":
		b.Fail(e.At, sqlerr.FeatureNotSupported, "OVER is not supported for ordered-set aggregate %s", e.Name)
	case e.WithinGroup && len(e.OrderBy) != 1:
		b.Fail(e.At, sqlerr.UndefinedFunction, "%s takes 1 item of ORDER BY, not %d", e.Name, len(e.OrderBy))
	}
	return e.WithinGroup
}

// seenScopes records the scopes whose columns the arguments of an aggregate refer to.
type seenScopes struct {
	at        map[*Scope]bool
	owners    map[*Scope]bool // scopes that own aggregates inside the arguments
	ungrouped map[*Level]int  // by level: how many ungrouped columns there were before
	outer     *seenScopes
}

// watchScopes begins to record scopes.
func watchScopes(b *Binder, s *Scope) *seenScopes {
	seen := &seenScopes{map[*Scope]bool{}, map[*Scope]bool{}, map[*Level]int{}, b.seen}
	for ; s != nil; s = s.Outer {
		if s.Level != nil {
			seen.ungrouped[s.Level] = len(s.Level.ungrouped)
		}
	}
	b.seen = seen
	return seen
}

// ownsAggregate decides to which query an aggregate belongs: the innermost one to which its arguments refer. If that is
// an outer query, own is false and the rules for aggregates at that place apply.
func ownsAggregate(b *Binder, e *ast.FuncCall, s *Scope, seen *seenScopes) (own bool) {
	if b.seen = seen.outer; b.seen != nil {
		for at := range seen.at {
			b.seen.at[at] = true
		}
	}
	at := s
	for at != nil && !seen.at[at] {
		at = at.Outer
	}
	if at == nil { // it refers to nothing outside its own sub-queries
		at = s
	}
	if b.seen != nil {
		b.seen.owners[at] = true
	}
	if seen.owners[at] && e.Over == nil {
		b.Fail(e.At, sqlerr.Grouping, "aggregate function calls cannot be nested")
	}
	if at == s || at.Level == nil {
		return true
	}
	switch l := at.Level; {
	case l.Clause == "an aggregate":
		b.Fail(e.At, sqlerr.Grouping, "aggregate function calls cannot be nested")
	case l.Clause != "":
		b.Fail(e.At, sqlerr.Grouping, "aggregate functions are not allowed in %s", l.Clause)
	default:
		l.aggregates = true
		l.ungrouped = l.ungrouped[:min(len(l.ungrouped), seen.ungrouped[l])]
	}
	return false
}

// aggregateOrder prints the ORDER BY inside an aggregate.
func aggregateOrder(b *Binder, s *Scope, e *ast.FuncCall, args []Value) string {
	keys := make([]string, len(e.OrderBy))
	for i, k := range e.OrderBy {
		v := b.settle(b.Expr(s, k.X))
		if e.Distinct && !slices.ContainsFunc(args, func(a Value) bool { return a.SQL == v.SQL }) {
			b.Fail(k.X.Position(), sqlerr.InvalidColumnRef,
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
		sortable(b, v)
		keys[i] = v.Collate() + direction(k, v.NotNull)
	}
	return strings.Join(keys, ", ")
}

// distinctAggregate puts DISTINCT before the argument. Postgres sorts to find duplicates, so array_agg and string_agg
// come out sorted. SQLite allows DISTINCT only with one argument, so string_agg collects an array first.
func distinctAggregate(b *Binder, e *ast.FuncCall, tmpl string, conv []Value, filter string) (string, string, string) {
	x := conv[0]
	equatable(b, x)
	x.SQL = x.Collate()
	if e.Name == "string_agg" {
		tmpl = "rg_array_to_string('text[]', " + arrayAgg(catalog.Text, "") + "@, " + conv[1].SQL + ")"
		present := "(" + x.SQL + " IS NOT NULL)"
		if filter != "" {
			present += " AND " + filter
		}
		filter = present
	} else if len(conv) > 1 {
		b.Refuse(e.At, "DISTINCT in an aggregate of several arguments", "Use SELECT DISTINCT in a sub-select.")
	}
	conv[0].SQL = "DISTINCT " + x.SQL
	if e.Name == "string_agg" || e.Name == "array_agg" {
		sortable(b, x)
		return tmpl, x.SQL + " NULLS LAST", filter
	}
	return tmpl, "", filter
}

// aggregateSQL chooses the aggregate's template, its result type and converted arguments. The template ends
// its call with ")@".
func aggregateSQL(b *Binder, e *ast.FuncCall, args []Value) (string, catalog.Type, []Value) {
	switch {
	case e.Star:
		if e.Name != "count" {
			b.Fail(e.At, sqlerr.WrongObjectType, "%s(*) is not an aggregate", e.Name)
		}
		return "count(*)@", catalog.Int8, nil
	case e.Name == "array_agg" && len(args) == 1:
		a := b.settle(args[0])
		ret := a.Type
		ret.Array, ret.Rank = true, 0
		return arrayAgg(a.Type, "$frame") + "@", ret, []Value{a}
	case len(args) == 1 && args[0].Type.IsChunk() && functions.ChunkAggregates[e.Name] != "":
		t := args[0].Type
		t.Rank = 0
		return functions.ChunkAggregates[e.Name], t, args
	case len(args) == 1 && args[0].Type.IsChunk() && (e.Name == "min" || e.Name == "max"):
		b.FailHint(e.At, sqlerr.UndefinedFunction, "Use "+e.Name+"_agg(x), element by element.",
			"function %s(%s) does not exist", e.Name, args[0].Type)
	case e.Name == "count" && len(args) == 1:
		return "count($1)@", catalog.Int8, []Value{b.settle(args[0])}
	}
	sig, ambiguous := functions.Resolve(functions.Aggregates[e.Name], typesOf(args))
	if ambiguous || manyTypes(b, e.Name, args) {
		b.FailHint(e.At, sqlerr.AmbiguousFunction,
			"Could not choose a best candidate function. You might need to add explicit type casts.",
			"function %s(unknown) is not unique", e.Name)
	}
	if sig == nil {
		noFunction(b, e, args)
	}
	conv := make([]Value, len(args))
	for i, a := range args {
		conv[i] = b.coerce(a, sig.Arg(i))
	}
	return sig.SQL, sig.Ret, conv
}

// arrayAgg is the call of the aggregate that collects values of a type; frame is "$frame" where it may be over one.
func arrayAgg(t catalog.Type, frame string) string {
	return sqltext.Ident("rg_array_agg"+frame+" "+t.String()) + "($1)"
}

// bindWindowCall binds f(…) OVER (…).
func bindWindowCall(b *Binder, s *Scope, e *ast.FuncCall) Value {
	l := s.Level
	if e.Over == nil {
		b.Fail(e.At, sqlerr.WrongObjectType, "window function %s requires an OVER clause", e.Name)
	}
	if l != nil && l.inWindow {
		b.FailHint(e.At, "42P20", "Compute the inner one in a sub-select of FROM.", "window function calls cannot be nested")
	}
	if l == nil || !l.windows || l.Clause != "" {
		clause := "this clause"
		if l != nil && l.Clause != "" {
			clause = l.Clause
		} else if l != nil {
			clause = "HAVING"
		}
		b.Fail(e.At, "42P20", "window functions are not allowed in %s", clause)
	}
	l.windowed = true
	l.windows, l.inWindow = false, true
	defer func() { l.windows, l.inWindow = true, false }()
	over := " OVER (" + windowText(b, s, e.Over) + ")"
	if functions.IsAggregate(e.Name) {
		if e.Distinct || len(e.OrderBy) > 0 {
			b.Refuse(e.At, "DISTINCT or ORDER BY inside a window aggregate", "Aggregate in a sub-select and join it.")
		}
		return bindAggregate(b, s, e, over)
	}
	if !functions.WindowFunctions[e.Name] {
		if !isFunction(e.Name) {
			noFunction(b, e, callArgs(b, s, e))
		}
		b.Fail(e.At, sqlerr.WrongObjectType, "OVER specified, but %s is not a window function nor an aggregate function",
			e.Name)
	}
	args := callArgs(b, s, e)
	sig, ambiguous := functions.Resolve(functions.Signatures[e.Name], typesOf(args))
	if sig == nil || ambiguous {
		noFunction(b, e, args)
	}
	if n := len(args) - 1; functions.WindowStates[e.Name] != "" {
		if x, ok := constOf(args[n]); ok && x == nil {
			return Value{SQL: "NULL", Type: applySignature(b, e.At, sig, args).Type, At: e.At}
		}
		args[n] = b.coerce(args[n], catalog.Int4)
		args[n] = Value{SQL: "rg_window_count(" + args[n].SQL + ", " + sqltext.Plain(e.Name) + ")", Type: catalog.Int4,
			At: args[n].At}
	}
	v := applySignature(b, e.At, sig, args)
	tail := over
	if e.Filter != nil {
		b.Fail(e.At, sqlerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions")
	}
	v.SQL = strings.Replace(v.SQL, "@", tail, 1)
	v.NotNull = e.Name == "row_number" || e.Name == "rank" || e.Name == "dense_rank"
	return v
}

// windowText prints the content of OVER. It replaces the name of a window by its definition.
func windowText(b *Binder, s *Scope, w *ast.Window) string {
	at := w.At
	w, bad := ast.WindowOf(s.Level.named, w)
	if bad != nil {
		b.FailHint(at, bad.Code, bad.Hint, "%s", bad.Message)
	}
	part, order, frame := w.PartitionBy, w.OrderBy, w.Frame
	var out []string
	if len(part) > 0 {
		list := make([]string, len(part))
		for i, p := range part {
			v := b.settle(b.Expr(s, p))
			equatable(b, v)
			list[i] = v.Collate()
		}
		out = append(out, "PARTITION BY "+strings.Join(list, ", "))
	}
	keys := make([]Value, len(order))
	if len(order) > 0 {
		list := make([]string, len(order))
		for i, k := range order {
			v := b.settle(b.Expr(s, k.X))
			sortable(b, v)
			keys[i], list[i] = v, v.Collate()+direction(k, v.NotNull)
		}
		out = append(out, "ORDER BY "+strings.Join(list, ", "))
	}
	checkFrame(b, w.At, frame, keys)
	if frame != "" {
		out = append(out, frame)
	}
	return strings.Join(out, " ")
}

// checkFrame refuses the frames that Postgres refuses, and distances between keys that SQLite cannot measure.
func checkFrame(b *Binder, at ast.Pos, frame string, keys []Value) {
	mode, from, to := ast.FrameBounds(frame)
	if mode == "GROUPS" && len(keys) == 0 {
		b.Fail(at, windowing, "GROUPS mode requires an ORDER BY clause")
	}
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
			b.Fail(at, "22013", "invalid preceding or following size in window function")
		default:
			b.Fail(at, "22013", "frame %s offset must not be negative", []string{"starting", "ending"}[i])
		}
	}
}

// rangeKey checks the key of a frame RANGE whose bound is a whole number.
func rangeKey(b *Binder, at ast.Pos, keys []Value) {
	if len(keys) != 1 {
		b.Fail(at, windowing, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	switch t := keys[0].Type; {
	case t.Is(catalog.Numeric):
		b.Refuse(keys[0].At, "RANGE with a distance of numerics", "Order by the key as an integer or double precision.")
	case t.IsTime():
		b.Fail(keys[0].At, sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type integer", t)
	case !t.IsNumber():
		b.Fail(keys[0].At, sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", t)
	}
}

// windowing is the SQLSTATE of an invalid window.
const windowing = "42P20"

// funcFrom binds a function in FROM. s sees the items to its left.
func funcFrom(b *Binder, s *Scope, it *ast.FuncFrom) source {
	f := it.Func
	if t := tableIntrinsic(b, it); t != nil {
		r := b.TableRelation(t)
		r.Name, r.Schema, r.Table = f.Name, "", nil
		NameRelation(b, it.At, r, it.Alias)
		return source{SQL: definitions.SQL(t) + " AS " + r.Alias, rels: []*Relation{r}, cols: r.Columns}
	}
	r := &Relation{Name: f.Name, Alias: b.alias("t"), scalar: true}
	col := &Column{Name: f.Name, SQL: r.Alias + ".value", Relation: r}
	if it.Alias.Name != "" {
		col.Name = it.Alias.Name
	}
	r.Columns = []*Column{col}
	sql, ord := tableFunction(b, s, f, col, r.Alias)
	if it.Ordinality {
		r.Columns = append(r.Columns, &Column{Name: "ordinality", Type: catalog.Int8, SQL: ord, Relation: r, NotNull: true})
		r.scalar = false
	}
	NameRelation(b, it.At, r, it.Alias)
	return source{SQL: sql + " AS " + r.Alias, rels: []*Relation{r}, cols: r.Columns}
}

// tableFunction prints a set-returning function, sets the type of its column and returns its ordinality.
func tableFunction(b *Binder, s *Scope, f *ast.FuncCall, col *Column, alias string) (sql, ord string) {
	ord = alias + ".ord"
	args := make([]Value, len(f.Args))
	if functions.IsSetReturning(f.Name) {
		for i, x := range f.Args {
			args[i] = b.Expr(s, x)
		}
	}
	wrong := func() { noFunction(b, f, args) }
	switch f.Name {
	case "unnest":
		if len(args) != 1 {
			b.Refuse(f.At, "unnest of several arrays", "Unnest each WITH ORDINALITY and join on the ordinality.")
		}
		a := args[0]
		if !a.Type.Array {
			wrong()
		}
		col.Type = a.Type.Elem()
		return unnestSQL(a), ordinality(alias, a.Type)
	case "string_to_table", "regexp_split_to_table":
		if len(args) != 2 {
			wrong()
		}
		col.Type = catalog.Text
		name := map[string]string{"string_to_table": "rg_string_to_array",
			"regexp_split_to_table": "rg_regexp_split_to_array"}[f.Name]
		a := Value{SQL: name + "(" + b.coerce(args[0], catalog.Text).SQL + ", " + b.coerce(args[1], catalog.Text).SQL + ")",
			Type: catalog.ArrayOf(catalog.Text)}
		return unnestSQL(a), ordinality(alias, a.Type)
	case "generate_subscripts":
		if len(args) != 2 || !args[0].Type.Array {
			wrong()
		}
		col.Type, col.NotNull = catalog.Int4, true
		return "rg_series(1, rg_array_length(" + args[0].SQL + ", " + b.coerce(args[1], catalog.Int4).SQL + "), 1)", ord
	case "generate_series":
		return bindSeries(b, f, args, col, alias)
	}
	// any other function yields one row
	volatile := b.Volatile
	v := bindCall(b, s, f)
	col.Type = v.Type
	sql = "rg_once(" + v.SQL + ")"
	if b.Volatile > volatile && !anyColumn.MatchString(v.SQL) { // called once, not for each row of its neighbours
		sql = "(WITH m AS MATERIALIZED (SELECT value, ord FROM " + sql + ") SELECT * FROM m)"
	}
	return sql, ord
}

func bindSeries(b *Binder, f *ast.FuncCall, args []Value, col *Column, alias string) (sql, ord string) {
	if len(args) != 2 && len(args) != 3 {
		noFunction(b, f, args)
	}
	t := b.commonType(args, "generate_series")
	if !slices.ContainsFunc(args, func(a Value) bool { return !a.Type.IsUnknown() }) {
		b.Fail(f.At, sqlerr.AmbiguousFunction, "function generate_series(%s) is not unique",
			strings.TrimSuffix(strings.Repeat("unknown, ", len(args)), ", "))
	}
	for _, a := range args {
		if a.Type.IsTime() {
			b.Refuse(f.At, "generate_series over dates",
				"Use a date plus an integer: SELECT d + i FROM generate_series(0, 9) AS g(i).")
		}
	}
	if t.Is(catalog.Text) {
		t = catalog.Int4
	}
	step := Value{SQL: "1", Type: catalog.Int4, Literal: &ast.Literal{Kind: ast.LitInt, Value: "1"}}
	if len(args) == 3 {
		step = args[2]
	}
	lo, hi := b.coerce(args[0], t), b.coerce(args[1], t)
	step = b.coerce(step, t)
	col.Type, col.NotNull = t, true
	switch {
	case t.IsInt():
		return "rg_series(" + lo.SQL + ", " + hi.SQL + ", " + step.SQL + ")", alias + ".ord"
	case t.Is(catalog.Numeric):
		return "json_each(rg_nseries(" + lo.SQL + ", " + hi.SQL + ", " + step.SQL + "))", "(" + alias + ".key + 1)"
	}
	noFunction(b, f, args)
	return "", ""
}
