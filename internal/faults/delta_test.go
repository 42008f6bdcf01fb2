package faults

// Faults of Parquet files of nested values, of tables of Delta Lake and of the tensors in them.
func init() {
	const (
		nested  = "./interop -run=TestNested$"
		deltas  = "./interop -run=TestDeltaPages"
		table   = "./interop/delta -run="
		tensors = "./interop/delta/layouts -run="
	)
	const file, log, tensor = "interop/delta/files.go", "interop/delta/log.go", "interop/delta/layouts/"
	faults = append(faults, []fault{
		{"a Delta table's lists of lists are one list", "interop/parquetassemble.go", "		if rep == n.rep {\n",
			"		if rep > 0 {\n", nested},
		{"a Delta table's list may be as long as it says", "interop/parquetpages.go",
			"		if size == 0 || all && count < n {\n", "		if false && all && count < n {\n", deltas},
		{"a value of a Delta table that cannot be read is NULL", "interop/parquetopen.go",
			"		err := n.start()\n		if err == nil {", "		if err := n.start(); err == nil {", table + "TestFlippedBits"},
		{"a Delta table's file may lack a column that it has", "interop/delta/rows.go",
			"nulls >= 0 && nulls < st.rows()", "nulls < 0 && nulls < st.rows()", table + "TestIncomplete"},
		{"a Delta table's commit replaces another", file, "l.write(name, data, os.Link)", "l.write(name, data, os.Rename)",
			table + "TestProcesses"},
		{"a Delta table's commit comes before its files", "interop/delta/commit.go",
			"	if t.err == nil {\n		t.err = t.finishAll()\n",
			"	if t.err == nil && len(t.parts) > 1 {\n		t.err = t.finishAll()\n", table + "TestVersions"},
		{"a Delta table's commit does not see what others removed", "interop/delta/commit.go",
			"func(f *File) bool { return f.name == a.Remove.name }", "func(f *File) bool { return f.name == \"\" }",
			table + "TestConflicts"},
		{"a Delta table's commit does not see what others added", "interop/delta/commit.go", "				if !skip {\n",
			"				if !skip && len(spans) == 0 {\n", table + "TestConflicts"},
		{"a Delta table's files come back", log, "		delete(r.files, a.Remove.name)\n", "", table + "TestVersions"},
		{"a Delta table's file of a checkpoint is removed by its old deletions", "interop/delta/checkpoint.go",
			"	} else if r.files[a.Remove.name] == nil {\n", "	} else if delete(r.files, a.Remove.name); true {\n",
			table + "TestFeatures"},
		{"a part of a Delta table's checkpoint is not missed", log, "i.Name == \"\" })\n}", "i.Name == \"?\" })\n}",
			table + "TestCheckpoints"},
		{"a Delta table's NaN is below its largest number", "interop/delta/stats.go", "b.Min != nil && !nan &&",
			"b.Min != nil && (!nan || nan) &&", table + "TestFileStats"},
		{"NaN of a tensor in Delta are one", "interop/delta/layouts/choose.go", "return math.IsNaN(x) || x == 0",
			"return x == 0", "./interop/delta/layouts -run=TestNaNBits"},
		{"a Delta table's statistics leave NaN out", "interop/delta/stats.go", "			c.lost[i] = true\n", "",
			table + "TestFileStats"},
		{"a Delta table's longest text is its beginning", "interop/delta/stats.go", "		if next := r[i] + 1; next",
			"		if next := r[i]; next", table + "TestFileStats"},
		{"a Delta table's rows of other files are deleted", "interop/delta/delete.go",
			"		every = every && spans[i].every(r)\n",
			"		every = every || spans[i].every(r)\n", table + "TestVersions"},
		{"a Delta table's columns are found by place", "interop/delta/rows.go", "return x.Name == col.Name })\n		if k < 0 {",
			"return x.Name == col.Name })\n		if k = min(i, len(have)-1); k < 0 {", table + "TestEvolution"},
		{"a Delta table's row groups are all read", "interop/delta/rows.go", "				none = none || b.none(",
			"				none = none && b.none(", table + "TestSkipping"},
		{"a Delta table's new files are vacuumed", "interop/delta/vacuum.go", " || f.Modified.After(since)", "",
			table + "TestVacuum"},
		{"rows of a Delta table that are left out leave their values", "interop/parquetassemble.go",
			"			if l.used++; l.used > l.n {", "			if l.used > l.n {", table + "TestSift"},
		{"rows of a Delta table are left out from where the last ones began", "interop/delta/columns.go",
			"			skip = s.keep[0] - s.at", "			skip = s.keep[0]", table + "TestSift"},
		{"a chunk of a Delta tensor that is missing is left out", tensor + "ftsf.go", "c.next < n || len(c.early) > 0",
			"n < 0", tensors + "TestChunksCount"},
		{"a chunk of a Delta tensor counts twice", tensor + "ftsf.go", "c.early[n] != nil || n < c.next", "false",
			tensors + "TestChunksCount"},
		{"elements of a Delta tensor at one place are both kept", tensor + "tensor.go",
			"compareAt(out.coords, i-1, i) == 0 {", "compareAt(out.coords, i-1, i) == 2 {", tensors + "TestEdges"},
		{"a digit of a Delta tensor's order is left out", tensor + "tensor.go", "k >> shift & (1<<digit - 1)\n				nextKeys",
			"k >> shift & (1<<digit - 2)\n				nextKeys", tensors + "TestSortBy"},
		{"parts of a Delta tensor are joined as if in order", tensor + "parts.go", "slices.Compare(last, first) < 0",
			"slices.Compare(last, first) < 2", tensors + "TestParts"},
		{"each part of a Delta tensor counts rows by itself", tensor + "layouts.go", "x.part, x.of = &x, k, n",
			"x.part, x.of, x.seen = &x, k, n, &atomic.Int64{}", tensors + "TestParts"},
		{"a slice of a Delta tensor reads all of its tree", tensor + "csf.go",
			"Max: r.b.to[0] - 1}", "Min: int64(0)}",
			tensors + "TestSlicesSkip"},
		{"blocks of a Delta tensor are padded by its next elements", tensor + "bsgs.go", "at = at*block[d] + c[i]%block[d]",
			"at = at*block[d] + (c[i]+1)%block[d]", tensors + "TestRoundTrip"},
		{"Delta tensors of one id are both stored", tensor + "layouts.go", "	if err == nil {\n		return nil, " +
			"sqlerr.New(sqlerr.UniqueViolation", "	if err == nil && replace {\n		return nil, " +
			"sqlerr.New(sqlerr.UniqueViolation", tensors + "TestOneTable"},
		{"a least value above the greatest is believed", "interop/delta/stats.go", "compare(r.min, r.max) <= 0 {",
			"compare(r.min, r.max) <= 1 {", "./interop/delta -run=TestBelievedBounds"},
		{"a row group's NULLs beside the log's are believed", "interop/delta/stats.go", "r.nulls > file.nulls {",
			"r.nulls > file.nulls+99 {", "./interop/delta -run=TestBelievedBounds"},
	}...)
}
