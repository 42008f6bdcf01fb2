package faults

// Faults of the embedded store and of scripts, which tests of their own catch.
func init() {
	faults = append(faults, []fault{
		// A panic is an error of its statement.
		{"a panic ends the program", "script/rescue.go", "if p := recover(); p != nil {\n		*err", "if p := any(nil); p != nil {\n		*err", "./script -run=TestInterpPanics"},
		{"a panic leaves its transaction open", "script/rescue.go", "	if !within && in.Session.InTransaction() {", "	if false {", "./script -run=TestPanicsAreErrors"},
		{"a panic in a transaction is forgotten", "store/rescue.go", "		db.failed = true\n", "", "./script -run=TestPanicsAreErrors"},
		{"a worker's panic is lost", "kernels/cpu/together.go", "			panic(*p)\n", "			_ = p\n", "./kernels/cpu -run=TestTogether"},
		{"functions with OUT parameters give NULL", "script/call.go", "		out.row, out.ret.v = vals, vals[0]\n", "", "./script -run=TestScripts/function"},
		{"rows of a function keep the types that were selected", "script/call.go", "			vals[i] = v.v\n", "			vals[i], _ = row[i], v\n", "./script -run=TestScripts/function"},

		// Keys that nobody gave.
		{"a key that is not given is invented", "store/bind_cast.go", "		case d == \"\" && t.isRowID(c):\n			d = noKey(t, c)\n", "", "./store -run=TestGolden/keys|TestKeysThatNobodyGave"},
		{"a key that is NULL is invented", "store/bind_cast.go", "	if t.isRowID(c) && !given {", "	if !given && false {", "./store -run=TestGolden/keys"},
		{"a default of NULL is a key", "store/bind_cast.go", "case t.isRowID(c) && c.Identity == nil:", "case false:", "./store -run=TestGolden/keys"},

		// Numeric powers and timeouts.
		{"a power multiplies all digits", "store/numeric/math.go", "if scale := max(digits-x.magnitude(), 0); scale < x.scale {", "if scale := max(digits-x.magnitude(), 0); scale < x.scale && digits < 0 {", "./store -run=TestGolden/hangs -timeout=20s"},
		{"an odd exponent with decimals is even", "store/numeric/math.go", "b.Trunc(0).c().Bit(0) == 1", "b.c().Bit(0) == 1", "./store -run=TestGolden/hangs"},
		{"statement_timeout is not obeyed", "store/timeout.go", "context.WithTimeoutCause(ctx, d, errTimeout)", "context.WithTimeoutCause(ctx, 1000*d, errTimeout)", "./store -run=TestTimeout -timeout=20s"},
	}...)
}
