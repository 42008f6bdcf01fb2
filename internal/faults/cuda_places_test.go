package faults

// Faults of the kernels of elements at computed places, of sums by labels, of draws, of decimals and of frames.
func init() {
	const (
		onPlaces = "./executor -run=TestCudaPlaces"
		places   = "executor/device/cuda/places.go"
		frames   = "executor/device/cuda/frames.go"
	)
	faults = append(faults, []fault{
		{"an element behind the end is the first", places, "%s >= 1 && %[1]s <= %d", "%s >= 1 || %[1]s <= %d", onPlaces},
		{"an element that is not there is zero", "executor/device/cuda/ops.go", "		out = both(out, inside)\n",
			"		_ = inside\n", onPlaces},
		{"columns of a chunk are its rows", places, "i = fmt.Sprintf(\"(%s * %d + %s)\", at, n, i)",
			"i = fmt.Sprintf(\"(%s + %d * %s)\", at, n, i)", onPlaces},
		{"a derivative is put everywhere", places, "(%s && %s == %s ? (%s) %s : 0)", "(%s && %s >= 0 * %s ? (%s) %s : 0)",
			onPlaces},
		{"the least is the greatest", places, "			return sign + \"(double) \" +", "			return \"(double) \" +", onPlaces},
		{"a label twice in a result is no diagonal", places, "	if same == \"1\" {", "	if same != \"\" {", onPlaces},
		{"a label that the result lacks is taken once", places, "sizes[labels[0]]", "min(1, sizes[labels[0]])", onPlaces},
		{"NULL is distinct from NULL", "executor/values/graph.go",
			"	one, err := g.Call(kernels.Lookup(\"ne\"), kernels.Attr{}, null...)",
			"	one, err := g.Call(kernels.Lookup(\"or\"), kernels.Attr{}, null...)", "./executor -run=TestPlaces"},
		{"a normal draw is the sine", "executor/device/cuda/prelude.cu", "* cospi(2 * v)",
			"* cospi(2 * v + 0.5)", onPlaces},
		{"bounds of a draw are those of one fan", "executor/device/cuda/draws.go",
			"b.argument(s, o, 2, p), b.argument(s, o, 3, p)",
			"b.argument(s, o, 2, p), b.argument(s, o, 2, p)", onPlaces},
		{"a decimal beside a tie is one at it", "executor/device/cuda/special.cu",
			"	if (off == 0.5 && lo > 0)\n		whole += 1;",
			"	if (off == 0.5 && lo > 0)\n		whole += 0;", onPlaces},
		{"small decimals stay as they are", "executor/device/cuda/special.cu", "return !(fabs(x) < 1e-7 ||",
			"return !(fabs(x) < 0 ||", onPlaces},
		{"a frame's last nodes are left out", "executor/device/cuda/prelude.cu",
			"for (long long i = down; i < hi; i++)\n			sum",
			"for (long long i = down + 1; i < hi; i++)\n			sum", onPlaces},
		{"a level's sums are those of another", frames, "x.tree(l-1, false), x.size", "x.tree(0, false), x.size", onPlaces},
		{"a NULL counts in a frame", frames, "	if flags == \"\" {", "	if flags != \"-\" {", onPlaces},
		{"rows of a frame are taken as they lie", frames,
			"	row, flags := place, x.flags(x.from)\n	if x.w.Order.Rows != nil {",
			"	row, flags := place, x.flags(x.from)\n	if x.w.Order.Rows == nil {", onPlaces},
		{"a sum of no rows is zero", frames, "			if x.t.V.Fn == ra.Sum {", "			if x.t.V.Fn == ra.Count {", onPlaces},
	}...)
}
