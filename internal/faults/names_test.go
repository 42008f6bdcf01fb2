package faults

// Faults of what names in FROM and in views stand for, and of casts.
func init() {
	const semantics = ". -run=TestSemantics"
	faults = append(faults, []fault{
		{"the names of a join's columns are ignored", "sqlfront/parse/select.go",
			"return namedJoin(out, aliasOf(c, j.Alias))", "return namedJoin(out, ast.Alias{Name: j.Alias.Aliasname})",
			semantics},
		{"the stars of two named joins are one", "sqlfront/parse/select.go", "ast.Node{At: j.R.Position()}, Star",
			"ast.Node{At: -1}, Star", semantics},
		{"t.* has the columns of USING first", "sqlfront/bind/select.go", "return a.place - b.place", "return 0", semantics},
		{"a column changes what a view's names stand for", "store/alter.go", "			same()\n", "			_ = same\n", semantics},
		{"a cast to numeric keeps all digits", "sqlfront/bind/cast.go", "kernels.Build(\"decimal\", x), nil", "x, nil",
			semantics},
	}...)
}
