package faults

// Faults of the benchmark on graphics processors.
func init() {
	const onCard = "./bench -run=TestGPUDisagrees|TestGPUTurns|TestGPURepeats"
	faults = append(faults, []fault{
		{"losses of a device are not compared with the processors'", "bench/gpu.go", "t.Off > agreement", "t.Off < 0",
			onCard},
		{"a loss that is not finite is like any other", "bench/gpu.go", "			return math.Inf(1)", "			return 0", onCard},
		{"the first step of a turn counts", "bench/gpu.go", "steps[t.begin:]", "steps[t.begin-1:]", onCard},
		{"trainings that are repeated are compared with themselves", "bench/gpu_repeat.go", "h != x.Hashes[0]",
			"h != x.Hashes[i]", onCard},
	}...)
}
