package faults

// The tests of recursive queries.
const recursions = "./internal/gradtest -run=TestLosses$|TestExecutor$|TestRepeated|TestRecursionsAgain"

// Faults of recursive queries.
func init() {
	faults = append(faults, []fault{
		{"the gradient of levels goes forward", "rjp/recursion.go", "n.Along(), !n.Loop.Back)", "n.Along(), n.Loop.Back)",
			recursions},
		{"what a level receives from outside is what it receives from the next", "rjp/recursion.go",
			"c.B.Retrace(self, start, back,", "c.B.Retrace(self, back, back,", recursions},
		{"a recursion's last states are left out of its kernels", "executor/values/graph.go",
			"idx.Src.N > idx.Dst.N+idx.Dst.N/64", "idx.Src.N > idx.Dst.N", "./executor -run=TestRecurrenceWork"},
		{"the structure has no states of a recursion at another site", "executor/fragment.go", "		r.states(of)\n", "",
			"./internal/gradtest -run=TestRecursionsAtSites"},
		{"a momentum without gradients stays at the least number", "executor/device/cpu/loops_update.go",
			"		v[i] = cpu.Settled(mu*v[i] + d)\n", "		v[i] = mu*v[i] + d\n", "./executor/device/cpu -run=TestStatesEnd"},
		{"calls of other types are one", "executor/values/graph.go", "strconv.AppendInt(append(key, ','), int64(n), 10)",
			"strconv.AppendInt(append(key, ','), int64(n)*0, 10)", "./executor -run=TestModels"},
		{"what a step reads receives from outside alone", "rjp/recursion.go", "c.Spread(step, rowsOf(c, total,",
			"c.Spread(step, rowsOf(c, start,", recursions},
		{"the start of a recursion receives from outside alone", "rjp/recursion.go", "out[0] = rowsOf(c, total,",
			"out[0] = rowsOf(c, start,", recursions},
		{"a state that depends on one behind it is taken for a constant", "autodiff/loops.go",
			"active[i], changed = true, true", "active[i], changed = true, false", recursions},
		{"a row of a level without a gradient from outside has none", "executor/loops.go",
			"if here[r] >= 0 || came != nil && came[r] >= 0 {", "if here[r] >= 0 {", recursions},
		{"rows of a recursion may repeat", "executor/loops.go", "r.keys.Enc.Count == total {", "total >= 0 {", recursions},
		{"windows of a step mix levels", "ra/levelled.go", "append(over.Pass, at), append(over.Partition, at)",
			"append(over.Pass, at), over.Partition", recursions},
		{"levels of two recursions are one", "optimizer/rules/merge_duplicates.go", " || m.Op == ra.Self {", " {",
			"./internal/gradtest -run=TestExecutor$"},
		{"columns that a step makes are dropped", "optimizer/rules/prune_columns.go", " || n.Op == ra.Recursion && s == 1 {",
			" {", "./internal/gradtest -run=TestExecutor$"},
		{"a column that depends on a parameter from the second level on is a constant", "sqlfront/bind/recursive.go",
			" || dep && !to.Dep; t.Nullable {", "; t.Nullable {", recursions},
	}...)
}
