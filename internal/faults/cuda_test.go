package faults

// Faults of the device of graphics processors, and of its texts.
func init() {
	faults = append(faults, []fault{
		{"a tile is read before it is there", "executor/device/cuda/text.go", "	s.add(\"__syncthreads();\")", "	s.add(\"\")",
			onGraphics},
		{"the parts of a block are added before they are there", "executor/device/cuda/sums.go",
			"		s.add(\"counts[threadIdx.x] = seen;\")\n		s.add(\"__syncthreads();\")",
			"		s.add(\"counts[threadIdx.x] = seen;\")", onGraphics},
		{"a NULL counts in a sum", "executor/device/cuda/sums.go", "		valid = x.valid(s, x.t.Result[x.base], p)",
			"		valid = \"1\"", onGraphics},
		{"a mask of dropout is that of the run's first step", "executor/device/cuda/code.go",
			"	if err := c.d.d.Upload(c.step, bytesOf(stepNumbers(env))); err != nil {",
			"	if err := c.d.d.Upload(c.step, bytesOf([]int64{env.Seed, 0})); err != nil {", onGraphics},
		{"Philox has nine rounds", "executor/device/cuda/prelude.cu", "round < 10", "round < 9", onGraphics},
		{"memory of a list is left", "executor/device/cuda/code.go", "	for _, at := range c.own {\n		c.d.d.Free(at)\n	}",
			"	for _, at := range c.own[1:] {\n		c.d.d.Free(at)\n	}", onGraphics},
		{"a recording is left", "executor/device/cuda/stretch.go", "		s.graph.Forget()\n", "", onGraphics},
		{"new memory is not zero", "kernels/cuda/device.go",
			"	if err := failed(\"memory is cleared\", C.rg_clear(&d.c, at, C.size_t(bytes))); err != nil {",
			"	if err := failed(\"memory is cleared\", 0); err != nil {",
			"./kernels/cuda -run=TestOnTheMock"},
		{"memory that does not suffice is an error of the device", "kernels/cuda/driver.go", "	case outOfMemory:",
			"	case -outOfMemory:", onGraphics},
	}...)
}

const onGraphics = "./ -run=TestGraphics$"
