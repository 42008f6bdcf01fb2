package faults

// cuts are the fast tests of decompositions; drawn graphs are always the same ones.
const cuts = "./optimizer/eindecomp -seed=1 -run="

// Faults of decompositions over sites.
func init() {
	faults = append(faults, []fault{
		{"repartition moves the wrong number of blocks", "optimizer/eindecomp/cost.go", "power(both)-power(wanted)",
			"power(both)-power(produced)", cuts + "TestByHand|TestRepartitionCounts"},
		{"a part of a block moves for nothing", "optimizer/eindecomp/cost.go", "	if both != produced {",
			"	if both != produced && both != wanted {", cuts + "TestByHand|TestRepartitionCounts"},
		{"aggregation counts a label of the output", "optimizer/eindecomp/cost.go", "	groups := d.cuts(v.Output)\n",
			"	groups := d.cuts(v.Output[:max(0, len(v.Output)-1)])\n", cuts + "TestByHand|TestRewrite"},
		{"a join counts calls once for each operand's cuts", "optimizer/eindecomp/cost.go", "times(tuples, block)",
			"times(power(d.cuts(o.Labels)), block)", cuts + "TestByHand|TestRewrite"},
		{"vectors with too small a product are viable", "optimizer/eindecomp/viable.go", "e := max(0, left-room[l+1])",
			"e := 0", cuts + "TestViable"},
		{"elimination drops a table", "optimizer/eindecomp/eliminate.go", "	h.add(st.out)\n", "", cuts + "TestRandomGraphs"},
		{"an edge sees the producer's vector by too few labels", "optimizer/eindecomp/space.go",
			"s.view(e.from, setOf(from.Output))}", "s.view(e.from, setOf(from.Output[:min(1, len(from.Output))]))}",
			cuts + "TestRandomGraphs"},
		{"tables of another edge are taken", "optimizer/eindecomp/space.go",
			"key := [3]int{s.kind[e.from], s.kind[e.to], e.slot}", "key := [3]int{s.kind[e.from], s.kind[e.to], 0}",
			cuts + "TestRandomGraphs"},
		{"ties depend on the order of a map", "optimizer/eindecomp/eliminate.go",
			"	for k := range s.viable[st.vertex] {\n",
			"	any := map[int]bool{}\n	for k := range s.viable[st.vertex] {\n		any[k] = true\n	}\n	for k := range any {\n",
			cuts + "TestTies"},
		{"a path forgets the second edge between two vertices", "optimizer/eindecomp/tree.go",
			"		for _, e := range edges {\n", "		for _, e := range edges[:1] {\n", cuts + "TestGram"},
		{"the informed paths are not informed", "optimizer/eindecomp/paths.go", "		if informed {\n			s.addFixed",
			"		if false {\n			s.addFixed", cuts + "TestInformed"},
		{"a cost of 2^63 wraps round", "optimizer/eindecomp/cost.go", "	return min(low, tooMany)\n",
			"	return low & tooMany\n", cuts + "TestOverflow"},
		{"a plan that is not proved cheapest does not say so", "optimizer/eindecomp/plan.go", "		plan.Why = why\n",
			"		plan.Why = why[:0]\n", cuts + "TestFallback"},
		{"of a field named twice the last one counts", "optimizer/eindecomp/case.go", "			if top.names[name] {\n",
			"			if false {\n", cuts + "TestRefusals"},
		{"a label that is to stay whole is cut", "optimizer/eindecomp/viable.go", "	if l.Whole {", "	if false {",
			"./optimizer/chunking"},
		{"sparse rows pass for a grid", "optimizer/chunking/bounds.go", "all != read.Node.Table.Rows {", "all < 0 {",
			"./optimizer/chunking"},
		{"joined keys that differ pass for a grid", "optimizer/chunking/bounds.go", "case domain[l] == has:",
			"case has.Count > 0:", "./optimizer/chunking"},
		{"what is computed of no grid passes for one", "optimizer/chunking/graph.go",
			"from == eindecomp.Input && n.Op != ra.Scan:", "from == eindecomp.Input && false:", "./optimizer/chunking"},
		{"an axis of a whole chunk is cut", "optimizer/chunking/graph.go", "			v.whole[l] = true\n		}\n	}\n",
			"			_ = l\n		}\n	}\n", "./optimizer/chunking"},
		{"a sum is read by its keys in another order", "optimizer/chunking/graph.go", "		keys = made\n",
			"		_ = made\n", "./optimizer/chunking"},
	}...)
}
