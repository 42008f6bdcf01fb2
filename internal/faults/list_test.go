package faults

// The tests that catch: the fixed losses by differences, rules and executor; the registry of kernels; random
// queries; the optimizers.
const (
	losses   = "./internal/gradtest -run=TestLosses|TestRules|TestExecutor"
	registry = "./kernels"
	random   = "./internal/randquery -run=TestRandom -seed=1 -queries=80"
	goldens  = "./optimizer"
	byHand   = "./internal/gradtest -run=TestTies|TestNulls|TestSubQueries|TestDetermined|TestFound|TestRows|TestTexts"
	training = "./train"
	resuming = "./ -run=Resume"
	parts    = "./executor -run=Parts"
	looking  = "./ -run=TestTargets -short"
	reach    = "./ -run=TestReachFromOutside"
	meeting  = "./ -run=TestMeetingFromOutside"
	carried  = "./ -run=TestCarriedFromOutside"
	rights   = "./ -run=TestRightsFromOutside"
	digits   = "./internal/digits -run=TestReference/" // and the kernel
	loops    = "./internal/digits -run=TestExecutor/"
	finite   = "./ -run=TestNotFinite$"
	named    = "./internal/gradtest -run=TestNamed$"
	types    = "./pgbridge -run=TestNamedTypes"
	narrow   = "./internal/gradtest -run=TestNarrow"
)

var faults = []fault{
	// The walk (law 4: every edge contributes).
	{"only the first contribution counts", "autodiff/autodiff.go", "	if len(parts) == 1 {\n		return parts[0], nil", "	if len(parts) >= 1 {\n		return parts[0], nil", losses},
	{"a second slot of one join is forgotten (w ⋈ w)", "rjp/join.go", "	for i := range n.Inputs {\n		if len(parts[i]) > 0 {", "	for i := range n.Inputs {\n		if len(parts[i]) > 0 && (i == 0 || n.Inputs[i] != n.Inputs[0]) {", losses},
	{"the second output's contribution replaces the first", "rjp/join.go", "(*parts)[i].Grad = kernels.Add(q.Grad, p.Grad)", "(*parts)[i].Grad = p.Grad", random},
	{"the upstream gradient is 2 at the loss", "autodiff/autodiff.go", "kernels.CastConst(loss.Col(col).Type.Kind, 1)", "kernels.CastConst(loss.Col(col).Type.Kind, 2)", losses},

	// RJPs.
	{"Σ does not multiply by the upstream gradient", "rjp/aggregate.go", "		gx := g.Node.Var(0, g.Val[n.Cols[i].ID])\n", "		gx := kernels.CastConst(g.Node.Col(g.Val[n.Cols[i].ID]).Type.Kind, 1)\n		if g.Node.Col(g.Val[n.Cols[i].ID]).Type.IsChunk() {\n			gx = g.Node.Var(0, g.Val[n.Cols[i].ID])\n		}\n", losses},
	{"max gives every row the gradient", "rjp/aggregate.go", "kernels.Guard(kernels.Build(\"eq\", x, extreme), g)", "kernels.Guard(kernels.Build(\"ge\", extreme, x), g)", losses},
	{"max_agg gives every row the gradient", "rjp/aggregate.go", "kernels.Select(kernels.Build(\"eq_mask\", x, extreme), g, kernels.Num(0))", "kernels.Select(kernels.Build(\"eq_mask\", x, x), g, kernels.Num(0))", losses},
	{"tied extremes each get the whole gradient", "rjp/aggregate.go", "kernels.Div(gx, extremes.Var(s, count.ID)))", "kernels.Mul(gx, kernels.Div(extremes.Var(s, count.ID), extremes.Var(s, count.ID))))", byHand},
	{"NULL groups lose their gradient", "rjp/aggregate.go", "equi = append(equi, ra.Equi{L: kernels.Col{ID: g.Key[i]}, R: kernels.Col{Input: 1, ID: id}, NullSafe: true})", "equi = append(equi, ra.Equi{L: kernels.Col{ID: g.Key[i]}, R: kernels.Col{Input: 1, ID: id}})", byHand},
	{"branches of a union swap their gradients", "rjp/union.go", "kernels.Const(kernels.IntValue(int64(b))))\n		rows", "kernels.Const(kernels.IntValue(int64(len(n.Inputs)-1-b))))\n		rows", losses},

	// Types of a database that are texts in the algebra.
	{"values without an order are put in that of their texts", "sqlfront/bind/named.go", "	if order && why == \"\" {\n", "	if false {\n", named},
	{"windows order any type", "sqlfront/bind/order.go", "if err := checkComparable(s, keys, true, k.X); err != nil {", "if err := checkComparable(s, keys, true, k.X); err != nil && false {", named},
	{"min and max take any type", "sqlfront/bind/aggregate.go", "if c.Name == \"min\" || c.Name == \"max\" {", "if false {", named},
	{"equal intervals of different texts are different", "sqlfront/bind/named.go", "	if of.ByKey {\n", "	if false {\n", named},
	{"intervals are grouped by their texts", "sqlfront/bind/named.go", "of != nil && of.ByKey {\n		return s.f.fail(at", "false {\n		return s.f.fail(at", named},
	{"a cast to text keeps what orders the value", "sqlfront/bind/named.go", "	case !of.Keyed:\n", "	case true:\n", named},
	{"an infinite date becomes a moment of a day", "kernels/named.go", "	case strings.HasSuffix(date, \"infinity\"):\n", "	case date == \"\":\n", named},
	{"the upper case of a text has the database's collation", "kernels/text.go", "if out == Text && x.Of != nil {", "if false {", named},
	{"text of any collation compares byte by byte", "pgbridge/types.go", "	case !c.bytes:\n", "	case false:\n", types},
	{"a type of another schema passes for Postgres's own", "pgbridge/types.go", "if !ok || !t.builtIn {", "if !ok {", types},

	// Rows.
	{"an order of rows has ties where the first fields are equal", "sqlfront/ast/rows.go", "L: pair(b.Op[:1], i), R: equal}", "L: pair(b.Op, i), R: equal}", byHand},
	{"NOT IN of rows with NULLs holds", "sqlfront/bind/found.go", "		if open {\n			x = ", "		if open {\n			_ = ", byHand},

	// Guards and NULL (laws 1, 6).
	{"a guard multiplies and lets NaN through", "kernels/vjp.go", "func Guard(cond, g *Expr) *Expr { return Build(\"case\", cond, g, ZerosLike(g.Type)) }", "func Guard(cond, g *Expr) *Expr { return Mul(CastTo(Float64, BuildAttr(\"cast\", Attr{Kind: Int}, cond)), g) }", registry},
	{"guards of enclosing branches are dropped", "kernels/vjp.go", "gs = append(guards[:len(guards):len(guards)], conds[i])", "gs = nil", registry},

	// Derivatives of kernels.
	{"d(a−b)/db has the wrong sign", "kernels/arith.go", "Neg(SumTo(g, e.Args[1].Type))} },\n})\n\nvar _ = Register(&Def{\n	Name: \"mul\"", "SumTo(g, e.Args[1].Type)} },\n})\n\nvar _ = Register(&Def{\n	Name: \"mul\"", registry},
	{"d(a·b)/da forgets b", "kernels/arith.go", "return []*Expr{mulSumTo(g, b, a.Type), mulSumTo(g, a, b.Type)}", "return []*Expr{SumTo(g, a.Type), mulSumTo(g, a, b.Type)}", registry},
	{"softmax forgets its coupling", "kernels/softmax.go", "Mul(e, Build(\"softmax_center\", e.Args[0], g))", "Mul(e, g)", registry},
	{"cross entropy forgets the label", "kernels/lane.go", "out[label] = -sum(out)", "out[label] = -0.999 * sum(out)", registry},
	{"sqnorm without its 2", "kernels/norm.go", "Mul(Mul(Num(2), g), e.Args[0])", "Mul(g, e.Args[0])", registry},
	{"the gradient of norm at 0 is NaN", "kernels/norm.go", "Mul(Select(Build(\"eq_mask\", e, Num(0)), Num(0), Div(g, nonzero(e))), e.Args[0])", "Mul(Div(g, e), e.Args[0])", registry},
	{"dot gives both sides the same", "kernels/dot.go", "Mul(g, e.Args[1]), Mul(g, e.Args[0])", "Mul(g, e.Args[1]), Mul(g, e.Args[1])", registry},
	{"tied arguments of maximum get all", "kernels/maximum.go", "Mul(Num(0.5), g)", "g", registry},
	{"sigmoid's derivative without its second factor", "kernels/unary.go", "Mul(g, Build(\"sigmoid_slope\", x))", "Mul(g, Build(\"sigmoid\", x))", registry},
	{"the second derivative of norm at 0 is NaN", "kernels/norm.go", "Div(g, nonzero(e))", "Div(g, e)", registry},
	{"elu's derivative overflows in the branch not taken", "kernels/unary.go", "Mul(g, Build(\"exp\", positive(x, Num(0), x)))", "Mul(g, Build(\"exp\", x))", registry},
	{"power differentiates 0·x⁻¹ at 0", "kernels/arith.go", "Select(flat, Num(1), Select(low, lowered(e, x), high))", "Select(low, lowered(e, x), high)", registry},
	{"matmul of vectors gives each its own", "kernels/matmul.go", "[]*Expr{Mul(g, b), Mul(g, a)}", "[]*Expr{Mul(g, a), Mul(g, b)}", registry},
	{"layer_norm forgets the mean of the gradient", "kernels/lane.go", "out[i] = (out[i] - mean - y[i]*left", "out[i] = (out[i] - y[i]*left", registry},
	{"every element that ties for the maximum gets all", "kernels/max_elements.go", "Div(g, SumTo(mask, e.Type))", "g", registry},
	{"huber's derivative is not cut off", "kernels/huber.go", "Build(\"minimum\", Build(\"maximum\", x, Neg(delta)), delta)", "Build(\"maximum\", x, Neg(delta))", registry},
	{"bce_with_logits pulls its target the wrong way", "kernels/maximum.go", "Neg(SumTo(Mul(g, z), y.Type))", "SumTo(Mul(g, z), y.Type)", registry},
	{"leaky_relu's slope is learned from positive elements", "kernels/maximum.go", "positive(x, Num(0), Mul(g, x))", "positive(x, Mul(g, x), Num(0))", registry},
	{"both parts of a concatenation get the first part's gradient", "kernels/concat_axis.go", "to[e.Attr.Axis] = s[e.Attr.Axis]", "to[e.Attr.Axis] = 0", registry},

	// Digits: what cancels, and squares that leave the range.
	{"tanh's derivative cancels", "kernels/unary.go", "Mul(g, Build(\"sech2\", x))", "Mul(g, Sub(Num(1), Build(\"square\", Build(\"tanh\", x))))", digits + "tanh"},
	{"the square in erf's derivative is rounded", "kernels/accurate.go", "&^ (1<<27 - 1)", "&^ 0", digits + "gauss"},
	{"the probability of a sure label is taken from 1", "kernels/lane.go", "	out[label] = 0\n	out[label] = -sum(out)", "	out[label]--", digits + "cross_entropy_slope"},
	{"a sure softmax forgets what the others have", "kernels/lane.go", "out[i] = g[m]*rest - p*others", "out[i] = g[m] - p*(others+g[m])", digits + "softmax_center"},
	{"a long lane's squares overflow", "kernels/lane.go", "case m > 1e150:", "case m > 1e308:", digits + "^norm$"},
	{"the executor's norm overflows", "executor/device/cpu/loops_dense.go", "!(x > 1e-135 && x < 1e150)", "x != x", loops + "^norm$"},
	{"the executor's cross entropy takes a sure label from 1", "executor/device/cpu/loops_softmax.go", "if row[l] <= 0.5 {", "if row[l] <= 1 {", loops + "^cross_entropy$"},
	{"a gradient that is not finite is given", "engine/finite.go", "		if row < 0 {\n			continue\n		}\n		var key", "		if row < 0 || v.N > 0 {\n			continue\n		}\n		var key", finite},

	// Values of kernels.
	{"einsum does not walk the diagonal of a repeated label", "kernels/einsum.go", "st[l] += step", "st[l] = step", registry},
	{"logsumexp overflows", "kernels/lane.go", "s += math.Exp(v - m)\n		}\n	}\n	return m, math.Log1p(s)", "s += math.Exp(v)\n		}\n	}\n	return m, math.Log1p(s)", registry},
	{"a reduction takes neighbours for an axis", "kernels/static.go", "at := i/inner*inner*n + i%inner", "at := i * n % len(x)", registry},
	{"the executor's log_softmax uses one row's sum for all", "executor/device/cpu/loops_softmax.go", "out[i] = T((float64(x[i]) - top[i/last]) - l[i/last])", "out[i] = T((float64(x[i]) - top[i/last]) - l[0])", "./internal/kernelsql -run=TestLosses"},
	{"the executor's outer product is transposed", "executor/forms/ops_dense.go", "device.Product{Batch: 1, M: v.Type.Shape[0], K: 1, N: v.Type.Shape[1]}", "device.Product{Batch: 1, M: v.Type.Shape[1], K: 1, N: v.Type.Shape[0]}", "./internal/kernelsql -run=TestLosses"},
	{"generated SQL drops a kernel's static arguments", "sqlgen/sqlite.go", "	if d.Static() {\n", "	if d.Static() && e.Attr.Axis == 0 {\n", "./internal/kernelsql -run=TestLosses"},
	{"the store pairs elements of chunks of different shapes", "store/functions/kernels.go", "if head != nil && string(head[2:]) != string(h[2:]) {", "if head != nil && head[2] != h[2] {", "./internal/kernelsql -run=TestSelect"},
	{"the store calls a kernel with the arguments' types of the call before", "store/functions/kernels.go", "if k.expr != nil && bytes.Equal(k.key, k.next) {", "if k.expr != nil && bytes.HasPrefix(k.key, k.next[:min(1, len(k.next))]) {", "./internal/kernelsql -run=TestSelect"},

	// Reference code against the executor's own.
	{"the oracle counts NULL as zero", "ra/interp/interp.go", "	if v.Null {\n		return\n	}\n", "	if v.Null {\n		v.Null = false\n		if v.Type.Shape != nil {\n			v.F = make([]float64, v.Type.Size())\n		}\n	}\n", random},
	{"the oracle matches NULL with NULL", "ra/interp/interp.go", "		if v.Null && !q.NullSafe {\n			return \"\", false\n		}\n", "", byHand},

	// The binder.
	{"numerics of a sub-query are looked at once", "pgbridge/rows.go", "		out.Type.Of = shortNumeric()\n", "", "./ -run=TestLongNumericsFromOutside"},
	{"the engine does not see that numerics have become long", "engine/catalogue.go", "now != nil && now.Equal != \"\" {", "now != nil && now.Equal == \"-\" {", "./ -run=TestLongNumericsFromOutside"},
	{"ranges are read as the session prints them", "pgbridge/rows.go", "			under = exact\n", "", carried},
	{"generated SQL carries texts that do not read back", "sqlgen/sqlgen.go", "p.o.Inexact == \"\" {", "true {", carried},
	{"avg divides by all rows", "sqlfront/bind/aggregate.go", "[]aggPart{{ra.Sum, x}, {ra.Count, countable(x)}} },", "[]aggPart{{ra.Sum, x}, {ra.Count, kernels.Const(kernels.IntValue(1))}} },", byHand},
	{"a mask zeroes instead of dropping", "sqlfront/bind/aggregate.go", "return kernels.Build(\"case\", mask, x, kernels.Const(kernels.NullOf(x.Type)))", "if x.Type.IsFloat() {\n		return kernels.Build(\"case\", mask, x, kernels.ZerosLike(x.Type))\n	}\n	return kernels.Build(\"case\", mask, x, kernels.Const(kernels.NullOf(x.Type)))", byHand},

	{"a window ignores its partition", "sqlfront/bind/window.go", "	group := ids[:len(keys)]\n", "	group := ids[:0]\n", byHand},
	{"a descending order ascends", "sqlfront/bind/order.go", "	if k.desc {", "	if false {", byHand},
	{"a running sum leaves out the rows that tie", "sqlfront/bind/running.go", "		yes := true", "		yes := false", byHand},
	{"a frame begins one row late", "sqlfront/bind/running.go", "kernels.Build(\"ge\", far", "kernels.Build(\"gt\", far", byHand},
	{"lag looks ahead", "sqlfront/bind/running.go", "shifted(s, c, w, keys, -1)", "shifted(s, c, w, keys, 1)", byHand},
	{"positions run through all partitions", "sqlfront/bind/order.go", "	for _, g := range o.group {", "	for _, g := range o.group[:0] {", byHand},
	{"array_agg stacks from the end", "sqlfront/bind/array_agg.go", "kernels.Attr{Int: n}, at[0],", "kernels.Attr{Int: n}, kernels.Build(\"sub\", intConst(n-1), at[0]),", byHand},
	{"the sample variance divides by n", "sqlfront/bind/variance.go", "bindAggregate(\"var_samp\", variance(1,", "bindAggregate(\"var_samp\", variance(0,", byHand},
	{"a variance is not centered", "sqlfront/bind/window.go", "kernels.Sub(a.swap(x), mean.result(a.cols))", "a.swap(x)", byHand},
	{"NOT EXISTS keeps who has a partner", "sqlfront/bind/exists.go", "		op, e = ra.AntiJoin, not.X", "		e = not.X", byHand},
	{"a correlated count of nothing is NULL", "sqlfront/bind/correlated.go", "c.Name == \"count\"", "c.Name == \"counts\"", byHand},
	{"a correlated sub-query loses the rows without partner", "sqlfront/bind/correlated.go", "	rest := s.b.semiJoin(ra.AntiJoin,", "	rest := s.b.semiJoin(ra.SemiJoin,", byHand},
	{"a determined value comes from any row", "sqlfront/bind/determined.go", `		s.equi = append(s.equi,
				ra.Equi{L: kernels.Col{ID: g.keyIDs[r.at[i]]}, R: kernels.Col{Input: at, ID: u}, NullSafe: true})`, "\t\t_, _ = i, u", byHand},
	{"a group that lacks a row of an outer join is lost", "sqlfront/bind/determined.go", "		common[k].optional = true\n", "		_ = k\n", byHand},
	{"a group that lacks a row of an outer join has another's", "sqlfront/bind/determined.go", "	rest := s.b.semiJoin(ra.AntiJoin,", "	rest := s.b.semiJoin(ra.SemiJoin,", byHand},
	{"a product is NULL where both factors are", "sqlfront/bind/nulls.go", "k.allOf(\"or\", in, x)", "k.allOf(\"and\", in, x)", byHand},
	{"a sum is NULL where one of its values is not", "sqlfront/bind/aggregate.go", "kernels.Build(\"case\", q, nullInt(), intConst(1))}, \"values\")", "kernels.Build(\"case\", q, intConst(1), nullInt())}, \"values\")", byHand},
	{"NULLs of a parameter are those of the call before", "engine/cache.go", " || !slices.Equal(nulls, q.Valid) {", " || nulls == nil && q.Valid != nil {", "./ -run=TestNullsMove"},
	{"a step asks for the NULLs that a run began with", "sqlgen/step_fixed.go", "s.Col == n.TableCols[i] {", "s.Col == n.TableCols[i] && n.Cols[i].Dep {", "./train -run=TestStatementNulls"},
	{"NOT IN takes NULL for another value", "sqlfront/bind/found.go", "	if nullable(tests) || nullable(q.targets) {", "	if nullable(nil) {", byHand},
	{"NOT IN of NULLs looks at the left side only", "sqlfront/bind/found.go", "kernels.Build(\"or\", kernels.Build(\"is_null\", tests[0]), kernels.Build(\"is_null\", q.targets[0]))", "kernels.Build(\"is_null\", tests[0])", byHand},
	{"NOT IN filters as if no NULL were there", "sqlfront/bind/exists.go", "op == ra.AntiJoin && (nullable(tests) || nullable(targets)) ||", "", byHand},
	{"IN of a constant is never open", "sqlfront/bind/found.go", "some(1), null, boolConst(false))", "kernels.Build(\"is_not_null\", null), null, boolConst(false))", byHand},
	{"> ALL holds where = does", "sqlfront/ast/rows.go", "\">\": \"<=\"", "\">\": \"<\"", byHand},
	{"a text literal takes the narrowest type", "sqlfront/bind/unknown.go", "!ok || rank[t.Name] > rank[out.Name]", "!ok || rank[t.Name] < rank[out.Name]", byHand},
	{"a NULL in an array literal is a text", "sqlfront/bind/unknown.go", "strings.EqualFold(word, \"null\")", "word == \"\\x00\"", byHand},
	{"the columns of a union take the type of a literal", "sqlfront/bind/union.go", "				continue // of the type of the others\n", "				types[i], known[i] = kernels.Type{Kind: kernels.Text}, true\n				continue\n", byHand},
	{"a part of the branches of a union determines a column", "sqlfront/bind/determined.go", "return !slices.ContainsFunc(here, o.is) })\n		for", "return false })\n		for", byHand},
	{"a cast to real does not round", "kernels/to_real.go", "r.X = float64(float32(a[0].Float()))", "r.X = a[0].Float()", "./ -run=TestSemantics/types"},
	{"the gradient of w.v copies the other values", "autodiff/autodiff.go", "p.Scan.Table.Cols[k].IsValue() && !p.Scan.IsKey(c.ID) {", "p.Scan.Table.Cols[k].IsValue() && !p.Scan.IsKey(c.ID) && c.Dep {", "./ -run=TestSemantics/types"},
	{"rows of chunks with fewer axes are taken as rows of the others", "executor/forms/by_rows.go", "	case len(s) != b.axes || ", "	case len(s) < 2 || ", "./executor -run=TestMapsByRowsBroadcast"},
	{"each row of a product takes the first chunk's matrix", "executor/forms/by_rows.go", "int32(r / b.m)", "int32(r / b.m * 0)", "./executor -run=TestMapsOfProducts"},
	{"a matrix that is transposed multiplies as it was stored", "executor/device/cpu/loops_dense.go", "matrix, ld, turn = transposed, width, false", "matrix, ld, turn = transposed, k, true", "./executor -run=TestMapsOfProducts"},
	{"a product that is read whole is made by rows only", "executor/forms/by_rows.go", "values.Turned(u) || large(l, u) && u.Args[1] == v", "values.Turned(u)", "./executor -run=TestProductsReadWhole"},
	{"a constant product is made in each step", "executor/forms/by_rows.go", "o.Vary != v.Vary || ", "", "./executor -run=TestConstantProducts"},
	{"pieces of a product begin at its first column", "kernels/blas/openblas_cgo.go", "x, keep := a[i*lda+j:], float32(1)", "x, keep := a[i*lda+j-j:], float32(1)", "./kernels/blas -run=TestInPieces"},
	{"a map by rows makes a product of columns", "executor/forms/by_rows.go", "	return !values.Turned(a) && ", "	return ", "./executor -run=TestMapsOfProducts"},
	{"panels of a narrow product that is transposed lie over each other", "executor/device/cpu/run_gemm.go", "to, s.Side, out[lo:], s.Long)", "to, s.Side, out, s.Long)", "./executor -run=TestNarrowProducts"},
	{"a narrow operand is transposed where it is not", "executor/forms/gemm_narrow.go", "Turn:   p.Bt != p.At,", "Turn:   p.Bt,", "./executor -run=TestNarrowProducts"},
	{"rows behind the last block are not transposed", "kernels/cpu/transpose.h", "r < m ? n : 0", "r < m ? n : n", "./kernels/cpu -tags=unoptimized -run=TestTranspose"},
	{"a COALESCE is its first argument", "executor/values/graph.go", "d.Name != \"coalesce\" || args[0].Type.Nullable:", "d.Name != \"coalesce\":", "./ -run=TestSemantics"},
	{"a run that a lane cuts is summed into another group", "executor/device/cpu/sums.go", "		s.parts[1].g = s.group()", "		s.parts[1].g = s.at", "./executor -run=TestRuns"},
	{"work is done when the caller's part is", "kernels/cpu/together.go", "		h.join()\n", "		_ = h\n", "./kernels/cpu -tags=unoptimized -run=TestTogetherWaits -timeout=5s"},
	{"work in goroutines is done when the caller's part is", "kernels/cpu/together.go", "	all.Wait()\n", "", "./kernels/cpu -tags=unoptimized -run=TestTogether$ -race -count=3"},
	{"a worker that sleeps is not woken", "kernels/cpu/together.go", "if h.state.Swap(posted) == asleep {", "if h.state.Swap(posted) > asleep {", "./kernels/cpu -tags=unoptimized -run=TestTogetherWaits -timeout=5s"},
	{"a caller that sleeps is not woken", "kernels/cpu/together.go", "if h.state.Swap(idle) == awaited {", "if h.state.Swap(idle) > asleep {", "./kernels/cpu -tags=unoptimized -run=TestTogetherWaits -timeout=5s"},
	{"runs of rows are summed into the groups in their order", "executor/device/cpu/sums.go", "return int(s.runs.Group[run])", "return run", "./executor -run=TestRunsOutOfOrder"},
	{"sums of a large column begin with those of the step before", "executor/device/cpu/run_spmm.go", "	clear(sums)\n", "", "./executor -run=TestSpMMInBlocks"},
	{"pieces of rows in a file are all the first one", "executor/device/cpu/run_spmm.go", "from.Idx.At[lo:hi]); err", "from.Idx.At[:hi-lo]); err", "./executor -run=TestRowsFromFile"},
	{"the sum of no rows is not NULL", "executor/values/graph.go", " && v.Groups.In.N > 0\n", "\n", "./executor -run=TestRandomPlans"},
	{"weights of a step are put in order once", "executor/forms/spmm.go", "f.V.Data == nil || f.V.Vary || f.V.Uniform()", "f.V.Data == nil || f.V.Uniform()", "./executor -run=TestModels/factors"},
	{"a column of weights is rounded for whoever reads it", "executor/forms/fuse.go", "		} else if !asWeight(u, v) {\n			return false\n		}", "		}", "./executor -run=TestWeightsInSingles"},
	{"a sum of products in blocks keeps the last one", "executor/device/cpu/run_gemm.go", "		beta = 1\n", "		beta = 0\n", "./executor -run=TestSumsOfProducts"},
	{"what a guard excludes is computed into memory", "executor/forms/lower.go", "	if l.conditional(v) || onlySubtracted(l, v) {", "	if onlySubtracted(l, v) {", "./ -run=TestSemantics/guards"},
	{"what a guard excludes is read through an index", "executor/values/guarded.go", "		if Lazy(d, i) && err == nil {", "		if err != nil {", "./ -run=TestSemantics/guards"},
	{"semi-joins move to the other input", "optimizer/rules/push_semi_join_below_join.go", "!x.IsCol || slot >= 0 && x.Col.Input != slot", "!x.IsCol", goldens},

	// Rules that fire too often.
	{"EliminateAggregateOnKey ignores the identity", "optimizer/rules/eliminate_aggregate_on_key.go", "			if !slices.Contains(n.Group, k) {\n				return false\n			}", "			if !slices.Contains(n.Group, k) {\n				continue\n			}", goldens},
	{"EliminateAggregateOnKey fires without a group", "optimizer/rules/eliminate_aggregate_on_key.go", "n.Op != ra.Aggregate || len(n.Group) == 0", "n.Op != ra.Aggregate", goldens},
	{"EliminateSelfJoin takes any path", "optimizer/rules/eliminate_self_join.go", "	path, ok = t.trace(n.Inputs[a], ids)\n", "	for i := range ids {\n		t.want = want[i : i+1]\n		if path, ok = t.trace(n.Inputs[a], ids[i:i+1]); !ok {\n			break\n		}\n	}\n", goldens},
	{"EliminateSelfJoin takes a part of the identity", "optimizer/rules/eliminate_self_join.go", "	for _, k := range u.Unique {\n		if !slices.Contains(want, k) {\n			return nil, nil, false\n		}\n	}\n", "", random},
	{"PushKernelBelowJoin moves kernels that can fail", "optimizer/rules/push_kernel_below_join.go", "&& k.total && want(e, k.slots.list())", "&& want(e, k.slots.list())", goldens},
	{"inputs that are merged at once keep their places", "optimizer/rules/merge_joins.go", "m.base[slot] = len(inputs)", "m.base[slot] = slot", goldens},
	{"inputs that go at once leave their places", "optimizer/rules/eliminate_self_join.go", "to[s] = len(rest)", "to[s] = s", goldens},
	{"constants do not count among the same conditions", "optimizer/rules/merge_duplicates.go", "append(append(append(key, '='), e.Const.String()...), e.Type.String()...)", "append(key, '=')", goldens},
	{"EliminateTruePredicate takes false for true", "optimizer/rules/eliminate_true_predicate.go", "return p.IsConst() && p.Const.True()", "return p.IsConst()", goldens},
	{"pruning drops what is read", "optimizer/rules/prune_columns.go", "	for _, g := range n.Group {\n		need[g] = true\n	}\n", "", losses},

	// Sums by parts.
	{"sums by parts are trusted wherever the sample is", "executor/device/cpu/run_parts.go", "	if err != nil || !(near >= least) {\n", "	if least = 0; err != nil || near < 0 {\n", parts},
	{"a gap in a grid is no gap", "executor/forms/distribute.go", "if a.Count*b.Count == d.R.Space.N {", "if a.Count*b.Count >= d.R.Space.N {", parts},
	{"the panels of a round meet those of the round before", "executor/device/cpu/run_parts.go", "return i, (i + round) % n", "return i, (i + round/2) % n", parts},
	{"a run of products forgets the one before", "executor/device/cpu/run_parts.go", "	if (r.added[side][at]-1)/r.Runs[side] == 0 {", "	if r.added[side][at] >= 0 {", parts},
	{"a scalar that waits for the sum is not waited for", "executor/forms/distribute.go", "return f.V.Vary || !f.V.Uniform()", "return !f.V.Uniform()", parts},

	// What is read.
	{"a small change leaves a table's count as it was", "store/catalogue.go", "	changed, t.Count = !t.Count.Stale, t.Count.AsStale()\n", "", "./store -run=TestCounts"},
	{"what training writes is never NULL", "store/source.go", "data.Valid == nil && (now.Count == nil || !now.Count.HasNull(col)) {", "data != nil && now != nil {", "./store -run=TestCounts"},
	{"a count from within a statement outlives it", "store/dml.go", "		n.Count = now.Count\n", "", "./ -run=TestCountsOf"},
	{"a table filled with nothing holds what it held", "store/catalogue.go", "	case t.Filled: //", "	case t.Filled && wrote > 0: //", "./store -run=TestCountsOf"},
	{"stored values of a parameter are those in training", "executor/build.go", "	if st.leaves[key] == nil && st.p.becomes(t, n.TableCols[i], v) {", "	if v == nil {", "./executor -run=TestParametersInPlace"},
	{"what was known of NULLs decides", "executor/param.go", "		case v.Valid == nil:\n			d.Valid = nil\n", "", "./executor -run=TestParametersInPlace"},
	{"room for no rows is taken", "store/columns/reader.go", "if x == nil || x.F64 == nil && x.F32 == nil && x.Ints == nil {", "if x == nil {", "./store -run=TestRoomForNoRows"},
	{"large chunks of all rows are those of the first", "store/lite/reader.go", "if rc := C.sqlite3_blob_reopen(b.p, C.sqlite3_int64(id)); rc != C.SQLITE_OK {", "if rc := C.int(0); rc != C.SQLITE_OK {", "./store -run=TestLargeChunks"},
	{"elements behind the vectors of a row are not paired", "kernels/cpu/reduce.h", "diff ? N(rows##NV)(p, 1, 1, out) : N(rows##NV)(p, 0, 1, out); ", "diff ? N(rows##NV)(p, 1, 0, out) : N(rows##NV)(p, 0, 0, out); ", "./kernels/cpu -tags=unoptimized"},
	{"log-sum-exp counts the elements behind the vectors twice", "kernels/cpu/reduce.h", "x = (N(vec))(((N(words))x & m) | ((N(words))none & ~m));", "x = (N(vec))(((N(words))x & (m | 0)) | ((N(words))x & ~m));", "./kernels/cpu -tags=unoptimized"},
	{"a group's edges have one row where the first and the last do", "kernels/cpu/spmm.h", "		other |= at[e] ^ at[lo];\n", "		(void)e;\n", "./kernels/cpu -tags=unoptimized -run=TestAgainstReference"},
	{"1 is subtracted from the first logit", "executor/device/cpu/loops_softmax.go", "one_hot is not in 0 to %d\", l, size-1)\n		}\n		row[l]--\n", "one_hot is not in 0 to %d\", l, size-1)\n		}\n		row[l*0]--\n", "./executor -run=TestMinusLabels"},
	{"what others read is changed in place", "executor/forms/add_rows.go", " || len(l.uses[base]) != 1", "", "./executor -run=TestRandomAdditions"},
	{"groups that do not follow each other are summed as if they did", "executor/device/cpu/sums.go", " && (to == s.at || s.of(to) == s.of(to-1)+1)", "", "./executor -run=TestRunsOutOfOrder"},
	{"the row that a lane's groups hold is that of the first lane's", "executor/device/cpu/run_spmm.go", "At: from.Held[g:]", "At: from.Held", "./executor -run=TestLanesOfGroups"},
	{"a quotient by zero is not zero", "executor/device/cpu/loops_elem.go", "device.Ratio: cpu.Ratio", "device.Ratio: cpu.Div", "./executor -run=TestRunsInPasses"},
	{"a val is computed by the first of its forms", "executor/forms/forms.go", "cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.Name, b.Name))", "0*len(a.Name+b.Name) + 0*cmp.Compare(1, 1)", "./executor -run=TestFormsInAnyOrder"},
	{"counts begin with what the memory held", "executor/structure/crew.go", "	clear(t.count)\n", "", "./executor/structure -run=TestTally"},
	{"a worker never goes through the scheduler", "kernels/cpu/together.go", "		runtime.Gosched()\n", "", "./kernels/cpu -tags=unoptimized -run=TestYield"},
	{"a sum begins anew in each block", "executor/device/cpu/sums.go", "			s.begun = true\n", "", "./executor -run=TestRunsInPasses"},
	{"codes that do not occur are groups", "kernels/cpu/order.c", "		g += is;\n", "		g++;\n", "./kernels/cpu -tags=unoptimized -run=TestOffsets"},
	{"rows between the first and the last are taken to go on", "kernels/cpu/lists.h", "other ? OTHERWISE : step", "step", "./kernels/cpu -tags=unoptimized -run=TestLists"},
	{"pairs of a later list are the first ones", "kernels/cpu/reduce.h", "p->bt, p->br, size, lo,", "p->bt, p->br, size, 0,", "./kernels/cpu -tags=unoptimized"},
	{"a join writes to the rows that it shares", "executor/structure/keys_int.go", "!lost && !(t.unique && t.rows != nil) && IsIdentity(q)", "!lost && IsIdentity(q)", "./executor/structure -run=TestProbeShares"},
	{"rows are added to those of the first lane", "executor/device/cpu/run_rows.go", "append(to, int32(lo+i))", "append(to, int32(i))", "./executor -run=TestRandomAdditions"},
	{"rows that have nothing added get the first row's", "executor/device/cpu/run_rows.go", "			if at >= 0 {", "			if at = max(at, 0); at >= 0 {", "./executor -run=TestRowsAddedInPlace"},

	{"estimates outlive what they were made of", "optimizer/rules/context.go", "		c.forget(n)\n		c.again(n)\n", "		c.again(n)\n", goldens + " -run=TestGolden"},
	{"what reads a changed node is not tried again", "optimizer/rules/context.go", "		a.tried = false\n		for _, p := range a.users {", "		a.tried = false\n		for _, p := range a.users[:0] {", goldens + " -run=TestGolden"},
	{"a reader that has gone is counted", "optimizer/rules/context.go", "			for _, in := range old {\n				c.release(in, n)\n			}\n", "			_ = old\n", goldens + " -run=TestGolden"},
	{"a signature outlives what it describes", "optimizer/rules/context.go", "			a.signature = \"\"\n", "", goldens + " -run=TestGolden"},
	{"every table has one row", "ra/node.go", "case n.Op == Scan && n.Table.Rows == 1:", "case n.Op == Scan:", narrow},
	{"every condition fixes what it reads", "ra/links.go", "!p.Def.Is(kernels.Equates)", "len(p.Args) != 2", narrow},
	{"any computed column determines what it reads", "ra/links.go", "return l.Same(x) && r.IsConst() && !r.Const.Null", "return l.IsCol", narrow},
	{"contributions within a join forget its conditions", "rjp/join.go", "		pred = append(pred, move.Map(p))\n", "		_ = p\n", narrow},
	{"contributions of many inputs have the first one's key", "rjp/join.go", "SumGroups(c.B, rows, first[i], nKey, len(ps))", "SumGroups(c.B, rows, 0, nKey, len(ps))", "./internal/gradtest -run=TestManyInputs"},
	{"nanoseconds of a timestamp go", "interop/moment.go", "	case at.Nanosecond()%1000 != 0:", "	case at.Nanosecond() < 0:", "./interop -run=TestMoments"},
	{"the zone of a timestamp goes", "interop/moment.go", "	case zone && !zoned:", "	case zone && zoned && !zone:", "./interop -run=TestMoments"},
	{"the time of day of a date goes", "interop/moment.go", "if zone || sec%86400 != 0 || frac != 0 {", "if zone {", "./interop -run=TestMoments"},
	{"a column that cannot be read is left out", "interop/interop.go", "		if c.Refused != \"\" {\n			return refused(file, c)", "		if c.Refused != \"\" && false {\n			return refused(file, c)", "./interop -run=TestUnreadableColumns"},
	{"a table is made without the columns that cannot be read", "files.go", "	if err := interop.Readable(name, cols); err != nil {\n		return err\n	}\n", "	cols = slices.DeleteFunc(slices.Clone(cols), func(x interop.Column) bool { return x.Refused != \"\" })\n", "./ -run=TestImportUnreadable"},

	// Training.
	{"Adam without bias correction", "train/optimizers.go", "return h.lr / (1 - math.Pow(h.Beta1, float64(h.step))),", "return h.lr,", training},
	{"weight decay shrinks nothing", "train/optimizers.go", "cpu.SGD(T(h.lr), T(h.decay), T(h.scale), g, p)", "cpu.SGD(T(h.lr), 0, T(h.scale), g, p)", training},
	{"patience counts from the wrong validation", "train/train.go", "c.Patience > 0 && p.Since >= c.Patience", "c.Patience > 0 && p.Since > c.Patience", training},
	{"a resumed run forgets the optimizer's state", "train/run/record.go", "s.State[i].F32[from+j] = float32(x)", "s.State[i].F32[from+j] = 0 * float32(x)", resuming},
	{"rows of a step that share a matrix are other rows", "engine/batch.go", "rows[i] = b.order[at]", "rows[i] = at", "./ -run=Batch"},
	{"every epoch has the batches of the first", "engine/batch.go", "b.epoch, b.perm = epoch, train.Permutation(env.Seed, epoch, b.N)", "b.epoch, b.perm = epoch, train.Permutation(env.Seed, 1, b.N)", "./ -run=Batch"},

	// Data among the parameters.
	{"a bias that examples share counts as data", "engine/targets.go", "return s.Table.Rows > 1 && once(n, s.Table)", "return s.Table.Rows > 1", looking},
	{"a column that the loss reads elsewhere too counts as data", "engine/targets.go", "len(with) > 0 && !l.other[s]", "len(with) > 0", looking},
	{"the target is not told from other terms of data", "engine/targets.go", "if !t.fixed && len(t.from) == 0 {", "if false {", looking},
	{"frozen numbers are counted as trained", "train/run/slots.go", "			if is {\n				rows++", "			if is || true {\n				rows++", looking},
	{"a compiled loss outlives the settings that its texts were read under", "engine/cache.go", "k := db.Meaning() + \"\\x00\" + r.Loss", "k := r.Loss", "./ -run=SettingsOfCompiled"},
	{"definitions are read under the user's settings", "pgbridge/settings.go", "if now := s.current()[name]; ours && now != value {", "if now := s.current()[name]; ours && now == \"\" {", "./pgbridge -run=DefinitionsSettings"},
	{"the user's settings do not come back", "pgbridge/settings.go", "to, back = set(to, name, value), set(back, name, now)", "to, back = set(to, name, value), set(back, name, value)", "./pgbridge -run=DefinitionsSettings"},
	{"a view is read on a path that hides what it calls", "pgbridge/settings.go", "values[\"search_path\"] = \"pg_catalog\"", "values[\"jit\"] = \"off\"", "./pgbridge -run=DefinitionsSettings"},
	{"a backslash means the same under every setting", "sqlfront/bind/settings.go", "setting(cat, \"standard_conforming_strings\") == \"off\"", "false", "./internal/gradtest -run=TestSettingsOfTexts"},
	{"= NULL means the same under every setting", "sqlfront/bind/settings.go", "if isNullTest != nil &&", "if false &&", "./internal/gradtest -run=TestSettingsOfTexts"},
	{"the text of a number has all digits under every setting", "sqlfront/bind/settings.go", "return err == nil && digits < 1", "return err == nil && digits < -99", "./internal/gradtest -run=TestSettingsOfTexts"},
	{"an operator of the user's is taken for Postgres's own", "sqlfront/bind/settings.go", "if _, wrong = cat.Function(ctx, text.Path, \"\", op); wrong != nil {", "if wrong != nil {", "./internal/gradtest -run=TestSettingsOfTexts"},
	{"an aggregate of the user's is taken for Postgres's own", "sqlfront/bind/settings.go", "(isAggregate(x) || x.Over != nil)", "x.Over != nil", "./internal/gradtest -run=TestSettingsOfTexts"},
	{"generated SQL has a text that a setting changes", "internal/sqltext/sqltext.go", "	if strings.Contains(s, `\\`) {", "	if false {", "./sqlgen -run=PostgresConstants"},

	// Rights, and what is stored of a run.
	{"what functions read in a sub-query is not looked into", "sqlfront/bind/reach.go", "		if p := paramOf(b, t.Schema, t.Name); p != nil {\n			return false, f.fail", "		if p := paramOf(b, t.Schema, t.Name); p != nil && t.Name == \"\" {\n			return false, f.fail", reach},
	{"what cannot be seen passes for free of the parameter", "sqlfront/bind/reach.go", "	if r.Unseen != \"\" {", "	if false {", reach},
	{"quoted bodies are not read", "pgbridge/reach.go", "			r.take(u, via, path)\n		}", "			_ = path\n		}", reach},
	{"a cast's function is not looked into", "pgbridge/reach.go", "FROM pg_catalog.pg_cast c JOIN seen_in ON seen_in.oid = c.castfunc", "FROM pg_catalog.pg_cast c JOIN seen_in ON seen_in.oid = c.castfunc WHERE false", reach},
	{"parts of a parameter's table pass for data", "sqlfront/bind/reach.go", "	if len(b.opt.Params) == 0 || len(sel.From) == 0 {", "	if true {", reach},
	{"a function that draws is drawn once", "sqlfront/bind/reach.go", "		case slices.Contains(volatile, c.Name):", "		case false:", "./ -run=TestReachOfFunctions"},
	{"a function that tells the step is asked once", "sqlfront/bind/reach.go", "			perStep = true", "			perStep = false", "./ -run=TestReachOfFunctions"},
	{"USING keeps the type of its left side", "sqlfront/bind/using.go", "	if want := meetNumbers(l, r); want != x.Kind {", "	if want := meetNumbers(l, r); false && want != x.Kind {", meeting},
	{"a bigint and a numeric are compared in double precision", "sqlfront/bind/using.go", "	return refuseInexact(s, classes, args, at)", "	return nil", meeting},
	{"long literals lose their digits", "sqlfront/bind/using.go", "if other := classes[1-i]; longLiteral(e) &&", "if other := classes[1-i]; false && longLiteral(e) &&", meeting},
	{"a server's letters are those of Unicode", "sqlfront/bind/named.go", "	if _, server := s.b.cat.Setting(\"lc_ctype\"); server {", "	if false {", meeting},
	{"a superuser runs the texts of another's run", "pgbridge/session.go", "if err != nil || len(res.Rows) == 0 {\n		return bare(err) // that there is none", "if err != nil || len(res.Rows) == 0 || true {\n		return bare(err) // that there is none", rights},
	{"behind SET ROLE the texts of its role are run", "pgbridge/session.go", "remote && session != owner {", "remote && session != owner && false {", rights},
	{"a failed run is noted in what is undone", "train/run/record.go", "	_, err := r.db.Commit()\n	return err\n}", "	return r.db.Rollback()\n}", rights},
	{"pieces of the optimizer's state are taken in any order", "train/run/record.go", "at != int64(k) || ", "at < 0 || ", "./ -run=TestCorruptRuns"},
	{"short pieces of the optimizer's state are taken", "train/run/record.go", "len(piece.Data) != stateChunk {", "len(piece.Data) < min(stateChunk, n-k*stateChunk) {", "./ -run=TestCorruptRuns"},
	{"what the loss does not read is blamed for what is not finite", "engine/finite.go", " && live[n][c.ID] {", " && (live[n][c.ID] || true) {", "./ -run=TestNotFiniteDetail"},
	{"a gradient takes the name of its long parameter", "engine/grads.go", "n > longestName {", "n > 2*longestName {", "./ -run=TestLongNames"},
	{"a run forgets who else watches tables", "engine/catalogue.go", "return func() { c.db.Watch(outer) }", "return func() { c.db.Watch(nil) }", "./ -run=TestWatchersStay"},
}
