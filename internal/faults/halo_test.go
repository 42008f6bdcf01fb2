package faults

// The fast tests of halos: of plans that read them, of plans that run by definition, of the rows that sites get.
const (
	haloPlans = "./optimizer/physical -run=TestHalo"
	haloRows  = "./executor -run=TestHaloRows"
)

// Faults of halos.
func init() {
	faults = append(faults, []fault{
		{"a halo row is missing", "executor/structure/halo.go", "		if code == seen {", "		if code == seen && r > 0 {",
			haloRows},
		{"a halo row is sent twice", "executor/structure/halo.go", "		if code == seen {", "		if code >= 0 {", haloRows},
		{"NULL needs rows", "executor/structure/halo.go", "[]bool { return make([]bool, len(cols)) }",
			"[]bool { return []bool{true, true}[:len(cols)] }", haloRows},
		{"halo rows go to another site", "executor/halo.go", "		rows[site] = table.Having",
			"		rows[(site+1)%len(rows)] = table.Having", haloRows},
		{"halo rows that are there already count as moved", "optimizer/physical/floats.go",
			"		return total(stats.Rows(n)) - stats.Stays(n)\n", "		return total(stats.Rows(n))\n", haloRows},
		{"a halo of one column stands for one of two", "executor/halo.go",
			"	keys, _, err := st.Vectors(l.partner[st.p.number], l.node.On)\n",
			"	keys, _, err := st.Vectors(l.partner[st.p.number], l.node.On)\n	keys = keys[:1]\n", haloRows},
		{"halo keys of a step are looked up among those of the run", "executor/halo.go",
			"	if stays && st.parent != nil {", "	if st.parent != nil {", atSites},
		{"a halo does not follow the rows that a step draws", "executor/fragment.go",
			"			l.perStep = l.perStep || f.flow.Column[structure.ColumnOf{Node: of, Col: of.Index(id)}]\n",
			"			_, _ = of, id\n", atSites},
		{"a halo is awaited where its partner is not", "executor/fragment.go", "		at = at.Need.At\n", "		_ = at.Need.At\n",
			atSites},
		{"the halo of another placement is read", "optimizer/physical/halo.go",
			"by.Relation() != need.Of || !by.Place.Equal(need.At) {", "by.Relation() != need.Of {", haloPlans},
		{"a halo is read by columns that do not meet", "optimizer/physical/halo.go",
			"	if !slices.Contains(same, kernels.Col{Input: e, ID: p.Partner}) {\n		return false\n", "	if len(same) < 1 {\n" +
				"		return false\n", haloPlans},
		{"NULL meets NULL outside of a halo", "optimizer/physical/halo.go",
			"	return !own.Type.Nullable || !partner.Type.Nullable ||", "	return own != nil || partner != nil ||", haloPlans},
		{"a halo is read as if it were whole", "optimizer/physical/halo.go",
			"		if in.Place.Kind != Needed || n.RA.Op == ra.Join ||", "		if in.Place.Kind != Needed || i >= 0 ||", haloPlans},
		{"an exchange moves a halo on", "optimizer/physical/placement.go",
			"	if n.exchange() && n.Inputs[0].Place.Kind == Needed {", "	if false {", haloPlans},
		{"halos of parts are sent", "optimizer/physical/halo.go", "		if p.Partial || !p.once() {", "		if !p.once() {",
			haloPlans},
		{"a relation is computed twice beside its halo", "optimizer/physical/validate.go",
			"		computed[n.RA] = true\n", "", haloPlans},
		{"a copy of a plan needs rows of the first", "optimizer/physical/node.go",
			"			c.Place = NeededBy(copies[need.Of], need.At, need.Pairs)\n", "			_ = need\n",
			haloPlans},
		{"whatever lies elsewhere is read as the halo", "optimizer/physical/halo.go",
			"v.at(p).Kind == Needed && len(v.in) == 0", "v.at(p).Kind == Needed", "./optimizer/physical -run=TestWhole"},
		{"a bound of ranges belongs to the site below", "optimizer/physical/function.go", "		if least > x {\n",
			"		if least >= x {\n", "./optimizer/physical -run=TestBalance"},
		{"joined columns are spread by other ranges", "optimizer/physical/function.go",
			"			out.join(q.L.ID, q.R.ID)\n", "			_ = q\n", "./optimizer/physical -run=TestClasses"},
		{"rows of a graph are counted where they do not lie", "optimizer/physical/measured.go",
			"		out.rows[s]++\n", "		out.rows[0*s]++\n", "./optimizer/physical -run=TestMeasured"},
		{"a value is counted once for all sites", "optimizer/physical/measured.go",
			"int(x)*k.Sites + int(s)", "int(x)*k.Sites + 0*int(s)", "./optimizer/physical -run=TestMeasured"},
		{"NULL has a range", "optimizer/physical/function.go", "			if !c.IsNull(r) {\n", "			if r >= 0 {\n",
			"./optimizer/physical -run=TestBalance"},
		{"a gradient does not lie by its parameter's ranges", "optimizer/physical/compile.go",
			"			if p.Kind == By && on.Spread != nil && p.Fn.Kind == Hash {\n", "			if false {\n",
			". -run=TestSitesRanges"},
	}...)
}
