package executor

// fastInts are the kernels of bigint with a loop of their own: out[r] of x[r*sx] and y[r*sy]. It returns false where a
// row needs the reference code, which knows the errors.
var fastInts = map[string]func(out, x, y []int64, sx, sy int) bool{"add": addInts, "sub": subInts, "mul": mulInts, "mod": modInts}

func addInts(out, x, y []int64, sx, sy int) bool {
	over := int64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		s := a + b
		over |= (a ^ s) & (b ^ s) // its sign: both have another than the sum
		out[r] = s
	}
	return over >= 0
}

func subInts(out, x, y []int64, sx, sy int) bool {
	over := int64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		s := a - b
		over |= (a ^ b) & (a ^ s)
		out[r] = s
	}
	return over >= 0
}

func mulInts(out, x, y []int64, sx, sy int) bool {
	large := uint64(0)
	for r := range out {
		a, b := x[r*sx], y[r*sy]
		large |= uint64(a+1<<31) | uint64(b+1<<31)
		out[r] = a * b
	}
	return large>>32 == 0 // all of them within 32 bits
}

func modInts(out, x, y []int64, sx, sy int) bool {
	for r := range out {
		b := y[r*sy]
		if b <= 0 {
			return false
		}
		out[r] = x[r*sx] % b
	}
	return true
}
