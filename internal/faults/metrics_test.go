package faults

// Faults of metrics, which are computed beside a training.
func init() {
	faults = append(faults, []fault{
		{"rows of one score have the places of their identity", "sqlfront/bind/metrics.go",
			"kernels.Mul(kernels.Num(0.5), kernels.Add(o.places[0], kernels.Sub(last, o.places[1])))",
			"kernels.Sub(kernels.Add(o.places[0], last), last)", ". -run=TestMetrics"},
		{"a wrong label of a metric counts as it is", "sqlfront/bind/metrics.go",
			`return kernels.Build("case", ok, x, nan())`, "return x", ". -run=TestMetrics"},
		{"a gain of equal scores is that of their identity", "sqlfront/bind/metrics.go", "orNaN(alone, gain(o.places[0]))",
			"orNaN(kernels.Build(\"or\", alone, boolConst(true)), gain(o.places[0]))", ". -run=TestMetrics"},
		{"a NaN of a metric is not asked of the database", "train/run/run.go", "err == nil && r.v.Guesses(f)", "false",
			". -run=TestMetrics"},
		{"a row that FILTER removes counts in a metric of places", "sqlfront/bind/metrics.go",
			"pair, err := passing(s, c, pair)", "err := error(nil)", ". -run=TestMetrics"},
		{"the row of a label behind its vector is not told", "engine/finite.go",
			"labels.IsNull(row) || x.I >= 0 && x.I < n",
			"labels.IsNull(row) || x.I >= 0 && x.I <= n", "./internal/errortest -run=TestErrors"},
	}...)
}
