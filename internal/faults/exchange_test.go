package faults

// The fast tests of runs at several sites: of the fixed losses, of the network, of the executor, of training.
const (
	atSites    = "./internal/gradtest -run=TestSites -timeout=30s"
	network    = "./executor/device -run=TestExchange -timeout=10s"
	ended      = "./executor -run=TestOneSiteFails -timeout=60s"
	received   = "./executor -run=TestPartsHaveTheirSite|TestReplicatedResult"
	nullMoves  = "./executor -run=TestNullMoves"
	stepOfAll  = "./executor -run=TestStepOfAll"
	sitesTrain = "./ -run=TestSitesTrain -timeout=60s"
	sitesCalls = "./ -run=TestSitesCalls -timeout=60s"
	sitesBad   = "./ -run=TestSitesNotFinite -timeout=60s"
	sitesGoOn  = "./ -run=TestSitesResume -timeout=60s"
)

// Faults of runs at several sites.
func init() {
	faults = append(faults, []fault{
		// What a site computes, and what comes to it.
		{"a replica is counted once for each site", "executor/fragment.go",
			"	case physical.Replicated:\n		return []int{site}\n", "", atSites},
		{"each site counts a replicated result", "executor/fragment.go", "!= physical.Replicated || s == 0)",
			"!= physical.Replicated || s >= 0)", received},
		{"a sum is read before the parts of other sites are added", "executor/fragment.go", "	for s := range l.send {\n",
			"	if l.node.Place.Partial {\n		return []int{site}\n	}\n	for s := range l.send {\n", atSites},
		{"a relation of another site is computed", "executor/fragment.go", "	if n.Place.Kind == physical.Single &&",
			"	if false &&", atSites},
		{"parts of several sites are one row", "executor/fragment.go",
			"		out.Key = append(out.Key[:len(out.Key):len(out.Key)], part.ID)\n", "", received},
		{"all parts of a sum have the number of one site", "executor/exchange.go", "out = append(out, int64(part.Site))",
			"out = append(out, int64(part.Site/99))", received},
		{"an estimate of one row at a site counts as certain", "executor/fragment.go", "t.Rows/int64(b.plan.Sites) + 2",
			"max(1, t.Rows/int64(b.plan.Sites)*0)", sitesTrain},
		{"an exchange leaves out its last part", "executor/exchange.go", "range l.sources(st.p.number) {",
			"range l.sources(st.p.number)[:max(1, len(l.sources(st.p.number))-1)] {", atSites},
		{"rows come to the site after their owner", "executor/exchange.go", "		rows[s] = append(rows[s], int32(r))",
			"		rows[(int(s)+1)%sites] = append(rows[(int(s)+1)%sites], int32(r))", atSites},
		{"keys of all rows come with some of the numbers", "executor/exchange.go", "		if part.Rows != nil {\n			v =",
			"		if part.Rows == nil {\n			v =", atSites},
		{"rows of tables lie at the site after their owner", "executor/spread.go",
			"		rows[site] = append(rows[site], int32(r))",
			"		at := (int(site) + 1) % s.sites\n		rows[at] = append(rows[at], int32(r))", atSites},
		{"a table is spread by the first of its columns", "executor/spread.go", "t.fn.Sites(keys, s.sites)",
			"t.fn.Sites(keys[:1], s.sites)", sitesTrain},
		{"NULL of a column of integers lies apart", "optimizer/physical/function.go", "			at += part(null, i)\n",
			"			at += part(uint64(c.I64()[r]), i)\n", sites + "TestSitesOfColumns"},
		{"columns of integers have a function of their own", "optimizer/physical/function.go",
			"			at += part(uint64(c.I64()[r]), i)", "			at += part(uint64(c.I64()[r]), 0)", sites + "TestSitesOfColumns"},

		// Numbers that move.
		{"NULLs are lost on the way", "executor/device/exchange.go", "		if from.IsNull(r) {",
			"		if false && from.IsNull(r) {", network},
		{"NULLs come with the rows of other ones", "executor/device/exchange.go", "			r = int(rows[i])\n",
			"			r = i + 0*int(rows[i])\n", network},
		{"no site expects NULLs", "executor/exchange.go", "c.Type.Nullable = c.Type.Nullable || v",
			"c.Type.Nullable = c.Type.Nullable && v", nullMoves},
		{"real is read as double precision", "executor/device/exchange.go", "from.Kind() != to.Kind() ||", "", network},
		{"real moves as its source has it", "executor/exchange.go", "v.Data.Kind() != column.KindOf(v.Type):",
			"v.Data.Kind() > column.Str:", nullMoves},
		{"what a source has in double precision is read as real", "executor/forms/compiler.go",
			"case k == column.F64 && t.IsFloat():", "case k == column.F64 && false:", nullMoves},
		{"a site writes what others still read", "executor/device/exchange.go", "	return wait(ctx, t.over)", "	return nil",
			network},
		{"what is sent is not kept until it is read", "executor/forms/exchange_form.go", "		t.Also = v.Args\n", "", atSites},
		{"exchanges run when their numbers are there", "executor/forms/fuse.go", "			stage[v] = max(stage[v], exchanged)\n",
			"			stage[v] = max(stage[v], 0*exchanged)\n", atSites},
		{"one site runs its exchanges in another order", "executor/exchange.go", "		out = append(out, v)\n		}\n	}\n",
			"		out = append(out, v)\n		}\n	}\n	if st.p.number == 1 {\n		slices.Reverse(out)\n	}\n", atSites},
		{"exchanges of another number are one", "executor/device/exchange.go", "	if t.number != number {", "	if false {",
			network},
		{"a site without rows leaves an exchange out", "executor/device/cpu/tasks.go", " || t.always() {", " {", atSites},
		{"an exchange runs once though its numbers change", "executor/fragment.go",
			"c.Dep || !l.perStep && f.flow.Column[structure.ColumnOf{Node: of, Col: i}]", "c.Dep && i < 0", sitesTrain},
		{"numbers of the first step are used in each", "executor/exchange.go", "l.varies[i] || l.perStep)", "false)",
			sitesTrain},
		{"keys that a step draws are those of the first one", "executor/fragment.go",
			"l.perStep = l.perStep || read[column] &&", "l.perStep = l.perStep || false && read[column] &&", atSites},
		{"a site that says it was cancelled has not failed", "executor/program.go", "	return first // a site",
			"	return nil // a site", ended},
		{"what is made of drawn rows belongs to the run", "executor/fragment.go", "perStep: steps[n], send",
			"perStep: f.flow.Structure[of], send", atSites},
		{"rows of a step are those of the run", "executor/exchange.go", "	if st.parent != nil && !l.perStep {",
			"	if st.parent != nil {", sitesTrain},
		{"bytes that stay at a site move", "executor/device/exchange.go", " part.Site != p.site {", " part.Site >= 0 {",
			network},

		// Errors.
		{"sites wait for one that has failed", "executor/program.go", "				if failed[i] != nil {\n					cancel()\n				}\n",
			"				_ = cancel\n", ended},
		{"a site that waits is not cancelled", "executor/device/exchange.go", "	case <-ctx.Done():\n		return ctx.Err()\n", "",
			network},
		{"what is computed once is there at some sites", "executor/program.go", "p.broken = err != nil &&",
			"p.broken = false &&", ended},
		{"the heap of all sites is bounded by the part of one", "executor/budget.go", "*int64(max(m.opt.sites, 1))", "",
			"./executor -run=TestHeapOfSites"},
		{"an error is what it does to other sites", "executor/program.go", "!errors.Is(err, context.Canceled) {",
			"!errors.Is(err, context.DeadlineExceeded) {", ended},
		{"an exchange that was not finished goes on in the next run", "executor/device/exchange.go",
			"	n.turns = map[int]*turn{}\n	for", "	for", network},
		{"turns of a run that failed count", "executor/device/exchange.go", "		p.taken = 0\n", "		_ = p\n", network},

		// Parameters and training.
		{"rows of a parameter come from wrong rows", "executor/owners.go", "src[own:own+size]", "src[whole:whole+size]",
			sitesTrain},
		{"rows of a parameter go to wrong rows", "executor/owners.go", "copy(dst[own:own+size], src[whole:])",
			"copy(dst[own:own+size], src[own:])", sitesTrain},
		{"the state of an optimizer is that of another buffer", "executor/owners.go", "append(o.states[b], part.state[b])",
			"append(o.states[b], part.state[0*b])", sitesGoOn},
		{"rows are trained that are not to be", "executor/owners.go", "c.Rows[r] = trained[whole]",
			"c.Rows[r] = trained[0*int(whole)+r]", sitesTrain},
		{"NULLs of a parameter are those of other rows", "executor/owners.go", "				i = int(p.rows[i])\n",
			"				i += 0 * int(p.rows[i])\n", sitesTrain},
		{"the norm of gradients is that of one site", "executor/owners.go", "norm = math.Hypot(norm, s.numbers",
			"norm = math.Max(norm, s.numbers", sitesTrain},
		{"sites scale their gradients by the norm", "executor/owners.go", "Measure: p.source != nil}", "Measure: false}",
			sitesTrain},
		{"sites change columns though another's gradient is infinite", "executor/owners.go", "	if first != nil {\n",
			"	if first != nil {\n		t.p.each(func(s *site) error { return s.training.run(ctx, 1) })\n", stepOfAll},
		{"a row that is not finite has its number at a site", "executor/owners.go",
			"			b.Row = int(o.parts[at].rows[b.Row])\n", "			_ = at\n", sitesBad},
		{"of two rows that are not finite the last site's is told", "executor/owners.go",
			"; first == nil || b.Slot < first.Slot", "; first != b || b.Slot < first.Slot", sitesBad},
		{"a gradient's rows are those of a site", "executor/owners.go", "				r = whole[at.number][r]\n", "				_ = whole\n",
			sitesCalls},
		{"rows of a gradient come in another order than their numbers", "executor/owners.go",
			"	return ordered(out, order), err\n", "	_ = order\n	return out, err\n", sitesCalls},
		{"results come in the order of sites", "executor/program.go", "	if len(at) < 2 {", "	if len(at) > 0 {", sitesCalls},
		{"a changed parameter is read by the rows of before", "executor/owners.go", "		of.rows = nil\n		defer", "		defer",
			stepOfAll},
		{"NULLs that a parameter gets are not seen", "executor/owners.go", "		q.allValid(q.home.(*owners).parts)\n", "",
			"./ -run=TestSitesDrawn"},
		{"sites free what others still read", "executor/program.go",
			"	if err := p.each((*site).name); err != nil {\n		return err\n	}\n", "", sitesTrain},
		{"a loss that was compiled for other sites is taken", "engine/cache.go", "\"\\x00\" + strconv.Itoa(db.sites())",
			"\"\\x00\" + strconv.Itoa(0*db.sites())", sitesCalls},
	}...)
}
