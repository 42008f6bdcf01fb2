package faults

// facts breaks in one session what a loss was planned for in another.
const facts = "./pgbridge/safetytest -run=TestSafety/"

// Faults of what a plan rests on of a table's content.
func init() {
	faults = append(faults, []fault{
		{"a gradient's rows round attributes without a word", "engine/gradient.go", "return of.Ask() != \"\", nil",
			"return false, nil", "./ -run=TestRoundedFromOutside"},
		{"the store's gradients round attributes without a word", "engine/gradient.go",
			"return err == nil && len(res.Rows) > 0, err", "return err == nil && len(res.Rows) > 1, err",
			"./ -run=TestRoundedAttributes"},
		{"a sub-query is handed on as another text than what it says", "sqlfront/parse/deparse.go",
			"err == nil && means(sql, want) {", "err == nil {", "./sqlfront/parse -run=TestOwnTexts"},
		{"a step does not look at what it was planned for", "train/run/pushed.go", "Holds: p.db.Holding(p.c), ", "", facts +
			"Planned$"},
		{"a gradient of a server does not look at what it was planned for", "engine/push.go",
			"Holds: append(db.Holding(c), holds...)", "Holds: holds", facts + "Outside$"},
		{"a compiled text does not look at what it was made for", "engine/portable.go", "append(s.Holding(c), folded...)",
			"folded[:0]", facts + "Portable$"},
		{"a table of one row may get another", "pgbridge/session/planned.go", "	if t.Rows == 1 {",
			"	if t.Rows == -1 {", facts + "Planned$"},
		{"a column without NULL may get one", "pgbridge/session/planned.go", "	if !c.Type.Nullable && !c.NotNull {",
			"	if c.Type.Nullable && !c.NotNull {", facts + "Planned$"},
		{"chunks may get another shape", "pgbridge/session/planned.go", "shape != nil {", "false {", facts + "Planned$"},
		{"numbers that are compared may get long", "pgbridge/session/planned.go", "of.Asked == nil || !*of.Asked {",
			"of.Asked == nil || *of.Asked {", facts + "Planned$"},
		{"a sub-query of a step may give NULL", "engine/push.go",
			"	return db.Database.(catalog.Pusher).PlannedRows(text, n.Cols[:len(n.Cols)-1]), nil", "	return text, nil", facts +
				"Planned$"},
		{"a sub-query that stands for a value gives several rows", "engine/catalogue.go", "	if err == nil && q.Scalar {",
			"	if false {", facts + "Planned$"},
		{"a table loses its key amid a run", "train/run/commits.go", "def != r.c.Defined[t] {", "def == nil {", facts +
			"Planned$"},
		{"a call from outside reads several states", "engine/engine.go",
			"	if err := db.Begin(); err != nil {\n		return err\n	}\n	if err := f(); err != nil {\n		return " +
				"db.Undo(err)\n	}\n	_, err := db.Commit()\n	return err", "	return f()", facts + "Outside$"},
		{"numbers that are long by now are read", "pgbridge/session/rows.go",
			"notLong(&t.Cols[c], columnSQL(&t.Cols[c]), t.Name)", "columnSQL(&t.Cols[c])", facts + "Outside$"},
		{"rows are taken that were not planned for", "executor/stage.go", "	if n.PerStep || len(cols) == 0 {", "	if true {",
			facts + "Outside$"},
		{"the portable tier calls an operator of another's", "migrations/008_gradients.sql",
			"t.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(param)::pg_catalog.oid", "t.oid = pg_catalog.pg_typeof(param)",
			facts + "PortablePaths$"},
	}...)
}
