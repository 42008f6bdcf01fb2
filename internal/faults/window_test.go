package faults

// The tests of windows on the processors.
const frames = "./executor -run=TestWindows$|TestExtremes|TestWindowsOfSteps"

// Faults of windows.
func init() {
	faults = append(faults, []fault{
		{"the gradient of a frame is the frame", "rjp/window.go", "	over.Frame = over.Frame.Mirrored()\n", "", byHand},
		{"rows that no frame holds have a gradient", "rjp/window.go", "kernels.Build(\"gt\", b.w.Var(0, b.reached)",
			"kernels.Build(\"ge\", b.w.Var(0, b.reached)", byHand},
		{"all that attain an extreme have all of its gradient", "rjp/window.go", "kernels.Div(x, shares)", "x", byHand},
		{"rows that are exceeded stay", "executor/device/cpu/run_extremes.go", "keys[next-s.begin] > key(q[back-1])",
			"keys[next-s.begin] >= key(q[back-1])", frames},
		{"an extreme outlives its frame", "executor/device/cpu/run_extremes.go", "int(q[front]) < lo", "int(q[front]) < lo-1",
			frames},
		{"rows without a gradient are in no frame", "rjp/window.go", "c.B.Semi(ra.AntiJoin, in, g.Node, lacks, nil)",
			"c.B.Semi(ra.AntiJoin, in, g.Node, lacks[:0], nil)", byHand},
		{"windows of two frames are one", "optimizer/rules/merge_duplicates.go", "lists.Map(o.Partition, at), o.Frame)",
			"lists.Map(o.Partition, at), 0)", byHand},
		{"a block does not go on from those before", "executor/device/cpu/run_window.go", "first < (b-1)*x.Block {",
			"first < 0 {", frames},
		{"a row that has left a frame is summed", "executor/device/cpu/run_window.go", "		if from >= q.mid {",
			"		if from > q.mid+1 {", frames},
		{"NULLs of an order lie at the other end", "executor/structure/window.go", "v.IsNull(r) != nullsFirst",
			"v.IsNull(r) == nullsFirst", frames},
		{"a frame is printed from its end in the order of its beginning", "sqlgen/window.go", "if s.Desc != back {",
			"if s.Desc {", "./sqlgen -run=TestLosses"},
		{"a window reads its partitions in pieces", "optimizer/physical/placement.go",
			"	if !from.within(n.RA.Over.Partition) {", "	if false {", "./internal/gradtest -run=TestSites"},
	}...)
}
