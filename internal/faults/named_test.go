package faults

// Faults of plans that have names, of estimates of where rows lie, and of what is reported of sites.
func init() {
	const (
		names   = sites + "TestNamesAreTrue|TestNamedExist"
		blocks  = sites + "TestFewValues|TestHaloOfBlocks"
		sited   = "./bench -run=TestCompared|TestSitesNumbers|TestSitesReport"
		queries = "./internal/randquery -run=TestFound"
	)
	faults = append(faults, []fault{
		{"a plan has the name of its last product", "optimizer/physical/named.go", "all && product(n) == name",
			"product(n) == name", names},
		{"parameters that also go to all sites stay with theirs", "optimizer/physical/named.go",
			" && !strings.Contains(how, \", and \")", "", names},
		{"what has no name has any", "optimizer/physical/named.go", "	found, all := false, true", "	found, all := true, true",
			names},
		{"both sides of a BMM are everywhere", "optimizer/physical/named.go",
			"return count(Replicated) == 1 && count(By)+count(Anywhere) == 1", "return count(Replicated) == 2", names},
		{"a CMM joins by columns that stay", "optimizer/physical/named.go", "return apart && !stays",
			"return apart && stays", names},
		{"parameters of a model parallel plan go to all sites", "optimizer/physical/named.go", "		return p.Kind == By\n",
			"		return p.Kind == Replicated\n", names},
		{"few values lie at all sites", "optimizer/physical/even.go", "values < all {", "false {", blocks},
		{"a site has parts of sums of which it has no rows", "optimizer/physical/even.go",
			"min(out[s]+min(rows, groups), groups)", "max(groups, 0*rows)", blocks},
		{"of each key one row is needed", "optimizer/physical/halo.go", "math.Ceil(found * (float64(all) / keys))",
			"math.Ceil(found)", blocks},
		{"rows that lie together need one key", "optimizer/physical/halo.go",
			"covers(slices.Concat(spread, on), need.Of.Unique):", "len(on) == 0:", blocks},
		{"blocks of a grid repeat a key before they have all", "optimizer/physical/halo.go", "covers(spread, on) && ",
			"len(on) == 0 && ", blocks},
		{"bytes that move are not compared with those predicted", "bench/sites.go", "x.Predicted != x.Moved",
			"x.Predicted < 0", sited},
		{"bytes that are fewer than predicted count as equal", "bench/sites.go", "x.Predicted != x.Moved",
			"x.Predicted < x.Moved", sited},
		{"other bytes than predicted are not missed", "bench/sites_report.go", "			if run.Unequal != \"\" {\n				all",
			"			if run.Unequal == \"?\" {\n				all", sited},
		{"a ratio is that of one site over several", "bench/sites_report.go", "Median(x.Steps)/Median(a.One[i].Steps)",
			"Median(a.One[i].Steps)/Median(x.Steps)", sited},
		{"the cheapest of any is a plan that has a name", "bench/sites_report.go", "range s.Named[1:] {", "range s.Named {",
			sited},
		{"flags that depend on parameters name rows", "executor/release.go", "!c.Type.IsFloat() && !c.Dep ||",
			"!c.Type.IsFloat() ||", queries},
		{"what is read once only is kept", "executor/release.go", "over := !used[v]\n", "over := !used[v] && bytes < 0\n",
			"./executor -run=TestOnceIsFreed"},
	}...)
}
