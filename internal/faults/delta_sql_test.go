package faults

// Faults of what statements and commands do with tables of Delta Lake.
func init() {
	const command, statement = "./cmd/relgrad -run=", ". -run="
	faults = append(faults, []fault{
		{"a URL is a folder beside the script", "script/plpgsql/copy_file.go", "if !places.IsURL(c.Source) {",
			"if !places.IsURL(c.Source) || in.Dir != nil {", command + "TestDeltaInBuckets$"},
		{"a URL with @ is always a version", "cmd/relgrad/folders.go", "there, err = relgrad.IsDelta(ctx, arg)",
			"there = false", command + "TestDeltaInBuckets$"},
		{"a statement's end does not end its requests", "folder.go", "files, err := placeOf(ctx, name)",
			"files, err := placeOf(context.Background(), name)", statement + "TestBucketCanceled"},
		{"an export's end does not end its requests", "folder.go", "files, err := places.Open(ctx, c.Source)",
			"files, err := places.Open(context.Background(), c.Source)", statement + "TestBucketCanceled"},
		{"a bucket that is not there is a version that is not there", "interop/delta/places/try.go",
			"say(sqlerr.UndefinedFile, \"there is no bucket", "say(sqlerr.UndefinedObject, \"there is no bucket",
			command + "TestBucketErrors"},
		{"a condition of an outer join leaves out rows that it keeps", "sqlfront/ast/needs.go",
			"if it.Kind == JoinInner || it.Kind == JoinRight {", "if it.Kind != JoinFull {", statement + "TestPushedConditions"},
		{"a condition on a window's rows leaves out some of the window", "sqlfront/ast/needs.go",
			"return f.Over != nil }", "return false }", statement + "TestDeltaTableReadsLess"},
		{"conditions on a view are on what its columns were called", "store/bind/from.go",
			"where != nil && q.Columns[i].Name != c.Name {", "where != nil && i < 0 {", statement + "TestDeltaTableReadsLess"},
		{"a view whose rows were left out serves other uses", "store/bind/from.go",
			"	if where != nil { // other uses", "	if false { // other uses", statement + "TestDeltaTableReadsLess"},
		{"a view of a loss whose rows were left out serves other uses", "sqlfront/bind/from.go",
			"	if where == nil { // else it is bound", "	if true { // else it is bound",
			statement + "TestDeltaTableReadsLess"},
	}...)
}
