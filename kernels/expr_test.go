package kernels

import "testing"

// TestEffort: a product of matrices takes its operations, and nothing more where it is turned or scaled. Another kernel
// takes as long as more operations than it has.
func TestEffort(t *testing.T) {
	col := func(id ColumnID, shape ...int) *Expr {
		return &Expr{IsCol: true, Col: Col{ID: id}, Type: Type{Kind: Float32, Shape: shape}}
	}
	a, b, x := col(1, 4, 5), col(2, 5, 6), col(3)
	product := Build("matmul", a, b)
	for _, c := range []struct {
		e    *Expr
		want float64
	}{{product, 2 * 4 * 5 * 6}, {Build("transpose", a), 0}, {Build("mul", x, product), 0}, {Build("neg", product), 0},
		{Build("mul", x, a), (1 + perNumber) * 4 * 5}, {Build("add", a, a), (1 + perNumber) * 4 * 5},
		{Build("outer", col(4, 4), col(5, 5)), 4 * 5}, {a, 0}} {
		if got := c.e.Effort(); got != c.want {
			t.Errorf("%v: %g operations, not %g", c.e, got, c.want)
		}
	}
	if e := Build("softmax", a); e.Effort() <= e.Flops() {
		t.Errorf("%v takes %g operations, as many as it has", e, e.Effort())
	}
}
