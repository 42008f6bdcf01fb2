package faults

// Faults of large products, which cuBLASLt makes.
func init() {
	faults = append(faults, []fault{
		{"cuBLASLt rounds to TF32", "kernels/cuda/blaslt.c", "	COMPUTE_32F = 68,", "	COMPUTE_32F = 77,", onLibrary},
		{"cuBLASLt may emulate numbers", "kernels/cuda/blaslt.go", "x != \"\" && x != v.harmless {",
			"x != \"\" && v.harmless == \"\" {", "./kernels/cuda -run=TestWithoutLibrary"},
		{"cuBLASLt takes every address for an even one", "kernels/cuda/blaslt.go", "	bits := uint64(at) | 256",
			"	bits := uint64(at)&0 | 256", onLibrary},
		{"cuBLASLt chooses anew for each product", "kernels/cuda/blaslt.go", "	d.products.chosen[w] = p\n", "", onLibrary},
		{"an algorithm of cuBLASLt is that of other distances", "kernels/cuda/blaslt.go", "	w := wanted{m, [3]uint32{",
			"	w := wanted{Matrices{Wide: m.Wide, XT: m.XT, YT: m.YT, M: m.M, N: m.N, K: m.K, LdX: m.LdX, LdY: m.LdY,\n" +
				"		Batch: m.Batch, X: m.M * m.K, Y: m.K * m.N, Out: m.M * m.N}, [3]uint32{", onLibrary},
		{"the workspace of cuBLASLt is left", "kernels/cuda/blaslt.go", "		d.Free(at)\n	}\n	if m.handle",
			"		_ = at\n	}\n	if m.handle", onLibrary},
		{"cuBLASLt adds to what is there", "kernels/cuda/blaslt.c", "	const float single[] = {0, 1};",
			"	const float single[] = {1, 1};", onLibrary},
		{"an error of cuBLASLt is none", "kernels/cuda/blaslt.go", "	case status == 0:\n		return nil",
			"	case status == 0, status > 12:\n		return nil", onLibrary},
		{"a sum of products by cuBLASLt is its last one", "executor/device/cuda/library.go", "add: b.turn > 0}",
			"add: false}", byLibrary},
		{"products of cuBLASLt lie at any distances", "executor/device/cuda/library.go",
			"	case dx != b.dx || dy != b.dy || out != b.out:\n		return false\n", "", byLibrary},
		{"a long sum of cuBLASLt begins with its first numbers again", "executor/device/cuda/library.go",
			"int(x.row[0][t])*m*k+e.at*stepX", "int(x.row[0][t])*m*k+0*stepX", byLibrary},
		{"parts of cuBLASLt lie where others do", "executor/device/cuda/library.go", "		kept[0], kept[1] = kept[1], kept[0]",
			"		kept[0] = kept[1]", byLibrary},
		{"the last part of cuBLASLt is left out", "executor/device/cuda/library.go", "int32(min(hi, w.hi)-w.lo))",
			"int32(min(hi, w.hi)-w.lo-1))", byLibrary},
		{"the next parts of cuBLASLt begin a sum", "executor/device/cuda/prelude.cu", "double sum = goes_on[i] ? was[j] : 0;",
			"double sum = 0 * was[j];", byLibrary},
		{"cuBLASLt writes results where parts lie", "executor/device/cuda/library.go", "		l.out += result\n",
			"		l.parts = true\n", byLibrary},
	}...)
}

const (
	onLibrary = "./kernels/cuda -run=TestProductsOnTheMock"
	byLibrary = "./executor -run=TestLibraryDevice"
)
