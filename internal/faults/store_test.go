package faults

// same runs statements on a server and on the store, and compares.
const same = "./internal/pgsuite -run=TestNeighbours/"

// Faults of the embedded store and of scripts, which tests of their own catch.
func init() {
	faults = append(faults, []fault{
		{"a loop misses the last of the rows that went into a file", "script/plpgsql/spool.go", "i < s.n; i++ {", "i < s.n-1; i++ {", "./script/plpgsql -run=TestSpool"},
		{"a loop reads the rows of an earlier result too", "script/plpgsql/spool.go", "	*s = Spool{}", "", "./script/psql -run=TestLoopsOver"},
		// A panic is an error of its statement.
		{"a panic ends the program", "script/plpgsql/rescue.go", "if p := recover(); p != nil {\n		*err", "if p := any(nil); p != nil {\n		*err", "./script/psql -run=TestInterpPanics"},
		{"a panic leaves its transaction open", "script/plpgsql/rescue.go", "	if !within && in.Session.InTransaction() {", "	if false {", "./script/psql -run=TestPanicsAreErrors"},
		{"a panic in a transaction is forgotten", "store/db.go", "		db.failed = true\n", "", "./script/psql -run=TestPanicsAreErrors"},
		{"a worker's panic is lost", "kernels/cpu/together.go", "			panic(*p)\n", "			_ = p\n", "./kernels/cpu -run=TestTogether"},
		{"functions with OUT parameters give NULL", "script/plpgsql/call.go", "		out.row, out.ret.v = vals, vals[0]\n", "", "./script/psql -run=TestScripts/function"},
		{"rows of a function keep the types that were selected", "script/plpgsql/call.go", "			vals[i] = v.v\n", "			vals[i], _ = row[i], v\n", "./script/psql -run=TestScripts/function"},

		// Keys that nobody gave.
		{"a key that is not given is invented", "store/bind/casts.go", "		case d == \"\" && definitions.IsRowID(t, c):\n			d = NoKey(t, c)\n", "", "./store -run=TestGolden/keys|TestKeysThatNobodyGave"},
		{"a key that is NULL is invented", "store/bind/casts.go", "	if definitions.IsRowID(t, c) && !given {", "	if !given && false {", "./store -run=TestGolden/keys"},
		{"a default of NULL is a key", "store/bind/casts.go", "case definitions.IsRowID(t, c) && c.Identity == nil:", "case false:", "./store -run=TestGolden/keys"},

		// Numeric powers and timeouts.
		{"a power multiplies all digits", "store/numeric/math.go", "if scale := max(digits-x.magnitude(), 0); scale < x.scale {", "if scale := max(digits-x.magnitude(), 0); scale < x.scale && digits < 0 {", "./store -run=TestGolden/hangs -timeout=20s"},
		{"an odd exponent with decimals is even", "store/numeric/math.go", "b.Trunc(0).c().Bit(0) == 1", "b.c().Bit(0) == 1", "./store -run=TestGolden/hangs"},
		{"statement_timeout is not obeyed", "store/settings.go", "context.WithTimeoutCause(ctx, d, errTimeout)", "context.WithTimeoutCause(ctx, 1000*d, errTimeout)", "./store -run=TestTimeout -timeout=20s"},

		// Answers that Postgres gives otherwise: each is caught by statements of internal/pgsuite that run on a server too.
		{"a name in LATERAL is taken from farther out", "store/bind/from.go", "		outer.Relations, outer.Columns = rels, cols\n", "", same + "lateral"},
		{"a star in LATERAL is taken from farther out", "store/bind/select.go", "		b.reach(s, at, ref.At)\n", "		_ = at\n", same + "lateral"},
		{"an aggregate of an outer query's column counts the inner rows", "store/bind/aggregates.go", "if ownsAggregate(b, e, s, seen) && over == \"\" {", "if ownsAggregate(b, e, s, seen) || over == \"\" {", same + "lateral"},
		{"random() in a sub-query is computed at each mention", "store/bind/fences.go", "if f.volatile || len(f.rels) > 1 {", "if len(f.rels) > 1 {", same + "volatile"},
		{"a view that calls random() is computed once for all its uses", "store/bind/from.go", "	if b.Volatile == volatile { //", "	if true { //", same + "volatile"},
		{"CASE computes its argument for each WHEN", "store/bind/expressions.go", "		b.once(e.At, volatile, \"CASE\")\n", "		_ = volatile\n", same + "volatile"},
		{"a function in FROM is called for each row beside it", "store/bind/aggregates.go", "if b.Volatile > volatile && !anyColumn", "if volatile < 0 && !anyColumn", same + "volatile"},
		{"now() is the time of its first call", "store/transactions.go", "	tx.started = time.Now()\n	return nil", "	tx.started = time.Time{}\n	return nil", same + "volatile"},
		{"a group that takes no part is an empty text", "store/functions/regex.go", "		if at[2*i] >= 0 {\n			out[i] = s[at[2*i]:at[2*i+1]]\n		}\n", "		out[i] = s[max(at[2*i], 0):max(at[2*i+1], 0)]\n", same + "texts"},
		{"the first alternative matches, not the longest", "store/functions/regex.go", "		re.Longest()\n", "		_ = re\n", same + "texts"},
		{"options of a regular expression that mean nothing are ignored", "store/functions/regex.go", "		default:\n			return false, false, sqlerr.New(sqlerr.InvalidParameter,", "		case c == 0:\n			return false, false, sqlerr.New(sqlerr.InvalidParameter,", same + "texts"},
		{"\\B in a regular expression is no boundary of a word", "store/functions/regex.go", "'B': `\\\\`,", "'B': `\\B`,", same + "texts"},
		{"to_char copies a pattern that it does not know", "store/functions/tochar.go", "			return \"\", noCharPattern(p)\n", "			b.WriteString(p)\n			return rest[len(p):], nil\n", same + "formats"},
		{"to_char pads behind FM", "store/functions/tochar.go", "text := p.f(m, !noFill)", "text := p.f(m, !noFill || true)", same + "formats"},
		{"dates far apart are 292 years apart", "store/functions/times.go", "r.Int((x.Unix() - y.Unix()) / 86400)", "r.Int(int64(x.Sub(y).Hours() / 24))", same + "formats"},
		{"elements of numeric arrays compare as texts", "store/functions/arrays.go", "	case t.Is(catalog.Numeric):\n		equal =", "	case false:\n		equal =", same + "arrays"},
		{"numeric arrays group by their texts", "store/columns/storage.go", "		return \"rg_numeric_array\"", "		return \"\"", same + "arrays"},
		{"0 and -0 are two groups of chunks", "store/functions/arrays.go", "		case y == 0:\n			x.Data[i] = 0\n", "", same + "arrays"},
		{"the variance of infinities is 0", "store/functions/aggregates.go", "	if infinite || math.IsNaN(x) {", "	if math.IsNaN(x) {", same + "aggregates"},
		{"a sum that overflows is infinite", "store/functions/numbers.go", "	if err := overflowed(infinite, a[0].Float()); err != nil {", "	if err := overflowed(infinite || true, a[0].Float()); err != nil {", same + "aggregates"},
		{"DISTINCT ON keeps a row of another order", "store/bind/select.go", "		if !slices.Contains(on, key) {", "		if !slices.Contains(on, key) && false {", same + "numbers"},
		{"a uuid is any text", "store/bind/types.go", "	case \"character varying\":\n		t.Name", "	case \"character varying\", \"uuid\":\n		t.Name", same + "uuid"},
		{"a uuid keeps its capitals", "store/columns/uuid.go", "	return UUIDText(id), nil\n", "	return strings.Trim(s, \"{}\"), nil\n", same + "uuid"},
		{"an unknown type is text", "store/bind/types.go", "	case \"character varying\":\n		t.Name", "	case \"character varying\", \"citext\":\n		t.Name", same + "uuid"},
		{"jsonb compares as text", "store/columns/storage.go", "		return \"rg_jsonb\"", "		return \"\"", same + "jsonb"},
		{"jsonb is kept as it is written", "store/columns/jsonb.go", "	if !t.Is(catalog.JSONB) {", "	if true {", same + "jsonb"},
		{"json has an order", "store/bind/operators.go", "if !ok || t.Name == \"json\" ||", "if !ok ||", same + "jsonb"},
		{"RANGE measures distances of texts", "store/bind/aggregates.go", "	case !t.IsNumber():\n", "	case false:\n", same + "windows"},
		{"RANGE measures distances of numerics as texts", "store/bind/aggregates.go", "	case t.Is(catalog.Numeric):\n		b.Refuse(keys[0].At", "	case false:\n		b.Refuse(keys[0].At", same + "windows"},
		{"the sum of a moving frame keeps digits of what left it", "store/functions/aggregates.go", "	s.scales[x.Scale()] += sign\n", "	s.scales[x.Scale()]++\n", same + "windows"},
		{"ON CONFLICT updates a row twice", "store/session_functions.go", "	if !null && f.run.proposed[key.String()] {", "	if null && f.run.proposed[key.String()] {", same + "writes"},
		{"LIMIT of a negative number is no limit", "store/functions/numbers.go", "	case a[0].Int() < 0:\n		return sqlerr.New(state,", "	case false:\n		return sqlerr.New(state,", same + "numbers"},
		{"a recursive query is aggregated in each step", "store/bind/recursive.go", "	if hasAggregate(b, step.Targets) || step.Having != nil {", "	if false {", same + "recursion"},
		{"CREATE TABLE AS forgets the modifiers of types", "store/ddl.go", "Type: oc.Type, Mods: oc.Mods}", "Type: oc.Type}", same + "modifiers"},
		{"a timestamp keeps digits that its type has not", "store/bind/casts.go", "	case t.IsTime():\n		return fmt.Sprintf(\"rg_tmodify", "	case t.IsTime() && false:\n		return fmt.Sprintf(\"rg_tmodify", same + "modifiers"},
		{"a timestamp is rounded down", "store/functions/times.go", "us = (us + scale/2) / scale * scale", "us = us / scale * scale", same + "modifiers"},
		{"a recursive query changes the modifier of a column", "store/bind/recursive.go", " || !slices.Equal(all.Mods, col.Mods) {", " && len(col.Mods) >= 0 && slices.Equal(all.Mods, all.Mods) {", same + "modifiers"},
		{"a name of any length", "store/columns/textin.go", "return parse.Identifier(s), nil", "_ = parse.Identifier\n		return s, nil", same + "modifiers"},
		{"powers near 1 lose digits", "store/numeric/math.go", "max(0, b.magnitude())", "0", same + "numbers"},
		{"logarithms near 1 lose digits", "store/numeric/math.go", "float64(scale+before+40)", "float64(scale+0*before+40)", same + "numbers"},
		{"a materialized view is written to", "store/definitions/tables.go", "	if t.Matview == nil {\n		return nil", "	if t.Name != \"\" {\n		return nil", same + "matviews"},
		{"a materialized view without rows is read", "store/definitions/tables.go", "	if !t.Unread {", "	if t.Name != \"\" {", same + "matviews"},
		{"REFRESH keeps the old rows", "store/matview.go", "	if err := b.db.exec(\"DELETE FROM \" + definitions.SQL(t)); err != nil {\n		return nil, err\n	}\n", "", same + "matviews"},
		{"what a materialized view reads may go", "store/definitions/dependents.go", "	for _, v := range c.queries() {\n		for _, d", "	for _, v := range c.Views {\n		for _, d", same + "matviews"},
		{"DROP FUNCTION drops another function of the name", "store/drop.go", "f == nil || args != nil && !f.Named(args) {", "f == nil || false && !f.Named(args) {", same + "functions"},
		{"a function takes the place of another one", "store/function.go", "	case !old.Named(inputs(s)):", "	case false:", same + "functions"},
		{"arguments are rounded to integers", "script/plpgsql/function.go", "becomes(x.typ, p.Type.String())", "catalog.Assignable(catalog.TypeOf(x.typ), catalog.TypeOf(p.Type.String()))", same + "functions"},
		{"what a body leaves out is of any type", "sqlfront/bind/inline.go", "if uses[i] == 0 && !names(typed[i]) {", "if uses[i] < 0 && !names(typed[i]) {", same + "functions"},
		{"a body may select what the function does not return", "script/plpgsql/check.go", "	return checkResult(in, fn, cols, mismatch)", "	_ = checkResult\n	return nil", same + "functions"},
		{"a CHECK compares by the old type of its column", "store/alter.go", "if slices.Contains(k.Cols, c.Name) && !bindAgain(b, at", "if slices.Contains(k.Cols, \"\") && !bindAgain(b, at", same + "constraints"},
		{"two constraints have one name", "store/constraint.go", "	if slices.Contains(definitions.ConstraintNames(t), k.Name) {", "	if false {", same + "constraints"},

		// Results in parts, long rows, interrupts.
		{"a part of a result has any number of bytes", "script/plpgsql/parts.go", "len(p.res.Rows) < p.Rows && p.size < PartBytes {", "len(p.res.Rows) < p.Rows {", "./script/psql -run=TestPartsAreBounded"},
		{"a part of a result has any number of rows", "script/plpgsql/parts.go", "len(p.res.Rows) < p.Rows && p.size < PartBytes {", "p.size < PartBytes {", "./script/psql -run=TestPartsAreBounded"},
		{"a part of a result begins with a row of the one before", "script/plpgsql/parts.go", "Cols: p.res.Cols, More: true}, 0\n	return p.Give", "Cols: p.res.Cols, Rows: full.Rows[:1:1], More: true}, 0\n	return p.Give", "./script/psql -run=TestPartsAreOne"},
		{"each part of a result ends its table", "script/psql/print.go", "	if r.More {\n", "	if false {\n", "./script/psql -run=TestPartsAreOne"},
		{"a row of COPY is as long as it likes", "store/columns/copyformat.go", "if len(p.Raw)+len(b) > p.longest {", "if len(p.Raw)+len(b) > 16*p.longest {", "./store -run=TestCopyLongRow"},
		{"each line of a long row counts by itself", "store/columns/copyformat.go", "if len(p.Raw)+len(b) > p.longest {", "if len(p.Raw)-start+len(b) > p.longest || len(p.Raw) > 8*p.longest {", "./store -run=TestCopyLongRow"},
		{"a row that is too long is not named", "store/columns/copyformat.go", "				p.Line = p.lines + 1\n", "", "./store -run=TestCopyLongRow"},
		{"a loop of PL/pgSQL cannot be interrupted", "script/session.go", "	if ctx.Err() != nil {\n		return sqlerr.New(sqlerr.QueryCanceled, \"canceling", "	if false {\n		return sqlerr.New(sqlerr.QueryCanceled, \"canceling", "./cmd/relgrad -run=TestInterrupt$ -timeout=30s"},
		{"a call that takes long is waited for", "store/lite/apart.go", "			if !c.interrupted() {\n", "			if true {\n", "./cmd/relgrad -run=TestSignals -timeout=100s"},
		{"an interrupt before a statement is lost", "store/lite/lite.go", "	C.rg_cancel(c.wait, 1)\n", "", "./store/lite -run=TestInterruptFirst"},
	}...)
}
