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
	}...)
}
