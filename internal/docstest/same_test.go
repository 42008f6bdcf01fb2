package docstest

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"run 1 is finished after step 50", "run 1 is finished after step 50", true},
		{"run 1 is finished after step 50", "run 2 is finished after step 50", false},
		{"(160 rows)", "(159 rows)", false},
		{"loss 0.5000", "loss 0.5050", true},
		{"loss 0.5000", "loss 0.5150", false},
		{"loss 0.01", "loss 0.03", true}, // two units of the last digit
		{"loss 0.01", "loss 0.04", false},
		{"epsilon 1e-08", "epsilon 1e-03", false},
		{"error 1.50e-05", "error 1.52e-05", true},
		{"error 1.50e-05", "error 2.50e-05", false},
		{"1", "1.01", true}, // a sum that is whole on one machine
		{"1", "3.2", false},
		{"100", "103.5", false},
		{" a |  b \n---+----\n 1 | 2.5\n", " a | b \n---+-----\n 1 | 2.51\n", true},
		{"a 1", "b 1", false},
	} {
		if err := Same(c.want, c.got); (err == nil) != c.same {
			t.Errorf("%q and %q: %v", c.want, c.got, err)
		}
	}
}
