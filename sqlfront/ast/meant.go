package ast

// meant is what stands in SQL for functions and operators that other languages have.
var meant = map[string]string{
	"bce":                  "bce_with_logits(z, y) of the logit z, whose probability is sigmoid(z)",
	"binary_cross_entropy": "bce_with_logits(z, y) of the logit z, whose probability is sigmoid(z)",
	"mean":                 "avg(x)",
	"median":               "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
	"mae":                  "avg(abs(p - y))",
	"std":                  "stddev_samp(x)",
	"stdev":                "stddev_samp(x)",
	"if":                   "CASE WHEN c THEN a ELSE b END",
	"iif":                  "CASE WHEN c THEN a ELSE b END",
	"@":                    "dot(v, w) of vectors, matmul(a, b) of matrices",
	"**":                   "x ^ 2",
	"==":                   "a = b",
}

// Meant is a hint about a function or an operator that SQL has under another name; "" for others.
func Meant(name string) string {
	if m := meant[name]; m != "" {
		return "Perhaps you meant " + m + "."
	}
	return ""
}

// ByEquals is a hint about an argument of a call that is written as name = value; "" for others.
func ByEquals(x Expr) string {
	if b, ok := x.(*Binary); ok && b.Op == "=" {
		if c, ok := b.L.(*ColumnRef); ok && len(c.Names) == 1 && !c.Star {
			return "An argument by its name is written " + c.Names[0] + " => …."
		}
	}
	return ""
}
