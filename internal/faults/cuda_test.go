package faults

// Faults of the device of graphics processors, and of its texts.
func init() {
	faults = append(faults, []fault{
		{"a tile is read before it is there", "executor/device/cuda/maps.go",
			"			b.fill(s, cell, \"slots\", row)\n			s.add(\"__syncthreads();\")",
			"			b.fill(s, cell, \"slots\", row)", onDevice},
		{"numbers of all rows are read before they are there", "executor/device/cuda/text.go",
			"	s.add(\"__syncthreads();\")", "	s.add(\"\")", onDevice},
		{"the parts of a block are added before they are there", "executor/device/cuda/sums.go",
			"		s.add(\"counts[threadIdx.x] = seen;\")\n		s.add(\"__syncthreads();\")",
			"		s.add(\"counts[threadIdx.x] = seen;\")", onGraphics},
		{"a NULL counts in a sum", "executor/device/cuda/sums.go", "		valid = x.valid(s, x.t.Result[x.base], p)",
			"		valid = \"1\"", onGraphics},
		{"a mask of dropout is that of the run's first step", "executor/device/cuda/code.go",
			"	copy(c.host.Bytes, bytesOf(stepNumbers(env)))", "	copy(c.host.Bytes, bytesOf([]int64{env.Seed, 0}))",
			onGraphics},
		{"Philox has nine rounds", "executor/device/cuda/prelude.cu", "round < 10", "round < 9", onGraphics},
		{"memory of a list is left", "executor/device/cuda/code.go", "	for _, at := range c.own {\n		c.d.d.Free(at)\n	}",
			"	for _, at := range c.own[1:] {\n		c.d.d.Free(at)\n	}", onGraphics},
		{"a recording is left", "executor/device/cuda/stretch.go", "		s.graph.Forget()\n", "", onGraphics},
		{"new memory is not zero", "kernels/cuda/device.go",
			"	if err := failed(\"memory is cleared\", C.rg_fill(&d.c, at, 0, C.size_t(bytes))); err != nil {",
			"	if err := failed(\"memory is cleared\", 0); err != nil {",
			"./kernels/cuda -run=TestOnTheMock"},
		{"memory that does not suffice is an error of the device", "kernels/cuda/driver.go", "	case outOfMemory:",
			"	case -outOfMemory:", onGraphics},
		{"a step changes parameters by gradients that are not finite", "executor/device/cuda/steps.go",
			"	s.add(\"\\treturn;\")\n", "	s.add(\"\\t;\")\n", "./train -run=TestCudaUpdates"},
		{"rows behind the last four are left out", "executor/device/cuda/maps.go",
			"	if v.rows {\n		m.each1(", "	if false {\n		m.each1(", onGraphics},
		{"flags of the step before are kept", "executor/device/cuda/code.go",
			"	return c.d.d.Fill(c.failure, 0xff, max(c.flagged(), 8))", "	return nil", onGraphics},
		{"small data are copied from where the next ones are written", "kernels/cuda/device.go",
			"		d.filled += copy(at, from)", "		copy(at, from)", onGraphics},
		{"a product's rows are those of its columns", "executor/device/cuda/prelude.cu",
			"p.out[(to * p.m + i) * p.n + j] = sum[r][c];", "p.out[(to * p.m + i) * p.n + j] = sum[c][r % 4];", onDevice},
		{"the last part of a long product is left out", "executor/device/cuda/products.go",
			"	for _, cut := range append(cuts, end) {", "	for _, cut := range cuts {", onDevice},
		{"parts of a product are not cut", "executor/device/cuda/products.go",
			"		x.from, x.to = append(x.from, int32(k)), append(x.to, int32(min(k+device.ProductRows, x.p.K)))",
			"		x.from, x.to = append(x.from, int32(k)), append(x.to, int32(x.p.K))", onDevice},
		{"a norm is that of its first piece", "executor/device/cuda/steps.go",
			"		m = (m + partRows - 1) / partRows\n", "		m = 1\n",
			onGraphics},
		{"the simplex is projected on with a level too low", "executor/device/cuda/prelude.cu",
			"		level = (sum - 1) / many;", "		level = (sum - 1) / (many + 1);", "./train -run=TestCudaUpdates"},
		{"a loss that costs less here is computed there", "engine/device.go",
			"	if steps*here > begin+steps*there {", "	if steps*here <= begin+steps*there {", onGraphics},
	}...)
}

const onDevice = "./executor -run=TestCudaDevice"

const onGraphics = "./ -run=TestGraphics$"
