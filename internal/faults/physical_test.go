package faults

// sites are the fast tests of plans for several sites.
const sites = "./optimizer/physical -run="

// Faults of plans for several sites.
func init() {
	faults = append(faults, []fault{
		{"replicas count as rows that lie once", "optimizer/physical/validate.go", "		if !place.Equal(n.Place) {",
			"		if place.Partial != n.Place.Partial {", sites + "TestValidate"},
		{"a result is read before its parts are added up", "optimizer/physical/validate.go",
			"	case p.Partial:\n		return sqlerr.Broken(room, \"the result",
			"	case false:\n		return sqlerr.Broken(room, \"the result", sites + "TestValidate"},
		{"an exchange makes sums of parts", "optimizer/physical/placement.go",
			"	to.Partial, to.Sums = from.Partial, from.Sums\n", "	to.Partial = from.Partial && n.Op == Local\n",
			sites + "TestValidate|TestLosses"},
		{"greatest values are taken of sums of parts", "optimizer/physical/partial.go",
			"		if !slices.Contains(from.Sums, a) {", "		if a.Arg == 0 && !slices.Contains(from.Sums, a) {",
			sites + "TestValidate"},
		{"parts of a count are counted", "optimizer/physical/placement.go", "	if f == ra.Count || f == ra.CountRows {",
			"	if f == ra.CountRows {", sites + "TestLosses"},
		{"a row of a semi-join sees some of its partners", "optimizer/physical/placement.go",
			"	if n.Inputs[1].Place.once() && (", "	if n.Inputs[1].Place.Kind == Single && (", sites + "TestValidate"},
		{"rows that are spread by other functions meet", "optimizer/physical/placement.go",
			" || !x.Fn.Equal(y.Fn) ||", " ||", sites + "TestValidate|TestLosses"},
		{"rows are spread alike by the first of their columns", "optimizer/physical/placement.go",
			"	for k := range x.By {\n		if !slices", "	for k := range x.By[:1] {\n		if !slices",
			sites + "TestLosses"},
		{"a SHUF is dropped though groups lie apart", "optimizer/physical/placement.go",
			"p.Kind == Replicated || p.Kind == By && !", "p.Kind == Replicated || p.Kind == By || !", sites + "TestRules"},
		{"the owner of a cell is another", "optimizer/physical/function.go", "number*f.Lens[i]",
			"number*f.Lens[len(f.Lens)-1-i]", sites + "TestFunctions"},
		{"0 and -0 have two owners", "optimizer/physical/function.go", "			x = 0\n", "", sites + "TestFunctions"},
		{"what a site has is sent to it", "optimizer/physical/floats.go", "int64(len(at)-1) * all",
			"int64(len(at)) * all", sites + "TestProducts"},
		{"the parts at the site that gathers them move", "optimizer/physical/floats.go", "all - at[n.Site]", "all",
			sites + "TestLosses"},
		{"a replica moves", "optimizer/physical/floats.go", "	case n.Inputs[0].Place.Kind == Replicated:\n		return 0",
			"	case n.Inputs[0].Place.Kind == Replicated && n.Op == Shuf:\n		return 0", sites + "TestLosses"},
		{"a rule changes the plan that it is given", "optimizer/physical/node.go", "c.RA, c.By, c.Inputs = copies[n.RA],",
			"c.RA, c.By, c.Inputs = n.RA,", sites + "TestRules"},
		{"an eliminated table is forgotten", "optimizer/physical/minsum.go", "len(out.vars) > 0 {\n			e.add(out)\n",
			"len(out.vars) > 0 {\n", sites + "TestMinSum"},
		{"a fixed choice counts as the first", "optimizer/physical/minsum.go", "t.with(e.sizes, best, e.choice[best])",
			"t.with(e.sizes, best, 0)", sites + "TestMinSum"},
		{"the search has parts for nothing", "optimizer/physical/modes.go", "min(s.moving(local, to)+s.costs",
			"min(s.costs", sites + "TestSearchLosses"},
		{"the search reaches what no SHUF reaches", "optimizer/physical/search.go", "!reached.Equal(to)",
			"!reached.Equal(reached)", sites + "TestSearchLosses"},
	}...)
}
